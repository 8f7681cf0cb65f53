// A worker of `evaluate.js`. It receives the modules of the engine and the scores, and a suite. It then runs one
// replicate after another.

import { list, load, rule, run, Scenario } from "./ackclock.js";
import { curvesOf } from "./curves.js";
import initialiseScores, { measured, Race } from "./module/score.js";
import { inNode } from "./files.js";
import { METRICS, requireWeights } from "./suites.js";

let suite = null;
let specifications = [];
/** The texts of the algorithms, the candidates first. */
let algorithms = [];
/** Changes to every scenario. */
let sets = [];
/** The part of the request that the scores need from the suite. */
let judgedBy = null;
let race = null;

async function begin({ engine, scores, suite: given }) {
  await load(engine);
  await initialiseScores({ module_or_path: scores });
  suite = given;
  specifications = suite.environments.map(({ id, title, fairness, watch, scored }) =>
    JSON.stringify({ id, title, fairness, watch, scored }),
  );
  return {};
}

const inline = (table) =>
  `{ ${Object.entries(table)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(", ")} }`;

/** An algorithm as a scenario takes it: a name, a table, `aimd(increase=2)` or the text of a rule. */
function textOf({ cc, rule: line }) {
  const given = line ?? (typeof cc === "string" ? /^\s*rule\s+(.+)/s.exec(cc)?.[1] : undefined);
  if (given !== undefined) return inline(rule(given));
  if (typeof cc !== "string") return inline(cc);
  const labelled = /^\s*([\w+-]+)\(\s*(.*?)\s*\)\s*$/.exec(cc);
  return labelled === null
    ? cc.trim()
    : labelled[2] === ""
      ? labelled[1]
      : `{ kind = "${labelled[1]}", ${labelled[2]} }`;
}

/** The kind, and the parameters that are not the defaults. */
function labelOf({ kind, ...given }) {
  const { parameters } = list("cc").find(({ name }) => name === kind) ?? { parameters: [] };
  const defaults = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.default]));
  const shown = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : JSON.stringify(value));
  const changed = Object.entries(given).filter(([key, value]) => value !== defaults[key]);
  return changed.length === 0 ? kind : `${kind}(${changed.map(([key, value]) => `${key}=${shown(value)}`).join(", ")})`;
}

/** Whether two tables are of one algorithm. */
const same = (one, other) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

/** The scenario of an environment with an algorithm, as the suite has it. */
const base = (place, text) =>
  new Scenario(suite.environments[place].scenario).withSets(
    suite.environments[place].groups.map((group) => `flows.${group}.cc=${text}`),
  );

/** The same with the changes. */
const scenario = (place, text) => (sets.length === 0 ? base(place, text) : base(place, text).withSets(sets));

/** The changes leave the algorithm under test as it is. */
function requireAsGiven(place, text) {
  const under = (of) => of.resolved.flows.filter(({ name }) => suite.environments[place].groups.includes(name));
  const after = under(scenario(place, text));
  for (const { name, cc } of under(base(place, text))) {
    const there = after.find((flow) => flow.name === name);
    if (there === undefined || !same(there.cc, cc))
      throw new Error(
        `sets: change the algorithm of the flows ${name}, which are under test; name its parameters with the ` +
          "algorithm, as in aimd(increase=2)",
      );
  }
}

/** The place of an algorithm in a list. */
const placeOf = (every, { cc }) => every.findIndex((other) => same(other.cc, cc));
const isFirst = (each, at, every) => placeOf(every, each) === at;

/** An algorithm with its label and its identity. */
function algorithmOf(given) {
  const text = textOf(given);
  const cc = new Scenario(suite.probe).withSets([`flows.test.cc=${text}`]).resolved.flows[0].cc;
  return { label: labelOf(cc), cc, text };
}

/** The same with labels that tell them apart. */
function distinct(every) {
  const named = [];
  for (const each of every) {
    const alike = named.filter(({ label }) => label.split(" #")[0] === each.label);
    const known = alike[placeOf(alike, each)];
    const others = alike.filter(isFirst).length;
    named.push(known ?? (others === 0 ? each : { ...each, label: `${each.label} #${others + 1}` }));
  }
  return named;
}

/** The group whose share is watched alongside the flows under test, with the changes to the scenario. */
function neighbours({ watch, scenario: tree }) {
  if (watch?.metric !== "share" || suite.test.includes(watch.group)) return null;
  const { flows } = new Scenario(tree).withSets(sets).resolved;
  if (flows.some(({ name }) => name !== watch.group && !suite.test.includes(name))) return null;
  const { cc, count } = flows.find(({ name }) => name === watch.group);
  return {
    rival: { label: labelOf(cc), cc },
    of_rival: count,
    flows: flows.reduce((sum, flow) => sum + flow.count, 0),
  };
}

function requireMetric(metric) {
  if (!METRICS.includes(metric))
    throw new Error(`no metric is called ${JSON.stringify(metric)}; there are: ${METRICS.join(", ")}`);
  const has = { jain_index: ({ fairness }) => fairness, watch: ({ watch }) => watch !== null }[metric];
  if (has !== undefined && !suite.environments.some(has))
    throw new Error(`no environment of suite ${suite.name} has ${metric}`);
}

const NO_PANEL = "the suite has no panel.json";

/** The baseline of the regret. Stored scores belong to the unchanged scenarios of the suite. */
function baseline() {
  const { baseline: stored } = suite;
  if (sets.length === 0) return stored;
  return {
    title: "the best within this table",
    stored: false,
    algorithms: [],
    reason: stored.reason === NO_PANEL ? NO_PANEL : "the environments are changed",
    best: {},
    reference_costs: {},
  };
}

/** Reads the request: its algorithms, and the environments whose replicates differ. */
function plan({ candidates, against, metric, weights, sets: changes }) {
  requireMetric(metric);
  requireWeights(weights, metric);
  if (candidates.length === 0) throw new Error("name an algorithm, or give a rule");
  if (against?.length === 0) throw new Error("name an algorithm to compare with");
  sets = changes;
  const own = candidates.map(algorithmOf);
  const every = distinct([...own, ...(against === null ? suite.panel : against.map((cc) => algorithmOf({ cc })))]);
  const panel = every.slice(own.length);
  const found = every.filter(isFirst).map((each) => ({ ...each, inPanel: placeOf(panel, each) >= 0 }));
  if (sets.length > 0)
    suite.environments.forEach((_, place) => found.forEach(({ text }) => requireAsGiven(place, text)));
  const scenarios = suite.environments.map((_, place) => found.map(({ text }) => scenario(place, text)));
  const random = scenarios.map((row) => row.map((each) => each.isRandom));
  judgedBy = {
    panel: panel.map(({ label, cc }) => ({ label, cc })),
    baseline: baseline(),
    environments: suite.environments.map(({ scenario: _, ...rest }, place) =>
      sets.length === 0 ? rest : { ...rest, neighbours: neighbours(suite.environments[place]) },
    ),
  };
  return {
    algorithms: found,
    candidates: every.slice(0, own.length).map((each) => placeOf(found, each)),
    random,
    warnings: warned(scenarios),
  };
}

/** Each distinct warning of the scenarios once, with the ids of its environments. */
function warned(scenarios) {
  const environments = new Map();
  scenarios.forEach((row, place) => {
    for (const text of new Set(row.flatMap((each) => each.warnings)))
      environments.set(text, [...(environments.get(text) ?? []), suite.environments[place].id]);
  });
  return [...environments].map(([warning, places]) => ({ warning, environments: places }));
}

/** Runs a replicate. With `points`, the values include its lines over time. */
function runOne({ place, algorithm, seed, replicate, points }) {
  const checked = scenario(place, algorithms[algorithm]);
  let result = null;
  try {
    result = run(checked, { seed, replicate });
  } catch (error) {
    return { failed: String(error.message ?? error) };
  }
  const values = measured(specifications[place], JSON.stringify(result.document));
  const curves = points > 0 ? curvesOf(result, checked.description, points) : null;
  result.free();
  return { values: [...values], curves };
}

const answers = {
  begin,
  plan,
  algorithms(message) {
    algorithms = message.texts;
    sets = message.sets;
    return {};
  },
  run: runOne,
  race({ plan: text }) {
    race = new Race(JSON.stringify({ ...suite, ...judgedBy }), text);
    return {};
  },
  wanted: () => ({ round: JSON.parse(race.wanted()) }),
  judge({ results, notes }) {
    race.add(results);
    return JSON.parse(race.evaluation(notes));
  },
};

async function answer({ type, ...message }) {
  try {
    return { type, ...(await answers[type](message)) };
  } catch (error) {
    const [mistake] = error.mistakes ?? [];
    return { type: "failed", message: mistake === undefined ? String(error.message ?? error) : mistake.message };
  }
}

if (inNode)
  import("node:worker_threads").then(({ parentPort }) =>
    parentPort.on("message", async (message) => parentPort.postMessage(await answer(message))),
  );
else self.onmessage = async ({ data }) => self.postMessage(await answer(data));
