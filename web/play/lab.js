// The state of the page: the configuration, its run, and functions that change them.

import { byId } from "./elements.js";

export const lab = {
  /** The configuration that runs. A link contains all of it. */
  setup: { text: "", sets: new Map(), changes: [] },
  /** The last valid configuration. */
  good: null,
  /** The description of the run from the worker. */
  run: null,
  series: null,
  outcome: null,
  /** The pinned configuration B and its results: `setup`, `run`, `series`, `outcome`, and its `simulator`. */
  other: null,
  playing: false,
  /** The number of the last order to the worker, and whether the worker has obeyed it and rests. */
  orders: 0,
  resting: false,
  simulator: null,
  /** The number of runs begun. Messages of earlier runs are ignored. */
  turn: 0,
  /** Up to which time the last one was to go at once, and whether `series` is its own. */
  until: 0,
  begun: false,
  /** Whether the wire shows packets, their positions, and whether the last steps were packet steps. */
  watched: false,
  packets: null,
  stepped: false,
  /** Queues that replaced the queue of the bottleneck, in words, each with its time. */
  queues: [],
  /** Algorithms and queues that there are. */
  lists: { cc: [], queue: [] },
  /** The fragment that this page itself wrote. */
  ownLink: null,
  /** A sentence to show once the next run has begun. */
  greeting: null,
  /** Whether there is something new to draw. */
  stale: false,
};

export const setsOf = ({ sets }) => Array.from(sets, ([key, value]) => `${key}=${value}`);
/** A configuration as a link contains it. */
export const setupOf = ({ text, sets = [], changes = [] }) => ({
  text,
  sets: new Map(sets.map((item) => [item.slice(0, Math.max(0, item.indexOf("="))), item.slice(item.indexOf("=") + 1)])),
  changes,
});
export const copyOf = ({ text, sets, changes }) => ({ text, sets: new Map(sets), changes: [...changes] });
export const now = () => lab.series?.now ?? 0;
/** The time that is shown, or at which the run will be shown that was just begun. */
export const reached = () => (lab.begun ? Math.max(now(), lab.until) : lab.until);
export const speed = () => Number(byId("speed").value);
export const isMidway = () => lab.run !== null && lab.outcome === null && now() > 0;

/** Makes the worker continue or pause. The worker rests only after its answer to this order. */
export function order(type, rest) {
  lab.orders += 1;
  lab.resting = false;
  lab.simulator.tell(type, { order: lab.orders, ...rest });
}

/** Runs the configuration from its start, at full speed up to `until`. */
export function begin({ until = 0, play = lab.playing } = {}) {
  lab.playing = play;
  lab.outcome = null;
  lab.turn += 1;
  lab.until = until;
  lab.begun = false;
  lab.queues = [];
  order("begin", {
    turn: lab.turn,
    text: lab.setup.text,
    sets: setsOf(lab.setup),
    files: {},
    changes: lab.setup.changes,
    until,
    speed: speed(),
    playing: lab.playing,
    watched: lab.watched,
  });
}

/** Settings that the engine cannot change as it runs: again at the same seed, up to the time shown. */
export function set(pairs) {
  for (const [key, value] of Object.entries(pairs)) {
    lab.setup.sets.delete(key);
    lab.setup.sets.set(key, value);
  }
  begin({ until: reached() });
}

export const nameOf = (index) => lab.run.flows.find((flow) => flow.index === index)?.name ?? `flow ${index}`;

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the user asked for less motion. */
export const isStill = () => stillness.matches;
