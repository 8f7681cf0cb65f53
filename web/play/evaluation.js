// The report of an evaluation, worded like the command's report, and its exports.

import { command } from "./asking.js";
import { field } from "./csv.js";
import { byId } from "./elements.js";
import { make } from "../report/elements.js";
import { optionsOf, PARTS } from "../report/report.js";
import { networks } from "./environments.js";
import { savedReport } from "./saved.js";
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
  const [best] = found.ranking;
  const several = found.ranking.length > 1;
  const options = optionsOf({ nameOf: namesOf(found), linkOf });
  const of = (name) => PARTS[name](evaluation, options);
  const title = make("h2", {
    id: "verdict-title",
    tabIndex: -1,
    textContent: several
      ? `Best of ${found.ranking.length}: ${options.nameOf(best.candidate)}`
      : options.nameOf(best.candidate),
  });
  const folded = (id, textContent, ...children) =>
    make("details", { id, className: "fold" }, make("summary", {}, make("h2", { textContent })), ...children);
  return [
    make("section", { id: "glance" }, title, ...of("verdict"), ...of("glance")),
    ...(several ? [part("ranking", "Ranking", ...of("ranking"))] : []),
    ...(found.competitors.length > 0 ? [part("competitors", "Competitors", ...of("competitors"))] : []),
    part("networks", "Environments", ...networks(evaluation, options)),
    ...(several ? [] : [folded("ranking", "Scores", ...of("ranking"))]),
    folded("scoreboard", "Scoreboard", ...of("scoreboard")),
    folded("wins", "Wins and losses", ...of("wins")),
    folded("regret", "Regret", ...of("regret")),
    part(
      "made",
      "Provenance",
      make("p", {}, "In detail: ", make("span", { id: "verdict", textContent: found.verdict })),
      ...made(evaluation),
    ),
  ];
}

/** A link that opens the part of an environment. */
function linkOf(id, textContent) {
  const link = make("a", { href: `#${id}`, textContent });
  link.addEventListener("click", () => {
    /** @type {any} */ (document.getElementById(id)).open = true;
  });
  return link;
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
