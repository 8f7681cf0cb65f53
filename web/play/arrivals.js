// When data reached the receivers. The engine counts data in order, so a filled gap delivers a whole window at once.
// These data arrived earlier, while the bottleneck forwarded them. They take the forwarded bytes that no flow has
// taken, the latest first. The arrivals of all flows therefore never exceed the forwarded bytes. A flow that does not
// cross the bottleneck is limited by the slowest link of its own path.

import { Column } from "./column.js";

/** Smaller corrections of a row are not worth a new drawing. */
const FEW = 3000;

export class Arrivals {
  /**
   * `time`: the times of the rows. `flows`: each `crosses` the bottleneck, or its path has a `slowest` rate in bit/s.
   */
  constructor(time, flows) {
    this.time = time;
    this.slowest = flows.map(({ slowest }) => slowest);
    /** Payload received in order, and all arrivals up to each row. */
    this.delivered = flows.map(() => 0);
    this.received = flows.map(() => new Column());
    /** Forwarded payload up to each row, and the part that no flow has taken. */
    this.forwarded = new Column();
    this.shared = new Column();
    this.spare = flows.map(({ crosses }) => (crosses ? this.shared : new Column()));
    this.passed = 0;
  }

  /**
   * Adds a row: the bottleneck's `forwarded` payload and `delay`, and the data that each flow received in order.
   * Returns the first changed row.
   */
  add(index, { forwarded, delay }, delivered) {
    this.forwarded.set(index, forwarded);
    const passed = Math.max(this.passed, this.at(this.forwarded, this.time.values[index] - delay, index));
    // A packet may be on its way over a row.
    const more = index === 0 ? FEW : 0;
    const since = index === 0 ? 0 : this.time.values[index] - this.time.values[index - 1];
    this.spare.forEach((column, position) =>
      column.set(index, (column === this.shared ? passed - this.passed : (this.slowest[position] * since) / 8) + more),
    );
    this.passed = passed;
    const news = delivered.map((bytes, position) => ({ position, bytes: bytes - this.delivered[position] }));
    this.delivered = delivered;
    for (const { values } of this.received) if (index > 0) values[index] = values[index - 1];
    let first = index;
    for (const { position, bytes } of news.sort((one, other) => one.bytes - other.bytes)) {
      const column = this.received[position];
      column.set(index, (index > 0 ? column.values[index - 1] : 0) + bytes);
      if (bytes > 0) first = Math.min(first, this.place(column.values, this.spare[position].values, bytes, index));
    }
    return first;
  }

  /**
   * Moves the data of a row to the rows in which they arrived. Returns the first of them, if the correction is large.
   */
  place(values, spare, bytes, index) {
    const early = bytes - spare[index];
    let rest = bytes;
    let row = index;
    while (true) {
      const here = Math.min(rest, spare[row]);
      spare[row] -= here;
      rest -= here;
      if (rest <= 0 || row === 0) break;
      row -= 1;
      values[row] += rest;
    }
    return early > FEW ? row : index;
  }

  /** A column at a time, between rows. */
  at({ values }, time, last) {
    const times = this.time.values;
    let [least, most] = [0, last];
    while (least < most) {
      const middle = (least + most) >> 1;
      if (times[middle] < time) least = middle + 1;
      else most = middle;
    }
    if (least === 0 || times[least] <= time) return times[least] <= time ? values[least] : 0;
    const part = (time - times[least - 1]) / (times[least] - times[least - 1]);
    return values[least - 1] + part * (values[least] - values[least - 1]);
  }

  /** Bytes that a flow has received up to a row. */
  total(position, index) {
    return this.received[position].values[index];
  }

  /** Bytes that a flow received between a time and a row. */
  between(position, time, index) {
    return this.total(position, index) - this.at(this.received[position], time, index);
  }
}
