// The simulation worker. It receives the module first, then scenarios one after another.

import { load, metrics, Scenario } from "ackclock";
import { panels } from "./samples.js";

/** The number of progress reports per run. */
const PARTS = 50;

const post = (type, rest = {}) => postMessage({ type, ...rest });

/** Mistakes in a scenario leave the module usable. Any other exception does not. */
function complain(error) {
  const message = String(error.message ?? error);
  if (error.mistakes?.length > 0) post("mistakes", { message, mistakes: error.mistakes });
  else post("failed", { message });
}

const tasks = {
  async begin({ module }) {
    await load(module);
    post("ready", { metrics: metrics() });
  },
  run({ tree, sets, seed, replicate }) {
    const scenario = new Scenario(JSON.parse(tree), { sets });
    const live = scenario.start({ seed: BigInt(seed), replicate: BigInt(replicate) });
    const end = live.duration;
    for (let part = 1; part < PARTS && live.step((end * part) / PARTS); part += 1)
      post("progress", { part: part / PARTS });
    const result = live.finish();
    const { document } = result;
    const drawn = panels(result);
    const { hash, warnings } = scenario;
    result.free();
    post("done", { document, hash, warnings, ...drawn });
  },
};

self.onmessage = async ({ data }) => {
  try {
    await tasks[data.type](data);
  } catch (error) {
    complain(error);
  }
};
