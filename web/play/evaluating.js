// The evaluation page: runs the request, and shows progress and result.

import { evaluate } from "../evaluate.js";
import { lacking } from "../files.js";
import { wanted, wireForm } from "./asking.js";
import { byId, show } from "./elements.js";
import { showEvaluation, wireTaking } from "./evaluation.js";
import { firstRule } from "./ruletext.js";

/** Characters of a rule that an address may carry. */
const LONGEST = 20_000;
/** Points of a line over time: about as many as a chart has room for. */
const POINTS = 120;
/** A screen reader announces each tenth of a run. */
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

async function start() {
  const options = wanted();
  running = new AbortController();
  show(null);
  byId("before").hidden = false;
  byId("after").hidden = true;
  byId("progress").value = 0;
  byId("so-far").textContent = "";
  state("running");
  try {
    showEvaluation(
      await evaluate({ ...options, points: POINTS, onProgress: follow(), signal: running.signal }),
      options,
    );
    byId("before").hidden = true;
    byId("so-far").textContent = byId("told").textContent = "Done.";
    state("done");
  } catch (error) {
    byId("progress").value = 0;
    byId("so-far").textContent = byId("told").textContent = running.signal.aborted ? "Cancelled." : "";
    if (!running.signal.aborted) show(`The evaluation failed: ${error.message}.`.replace(/\.\.$/, "."));
    state(running.signal.aborted ? "cancelled" : "failed");
  }
}

/** The rule in the address, which the live page puts there, or a first rule. */
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
  byId("cancel").addEventListener("click", () => running?.abort());
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (document.documentElement.dataset.state !== "running") start();
  });
  wireTaking();
  if (!(await wireForm())) {
    show("The suites cannot be read. `make web` builds them together with the module.");
    return;
  }
  state("ready");
}

main();
