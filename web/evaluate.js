// Evaluates algorithms against the panel of a suite on all cores. Random numbers and scores equal those from
// `ackclock evaluate`.
//
//     import { evaluate } from "ackclock/evaluate.js";
//     const { document } = await evaluate({ suite: "core", rule: "grow = 1/w; cut = w/2", replicates: 3 });

import { compiled, inNode, workerOf } from "./files.js";
import { METRICS, readSuite, suiteOf, suites } from "./suites.js";

export { METRICS, readSuite, suites };

const WORKER = "evaluator.js";

/** A worker, in a browser or in Node, that answers one message at a time. */
class Evaluator {
  constructor(worker) {
    this.worker = worker;
    this.waiting = null;
    const settle = (data) =>
      data.type === "failed" ? this.waiting.reject(new Error(data.message)) : this.waiting.resolve(data);
    const fail = (error) =>
      this.waiting?.reject(new Error(error?.message || "a worker cannot be started: its files cannot be read"));
    if (inNode) worker.on("message", settle).on("error", fail);
    else
      Object.assign(worker, {
        onmessage: ({ data }) => settle(data),
        onerror: (event) => {
          event.preventDefault();
          fail(event);
        },
      });
  }

  static async begin() {
    if (!inNode) return new Evaluator(workerOf(WORKER));
    const { Worker: Thread } = await import("node:worker_threads");
    return new Evaluator(new Thread(new URL(WORKER, import.meta.url), { execArgv: [] }));
  }

  ask(type, rest = {}) {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.worker.postMessage({ type, ...rest });
    });
  }
}

async function cores() {
  if (!inNode) return navigator.hardwareConcurrency || 1;
  return (await import("node:os")).availableParallelism();
}

/** The progress of an evaluation. It estimates the remaining time once each algorithm has run in each environment. */
class Progress {
  constructor(tasks, workers) {
    this.total = tasks.length;
    this.done = 0;
    this.workers = workers;
    this.left = new Map();
    this.took = new Map();
    for (const task of tasks) this.left.set(this.key(task), (this.left.get(this.key(task)) ?? 0) + 1);
  }

  key({ place, algorithm }) {
    return `${place} ${algorithm}`;
  }

  add(task, ms) {
    this.done += 1;
    this.took.set(this.key(task), ms);
    this.left.set(this.key(task), this.left.get(this.key(task)) - 1);
  }

  get now() {
    const known = this.took.size === this.left.size;
    const ms = known
      ? [...this.left].reduce((sum, [key, count]) => sum + count * this.took.get(key), 0) / this.workers
      : null;
    return { done: this.done, total: this.total, left_s: ms === null ? null : ms / 1000 };
  }
}

const listed = (given) => (given === undefined ? [] : Array.isArray(given) ? given : [given]);

/** Judges an algorithm, or ranks several. An invalid algorithm, metric or change rejects with one message. An aborted
 * signal rejects with its reason. */
export async function evaluate({
  suite: name = "core",
  cc,
  rule,
  against,
  metric = METRICS[0],
  weights = {},
  sets = [],
  replicates,
  quick = false,
  seed = 1n,
  workers,
  onProgress = () => {},
  signal,
  points = 0,
} = {}) {
  signal?.throwIfAborted();
  const candidates = [...listed(cc).map((each) => ({ cc: each })), ...listed(rule).map((line) => ({ rule: line }))];
  const asked = { candidates, against: against ?? null, metric, weights, sets };
  const pool = [];
  const end = () => pool.splice(0).forEach(({ worker }) => worker.terminate());
  let abort = null;
  const aborted = new Promise((_, reject) => {
    abort = () => {
      end();
      reject(signal.reason);
    };
  });
  aborted.catch(() => {});
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([
      aborted,
      judged({ name, asked, replicates, quick, seed: BigInt(seed), workers, onProgress, pool, points }),
    ]);
  } finally {
    signal?.removeEventListener("abort", abort);
    end();
  }
}

/** The plan of a race as JSON. A seed is an integer of 64 bits, which numbers of JavaScript cannot represent. */
function planText({ suite, asked, algorithms, candidates, random, wanted, seed }) {
  const plan = {
    build: suite.build,
    sets: asked.sets,
    metric: asked.metric,
    weights: asked.weights,
    algorithms: algorithms.map(({ label, cc }) => ({ label, cc })),
    candidates,
    random,
    limits: { most: wanted, settled: wanted, budget: null },
  };
  return `{"seed":${seed},${JSON.stringify(plan).slice(1)}`;
}

async function judged({ name, asked, replicates, quick, seed, workers, onProgress, pool, points }) {
  const suite = typeof name === "string" ? await suiteOf(name) : name;
  const wanted = replicates ?? (quick ? suite.quick : suite.replicates);
  const [engine, scores] = await Promise.all(["ackclock", "score"].map((each) => compiled(`module/${each}_bg.wasm`)));
  const begin = async () => {
    const evaluator = await Evaluator.begin();
    pool.push(evaluator);
    await evaluator.ask("begin", { engine, scores, suite });
    return evaluator;
  };
  const first = await begin();
  const { algorithms, candidates, random, warnings } = await first.ask("plan", asked);
  await first.ask("race", { plan: planText({ suite, asked, algorithms, candidates, random, wanted, seed }) });
  const { round } = await first.ask("wanted");
  // Without a budget a race has one round.
  const tasks = [];
  for (let replicate = 0; replicate < round.replicates; replicate += 1)
    random.forEach((row, place) =>
      row.forEach(
        (differ, algorithm) =>
          (differ || replicate === 0) &&
          tasks.push({ place, algorithm, replicate, seed, points: replicate === 0 ? points : 0 }),
      ),
    );
  const count = Math.max(1, Math.min(workers ?? (await cores()), tasks.length));
  const progress = new Progress(tasks, count);
  const values = random.map((row) => row.map(() => []));
  const curves = random.map((row) => row.map(() => null));
  const failures = [];
  const inPanel = (algorithm) => algorithms[algorithm].inPanel;
  let next = 0;
  const work = async (evaluator) => {
    await evaluator.ask("algorithms", { texts: algorithms.map(({ text }) => text), sets: asked.sets });
    while (next < tasks.length) {
      const task = tasks[next++];
      const began = performance.now();
      const answer = await evaluator.ask("run", task);
      if (answer.failed === undefined) values[task.place][task.algorithm][task.replicate] = answer.values;
      // If one of several candidates fails, the others continue.
      else if (candidates.length === 1 || inPanel(task.algorithm)) throw new Error(answer.failed);
      else
        failures.push({
          environment: task.place,
          algorithm: task.algorithm,
          replicate: task.replicate,
          message: answer.failed,
        });
      if (task.replicate === 0) curves[task.place][task.algorithm] = answer.curves ?? null;
      progress.add(task, performance.now() - began);
      onProgress(progress.now);
    }
  };
  onProgress(progress.now);
  await Promise.all([work(first), ...Array.from({ length: count - 1 }, async () => work(await begin()))]);
  const found = values.flatMap((row, place) => row.map((runs, algorithm) => [place, algorithm, runs.filter(Boolean)]));
  const { document, overview } = await first.ask("judge", {
    results: JSON.stringify({ values: found, failures }),
    notes: JSON.stringify({ warnings }),
  });
  // In the order of the overview.
  return points > 0
    ? { document, overview, curves: curves.map((row) => overview.entries.map((at) => row[at])) }
    : { document, overview };
}
