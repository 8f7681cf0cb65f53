// The worker from outside: started when it is needed, told to run, ended when it is stopped.

import { unpacked, workerOfText } from "ackclock/files.js";

/** A run that somebody stopped. */
export class Stopped extends Error {}

export class Engine {
  /** `script`: the text of the worker; `packed`: the module, packed by gzip. */
  constructor(script, packed) {
    Object.assign(this, { script, packed, worker: null, waiting: null, metrics: null });
  }

  /** Begins a worker, and waits until it has the module. */
  async begin() {
    this.module ??= await unpacked(this.packed);
    this.worker = workerOfText(this.script);
    this.metrics = (await this.ask({ type: "begin", module: this.module })).metrics;
  }

  /** Sends a message to the worker, and gives what it answers with. */
  ask(message, progress = () => {}) {
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
        this.end(new Error(`The simulator cannot go on: ${event.message || "its script cannot be started"}`));
      };
      this.worker.postMessage(message);
    });
  }

  /** Runs a scenario: `tree` as JSON, `sets`, `seed`, `replicate`. One run at a time. */
  async run(request, progress) {
    if (this.worker === null) await this.begin();
    return this.ask({ type: "run", ...request }, progress);
  }

  /** Ends the worker, whatever it does; the next run begins another. */
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
