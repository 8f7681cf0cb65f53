// Runs over time as small pictures side by side, at one scale.

import { escaped } from "../report/escaping.js";
import { general } from "../report/figures.js";

const WIDTH = 340;
const HEIGHT = 150;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 10, 8, 24];
const STEPS = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** The end of a scale for a value: the next of a few round steps. */
function nice(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * STEPS.find((step) => power * step >= value);
}

/** A value of the axis. */
const shown = (value) => (value >= 1000 ? String(Math.round(value)) : general(value, 3));

/** The end of the common axis of some charts, from their values after the warm-up. */
export const topOf = (charts) =>
  nice(
    Math.max(
      0,
      ...charts.flatMap(({ x, lines, warmup_s }) =>
        lines.flatMap((line) => line.filter((value, at) => value !== null && x[at] >= warmup_s)),
      ),
    ),
  );

/** SVG of lines over time. Each line has its own colour and dashes. `label` describes the chart. */
export function overTime({ x, lines, warmup_s, duration_s }, top, label) {
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  const across = (time) => (LEFT + (time / duration_s) * (right - LEFT)).toFixed(1);
  const up = (value) => (bottom - (Math.min(value, top) / top) * (bottom - TOP)).toFixed(1);
  const levels = [0, top / 2, top].map(
    (value) =>
      `<line class="grid" x1="${LEFT}" x2="${right}" y1="${up(value)}" y2="${up(value)}"/>` +
      `<text class="y" x="${LEFT - 5}" y="${Number(up(value)) + 4}">${shown(value)}</text>`,
  );
  const times = [0, duration_s / 2, duration_s].map(
    (time) =>
      `<text class="${time === duration_s ? "y" : "x"}" x="${across(time)}" y="${bottom + 16}">` +
      `${general(time, 3)}${time === duration_s ? " s" : ""}</text>`,
  );
  const paths = lines.map((line, at) => {
    let pen = "M";
    const steps = line.map((value, place) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const step = `${pen}${across(x[place])} ${up(value)}`;
      pen = "L";
      return step;
    });
    return `<path class="line c${at} d${at}" d="${steps.join("")}"/>`;
  });
  const warmup =
    `<rect class="warmup" x="${LEFT}" y="${TOP}" width="${(Number(across(warmup_s)) - LEFT).toFixed(1)}" height="` +
    `${bottom - TOP}"/>`;
  return (
    `<svg class="time" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">${warmup}` +
    `${levels.join("")}${times.join("")}${paths.join("")}</svg>`
  );
}

/** The mean of the values of a line. */
export function meanOf(line) {
  const there = line.filter((value) => value !== null);
  return there.length === 0 ? 0 : there.reduce((sum, value) => sum + value, 0) / there.length;
}
