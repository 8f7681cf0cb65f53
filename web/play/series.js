// The samples of a run as columns over time, for the charts and for the table of flows.

import { Arrivals } from "./arrivals.js";
import { Column } from "./column.js";
import { words } from "./scales.js";

/** Numbers in a row of the worker: first for the bottleneck, then for each flow. */
const LINK = 9;
const FLOW = 6;
const PACKET_BITS = 1500 * 8;
/** A rate is averaged over at least this many packets of the bottleneck. */
const PACKETS = 20;
/** Fewer segments in flight do not show a gap at the receiver. */
const GAP = 4;
/** A reference line extends the axis if it is at most this many times the data. */
const REACH = 2;

/** Bins of a tally: each is 5 % wide, from e^LEAST to e^(LEAST + BINS / FINE). */
const [LEAST, FINE, BINS] = [-10, 20, 800];

/** Values counted by their logarithm, for the 99th percentile. */
class Tally {
  constructor() {
    this.counts = new Uint32Array(BINS);
    this.total = 0;
    this.most = 0;
  }

  add(value) {
    if (!(value >= 0)) return;
    this.total += 1;
    this.most = Math.max(this.most, value);
    if (value > 0) this.counts[Math.min(BINS - 1, Math.max(0, Math.floor(FINE * (Math.log(value) - LEAST))))] += 1;
  }

  /** A value that at most 1 % exceed, to within 5 %. */
  get limit() {
    let above = 0;
    for (let bin = BINS - 1; bin >= 0; bin -= 1) {
      above += this.counts[bin];
      if (above > this.total / 100) return Math.min(this.most, Math.exp(LEAST + (bin + 1) / FINE));
    }
    return 0;
  }
}

/** The values of a quantity over time: each step is the time of a change and the new value. */
function note(steps, time, value) {
  if (Number.isFinite(value) && steps.at(-1)?.[1] !== value) steps.push([time, value]);
}

export class Series {
  /** The message `started` of the worker. */
  constructor({ flows, description }) {
    this.count = 0;
    /** Increases when earlier rates change. */
    this.revision = 0;
    /** The bottleneck over time: capacity in Mbit/s, delay in s, queue limit in packets. */
    this.steps = { capacity: [], delay: [], limit: [] };
    const rates = new Map(description.links.map(({ name, rate_bps: rate }) => [name, rate > 0 ? rate : Infinity]));
    this.time = new Column();
    this.linkRate = new Column();
    this.queue = new Column();
    this.drops = new Column();
    this.marks = new Column();
    this.losses = new Column();
    this.flows = flows.map((flow) => {
      const { base_rtt_s: base = null, path = [] } = description.flows[flow.like] ?? {};
      const slowest = Math.min(1e12, ...path.map((link) => rates.get(link) ?? Infinity));
      return {
        ...flow,
        base,
        slowest,
        crosses: path.includes(description.bottleneck),
        begun: !flow.spare,
        isActive: false,
        unknown: null,
        stopAt: Infinity,
        window: new Column(),
        rtt: new Column(),
        rate: new Column(),
        retransmits: new Column(),
      };
    });
    const { path = [] } = description.flows.find((flow) => flow.path.includes(description.bottleneck)) ?? {};
    const delays = new Map(description.links.map(({ name, delay_s: delay }) => [name, delay]));
    /** Propagation delay from the far end of the bottleneck to the receivers, s. */
    this.after = path
      .slice(path.indexOf(description.bottleneck) + 1)
      .reduce((sum, link) => sum + (delays.get(link) ?? 0), 0);
    this.arrivals = new Arrivals(this.time, this.flows);
    this.tallies = { window: new Tally(), rtt: new Tally(), rate: new Tally(), queue: new Tally() };
  }

  add(rows) {
    const width = LINK + FLOW * this.flows.length;
    for (let from = 0; from + width <= rows.length; from += width) this.row(rows, from);
  }

  row(rows, from) {
    const [now, rate, backlog, drops, marks, losses, forwarded, delay, most] = rows.subarray(from, from + LINK);
    const [index, { window, rtt, rate: rates, queue }] = [this.count, this.tallies];
    this.time.set(index, now);
    this.linkRate.set(index, rate / 1e6);
    this.queue.set(index, backlog);
    this.drops.set(index, drops);
    this.marks.set(index, marks);
    this.losses.set(index, losses);
    note(this.steps.capacity, now, rate / 1e6);
    note(this.steps.delay, now, delay);
    note(this.steps.limit, now, most);
    queue.add(backlog);
    const at = (position) => from + LINK + FLOW * position;
    let revised = this.arrivals.add(
      index,
      { forwarded, delay: delay + this.after },
      this.flows.map((_, position) => rows[at(position) + 2]),
    );
    this.count += 1;
    this.flows.forEach((flow, position) => {
      const [cwnd, srtt, delivered, , unacked, retransmits] = rows.subarray(at(position), at(position) + FLOW);
      flow.isActive ||= delivered > 0 || unacked > 0;
      flow.begun ||= flow.isActive;
      const isOn = flow.isActive && !(now >= flow.stopAt && unacked === 0);
      flow.retransmits.set(index, retransmits);
      flow.window.set(index, isOn ? cwnd : NaN);
      flow.rtt.set(index, isOn && srtt > 0 ? 1e3 * srtt : NaN);
      const speed = flow.isActive ? this.speed(flow, position, index) : NaN;
      // Data behind a gap are unknown until the gap is filled.
      const isUnknown = speed === 0 && delivered > 0 && unacked >= GAP;
      flow.rate.set(index, isUnknown ? NaN : speed);
      if (isUnknown) flow.unknown ??= index;
      else if (speed > 0 && flow.unknown !== null) {
        revised = Math.min(revised, flow.unknown);
        flow.unknown = null;
      }
      if (!isOn) return;
      window.add(cwnd);
      if (srtt > 0) rtt.add(1e3 * srtt);
      rates.add(flow.rate.values[index]);
    });
    if (revised < index) this.revise(revised, index);
  }

  /** The averaging time of a rate, s: an RTT of the flow, or the time of some packets. */
  span(flow, index) {
    const capacity = 1e6 * this.linkRate.values[index];
    const rtt = flow.rtt.values[index] / 1e3 || flow.base || 0;
    return Math.min(
      this.time.values[index],
      Math.max(rtt, capacity > 0 ? (PACKETS * PACKET_BITS) / capacity : 0, 1e-3),
    );
  }

  /** The rate at which data reached the receiver in this time, Mbit/s. */
  speed(flow, position, index) {
    const span = this.span(flow, index);
    const bytes = this.arrivals.between(position, this.time.values[index] - span, index);
    return span > 0 ? (8 * bytes) / span / 1e6 : NaN;
  }

  /** Computes the rates again from a row on. */
  revise(from, to) {
    this.flows.forEach((flow, position) => {
      if (!flow.isActive) return;
      for (let index = from; index < to; index += 1)
        if (this.arrivals.total(position, index) > 0) flow.rate.set(index, this.speed(flow, position, index));
    });
    this.revision += 1;
  }

  /** The base RTTs of the begun flows over time, in ms. Each distinct RTT has its own steps. */
  get baseRtts() {
    const [[, first] = [0, 0]] = this.steps.delay;
    const bases = [
      ...new Set(
        this.flows
          .filter(({ begun, base }) => begun && base !== null)
          .map(({ base, crosses }) => JSON.stringify([base, crosses])),
      ),
    ].map((text) => JSON.parse(text));
    return bases.map(([base, crosses]) =>
      (crosses && this.steps.delay.length > 0 ? this.steps.delay : [[0, first]]).map(([time, delay]) => [
        time,
        1e3 * (base + (crosses ? 2 * (delay - first) : 0)),
      ]),
    );
  }

  /** The segments that the path of the first flow holds without a queue, over time. */
  get bdp() {
    const [base] = this.baseRtts;
    const { capacity } = this.steps;
    if (base === undefined) return [];
    const last = (steps, time) => steps.findLast(([from]) => from <= time)?.[1];
    const times = [...new Set([...capacity, ...base].map(([time]) => time))].sort((one, other) => one - other);
    return times
      .map((time) => [time, (1e3 * last(capacity, time) * last(base, time)) / PACKET_BITS])
      .filter(([, value]) => Number.isFinite(value));
  }

  /** The reference lines of a chart: values over time with a label. */
  references(name) {
    const line = (steps, label, digits = 3) =>
      steps.length > 0 ? [{ steps, label: label(words(steps.at(-1)[1], digits)) }] : [];
    if (name === "rate") return line(this.steps.capacity, (value) => `capacity ${value}`);
    if (name === "queue") return line(this.steps.limit, (value) => `limit ${value}`, 9);
    const bases = this.baseRtts;
    if (name === "window")
      return line(this.bdp, (value) =>
        bases.length > 1 ? `BDP at ${words(bases[0].at(-1)[1], 3)} ms ${value}` : `BDP ${value}`,
      );
    return bases.slice(0, 3).flatMap((steps) => line(steps, (value) => `base RTT ${value}`));
  }

  /** The end of the axis of a chart: rare peaks may exceed it, and distant references. */
  limit(name) {
    const data = Math.max({ window: 10, rtt: 0, rate: 0, queue: 1 }[name], this.tallies[name].limit);
    const references = this.references(name).flatMap(({ steps }) => steps.map(([, value]) => value));
    return Math.max(data, ...references.filter((value) => name === "rate" || value <= REACH * data));
  }

  /** The number of rows up to a time. */
  countTo(time) {
    let [least, most] = [0, this.count];
    while (least < most) {
      const middle = (least + most) >> 1;
      if (this.time.values[middle] <= time + 1e-9) least = middle + 1;
      else most = middle;
    }
    return least;
  }

  /** The value of a column at a time, NaN before its first. */
  at(column, time) {
    const count = this.countTo(time);
    return count > 0 ? column.values[count - 1] : NaN;
  }

  /** The last value of a column. */
  last(column) {
    return this.count > 0 ? column.values[this.count - 1] : NaN;
  }

  get now() {
    return this.count > 0 ? this.last(this.time) : 0;
  }
}
