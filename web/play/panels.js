// The charts of the run, drawn when there is something new.

import { Chart, lightStyle, styleOf } from "./charts.js";
import { firstRtt } from "./bottleneck.js";
import { buttons } from "./controls.js";
import { byId } from "./elements.js";
import { showFlows } from "./flows.js";
import { isStill, lab, now } from "./lab.js";
import { PhasePlane } from "./phase.js";
import { words } from "./scales.js";

const charts = Object.fromEntries(["window", "rate", "rtt", "queue"].map((name) => [name, new Chart(byId(`chart-${name}`))]));
export const TITLES = { window: "Window, segments", rate: "Rate, Mbit/s", rtt: "RTT, ms", queue: "Queue, packets" };
const phase = new PhasePlane(byId("chart-phase"));
let drawn = 0;
let told = 0;

/** The lines of a panel, with their styles on the page and in files. */
export function linesOf(name) {
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft");
  if (name === "queue") return [{ values: lab.series.queue.values, style: styleOf(0), svgStyle: lightStyle(0) }];
  const lines = lab.series.flows.map((flow, position) => ({ values: flow[name].values, style: styleOf(position), svgStyle: lightStyle(position) }));
  const link = { values: lab.series.linkRate.values, style: { colour: ink, dash: [3, 3], width: 1 }, svgStyle: { colour: "#666", dash: [3, 3] } };
  return name === "rate" ? [link, ...lines] : lines;
}

/** Whether two flows of the scenario can be compared. */
const hasPhasePlane = () => lab.series.flows.length > 1 && lab.series.flows.slice(0, 2).every(({ spare }) => !spare);

/** Segments that the path holds without a queue; not a number where there is no one rate or RTT. */
const pipe = () => (lab.series.last(lab.series.linkRate) * 1e6 * (firstRtt() ?? NaN)) / (1500 * 8);

export function draw(time) {
  requestAnimationFrame(draw);
  // Who wants less motion sees a picture twice a second.
  if (!lab.stale || lab.series === null || (isStill() && time - drawn < 500 && lab.outcome === null)) return;
  drawn = time;
  lab.stale = false;
  for (const [name, chart] of Object.entries(charts)) {
    chart.lines = linesOf(name);
    if (name === "queue") chart.events = [{ counts: lab.series.drops.values, mark: "drop" }, { counts: lab.series.marks.values, mark: "mark" }];
    chart.draw(lab.series.time.values, lab.series.count, lab.series.most[name]);
  }
  if (hasPhasePlane()) phase.draw(lab.series.flows.slice(0, 2), lab.series.count, pipe());
  byId("clock").textContent = `${now().toFixed(lab.run !== null && lab.run.duration < 10 ? 3 : 2)} s of ${words(lab.run?.duration ?? 0)} s`;
  byId("progress").value = lab.run === null ? 0 : now() / lab.run.duration;
  if (time - told > 250 || lab.outcome !== null || !lab.playing) {
    told = time;
    showFlows();
    buttons();
  }
}

function redraw() {
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
