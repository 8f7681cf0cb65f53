// A page in a headless Firefox. The Marionette protocol drives it over a socket, with JSON messages behind their
// lengths.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Page, sleep } from "./page.mjs";

const PREFERENCES = {
  // Any free port, which is left in a file.
  "marionette.port": 0,
  // Mistakes of pages go to the standard streams.
  "browser.dom.window.dump.enabled": true,
  // Nothing but this machine can be reached: Firefox asks nobody for updates and the like.
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 9,
  "browser.download.folderList": 2,
  "browser.download.always_ask_before_handling_new_types": false,
  "browser.download.alwaysOpenPanel": false,
};
/** Mistakes of pages. Firefox also reports mistakes in its own parts. */
const COMPLAINTS = /^JavaScript (error|warning): (http|file|blob)/;
const KEYS = { Enter: "\uE007", End: "\uE010", Tab: "\uE004", ArrowDown: "\uE015" };
const CONTROL = "\uE009";
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const text = JSON.stringify;

/** Calls `use(page)`, and then ends the browser in every case. */
export async function withPage(firefox, use) {
  const home = mkdtempSync(join(tmpdir(), "ackclock-"));
  const [profile, folder] = ["profile", "downloads"].map((name) => join(home, name));
  for (const path of [profile, folder]) mkdirSync(path);
  const preferences = Object.entries({ ...PREFERENCES, "browser.download.dir": folder });
  writeFileSync(
    join(profile, "user.js"),
    preferences.map(([name, value]) => `user_pref(${text(name)}, ${text(value)});\n`).join(""),
  );
  const browser = spawn(
    firefox,
    ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", profile, "about:blank"],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, HOME: home } },
  );
  const gone = new Promise((resolve) => browser.once("exit", resolve));
  let page = null;
  try {
    page = await FirefoxPage.first(browser, profile, folder);
    await use(page);
  } finally {
    if (page === null) browser.kill();
    else await page.send("Marionette:Quit", { flags: ["eForceQuit"] });
    const late = setTimeout(() => browser.kill("SIGKILL"), 10_000);
    await gone;
    clearTimeout(late);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

class FirefoxPage extends Page {
  static async first(browser, profile, folder) {
    const port = join(profile, "MarionetteActivePort");
    for (const end = Date.now() + 120_000; !existsSync(port) || readFileSync(port, "utf8") === ""; await sleep(50)) {
      if (Date.now() > end || browser.exitCode !== null) throw new Error("Firefox does not begin");
    }
    const page = new FirefoxPage(browser, Number(readFileSync(port, "utf8")), folder);
    await page.send("WebDriver:NewSession");
    await page.send("WebDriver:SetTimeouts", { script: 600_000, pageLoad: 600_000 });
    await page.size(1400, 1000);
    return page;
  }

  constructor(browser, port, folder) {
    super(folder);
    this.socket = connect(port, "127.0.0.1");
    this.waiting = new Map();
    this.count = 0;
    this.rest = Buffer.alloc(0);
    this.socket.on("data", (data) => this.read(data));
    for (const stream of [browser.stdout, browser.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        if (COMPLAINTS.test(line)) this.problems.push(line.slice(0, 400));
      });
    }
  }

  read(data) {
    this.rest = Buffer.concat([this.rest, data]);
    for (;;) {
      const colon = this.rest.indexOf(":");
      const end = colon + 1 + Number(this.rest.subarray(0, colon));
      if (colon < 0 || this.rest.length < end) return;
      const message = JSON.parse(this.rest.toString("utf8", colon + 1, end));
      this.rest = this.rest.subarray(end);
      // The first message is a greeting.
      if (Array.isArray(message)) this.waiting.get(message[1])?.(message[2], message[3]);
    }
  }

  message(command, parameters) {
    this.count += 1;
    const body = Buffer.from(text([0, this.count, command, parameters]));
    return Buffer.concat([Buffer.from(`${body.length}:`), body]);
  }

  send(command, parameters = {}) {
    return new Promise((resolve, reject) => {
      this.socket.write(this.message(command, parameters));
      this.waiting.set(this.count, (error, result) =>
        error === null ? resolve(result) : reject(new Error(`${command}: ${error.message}`)),
      );
    });
  }

  async evaluate(expression) {
    const script =
      `const [resolve] = arguments; (async () => (${expression}))().then((value) => resolve(value === undefined ` +
      "? {} : { value }), (error) => resolve({ error: String(error) }));";
    const { value } = await this.send("WebDriver:ExecuteAsyncScript", { script, args: [] });
    if (value.error !== undefined) throw new Error(`${expression}: ${value.error}`);
    return value.value;
  }

  /** Runs a script in the browser itself, around its pages. */
  async inBrowser(script) {
    await this.send("Marionette:SetContext", { value: "chrome" });
    try {
      await this.send("WebDriver:ExecuteScript", { script, args: [] });
    } finally {
      await this.send("Marionette:SetContext", { value: "content" });
    }
  }

  async visit(address) {
    await this.send("WebDriver:Navigate", { url: "about:blank" });
    await this.send("WebDriver:Navigate", { url: address });
  }

  async clickAt({ x, y }) {
    const actions = [
      { type: "pointerMove", x: Math.round(x), y: Math.round(y), origin: "viewport" },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    await this.send("WebDriver:PerformActions", {
      actions: [{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }],
    });
  }

  async key(key, _code = key, modifiers = 0) {
    const pressed = [...(modifiers === 2 ? [CONTROL] : []), KEYS[key] ?? key];
    const actions = [
      ...pressed.map((value) => ({ type: "keyDown", value })),
      ...pressed.map((value) => ({ type: "keyUp", value })).reverse(),
    ];
    await this.send("WebDriver:PerformActions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** Types into the field that has the focus. */
  async insert(typed) {
    const { value } = await this.send("WebDriver:GetActiveElement");
    await this.send("WebDriver:ElementSendKeys", { id: value[ELEMENT], text: typed });
  }

  /** Gives a file to a field for files. */
  async attach(id, file) {
    const { value } = await this.send("WebDriver:FindElement", { using: "css selector", value: `#${id}` });
    await this.send("WebDriver:ElementSendKeys", { id: value[ELEMENT], text: file });
  }

  /** Opens a tab in front of the page meanwhile. */
  async behind(use) {
    const { value: own } = await this.send("WebDriver:GetWindowHandle");
    const { handle } = await this.send("WebDriver:NewWindow", { type: "tab", focus: true });
    await this.until("document.visibilityState === 'hidden'");
    await use();
    await this.send("WebDriver:SwitchToWindow", { handle, focus: false });
    await this.send("WebDriver:CloseWindow");
    await this.send("WebDriver:SwitchToWindow", { handle: own, focus: true });
    await this.until("document.visibilityState === 'visible'");
  }

  /** Sets the size of the page, because the size of the window has a lower bound. */
  size(width, height) {
    const bounds = Object.entries({ width, height }).flatMap(([side, pixels]) =>
      ["min", "max"].map((bound) => `style.setProperty("${bound}-${side}", "${pixels}px");`),
    );
    return this.inBrowser(`const { style } = gBrowser.selectedBrowser; ${bounds.join(" ")}`);
  }

  colours(scheme) {
    return this.inBrowser(`gBrowser.selectedBrowser.browsingContext.prefersColorSchemeOverride = "${scheme}";`);
  }

  motion(isReduced) {
    return this.inBrowser(`Services.prefs.setIntPref("ui.prefersReducedMotion", ${isReduced ? 1 : 0});`);
  }

  async photograph(file) {
    const { value } = await this.send("WebDriver:TakeScreenshot", { full: false, hash: false });
    writeFileSync(file, Buffer.from(value, "base64"));
  }
}
