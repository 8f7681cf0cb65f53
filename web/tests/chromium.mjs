// A page in a headless Chromium, which is driven over a pipe, by its DevTools protocol.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Page, sleep } from "./page.mjs";

const OPTIONS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--remote-debugging-pipe",
  "--window-size=1400,1000",
];
const COMPLAINTS = ["Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"];
const text = JSON.stringify;

/** Calls `use(page)`, and then ends the browser in every case. */
export async function withPage(chromium, use) {
  const folder = mkdtempSync(join(tmpdir(), "ackclock-"));
  const browser = spawn(chromium, [...OPTIONS, `--user-data-dir=${folder}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const gone = new Promise((resolve) => browser.once("exit", resolve));
  try {
    await use(await ChromiumPage.first(browser, folder));
  } finally {
    // All of its processes end with it, so that none of them writes into the folder any more.
    /** @type {import("node:stream").Writable} */ (browser.stdio[3]).write(
      `${text({ id: 0, method: "Browser.close" })}\0`,
    );
    const late = setTimeout(() => browser.kill(), 10_000);
    await gone;
    clearTimeout(late);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

class ChromiumPage extends Page {
  static async first(browser, folder) {
    const page = new ChromiumPage(browser, folder);
    const { targetInfos } = await page.send("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    page.session = (await page.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Runtime", "Log", "Page", "Network"]) await page.send(`${domain}.enable`);
    await page.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: false });
    return page;
  }

  constructor(browser, folder) {
    super(folder);
    this.browser = browser;
    this.session = undefined;
    this.waiting = new Map();
    this.count = 0;
    let rest = "";
    browser.stdio[4].on("data", (data) => {
      const messages = (rest + data).split("\0");
      rest = messages.pop();
      for (const message of messages) this.read(JSON.parse(message));
    });
  }

  read({ id, result, error, method, params }) {
    if (id !== undefined) this.waiting.get(id)?.(result ?? { error });
    else if (COMPLAINTS.includes(method)) this.problems.push(text(params).slice(0, 400));
    else if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  send(method, params = {}, sessionId = this.session) {
    this.count += 1;
    const answer = new Promise((resolve) => this.waiting.set(this.count, resolve));
    this.browser.stdio[3].write(`${text({ id: this.count, method, params, sessionId: sessionId || undefined })}\0`);
    return answer;
  }

  /** Asks the browser rather than the page. */
  sendToBrowser(method, params = {}) {
    return this.send(method, params, "");
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result?.value;
  }

  async visit(address) {
    await this.send("Page.navigate", { url: "about:blank" });
    await this.send("Page.navigate", { url: address });
    await this.until("document.readyState === 'complete'");
  }

  async clickAt(place) {
    for (const type of ["mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
  }

  async key(key, code = key, modifiers = 0) {
    const typed =
      key.length === 1 && modifiers === 0 ? { text: key } : key === "Enter" && modifiers === 0 ? { text: "\r" } : {};
    const windowsVirtualKeyCode =
      { Enter: 13, End: 35, " ": 32, Tab: 9, ArrowDown: 40 }[key] ?? key.toUpperCase().charCodeAt(0);
    await this.send("Input.dispatchKeyEvent", {
      type: "keyDown",
      key,
      code,
      modifiers,
      windowsVirtualKeyCode,
      ...typed,
    });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code, modifiers, windowsVirtualKeyCode });
  }

  /** Types into the field that has the focus. */
  insert(typed) {
    return this.send("Input.insertText", { text: typed });
  }

  /** Gives a file to a field for files. */
  async attach(id, file) {
    await this.send("DOM.enable");
    const { root } = await this.send("DOM.getDocument");
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector: `#${id}` });
    await this.send("DOM.setFileInputFiles", { nodeId, files: [file] });
  }

  /** Opens a tab in front of the page meanwhile. */
  async behind(use) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    await this.until("document.visibilityState === 'hidden'");
    await use();
    await this.send("Target.closeTarget", { targetId });
    await this.send("Page.bringToFront");
    await this.until("document.visibilityState === 'visible'");
  }

  size(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  colours(scheme) {
    return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  motion(isReduced) {
    return this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-reduced-motion", value: isReduced ? "reduce" : "no-preference" }],
    });
  }

  async photograph(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
}

export { sleep };
