// Numbers on axes, on sliders and in words.

/** The smallest of 1, 2, 5, 10, 20 … that is at least `value`. */
export function ceiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= value * 0.999999);
}

const ENDS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The end of an axis: the next round number from `value`. */
export function axisEnd(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ENDS.map((factor) => factor * power).find((candidate) => candidate >= value * 0.999999);
}

/** Marks from 0 to `top`, about five. */
export function ticks(top) {
  const step = ceiling(top / 5);
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** A number with at most `digits` significant digits, without an exponent where that is short. */
export function words(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(digits)));
}

/** A logarithmic slider from `least` to `most`, 0 to 1000. With `zero`, its left end is 0. */
export class LogScale {
  constructor(least, most, zero = false) {
    this.least = least;
    this.most = most;
    this.zero = zero;
  }

  position(value) {
    if (!(value > this.least)) return 0;
    return Math.min(1000, Math.round((1000 * Math.log(value / this.least)) / Math.log(this.most / this.least)));
  }

  value(position) {
    if (this.zero && position <= 0) return 0;
    return Number((this.least * (this.most / this.least) ** (position / 1000)).toPrecision(2));
  }
}
