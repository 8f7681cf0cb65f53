// How long runs take in Chromium: node speed.mjs CHROMIUM ADDRESS
//
// Each line that comes in is a scenario as JSON; each line that goes out the milliseconds that its run took and the packets forwarded.

import { createInterface } from "node:readline";
import { withPage } from "./chromium.mjs";

const [chromium, address] = process.argv.slice(2);

const timed = (tree) => `(async () => {
  const { load, run, Scenario } = await import("/ackclock.js");
  await load();
  const scenario = new Scenario(${tree});
  const started = performance.now();
  const result = run(scenario);
  const took = performance.now() - started;
  const { packets_forwarded: packets } = JSON.parse(result.inner.toJson());
  result.free();
  return [took, packets];
})()`;

await withPage(chromium, async (page) => {
  await page.visit(address);
  for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await page.evaluate(timed(line))));
});
