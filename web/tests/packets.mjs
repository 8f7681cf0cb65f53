// Packets on the wire, and two runs compared: node packets.mjs BROWSER ADDRESS
//
// ADDRESS opens a scenario of one CUBIC flow. Prints hashes and figures as JSON.

import assert from "node:assert/strict";
import { withPage } from "./browser.mjs";

const [browser, address] = process.argv.slice(2);
const WIRE = "document.getElementById('wire-state').textContent";
const LINK = "document.getElementById('link-state').textContent";
const CLOCK = "parseFloat(document.getElementById('clock').textContent)";
const isShown = (id) => `!document.getElementById("${id}").hidden`;
/** Whether the words under the packets agree with the engine about the queue. */
const AGREE = `${WIRE}.startsWith(/^(\\d+) packets queued/.exec(${LINK})[1] + " queued")`;
const PROGRESS = "document.getElementById('progress').value";
/** Whether the picture shows something. One packet later it may look the same. */
const DRAWN = `(() => {
  const wire = document.getElementById("chart-wire");
  const { width, height } = wire;
  return wire.toDataURL() !== Object.assign(document.createElement("canvas"), { width, height }).toDataURL();
})()`;

/** From packet to packet, and slowly. */
async function packets(page) {
  await page.visit(address);
  await page.state("playing");
  await page.until(`${CLOCK} > 2`);
  await page.click("play");
  await page.state("paused");
  assert.ok(!(await page.evaluate(isShown("wire"))));
  await page.click("packet");
  await page.state("paused");
  await page.until(`${isShown("wire")} && ${WIRE} !== ""`);
  for (let step = 0; step < 3; step += 1) {
    const before = await page.evaluate(PROGRESS);
    await page.click("packet");
    await page.state("paused");
    await page.until(`${AGREE} && ${DRAWN} && ${PROGRESS} > ${before}`);
    // A link of 20 ms carries a packet each 1.2 ms.
    assert.match(await page.evaluate(WIRE), /\b1[678] on the wire/);
  }
  await page.enter("loss", 100);
  await page.until("document.getElementById('changes').children.length === 1");
  for (let step = 0; step < 6; step += 1) {
    await page.click("packet");
    await page.state("paused");
  }
  await page.until(`/ [1-9]\\d* lost/.test(${WIRE})`);
  await page.enter("loss", 0);
  await page.until("document.getElementById('changes').children.length === 2");
  // The page draws packets only at slow speed.
  await page.click("play");
  await page.until(`!${isShown("wire")}`);
  await page.choose("speed", "0.1");
  const words = await page.until(`${isShown("wire")} && ${WIRE}`);
  await page.until(`${WIRE} !== ${JSON.stringify(words)}`);
  await page.choose("speed", "10");
  await page.until(`!${isShown("wire")}`);
}

/** Two runs, and a link that contains both. */
async function compared(page) {
  await page.visit(address);
  await page.state("playing");
  await page.click("finish");
  await page.state("done");
  const alone = await page.content("sum");
  await page.click("again");
  await page.state("playing");
  await page.click("pin");
  await page.until("document.getElementById('pinned').textContent.includes('still the same')");
  await page.until(
    `${LINK}.includes(" · B: ") && document.querySelector("#flows tbody td.n").textContent.includes("(B ")`,
  );
  await page.choose("queue", "codel");
  await page.until("document.getElementById('pinned').textContent.includes('different live changes')");
  await page.click("finish");
  await page.state("done");
  await page.until(isShown("result-beside"));
  const sums = [await page.content("sum"), await page.content("sum-beside")];
  assert.equal(sums[1], alone);
  assert.notEqual(sums[0], alone);
  const figures = await page.evaluate(
    "[...document.querySelectorAll('#summary .beside')].map((figure) => figure.textContent)",
  );
  await page.click("copy-link");
  await page.until("location.hash.startsWith('#1z.')");

  await page.visit(await page.evaluate("location.href"));
  await page.state("playing");
  await page.until(isShown("pinned"));
  await page.click("finish");
  await page.state("done");
  await page.until(isShown("result-beside"));
  assert.deepEqual([await page.content("sum"), await page.content("sum-beside")], sums);
  // Both draw other numbers.
  await page.enter("seed", 9);
  await page.until("document.documentElement.dataset.state !== 'done'");
  await page.click("finish");
  await page.state("done");
  await page.until(
    `${isShown("result-beside")} && document.getElementById("sum-beside").textContent !== ${JSON.stringify(alone)}`,
  );
  await page.click("pin");
  await page.until(`!${isShown("pinned")} && !${isShown("result-beside")} && !${LINK}.includes("B:")`);
  return { sums, figures };
}

await withPage(browser, async (page) => {
  await packets(page);
  const found = await compared(page);
  console.log(JSON.stringify({ ...found, problems: page.problems }));
});
