// The samples of a run as columns over time, for the charts and for the table of flows.

/** Numbers in a row of the worker: first for the bottleneck, then for each flow. */
const LINK = 6;
const FLOW = 6;

/** A column that grows. */
class Column {
  constructor() {
    this.values = new Float64Array(4096);
  }

  set(index, value) {
    if (index >= this.values.length) {
      const more = new Float64Array(2 * this.values.length);
      more.set(this.values);
      this.values = more;
    }
    this.values[index] = value;
  }
}

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

/** The seconds over which a run averages its rates. */
export const spanOf = (duration) => Math.max(duration / 200, 0.05);

export class Series {
  /** `flows`: as the worker lists them. `span`: the seconds over which a rate is averaged. */
  constructor(flows, span) {
    this.span = span;
    this.count = 0;
    this.behind = 0;
    this.time = new Column();
    this.linkRate = new Column();
    this.queue = new Column();
    this.drops = new Column();
    this.marks = new Column();
    this.losses = new Column();
    this.flows = flows.map((flow) => ({ ...flow, begun: !flow.spare, isActive: false, stopAt: Infinity, window: new Column(), rtt: new Column(), rate: new Column(), delivered: new Column(), retransmits: new Column() }));
    this.tallies = { window: new Tally(), rtt: new Tally(), rate: new Tally(), queue: new Tally() };
    this.linkMost = 0;
  }

  add(rows) {
    const width = LINK + FLOW * this.flows.length;
    for (let from = 0; from + width <= rows.length; from += width) this.row(rows, from);
  }

  row(rows, from) {
    const [now, rate, backlog, drops, marks, losses] = rows.subarray(from, from + LINK);
    const [index, { window, rtt, rate: rates, queue }] = [this.count, this.tallies];
    this.time.set(index, now);
    this.linkRate.set(index, rate / 1e6);
    this.queue.set(index, backlog);
    this.drops.set(index, drops);
    this.marks.set(index, marks);
    this.losses.set(index, losses);
    while (this.behind < index && this.time.values[this.behind + 1] <= now - this.span) this.behind += 1;
    const since = now - this.time.values[this.behind];
    if (rate > 0) this.linkMost = Math.max(this.linkMost, rate / 1e6);
    queue.add(backlog);
    this.flows.forEach((flow, position) => {
      const [cwnd, srtt, delivered, , unacked, retransmits] = rows.subarray(from + LINK + FLOW * position, from + LINK + FLOW * (position + 1));
      flow.isActive ||= delivered > 0 || unacked > 0;
      flow.begun ||= flow.isActive;
      const isOn = flow.isActive && !(now >= flow.stopAt && unacked === 0);
      flow.retransmits.set(index, retransmits);
      flow.delivered.set(index, delivered);
      const speed = since > 0 ? (8 * (delivered - flow.delivered.values[this.behind])) / since / 1e6 : NaN;
      flow.window.set(index, isOn ? cwnd : NaN);
      flow.rtt.set(index, isOn && srtt > 0 ? 1e3 * srtt : NaN);
      flow.rate.set(index, flow.isActive ? speed : NaN);
      if (!isOn) return;
      window.add(cwnd);
      if (srtt > 0) rtt.add(1e3 * srtt);
      rates.add(speed);
    });
    this.count += 1;
  }

  /** The end of the axis of a chart: rare peaks may exceed it. */
  limit(name) {
    const least = { window: 10, rtt: 0, rate: this.linkMost, queue: 1 }[name];
    return Math.max(least, this.tallies[name].limit);
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
