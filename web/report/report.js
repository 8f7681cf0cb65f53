// The parts of an evaluation's report. The command's file, the live page and notebooks show them.

import { again, drawn, figure, make } from "./elements.js";
import { map } from "./map.js";
import { plane, planeCsv } from "./plane.js";
import { board, ranking, regret, rivals, scores, shares, wins } from "./tables.js";
import { verdict } from "./tiles.js";

export { again };

const ELLIPSES = "ellipses show the 95 % intervals of the means on both axes";

const hint = (textContent) => make("p", { className: "soft", textContent });

/** Throughput against delay of all algorithms, in all environments or in one. */
function planeOf(spots, { name, caption, more, label, title }, { nameOf, saves }) {
  if (spots.length === 0) return [];
  const named = spots.map((spot) => ({ ...spot, name: nameOf(spot.name) }));
  const csv = () => planeCsv(named);
  return [figure({ name, caption, more: `${more}${ELLIPSES}`, csv, saves }, drawn(plane(named, label, title)))];
}

/** The map, and all environments together in the plane of throughput and delay. */
function glance(evaluation, options) {
  const told = {
    name: "throughput-delay",
    caption: "Utilisation against queueing delay",
    more: "means over environments, geometric for delays; ",
    label: "utilisation, %",
    title: "all environments",
  };
  return [
    make(
      "div",
      { className: "glance" },
      map(evaluation, options),
      make("div", { className: "beside" }, ...planeOf(evaluation.overview.plane, told, options)),
    ),
  ];
}

function competitors(evaluation, options) {
  const met = shares(evaluation, options);
  return [
    rivals(evaluation, options),
    ...(met === null
      ? []
      : [
          hint(
            "Fair-share ratio of each competitor, by the algorithm that it competes with: ▼ starved (below 0.2), " +
              "↓ below its fair share, = within 20 %, ↑ above.",
          ),
          met,
        ]),
  ];
}

/** The parts by name. Each function returns elements. */
export const PARTS = {
  verdict,
  glance,
  competitors,
  ranking: (evaluation, options) => [
    hint(
      "Mean regret over all environments, with 95 % intervals in brackets. Less is better." +
        (evaluation.document.ranking.length > 1
          ? " Worse: significantly worse than the best (family-wise error 5 %)."
          : ""),
    ),
    ranking(evaluation, options),
  ],
  scoreboard: (evaluation, options) => [
    hint(
      `Means, and ± half of the 95 % interval. ▲ better and ▼ worse than ${evaluation.document.reference}, where ` +
        "the interval of the paired difference excludes zero.",
    ),
    board(evaluation, options),
  ],
  wins: (evaluation, options) =>
    evaluation.document.ranking[0].score === null || evaluation.overview.wins[0].length === 0
      ? []
      : [wins(evaluation, options)],
  regret: (evaluation, options) => {
    const { regret_baseline, suite } = evaluation.document;
    const { title, algorithms } = regret_baseline;
    return [
      hint(
        `Distance of each ${suite.subject} from the best score: ${title} (${algorithms.join(", ")}). ` +
          "Worst case: the worst environment. Total: the sum over all environments. Less is better. " +
          "A negative regret beats the best.",
      ),
      regret(evaluation, options),
    ];
  },
};

/** Scores of an environment, and its plane of goodput and delay. */
export function environment(evaluation, place, options) {
  const { id, title } = evaluation.document.environments[place];
  const told = {
    name: `${id}-throughput-delay`,
    caption: "Goodput against queueing delay",
    more: "",
    label: "goodput, Mbit/s",
    title,
  };
  return {
    scores: scores(evaluation, place, options),
    plane: planeOf(evaluation.overview.planes[place], told, options),
  };
}

/**
 * Options of a report.
 *
 * - `nameOf`: the displayed name of an algorithm.
 * - `linkOf`: a link to the part of an environment.
 * - `commands`: `of(name)` returns the command of a cell, and `names` the name of each cell. Null without commands.
 * - `saves`: whether the page can save figures.
 */
export function optionsOf({ nameOf = (label) => label, linkOf, commands = null, saves = false }) {
  const named = (label) => make("span", { textContent: nameOf(label), title: label });
  return { nameOf, named, linkOf, commands, saves };
}
