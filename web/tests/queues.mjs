// Replaces queues during a run: node queues.mjs MODULE SCENARIO QUEUES
//
// For each of QUEUES, prints the queue in words and the result of a run with it from the start. A refused queue gives
// the reason. The output is JSON.

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
