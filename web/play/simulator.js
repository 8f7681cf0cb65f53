// The worker of a simulation: starts it, sends it messages, and notices when it does not answer.

import { compiled, workerOf } from "../files.js";

/** Checks without an answer, after which the page offers to wait or to stop. Counts replace times, because the
 * browser delays checks of sleeping and background pages. */
const PATIENCE = 8;
/** Checks without a first answer: the worker loads the module meanwhile. */
const LOADING = 60;
const WATCH_MS = 1000;

export class Simulator {
  /**
   * `heard`: called with each message. `lost`: called with a sentence when the worker has ended. `stalled`: called
   * with the seconds without an answer, and with 0 once the worker answers again.
   */
  constructor(heard, lost, stalled = (_seconds) => {}) {
    this.heard = heard;
    this.lost = lost;
    this.stalled = stalled;
    this.begin();
    this.watching = setInterval(() => this.watch(), WATCH_MS);
  }

  begin() {
    const worker = workerOf("play/worker.js");
    this.worker = worker;
    this.looks = null;
    this.patience = LOADING;
    this.isStalled = false;
    this.worker.onmessage = ({ data }) => {
      this.patience = PATIENCE;
      this.looks = null;
      if (this.isStalled) {
        this.isStalled = false;
        this.stalled(0);
      }
      if (data.type !== "pong") this.heard(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(`The simulator stopped: ${event.message ?? "the browser cannot read its script"}.`);
    };
    compiled("module/ackclock_bg.wasm").then(
      (module) => worker.postMessage({ type: "load", module }),
      (error) => this.end(`The simulator cannot be loaded: ${error.message ?? error}.`),
    );
  }

  /** Sends a message. A new run replaces a worker that does not answer. */
  tell(type, rest = {}) {
    if (this.isStalled && type === "begin") {
      this.worker.terminate();
      this.worker = null;
    }
    if (this.worker === null) this.begin();
    this.worker.postMessage({ type, ...rest });
    this.looks ??= 0;
  }

  /** Ends the worker. The next message starts another one. */
  end(sentence) {
    this.worker?.terminate();
    this.worker = null;
    this.looks = null;
    this.isStalled = false;
    this.lost(sentence);
  }

  /** Ends the worker for good. */
  close() {
    clearInterval(this.watching);
    this.worker?.terminate();
    this.worker = null;
  }

  /** Waits as long again for an answer. */
  wait() {
    this.looks = 0;
    this.isStalled = false;
  }

  watch() {
    if (this.worker === null || this.isStalled) return;
    if (this.looks === null) this.tell("ping");
    else if (this.looks < this.patience) this.looks += 1;
    else {
      this.isStalled = true;
      this.stalled((this.patience * WATCH_MS) / 1000);
    }
  }
}
