// The worker from outside: started, told, watched, and ended when it does not answer.

import { compiled, workerOf } from "../files.js";

/** Looks at a worker that does not answer, after which it is ended. They are counted rather than timed: a page that slept, was in the
 * background, or is on a machine that has no time for either of them, looks less often. */
const PATIENCE = 8;
/** The same of its first answer: it has the module to load. */
const LOADING = 60;
const WATCH_MS = 1000;

export class Simulator {
  /** `heard`: called with each message; `lost`: called with a sentence when the worker has been ended. */
  constructor(heard, lost) {
    this.heard = heard;
    this.lost = lost;
    this.begin();
    this.watching = setInterval(() => this.watch(), WATCH_MS);
  }

  begin() {
    const worker = workerOf("play/worker.js");
    this.worker = worker;
    this.looks = null;
    this.patience = LOADING;
    this.worker.onmessage = ({ data }) => {
      this.patience = PATIENCE;
      this.looks = null;
      if (data.type !== "pong") this.heard(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(`The simulator cannot go on: ${event.message ?? "its script cannot be read"}.`);
    };
    compiled("module/ackclock_bg.wasm").then(
      (module) => worker.postMessage({ type: "load", module }),
      (error) => this.end(`The simulator cannot be loaded: ${error.message ?? error}.`),
    );
  }

  tell(type, rest = {}) {
    if (this.worker === null) this.begin();
    this.worker.postMessage({ type, ...rest });
    this.looks ??= 0;
  }

  /** Ends it; the next thing that it is told begins another. */
  end(sentence) {
    this.worker?.terminate();
    this.worker = null;
    this.looks = null;
    this.lost(sentence);
  }

  /** It is not needed any more. */
  close() {
    clearInterval(this.watching);
    this.worker?.terminate();
    this.worker = null;
  }

  watch() {
    if (this.worker === null) return;
    if (this.looks === null) this.tell("ping");
    else if (this.looks >= this.patience) this.end(`The simulation did not answer for ${this.patience} s, and was ended. Make it smaller, or choose a lesson.`);
    else this.looks += 1;
  }
}
