// The browser that a program is given, by its command: Chromium or Firefox.

import { basename } from "node:path";
import * as chromium from "./chromium.mjs";
import * as firefox from "./firefox.mjs";

export { sleep } from "./page.mjs";

export const isFirefox = (browser) => basename(browser).startsWith("firefox");

/** Calls `use(page)`, and then ends the browser in every case. */
export const withPage = (browser, use) => (isFirefox(browser) ? firefox : chromium).withPage(browser, use);
