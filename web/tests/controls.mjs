// Each control of the page, by clicks and keys: node controls.mjs BROWSER ADDRESS FOLDER
//
// ADDRESS opens a scenario of one CUBIC flow, 300 s at 10 Mbit/s. The page's exports are left in FOLDER. The program
// prints the copied texts and the figures of the last run as JSON.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep, withPage } from "./browser.mjs";

const [browser, address, folder] = process.argv.slice(2);
const CLOCK = "parseFloat(document.getElementById('clock').textContent)";
const SETS = "document.getElementById('write').title";
const ALGORITHM = "document.querySelector('#flows tbody tr td').textContent";
const CHANGES = "[...document.getElementById('changes').children].map((item) => item.textContent)";

/** Pause, steps, speed and their keys. */
async function running(page) {
  const clock = () => page.evaluate(CLOCK);
  await page.state("playing");
  await page.until(`${CLOCK} > 1`);
  await page.click("play");
  await page.state("paused");
  // Nothing moves any more: a page that said so too early would show it here.
  const paused = await clock();
  await sleep(150);
  assert.equal(await clock(), paused);

  await page.evaluate("document.activeElement.blur()");
  await page.key("/", "Slash");
  await page.until(`${CLOCK} >= ${paused + 0.04} && ${CLOCK} < ${paused + 0.2}`);
  const stepped = await clock();
  await page.click("rtt-step");
  await page.until(`${CLOCK} >= ${stepped + 0.04} && ${CLOCK} < ${stepped + 0.2}`);
  const before = await page.evaluate("document.getElementById('progress').value");
  await page.click("packet");
  await page.until(`Math.abs((document.getElementById('progress').value - ${before}) * 300 - 0.0012) < 1e-6`);
  await page.evaluate("document.activeElement.blur()");
  await page.key(".", "Period");
  await page.until(`Math.abs((document.getElementById('progress').value - ${before}) * 300 - 0.0024) < 1e-6`);

  const slow = await clock();
  const since = await page.evaluate("performance.now()");
  await page.choose("speed", "0.01");
  await page.key(" ", "Space");
  await page.state("playing");
  await page.until(`${CLOCK} > ${slow}`);
  assert.ok(await page.evaluate(`${CLOCK} <= ${slow} + 0.01 * (performance.now() - ${since}) / 1000 + 0.02`));
  await page.choose("speed", "100");
  await page.until(`${CLOCK} > ${slow + 10}`);
  await page.key(" ", "Space");
  await page.state("paused");
}

/** Settings that begin the run again, up to the time shown. */
async function settings(page) {
  const time = await page.evaluate(CLOCK);
  const isThere = `Math.abs(${CLOCK} - ${time}) < 0.02`;
  const chosen = async (setting) => {
    await page.until(`${SETS}.split("\\n").includes(${JSON.stringify(setting)})`);
    await page.until(isThere);
  };
  await page.enter("seed", 7);
  await chosen("seed=7");

  await page.choose("speed", "1");
  await page.click("play");
  await page.state("playing");
  await page.enter("seed", 8);
  await page.until(`${SETS}.includes("seed=8")`);
  await page.until(`${CLOCK} > ${time}`);
  await page.state("playing");
  await page.click("write");
  await page.until(`${SETS} === ""`);
  await page.until(`${ALGORITHM} === "cubic"`);
}

/** Sliders, the queue and flows, while it runs. */
async function changing(page) {
  const change = async (count, text) => {
    await page.until(`${CHANGES}.length === ${count}`);
    const last = (await page.evaluate(CHANGES)).at(-1);
    assert.ok(last.endsWith(text), `${last} is not ${text}`);
  };
  await page.until(`${CLOCK} > 0.5`);
  await page.enter("rate", 4);
  await change(1, "bottleneck: rate 4 Mbit/s");
  await page.press("#rate-range");
  await change(2, "bottleneck: rate 10 Mbit/s");
  await page.enter("rtt", 60);
  await change(4, "bottleneck.reverse: delay 30 ms");
  await page.enter("buffer", 7);
  await change(5, "bottleneck: buffer 7 packets");
  await page.press("#loss-range");
  await change(6, "bottleneck: loss 0.14 %");
  await page.enter("loss", 200);
  await page.until(
    "document.getElementById('message').textContent.startsWith('The running simulation does not accept this " +
      "change: a probability is')",
  );
  assert.equal(await page.value("loss"), "0.14");
  await page.enter("loss", 0);
  await change(7, "bottleneck: loss 0 %");
  await page.choose("queue", "codel");
  await change(8, "bottleneck: codel, 7 packets");
  await page.until("document.getElementById('queue').title === 'codel, 7 packets, target 5 ms, interval 100 ms'");
  assert.equal(await page.value("buffer"), "7");
  await page.enter("buffer", 30);
  await change(9, "bottleneck: buffer 30 packets");
  assert.equal(await page.value("queue"), "codel");
  await page.choose("cc-0", "reno");
  await change(10, "one: reno");
  await page.until(`${ALGORITHM} === "reno"`);
  await page.click("add");
  await change(11, "added1 begins");
  await page.until(
    "[...document.querySelectorAll('#flows tbody tr:not([hidden])')].map((row) => " +
      "row.cells[1].textContent).join() === 'reno,reno'",
  );
  await page.press("#flows tbody tr button");
  await change(12, "one ends");
  await page.until("document.querySelector('#flows tbody tr button').textContent === 'Stopped'");
  await page.press("#changes-box summary");
  await page.click("forget");
  await page.until(`${CHANGES}.length === 0`);
  await page.until(
    `document.querySelector('#flows tbody tr button').textContent === 'Stop' && ${ALGORITHM} === "cubic" && ` +
      `document.getElementById('queue').value === "drop-tail"`,
  );
}

/** A choice before the start is a setting and not a live change. */
async function before(page, address) {
  await page.motion(true);
  await page.visit(address);
  await page.state("paused");
  await page.enter("buffer", 7);
  await page.until(`${SETS} === "topology.queue.limit=7 packets"`);
  await page.enter("loss", 1);
  await page.until(`${SETS}.includes('topology.loss={ kind = "bernoulli", probability = 0.01 }')`);
  await page.enter("loss", 200);
  await page.until("document.getElementById('message').textContent.startsWith('Invalid setting')");
  assert.equal(await page.value("loss"), "1");
  await page.choose("queue", "codel");
  await page.until(`${SETS}.includes("topology.queue=codel\\ntopology.queue.limit=7 packets")`);
  await page.choose("cc-0", "reno");
  await page.until(`${SETS}.includes("flows.0.cc=reno") && ${ALGORITHM} === "reno"`);
  assert.deepEqual(await page.evaluate(CHANGES), []);
  await page.motion(false);
}

/** A rule, its mistakes at their lines, and the same of the scenario. */
async function texts(page) {
  const selected = (id) =>
    page.evaluate(
      `(() => { const area = document.getElementById("${id}"); return area.value.slice(area.selectionStart, ` +
        "area.selectionEnd); })()",
    );
  await page.press("#rule-box summary");
  for (const { line, wrong, message } of [
    { line: 2, wrong: "cut = 0.5 * ww", message: "unknown variable `ww`" },
    { line: 3, wrong: "rtt > 5", message: "expected NAME = FORMULA" },
  ]) {
    await page.type("rule", `grow = 1 / w\n${"# half of it\n".repeat(line - 2)}${wrong}`);
    await page.until(`document.getElementById("rule-state").textContent.includes(${JSON.stringify(message)})`);
    assert.ok((await page.content("rule-state")).startsWith(`line ${line}`));
    await page.press("#rule-state button");
    assert.equal(await selected("rule"), wrong);
  }
  assert.equal(await page.evaluate(ALGORITHM), "cubic");
  await page.type("rule", "grow = 1 / w\ncut = 0.9 * w");
  await page.until(`${ALGORITHM} === "rule" && document.getElementById("rule-state").textContent === ""`);

  const text = await page.value("text");
  await page.type("text", text.replace("300 s", "30 parsecs"));
  await page.until("document.querySelector('#mistakes button')?.textContent === 'line 3'");
  await page.press("#mistakes button");
  assert.equal(await selected("text"), 'duration = "30 parsecs"');
  await page.click("apply");
  await page.state("none");
  await page.until("document.getElementById('rate').matches(':disabled')");
  await page.type("text", text.replace("300 s", "30 s").replace("20 ms", "10 ms"));
  await page.key("Enter", "Enter", 2);
  await page.state("playing");
  await page.until("document.getElementById('clock').textContent.endsWith(' s of 30 s')");
  assert.equal(await page.content("mistakes"), "");
}

/** A capacity trace: chosen, dropped, and invalid. */
async function traces(page) {
  const file = join(folder, "cellular.trace");
  writeFileSync(file, "1\n1\n2\n4\n");
  await page.attach("trace", file);
  await page.until(
    `${SETS}.includes("topology.rate=24.064 Mbit/s") && ${SETS}.includes("milliseconds = [1, 1, 2, 4]")`,
  );
  await page.until("document.getElementById('rate').disabled");
  const drop = (text) =>
    page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(text)}], "dropped.trace"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  })()`);
  await drop("1\n2\n3\n");
  await page.until(`${SETS}.includes("topology.rate=12.032 Mbit/s") && ${SETS}.includes("milliseconds = [1, 2, 3]")`);
  for (const [text, message] of [
    ["1\nx\n", "line 2: expected a time"],
    ["2\n1\n", "line 2: 1 ms is earlier"],
    ["", "it is empty"],
  ]) {
    await drop(text);
    await page.until(`document.getElementById("message").textContent.includes(${JSON.stringify(message)})`);
  }
  await page.click("write");
  await page.until(
    "!document.getElementById('rate').disabled && document.getElementById('message').textContent === ''",
  );
  // Random times do not pack well: no link holds them.
  let time = 0;
  await drop(Array.from({ length: 80_000 }, (_, index) => (time += (index * 7919) % 1013)).join("\n"));
  await page.until(`${SETS}.includes("varies")`);
  await page.click("copy-link");
  await page.until("document.getElementById('away-state').textContent.includes('too long for a link')");
  await page.click("write");
  await page.until(`${SETS} === ""`);
}

/** The exports. */
async function away(page) {
  await page.evaluate("document.activeElement.blur()");
  await page.key("End");
  await page.state("done");
  // A choice after the end restarts the run.
  await page.choose("queue", "codel");
  await page.until(`${SETS} === "topology.queue=codel"`);
  await page.state("done");
  await page.click("copy-command");
  // The page confirms the copy once the browser has answered.
  await page.until(
    "document.getElementById('away-text').value.startsWith('cat > scenario.toml') && " +
      "document.getElementById('away-state').textContent.startsWith('Command')",
  );
  const command = await page.value("away-text");
  for (const [id, name] of [
    ["save-scenario", "scenario.toml"],
    ["save-svg", "scenario.svg"],
    ["save-flows", "scenario-flows.csv"],
    ["save-links", "scenario-links.csv"],
  ]) {
    await page.click(id);
    await page.until(`document.getElementById("away-state").textContent === "Saved as ${name}."`);
    for (let tries = 0; tries < 200 && !existsSync(join(page.folder, name)); tries += 1) await sleep(25);
    copyFileSync(join(page.folder, name), join(folder, name));
  }
  await page.click("again");
  await page.state("playing");
  await page.click("finish");
  await page.state("done");
  return {
    command,
    summary: await page.evaluate("[...document.querySelectorAll('#summary b')].map((figure) => figure.textContent)"),
  };
}

await withPage(browser, async (page) => {
  await before(page, address);
  await page.visit(address);
  for (const part of [running, settings, changing, texts, traces]) await part(page);
  const taken = await away(page);
  await page.choose("lesson-list", "convergence");
  await page.until("location.hash === '#lesson=convergence' && !document.getElementById('phase').hidden");
  // The lesson is left, and its scenario stays.
  const text = await page.value("text");
  await page.choose("lesson-list", "");
  await page.until(
    "location.hash === '' && document.getElementById('lesson').hidden && document.getElementById('text-box').open",
  );
  if ((await page.value("text")) !== text) throw new Error("the scenario of the lesson is gone");
  console.log(JSON.stringify({ ...taken, problems: page.problems }));
});
