// The settings next to the charts: queue, seed, algorithms and the user's own rule.

import { base, changed } from "./bottleneck.js";
import { showChosen } from "./chosen.js";
import { reseed } from "./compare.js";
import { byId, fill, lineButton, seldom } from "./elements.js";
import { make } from "../report/elements.js";
import { isMidway, lab, set, setsOf } from "./lab.js";
import { firstRule } from "./ruletext.js";
import { showSliders } from "./sliders.js";

const isChoice = (entry) => !(entry.parameters ?? []).some(({ required }) => required);

export function fillQueues() {
  fill(byId("queue"), lab.lists.queue.filter(isChoice));
}

export function showSettings() {
  if (lab.run === null) return;
  showSliders();
  if (document.activeElement !== byId("seed")) byId("seed").value = lab.run.seed;
  showGroups();
  showChosen({ spared: false });
  showSets();
}

/** Shows how many settings the button reverts. */
function showSets() {
  const sets = setsOf(lab.setup);
  byId("write").disabled = sets.length === 0;
  byId("write").textContent =
    sets.length === 0 ? "Revert to text" : `Revert ${sets.length} setting${sets.length > 1 ? "s" : ""} to text`;
  byId("write").title = sets.map((one) => (one.length > 200 ? `${one.slice(0, 200)} …` : one)).join("\n");
}

function showGroups() {
  const flows = lab.run.resolved.flows;
  const names = flows.map(({ name }) => name);
  const box = byId("groups");
  if (box.dataset.names !== JSON.stringify(names)) {
    box.dataset.names = JSON.stringify(names);
    box.replaceChildren(
      ...flows.map(({ name }, index) => {
        const select = make("select", { id: `cc-${index}` });
        fill(
          select,
          lab.lists.cc.filter((entry) => isChoice(entry)),
        );
        select.addEventListener("change", () => {
          if (select.value === "rule") tryRule(index);
          else if (isMidway()) lab.simulator.tell("change", { kind: "algorithm", index, value: select.value });
          else set({ [`flows.${index}.cc`]: select.value });
        });
        return make("div", { className: "control" }, make("label", { htmlFor: select.id, textContent: name }), select);
      }),
    );
    byId("rule-group").replaceChildren(
      ...names.map((name, index) => make("option", { value: index, textContent: name })),
    );
  }
  flows.forEach(({ cc }, index) => {
    byId(`cc-${index}`).disabled = cc === undefined || cc === null;
  });
}

/** Applies another queue, with the limit that the user set. A run under way changes its queue now. */
function useQueue() {
  const kind = byId("queue").value;
  const limit = lab.setup.sets.get(`${base()}.queue.limit`);
  if (!isMidway()) {
    set({ [`${base()}.queue`]: kind, ...(limit === undefined ? {} : { [`${base()}.queue.limit`]: limit }) });
    return;
  }
  const packets = changed("limit", lab.run.link);
  const own = packets === undefined ? limit?.replaceAll('"', "") : `${packets} packets`;
  lab.simulator.tell("change", {
    kind: "queue",
    index: lab.run.link,
    value: own === undefined ? kind : { kind, limit: own },
  });
}

/** Tries the text of the rule box as the algorithm of a group of flows. */
function tryRule(index) {
  byId("rule-box").open = true;
  if (index !== undefined) byId("rule-group").value = index;
  lab.simulator.tell("rule", { text: byId("rule").value });
}

/**
 * Gives a group of flows a rule. A run under way switches now. `value` is the rule as TOML, `table` the same rule as a
 * tree.
 */
function follow(index, value, table) {
  const key = `flows.${index}.cc`;
  const isSet = lab.setup.sets.get(key) === value;
  if (!isMidway()) {
    if (!isSet) set({ [key]: value });
    return;
  }
  const is = changed("algorithm", index);
  const isSame = is === undefined ? isSet : JSON.stringify(is) === JSON.stringify(table);
  if (!isSame) lab.simulator.tell("change", { kind: "algorithm", index, value: table });
}

/** Applies a rule that the worker has read, or shows its mistake. */
export function ruleRead({ value, table, message, line }) {
  byId("rule-state").replaceChildren(...(line ? [lineButton(byId("rule"), line), " "] : []), message ?? "");
  byId("rule").setAttribute("aria-invalid", String(message !== undefined));
  if (value !== undefined) follow(Number(byId("rule-group").value), value, table);
}

export function wireSettings() {
  byId("evaluate").addEventListener("click", () => {
    byId("evaluate").href = `evaluate.html#${encodeURIComponent(byId("rule").value)}`;
  });
  byId("queue").addEventListener("change", useQueue);
  byId("seed").addEventListener("change", () => {
    const seed = byId("seed").value;
    if (!/^\d{1,19}$/.test(seed)) return;
    set({ seed });
    reseed(seed);
  });
  byId("rule").value = firstRule;
  byId("rule").addEventListener(
    "input",
    seldom(300, () => tryRule()),
  );
}
