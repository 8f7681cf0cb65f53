// Actions that the content security policy of a page refuses.

import assert from "node:assert/strict";

/** The directives that refuse a script's attempts to execute and to load. */
export async function policy(page) {
  const broken = await page.evaluate(`(async () => {
    const broken = [];
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => broken.push(effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.executed = 1";
    const handler = document.createElement("p");
    handler.setAttribute("onclick", "window.executed = 1");
    document.body.append(script, handler);
    handler.click();
    new Image().src = "http://127.0.0.1:1/x.png";
    await fetch("http://127.0.0.1:1/").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    return broken.sort();
  })()`);
  assert.equal(await page.evaluate("window.executed"), undefined);
  // The browser reports each refusal as a request and as a complaint.
  page.problems.splice(0);
  page.requests = page.requests.filter((url) => !url.startsWith("http://127.0.0.1:1/"));
  return broken;
}
