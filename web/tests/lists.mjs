// The lists of the module, without a run: node lists.mjs MODULE.wasm SCENARIO
//
// SCENARIO is a tree with mistakes, as JSON. Prints them, all lists and the metrics as JSON.

import { readFileSync } from "node:fs";
import { list, load, metrics, Scenario } from "../ackclock.js";

const [module, scenario] = process.argv.slice(2);
await load(readFileSync(module));

/** @type {Parameters<typeof list>[0][]} */
const KINDS = ["cc", "recovery", "queue", "loss", "traffic", "topology", "channel"];
const lists = Object.fromEntries(KINDS.map((kind) => [kind, list(kind)]));
let mistakes = [];
try {
  new Scenario(JSON.parse(scenario));
} catch (error) {
  mistakes = error.mistakes.map(({ key, message }) => [key, message]);
}
console.log(JSON.stringify({ lists, metrics: metrics(), mistakes }));
