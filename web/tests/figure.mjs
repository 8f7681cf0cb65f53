// A figure of the documentation, by clicks on its button and on a slider: node figure.mjs BROWSER ADDRESS [PICTURE]
//
// Prints the texts of both runs as JSON. With PICTURE, the figure is saved there.

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
  // Lines are drawn, and in colours, which axes have not.
  const coloured = `[...${FIGURE}.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 128 && Math.abs(data[at] - data[at + 2]) > 60) count += 1;
    }
    return count;
  })`;
  for (const count of await page.evaluate(coloured)) assert.ok(count > 500, `${count} pixels of lines`);
  if (picture !== undefined) await page.photograph(picture);
  await page.press(".live-figure input");
  await page.until(`${FIGURE}.dataset.state === "done" && ${SAID} !== ${JSON.stringify(first)}`);
  const changed = await page.evaluate(`[...${FIGURE}.querySelectorAll("output")].map((shown) => shown.textContent)`);
  console.log(JSON.stringify({ first, second: await page.evaluate(SAID), changed, problems: page.problems }));
});
