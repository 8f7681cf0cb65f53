// The environments of an evaluation: scores, planes, and runs over time.

import { drawn, make } from "../report/elements.js";
import { environment } from "../report/report.js";
import { meanOf, overTime, topOf } from "./overtime.js";

/** Maximal runs with charts over time, in all environments and in one. */
const DRAWN_RUNS = 130;
const DRAWN_AT_MOST = 5;
/** Charts over time of an environment: a row of windows and a row of queues, one algorithm per chart. */
function chartsOf(evaluation, place, nameOf) {
  const { environments } = evaluation.document;
  const { algorithms, reference } = evaluation.overview;
  const most = Math.max(2, Math.min(DRAWN_AT_MOST, Math.floor(DRAWN_RUNS / environments.length)));
  const order = [0, reference, ...algorithms.keys()].filter(
    (at, index, all) => all.indexOf(at) === index && evaluation.curves[place][at] !== null,
  );
  const chosen = order.slice(0, most).sort((one, other) => one - other);
  if (chosen.length === 0) return [];
  const runs = chosen.map((at) => ({ name: nameOf(algorithms[at].label), ...evaluation.curves[place][at] }));
  const { flows, hidden } = runs[0];
  const keys = flows.map((name, at) => make("li", {}, key(at), name));
  const row = (what, unit, linesOf, says) => {
    const top = topOf(runs.map((run) => ({ ...run, lines: linesOf(run) })));
    const charts = runs.map((run) =>
      make(
        "figure",
        {},
        make("figcaption", { textContent: run.name }),
        drawn(
          overTime(
            { ...run, lines: linesOf(run) },
            top,
            `${what} of ${run.name} in ${environments[place].title}: ${says(run)}`,
          ),
        ),
      ),
    );
    return [
      make("h3", { textContent: what }, make("small", { textContent: ` ${unit}` })),
      make("div", { className: "row" }, ...charts),
    ];
  };
  const windows = (run) =>
    run.flows.map((name, at) => `${name} mean ${meanOf(run.cwnd[at]).toFixed(1)} segments`).join(", ");
  return [
    make(
      "ul",
      { className: "keys" },
      ...keys,
      ...(hidden > 0 ? [make("li", { textContent: `and ${hidden} more` })] : []),
    ),
    ...row(
      "Window",
      "segments, first replicate · metrics exclude the shaded warm-up, which may exceed the scale",
      ({ cwnd }) => cwnd,
      windows,
    ),
    ...row(
      "Queue",
      "at the bottleneck, packets",
      ({ queue }) => [queue],
      (run) => `mean ${meanOf(run.queue).toFixed(1)} packets`,
    ),
  ];
}

const key = (at) => drawn(`<svg class="key" viewBox="0 0 26 10"><path class="line c${at} d${at}" d="M0 5H26"/></svg>`);

/** A part for each environment, with its question, its scores, its plane, and its runs over time. */
export function networks(evaluation, options) {
  return evaluation.document.environments.map(({ id, title, question }, place) => {
    const { scores, plane } = environment(evaluation, place, options);
    return make(
      "details",
      { id, className: "network" },
      make("summary", { textContent: title }),
      make("p", { className: "soft", textContent: question }),
      scores,
      ...plane,
      ...chartsOf(evaluation, place, options.nameOf),
    );
  });
}
