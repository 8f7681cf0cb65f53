// How long runs take in Chromium: node speed.mjs CHROMIUM ADDRESS
//
// ADDRESS is the address of a served file of this package. Each input line is a scenario as JSON. Each output line is
// the CPU time of ten runs in ms, and the packets forwarded. CPU time excludes other programs on the machine.

import { createInterface } from "node:readline";
import { withPage } from "./chromium.mjs";

const [chromium, address] = process.argv.slice(2);

/** Runs that are timed together: CPU time is told in steps of 10 ms. */
const RUNS = 10;

const prepared = (tree) => `(async () => {
  const { load, run, Scenario } = await import("/ackclock.js");
  await load();
  const scenario = new Scenario(${tree});
  globalThis.timed = () => {
    let packets = 0;
    for (let count = 0; count < ${RUNS}; count += 1) {
      const result = run(scenario);
      packets += JSON.parse(result.inner.toJson()).packets_forwarded;
      result.free();
    }
    return packets;
  };
})()`;

/** Milliseconds of CPU time that pages took. */
async function cpuTime(page) {
  const { processInfo } = await page.sendToBrowser("SystemInfo.getProcessInfo");
  return processInfo
    .filter(({ type }) => type === "renderer")
    .reduce((sum, { cpuTime: seconds }) => sum + 1e3 * seconds, 0);
}

await withPage(chromium, async (page) => {
  await page.visit(address);
  for await (const line of createInterface({ input: process.stdin })) {
    await page.evaluate(prepared(line));
    const before = await cpuTime(page);
    const packets = await page.evaluate("timed()");
    console.log(JSON.stringify([(await cpuTime(page)) - before, packets]));
  }
});
