// A worker of `evaluate.js`: it is given the module of the engine, that of the scores, and a suite, and runs one replicate after another.

import { list, load, rule, run, Scenario } from "./ackclock.js";
import initialiseScores, { evaluateJson, valuesOf } from "./module/score.js";
import { inNode } from "./files.js";

let suite = null;
let specifications = [];
/** The texts of the algorithms, the candidate first. */
let algorithms = [];

async function begin({ engine, scores, suite: given }) {
  await load(engine);
  await initialiseScores({ module_or_path: scores });
  suite = given;
  specifications = suite.environments.map(({ id, title, fairness, watch, scored }) => JSON.stringify({ id, title, fairness, watch, scored }));
  return {};
}

const inline = (table) => `{ ${Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(", ")} }`;

/** An algorithm as a scenario takes it: a name, a table, `aimd(increase=2)` or the text of a rule. */
function textOf({ cc, rule: line }) {
  if (line !== undefined) return inline(rule(line));
  if (typeof cc !== "string") return inline(cc);
  const labelled = /^\s*([\w+-]+)\(\s*(.*?)\s*\)\s*$/.exec(cc);
  return labelled === null ? cc.trim() : labelled[2] === "" ? labelled[1] : `{ kind = "${labelled[1]}", ${labelled[2]} }`;
}

/** The kind, and the parameters that are not the defaults. */
function labelOf({ kind, ...given }) {
  const { parameters } = list("cc").find(({ name }) => name === kind) ?? { parameters: [] };
  const defaults = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.default]));
  const shown = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : JSON.stringify(value));
  const changed = Object.entries(given).filter(([key, value]) => value !== defaults[key]);
  return changed.length === 0 ? kind : `${kind}(${changed.map(([key, value]) => `${key}=${shown(value)}`).join(", ")})`;
}

const same = (one, other) => JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

const scenario = (place, algorithm) => new Scenario(suite.environments[place].scenario).withSets(suite.environments[place].groups.map((group) => `flows.${group}.cc=${algorithm}`));

/** Takes a suite and a candidate: which algorithms there are, and in which environments their replicates differ. */
function plan({ candidate }) {
  const text = textOf(candidate);
  const cc = new Scenario(suite.probe).withSets([`flows.test.cc=${text}`]).resolved.flows[0].cc;
  const found = [{ label: labelOf(cc), cc, text }, ...suite.panel.filter((other) => !same(other.cc, cc))];
  const random = suite.environments.map((_, place) => found.map((algorithm) => scenario(place, algorithm.text).isRandom));
  return { algorithms: found, random };
}

function runOne({ place, algorithm, seed, replicate }) {
  const result = run(scenario(place, algorithms[algorithm]), { seed, replicate });
  const values = valuesOf(specifications[place], JSON.stringify(result.document));
  result.free();
  return { values: [...values] };
}

const answers = {
  begin,
  plan,
  algorithms(message) {
    algorithms = message.texts;
    return {};
  },
  run: runOne,
  judge: ({ runs }) => JSON.parse(evaluateJson(JSON.stringify({ ...suite, environments: suite.environments.map(({ scenario: _, ...rest }) => rest) }), runs)),
};

async function answer({ type, ...message }) {
  try {
    return { type, ...(await answers[type](message)) };
  } catch (error) {
    const [mistake] = error.mistakes ?? [];
    return { type: "failed", message: mistake === undefined ? String(error.message ?? error) : mistake.message };
  }
}

if (inNode) import("node:worker_threads").then(({ parentPort }) => parentPort.on("message", async (message) => parentPort.postMessage(await answer(message))));
else self.onmessage = async ({ data }) => self.postMessage(await answer(data));
