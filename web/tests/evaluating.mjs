// The page that evaluates, used as a person uses it: node evaluating.mjs BROWSER ADDRESS FOLDER OWN [PHOTOGRAPHS]
//
// ADDRESS opens the live page, which leads to an evaluation page with a small suite. OWN is the file of a suite. The
// page's exports are left in FOLDER. The program prints the shown texts as JSON.

import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sleep, withPage } from "./browser.mjs";
import { policy } from "./policy.mjs";

const [browser, address, folder, own, photographs] = process.argv.slice(2);
const RULE = "grow = gain / w\ncut = if(queue_delay > 10 ms, 0.5, 0.8) * w # by the queue\ngain = 1";

const HEAT =
  "[...document.querySelectorAll('#heat tbody tr')].map((row) => [...row.querySelectorAll('button .unseen')]" +
  ".map(({ textContent }) => textContent))";

/** A file that the page gives, once all of it is there. */
async function taken(page, name) {
  const path = join(page.folder, name);
  while (!existsSync(path)) await sleep(40);
  copyFileSync(path, join(folder, name));
}

async function photographed(page, name) {
  for (const width of [1400, 400]) {
    for (const scheme of ["light", "dark"]) {
      await page.size(width, width === 400 ? 2600 : 1500);
      await page.colours(scheme);
      await page.evaluate("scrollTo(0, 0)");
      await sleep(300);
      await page.photograph(join(photographs, `${name}-${width}-${scheme}.png`));
    }
  }
  await page.size(1400, 1000);
}

await withPage(browser, async (page) => {
  const found = {};
  await page.visit(address);
  await page.state("playing");
  await page.press("#rule-box summary");
  await page.type("rule", "grow = 3 / w\ncut = w / 2");
  // Read the target of the link without a click, because a click leaves this page.
  await page.evaluate(
    "document.getElementById('evaluate').addEventListener('click', (event) => event.preventDefault())",
  );
  await page.click("evaluate");
  const evaluation = await page.evaluate("document.getElementById('evaluate').href");
  await page.visit(evaluation);
  await page.state("ready");
  found.back = (await page.evaluate("document.querySelector('header a').href")) === address;
  found.given = await page.value("rule");
  found.broken = await policy(page);

  // A rule with a mistake gives one message, and the page continues.
  await page.type("rule", "grow = 1/v\ncut = w/2");
  await page.click("start");
  await page.state("failed");
  found.complaint = await page.content("message");

  // Cancelled while it runs.
  await page.type("rule", RULE);
  await page.type("replicates", "1000");
  await page.click("start");
  await page.until("document.getElementById('progress').value > 0");
  await page.click("cancel");
  await page.state("cancelled");
  found.cancelled = await page.content("told");

  // To the end, begun by a key.
  await page.type("replicates", "2");
  await page.key("Enter");
  await page.state("done");
  found.verdict = await page.content("verdict");
  found.heat = await page.evaluate(HEAT);
  found.planes = await page.evaluate("[...document.querySelectorAll('#result svg')].map(({ outerHTML }) => outerHTML)");

  // A cell by keys, and the map by another metric.
  await page.press("#heat tbody button");
  await page.key("ArrowDown");
  await page.key("Enter");
  found.cell = await page.content("cell");
  await page.choose("heat-by", "3");
  found.other = await page.evaluate(HEAT);
  await page.click("save-json");
  await taken(page, "evaluation-core.json");
  await page.click("save-csv");
  await taken(page, "evaluation-core.csv");
  await page.click("copy-command");
  found.command = await page.until("document.getElementById('away-text').value");
  await page.click("save-report");
  await taken(page, "evaluation-core.html");
  if (photographs !== undefined) await photographed(page, "evaluate");

  // Several, against others, by another metric, in changed networks, over a suite of one's own.
  await page.press("#more summary");
  await page.attach("own-suite", own);
  await page.until("document.getElementById('suite').value.startsWith('mine')");
  await page.choose("kind", "both");
  await page.type("names", "aimd(increase=2)\nrule grow = 2 / w; cut = w / 2");
  await page.type("against", "cubic\naimd");
  await page.choose("metric", "queue_delay");
  await page.type("sets", "transport.min_rto=300 ms");
  await page.click("start");
  await page.until(
    "document.documentElement.dataset.state === 'done' && document.querySelectorAll('#ranking tbody').length === 2",
  );
  await page.click("save-json");
  await taken(page, "evaluation-mine.json");
  await page.click("copy-command");
  found.several = await page.until("document.getElementById('away-text').value");
  if (photographs !== undefined) await photographed(page, "several");
  await page.size(400, 900);
  found.wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  // An invalid suite gives one message.
  await page.attach("own-suite", join(folder, "evaluation-core.csv"));
  found.refused = await page.until("document.getElementById('message').textContent");
  // The saved report alone, from disk.
  const saved = pathToFileURL(join(folder, "evaluation-core.html")).href;
  await page.visit(saved);
  found.saved = await page.evaluate(
    "({ verdict: document.getElementById('verdict').textContent, planes: " +
      "document.querySelectorAll('.plane').length, charts: document.querySelectorAll('.time').length, wide: " +
      "document.documentElement.scrollWidth > innerWidth })",
  );
  if (photographs !== undefined) await photographed(page, "saved");
  found.problems = page.problems;
  found.elsewhere = page.elsewhere(evaluation).filter((url) => url !== address && url !== saved);
  console.log(JSON.stringify(found));
});
