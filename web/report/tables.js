// The tables of an evaluation: ranking, competitors and their shares, wins and losses, all metrics, regret.

import { make, unseen } from "./elements.js";
import { estimateText, general, intervalText } from "./figures.js";

const MARKS = { better: ["▲", "better"], worse: ["▼", "worse"] };
const STANDINGS = {
  best: "best",
  tied: "not significantly worse than the best",
  worse: "worse than the best",
  dropped: "worse, dropped early",
  failed: "failed",
};
const LEFT = {
  starved: "▼ starved",
  "maybe-starved": "▼ possibly starved",
  harmed: "▼ harmed",
  "maybe-harmed": "▼ possibly harmed",
};
const BETTER = {
  higher: "more is better",
  lower: "less is better",
  "near-one": "1 is best",
  "reach-one": "1 is enough",
};
const COMMON = ["efficiency", "loss_rate", "queue_delay", "jain_index"];

/** A cell with a link to an environment, or an empty one. */
const linked = (linkOf, environments, id) => {
  const found = environments.find((each) => each.id === id);
  return make("td", {}, found === undefined ? "" : linkOf(id, found.title));
};

/** A cell. Figures are aligned to the right, and words to the left. */
const cell = (textContent, className = "n", ...more) => make("td", { textContent, className }, ...more);
const words = (textContent) => cell(textContent, "");

function table(label, heads, bodies) {
  const head = make(
    "thead",
    {},
    make("tr", {}, ...heads.map(([textContent, className]) => make("th", { textContent, scope: "col", className }))),
  );
  const made = make("div", { className: "scroll", tabIndex: 0, ariaLabel: label }, make("table", {}, head, ...bodies));
  made.setAttribute("role", "region");
  return made;
}

const row = (label, cells, className = "") => make("tr", { className }, make("th", { scope: "row" }, label), ...cells);
const group = (textContent, columns) =>
  make("tr", { className: "group" }, make("th", { textContent, scope: "rowgroup", colSpan: columns }));

function marked(text, judgement) {
  const [sign, word] = MARKS[judgement] ?? [];
  if (sign === undefined) return cell(text);
  return cell(
    text,
    `n ${judgement}`,
    make("span", { className: "mark", textContent: ` ${sign}`, ariaHidden: "true" }),
    unseen(` ${word}`),
  );
}

/** The candidates by score, followed by the panel. */
export function ranking(
  { document: { suite, ranking: entries, panel, score, environments }, overview: { digits } },
  { named, linkOf },
) {
  const figures = ({ score: mean, low, high }) => (mean === null ? "" : intervalText({ mean, low, high }, digits));
  const several = entries.length > 1;
  const line = (entry) =>
    row(
      named(entry.candidate),
      [
        ...(several ? [cell(String(entry.rank ?? "")), words(STANDINGS[entry.standing] ?? "")] : []),
        cell(figures(entry)),
        cell(String(entry.replicates)),
        linked(linkOf, environments, entry.worst),
      ],
      entry.rank === 1 ? "ours" : "",
    );
  const rest = panel.filter(({ candidate }) => entries.every((entry) => entry.candidate !== candidate));
  const heads = [
    [suite.subject, ""],
    ...(several
      ? [
          ["rank", "n"],
          ["standing", ""],
        ]
      : []),
    [`${score.heading}, less is better`, "n"],
    ["replicates", "n"],
    ["worst environment", ""],
  ];
  const bodies = [
    make("tbody", {}, ...entries.map(line)),
    ...(rest.length > 0 ? [make("tbody", {}, group("panel", heads.length), ...rest.map(line))] : []),
  ];
  return table(several ? "Ranking" : "Scores", heads, bodies);
}

/** The comparison of the best candidate with each competitor. */
export function rivals({ document: { competitors: found, environments }, overview: { digits } }, { named, linkOf }) {
  const line = ({ competitor, difference, judgement, delay_ratio, beside: [worst] }) =>
    row(named(competitor), [
      marked(difference === null ? "" : intervalText(difference, digits), judgement),
      cell(delay_ratio === null ? "" : `${delay_ratio.toFixed(2)} ×`),
      cell(
        worst === undefined ? "" : shareText(worst.share),
        LEFT[worst?.band] ? "n worse" : "n",
        ...(LEFT[worst?.band] ? [make("span", { className: "mark", textContent: ` ${LEFT[worst.band]}` })] : []),
      ),
      linked(linkOf, environments, worst?.environment),
    ]);
  const heads = [
    ["competitor", ""],
    ["score difference, below 0 is better", "n"],
    ["delay ratio to the competitor", "n"],
    ["its fair-share ratio, 1 is fair", "n"],
    ["worst in", ""],
  ];
  return table("Competitors", heads, [make("tbody", {}, ...found.map(line))]);
}

const shareText = (share) => intervalText(share, 2);

/** The fair-share ratio of each competitor against each algorithm, or null without competitors. */
export function shares({ document: { environments, candidates }, overview: { shares: met } }, { named, linkOf }) {
  if (met.length === 0) return null;
  const line = ({ competitor, environment, shares: found }) => {
    const part = ({ share, part: name }) =>
      cell(`${PARTS[name]} ${shareText(share)}`, name === "starved" ? "n worse" : "n");
    return row(named(competitor), [linked(linkOf, environments, environment), ...found.map(part)]);
  };
  return table(
    "Fair-share ratios of competitors",
    [["competitor", ""], ["environment", ""], ...candidates.map(({ label }) => [named(label).textContent, "n"])],
    [make("tbody", {}, ...met.map(line))],
  );
}

/** The sign of a fair-share ratio. */
const PARTS = { starved: "▼", less: "↓", fair: "=", more: "↑" };

/** The wins and losses of the first algorithm against each other one, sorted by contribution to its score. */
export function wins(
  {
    document: {
      ranking: [best],
      environments,
      candidates,
    },
    overview: { wins: found, digits },
  },
  { named },
) {
  const others = candidates.slice(1, 1 + found[0].length);
  const short = (labels) => labels.map((label) => label.replace(/ of a fair share$/, "")).join(", ");
  const part = ({ better, worse }) =>
    words(
      [better.length > 0 ? `▲ ${short(better)}` : "", worse.length > 0 ? `▼ ${short(worse)}` : ""]
        .filter(Boolean)
        .join(" "),
    );
  const lines = environments.map(({ id, title }, place) => ({
    title,
    score: best.environments[id].score,
    parts: found[place],
  }));
  lines.sort((one, other) => other.score - one.score);
  const rows = lines.map(({ title, score, parts }) => row(title, [cell(score.toFixed(digits)), ...parts.map(part)]));
  return table(
    "Wins and losses",
    [
      ["environment", ""],
      ["score contribution", "n"],
      ...others.map(({ label }) => [`against ${named(label).textContent}`, ""]),
    ],
    [make("tbody", {}, ...rows)],
  );
}

/** All metrics of all environments. */
export function board({ document: { suite, environments }, overview: { metrics } }, { named }) {
  const heads = COMMON.map((name) => metrics.flat().find((metric) => metric.name === name)).filter(Boolean);
  const groups = environments.map(({ title: plain, fixed, scores }, place) => {
    const title = fixed ? `${plain} (fixed)` : plain;
    const watch = metrics[place].find(({ name }) => name === "watch");
    const told =
      watch === undefined
        ? title
        : `${title} (watched: ${[watch.label, watch.unit].filter(Boolean).join(" ")}, ${BETTER[watch.better]})`;
    const lines = scores.map(({ candidate, metrics: found }, at) => {
      const figures = [...heads.map(({ name }) => name), "watch"].map((name) => {
        const metric = metrics[place].find((each) => each.name === name);
        return metric === undefined
          ? cell("")
          : marked(estimateText(found[name], metric.digits), found[name].judgement);
      });
      return row(named(candidate), figures, at === 0 ? "ours" : "");
    });
    return make("tbody", {}, group(told, heads.length + 2), ...lines);
  });
  const headings = heads.map(({ label, unit, better }) => [
    `${[label, unit].filter(Boolean).join(" ")}, ${BETTER[better]}`,
    "n",
  ]);
  return table("Scoreboard", [[suite.subject, ""], ...headings, ["watched metric", "n"]], groups);
}

/** The distance of each algorithm to the best score. */
export function regret(
  { document: { suite, regrets, environments }, overview: { maps, metrics: scored } },
  { named, linkOf },
) {
  const names = Object.keys(regrets[0].metrics).sort((one, other) => order(maps, one) - order(maps, other));
  const bodies = names.map((name) => {
    const { digits } = scored.flat().find((metric) => metric.name === name);
    const { heading, noise_floor: floor } = regrets[0].metrics[name];
    const told =
      floor === null
        ? heading
        : `${heading} (noise floor of the worst case ${general(Number(floor.worst_case_high.toFixed(digits)), 6)})`;
    const lines = regrets.map(({ candidate, metrics }, at) => {
      const { worst_case: most, total, worst } = metrics[name];
      const cells = [
        cell(intervalText(most, digits)),
        cell(intervalText(total, digits)),
        linked(linkOf, environments, worst),
      ];
      return row(named(candidate), cells, at === 0 ? "ours" : "");
    });
    return make("tbody", {}, group(told, 4), ...lines);
  });
  return table(
    "Regret",
    [
      [suite.subject, ""],
      ["worst case", "n"],
      ["total", "n"],
      ["worst in", ""],
    ],
    bodies,
  );
}

/** The place of a metric in the order of the heat maps. Metrics without one are last. */
const order = (maps, name) => (maps.findIndex((map) => map.name === name) + maps.length + 1) % (maps.length + 1);

/** The scores of all algorithms in one environment. */
export function scores({ document: { suite, environments }, overview: { metrics } }, place, { named }) {
  const { scores: rows, title } = environments[place];
  const heads = metrics[place].map(({ label, unit }) => [[label, unit].filter(Boolean).join(" "), "n"]);
  const lines = rows.map(({ candidate, metrics: found }, at) => {
    const figures = metrics[place].map(({ name, digits }) =>
      marked(estimateText(found[name], digits), found[name].judgement),
    );
    return row(named(candidate), figures, at === 0 ? "ours" : "");
  });
  return table(`Scores in ${title}`, [[suite.subject, ""], ...heads], [make("tbody", {}, ...lines)]);
}
