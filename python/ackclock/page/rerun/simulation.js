// The simulation, in a worker of its own: it gets the module first, then runs, one after another.

import { load, metrics, Scenario } from "ackclock";
import { panels } from "./samples.js";

/** How often it says how far a run is. */
const PARTS = 50;

const post = (type, rest = {}) => postMessage({ type, ...rest });

/** A scenario that has mistakes leaves the module as it was; nothing else that is thrown does. */
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
    for (let part = 1; part < PARTS && live.step((end * part) / PARTS); part += 1) post("progress", { part: part / PARTS });
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
