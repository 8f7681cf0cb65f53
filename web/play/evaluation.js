// What came of an evaluation: verdict, networks by algorithms, tables, and what can be taken away.

import { field } from "./csv.js";
import { byId, make } from "./elements.js";
import { plane } from "./plane.js";
import { copy, save } from "./taking.js";
import { quoted } from "./toml.js";

const SIGNS = { better: "▲", worse: "▼", "": "·" };
const WORDS = { better: "better", worse: "worse", "": "cannot tell" };
const MARKS = { better: " +", worse: " −", "": "" };
/** Digits of metrics; others have three. */
const DIGITS = { efficiency: 2, loss_rate: 2, queue_delay: 1 };

let shown = null;

/** What an algorithm is called where there is little room. */
const short = (label, at) => (at === 0 && shown.options.rule !== undefined ? "your rule" : label);

const columns = (names) => make("thead", {}, make("tr", {}, ...names.map((textContent, at) => make("th", { textContent, scope: "col", className: at === 0 ? "" : "n" }))));
const rowOf = (head, cells) => make("tr", {}, make("th", { textContent: head, scope: "row" }), ...cells);
const interval = ({ mean, low, high }, digits) => (low === null ? mean.toFixed(digits) : `${mean.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`);

function heat({ document, overview }) {
  const labels = document.candidates.map(({ label }) => label);
  const cell = (found, label) => {
    const isReference = label === document.reference;
    const told = isReference ? "the reference" : WORDS[found.judgement];
    const sign = make("span", { textContent: isReference ? "=" : SIGNS[found.judgement], ariaHidden: "true" });
    const title = `${label}: ${told}; adds ${found.score.toFixed(3)} to the score${found.difference === null ? "" : `, ${interval(found.difference, 3)} more than ${document.reference}`}`;
    return make("td", { className: isReference ? "" : found.judgement, title }, sign, make("span", { className: "hidden", textContent: told }));
  };
  const rows = document.environments.map(({ title }, place) => rowOf(title, overview.cells[place].map((found, at) => cell(found, labels[at]))));
  const head = columns(["network", ...labels.map(short)]);
  for (const one of head.querySelectorAll(".n")) one.className = "";
  byId("heat").replaceChildren(head, make("tbody", {}, ...rows));
}

function scores({ ranking, panel, score }) {
  byId("score-hint").textContent = `${score.heading}: what is lost to the best of the panel, a mean over networks; less is better; in brackets: 95 % intervals.`;
  const own = ranking[0];
  const rows = [own, ...panel.filter(({ candidate }) => candidate !== own.candidate)].map(({ candidate, score: mean, low, high, worst }) =>
    rowOf(candidate === own.candidate ? short(candidate, 0) : candidate, [make("td", { className: "n", textContent: interval({ mean, low, high }, 3) }), make("td", { className: "n", textContent: worst })]),
  );
  byId("scores").replaceChildren(columns(["algorithm", score.heading, "most in"]), make("tbody", {}, ...rows));
}

function figure(name, found) {
  if (found === undefined) return "";
  const digits = DIGITS[name] ?? 3;
  const half = found.low === null ? "" : ` ±${((found.high - found.low) / 2).toFixed(digits)}`;
  return `${found.mean.toFixed(digits)}${half}${MARKS[found.judgement]}`;
}

function board({ environments }) {
  const names = ["efficiency", "loss_rate", "queue_delay", "jain_index", "watch"];
  const headings = names.map((name) => environments.flatMap(({ scores: rows }) => rows.map(({ metrics }) => metrics[name]?.heading)).find(Boolean));
  const groups = environments.map(({ title, scores: rows }) => {
    const watched = rows[0].metrics.watch?.heading;
    const head = make("tr", {}, make("th", { textContent: watched === undefined ? title : `${title} (watched: ${watched})`, scope: "rowgroup", colSpan: names.length + 1 }));
    const lines = rows.map(({ candidate, metrics }, at) => rowOf(short(candidate, at), names.map((name) => make("td", { className: "n", textContent: figure(name, metrics[name]) }))));
    return make("tbody", {}, head, ...lines);
  });
  byId("board").replaceChildren(columns(["algorithm", ...headings.slice(0, -1), "watched metric"]), ...groups);
}

/** Shows what came of it. */
export function showEvaluation(evaluation, options) {
  const { document: found } = evaluation;
  shown = { ...evaluation, options };
  byId("verdict").textContent = found.verdict;
  byId("reference").textContent = found.reference;
  heat(evaluation);
  byId("plane").replaceChildren(plane(found.candidates.map(({ label }, at) => ({ label: short(label, at), isOwn: at === 0, ...evaluation.overview.plane[at] }))));
  scores(found);
  board(found);
  byId("away-state").textContent = "";
  byId("away-text").hidden = true;
  byId("result").hidden = false;
  byId("verdict-title").focus();
}

/** A line for each value: environment, algorithm, metric, replicate. */
function table({ environments }) {
  const lines = environments.flatMap(({ id, scores: rows }) =>
    rows.flatMap(({ candidate, metrics }) => Object.entries(metrics).flatMap(([name, { heading, values }]) => values.map((value, replicate) => [id, candidate, name, heading, replicate, value]))),
  );
  return [["environment", "cc", "metric", "heading", "replicate", "value"], ...lines].map((line) => line.map((each) => field(String(each))).join(",")).join("\n");
}

function command({ suite, cc, rule, replicates, seed }) {
  const algorithm = rule === undefined ? quoted(cc.trim()) : `--rule ${quoted(rule)}`;
  return `ackclock evaluate ${algorithm} --suite ${suite} --replicates ${replicates} --seed ${seed}`;
}

export function wireTaking() {
  const name = (end) => `evaluation-${shown.options.suite}${end}`;
  byId("save-json").addEventListener("click", () => save(name(".json"), "application/json", `${JSON.stringify(shown.document, null, 2)}\n`));
  byId("save-csv").addEventListener("click", () => save(name(".csv"), "text/csv", `${table(shown.document)}\n`));
  byId("copy-command").addEventListener("click", () => copy("Command", command(shown.options)));
}
