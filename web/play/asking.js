// The form of the evaluation page, and the suites that it offers.

import { METRICS, readSuite, suites } from "../evaluate.js";
import { byId, fill, onFile, show } from "./elements.js";
import { make } from "../report/elements.js";
import { oneLine } from "./ruletext.js";
import { quoted } from "./toml.js";

/** Larger files cannot be suites. */
const MOST_BYTES = 64e6;
/** The metrics of a score, in words. */
const SCORES = {
  shares: "all shares",
  efficiency: "efficiency",
  loss_rate: "segments lost",
  queue_delay: "queueing delay",
  jain_index: "Jain's index",
  goodput: "goodput",
  delay_score: "delay score",
  watch: "the watched metric",
};

/** The reader's own suites, by their names in the list. */
const own = new Map();
let known = [];

const linesOf = (id) =>
  byId(id)
    .value.split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
const number = (id) => Number(byId(id).value);

/** The request of the form. Its `name` is the name of the suite. */
export function wanted() {
  const kind = byId("kind").value;
  const name = byId("suite").value;
  const against = linesOf("against");
  return {
    suite: own.get(name) ?? name,
    name: own.get(name)?.name ?? name,
    isOwn: own.has(name),
    cc: kind === "rule" ? [] : linesOf("names"),
    rule: kind === "names" ? [] : [oneLine(byId("rule").value)],
    against: against.length > 0 ? against : undefined,
    metric: byId("metric").value,
    sets: linesOf("sets"),
    replicates: number("replicates"),
    seed: BigInt(byId("seed").value),
    workers: number("workers"),
  };
}

/** The command that does the same. */
export function command({ name, isOwn, cc, rule, against = [], metric, sets, replicates, seed }) {
  const with_ = (option, values) => values.flatMap((value) => [option, quoted(value)]);
  const words = [...cc.map(quoted), ...with_("--rule", rule), "--suite", isOwn ? `FOLDER-OF-${quoted(name)}` : name];
  const more = [
    ...with_("--against", against),
    ...(metric === METRICS[0] ? [] : ["--metric", metric]),
    ...with_("--set", sets),
  ];
  return ["ackclock", "evaluate", ...words, ...more, "--replicates", replicates, "--seed", seed].join(" ");
}

const entries = () => [...known, ...[...own].map(([name, suite]) => ({ ...suite, name }))];

function describe() {
  const { title, replicates, panel } = entries().find(({ name }) => name === byId("suite").value);
  byId("suite-hint").textContent =
    `${title}. Panel: ${panel.map(({ label }) => label).join(", ")}. The full suite uses ${replicates} replicates.`;
}

async function take(file) {
  try {
    if (file.size > MOST_BYTES) throw new Error(`it has ${file.size} bytes, more than ${MOST_BYTES}`);
    const suite = readSuite(await file.text());
    const name = `${suite.name} (${file.name})`;
    own.set(name, suite);
    fill(byId("suite"), entries(), name);
    byId("suite").value = name;
    describe();
    show(null);
    byId("told").textContent = `The suite ${suite.name} was read.`;
  } catch (error) {
    show(`${file.name} cannot be read as a suite: ${error.message}.`);
  }
}

function showKind() {
  byId("rule").hidden = byId("kind").value === "names";
  byId("names-box").hidden = byId("kind").value === "rule";
}

/** Fills the form. Returns false if the suites cannot be read. */
export async function wireForm() {
  byId("workers").value = navigator.hardwareConcurrency || 1;
  byId("metric").replaceChildren(...METRICS.map((value) => make("option", { value, textContent: SCORES[value] })));
  byId("kind").addEventListener("change", showKind);
  showKind();
  onFile(byId("own-suite"), take);
  const found = await suites().catch(() => null);
  if (found === null) return false;
  known = found;
  fill(byId("suite"), known, "core");
  byId("suite").value = "core";
  byId("suite").addEventListener("change", describe);
  describe();
  byId("known").textContent = [...new Set(known.flatMap(({ panel }) => panel.map(({ label }) => label)))].join(", ");
  return true;
}
