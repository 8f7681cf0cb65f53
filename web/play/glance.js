// An evaluation at a glance: every environment and algorithm by the score or a metric, and throughput against delay.

import { make } from "./elements.js";
import { meanOf, overTime, topOf } from "./overtime.js";
import { plane } from "./plane.js";

const SIGNS = { better: "▲", worse: "▼", open: "·", reference: "=", none: "", failed: "✕" };
const WORDS = {
  better: "better",
  worse: "worse",
  open: "no significant difference",
  reference: "the reference",
  none: "does not apply",
  failed: "failed",
};
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
/** Maximal runs with charts over time, in all environments and in one. */
const DRAWN_RUNS = 130;
const DRAWN_AT_MOST = 5;
const ELLIPSES = "the ellipses show the 95 % intervals of the means on both axes";

/** A drawing from its text, without a line of HTML. */
function drawn(svg) {
  return document.importNode(
    new DOMParser().parseFromString(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '), "image/svg+xml")
      .documentElement,
    true,
  );
}

const figure = (caption, more, svg) =>
  make(
    "figure",
    {},
    make("figcaption", { textContent: caption }, make("small", { textContent: ` ${more}` })),
    drawn(svg),
  );

/** The figures of a cell in all maps, in words. */
const figuresOf = ({ maps }, place, at) =>
  maps
    .map(({ cells }) => cells[place][at].text)
    .filter(Boolean)
    .join("; ");

/** The heat map. Its cells are buttons that show their figures, and arrow keys move between them. */
export function heatMap({ document: { environments, reference }, overview }, nameOf) {
  const { maps, algorithms } = overview;
  const buttons = environments.map(() => algorithms.map(() => make("button", { type: "button", tabIndex: -1 })));
  const told = make("p", {
    id: "cell",
    className: "hint cell",
    textContent: "Choose a cell for its figures. Arrow keys move between cells.",
  });
  told.setAttribute("aria-live", "polite");
  let map = maps[0];
  const showMap = () =>
    buttons.forEach((row, place) =>
      row.forEach((button, at) => {
        const { judgement } = map.cells[place][at];
        button.className = judgement;
        button.title = `${algorithms[at].label}: ${figuresOf(overview, place, at)}`;
        button.replaceChildren(
          make("span", { textContent: SIGNS[judgement], ariaHidden: "true" }),
          make("span", { className: "hidden", textContent: WORDS[judgement] }),
        );
      }),
    );
  const choose = (place, at) => {
    for (const button of buttons.flat()) button.setAttribute("aria-pressed", button === buttons[place][at]);
    const title = make("b", {
      textContent:
        `${nameOf(algorithms[at].label)} in “${environments[place].title}”: ` +
        `${WORDS[map.cells[place][at].judgement]}. `,
    });
    told.replaceChildren(title, `${figuresOf(overview, place, at)}.`);
  };
  buttons.forEach((row, place) =>
    row.forEach((button, at) => {
      button.addEventListener("click", () => choose(place, at));
      button.addEventListener("focus", () =>
        buttons.flat().forEach((other) => (other.tabIndex = other === button ? 0 : -1)),
      );
      button.addEventListener("keydown", (event) => {
        const [down, right] = STEPS[event.key] ?? [];
        if (down === undefined) return;
        event.preventDefault();
        buttons[place + down]?.[at + right]?.focus();
      });
    }),
  );
  buttons[0][0].tabIndex = 0;
  const by = make(
    "select",
    { id: "heat-by" },
    ...maps.map(({ name, heading }, at) =>
      make("option", { value: at, textContent: name === "score" ? "the score" : heading }),
    ),
  );
  by.addEventListener("change", () => {
    map = maps[by.value];
    showMap();
  });
  showMap();
  const heads = algorithms.map(({ label }, at) =>
    make(
      "th",
      { scope: "col", className: at === overview.reference ? "soft" : "" },
      make("span", { title: label, textContent: nameOf(label) }),
    ),
  );
  const rows = environments.map(({ title }, place) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", textContent: title }),
      ...buttons[place].map((button) => make("td", {}, button)),
    ),
  );
  const table = make(
    "table",
    { id: "heat" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, make("span", { className: "hidden", textContent: "environment" })),
        ...heads,
      ),
    ),
    make("tbody", {}, ...rows),
  );
  const wide = make("div", { className: "wide" }, table);
  const caption = make("p", {
    className: "hint",
    textContent:
      `Compared with ${reference}: ▲ better, ▼ worse, · no significant difference, = the reference. Each cell ` +
      "uses its own 95 % interval, without correction.",
  });
  return [
    make("p", { className: "by" }, make("label", { textContent: "By ", htmlFor: "heat-by" }), by),
    caption,
    wide,
    told,
  ];
}

/** All environments together in the plane of throughput and delay. Nothing is drawn if an algorithm failed in each. */
export function wholePlane({ overview: { plane: spots } }, nameOf) {
  if (spots.length === 0) return [];
  const named = spots.map((spot) => ({ ...spot, name: nameOf(spot.name) }));
  return [
    figure(
      "Utilisation against queueing delay",
      `means over environments, ${ELLIPSES}`,
      plane(named, "utilisation, %", "all environments"),
    ),
  ];
}

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

/** A part for each environment, with its question, its plane, and its runs over time. */
export function networks(evaluation, nameOf) {
  return evaluation.document.environments.map(({ id, title, question }, place) => {
    const spots = evaluation.overview.planes[place].map((spot) => ({ ...spot, name: nameOf(spot.name) }));
    const parts =
      spots.length > 0
        ? [figure("Goodput against queueing delay", ELLIPSES, plane(spots, "goodput, Mbit/s", title))]
        : [];
    return make(
      "details",
      { id: `network-${id}`, className: "network" },
      make("summary", { textContent: title }),
      make("p", { className: "hint", textContent: question }),
      ...parts,
      ...chartsOf(evaluation, place, nameOf),
    );
  });
}
