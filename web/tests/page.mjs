// A page in a headless browser, with real clicks and keys. `chromium.mjs` and `firefox.mjs` contain the differences
// of the browsers, and `browser.mjs` chooses one.

const text = JSON.stringify;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The common part of all browsers. A browser adds `evaluate`, `visit`, `clickAt`, `key`, `insert`, `attach`,
 * `behind`, `size`, `colours`, `motion` and `photograph`.
 */
export class Page {
  /** `folder`: where files come that the page gives. */
  constructor(folder) {
    this.folder = folder;
    this.problems = [];
    this.requests = [];
  }

  /**
   * The value of an expression in the page.
   *
   * @param {string} expression
   * @returns {Promise<any>}
   */
  async evaluate(expression) {
    throw new Error(`the browser cannot evaluate ${expression}`);
  }

  /** @param {{ x: number, y: number }} place */
  async clickAt(place) {
    throw new Error(`the browser cannot click at ${text(place)}`);
  }

  /** @param {string} typed */
  async insert(typed) {
    throw new Error(`the browser cannot type ${typed}`);
  }

  /**
   * @param {string} key
   * @param {string} [_code]
   * @param {number} [_modifiers]
   */
  async key(key, _code, _modifiers) {
    throw new Error(`the browser cannot press ${key}`);
  }

  /** Waits until an expression is true, and gives its value. */
  async until(expression, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(40)) {
      const value = await this.evaluate(expression);
      if (value) return value;
    }
    const shown = await this.evaluate(
      "[location.href.slice(0, 80), document.documentElement?.dataset.state, " +
        "...['message', 'mistakes'].map((id) => document.getElementById(id)?.textContent)].join(' ')",
    );
    throw new Error(`never true: ${expression}; the page: ${shown}; ${this.problems.join("; ")}`);
  }

  /** Requests to other addresses than the page itself. */
  elsewhere(address) {
    return this.requests.filter((url) => url !== address.split("#")[0] && !/^(about|blob|data):/.test(url));
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

  /** Clicks the middle of an element once it is clickable. */
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
    await this.clickAt(place);
  }

  click(id) {
    return this.press(`#${id}`);
  }

  /** Replaces the text of a field by typing. */
  async type(id, typed) {
    await this.until(`!document.getElementById("${id}").disabled`);
    await this.press(`#${id}`);
    await this.evaluate(`document.getElementById("${id}").select()`);
    await this.insert(typed);
  }

  /** Types a number and leaves the field. */
  async enter(id, typed) {
    await this.type(id, String(typed));
    await this.key("Enter");
    await this.evaluate("document.activeElement.blur()");
  }

  /** Chooses from a list. An open list is not part of the page, so nothing can click it. */
  choose(id, value) {
    return this.evaluate(`(() => {
      const list = document.getElementById("${id}");
      const isOption = [...list.options].some((option) => option.value === ${text(value)});
      if (!isOption) throw new Error("no option " + ${text(value)});
      list.value = ${text(value)};
      list.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
  }
}
