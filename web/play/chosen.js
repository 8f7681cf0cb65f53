// The choices in the lists of queues and algorithms, which follow settings and changes.

import { changedAlgorithm, queueInWords, queueKind } from "./bottleneck.js";
import { byId, choose } from "./elements.js";
import { lab } from "./lab.js";

/** Shows the present choices. A list in use keeps its choice unless `spared` is false. */
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
