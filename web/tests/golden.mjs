// Runs scenarios and leaves their results whole: node golden.mjs MODULE.wasm RUNS.json FOLDER
//
// RUNS.json is a list of scenarios as trees. Of the n-th, FOLDER/n.json has the document, the histograms, and a table of columns for
// each kind of samples; FOLDER/n.bin the bytes of all columns, one after another.

import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { load, run, Scenario } from "../ackclock.js";

const [module, runs, folder] = process.argv.slice(2);
await load(readFileSync(module));
JSON.parse(readFileSync(runs, "utf8")).forEach((tree, index) => {
  const result = run(new Scenario(tree));
  const bytes = openSync(join(folder, `${index}.bin`), "w");
  const tables = ["flows", "links", "packets"].map((table) =>
    Object.entries(result.samples(table)).map(([name, { values, kind, names }]) => {
      for (let done = 0; done < values.byteLength; ) {
        done += writeSync(bytes, new Uint8Array(values.buffer, values.byteOffset + done, values.byteLength - done));
      }
      return { name, kind, names, length: values.length };
    }),
  );
  closeSync(bytes);
  // As texts: JavaScript writes 2.0 as 2.
  const [document, histograms] = [result.inner.toJson(), result.inner.histogramsJson()];
  writeFileSync(join(folder, `${index}.json`), JSON.stringify({ document, histograms, tables }));
  result.free();
});
