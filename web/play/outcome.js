// The live changes of a run, and its result.

import { byId } from "./elements.js";
import { make } from "../report/elements.js";
import { begin, lab, nameOf, reached } from "./lab.js";
import { words } from "./scales.js";

const linkOf = ({ index }) => lab.run.description.links[index]?.name ?? `link ${index}`;

/** The name of an algorithm, or the beginning of a rule. */
const algorithmIn = (value) =>
  typeof value === "string"
    ? value
    : Object.entries(value)
        .filter(([key]) => key !== "kind")
        .map(([key, part]) => `${key} = ${part}`)
        .join("; ")
        .slice(0, 120);

/** The name of a queue, with the limit that it was given. */
const queueIn = (value) =>
  typeof value === "string" ? value : [value.kind, value.limit].filter((part) => part !== undefined).join(", ");

const CHANGES = {
  rate: (change) => `${linkOf(change)}: rate ${words(change.value / 1e6)} Mbit/s`,
  delay: (change) => `${linkOf(change)}: delay ${words(1e3 * change.value)} ms`,
  loss: (change) => `${linkOf(change)}: loss ${words(100 * change.value)} %`,
  limit: (change) => `${linkOf(change)}: buffer ${change.value} packets`,
  queue: (change) => `${linkOf(change)}: ${queueIn(change.value)}`,
  algorithm: ({ index, value }) => `${lab.run.resolved.flows[index]?.name ?? `group ${index}`}: ${algorithmIn(value)}`,
  begin: ({ index }) => `${nameOf(index)} begins`,
  end: ({ index }) => `${nameOf(index)} ends`,
};

export function showChanges() {
  byId("change-count").textContent = lab.setup.changes.length;
  byId("forget").disabled = lab.setup.changes.length === 0;
  byId("changes").replaceChildren(
    ...lab.setup.changes
      .slice(-50)
      .map((change) => make("li", {}, `${words(change.at, 6)} s: ${CHANGES[change.kind](change)}`)),
  );
}

const figuresOf = ({ summary }) => [
  ["utilization", 100 * summary.utilization, "%"],
  ["goodput", summary.goodput_bps / 1e6, "Mbit/s"],
  ["queueing delay, mean", 1e3 * summary.queue_delay_mean_s, "ms"],
  ["loss rate", 100 * summary.loss_rate, "%"],
  ["Jain index", summary.jain_index, ""],
];

const NO_SUM = "unavailable: browsers compute it only on https pages, on localhost or from disk";

export function showResult() {
  const other = lab.other?.outcome ?? null;
  const beside = other === null ? null : figuresOf(other.document);
  const figures = figuresOf(lab.outcome.document).flatMap(([label, value, unit], index) => {
    if (!Number.isFinite(value)) return [];
    const lines = [
      make("b", { textContent: `${words(value, 4)} ${unit}`.trim() }),
      make("span", { textContent: label }),
    ];
    if (beside !== null)
      lines.push(make("span", { className: "beside", textContent: `B: ${words(beside[index][1], 4)} ${unit}`.trim() }));
    return [make("div", {}, ...lines)];
  });
  byId("summary").replaceChildren(...figures);
  byId("sum").textContent = lab.outcome.sum ?? NO_SUM;
  byId("sum-beside").textContent = other === null ? "" : (other.sum ?? NO_SUM);
  byId("result-beside").hidden = other === null;
  const { warmup_s: from, duration_s: to } = lab.run.description;
  byId("result-span").textContent = `${words(from)} to ${words(to)} s`;
  hideResult(false);
}

/** Hides or shows the figures of the result and its hash. */
export function hideResult(isHidden = true) {
  for (const id of ["result", "hashes"]) byId(id).hidden = isHidden;
}

export function wireChanges() {
  byId("forget").addEventListener("click", () => {
    lab.setup.changes = [];
    begin({ until: reached() });
  });
}
