// Reads a report as a person does: node reading.mjs BROWSER ADDRESS
//
// It clicks every link to a part of the page, and every cell of the map. Prints JSON with `missed` links and `cells`
// that answer elsewhere. `laptop` and `phone` are the lower ends of the verdict.

import { sleep, withPage } from "./browser.mjs";

const [browser, address] = process.argv.slice(2);

/** Folds everything but the parts that are open at first, clicks a link, and measures the place of its target. */
const FOLLOW = (at) => `(async () => {
  for (const fold of document.querySelectorAll("details")) fold.open = "first" in fold.dataset;
  scrollTo(0, 0);
  const link = document.querySelectorAll('a[href^="#"]')[${at}];
  link.click();
  await new Promise((resolve) => setTimeout(resolve, 120));
  const box = document.querySelector(link.getAttribute("href")).getBoundingClientRect();
  const left = document.documentElement.scrollHeight - innerHeight - scrollY;
  // The end of the page cannot scroll to the top of the window.
  const reached = Math.abs(box.top - 16) < 24 || (left < 2 && box.top < innerHeight);
  return reached ? null : [link.getAttribute("href"), Math.round(box.top)];
})()`;

const CELLS = `(() => {
  const told = document.getElementById("cell");
  return [...document.querySelectorAll("#heat tbody button")].flatMap((button, at) => {
    button.click();
    const [cell, text] = [button.getBoundingClientRect(), told.getBoundingClientRect()];
    const isNear = text.top >= cell.bottom && text.top - cell.bottom < 12 && text.left <= cell.right;
    return !told.hidden && isNear && told.textContent.length > 20 ? [] : [at];
  });
})()`;

const LOWER = "document.querySelector('.tiles').getBoundingClientRect().bottom";

await withPage(browser, async (page) => {
  await page.size(1366, 650);
  await page.visit(address);
  await page.until("document.querySelector('.tiles')");
  await page.evaluate("document.querySelectorAll('details[open]').forEach((fold) => (fold.dataset.first = ''))");
  const found = { laptop: await page.evaluate(LOWER), missed: [], cells: await page.evaluate(CELLS) };
  found.links = await page.evaluate(`document.querySelectorAll('a[href^="#"]').length`);
  for (let at = 0; at < found.links; at += 1) {
    const missed = await page.evaluate(FOLLOW(at));
    if (missed !== null) found.missed.push(missed);
  }
  await page.size(390, 844);
  await page.evaluate("scrollTo(0, 0)");
  await sleep(200);
  found.phone = await page.evaluate(LOWER);
  found.wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  found.problems = page.problems;
  console.log(JSON.stringify(found));
});
