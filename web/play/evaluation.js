// The report of an evaluation, as the command's reads, and what can be taken away.

import { command } from "./asking.js";
import { field } from "./csv.js";
import { byId, make } from "./elements.js";
import { heatMap, networks, wholePlane } from "./glance.js";
import { savedReport } from "./saved.js";
import { board, ranking, regret, rivals, shares, wins } from "./scoreboard.js";
import { sentences } from "./sentences.js";
import { copy, save } from "./taking.js";

let shown = null;

const hint = (textContent) => make("p", { className: "hint", textContent });
const part = (id, title, ...children) => make("section", { id }, make("h2", { textContent: title }), ...children);

/** What algorithms are called where there is little room: the reader's rule has no name. */
function namesOf({ candidates, ranking: entries }) {
  const rules = new Set([...entries, ...candidates.map(({ label, cc }) => ({ candidate: label, cc }))].filter(({ cc }) => cc.kind === "rule").map(({ candidate }) => candidate));
  return (label) => (rules.has(label) && rules.size === 1 ? "your rule" : label);
}

function failures({ ranking: entries, environments }) {
  const title = (id) => environments.find((each) => each.id === id).title;
  return entries.filter(({ failure }) => failure !== null).map(({ candidate, failure }) =>
    make("p", { className: "failure", textContent: `✕ ${candidate} failed in “${title(failure.environment)}”, replicate ${failure.replicate}: ${failure.message}` }));
}

function made({ document: { build, seed, suite, candidates }, options }) {
  const rows = [
    ["version", `ackclock ${build}`],
    ["suite", `${suite.name}, version ${suite.version}`],
    ["replicates", `${options.replicates}, seed ${seed}`],
  ];
  const list = make("dl", {}, ...rows.map(([name, value]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value }))));
  const algorithms = candidates.map(({ cc }) => make("li", {}, make("code", { textContent: JSON.stringify(cc) })));
  return [list, make("ul", {}, ...algorithms), hint("This command gives the same, and a report with every run over time:"), make("pre", { tabIndex: 0, textContent: command(options) })];
}

function parts(evaluation) {
  const { document: found } = evaluation;
  const nameOf = namesOf(found);
  const named = (label) => make("span", { textContent: nameOf(label), title: label });
  const [best] = found.ranking;
  const several = found.ranking.length > 1;
  const title = make("h2", { id: "verdict-title", tabIndex: -1, textContent: several ? `Best of ${found.ranking.length}: ${nameOf(best.candidate)}` : nameOf(best.candidate) });
  const told = sentences(evaluation).map((sentence) => sentence.replaceAll(best.candidate, nameOf(best.candidate)));
  const beside = shares(evaluation, named);
  return [
    make("section", { id: "glance" }, title, make("p", { className: "verdict", textContent: told.join(" ") }), ...failures(found), make("div", { className: "columns" }, make("div", { id: "map" }, ...heatMap(evaluation, nameOf)), make("div", { id: "plane" }, ...wholePlane(evaluation, nameOf))), make("p", { className: "hint" }, "In detail: ", make("span", { id: "verdict", textContent: found.verdict }))),
    part("ranking", several ? "Ranking" : "Scores", hint("What is lost to the best of the panel, a mean over networks; less is better. In brackets: 95 % intervals." + (several ? " Worse: the paired difference to the best is above zero, with a chance of error of 5 % over all." : "")), ranking(evaluation, named)),
    ...(found.rivals.length > 0 ? [part("rivals", "Is it better than its rivals, and does it starve them?", rivals(evaluation, named), ...(beside === null ? [] : [hint("What part of a fair share the rival gets, by algorithm beside it: ▼ starves (below 0.2), ↓ less than its part, = its part within a fifth, ↑ more."), beside]))] : []),
    part("scoreboard", "Scoreboard", hint(`Means, and ± half of the 95 % interval. ▲ better and ▼ worse than ${found.reference}, where the interval of the paired difference leaves out zero.`), board(evaluation, named)),
    ...(best.score !== null && evaluation.overview.wins[0].length > 0 ? [part("wins", "Where it wins and loses", wins(evaluation, named))] : []),
    part("regret", "Regret", hint(`How far each algorithm is below the best score: ${found.regret_baseline.title} (${found.regret_baseline.algorithms.join(", ")}). Worst case: in the worst network; total: the sum over all. Less is better, below zero is above the best.`), regret(evaluation, named)),
    part("networks", "Networks", ...networks(evaluation, nameOf)),
    part("made", "How this was made", ...made(evaluation)),
  ];
}

/** Shows what came of it. */
export function showEvaluation(evaluation, options) {
  shown = { ...evaluation, options };
  byId("result").replaceChildren(...parts(shown));
  byId("away-state").textContent = "";
  byId("away-text").hidden = true;
  byId("after").hidden = false;
  byId("verdict-title").focus();
}

/** A line for each value: environment, algorithm, metric, replicate. */
function table({ environments }) {
  const lines = environments.flatMap(({ id, scores: rows }) =>
    rows.flatMap(({ candidate, metrics }) => Object.entries(metrics).flatMap(([name, { heading, values }]) => values.map((value, replicate) => [id, candidate, name, heading, replicate, value]))),
  );
  return [["environment", "cc", "metric", "heading", "replicate", "value"], ...lines].map((line) => line.map((each) => field(String(each))).join(",")).join("\n");
}

export function wireTaking() {
  const name = (end) => `evaluation-${shown.options.name}${end}`;
  const title = () => `${shown.document.ranking[0].candidate} – ackclock evaluation`;
  byId("save-report").addEventListener("click", () => save(name(".html"), "text/html", savedReport(byId("result"), title(), shown.document)));
  byId("save-json").addEventListener("click", () => save(name(".json"), "application/json", `${JSON.stringify(shown.document, null, 2)}\n`));
  byId("save-csv").addEventListener("click", () => save(name(".csv"), "text/csv", `${table(shown.document)}\n`));
  byId("copy-command").addEventListener("click", () => copy("Command", command(shown.options)));
}
