// The map of environments and algorithms, by the score or a metric. A selected cell shows its figures below it.

import { again, field, figure, make, unseen } from "./elements.js";
import { estimateText, intervalText } from "./figures.js";
import { SIGNS, WORDS } from "./words.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
/** The least part of a cell's colour, so that small effects stay visible. */
const PALEST = 0.35;

/** The figures of a cell in all maps, in words. */
const figuresOf = (maps, place, at) =>
  maps
    .map(({ cells }) => cells[place][at].text)
    .filter(Boolean)
    .join("; ");

function csvOf(maps, environments, algorithms, commands) {
  const rows = maps.flatMap(({ heading, digits, cells }) =>
    cells.flatMap((row, place) =>
      row.map(({ judgement, value, difference }, at) =>
        [
          environments[place].title,
          algorithms[at].label,
          heading,
          WORDS[judgement],
          value === null ? "" : estimateText(value, digits),
          difference === null ? "" : intervalText(difference, digits),
          commands?.names[place][at] ?? "",
        ]
          .map(field)
          .join(","),
      ),
    ),
  );
  return ["environment,algorithm,by,judgement,value,difference_to_reference,command", ...rows].join("\n");
}

/** Puts a text below a cell, within the map. */
function putBelow(told, button, within) {
  told.hidden = false;
  const [cell, frame] = [button.getBoundingClientRect(), within.getBoundingClientRect()];
  told.style.top = `${cell.bottom - frame.top + 6}px`;
  const left = Math.min(cell.left - frame.left, frame.width - told.offsetWidth);
  told.style.left = `${Math.max(0, left)}px`;
}

/** The map. Its cells are buttons, between which arrow keys move. */
export function map({ document: { suite, environments, reference }, overview }, { nameOf, commands, saves, linkOf }) {
  const { maps, algorithms } = overview;
  const buttons = environments.map(() => algorithms.map(() => make("button", { type: "button", tabIndex: -1 })));
  const told = make("div", { id: "cell", className: "told", hidden: true });
  told.setAttribute("role", "status");
  let shown = maps[0];
  const showMap = () =>
    buttons.forEach((row, place) =>
      row.forEach((button, at) => {
        const { judgement, mark, effect } = shown.cells[place][at];
        button.className = mark;
        button.style.setProperty("--effect", String(PALEST + (1 - PALEST) * (effect ?? 1)));
        button.replaceChildren(
          make("span", { textContent: SIGNS[mark], ariaHidden: "true" }),
          unseen(mark === "small" ? `slightly ${WORDS[judgement]}` : WORDS[judgement]),
        );
      }),
    );
  const close = () => {
    told.hidden = true;
    for (const button of buttons.flat()) button.setAttribute("aria-pressed", "false");
  };
  const choose = (place, at) => {
    close();
    buttons[place][at].setAttribute("aria-pressed", "true");
    const title = make("b", {
      textContent:
        `${nameOf(algorithms[at].label)} in “${environments[place].title}”: ` +
        `${WORDS[shown.cells[place][at].judgement]}. `,
    });
    const figures = figuresOf(maps, place, at);
    const more =
      commands === null
        ? []
        : [again(commands.of(commands.names[place][at]), commands.names[place][at], commands.runsHere)];
    told.replaceChildren(title, figures === "" ? "" : `${figures}. `, ...more);
    putBelow(told, buttons[place][at], within);
  };
  addEventListener("resize", close);
  document.addEventListener("click", ({ target }) => {
    if (!within.contains(/** @type {Node} */ (target))) close();
  });
  buttons.forEach((row, place) =>
    row.forEach((button, at) => {
      button.addEventListener("click", () => choose(place, at));
      button.addEventListener("focus", () => {
        for (const other of buttons.flat()) other.tabIndex = other === button ? 0 : -1;
      });
      button.addEventListener("keydown", (event) => {
        if (event.key === "Escape") close();
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
    close();
    shown = maps[by.value];
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
  const rows = environments.map(({ id, title, fixed }, place) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, linkOf(id, fixed ? `${title} (fixed)` : title)),
      ...buttons[place].map((button) => make("td", {}, button)),
    ),
  );
  const table = make(
    "table",
    { id: "heat", className: "heat", ariaLabel: `Better, worse or not significant: environments by ${suite.subject}` },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, unseen("environment")), ...heads)),
    make("tbody", {}, ...rows),
  );
  const within = make("div", { className: "map" }, make("div", { className: "scroll", tabIndex: -1 }, table), told);
  const choice = make("p", { className: "by" }, make("label", { textContent: "by ", htmlFor: "heat-by" }), by);
  const csv = () => csvOf(maps, environments, algorithms, commands);
  const more =
    `compared with ${nameOf(reference)}: ▲ better, ▼ worse, • below 1 % of the metric, · no significant difference. ` +
    "A stronger colour is a larger difference. Each cell uses its own 95 % interval, without correction";
  return figure({ name: "heat-map", caption: `Environments and ${suite.subject}s`, more, csv, saves }, choice, within);
}
