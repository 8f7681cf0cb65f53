// Small multiples over time on canvases. A chart draws only new samples unless its scale changes.

import { escaped } from "../report/escaping.js";
import { axisEnd, ceiling, ticks, words } from "./scales.js";

const MARGIN = { left: 52, right: 10, top: 8, bottom: 22 };

/**
 * Colours of flows for light and dark, distinguishable with any kind of colour blindness (`tests/test_colours.py`).
 * Further flows repeat them with dashes.
 */
const COLOURS = {
  light: ["#0072b2", "#d55e00", "#000000", "#6000f0", "#c07878", "#483000", "#301890"],
  dark: ["#56b4e9", "#ff9447", "#ffffff", "#7848f0", "#187860", "#a8c090", "#d8f018"],
};
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

export function styleOf(flow) {
  const colours = COLOURS[isDark() ? "dark" : "light"];
  return { colour: colours[flow % colours.length], dash: DASHES[Math.floor(flow / colours.length) % DASHES.length] };
}

export const theme = () => {
  const style = getComputedStyle(document.documentElement);
  return {
    ink: style.getPropertyValue("--ink"),
    soft: style.getPropertyValue("--soft"),
    line: style.getPropertyValue("--line"),
    warn: style.getPropertyValue("--warn"),
    paper: style.getPropertyValue("--paper"),
    card: style.getPropertyValue("--card"),
  };
};

/** Where a reference line ends: its last value, and whether the axis contains it. */
const endOf = ({ steps, label }, top) => ({
  label: steps.at(-1)[1] <= top ? label : `${label} ↑`,
  value: steps.at(-1)[1],
});

/**
 * One panel. `lines`: a list of {times, count, values, style}. `events`: counts at the times of the first line, each
 * with a shape. `references`: values over time as steps of [time, value], each with a label, dashed if it belongs to A.
 */
export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.top = 0;
    /** Samples of each line that are drawn. */
    this.drawn = [];
    this.lines = [];
    this.events = [];
    this.references = [];
    this.reset(1);
  }

  reset(duration) {
    this.duration = duration;
    this.top = 0;
    this.drawn = [];
    this.stale = true;
  }

  /** Fits the canvas to its place and the screen's pixels. */
  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    if (this.width === clientWidth && this.height === clientHeight && this.ratio === ratio) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = ratio;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.stale = true;
  }

  x(time) {
    return MARGIN.left + (time / this.duration) * (this.width - MARGIN.left - MARGIN.right);
  }

  y(value) {
    const bottom = this.height - MARGIN.bottom;
    return bottom - (Math.min(value, this.top) / this.top) * (bottom - MARGIN.top);
  }

  /** Draws the new samples. The axis ends at `limit`, and a mark shows each stretch above it. */
  draw(limit) {
    this.fit();
    const top = axisEnd(limit * 1.02);
    const key = JSON.stringify([this.references, this.lines.map(({ revision }) => revision)]);
    this.stale ||= key !== this.key;
    this.key = key;
    if (
      top !== this.top ||
      this.stale ||
      this.lines.length !== this.drawn.length ||
      this.lines.some(({ count }, index) => count < this.drawn[index])
    ) {
      this.top = top;
      this.drawn = this.lines.map(() => 0);
      this.stale = false;
      this.axes();
      for (const reference of this.references) this.reference(reference);
    }
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (this.events.length > 0) {
      const { warn, ink } = theme();
      const [{ times, count }] = this.lines;
      for (const { counts, mark } of this.events)
        this.mark(times, counts, Math.max(1, this.drawn[0]), count, mark, mark === "drop" ? warn : ink);
    }
    this.lines.forEach((line, index) => {
      if (line.count > this.drawn[index])
        this.line(line.times, line.values, Math.max(0, this.drawn[index] - 1), line.count, line.style);
      this.drawn[index] = line.count;
    });
    this.labels();
  }

  /** A reference line, from its first value to the right edge. */
  reference({ steps, dash = [5, 4] }) {
    const context = this.context;
    context.strokeStyle = theme().soft;
    context.lineWidth = 1.2;
    context.setLineDash(dash);
    context.lineDashOffset = 0;
    context.beginPath();
    let isOn = false;
    steps.forEach(([from, value], index) => {
      const to = steps[index + 1]?.[0] ?? this.duration;
      if (value > this.top) {
        isOn = false;
        return;
      }
      context[isOn ? "lineTo" : "moveTo"](this.x(from), this.y(value));
      context.lineTo(this.x(to), this.y(value));
      isOn = true;
    });
    context.stroke();
  }

  /** The labels of the reference lines, above their right ends. */
  labels() {
    const context = this.context;
    const { soft, card } = theme();
    context.setLineDash([]);
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = card;
    context.fillStyle = soft;
    let free = Infinity;
    const ends = this.references.filter(({ label }) => label).map((reference) => endOf(reference, this.top));
    for (const { label, value } of ends.sort((one, other) => one.value - other.value)) {
      const above = this.y(value) - 8;
      const y = Math.min(above < MARGIN.top + 6 ? this.y(value) + 9 : above, free);
      free = y - 13;
      context.strokeText(label, this.width - MARGIN.right - 2, y);
      context.fillText(label, this.width - MARGIN.right - 2, y);
    }
  }

  axes() {
    const context = this.context;
    const { soft, line } = theme();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = soft;
    context.strokeStyle = line;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(this.top)) {
      const y = Math.round(this.y(value)) + 0.5;
      context.beginPath();
      context.moveTo(MARGIN.left, y);
      context.lineTo(this.width - MARGIN.right, y);
      context.stroke();
      context.fillText(words(value), MARGIN.left - 6, y);
    }
    context.textBaseline = "top";
    const every = ceiling(this.duration / Math.max(2, Math.min(8, this.width / 80)));
    for (let time = 0; time <= this.duration * 1.0001; time += every) {
      const isLast = time > this.duration * 0.97;
      context.textAlign = time === 0 ? "left" : isLast ? "right" : "center";
      context.fillText(
        `${words(time)}${time === 0 ? " s" : ""}`,
        isLast ? this.width - 2 : this.x(time),
        this.height - MARGIN.bottom + 6,
      );
    }
  }

  line(times, values, from, count, style) {
    const context = this.context;
    context.strokeStyle = style.colour;
    context.lineWidth = style.width ?? 1.6;
    context.setLineDash(style.dash);
    context.lineDashOffset = style.dash.length > 0 ? this.x(times[from]) : 0;
    context.lineJoin = "round";
    context.beginPath();
    let isOn = false;
    for (let index = from; index < count; index += 1) {
      const value = values[index];
      if (!Number.isFinite(value)) {
        isOn = false;
      } else if (isOn) {
        context.lineTo(this.x(times[index]), this.y(value));
      } else {
        context.moveTo(this.x(times[index]), this.y(value));
        isOn = true;
      }
    }
    context.stroke();
    this.clipped(times, values, from, count, style.colour);
  }

  /** Arrows at the upper edge where a line exceeds the axis. */
  clipped(times, values, from, count, colour) {
    const context = this.context;
    context.setLineDash([]);
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.beginPath();
    for (let index = from; index < count; index += 1) {
      if (!(values[index] > this.top) || values[index - 1] > this.top) continue;
      const x = Math.max(this.x(times[index]), MARGIN.left + 4);
      context.moveTo(x - 3.5, MARGIN.top - 1);
      context.lineTo(x, MARGIN.top - 6);
      context.lineTo(x + 3.5, MARGIN.top - 1);
    }
    context.stroke();
  }

  /** A triangle at dropped packets, and a ring at marked packets. */
  mark(times, counts, from, count, shape, colour) {
    const context = this.context;
    context.setLineDash([]);
    context.fillStyle = colour;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    let last = -Infinity;
    for (let index = from; index < count; index += 1) {
      if (!(counts[index] > counts[index - 1])) continue;
      const x = this.x(times[index]);
      if (x - last < 2) continue;
      last = x;
      context.beginPath();
      if (shape === "drop") {
        context.moveTo(x - 3.5, MARGIN.top - 6);
        context.lineTo(x + 3.5, MARGIN.top - 6);
        context.lineTo(x, MARGIN.top + 1);
        context.fill();
      } else {
        context.arc(x, MARGIN.top + 6, 2.5, 0, 7);
        context.stroke();
      }
    }
  }
}

/** The panels as one SVG file, in the colours of light pages. `panels`: {title, lines, limit, references}. */
export function svg(panels, duration, legend, name) {
  const [width, height, gap] = [760, 200, 34];
  const parts = [];
  panels.forEach(({ title, lines, limit, references }, panel) => {
    const base = 40 + panel * (height + gap);
    const top = axisEnd(limit * 1.02);
    const x = (time) => (60 + (time / duration) * (width - 80)).toFixed(1);
    const y = (value) => (base + height - (Math.min(value, top) / top) * height).toFixed(1);
    parts.push(`<text x="60" y="${base - 8}" font-weight="bold">${escaped(title)}</text>`);
    for (const value of ticks(top))
      parts.push(
        `<path d="M60 ${y(value)}H${width - 20}" stroke="#ddd"/>` +
          `<text x="54" y="${y(value)}" dy="4" text-anchor="end">${words(value)}</text>`,
      );
    for (const { steps, label } of references.filter((one) => one.label)) {
      const path = steps
        .map(([from, value], index) =>
          value > top ? "" : `M${x(from)} ${y(value)}H${x(steps[index + 1]?.[0] ?? duration)}`,
        )
        .join("");
      const end = endOf({ steps, label }, top);
      const above = Number(y(end.value)) - 5;
      if (path !== "") parts.push(`<path d="${path}" fill="none" stroke="#666" stroke-dasharray="5 4"/>`);
      parts.push(
        `<text x="${width - 22}" y="${above < base + 8 ? above + 17 : above}" text-anchor="end" fill="#555" ` +
          `font-size="11">${escaped(end.label)}</text>`,
      );
    }
    for (const { times, count, values, svgStyle } of lines) {
      const step = Math.max(1, Math.floor(count / 1500));
      let path = "";
      let above = "";
      let isOn = false;
      for (let index = 0; index < count; index += step) {
        if (values[index] > top && !(values[index - step] > top))
          above += `M${x(times[index])} ${base - 6}l-3 5m3 -5l3 5`;
        if (!Number.isFinite(values[index])) {
          isOn = false;
          continue;
        }
        path += `${isOn ? "L" : "M"}${x(times[index])} ${y(values[index])}`;
        isOn = true;
      }
      parts.push(
        `<path d="${path}" fill="none" stroke="${svgStyle.colour}" stroke-width="1.4" stroke-dasharray="` +
          `${svgStyle.dash.join(" ") || "none"}"/>`,
      );
      if (above !== "") parts.push(`<path d="${above}" fill="none" stroke="${svgStyle.colour}" stroke-width="1.4"/>`);
    }
    if (panel === panels.length - 1)
      for (const value of ticks(ceiling(duration)).filter((time) => time <= duration))
        parts.push(`<text x="${x(value)}" y="${base + height + 16}" text-anchor="middle">${words(value)} s</text>`);
  });
  const bottom = 40 + panels.length * (height + gap) + 10;
  legend.forEach(({ label, style }, index) => {
    const [left, row] = [60 + (index % 4) * 170, bottom + 18 * Math.floor(index / 4)];
    parts.push(
      `<path d="M${left} ${row}h22" stroke="${style.colour}" stroke-width="2" stroke-dasharray="` +
        `${style.dash.join(" ") || "none"}"/><text x="${left + 28}" y="${row + 4}">${escaped(label)}</text>`,
    );
  });
  const total = bottom + 18 * Math.ceil(legend.length / 4) + 10;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="sans-serif" ` +
    `font-size="12"><title>${escaped(name)}</title><rect width="100%" height="100%" fill="#fff"/>` +
    `${parts.join("")}</svg>\n`
  );
}

/** The style of a flow on light pages. */
export const lightStyle = (flow) => ({
  colour: COLOURS.light[flow % COLOURS.light.length],
  dash: DASHES[Math.floor(flow / COLOURS.light.length) % DASHES.length],
});
