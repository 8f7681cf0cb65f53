// The live page: routes each message of the worker to the module that shows it.

import { lacking } from "../files.js";
import { bottleneck } from "./bottleneck.js";
import { showChosen } from "./chosen.js";
import { follow, showPinned, wireCompare } from "./compare.js";
import { buttons, wireControls } from "./controls.js";
import { byId, offer, show } from "./elements.js";
import { wireAway } from "./away.js";
import { layOutFlows, markStopped, wireFlows } from "./flows.js";
import { begin, copyOf, lab, reached } from "./lab.js";
import { compareWithLesson, foldLesson, open, wireOpening } from "./opening.js";
import { hideResult, showChanges, showResult, wireChanges } from "./outcome.js";
import { draw, layOutCharts, wireCharts } from "./panels.js";
import { words } from "./scales.js";
import { Series } from "./series.js";
import { fillQueues, ruleRead, showSettings, wireSettings } from "./settings.js";
import { Simulator } from "./simulator.js";
import { makeSliders, release } from "./sliders.js";
import { mistakes, wireText } from "./text.js";
import { wireTrace } from "./trace.js";

const heard = {
  ready(message) {
    lab.lists = message;
    fillQueues();
  },
  started(message) {
    show(lab.greeting);
    lab.greeting = null;
    lab.run = message;
    lab.begun = true;
    lab.good = copyOf(lab.setup);
    lab.series = new Series(lab.run);
    markStopped();
    layOutFlows();
    layOutCharts();
    showSettings();
    showChanges();
    showPinned();
    mistakes([]);
    hideResult();
    if (lab.setup.sets.size + lab.setup.changes.length > 0) foldLesson();
  },
  rows({ rows, packets, order, rests }) {
    lab.series.add(rows);
    lab.packets = packets;
    follow();
    lab.resting = rests && order === lab.orders;
    lab.stale = true;
  },
  changed({ changes }) {
    lab.setup.changes = changes;
    foldLesson();
    markStopped();
    showChanges();
    showPinned();
  },
  queue({ at, words }) {
    lab.queues.push({ at, words });
  },
  refused({ message }) {
    show(`The running simulation does not accept this change: ${message}.`);
    release();
    showChosen({ spared: false });
  },
  done(message) {
    lab.outcome = message;
    lab.playing = false;
    showResult();
    compareWithLesson();
    lab.stale = true;
  },
  mistakes({ mistakes: list }) {
    mistakes(list);
    if (list.some(({ set: text }) => text !== null) && lab.good !== null && lab.good.text === lab.setup.text) {
      lab.greeting = `Invalid setting: ${list[0].message}.`;
      lab.setup = copyOf(lab.good);
      release();
      begin({ until: reached() });
    } else if (byId("text").value === lab.setup.text && lab.good?.text !== lab.setup.text) {
      lab.playing = false;
      lab.run = null;
      byId("text-box").open = true;
    }
    buttons();
  },
  checked() {
    mistakes([]);
  },
  rule: ruleRead,
  failed({ message, ended }) {
    lab.playing = false;
    lab.resting = true;
    if (ended) lab.simulator.end(`The simulation stopped: ${message}.`);
    else show(`The simulation stopped: ${message}.`);
    buttons();
  },
};

function hear(message) {
  if (message.turn === undefined || message.turn === lab.turn) heard[message.type](message);
}

/** The parts of the run that its user can reduce, with their values if the worker has told them. */
function reducible() {
  if (!lab.begun || lab.run === null) return "the duration, the link rate or the number of flows";
  const rate = bottleneck()?.rate_bps ?? NaN;
  return (
    `the duration (${words(lab.run.duration)} s), the link rate (${words(rate / 1e6)} Mbit/s) or the number of ` +
    `flows (${lab.run.flowCount})`
  );
}

/** Offers to wait for the simulation or to stop it. */
function stalled(seconds) {
  if (seconds === 0) {
    show(null);
    return;
  }
  const advice = `Reduce ${reducible()}.`;
  offer(`The simulation has not answered for ${seconds} s. Wait, or stop it. ${advice}`, lab.simulator, "Stop", () =>
    lab.simulator.end(`The simulation was stopped. ${advice}`),
  );
}

function lost(sentence) {
  lab.playing = false;
  lab.run = null;
  show(sentence);
  buttons();
}

function main() {
  const sentence = lacking();
  if (sentence !== null) {
    byId("main").hidden = true;
    show(sentence);
    return;
  }
  makeSliders();
  for (const wire of [
    wireControls,
    wireCompare,
    wireCharts,
    wireFlows,
    wireSettings,
    wireText,
    wireChanges,
    wireAway,
    wireTrace,
    wireOpening,
  ])
    wire();
  buttons();
  lab.simulator = new Simulator(hear, lost, stalled);
  open();
  requestAnimationFrame(draw);
}

main();
