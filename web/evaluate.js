// An algorithm against the panel of a suite, over all cores: what `ackclock evaluate` does, with the same random numbers and the same scores.
//
//     import { evaluate } from "ackclock/evaluate.js";
//     const { document } = await evaluate({ suite: "core", rule: "grow = 1/w; cut = w/2", replicates: 3 });

import { compiled, inNode, workerOf } from "./files.js";
import { suiteOf, suites } from "./suites.js";

export { suites };

const WORKER = "evaluator.js";

/** A worker, in a browser or in Node, that answers one message at a time. */
class Evaluator {
  constructor(worker) {
    this.worker = worker;
    this.waiting = null;
    const settle = (data) => (data.type === "failed" ? this.waiting.reject(new Error(data.message)) : this.waiting.resolve(data));
    const fail = (error) => this.waiting?.reject(new Error(error?.message || "a worker cannot be started: its files cannot be read"));
    if (inNode) worker.on("message", settle).on("error", fail);
    else Object.assign(worker, { onmessage: ({ data }) => settle(data), onerror: (event) => (event.preventDefault(), fail(event)) });
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

/** How far an evaluation is: what the runs that are left take is known once each environment was run with each algorithm. */
class Progress {
  constructor(tasks, workers) {
    Object.assign(this, { total: tasks.length, done: 0, workers, left: new Map(), took: new Map() });
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
    const ms = known ? [...this.left].reduce((sum, [key, count]) => sum + count * this.took.get(key), 0) / this.workers : null;
    return { done: this.done, total: this.total, left_s: ms === null ? null : ms / 1000 };
  }
}

/** Judges an algorithm. Rejects with one message for what is no algorithm, and with the signal's reason where it is aborted. */
export async function evaluate({ suite: name = "core", cc, rule, replicates, quick = false, seed = 1n, workers, onProgress = () => {}, signal } = {}) {
  signal?.throwIfAborted();
  const pool = [];
  const end = () => pool.splice(0).forEach(({ worker }) => worker.terminate());
  let abort = null;
  const aborted = new Promise((_, reject) => {
    abort = () => (end(), reject(signal.reason));
  });
  aborted.catch(() => {});
  signal?.addEventListener("abort", abort);
  try {
    return await Promise.race([aborted, judged({ name, cc, rule, replicates, quick, seed: BigInt(seed), workers, onProgress, pool })]);
  } finally {
    signal?.removeEventListener("abort", abort);
    end();
  }
}

async function judged({ name, cc, rule, replicates, quick, seed, workers, onProgress, pool }) {
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
  const { algorithms, random } = await first.ask("plan", { candidate: rule === undefined ? { cc } : { rule } });
  const tasks = [];
  for (let replicate = 0; replicate < wanted; replicate += 1)
    random.forEach((row, place) => row.forEach((differ, algorithm) => (differ || replicate === 0) && tasks.push({ place, algorithm, replicate, seed })));
  const count = Math.max(1, Math.min(workers ?? (await cores()), tasks.length));
  const progress = new Progress(tasks, count);
  const values = random.map((row) => row.map(() => []));
  let next = 0;
  const work = async (evaluator) => {
    await evaluator.ask("algorithms", { texts: algorithms.map(({ text }) => text) });
    while (next < tasks.length) {
      const task = tasks[next++];
      const began = performance.now();
      const answer = await evaluator.ask("run", task);
      values[task.place][task.algorithm][task.replicate] = answer.values;
      progress.add(task, performance.now() - began);
      onProgress(progress.now);
    }
  };
  onProgress(progress.now);
  await Promise.all([work(first), ...Array.from({ length: count - 1 }, async () => work(await begin()))]);
  const told = algorithms.map(({ label, cc: table }) => ({ label, cc: table }));
  // A seed is a whole number of 64 bits, which JSON of JavaScript has not.
  const runs = JSON.stringify({ build: suite.build, replicates: wanted, algorithms: told, random, values });
  const { document, overview } = await first.ask("judge", { runs: `{"seed":${seed},${runs.slice(1)}` });
  return { document, overview };
}
