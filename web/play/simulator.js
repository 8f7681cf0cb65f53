// The worker from outside: started, told, watched, and ended when it does not answer.

/** Looks at a worker that does not answer, after which it is ended. They are counted rather than timed: a page that slept, was in the
 * background, or is on a machine that has no time for either of them, looks less often. */
const PATIENCE = 8;
/** The same of its first answer: it has the module to load. */
const LOADING = 60;
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
    new Worker("http://[", options);
  } catch {
    // Its options are read before its address, which is none: nothing is begun.
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
    this.watching = setInterval(() => this.watch(), WATCH_MS);
  }

  begin() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.looks = null;
    this.patience = LOADING;
    this.worker.onmessage = ({ data }) => {
      this.patience = PATIENCE;
      this.looks = null;
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
