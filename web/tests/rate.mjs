// The rates of the live page: node rate.mjs MODULE SCENARIO...
//
// Runs each scenario in the worker of the page, without a browser. It compares the rates with the arriving packets of a
// second run. It prints as JSON for each scenario: the capacity and the largest excess of a rate, in packets. For each
// flow, it prints its mean rate, its goodput, and the mean difference of its rate from the arrivals.

import { readFileSync } from "node:fs";
import { load, run as wholeRun, Scenario } from "../ackclock.js";
import { Series } from "../play/series.js";

const [module, ...scenarios] = process.argv.slice(2);
const PACKET_BITS = 12_000;
/** @type {(message: any) => void} */
let hear = () => {};
Object.assign(globalThis, { self: globalThis, postMessage: (message) => hear(message) });
await load(readFileSync(module));
await import("../play/worker.js");
const tell = (data) => Object(globalThis).onmessage({ data });
await tell({ type: "load", module: readFileSync(module) });

/** The series of a whole run, and the messages of its start and its end. */
function run(text) {
  return new Promise((resolve, reject) => {
    let [series, started] = [null, null];
    hear = (message) => {
      if (message.type === "started") [started, series] = [message, new Series(message)];
      else if (message.type === "rows") series.add(message.rows);
      else if (message.type === "done") resolve({ series, started, result: message.document });
      else if (message.type === "failed" || message.type === "mistakes") reject(new Error(JSON.stringify(message)));
    };
    tell({
      type: "begin",
      turn: 1,
      order: 0,
      text,
      sets: [],
      files: {},
      changes: [],
      until: Infinity,
      speed: 1,
      playing: false,
      watched: false,
    });
  });
}

/** Times of the arriving data of each flow, with the payload that has arrived by then. */
function arrivals(text, lastLinks) {
  const {
    time_ns: times,
    event,
    link,
    flow,
    len,
  } = wholeRun(new Scenario(text, { sets: ["sampling.packets=true"] })).samples("packets");
  const found = new Map(Array.from(lastLinks.keys(), (name) => [name, { times: [], totals: [0] }]));
  const numbers = (column) => Array.from(column.values, Number);
  const names = (column) => numbers(column).map((value) => column.names[value]);
  const [events, links, flows, lengths] = [names(event), names(link), names(flow), numbers(len)];
  times.values.forEach((time, index) => {
    const name = flows[index];
    const isArrival = events[index] === "leave" && links[index] === lastLinks.get(name);
    if (!isArrival || lengths[index] === 0) return;
    const { times: until, totals } = found.get(name);
    until.push(Number(time) / 1e9);
    totals.push(totals.at(-1) + lengths[index]);
  });
  return found;
}

/** Payload that has arrived by a time. */
function totalAt({ times, totals }, time) {
  let [least, most] = [0, times.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (times[middle] <= time) least = middle + 1;
    else most = middle;
  }
  return totals[least];
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function figures({ series, started, result }, text) {
  const flows = series.flows.filter(({ spare }) => !spare);
  const arrived = arrivals(text, new Map(started.description.flows.map(({ name, path }) => [name, path.at(-1)])));
  const { values: times } = series.time;
  const found = {
    capacity: series.last(series.linkRate),
    excess: 0,
    means: [],
    goodputs: result.flows.map(({ goodput_bps: bps }) => bps / 1e6),
    errors: [],
  };
  for (const flow of flows) {
    const [counted, errors] = [[], []];
    for (let index = 1; index < series.count; index += 1) {
      const rate = flow.rate.values[index];
      if (!Number.isFinite(rate)) continue;
      const span = series.span(flow, index);
      found.excess = Math.max(found.excess, ((rate - series.linkRate.values[index]) * 1e6 * span) / PACKET_BITS);
      if (times[index] > started.description.warmup_s) counted.push(rate);
      const [from, to] = [times[index] - span, times[index]].map((time) => totalAt(arrived.get(flow.name), time));
      errors.push(Math.abs(rate - (8 * (to - from)) / span / 1e6));
    }
    found.means.push(mean(counted));
    found.errors.push(mean(errors));
  }
  return found;
}

const found = [];
for (const file of scenarios) {
  const text = readFileSync(file, "utf8");
  found.push(figures(await run(text), text));
}
console.log(JSON.stringify(found));
process.exit(0);
