// Numbers in a row that grows.

/** A column that grows. */
export class Column {
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
