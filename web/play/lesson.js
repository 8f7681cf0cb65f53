// A lesson as Markdown, and the figures that it expects.
//
// A file in `lessons` is Markdown: a title, text, the scenario as TOML, and a table of changes. A row contains a
// change, its settings, a figure of the result, and the expected range. A row without a change belongs to the row
// above.

const UNITS = { "": 1, "%": 0.01, ms: 1e-3, s: 1, "Mbit/s": 1e6 };
const SCENARIO = /^```toml\n(.*?)^```$/ms;
const TABLE = /^\|.*\|$(?:\n^\|.*\|$)*/m;

const codes = (cell) => Array.from(cell.matchAll(/`([^`]+)`/g), (match) => match[1]);

/** A figure with its expected range, from two cells. */
function expectation(figure, expected) {
  const [, least, most, unit] = /^([\d.]+) to ([\d.]+) ?(\S*)$/.exec(expected);
  return {
    label: figure.replace(/`[^`]+`/, "").trim(),
    figure: codes(figure)[0],
    least: Number(least),
    most: Number(most),
    unit,
  };
}

function changes(table) {
  const steps = [];
  for (const line of table.split("\n").slice(2)) {
    const [label, settings, figure, expected] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (label !== "") steps.push({ label, sets: codes(settings), expectations: [] });
    steps.at(-1).expectations.push(expectation(figure, expected));
  }
  return steps;
}

/** Title, scenario, text before and after the changes, and the changes. */
export function parsed(text) {
  const [, title, rest] = /^# (.*)\n([\s\S]*)$/.exec(text);
  const scenario = SCENARIO.exec(rest)[1];
  const [before, after] = rest.replace(SCENARIO, "").split(TABLE);
  return { title, scenario, before, after, steps: changes(TABLE.exec(rest)[0]) };
}

/** A place in the result of a run, such as `flows.late.goodput_bps`. Named items are found by name. */
const at = (document, path) =>
  path
    .split(".")
    .reduce((part, key) => (Array.isArray(part) ? part.find(({ name }) => name === key) : part?.[key]), document);

/** The value of a figure in the result, in the expected unit. A figure is a place, or the quotient of two places. */
export function measured(document, { figure, unit }) {
  const [value, divisor = 1] = figure.split(" / ").map((path) => at(document, path));
  return value / divisor / UNITS[unit];
}
