// The panel of `explore()` in JupyterLab: node jupyterlab.mjs CHROMIUM ADDRESS [PICTURE]
//
// ADDRESS opens a notebook whose first cell makes the panel. Runs the cell, then the panel with another seed and
// buffer. Some of the typed keys are shortcuts of JupyterLab elsewhere. Prints the shown texts as JSON.

import { sleep, withPage } from "./chromium.mjs";

const [chromium, address, picture] = process.argv.slice(2);
const RUN = '[data-command="notebook:run-cell-and-select-next"]';
const ACCEPT = ".jp-Dialog .jp-mod-accept";
const STATE = "document.querySelector('.rerun').dataset.state";
const is = (page, selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}) !== null`);

/** Runs the first cell. JupyterLab asks for a kernel if it has none. */
async function runCell(page) {
  await page.press(".jp-Notebook .jp-Cell .jp-InputPrompt");
  await page.press(RUN);
  while (!(await is(page, ".rerun"))) {
    if (await is(page, ACCEPT)) {
      await page.press(ACCEPT);
      await page.until(`document.querySelector("${ACCEPT}") === null`);
      await page.press(".jp-Notebook .jp-Cell .jp-InputPrompt");
      await page.press(RUN);
    }
    await sleep(200);
  }
}

await withPage(chromium, async (page) => {
  await page.size(1400, 1200);
  await page.visit(address);
  await runCell(page);
  await page.until(`${STATE} === "ready"`);
  await page.press(".rerun [name=seed]");
  await page.evaluate("document.querySelector('.rerun [name=seed]').select()");
  for (const digit of "99") await page.key(digit);
  await page.press(".rerun [name=sets]");
  for (const letter of "topology") await page.key(letter);
  await page.insert(".queue.limit=20 packets");
  const typed = await page.evaluate(
    "[...document.querySelectorAll('.rerun :is(input, textarea)')].map((field) => field.value)",
  );
  await page.press(".rerun button[type=submit]");
  await page.until(`${STATE} !== "ready" && ${STATE} !== "running"`);
  if (picture !== undefined) await page.photograph(picture);
  const panel = (expression) =>
    page.evaluate(`(() => { const panel = document.querySelector(".rerun"); return ${expression}; })()`);
  console.log(
    JSON.stringify({
      typed,
      state: await panel("panel.dataset.state"),
      told: await panel("panel.querySelector('.told').textContent"),
      mistakes: await panel("panel.querySelector('.mistakes').textContent"),
      metrics: await panel("panel.querySelectorAll('[data-metric] td.here').length"),
      curves: await panel("panel.querySelectorAll('figure').length"),
    }),
  );
});
