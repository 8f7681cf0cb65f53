// The charts of the run, drawn when new samples arrive.

import { Chart, lightStyle, styleOf } from "./charts.js";
import { showChosen } from "./chosen.js";
import { buttons } from "./controls.js";
import { byId } from "./elements.js";
import { showFlows } from "./flows.js";
import { isStill, lab, now } from "./lab.js";
import { PhasePlane } from "./phase.js";
import { words } from "./scales.js";
import { showSliders } from "./sliders.js";
import { drawWire } from "./wire.js";

const charts = Object.fromEntries(
  ["window", "rate", "rtt", "queue"].map((name) => [name, new Chart(byId(`chart-${name}`))]),
);
export const TITLES = { window: "Window, segments", rate: "Rate, Mbit/s", rtt: "RTT, ms", queue: "Queue, packets" };
const phase = new PhasePlane(byId("chart-phase"));
let drawn = 0;
let told = 0;

/** The lines of a series in a panel up to now, with their styles on the page and in files. */
function linesOfSeries(name, series, change = (style) => style) {
  const part = { times: series.time.values, count: series.countTo(now()) };
  const flow = ({ values }, position) => ({
    ...part,
    values,
    style: change(styleOf(position)),
    svgStyle: change(lightStyle(position)),
  });
  if (name === "queue") return [flow(series.queue, 0)];
  const lines = series.flows.map((one, position) => flow(one[name], position));
  return name === "rate" ? lines.map((line) => ({ ...line, revision: series.revision })) : lines;
}

/** The style of B. */
const dotted = ({ colour }) => ({ colour, dash: [1, 3], width: 1.4 });

/** The lines of a panel. */
export function linesOf(name) {
  const other = lab.other?.series ?? null;
  return [...linesOfSeries(name, lab.series), ...(other === null ? [] : linesOfSeries(name, other, dotted))];
}

/** The reference lines of a panel: all lines of A, and the different lines of B. */
export function referencesOf(name) {
  const own = lab.series.references(name);
  const others = lab.other?.series?.references(name) ?? [];
  return [
    ...own,
    ...others
      .filter(({ label }) => !own.some((one) => one.label === label))
      .map((one) => ({ ...one, label: `B: ${one.label}`, dash: [1, 3] })),
  ];
}

/** The 99th percentile of a panel, which ends its axis. */
export const limitOf = (name) => Math.max(lab.series.limit(name), lab.other?.series?.limit(name) ?? 0);

/** Whether the scenario has two flows to compare. */
const hasPhasePlane = () => lab.series.flows.length > 1 && lab.series.flows.slice(0, 2).every(({ spare }) => !spare);

/** Segments that the path holds without a queue, NaN without a single rate or RTT. */
const pipe = () => lab.series.bdp.at(-1)?.[1] ?? NaN;

export function draw(time) {
  requestAnimationFrame(draw);
  // Users who ask for less motion see two pictures per second.
  if (!lab.stale || lab.series === null || (isStill() && time - drawn < 500 && lab.outcome === null)) return;
  drawn = time;
  lab.stale = false;
  for (const [name, chart] of Object.entries(charts)) {
    chart.lines = linesOf(name);
    chart.references = referencesOf(name);
    if (name === "queue")
      chart.events = [
        { counts: lab.series.drops.values, mark: "drop" },
        { counts: lab.series.marks.values, mark: "mark" },
      ];
    chart.draw(limitOf(name));
  }
  drawWire();
  if (hasPhasePlane()) phase.draw(lab.series.flows.slice(0, 2), lab.series.count, pipe());
  byId("clock").textContent =
    `${now().toFixed(lab.run !== null && lab.run.duration < 10 ? 3 : 2)} s of ${words(lab.run?.duration ?? 0)} s`;
  byId("progress").value = lab.run === null ? 0 : now() / lab.run.duration;
  if (time - told > 250 || lab.outcome !== null || !lab.playing) {
    told = time;
    showFlows();
    showSliders();
    showChosen();
    buttons();
  }
}

export function redraw() {
  for (const chart of [...Object.values(charts), phase]) chart.stale = true;
  lab.stale = true;
}

export function layOutCharts() {
  for (const chart of Object.values(charts)) chart.reset(lab.run.duration);
  phase.reset();
  byId("phase").hidden = !hasPhasePlane();
  redraw();
}

export function wireCharts() {
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
