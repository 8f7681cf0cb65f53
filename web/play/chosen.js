// What the lists of queues and algorithms show: what is in force, by settings and by changes.

import { changedAlgorithm, queueInWords, queueKind } from "./bottleneck.js";
import { byId, choose } from "./elements.js";
import { lab } from "./lab.js";

/** Shows it; a list that is being used stays as it is, unless it is not to be `spared`. */
export function showChosen({ spared = true } = {}) {
  if (lab.run === null) return;
  const show = (id, name) => {
    const list = byId(id);
    if (list.value !== name && !(spared && document.activeElement === list)) choose(list, name);
  };
  show("queue", queueKind());
  byId("queue").title = queueInWords();
  lab.run.resolved.flows.forEach(({ cc }, index) => {
    if (cc) show(`cc-${index}`, changedAlgorithm(index) ?? cc.kind);
  });
}
