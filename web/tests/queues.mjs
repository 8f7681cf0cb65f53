// Queues that are set while a run goes on: node queues.mjs MODULE SCENARIO QUEUES
//
// For each of QUEUES, all as JSON: what it is in words and what came of a run in which it was set at the start, or why it was refused.

import { readFile } from "node:fs/promises";
import { load, Scenario } from "../ackclock.js";

const [module, tree, queues] = process.argv.slice(2);
await load(await readFile(module));
const scenario = new Scenario(JSON.parse(tree));

const found = JSON.parse(queues).map((queue) => {
  const run = scenario.start();
  const link = run.linkNames.indexOf("bottleneck");
  try {
    const words = run.setQueue(link, queue);
    const { summary, links, flows } = run.finish().document;
    return { words, summary, links, flows };
  } catch (error) {
    run.free();
    return { refused: error.message };
  }
});
console.log(JSON.stringify(found));
