// The page that evaluates: what is asked for, how far it is, and what comes of it.

import { evaluate, suites } from "../evaluate.js";
import { lacking } from "../files.js";
import { byId, fill, make, show } from "./elements.js";
import { firstRule, oneLine } from "./ruletext.js";
import { showEvaluation, wireTaking } from "./evaluation.js";

/** Characters of a rule that an address may carry. */
const LONGEST = 20_000;
/** What the reader of a screen is told of a run: each tenth of it. */
const STEPS = 10;

let running = null;

const state = (name) => {
  document.documentElement.dataset.state = name;
  byId("start").disabled = name === "running";
  byId("cancel").disabled = name !== "running";
};

function time(seconds) {
  if (seconds < 1.5) return "a second";
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`;
}

function follow() {
  let step = -1;
  return ({ done, total, left_s }) => {
    byId("progress").value = done / total;
    const left = done === total ? "judging" : left_s === null ? "" : `about ${time(left_s)} left`;
    byId("so-far").textContent = [`${done} of ${total} runs`, left].filter(Boolean).join(", ");
    if (Math.floor((STEPS * done) / total) === step) return;
    step = Math.floor((STEPS * done) / total);
    byId("told").textContent = byId("so-far").textContent;
  };
}

/** What the form asks for. */
function wanted() {
  const number = (id) => Number(byId(id).value);
  const algorithm = byId("kind").value === "rule" ? { rule: oneLine(byId("rule").value) } : { cc: byId("name").value };
  return { suite: byId("suite").value, ...algorithm, replicates: number("replicates"), seed: BigInt(byId("seed").value), workers: number("workers") };
}

async function start() {
  const options = wanted();
  running = new AbortController();
  show(null);
  byId("before").hidden = false;
  byId("result").hidden = true;
  byId("progress").value = 0;
  byId("so-far").textContent = "";
  state("running");
  try {
    showEvaluation(await evaluate({ ...options, onProgress: follow(), signal: running.signal }), options);
    byId("before").hidden = true;
    byId("so-far").textContent = byId("told").textContent = "Done.";
    state("done");
  } catch (error) {
    byId("progress").value = 0;
    byId("so-far").textContent = byId("told").textContent = running.signal.aborted ? "Cancelled." : "";
    if (!running.signal.aborted) show(`That cannot be evaluated: ${error.message}.`.replace(/\.\.$/, "."));
    state(running.signal.aborted ? "cancelled" : "failed");
  }
}

function showKind() {
  byId("rule").hidden = byId("kind").value !== "rule";
  byId("name-box").hidden = byId("kind").value === "rule";
}

/** The rule that the address carries, as the live page gives it; a rule to begin with otherwise. */
function givenRule() {
  try {
    return (location.hash.length <= LONGEST && decodeURIComponent(location.hash.slice(1))) || firstRule;
  } catch {
    return firstRule;
  }
}

async function main() {
  const sentence = lacking();
  if (sentence !== null) {
    byId("main").hidden = true;
    show(sentence);
    return;
  }
  byId("rule").value = givenRule();
  byId("workers").value = navigator.hardwareConcurrency || 1;
  byId("kind").addEventListener("change", showKind);
  byId("cancel").addEventListener("click", () => running?.abort());
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (document.documentElement.dataset.state !== "running") start();
  });
  wireTaking();
  const known = await suites().catch(() => null);
  if (known === null) {
    show("The suites cannot be read: they come with the module, which `make web` builds.");
    return;
  }
  fill(byId("suite"), known, "core");
  byId("suite").value = "core";
  const describe = () => {
    const { title, replicates, panel } = known.find(({ name }) => name === byId("suite").value);
    byId("suite-hint").textContent = `${title}. Against ${panel.map(({ label }) => label).join(", ")}. The whole suite has ${replicates} replicates.`;
  };
  byId("suite").addEventListener("change", describe);
  describe();
  byId("names").replaceChildren(...[...new Set(known.flatMap(({ panel }) => panel.map(({ label }) => label)))].map((value) => make("option", { value })));
  state("ready");
}

main();
