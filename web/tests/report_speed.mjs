// How fast a report opens: node report_speed.mjs CHROMIUM ADDRESS
//
// Prints two times as JSON, in ms from the command that opens the page in a new browser. The first is the first paint
// of text. The second is the first usable frame. The page is loaded then, and its script has read the data of the
// charts. Charts further down are drawn when they come near the screen.

import { withPage } from "./chromium.mjs";

const [chromium, address] = process.argv.slice(2);

/** Notes the first frame in which the page can be used. */
const watch = `(() => {
  const look = () => {
    const isUsable = document.readyState === "complete" && document.querySelector(".card .keys li");
    if (isUsable) globalThis.opened ??= performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

await withPage(chromium, async (page) => {
  await page.send("Page.addScriptToEvaluateOnNewDocument", { source: watch });
  await page.send("Page.navigate", { url: address });
  const opened = await page.until("globalThis.opened");
  const paint = await page.until('performance.getEntriesByName("first-contentful-paint")[0]?.startTime');
  console.log(JSON.stringify({ paint, opened, problems: page.problems }));
});
