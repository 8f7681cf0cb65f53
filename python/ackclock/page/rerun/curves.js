// Draws curves over time of a stored run and of a rerun, on the same axes.

import { ceiling, ticks, words } from "ackclock/play/scales.js";
import { svg } from "./elements.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [400, 170, 42, 12, 8, 22];
/** The number of colours of a page. */
const COLOURS = 6;

/** A line with the first, the smallest, the largest and the last point of each pixel column. */
function path({ times, values }, across, up) {
  const strokes = [];
  let column = null;
  const close = () => {
    if (column === null) return;
    for (const value of new Set([column.first, column.least, column.most, column.last]))
      strokes.push(`${column.x} ${up(value).toFixed(1)}`);
  };
  times.forEach((time, index) => {
    const [x, value] = [Math.round(across(time)), values[index]];
    if (column?.x !== x) {
      close();
      column = { x, first: value, least: value, most: value, last: value };
    }
    Object.assign(column, { least: Math.min(column.least, value), most: Math.max(column.most, value), last: value });
  });
  close();
  return strokes.length > 0 ? `M${strokes.join("L")}` : "";
}

/**
 * One drawing. `sides`: lists of curves, each {kind, curves}. `names`: the curves with colours. `end`: the end of the
 * time axis in seconds.
 */
export function drawing(title, sides, names, end) {
  const most = Math.max(
    0,
    ...sides.flatMap(({ curves }) =>
      curves.map(({ values }) => values.reduce((top, value) => Math.max(top, value), 0)),
    ),
  );
  const top = ceiling(1.02 * most);
  const across = (time) => LEFT + (time / end) * (WIDTH - LEFT - RIGHT);
  const up = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const every = ceiling(end / 6);
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
  for (const value of ticks(top)) {
    drawn.append(
      svg("path", { class: "grid", d: `M${LEFT} ${up(value).toFixed(1)}H${WIDTH - RIGHT}` }),
      svg("text", { x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }, words(value)),
    );
  }
  for (let time = 0; time <= end * 1.0001; time += every) {
    drawn.append(
      svg(
        "text",
        { x: across(time).toFixed(1), y: HEIGHT - 6, "text-anchor": "middle" },
        `${words(time)}${time === 0 ? " s" : ""}`,
      ),
    );
  }
  for (const { kind, curves } of sides) {
    for (const curve of curves)
      drawn.append(
        svg(
          "path",
          { class: `line ${kind} c${names.indexOf(curve.name) % COLOURS}`, d: path(curve, across, up) },
          svg("title", {}, `${curve.name}, ${kind}`),
        ),
      );
  }
  return drawn;
}

/** The numbers of a drawing. */
export function csv(sides) {
  const rows = sides.flatMap(({ kind, curves }) =>
    curves.flatMap(({ name, times, values }) =>
      [...times].map((time, index) => `${kind},${JSON.stringify(name)},${time},${values[index]}`),
    ),
  );
  return ["run,name,time_s,value", ...rows].join("\n");
}
