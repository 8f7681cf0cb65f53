// The same as golden.mjs in Chromium: node golden_chromium.mjs CHROMIUM ADDRESS RUNS.json FOLDER
//
// ADDRESS is the address of a served file of this package.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withPage } from "./chromium.mjs";
import { collected } from "./collected.mjs";

const [chromium, address, runs, folder] = process.argv.slice(2);

const whole = (tree) => `(async () => {
  const { load, run, Scenario } = await import("/ackclock.js");
  await load();
  const result = run(new Scenario(${JSON.stringify(tree)}));
  const { json, parts } = (${collected})(result);
  result.free();
  const reader = new FileReader();
  const read = new Promise((resolve) => (reader.onload = () => resolve(reader.result)));
  reader.readAsDataURL(new Blob(parts));
  return { json, data: (await read).split(",")[1] ?? "" };
})()`;

await withPage(chromium, async (page) => {
  await page.visit(address);
  for (const [index, tree] of JSON.parse(readFileSync(runs, "utf8")).entries()) {
    const { json, data } = await page.evaluate(whole(tree));
    writeFileSync(join(folder, `${index}.bin`), Buffer.from(data, "base64"));
    writeFileSync(join(folder, `${index}.json`), json);
  }
});
