// Throughput against delay, as a picture.

const WIDTH = 640;
const HEIGHT = 360;
const EDGE = { left: 52, right: 110, top: 14, bottom: 44 };
const LINES = 5;

function element(name, properties, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The ends of an axis that holds all figures with their intervals, and the numbers on it. */
function axis(estimates, least) {
  const ends = estimates.flatMap(({ mean, low, high }) => [low ?? mean, high ?? mean]);
  const [low, high] = [Math.max(least, Math.min(...ends)), Math.max(...ends)];
  const raw = (high - low || 1) / LINES;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
  const first = Math.max(least, step * Math.floor(low / step));
  const count = Math.max(1, Math.ceil((high - first) / step - 1e-9));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return { first, last: first + count * step, numbers: Array.from({ length: count + 1 }, (_, at) => first + at * step), text: (value) => value.toFixed(digits) };
}

/** Labels that would lie on one another are moved down. */
function apart(labels) {
  const sorted = [...labels].sort((one, other) => one.y - other.y);
  sorted.forEach((label, at) => {
    for (const before of sorted.slice(0, at)) if (Math.abs(before.x - label.x) < 110 && label.y - before.y < 13) label.y = before.y + 13;
  });
}

/** `spots`: `label`, `isOwn`, and estimates of `throughput` in % and `delay` in ms. */
export function plane(spots) {
  const across = axis(spots.map(({ delay }) => delay), 0);
  const up = axis(spots.map(({ throughput }) => throughput), 0);
  const x = (value) => EDGE.left + ((value - across.first) / (across.last - across.first)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - up.first) / (up.last - up.first)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const [right, bottom] = [WIDTH - EDGE.right, HEIGHT - EDGE.bottom];
  const line = (x1, y1, x2, y2, className) => element("line", { x1, y1, x2, y2, class: className });
  const text = (content, at) => element("text", at, content);
  const parts = [
    ...across.numbers.flatMap((value) => [line(x(value), EDGE.top, x(value), bottom, "grid"), text(across.text(value), { x: x(value), y: bottom + 16, "text-anchor": "middle" })]),
    ...up.numbers.flatMap((value) => [line(EDGE.left, y(value), right, y(value), "grid"), text(up.text(value), { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" })]),
    element("path", { class: "axis", d: `M${EDGE.left} ${EDGE.top}V${bottom}H${right}` }),
    text("queueing delay, ms", { x: (EDGE.left + right) / 2, y: HEIGHT - 8, "text-anchor": "middle" }),
    text("share of the links carried, %", { transform: `translate(12 ${(EDGE.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }),
  ];
  const labels = spots.map(({ label, isOwn, throughput, delay }) => {
    const [at, height] = [x(delay.mean), y(throughput.mean)];
    if (delay.low !== null) parts.push(line(x(Math.max(across.first, delay.low)), height, x(delay.high), height, "reach"));
    if (throughput.low !== null) parts.push(line(at, y(Math.max(up.first, throughput.low)), at, y(throughput.high), "reach"));
    parts.push(element("circle", { cx: at, cy: height, r: isOwn ? 6 : 5, class: isOwn ? "dot own" : "dot" }));
    return { label, isOwn, x: at + 10, y: height - 6 };
  });
  apart(labels);
  const short = (label) => (label.length > 24 ? `${label.slice(0, 23)}…` : label);
  parts.push(...labels.map((each) => text(short(each.label), { x: each.x, y: each.y, class: each.isOwn ? "own" : "" })));
  const told = spots.map(({ label, throughput, delay }) => `${label}: ${throughput.mean.toFixed(1)} %, ${delay.mean.toFixed(1)} ms`).join("; ");
  return element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Share of the links carried, and queueing delay. ${told}` }, ...parts);
}
