// How fast the live page is: node page_speed.mjs CHROMIUM ADDRESS SPEED SECONDS
//
// ADDRESS opens a scenario. The program prints two figures as JSON. One is the time to the first picture of a run, in
// ms, in a new browser and again. The other is the number of frames drawn in SECONDS at SPEED times the clock.

import { sleep, withPage } from "./chromium.mjs";

const [chromium, address, speed, seconds] = process.argv.slice(2);
const CLOCK = "parseFloat(document.getElementById('clock').textContent)";

/** Notes the first time at which the clock shows a run. Counts frames, and frames in which the clock moved. */
const watch = `(() => {
  const seen = (globalThis.seen = { first: null, frames: 0, pictures: 0 });
  let last = "";
  const look = () => {
    requestAnimationFrame(look);
    const shown = document.getElementById("clock")?.textContent ?? "";
    seen.frames += 1;
    if (!shown.includes(" of ") || shown === last) return;
    last = shown;
    seen.pictures += 1;
    seen.first ??= performance.now();
  };
  requestAnimationFrame(look);
})()`;

await withPage(chromium, async (page) => {
  await page.send("Page.addScriptToEvaluateOnNewDocument", { source: watch });
  const first = [];
  for (let visit = 0; visit < 2; visit += 1) {
    await page.visit(address);
    first.push(await page.until("seen.first"));
  }
  await page.choose("speed", speed);
  await page.until(`${CLOCK} > 20`);
  const look = `({ ...seen, at: performance.now(), clock: ${CLOCK} })`;
  const before = await page.evaluate(look);
  await sleep(1000 * Number(seconds));
  const after = await page.evaluate(look);
  const span = (after.at - before.at) / 1000;
  const per = (key) => (after[key] - before[key]) / span;
  console.log(
    JSON.stringify({
      first,
      frames: per("frames"),
      pictures: per("pictures"),
      speed: per("clock"),
      problems: page.problems,
    }),
  );
});
