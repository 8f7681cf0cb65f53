// The same as speed.mjs in Node: node --no-liftoff speed_node.mjs MODULE.wasm
//
// Milliseconds are CPU time, which excludes other programs on the machine. Without Liftoff, V8 optimises all code at
// once.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { load, run, Scenario } from "../ackclock.js";

const [module] = process.argv.slice(2);
await load(readFileSync(module));
for await (const line of createInterface({ input: process.stdin })) {
  const scenario = new Scenario(JSON.parse(line));
  const before = process.cpuUsage();
  const result = run(scenario);
  const took = process.cpuUsage(before).user / 1e3;
  console.log(JSON.stringify([took, result.document.packets_forwarded]));
  result.free();
}
