// The page of a queue alone, used as people do: node queue.mjs BROWSER ADDRESS
//
// Prints the counts of a queue with parameters, the titles of its charts, the command and a message as JSON.

import { withPage } from "./browser.mjs";

const [browser, address] = process.argv.slice(2);

await withPage(browser, async (page) => {
  await page.visit(address);
  await page.state("done");
  await page.type("queue", "pie(target=10 ms)");
  await page.type("arrivals", "poisson(8 Mbit/s)\nburst(packets=40, every=500 ms)");
  await page.click("run");
  const counts = await page.evaluate(
    "[...document.querySelectorAll('#counts tbody tr:first-child > *')].map((cell) => cell.textContent)",
  );
  const charts = await page.evaluate("[...document.querySelectorAll('#charts h3')].map((title) => title.textContent)");
  await page.click("copy-command");
  const command = await page.until("document.getElementById('away-text').value");
  await page.type("queue", "coddel");
  await page.click("run");
  await page.state("failed");
  console.log(
    JSON.stringify({
      counts,
      charts,
      command,
      mistake: await page.content("message"),
      elsewhere: page.elsewhere(address),
      problems: page.problems,
    }),
  );
});
