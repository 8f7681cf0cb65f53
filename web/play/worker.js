// The simulation in a worker. It receives the module, obeys the messages of `page.js`, and answers with rows of
// numbers.

import { load, list, rule, Scenario } from "../ackclock.js";
import { csv } from "./csv.js";
import { digest } from "./digest.js";
import { Flight } from "./flight.js";
import { lineOfMistake, oneLine } from "./ruletext.js";

/** Rows of figures in a whole run. */
const ROWS = 2000;
/** Flows that may be added to each group while it runs, and to all of them. */
const SPARE_OF_GROUP = 4;
const SPARE = 32;
/** The maximal work for one message to the page, in ms. */
const SLICE_MS = 10;
const FRAME_MS = 14;
/** Flows that are drawn. */
const DRAWN = 64;

let run = null;
let channel = null;

const post = (type, rest = {}) => postMessage({ type, ...rest });

function complain(error) {
  const mistakes = error.mistakes ?? [];
  if (mistakes.length > 0) post("mistakes", { mistakes });
  else
    post("failed", {
      message: String(error.message ?? error),
      ended: error instanceof WebAssembly.RuntimeError || error instanceof RangeError,
    });
}

/** The packets that a queue holds, from its words, or NaN. */
const limitOf = (words) => Number(/(\d+) packets?/.exec(words)?.[1] ?? NaN);

/** The share of payload in the largest packets of some groups of flows. */
function payload(flows) {
  const shares = flows.map(({ mss, header, timestamps }) => {
    const [data, rest] = [mss, header].map((size) => Number(/^(\d+) B$/.exec(size ?? "")?.[1] ?? NaN));
    return data / (data + rest + (timestamps ? 12 : 0));
  });
  return Math.max(...shares.filter(Number.isFinite), 0) || 1;
}

/** A run, the changes made to it, and how far it is drawn. */
class Drive {
  constructor({ turn, order, text, sets, files, changes, until, speed, playing, watched }) {
    this.turn = turn;
    this.order = order;
    this.watched = watched;
    const scenario = new Scenario(text, { sets, files });
    const description = scenario.description;
    const groups = [...new Map(description.flows.map((flow, index) => [flow.group, index])).values()];
    const cc = groups.filter((index) => description.flows[index].cc !== null);
    this.spare = Array.from(
      { length: Math.min(SPARE, SPARE_OF_GROUP * cc.length) },
      (_, index) => cc[index % cc.length],
    );
    this.live = scenario.start({ spare: this.spare });
    this.payload = payload(scenario.resolved.flows);
    /** The group of each flow, by its number. */
    this.groups = scenario.resolved.flows.map(({ name }) => name);
    this.groupOf = [...description.flows.keys(), ...this.spare].map((index) => description.flows[index].group);
    this.changes = changes;
    this.done = 0;
    this.interval = this.live.duration / ROWS;
    this.begun = false;
    this.ended = false;
    this.speed = speed;
    this.playing = playing;
    this.send(until);
    this.last = performance.now();
    const own = this.live.flowNames.length - this.spare.length;
    this.drawn = [...this.live.flowNames.keys()].filter((index) => index < Math.min(own, DRAWN) || index >= own);
    this.bottleneck = this.live.linkNames.indexOf(description.bottleneck);
    this.limit = limitOf(description.links.find(({ name }) => name === description.bottleneck)?.queue ?? "");
    this.back = this.live.linkNames.indexOf(`${description.bottleneck}.reverse`);
    this.flight = new Flight(
      this.live,
      description,
      this.bottleneck,
      this.drawn.map((index, position) => this.route(description, index, position, own)),
    );
    this.post("started", {
      name: scenario.name,
      hash: scenario.hash,
      seed: String(scenario.seed),
      warnings: scenario.warnings,
      resolved: scenario.resolved,
      description: { ...description, flows: description.flows.slice(0, DRAWN) },
      flowCount: own,
      flows: this.drawn.map((index) => ({
        index,
        name: this.live.flowNames[index],
        like: index < own ? index : this.spare[index - own],
        spare: index >= own,
      })),
      link: this.bottleneck,
      back: this.back,
      duration: this.live.duration,
      interval: this.interval,
    });
  }

  /**
   * The links on a flow's path. A spare flow has links of its own, named after it like the links of the flow that it
   * copies.
   */
  route({ flows }, index, position, own) {
    const flow = flows[index < own ? index : this.spare[index - own]];
    const name = this.live.flowNames[index];
    const renamed = (from, to) => (link) =>
      link.startsWith(from) && this.live.linkNames.includes(`${to}${link.slice(from.length)}`)
        ? `${to}${link.slice(from.length)}`
        : link;
    const [its, back] = [flow.path, flow.reverse_path ?? []].map((links) => links.map(renamed(flow.name, name)));
    return {
      index,
      position,
      path: its,
      back,
      like: (link) => (link.startsWith(name) ? `${flow.name}${link.slice(name.length)}` : link),
    };
  }

  /** Says something of this run: the page asks for others meanwhile. */
  post(type, rest) {
    post(type, { turn: this.turn, ...rest });
  }

  /** One row: the time, the state of the bottleneck, and the state of each drawn flow. */
  row(out) {
    const link = this.live.link(Math.max(0, this.bottleneck));
    out.push(
      this.live.now,
      link.rate_bps,
      link.backlog_packets,
      link.drops,
      link.marks,
      link.losses,
      this.payload * link.forwarded_bytes,
      link.delay_s,
      this.limit,
    );
    for (const index of this.drawn) {
      const flow = this.live.flow(index);
      out.push(
        flow.cwnd_segments,
        flow.srtt_s,
        flow.delivered_bytes,
        flow.ssthresh_segments,
        flow.unacked_segments,
        flow.retransmits,
      );
    }
  }

  /** Makes a change now, and has the page note it. */
  change(kind, index, value) {
    const change = { at: this.live.now, kind, index, value };
    try {
      this.apply(change);
    } catch (error) {
      this.post("refused", { message: String(error.message ?? error) });
      return;
    }
    this.changes.splice(this.done, 0, change);
    this.done += 1;
    this.post("changed", { changes: this.changes });
  }

  apply({ kind, index, value }) {
    if (kind === "rate") this.live.setRate(index, value);
    else if (kind === "delay") this.live.setDelay(index, value);
    else if (kind === "loss") this.live.setLoss(index, value);
    else if (kind === "limit") {
      this.live.setLimit(index, value);
      if (index === this.bottleneck) this.limit = value;
    } else if (kind === "queue") {
      const words = this.live.setQueue(index, value);
      if (index === this.bottleneck) this.limit = limitOf(words);
      this.post("queue", { at: this.live.now, words });
    } else if (kind === "algorithm") for (const flow of this.members(index)) this.live.setAlgorithm(flow, value);
    else if (kind === "begin") this.live.beginFlow(index);
    else if (kind === "end") this.live.endFlow(index);
  }

  /** The flows of a group, with those that may be added to it. */
  members(group) {
    return [...this.live.flowNames.keys()].filter((index) => this.groupOf[index] === this.groups[group]);
  }

  /** Continues to a time, and makes the due changes on the way. Returns false at the end. */
  goOn(until) {
    while (this.done < this.changes.length && this.changes[this.done].at < until) {
      const change = this.changes[this.done];
      if (change.at > this.live.now) this.live.step(change.at);
      this.apply(change);
      this.done += 1;
    }
    return this.live.step(until);
  }

  /** Runs for a slice of time, and sends the new rows to the page. */
  slice() {
    const begin = performance.now();
    if (this.playing && this.isThere)
      this.until = this.live.now + (this.speed * Math.min(begin - this.last, 100)) / 1000;
    this.last = begin;
    const out = [];
    if (!this.begun) this.row(out);
    this.begun = true;
    while (!this.ended && !this.isThere && performance.now() - begin < SLICE_MS) {
      const next = (Math.floor(this.live.now / this.interval + 1e-6) + 1) * this.interval;
      this.ended = !this.goOn(Math.min(next, this.until, this.live.duration));
      this.row(out);
    }
    this.show(out);
    if (this.ended) this.finish();
  }

  /** Has the page draw rows, and says whether all is done that it was told. */
  show(out) {
    const rows = Float64Array.from(out);
    const packets = this.watched && !this.ended ? this.flight.packets() : null;
    const buffers = [rows, packets].filter((numbers) => numbers !== null).map(({ buffer }) => buffer);
    postMessage(
      { type: "rows", turn: this.turn, order: this.order, rests: this.idle, rows, packets },
      { transfer: buffers },
    );
  }

  /** Takes an order. The page may learn of the result late, but never early. */
  obey(order, act) {
    if (this.ended) return;
    this.order = order;
    act();
    if (this.idle) this.show([]);
    wake();
  }

  /** Ends at the time that it was sent to, or now. */
  pause() {
    this.playing = false;
    this.until = Math.max(this.live.now, this.sentTo);
  }

  /** Runs to a time at full speed. */
  send(until) {
    this.sentTo = Math.min(until, this.live.duration);
    this.until = this.sentTo;
  }

  /** Whether it is where it was sent, to the nanosecond in which the engine counts. */
  get isThere() {
    return this.live.now > this.until - 2e-9;
  }

  get idle() {
    return this.ended || (!this.playing && this.isThere && this.begun);
  }

  finish() {
    const tables = { flows: csv(this.live.samples("flows")), links: csv(this.live.samples("links")) };
    const result = this.live.finish();
    this.live = null;
    const document = result.document;
    result.free();
    // The steps and the machine are not part of the result.
    const { events, engine_cpu_s, ...rest } = document;
    digest(JSON.stringify(rest)).then((sum) => this.post("done", { document: rest, sum, tables }));
  }

  free() {
    this.live?.free();
    this.live = null;
    this.ended = true;
  }
}

let waiting = false;

/** Comes back after messages have been read: at once if there is work, else with the next frame. */
function wake() {
  if (waiting || run === null || run.idle) return;
  waiting = true;
  if (run.begun && run.isThere) setTimeout(tick, FRAME_MS);
  else channel.postMessage(null);
}

function tick() {
  waiting = false;
  if (run === null || run.idle) return;
  try {
    run.slice();
  } catch (error) {
    run = null;
    complain(error);
  }
  wake();
}

/** A scenario in which a rule can be checked. */
const ANY =
  'schema = 2\nduration = "1 s"\ntopology = { kind = "dumbbell", rate = "1 Mbit/s", delay = "1 ms" }\nflows = ' +
  '[{ cc = "aimd" }]';

/** The table `cc` as a value of TOML on one line. */
const inline = (table) =>
  `{ ${Object.entries(table)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(", ")} }`;

const tasks = {
  begin(message) {
    run?.free();
    run = null;
    run = new Drive(message);
    wake();
  },
  check({ text, sets, files }) {
    new Scenario(text, { sets, files });
    post("checked", { sets });
  },
  rule({ text }) {
    let table;
    try {
      table = rule(oneLine(text));
    } catch (error) {
      const message = String(error.message ?? error);
      post("rule", { message, line: lineOfMistake(text, message) });
      return;
    }
    const value = inline(table);
    try {
      new Scenario(ANY, { sets: [`flows.0.cc=${value}`] });
      post("rule", { value, table });
    } catch (error) {
      const [{ message, key }] = error.mistakes;
      post("rule", { message, line: lineOfMistake(text, message, key) });
    }
  },
  play({ order, speed, playing }) {
    run?.obey(order, () => {
      run.speed = speed;
      run.last = performance.now();
      if (playing) run.playing = true;
      else run.pause();
    });
  },
  step({ order, seconds }) {
    run?.obey(order, () => {
      run.playing = false;
      run.send(run.live.now + seconds);
    });
  },
  to({ order, until }) {
    run?.obey(order, () => run.send(until));
  },
  finish({ order }) {
    run?.obey(order, () => run.send(run.live.duration));
  },
  watch({ isOn }) {
    if (run === null || run.ended) return;
    run.watched = isOn;
    if (run.idle) run.show([]);
  },
  change({ kind, index, value }) {
    if (run !== null && !run.ended) run.change(kind, index, value);
  },
  ping() {
    post("pong");
  },
};

let begin = null;
const begun = new Promise((resolve) => {
  begin = resolve;
});
const loaded = begun.then(load).then(
  () => post("ready", { cc: list("cc"), queue: list("queue") }),
  (error) =>
    post("failed", { message: `the module of the simulator cannot be loaded: ${error.message ?? error}`, ended: true }),
);

const pair = new MessageChannel();
pair.port1.onmessage = tick;
channel = pair.port2;

self.onmessage = async ({ data }) => {
  if (data.type === "load") begin(data.module);
  await loaded;
  try {
    tasks[data.type]?.(data);
  } catch (error) {
    complain(error);
  }
};
