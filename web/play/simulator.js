// The worker from outside: started, told, watched, and ended when it does not answer.

/** Time without an answer after which the worker is ended. */
const PATIENCE_MS = 8000;
/** The same of its first one: it has the module to load. */
const LOADING_MS = 60_000;
const WATCH_MS = 1000;

/** Whether this browser has modules in workers: it asks for the option then. */
function hasModuleWorkers() {
  let asked = false;
  const options = {
    get type() {
      asked = true;
      return "module";
    },
  };
  try {
    new Worker("digest.js", options).terminate();
  } catch {
    // Refused for another reason, after its options were read.
  }
  return asked;
}

/** What this browser lacks, in one sentence; null if it has everything. */
export function lacking() {
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, or it is switched off: the simulator needs it.";
  if (typeof Worker !== "function" || !hasModuleWorkers()) return "This browser has no modules in workers: the simulator needs them, as all browsers since 2023 have them.";
  return null;
}

export class Simulator {
  /** `heard`: called with each message; `lost`: called with a sentence when the worker has been ended. */
  constructor(heard, lost) {
    this.heard = heard;
    this.lost = lost;
    this.begin();
    this.looked = performance.now();
    setInterval(() => this.watch(), WATCH_MS);
  }

  begin() {
    this.worker = new Worker("worker.js", { type: "module" });
    this.asked = null;
    this.patience = LOADING_MS;
    this.worker.onmessage = ({ data }) => {
      this.patience = PATIENCE_MS;
      this.asked = null;
      if (data.type !== "pong") this.heard(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(`The simulator cannot go on: ${event.message ?? "its files cannot be read"}.`);
    };
  }

  tell(type, rest = {}) {
    if (this.worker === null) this.begin();
    this.worker.postMessage({ type, ...rest });
    this.asked ??= performance.now();
  }

  /** Ends it; the next thing that it is told begins another. */
  end(sentence) {
    this.worker?.terminate();
    this.worker = null;
    this.asked = null;
    this.lost(sentence);
  }

  watch() {
    const now = performance.now();
    // A page that slept, or was in the background, has waited less than the clock says.
    if (now - this.looked > 3 * WATCH_MS && this.asked !== null) this.asked = now;
    this.looked = now;
    if (this.worker === null) return;
    if (this.asked === null) this.tell("ping");
    else if (now - this.asked > this.patience) this.end(`The simulation did not answer for ${this.patience / 1000} s, and was ended. Make it smaller, or choose an example.`);
  }
}
