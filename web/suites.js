// The suites that come with the package: environments as data, with the stored scores of their panels.

import { textOf } from "./files.js";

/** The metrics of a score. The first combines all shares. */
export const METRICS = [
  "shares",
  "efficiency",
  "loss_rate",
  "queue_delay",
  "jain_index",
  "goodput",
  "delay_score",
  "watch",
];
/** The metrics of the default score, each with a weight of 1 by default. */
export const WEIGHTED = ["efficiency", "loss_rate", "delay_score", "jain_index", "watch"];
/** Those that every environment has. */
const EVERYWHERE = WEIGHTED.slice(0, 3);

/** Throws an error for weights that cannot define a score. */
export function requireWeights(weights, metric) {
  const given = Object.entries(weights);
  if (given.length > 0 && metric !== METRICS[0])
    throw new Error(`weights belong to the default score, but the metric is ${metric}`);
  for (const [name, weight] of given) {
    if (!WEIGHTED.includes(name))
      throw new Error(`no weight is called ${JSON.stringify(name)}; there are: ${WEIGHTED.join(", ")}`);
    if (!(Number.isFinite(weight) && weight >= 0))
      throw new Error(`the weight of ${name} is ${weight}, but must be a number from 0`);
  }
  if (!EVERYWHERE.some((name) => weights[name] ?? 1))
    throw new Error(`one of these weights must be above 0: ${EVERYWHERE.join(", ")}`);
}

const read = async (name) => JSON.parse(await textOf(`module/suites/${name}.json`));

/** The suites there are: name, version, title, replicates (`quick`: of a first impression), panel. */
export const suites = () => read("index");

/** All of one suite. */
export async function suiteOf(name) {
  const known = (await suites()).map((suite) => suite.name);
  if (!known.includes(name))
    throw new Error(`no suite is called ${JSON.stringify(name)}; there are: ${known.join(", ")}`);
  return read(name);
}

const KEYS = [
  "build",
  "name",
  "version",
  "title",
  "replicates",
  "quick",
  "test",
  "panel",
  "probe",
  "baseline",
  "environments",
];

/** A suite of one's own from its text, as `tools/web/suites_on_web.py` writes it. Throws an error with one message. */
export function readSuite(text) {
  let suite = null;
  try {
    suite = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  const missing = KEYS.filter((key) => suite?.[key] === undefined);
  if (missing.length > 0) throw new Error(`it is no suite for browsers, which would have ${missing.join(", ")}`);
  if (!Array.isArray(suite.environments) || suite.environments.length === 0)
    throw new Error("its environments are no list");
  return suite;
}
