// What was changed while it ran, and what came of the run.

import { byId, make } from "./elements.js";
import { begin, lab, nameOf, now } from "./lab.js";
import { words } from "./scales.js";

const CHANGES = {
  rate: ({ index, value }) => `${lab.run.description.links[index]?.name ?? `link ${index}`}: rate ${words(value / 1e6)} Mbit/s`,
  delay: ({ index, value }) => `${lab.run.description.links[index]?.name ?? `link ${index}`}: delay ${words(1e3 * value)} ms`,
  begin: ({ index }) => `${nameOf(index)} begins`,
  end: ({ index }) => `${nameOf(index)} ends`,
};

export function showChanges() {
  byId("change-count").textContent = lab.setup.changes.length;
  byId("forget").disabled = lab.setup.changes.length === 0;
  byId("changes").replaceChildren(...lab.setup.changes.slice(-50).map((change) => make("li", {}, `${words(change.at, 6)} s: ${CHANGES[change.kind](change)}`)));
}

export function showResult() {
  const { summary } = lab.outcome.document;
  const figures = [
    ["utilization", 100 * summary.utilization, "%"],
    ["goodput", summary.goodput_bps / 1e6, "Mbit/s"],
    ["queueing delay, mean", 1e3 * summary.queue_delay_mean_s, "ms"],
    ["loss rate", 100 * summary.loss_rate, "%"],
    ["Jain index", summary.jain_index, ""],
  ];
  byId("summary").replaceChildren(
    ...figures.filter(([, value]) => Number.isFinite(value)).map(([label, value, unit]) => make("div", {}, make("b", { textContent: `${words(value, 4)} ${unit}`.trim() }), make("span", { textContent: label }))),
  );
  byId("sum").textContent = lab.outcome.sum ?? "none: this page is not served securely";
  byId("result").hidden = false;
}

export function wireChanges() {
  byId("forget").addEventListener("click", () => {
    lab.setup.changes = [];
    begin({ until: now() });
  });
}
