// A second run to compare with. B keeps its pinned configuration while the user changes the other run. Both runs draw
// the same random numbers, because the names of flows and links key them. B always follows to the same time.

import { markStopped } from "./flows.js";
import { byId, offer, show } from "./elements.js";
import { copyOf, lab, now, setsOf } from "./lab.js";
import { showResult } from "./outcome.js";
import { redraw } from "./panels.js";
import { Series } from "./series.js";
import { Simulator } from "./simulator.js";

const heard = {
  started(message) {
    lab.other.run = message;
    lab.other.series = new Series(message);
    markStopped(lab.other);
    redraw();
  },
  rows({ rows }) {
    lab.other.series.add(rows);
    lab.stale = true;
  },
  done(message) {
    lab.other.outcome = message;
    if (lab.outcome !== null) showResult();
  },
  mistakes({ mistakes: [{ message }] }) {
    lost(`The pinned configuration cannot run: ${message}.`);
  },
  failed({ message }) {
    lost(`The pinned simulation stopped: ${message}.`);
  },
};

function lost(sentence) {
  unpin();
  show(sentence);
}

function stalled(seconds) {
  if (seconds === 0) show(null);
  else
    offer(`The pinned simulation B has not answered for ${seconds} s.`, lab.other.simulator, "Stop comparing", () =>
      lost(null),
    );
}

function hear(message) {
  if (message.turn === undefined || message.turn === lab.other?.turn) heard[message.type]?.(message);
}

/** Runs B from its start up to where A is. */
function begin() {
  const { setup, simulator } = lab.other;
  Object.assign(lab.other, { run: null, series: null, outcome: null, turn: lab.other.turn + 1 });
  simulator.tell("begin", {
    turn: lab.other.turn,
    order: 0,
    text: setup.text,
    sets: setsOf(setup),
    files: {},
    changes: setup.changes,
    until: now(),
    speed: 1,
    playing: false,
    watched: false,
  });
}

/** Pins a configuration as B. */
export function pin(setup) {
  unpin();
  lab.other = { setup, turn: 0, simulator: new Simulator(hear, lost, stalled) };
  begin();
  showPinned();
}

/** Advances B to the time of A. */
export function follow() {
  lab.other?.simulator.tell("to", { order: 0, until: now() });
}

/** Restarts B with the new seed of A. */
export function reseed(seed) {
  if (lab.other === null) return;
  lab.other.setup.sets.set("seed", seed);
  begin();
}

export function unpin() {
  lab.other?.simulator.close();
  lab.other = null;
  showPinned();
  if (lab.series !== null) redraw();
  if (lab.outcome !== null) showResult();
}

/** Lists the differences between A and B. */
function differences() {
  const [is, was] = [lab.setup, lab.other.setup];
  const sets = Array.from(is.sets)
    .filter(([key, value]) => was.sets.get(key) !== value)
    .map(([key, value]) => (value.length > 60 ? key : `${key}=${value}`));
  const gone = Array.from(was.sets.keys())
    .filter((key) => !is.sets.has(key))
    .map((key) => `${key} as in the text`);
  const texts = is.text === was.text ? [] : ["a different text"];
  const changes = JSON.stringify(is.changes) === JSON.stringify(was.changes) ? [] : ["different live changes"];
  return [...texts, ...sets, ...gone, ...changes];
}

export function showPinned() {
  byId("pin").textContent = lab.other === null ? "Pin as B and compare" : "Stop comparing";
  byId("pinned").hidden = lab.other === null;
  if (lab.other === null) return;
  const differing = differences();
  byId("pinned").textContent =
    "B (dotted) is pinned. " +
    `${differing.length === 0 ? "A is still the same: change a setting." : `A has ${differing.join(", ")}.`}`;
}

export function wireCompare() {
  byId("pin").addEventListener("click", () => {
    if (lab.other === null) pin(copyOf(lab.setup));
    else unpin();
  });
}
