// Reruns a cell of a report or of a notebook's widget: node rerun.mjs BROWSER ADDRESS OPEN MODE [PICTURE]
//
// OPEN is a JSON list of selectors, pressed in order to reach the cell. MODE `thorough` adds other seeds and
// settings, mistakes, and a stopped run. With PICTURE, the cell runs with CUBIC and its picture is saved there.
// Prints the results as JSON.

import assert from "node:assert/strict";
import { withPage } from "./browser.mjs";
import { policy } from "./policy.mjs";

const [browser, address, open, mode, picture] = process.argv.slice(2);
const STATE = "document.querySelector('.rerun').dataset.state";
const SHOWN = `(() => {
  const panel = document.querySelector(".rerun");
  const rows = [...panel.querySelectorAll("[data-metric]")];
  const column = (kind) => Object.fromEntries(rows.flatMap((row) => {
    const cell = row.querySelector("td." + kind);
    return cell === null ? [] : [[row.dataset.metric, cell.dataset.value]];
  }));
  return {
    told: panel.querySelector(".told").textContent,
    mistakes: [...panel.querySelectorAll(".mistakes li")].map((item) => item.textContent),
    here: column("here"),
    stored: column("stored"),
    units: Object.fromEntries(rows.map((row) => [row.dataset.metric, row.querySelector(".unit").textContent])),
    curves: [...panel.querySelectorAll("figure")].map((figure) => {
      const drawn = (kind) => figure.querySelectorAll(".line." + kind + "[d^=M]").length;
      return [figure.querySelector("b").textContent, drawn("here"), drawn("stored")];
    }),
    watched: [...panel.querySelectorAll("tr.watched th")].map((head) => head.textContent),
  };
})()`;

async function fill(page, name, text) {
  const selector = `.rerun [name=${name}]`;
  await page.press(selector);
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).select()`);
  await page.insert(text);
}

async function asStored(page) {
  await page.press(".rerun [name=reset]");
}

async function run(page, ends = "done") {
  await page.press(".rerun button[type=submit]");
  // The run must start first, because an earlier end does not count.
  await page.until(`${STATE} !== "running" && ${STATE} !== undefined`);
  await page.until(`${STATE} === "${ends}"`);
  return page.evaluate(SHOWN);
}

/** Other seeds, settings and times, then invalid settings, and a stopped run. */
async function changed(page) {
  const found = {};
  await fill(page, "seed", "99");
  await fill(page, "replicate", "1");
  found.seed = await run(page);
  await asStored(page);
  await fill(page, "sets", "topology.queue.limit=30 packets\n\nsampling.interval=100 ms");
  await fill(page, "duration", "12 s");
  found.settings = await run(page);
  const csv = await page.evaluate("document.querySelector('.rerun figure').makeCsv()");
  assert.deepEqual(new Set(csv.split("\n").map((line) => line.split(",")[0])), new Set(["run", "stored", "here"]));

  await asStored(page);
  const evil = "<img src=x onerror=window.executed=1>";
  await fill(page, "sets", `flows.test.cout=1\nflows.test.cc=${evil}`);
  found.mistakes = await run(page, "failed");
  await asStored(page);
  await fill(page, "seed", "-1");
  found.noSeed = await run(page, "failed");
  assert.equal(await page.evaluate("window.executed ?? document.querySelectorAll('.rerun img').length"), 0);

  await asStored(page);
  await fill(page, "duration", "1000000 s");
  await page.press(".rerun button[type=submit]");
  await page.until(
    `${STATE} === "running" && document.querySelector(".rerun progress").value > 0 || ${STATE} === "running" ` +
      `&& document.querySelector(".rerun .told").textContent === "Running …"`,
  );
  await page.press(".rerun [name=stop]");
  await page.until(`${STATE} === "stopped"`);
  await asStored(page);
  found.after = await run(page);
  return found;
}

/** Narrow and wide, light and dark: the page fits its window. */
async function looks(page) {
  for (const width of [400, 1400]) {
    for (const scheme of ["light", "dark"]) {
      await page.size(width, 900);
      await page.colours(scheme);
      await page.until(`innerWidth === ${width}`);
      assert.ok(
        (await page.evaluate("document.querySelector('.rerun').getBoundingClientRect().right")) <= width,
        `${width}: beside the window`,
      );
    }
  }
}

await withPage(browser, async (page) => {
  await page.visit(address);
  // The charts of an evaluation are unpacked first.
  await page.until("document.querySelector('.card .keys:empty') === null");
  for (const selector of JSON.parse(open)) await page.press(selector);
  await page.until(`${STATE} === "ready" || ${STATE} === "refused"`);
  const state = await page.evaluate(STATE);
  const found = { state, first: state === "ready" ? await run(page) : await page.evaluate(SHOWN) };
  if (mode === "thorough") {
    Object.assign(found, await changed(page));
    await looks(page);
    assert.deepEqual(page.problems, []);
    found.broken = await policy(page);
  }
  if (picture !== undefined) {
    await page.size(1280, 1000);
    await fill(page, "sets", "flows.test.cc=cubic");
    await run(page);
    await page.photograph(picture);
  }
  const elsewhere = page.requests.filter((url) => url !== address && !/^(?:blob|data|about):/.test(url));
  console.log(JSON.stringify({ ...found, elsewhere, problems: page.problems }));
});
