// Runs scenarios and leaves their results whole: node golden.mjs MODULE.wasm RUNS.json FOLDER
//
// RUNS.json is a list of scenarios as trees. FOLDER/n.json contains the document, the histograms, and a table of
// columns for each kind of samples. FOLDER/n.bin contains the concatenated bytes of all columns.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load, run, Scenario } from "../ackclock.js";
import { collected } from "./collected.mjs";

const [module, runs, folder] = process.argv.slice(2);
await load(readFileSync(module));
JSON.parse(readFileSync(runs, "utf8")).forEach((tree, index) => {
  const result = run(new Scenario(tree));
  const { json, parts } = collected(result);
  writeFileSync(join(folder, `${index}.bin`), Buffer.concat(parts));
  writeFileSync(join(folder, `${index}.json`), json);
  result.free();
});
