// Controls the simulation worker: starts it when needed, runs scenarios, and ends it.

import { unpacked, workerOfText } from "ackclock/files.js";

/** A stopped run. */
export class Stopped extends Error {}

export class Engine {
  /** `script`: the text of the worker. `packed`: the module, compressed by gzip. */
  constructor(script, packed) {
    this.script = script;
    this.packed = packed;
    this.module = null;
    this.worker = null;
    this.waiting = null;
    this.metrics = null;
  }

  /** Starts a worker, and waits until it has loaded the module. */
  async begin() {
    this.module ??= await unpacked(this.packed);
    this.worker = workerOfText(this.script);
    this.metrics = (await this.ask({ type: "begin", module: this.module })).metrics;
  }

  /** Sends a message to the worker, and returns its answer. */
  ask(message, progress = (_part) => {}) {
    return new Promise((resolve, reject) => {
      this.waiting = reject;
      this.worker.onmessage = ({ data }) => {
        if (data.type === "progress") progress(data.part);
        else if (data.type === "mistakes") reject(Object.assign(new Error(data.message), { mistakes: data.mistakes }));
        else if (data.type === "failed") this.end(new Error(data.message));
        else resolve(data);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.end(new Error(`The simulator failed: ${event.message || "its script cannot be started"}`));
      };
      this.worker.postMessage(message);
    });
  }

  /** Runs a scenario: `tree` as JSON, `sets`, `seed`, `replicate`. One run at a time. */
  async run(request, progress) {
    if (this.worker === null) await this.begin();
    return this.ask({ type: "run", ...request }, progress);
  }

  /** Ends the worker. The next run starts another. */
  end(error) {
    this.worker?.terminate();
    this.worker = null;
    this.waiting?.(error);
    this.waiting = null;
  }

  stop() {
    this.end(new Stopped("Stopped."));
  }
}
