// A figure of the documentation, by clicks on its button and on a slider: node figure.mjs BROWSER ADDRESS [PICTURE]
//
// Prints what it says of both runs as JSON; with PICTURE the figure is left there.

import assert from "node:assert/strict";
import { withPage } from "./browser.mjs";

const [browser, address, picture] = process.argv.slice(2);
const FIGURE = "document.querySelector('.live-figure')";
const SAID = `${FIGURE}.querySelector('[role=status]').textContent`;

await withPage(browser, async (page) => {
  const state = (name) => page.until(`${FIGURE}?.dataset.state === "${name}"`);
  await page.visit(address);
  await state("picture");
  // The engine is not loaded for a reader who only looks.
  const engine = "document.getElementById('module/ackclock_bg.wasm')";
  assert.equal(await page.evaluate(`${engine} === null`), true);
  await page.press(".live-figure button");
  await state("done");
  const first = await page.evaluate(SAID);
  assert.equal(await page.evaluate(`${engine} === null`), false);
  assert.equal(await page.evaluate(`${FIGURE}.querySelectorAll("canvas").length`), 2);
  if (picture !== undefined) await page.photograph(picture);
  await page.press(".live-figure input");
  await page.until(`${FIGURE}.dataset.state === "done" && ${SAID} !== ${JSON.stringify(first)}`);
  const changed = await page.evaluate(`[...${FIGURE}.querySelectorAll("output")].map((shown) => shown.textContent)`);
  console.log(JSON.stringify({ first, second: await page.evaluate(SAID), changed, problems: page.problems }));
});
