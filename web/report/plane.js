// Throughput against delay as SVG. The delay axis is reversed, so up and right is better.

import { field } from "./elements.js";
import { escaped } from "./escaping.js";
import { general } from "./figures.js";

const WIDTH = 560;
const HEIGHT = 360;
const [LEFT, RIGHT, TOP, BOTTOM] = [62, 18, 24, 44];
/** About the width of a letter of a name, and the height of a line. */
const LETTER = 6.4;
const LINE = 13;
/** Smaller ellipses are not seen below the mark, in pixels. */
const LEAST = 2;
/** Letters of a name next to its point. The tooltip contains the whole name. */
const LONGEST = 24;
/** A range at least this wide, relative to its values: rounding is not drawn as if it were a difference. */
const MIN_RANGE = 1e-3;
/** Places of a name around its point that are tried, in this order: across, down, and how text is anchored. */
const AROUND = [
  [9, 4, "start"],
  [-9, 4, "end"],
  [0, -10, "middle"],
  [0, 19, "middle"],
  [9, -8, "start"],
  [-9, -8, "end"],
  [9, 17, "start"],
  [-9, 17, "end"],
];

const span = (low, high, start, end) => (value) => start + ((end - start) * (value - low)) / (high - low);
const one = (value) => value.toFixed(1);

/** Multiples of 1, 2, 2.5 or 5 times a power of ten that enclose `low` and `high`. There are about `lines` of them. */
function ticks(low, high, lines) {
  let [least, most] = [low, high];
  const reach = MIN_RANGE * Math.max(Math.abs(high), 1e-9);
  if (high - low < reach) [least, most] = [(low + high) / 2 - reach / 2, (low + high) / 2 + reach / 2];
  const rough = (most - least) / lines;
  const power = Number(`1e${Math.floor(Math.log10(rough))}`);
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => power * factor >= rough * (1 - 1e-9));
  const [first, last] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, at) => step * (first + at));
}

/** How many digits after the point tell ticks apart. */
function digitsOf(values) {
  const step = values[1] - values[0];
  let digits = 0;
  while (Math.abs(Number(step.toFixed(digits)) - step) > 1e-6 * step) digits += 1;
  return digits;
}

/** The half axes and the angle, in degrees, of the ellipse that fits a box of these half sides. */
function ellipse(across, up, correlation) {
  const covariance = correlation * across * up;
  const middle = (across ** 2 + up ** 2) / 2;
  const reach = Math.hypot((across ** 2 - up ** 2) / 2, covariance);
  const angle = (180 / Math.PI) * Math.atan2(2 * covariance, across ** 2 - up ** 2) * 0.5;
  return [Math.sqrt(middle + reach), Math.sqrt(Math.max(0, middle - reach)), angle];
}

function axes(x, y, across, up, label) {
  const bottom = HEIGHT - BOTTOM;
  const parts = [];
  for (const value of y) {
    const at = up(value);
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${one(at)}" y2="${one(at)}"/>`);
    parts.push(`<text class="y" x="${LEFT - 6}" y="${one(at + 4)}">${value.toFixed(digitsOf(y))}</text>`);
  }
  for (const value of x) {
    const at = one(across(value));
    parts.push(`<line class="grid" x1="${at}" x2="${at}" y1="${TOP}" y2="${bottom}"/>`);
    parts.push(`<text class="x" x="${at}" y="${bottom + 15}">${value.toFixed(digitsOf(x))}</text>`);
  }
  parts.push(
    `<text class="x" x="${one((LEFT + WIDTH - RIGHT) / 2)}" y="${HEIGHT - 8}">queueing delay, ms (less to the ` +
      "right)</text>",
  );
  parts.push(
    `<text class="x" transform="translate(14 ${one((TOP + bottom) / 2)}) rotate(-90)">${escaped(label)}</text>`,
  );
  parts.push(`<text class="hint" x="${WIDTH - RIGHT}" y="${TOP - 9}" text-anchor="end">better ↗</text>`);
  return parts;
}

const polygon = (points) =>
  `<polygon class="dot" points="${points.map(([x, y]) => `${one(x)},${one(y)}`).join(" ")}"/>`;

/** The mark of a point: another shape for each of six, so that colour is not needed. */
function mark(index, x, y) {
  const size = 4.5;
  const far = size * 1.15;
  const shapes = [
    () => `<circle class="dot" cx="${one(x)}" cy="${one(y)}" r="${size}"/>`,
    () =>
      polygon([
        [x - size, y - size],
        [x + size, y - size],
        [x + size, y + size],
        [x - size, y + size],
      ]),
    () =>
      polygon([
        [x, y - far],
        [x + far, y + size],
        [x - far, y + size],
      ]),
    () =>
      polygon([
        [x, y - far],
        [x + far, y],
        [x, y + far],
        [x - far, y],
      ]),
    () =>
      polygon([
        [x, y + far],
        [x + far, y - size],
        [x - far, y - size],
      ]),
    () =>
      `<path class="cross" d="M${one(x - size)} ${one(y - size)}l${2 * size} ${2 * size}m0 ${-2 * size}l` +
      `${-2 * size} ${2 * size}"/>`,
  ];
  return shapes[index % shapes.length]();
}

function told({ name, delay, throughput, delay_half, throughput_half }) {
  const reach = (half) => (half > 0 ? ` ±${general(half, 2)}` : "");
  return (
    `${name}: ${general(throughput, 4)}${reach(throughput_half)} at a delay of ${general(delay, 4)}` +
    `${reach(delay_half)} ms`
  );
}

const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** Names next to their points where they cover no other name. The first names have precedence. */
function names(spots, places) {
  const taken = places.map(([x, y]) => [x - 6, y - 6, x + 6, y + 6]);
  return spots.map(({ name }, at) => {
    const [x, y] = places[at];
    const letters = [...name];
    const short = letters.length <= LONGEST ? name : `${letters.slice(0, LONGEST - 1).join("")}…`;
    const width = LETTER * [...short].length;
    for (const [dx, dy, anchor] of AROUND) {
      const left = x + dx - { start: 0, end: width, middle: width / 2 }[anchor];
      const box = [left, y + dy - LINE + 3, left + width, y + dy + 3];
      if (box[0] < 2 || box[2] > WIDTH - 2 || box[1] < 0 || taken.some((each) => overlap(box, each))) continue;
      taken.push(box);
      const place = `x="${one(x + dx)}" y="${one(y + dy)}" text-anchor="${anchor}"`;
      return `<text class="name" ${place}>${escaped(short)}</text>`;
    }
    return "";
  });
}

/** SVG with a point and an ellipse for each of `spots`, whose shadows on the axes are the intervals. */
export function plane(spots, label, title) {
  const ends = (key) => [
    Math.min(...spots.map((spot) => spot[key] - spot[`${key}_half`])),
    Math.max(...spots.map((spot) => spot[key] + spot[`${key}_half`])),
  ];
  const [[nearest, farthest], [least, most]] = [ends("delay"), ends("throughput")];
  const x = ticks(Math.max(0, nearest), farthest, 6);
  const y = ticks(least, most, 5);
  const across = span(x.at(-1), x[0], LEFT, WIDTH - RIGHT);
  const up = span(y[0], y.at(-1), HEIGHT - BOTTOM, TOP);
  const [xScale, yScale] = [Math.abs(across(1) - across(0)), Math.abs(up(1) - up(0))];
  const places = spots.map(({ delay, throughput }) => [across(delay), up(throughput)]);
  const points = spots.map((spot, at) => {
    const [px, py] = places[at];
    // The delay axis is reversed, and SVG's vertical axis points down. The sign of the correlation therefore remains.
    const [a, b, angle] = ellipse(spot.delay_half * xScale, spot.throughput_half * yScale, spot.correlation);
    const around =
      a > LEAST
        ? `<ellipse rx="${one(a)}" ry="${one(b)}" transform="translate(${one(px)} ${one(py)}) rotate(${one(angle)})"/>`
        : "";
    return `<g class="c${at % 6}"><title>${escaped(told(spot))}</title>${around}${mark(at, px, py)}</g>`;
  });
  const name = escaped(`${title}: ${label} against queueing delay`);
  return (
    `<svg class="plane" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}">` +
    `${[...axes(x, y, across, up, label), ...points, ...names(spots, places)].join("")}</svg>`
  );
}

/** The points as CSV. */
export function planeCsv(spots) {
  const rows = spots.map(({ name, delay, delay_half, throughput, throughput_half, correlation }) =>
    [field(name), delay, delay_half, throughput, throughput_half, correlation].join(","),
  );
  const head = "algorithm,delay_ms,delay_half_interval_ms,throughput,throughput_half_interval,correlation";
  return `${[head, ...rows].join("\n")}\n`;
}
