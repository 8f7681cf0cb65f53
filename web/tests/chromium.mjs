// A page in a headless Chromium, used as a person uses it: clicks and keys go where a mouse and a keyboard send them.
//
// Chromium is driven over a pipe, by its DevTools protocol.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,1000"];
const COMPLAINTS = ["Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = JSON.stringify;

/** Uses a page, and ends the browser whatever happens: `use(page)`. */
export async function withPage(chromium, use) {
  const folder = mkdtempSync(join(tmpdir(), "ackclock-"));
  const browser = spawn(chromium, [...OPTIONS, `--user-data-dir=${folder}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const gone = new Promise((resolve) => browser.once("exit", resolve));
  try {
    await use(await Page.first(browser, folder));
  } finally {
    // All of its processes end with it, so that none of them writes into the folder any more.
    browser.stdio[3].write(`${text({ id: 0, method: "Browser.close" })}\0`);
    await Promise.race([gone, sleep(10_000).then(() => browser.kill())]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

class Page {
  static async first(browser, folder) {
    const page = new Page(browser, folder);
    const { targetInfos } = await page.send("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    page.session = (await page.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Runtime", "Log", "Page", "Network"]) await page.send(`${domain}.enable`);
    await page.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: false });
    return page;
  }

  constructor(browser, folder) {
    Object.assign(this, { browser, folder, session: undefined, waiting: new Map(), count: 0, problems: [], requests: [] });
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

  send(method, params = {}) {
    this.count += 1;
    const answer = new Promise((resolve) => this.waiting.set(this.count, resolve));
    this.browser.stdio[3].write(`${text({ id: this.count, method, params, sessionId: this.session })}\0`);
    return answer;
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result?.value;
  }

  /** Waits until an expression is true, and gives its value. */
  async until(expression, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(40)) {
      const value = await this.evaluate(expression);
      if (value) return value;
    }
    const shown = await this.evaluate("`${location.href.slice(0, 80)} ${document.documentElement?.dataset.state} ${document.getElementById('message')?.textContent} ${document.getElementById('mistakes')?.textContent}`");
    throw new Error(`never true: ${expression}; the page: ${shown}; ${this.problems.join("; ")}`);
  }

  state(name) {
    return this.until(`document.documentElement.dataset.state === "${name}"`);
  }

  content(id) {
    return this.evaluate(`document.getElementById("${id}").textContent`);
  }

  value(id) {
    return this.evaluate(`document.getElementById("${id}").value`);
  }

  async visit(address) {
    await this.send("Page.navigate", { url: "about:blank" });
    await this.send("Page.navigate", { url: address });
    await this.until("document.readyState === 'complete'");
  }

  /** Clicks the middle of what a selector finds, once it can be clicked there. */
  async press(selector) {
    const place = await this.until(`(() => {
      const element = document.querySelector(${text(selector)});
      if (element === null || element.disabled) return null;
      element.scrollIntoView({ block: "center", behavior: "instant" });
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      const hit = document.elementFromPoint(x, y);
      return hit !== null && (element === hit || element.contains(hit)) ? { x, y } : null;
    })()`);
    for (const type of ["mousePressed", "mouseReleased"]) await this.send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
  }

  click(id) {
    return this.press(`#${id}`);
  }

  async key(key, code = key, modifiers = 0) {
    const typed = key.length === 1 && modifiers === 0 ? { text: key } : key === "Enter" && modifiers === 0 ? { text: "\r" } : {};
    const windowsVirtualKeyCode = { Enter: 13, End: 35, " ": 32, Tab: 9 }[key] ?? key.toUpperCase().charCodeAt(0);
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code, modifiers, windowsVirtualKeyCode, ...typed });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code, modifiers, windowsVirtualKeyCode });
  }

  /** Replaces what is in a field by what is typed. */
  async type(id, typed) {
    await this.until(`!document.getElementById("${id}").disabled`);
    await this.press(`#${id}`);
    await this.evaluate(`document.getElementById("${id}").select()`);
    await this.send("Input.insertText", { text: typed });
  }

  /** Types a number and leaves the field. */
  async enter(id, typed) {
    await this.type(id, String(typed));
    await this.key("Enter");
    await this.evaluate("document.activeElement.blur()");
  }

  /** Chooses from a list: what a list shows when it is open is no part of the page, and cannot be clicked. */
  choose(id, value) {
    return this.evaluate(`(() => {
      const list = document.getElementById("${id}");
      if (![...list.options].some((option) => option.value === ${text(value)})) throw new Error("no option " + ${text(value)});
      list.value = ${text(value)};
      list.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
  }

  size(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  colours(scheme) {
    return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  async photograph(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
}

export { sleep };
