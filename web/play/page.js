// The page: it hears the worker, and leads each message to what shows it.

import { lacking } from "../files.js";
import { showChosen } from "./chosen.js";
import { follow, showPinned, wireCompare } from "./compare.js";
import { buttons, wireControls } from "./controls.js";
import { byId, show } from "./elements.js";
import { wireAway } from "./away.js";
import { layOutFlows, markStopped, wireFlows } from "./flows.js";
import { begin, copyOf, lab, reached } from "./lab.js";
import { compareWithLesson, open, wireOpening } from "./opening.js";
import { showChanges, showResult, wireChanges } from "./outcome.js";
import { draw, layOutCharts, wireCharts } from "./panels.js";
import { Series, spanOf } from "./series.js";
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
    lab.series = new Series(lab.run.flows, spanOf(lab.run.duration));
    markStopped();
    layOutFlows();
    layOutCharts();
    showSettings();
    showChanges();
    showPinned();
    mistakes([]);
    byId("result").hidden = true;
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
    markStopped();
    showChanges();
    showPinned();
  },
  queue({ at, words }) {
    lab.queues.push({ at, words });
  },
  refused({ message }) {
    show(`That cannot be changed while it runs: ${message}.`);
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
      lab.greeting = `That cannot be set: ${list[0].message}.`;
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
    if (ended) lab.simulator.end(`The simulation ended: ${message}.`);
    else show(`The simulation ended: ${message}.`);
    buttons();
  },
};

function hear(message) {
  if (message.turn === undefined || message.turn === lab.turn) heard[message.type](message);
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
  for (const wire of [wireControls, wireCompare, wireCharts, wireFlows, wireSettings, wireText, wireChanges, wireAway, wireTrace, wireOpening]) wire();
  buttons();
  lab.simulator = new Simulator(hear, lost);
  open();
  requestAnimationFrame(draw);
}

main();
