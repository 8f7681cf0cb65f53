// A link of the live page, opened and run to its end: node opened.mjs BROWSER LINK
//
// Prints the hash of the result as JSON.

import { withPage } from "./browser.mjs";

const [browser, link] = process.argv.slice(2);

await withPage(browser, async (page) => {
  await page.visit(link);
  await page.until("['playing', 'paused'].includes(document.documentElement.dataset.state)");
  await page.click("finish");
  await page.state("done");
  console.log(
    JSON.stringify({ sum: await page.content("sum"), elsewhere: page.elsewhere(link), problems: page.problems }),
  );
});
