// The suites that come with the package: environments as data, with the stored scores of their panels.

import { textOf } from "./files.js";

const read = async (name) => JSON.parse(await textOf(`module/suites/${name}.json`));

/** The suites there are: name, version, title, replicates (`quick`: of a first impression), panel. */
export const suites = () => read("index");

/** All of one suite. */
export async function suiteOf(name) {
  const known = (await suites()).map((suite) => suite.name);
  if (!known.includes(name)) throw new Error(`no suite is called ${JSON.stringify(name)}; there are: ${known.join(", ")}`);
  return read(name);
}
