// Uses the live page as a person does: node browser.mjs CHROMIUM ADDRESS
//
// Prints what it found as JSON. Chromium is driven over a pipe, by its DevTools protocol.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [chromium, address] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "ackclock-"));
const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
const browser = spawn(chromium, [...options, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

const waiting = new Map();
const problems = [];
const noted = ["Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"];
let session, text = "", count = 0;
browser.stdio[4].on("data", (data) => {
  const messages = (text + data).split("\0");
  text = messages.pop();
  for (const message of messages.map((one) => JSON.parse(one))) {
    if (message.id !== undefined) waiting.get(message.id)(message);
    else if (noted.includes(message.method)) problems.push(JSON.stringify(message.params).slice(0, 400));
  }
});

const send = (method, params = {}) =>
  new Promise((resolve) => {
    count += 1;
    waiting.set(count, ({ result, error }) => resolve(result ?? { error }));
    browser.stdio[3].write(`${JSON.stringify({ id: count, method, params, sessionId: session })}\0`);
  });
const evaluate = async (expression) => {
  const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  return result.value;
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(expression) {
  for (let tries = 0; tries < 600; tries += 1, await sleep(50)) if (await evaluate(expression)) return;
  const shown = await evaluate("location.href.slice(0, 80) + ' ' + document.documentElement.dataset.state + ' ' + document.getElementById('message')?.textContent");
  throw new Error(`never true: ${expression}; the page: ${shown}; ${problems.join("; ")}`);
}
const state = (name) => until(`document.documentElement.dataset.state === "${name}"`);
const click = (id) => evaluate(`document.getElementById("${id}").click()`);
const content = (id) => evaluate(`document.getElementById("${id}").textContent`);
async function visit(where) {
  await send("Page.navigate", { url: "about:blank" });
  await send("Page.navigate", { url: where });
}

try {
  const { targetInfos } = await send("Target.getTargets");
  const page = targetInfos.find(({ type }) => type === "page");
  session = (await send("Target.attachToTarget", { targetId: page.targetId, flatten: true })).sessionId;
  for (const domain of ["Runtime", "Log", "Page"]) await send(`${domain}.enable`);

  await visit(address);
  await state("playing");
  await until("!document.getElementById('add').disabled");
  await evaluate("(() => { const rate = document.getElementById('rate'); rate.value = 5; rate.dispatchEvent(new Event('change')); })()");
  await until("document.getElementById('changes').children.length === 1");
  await until("!document.getElementById('add').disabled");
  await click("add");
  await until("document.getElementById('changes').children.length === 2");
  await click("finish");
  await state("done");
  const first = await content("sum");
  const changes = await evaluate("[...document.getElementById('changes').children].map((item) => item.textContent)");
  await click("copy-link");
  await sleep(200);
  const link = await evaluate("location.href");

  await visit(link);
  await state("playing");
  await click("finish");
  await state("done");
  const second = await content("sum");

  await visit(`${address.split("#")[0]}#<script>alert(1)</script>`);
  await until("document.getElementById('message').textContent !== ''");
  const refused = await content("message");
  console.log(JSON.stringify({ first, second, changes, link, refused, problems }));
} finally {
  browser.kill();
  await new Promise((resolve) => browser.once("exit", resolve));
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
