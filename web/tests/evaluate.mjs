// Evaluates as `options` say, over a suite as data: node evaluate.mjs SUITE.json OPTIONS.json
//
// Prints the result as JSON, with each progress report and the time. SUITE may be a name.

import { readFileSync } from "node:fs";
import { evaluate } from "../evaluate.js";

const [suite, options] = process.argv.slice(2);
const named = suite.endsWith(".json") ? JSON.parse(readFileSync(suite, "utf8")) : suite;
const progress = [];
const began = performance.now();
const found = await evaluate({ suite: named, ...JSON.parse(options), onProgress: (far) => progress.push(far) });
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({ ...found, progress, took_s: (performance.now() - began) / 1000, cpu_s: 1e-6 * (user + system) }),
);
