// The same as evaluate.mjs in Chromium: node evaluate_chromium.mjs CHROMIUM ADDRESS SUITE OPTIONS.json
//
// ADDRESS is the address of a served file of this package. SUITE is the name of a suite next to the module.

import { withPage } from "./chromium.mjs";

const [chromium, address, suite, options] = process.argv.slice(2);

await withPage(chromium, async (page) => {
  await page.visit(address);
  const found = await page.evaluate(`(async () => {
    const { evaluate } = await import("/evaluate.js");
    const began = performance.now();
    const { document } = await evaluate({ suite: ${JSON.stringify(suite)}, ...${options} });
    return { document, took_s: (performance.now() - began) / 1000 };
  })()`);
  console.log(JSON.stringify(found));
});
