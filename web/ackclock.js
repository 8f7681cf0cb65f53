// ackclock for JavaScript, in browsers and in Node: scenarios are checked, run, and stepped through.
//
//     import { load, Scenario, run } from "ackclock";
//     await load();
//     const result = run(new Scenario(text));

import initialise, {
  Live,
  Scenario as Checked,
  labelJson,
  listJson,
  metricsJson,
  queueJson,
  ruleJson,
} from "./module/ackclock.js";

let memory = null;

/** Loads the module once, from `module` or from the file next to this one. `module` is a URL, a response, bytes or a
 * compiled module. */
export async function load(module) {
  memory ??= initialise({ module_or_path: module ?? new URL("./module/ackclock_bg.wasm", import.meta.url) }).then(
    (exports) => exports.memory,
  );
  memory = await memory;
}

const arrays = { f64: Float64Array, u64: BigUint64Array, u32: Uint32Array, u8: Uint8Array, bool: Uint8Array };

/** Samples as typed arrays that lie in the memory of the module: valid until it is called again. */
function views(columns) {
  const table = {};
  for (const column of columns) {
    const values = new arrays[column.kind](memory.buffer, column.address, column.length);
    const names = JSON.parse(column.namesJson);
    table[column.name] = { values, kind: column.kind, names: names.length > 0 ? names : null };
    column.free();
  }
  return table;
}

/** Calls the module. Its exceptions become errors with a list of mistakes: `line`, `key`, `message`. */
function checked(call) {
  try {
    return call();
  } catch (error) {
    error.mistakes = error.mistakesJson === undefined ? [] : JSON.parse(error.mistakesJson);
    throw error;
  }
}

const inTurns = (files) => Object.entries(files).flat();

/** A checked scenario. */
export class Scenario {
  /**
   * Reads TOML, or a tree as an object. `sets`: texts KEY=VALUE. `files`: the texts of files that it names, by name.
   */
  constructor(source, { sets = [], files = {} } = {}) {
    const isText = typeof source === "string";
    const text = isText ? source : JSON.stringify(source);
    this.inner = source instanceof Checked ? source : checked(() => new Checked(text, !isText, sets, inTurns(files)));
  }

  /** This scenario with some keys changed. */
  withSets(sets, files = {}) {
    return new Scenario(checked(() => this.inner.withSets(sets, inTurns(files))));
  }

  get name() {
    return this.inner.name;
  }

  get hash() {
    return this.inner.hash;
  }

  get seed() {
    return this.inner.seed;
  }

  get isRandom() {
    return this.inner.isRandom;
  }

  get warnings() {
    return this.inner.warnings;
  }

  /** With every default. */
  get resolved() {
    return JSON.parse(this.inner.resolvedJson());
  }

  /** Links, flows and random inputs in full. */
  get description() {
    return JSON.parse(this.inner.describeJson());
  }

  /**
   * A run at its start. `spare` lists flows that may begin later, each by the index of the flow that it copies.
   *
   * @param {{ seed?: bigint, replicate?: bigint | number, spare?: number[] }} [options]
   */
  start({ seed, replicate = 0n, spare = [] } = {}) {
    return new Running(new Live(this.inner.withSets([], []), seed, BigInt(replicate), Uint32Array.from(spare)));
  }
}

/** The result of a run. */
export class Result {
  constructor(inner) {
    this.inner = inner;
    this.document = JSON.parse(inner.toJson());
  }

  /** How long packets waited: a list of `link`, `up_to_ns`, `packets`. */
  get histograms() {
    return JSON.parse(this.inner.histogramsJson());
  }

  /**
   * A table of samples, `flows`, `links` or `packets`: by name, `values` (a typed array in the module's memory) and
   * `names`.
   */
  samples(table) {
    return views(this.inner.columns(table));
  }

  /** Gives the memory of the samples back. */
  free() {
    this.inner.free();
  }
}

/**
 * A run in progress. The positions in `linkNames` and `flowNames` are the indices of links and flows. Times are in
 * seconds.
 */
export class Running {
  constructor(inner) {
    this.inner = inner;
    this.flowNames = inner.flowNames;
    this.linkNames = inner.linkNames;
    this.duration = inner.duration;
  }

  get now() {
    return this.inner.now();
  }

  /** Continues to a time. Returns true if the run continues beyond it. */
  step(until) {
    return this.inner.step(until);
  }

  /** The state of a flow now. */
  flow(index) {
    return plain(this.inner.flow(index), flowKeys);
  }

  /** The state of a link now. */
  link(index) {
    return plain(this.inner.link(index), linkKeys);
  }

  /** The packets at a link. Queued packets come first, per flow in order. Packets on the wire follow by arrival. */
  packets(link) {
    const numbers = this.inner.packets(link);
    return Array.from({ length: numbers.length / 5 }, (_, index) => {
      const [flow, kind, wire_bytes, marked, arrives_s] = numbers.subarray(5 * index, 5 * index + 5);
      return { flow, kind: packetKinds[kind], wire_bytes, marked: marked === 1, arrives_s };
    });
  }

  setRate(link, bps) {
    this.inner.setRate(link, bps);
  }

  setDelay(link, seconds) {
    this.inner.setDelay(link, seconds);
  }

  setLoss(link, probability) {
    this.inner.setLoss(link, probability);
  }

  setLimit(link, packets) {
    this.inner.setLimit(link, packets);
  }

  /** `queue`: a name, or a table as in a scenario. Returns it in words, with its limit and its parameters. */
  setQueue(link, queue) {
    return this.inner.setQueue(link, JSON.stringify(queue));
  }

  /** `cc`: a name, or a table as in a scenario. */
  setAlgorithm(flow, cc) {
    this.inner.setAlgorithm(flow, JSON.stringify(cc));
  }

  beginFlow(index) {
    this.inner.beginFlow(index);
  }

  endFlow(index) {
    this.inner.endFlow(index);
  }

  /** The samples so far, in the format of a result. They are valid until the run continues. */
  samples(table) {
    return views(this.inner.columns(table));
  }

  /** Runs to the end. The run cannot be used after that. */
  finish() {
    return new Result(this.inner.finish());
  }

  /** Gives its memory back. */
  free() {
    this.inner.free();
  }
}

const flowKeys = ["cwnd_segments", "ssthresh_segments", "unacked_segments", "srtt_s", "delivered_bytes", "retransmits"];
const linkKeys = ["rate_bps", "delay_s", "backlog_packets", "drops", "marks", "losses", "forwarded_bytes"];
const packetKinds = ["data", "ack", "request"];

function plain(view, keys) {
  const values = Object.fromEntries(keys.map((key) => [key, view[key]]));
  view.free();
  return values;
}

/**
 * Runs one replicate to its end.
 *
 * @param {Scenario} scenario
 * @param {{ seed?: bigint, replicate?: bigint | number }} [options]
 */
export function run(scenario, { seed, replicate = 0n } = {}) {
  return new Result(scenario.inner.run(seed, BigInt(replicate)));
}

/** The entries of a list: `cc`, `recovery`, `queue`, `loss`, `traffic`, `topology` or `channel`. */
export const list = (kind) => JSON.parse(listJson(kind));

/** The table `cc` of a rule that is written on one line. */
export const rule = (line) => JSON.parse(checked(() => ruleJson(line)));

/** The table of a name, or of a label such as `poisson(9 Mbit/s)`. `first` is the key of a first value without one. */
export const label = (text, first) => JSON.parse(checked(() => labelJson(text, first)));

/** Runs a queue alone. `ackclock::open_loop` in Rust defines request and answer. */
export const queueAlone = (request) => JSON.parse(checked(() => queueJson(JSON.stringify(request))));

/** Every metric of the results, with unit, label and definition. */
export const metrics = () => JSON.parse(metricsJson());
