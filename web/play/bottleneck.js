// The bottleneck as the text, the settings and the live changes define it.

import { lab, now } from "./lab.js";

/** Where the keys of the bottleneck are. */
export const base = () => (lab.run.resolved.topology ? "topology" : `links.${lab.run.description.bottleneck}`);

export const bottleneckKeys = () =>
  lab.run.resolved.topology ?? lab.run.resolved.links?.[lab.run.description.bottleneck] ?? {};
export const bottleneck = () => lab.run.description.links.find(({ name }) => name === lab.run.description.bottleneck);
export const firstRtt = () => lab.run.description.flows.find(({ base_rtt_s: rtt }) => rtt !== null)?.base_rtt_s ?? null;
export const delayFor = (rtt) => Math.max(0, bottleneck().delay_s + (rtt - firstRtt()) / 2);

/** The last change of this kind to a link or a group of flows up to now. */
export const lastChange = (kind, index) =>
  lab.setup.changes.findLast((change) => change.kind === kind && change.index === index && change.at <= now());

/** The value that it gave. */
export const changed = (kind, index) => lastChange(kind, index)?.value;

/** The queue of the bottleneck in words: its kind, its limit, its parameters. */
export const queueInWords = () => lab.queues.findLast(({ at }) => at <= now())?.words ?? bottleneck()?.queue ?? "";

/** Its kind. */
export function queueKind() {
  const value = changed("queue", lab.run.link);
  return value?.kind ?? value ?? bottleneckKeys().queue?.kind ?? "drop-tail";
}

/** The name of the algorithm that a change gave to a group of flows. A rule is a table. */
export const changedAlgorithm = (group) => {
  const value = changed("algorithm", group);
  return value?.kind ?? value;
};
