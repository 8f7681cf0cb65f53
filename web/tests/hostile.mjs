// Invalid links, oversized scenarios, tabs in the background: node hostile.mjs BROWSER ADDRESS
//
// Prints the messages as JSON.

import assert from "node:assert/strict";
import { isFirefox, sleep, withPage } from "./browser.mjs";
import { policy } from "./policy.mjs";

const [browser, address] = process.argv.slice(2);
const page0 = address.split("#")[0];
const CLOCK = "parseFloat(document.getElementById('clock').textContent)";
const link = (text) =>
  `${page0}#1j.${Buffer.from(JSON.stringify({ text, sets: [], changes: [] })).toString("base64url")}`;
const scenario = (name, duration, rate, flows) => `schema = 2
name = ${JSON.stringify(name)}
duration = "${duration}"
topology = { kind = "dumbbell", rate = "${rate}", delay = "20 ms" }
flows = [${flows}]
`;

/** Links that are too long, damaged, or no links of this page: one message, and the first example. */
async function refused(page) {
  const found = {};
  let last = "";
  for (const [name, fragment] of [
    ["long", `1j.${"A".repeat(1_000_000)}`],
    ["junk", "<script>alert(1)</script>"],
    ["damaged", "1z.AAAA"],
    ["other", "1j.e30"],
  ]) {
    if (name === "long") await page.visit(`${page0}#${fragment}`);
    else await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    found[name] = await page.until(
      `(document.getElementById("message").textContent !== ${JSON.stringify(last)} && ` +
        `document.getElementById("message").textContent)`,
    );
    await page.until(`${CLOCK} > 0 && document.documentElement.dataset.state === "playing"`);
    last = found[name];
  }
  return found;
}

/** Names that would be scripts if they were read as HTML. */
async function names(page) {
  const evil = "<img src=x onerror=window.executed=1><script>window.executed=1</script>";
  await page.visit(link(scenario(evil, "5 s", "10 Mbit/s", `{ name = ${JSON.stringify(evil)}, cc = "cubic" }`)));
  await page.until("document.getElementById('mistakes').textContent.includes('cannot be a name')");
  await page.visit(link(scenario(evil, "5 s", "10 Mbit/s", '{ cc = "cubic" }')));
  await page.until(`${CLOCK} > 0`);
  await page.click("finish");
  await page.state("done");
  for (const id of ["save-svg", "copy-command"]) await page.click(id);
  assert.equal(await page.evaluate("window.executed ?? document.querySelectorAll('img').length"), 0);
  assert.ok((await page.value("text")).includes(evil));
  assert.deepEqual(page.problems.splice(0), []);
}

/** A scenario with more events in a step than a person waits for. The page offers to wait or to stop, and a new run
 * replaces it. */
async function tooMuch(page) {
  const much = link(scenario("much", "1000000 s", "100 Gbit/s", '{ cc = "cubic", count = 50 }'));
  const message = () => page.until("document.getElementById('message').textContent", 60);
  const lesson = async () => {
    await page.choose("lesson-list", "convergence");
    await page.until(
      `document.documentElement.dataset.state === "playing" && ${CLOCK} > 0 && ` +
        `document.getElementById("message").textContent === ""`,
    );
  };
  await page.visit(much);
  await page.until(`${CLOCK} > 0`);
  await page.click("finish");
  const offered = await message();
  await page.press("#message button:first-of-type");
  assert.equal(await page.content("message"), "");
  assert.equal(await message(), offered);
  await page.press("#message button:last-of-type");
  const stopped = await message();
  assert.equal(await page.evaluate("document.documentElement.dataset.state"), "none");
  await lesson();

  await page.visit(much);
  await page.until(`${CLOCK} > 0`);
  await page.click("finish");
  await message();
  await lesson();
  return { offered, stopped };
}

/** A tab that is behind another one, and one that the browser froze, lose nothing. */
async function background(page) {
  if (!isFirefox(browser)) {
    await page.send("Page.setWebLifecycleState", { state: "frozen" });
    await sleep(1000);
    await page.send("Page.setWebLifecycleState", { state: "active" });
  }
  let before = 0;
  await page.behind(async () => {
    before = await page.evaluate(CLOCK);
    await sleep(300);
  });
  await page.until(`${CLOCK} > ${before}`);
  await page.click("finish");
  await page.state("done");
  const through = await page.content("sum");
  await page.click("again");
  await page.click("finish");
  await page.state("done");
  assert.equal(await page.content("sum"), through);
  assert.equal(await page.content("message"), "");
}

/** Narrow and wide, light and dark: the page fits its window, and the colours differ. */
async function looks(page) {
  const papers = new Set();
  for (const width of [400, 1400]) {
    for (const scheme of ["light", "dark"]) {
      await page.size(width, 900);
      await page.colours(scheme);
      await page.until(`innerWidth === ${width}`);
      assert.ok(
        (await page.evaluate("document.documentElement.scrollWidth")) <= width,
        `${width}: the page is wider than its window`,
      );
      papers.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
  }
  assert.equal(papers.size, 2);
}

await withPage(browser, async (page) => {
  const links = await refused(page);
  assert.deepEqual(page.problems.splice(0), []);
  await names(page);
  const broken = await policy(page);
  const much = await tooMuch(page);
  await background(page);
  await looks(page);
  console.log(JSON.stringify({ links, broken, much, elsewhere: page.elsewhere(address), problems: page.problems }));
});
