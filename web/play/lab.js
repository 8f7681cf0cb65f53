// What the page knows: the set-up, the run that it gave, and how to change them.

import { byId } from "./elements.js";

export const lab = {
  /** What is run: all that a link holds. */
  setup: { text: "", sets: new Map(), changes: [] },
  /** The last set-up that had no mistakes. */
  good: null,
  /** What the worker said of the run. */
  run: null,
  series: null,
  outcome: null,
  /** The set-up that it is compared with, as what it gave: `setup`, `run`, `series`, `outcome`, and its `simulator`. */
  other: null,
  playing: false,
  /** What the worker was last told that has it go on or stop, and whether it has done that and stands still. */
  orders: 0,
  resting: false,
  simulator: null,
  /** How many runs were begun: what is said of an earlier one is too late. */
  turn: 0,
  /** Up to which time the last one was to go at once, and whether `series` is its own. */
  until: 0,
  begun: false,
  /** Whether packets are drawn on the wire, and where they are; whether the last steps were steps of packets. */
  watched: false,
  packets: null,
  stepped: false,
  /** Queues that took the place of that of the bottleneck, in words, each with its time. */
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
/** A set-up as a link holds it. */
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

/** Has the worker go on or stop. It is at rest only once it has answered to this. */
export function order(type, rest) {
  lab.orders += 1;
  lab.resting = false;
  lab.simulator.tell(type, { order: lab.orders, ...rest });
}

/** Runs the set-up from its start, as fast as it goes up to `until`. */
export function begin({ until = 0, play = lab.playing } = {}) {
  lab.playing = play;
  lab.outcome = null;
  lab.turn += 1;
  lab.until = until;
  lab.begun = false;
  lab.queues = [];
  order("begin", { turn: lab.turn, text: lab.setup.text, sets: setsOf(lab.setup), files: {}, changes: lab.setup.changes, until, speed: speed(), playing: lab.playing, watched: lab.watched });
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
