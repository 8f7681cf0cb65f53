// The suites that come with the package: environments as data, with the stored scores of their panels.

import { textOf } from "./files.js";

/** The metrics of a score. The first combines all shares. */
export const METRICS = ["shares", "efficiency", "loss_rate", "queue_delay", "jain_index", "goodput", "watch"];

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
