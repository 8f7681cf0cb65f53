// Clicks the first change of each lesson, and runs it to its end: node lessons.mjs BROWSER ADDRESS [LESSON|all
// [FOLDER]]
//
// With FOLDER, the program tries all changes and saves pictures there. It prints the results as JSON.

import { withPage } from "./browser.mjs";

const [browser, address, chosen = "all", folder] = process.argv.slice(2);
const page0 = address.split("#")[0];

async function photographs(page, name) {
  for (const width of [1400, 400]) {
    for (const scheme of ["light", "dark"]) {
      await page.size(width, width === 400 ? 2400 : 1100);
      await page.colours(scheme);
      await page.evaluate("scrollTo(0, 0)");
      await page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))");
      await page.photograph(`${folder}/${name}-${width}-${scheme}.png`);
    }
  }
  await page.size(1400, 1000);
}

/** Presses every change of a lesson, runs it to its end, and returns the shown figures. */
async function lesson(page, name) {
  await page.choose("lesson-list", name);
  await page.until(`location.hash === "#lesson=${name}"`);
  const count = folder === undefined ? 1 : await page.evaluate("document.querySelectorAll('.steps li').length");
  for (let step = 1; step <= count; step += 1) {
    await page.press(`.steps li:nth-child(${step}) button`);
    await page.until("['playing', 'paused'].includes(document.documentElement.dataset.state)");
    await page.click("finish");
    await page.state("done");
    if (step === 1 && folder !== undefined) await photographs(page, name);
  }
  return page.evaluate("[...document.querySelectorAll('.steps p')].map(({ textContent }) => textContent)");
}

await withPage(browser, async (page) => {
  await page.visit(`${page0}#lesson=bbr`);
  await page.until("document.getElementById('lesson-title').textContent === \"The phases of BBR\"");
  const names = await page.evaluate(
    "[...document.getElementById('lesson-list').options].map(({ value }) => value).filter((name) => name !== '')",
  );
  const found = {};
  for (const name of names.filter((name) => ["all", name].includes(chosen))) found[name] = await lesson(page, name);
  console.log(JSON.stringify({ found, elsewhere: page.elsewhere(address), problems: page.problems }));
});
