// Makes live changes, and opens the link of the run again: node link.mjs BROWSER ADDRESS
//
// Prints hashes and changes as JSON.

import { withPage } from "./browser.mjs";

const [browser, address] = process.argv.slice(2);

await withPage(browser, async (page) => {
  const { problems } = page;
  await page.visit(address);
  await page.state("playing");
  await page.enter("rate", 5);
  await page.until("document.getElementById('changes').children.length === 1");
  await page.click("add");
  await page.until("document.getElementById('changes').children.length === 2");
  await page.choose("queue", "fq-codel");
  await page.until("document.getElementById('changes').children.length === 3");
  // With its own limit.
  await page.until("document.getElementById('buffer').value === '10240'");
  await page.enter("buffer", 20);
  await page.enter("loss", 0.1);
  await page.until("document.getElementById('changes').children.length === 5");
  await page.choose("cc-0", "bbr3");
  await page.until("document.getElementById('changes').children.length === 6");
  await page.press("#rule-box summary");
  await page.type("rule", "grow = 1 / w\ncut = 0.9 * w");
  await page.until("document.getElementById('changes').children.length === 7");
  await page.click("finish");
  await page.state("done");
  const first = await page.content("sum");
  const changes = await page.evaluate(
    "[...document.getElementById('changes').children].map((item) => item.textContent)",
  );

  await page.click("again");
  await page.state("playing");
  await page.until("document.getElementById('queue').value === 'fq-codel'");
  await page.click("finish");
  await page.state("done");
  const again = await page.content("sum");
  await page.click("copy-link");
  await page.until("location.hash.startsWith('#1z.')");
  const link = await page.evaluate("location.href");

  await page.visit(link);
  await page.state("playing");
  await page.click("finish");
  await page.state("done");
  console.log(JSON.stringify({ first, again, second: await page.content("sum"), changes, link, problems }));
});
