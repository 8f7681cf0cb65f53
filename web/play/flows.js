// The table of flows, and the legend of the charts.

import { changedAlgorithm } from "./bottleneck.js";
import { styleOf } from "./charts.js";
import { byId, fill, show } from "./elements.js";
import { make } from "../report/elements.js";
import { lab, now } from "./lab.js";
import { words } from "./scales.js";

/**
 * The figures of a flow, each with its significant digits.
 *
 * @type {[string, number][]}
 */
const FIGURES = [
  ["window", 4],
  ["rtt", 4],
  ["rate", 3],
  ["retransmits", 9],
];

const described = (flow) => lab.run.description.flows[flow.like];
const groupOf = (flow) => lab.run.resolved.flows.findIndex(({ name }) => name === described(flow)?.group);
const algorithm = (flow) => changedAlgorithm(groupOf(flow)) ?? described(flow)?.cc ?? described(flow)?.traffic ?? "";

export function layOutFlows() {
  const body = byId("flows").tBodies[0];
  body.replaceChildren(
    ...lab.series.flows.map((flow, position) => {
      const [canvas, key] = Array.from({ length: 2 }, () =>
        make("canvas", { className: "key", width: 52, height: 20 }),
      );
      const entry = make("span", { hidden: !flow.begun }, key, flow.name);
      const cells = [
        make("th", { scope: "row" }, canvas, flow.name),
        make("td", {}, algorithm(flow)),
        ...Array.from({ length: 4 }, () => make("td", { className: "n" })),
      ];
      const stop = make("button", { type: "button", textContent: "Stop", ariaLabel: `Stop ${flow.name}` });
      stop.addEventListener("click", () => {
        lab.simulator.tell("change", { kind: "end", index: flow.index, value: 0 });
      });
      const row = make("tr", { hidden: !flow.begun }, ...cells, make("td", { className: "n" }, stop));
      Object.assign(flow, { row, entry, cells, stop, keys: [canvas, key], position });
      return row;
    }),
  );
  byId("legend").replaceChildren(
    ...lab.series.flows.map(({ entry }) => entry),
    make("small", { textContent: "∧ exceeds the axis" }),
  );
  drawKeys();
  const groups = new Map(lab.run.description.flows.map((flow) => [flow.group, flow]));
  fill(
    byId("like"),
    [...groups.values()].filter((flow) => flow.cc !== null).map((flow) => ({ name: flow.group })),
  );
}

function drawKeys() {
  for (const { keys, position } of lab.series?.flows ?? []) for (const key of keys) drawKey(key, styleOf(position));
}

function drawKey(canvas, { colour, dash }) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, 52, 20);
  context.strokeStyle = colour;
  context.lineWidth = 5;
  context.setLineDash(dash.map((part) => 2 * part));
  context.beginPath();
  context.moveTo(0, 12);
  context.lineTo(52, 12);
  context.stroke();
}

/** Window, RTT, rate and retransmissions in words, followed by the figures of B. */
function figuresOf(flow) {
  const beside = lab.other?.series?.flows.find(({ name, begun }) => begun && name === flow.name);
  return FIGURES.map(([name, digits]) => {
    const own = words(lab.series.last(flow[name]), digits);
    return beside === undefined ? own : `${own} (B ${words(lab.other.series.at(beside[name], now()), digits)})`;
  });
}

/** Queue length now, and drops and marks since the start, in words. */
function linkWords(series) {
  const [queued, dropped, marked] = [series.queue, series.drops, series.marks].map((column) =>
    series.at(column, now()),
  );
  return `${words(queued, 5)} packets queued, ${dropped} dropped and ${marked} marked since 0 s`;
}

export function showFlows() {
  for (const flow of lab.series.flows) {
    flow.row.hidden = flow.entry.hidden = !flow.begun;
    if (!flow.begun) continue;
    [algorithm(flow), ...figuresOf(flow)].forEach((text, index) => {
      if (flow.cells[index + 1].textContent !== text) flow.cells[index + 1].textContent = text;
    });
    const isStopped = flow.stopAt <= now();
    flow.stop.disabled = isStopped || lab.outcome !== null || now() === 0;
    flow.stop.textContent = isStopped ? "Stopped" : "Stop";
  }
  const hidden = lab.run.flowCount - lab.run.description.flows.length;
  const beside = lab.other?.series ?? null;
  byId("link-state").textContent = [
    linkWords(lab.series),
    ...(beside === null ? [] : [`B: ${linkWords(beside)}`]),
    ...(hidden > 0 ? [`${hidden} more flows are hidden`] : []),
  ].join(" · ");
}

/** Notes the times at which live changes stop flows. */
export function markStopped({ setup, series } = lab) {
  const ends = new Map(setup.changes.filter(({ kind }) => kind === "end").map(({ index, at }) => [index, at]));
  for (const flow of series?.flows ?? []) flow.stopAt = ends.get(flow.index) ?? Infinity;
}

function addFlow() {
  const begun = new Set(lab.setup.changes.filter(({ kind }) => kind === "begin").map(({ index }) => index));
  const spare = lab.series.flows.find(
    (flow) => flow.spare && !begun.has(flow.index) && described(flow)?.group === byId("like").value,
  );
  if (spare === undefined) show("This group accepts no more live flows. Raise its `count` in the text.");
  else lab.simulator.tell("change", { kind: "begin", index: spare.index, value: 0 });
}

export function wireFlows() {
  byId("add").addEventListener("click", addFlow);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawKeys);
}
