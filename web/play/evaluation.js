// The report of an evaluation, worded like the command's report, and its exports.

import { command } from "./asking.js";
import { field } from "./csv.js";
import { byId, make } from "./elements.js";
import { heatMap, networks, wholePlane } from "./glance.js";
import { savedReport } from "./saved.js";
import { board, ranking, regret, rivals, shares, wins } from "./scoreboard.js";
import { copy, save } from "./taking.js";

let shown = null;

const hint = (textContent) => make("p", { className: "hint", textContent });
const part = (id, title, ...children) => make("section", { id }, make("h2", { textContent: title }), ...children);

/** Short names of algorithms. The reader's only rule is called “your rule”. */
function namesOf({ candidates, ranking: entries }) {
  const rules = new Set(
    [...entries, ...candidates.map(({ label, cc }) => ({ candidate: label, cc }))]
      .filter(({ cc }) => cc.kind === "rule")
      .map(({ candidate }) => candidate),
  );
  return (label) => (rules.has(label) && rules.size === 1 ? "your rule" : label);
}

function failures({ ranking: entries, environments }) {
  const title = (id) => environments.find((each) => each.id === id).title;
  return entries
    .filter(({ failure }) => failure !== null)
    .map(({ candidate, failure }) =>
      make("p", {
        className: "failure",
        textContent:
          `✕ ${candidate} failed in “${title(failure.environment)}”, replicate ${failure.replicate}: ` +
          `${failure.message}`,
      }),
    );
}

function made({ document: { build, seed, suite, candidates }, options }) {
  const rows = [
    ["version", `ackclock ${build}`],
    ["suite", `${suite.name}, version ${suite.version}`],
    ["replicates", `${options.replicates}, seed ${seed}`],
  ];
  const list = make(
    "dl",
    {},
    ...rows.map(([name, value]) =>
      make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value })),
    ),
  );
  const algorithms = candidates.map(({ cc }) => make("li", {}, make("code", { textContent: JSON.stringify(cc) })));
  return [
    list,
    make("ul", {}, ...algorithms),
    hint("This command gives the same results and a report with every run over time:"),
    make("pre", { tabIndex: 0, textContent: command(options) }),
  ];
}

function parts(evaluation) {
  const { document: found } = evaluation;
  const nameOf = namesOf(found);
  const named = (label) => make("span", { textContent: nameOf(label), title: label });
  const [best] = found.ranking;
  const several = found.ranking.length > 1;
  const title = make("h2", {
    id: "verdict-title",
    tabIndex: -1,
    textContent: several ? `Best of ${found.ranking.length}: ${nameOf(best.candidate)}` : nameOf(best.candidate),
  });
  const told = evaluation.overview.summary.sentences.map((sentence) =>
    sentence.replaceAll(best.candidate, nameOf(best.candidate)),
  );
  const beside = shares(evaluation, named);
  return [
    make(
      "section",
      { id: "glance" },
      title,
      make("p", { className: "verdict", textContent: told.join(" ") }),
      ...failures(found),
      make(
        "div",
        { className: "columns" },
        make("div", { id: "map" }, ...heatMap(evaluation, nameOf)),
        make("div", { id: "plane" }, ...wholePlane(evaluation, nameOf)),
      ),
      make("p", { className: "hint" }, "In detail: ", make("span", { id: "verdict", textContent: found.verdict })),
    ),
    part(
      "ranking",
      several ? "Ranking" : "Scores",
      hint(
        "Mean regret over all environments, with 95 % intervals in brackets. Less is better." +
          (several ? " Worse: significantly worse than the best (family-wise error 5 %)." : ""),
      ),
      ranking(evaluation, named),
    ),
    ...(found.competitors.length > 0
      ? [
          part(
            "competitors",
            "Competitors: score and fairness",
            rivals(evaluation, named),
            ...(beside === null
              ? []
              : [
                  hint(
                    "Fair-share ratio of each competitor, by the algorithm that it competes with: ▼ starved " +
                      "(below 0.2), ↓ below its fair share, = within 20 %, ↑ above.",
                  ),
                  beside,
                ]),
          ),
        ]
      : []),
    part(
      "scoreboard",
      "Scoreboard",
      hint(
        `Means, and ± half of the 95 % interval. ▲ better and ▼ worse than ${found.reference}, where the ` +
          "interval of the paired difference excludes zero.",
      ),
      board(evaluation, named),
    ),
    ...(best.score !== null && evaluation.overview.wins[0].length > 0
      ? [part("wins", "Wins and losses", wins(evaluation, named))]
      : []),
    part(
      "regret",
      "Regret",
      hint(
        `Distance of each algorithm from the best score: ${found.regret_baseline.title} (` +
          `${found.regret_baseline.algorithms.join(", ")}). Worst case: the worst environment. Total: the sum ` +
          "over all environments. Less is better, and a negative regret is better than the best.",
      ),
      regret(evaluation, named),
    ),
    part("networks", "Environments", ...networks(evaluation, nameOf)),
    part("made", "Provenance", ...made(evaluation)),
  ];
}

/** Shows an evaluation. */
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
    rows.flatMap(({ candidate, metrics }) =>
      Object.entries(metrics).flatMap(([name, { heading, values }]) =>
        values.map((value, replicate) => [id, candidate, name, heading, replicate, value]),
      ),
    ),
  );
  return [["environment", "cc", "metric", "heading", "replicate", "value"], ...lines]
    .map((line) => line.map((each) => field(String(each))).join(","))
    .join("\n");
}

export function wireTaking() {
  const name = (end) => `evaluation-${shown.options.name}${end}`;
  const title = () => `${shown.document.ranking[0].candidate} – ackclock evaluation`;
  byId("save-report").addEventListener("click", () =>
    save(name(".html"), "text/html", savedReport(byId("result"), title(), shown.document)),
  );
  byId("save-json").addEventListener("click", () =>
    save(name(".json"), "application/json", `${JSON.stringify(shown.document, null, 2)}\n`),
  );
  byId("save-csv").addEventListener("click", () => save(name(".csv"), "text/csv", `${table(shown.document)}\n`));
  byId("copy-command").addEventListener("click", () => copy("Command", command(shown.options)));
}
