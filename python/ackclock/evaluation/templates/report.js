// Draws the charts of a report from its embedded data. A card is one environment, whose charts share the time
// range and the cursor. Charts are built when they come near the screen, and all open ones before printing.
"use strict";

const PLOT_HEIGHT = 150;
const root = document.documentElement;
// The width of a printed chart is its part of the sheet, less the gap.
const PRINTED = { width: Math.floor(690 / Number(root.style.getPropertyValue("--columns"))) - 8, height: 125 };
const paper = matchMedia("(prefers-color-scheme: dark)");

// Twice the pixels of a plain screen keep lines sharp on paper. uPlot reads the ratio from this property.
const screenRatio = devicePixelRatio;
Object.defineProperty(window, "devicePixelRatio", { get: () => Math.max(2, screenRatio), configurable: true });

// --- Colours of the style sheet, for canvases -----------------------------------------------------------------

const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);
const known = new Map();

function colour(name) {
  if (!known.has(name)) {
    probe.style.color = `var(--${name})`;
    known.set(name, getComputedStyle(probe).color);
  }
  return known.get(name);
}

// --- Parts of every evaluation ------------------------------------------------------------------------------

const { heat } = reportData;

// A link opens the card of an environment before it leads there, so that its place is known.
const linkOf = (id, textContent) => Object.assign(document.createElement("a"), { href: `#${id}`, textContent });

const { again, environment: partsOf, optionsOf, PARTS } = entry;
const options = optionsOf({
  linkOf,
  commands: {
    names: heat.names,
    of: (name) => {
      const at = heat.command.lastIndexOf("CELL");
      return heat.command.slice(0, at) + name + heat.command.slice(at + 4);
    },
    runsHere: heat.runs_here,
  },
  saves: true,
});
for (const slot of document.querySelectorAll("[data-part]"))
  slot.replaceWith(...PARTS[/** @type {HTMLElement} */ (slot).dataset.part](reportData.evaluation, options));
for (const slot of document.querySelectorAll("[data-scores]")) {
  const place = Number(/** @type {HTMLElement} */ (slot).dataset.scores);
  const { scores, plane } = partsOf(reportData.evaluation, place, options);
  slot.replaceWith(scores);
  document.querySelector(`[data-plane="${place}"]`).replaceWith(...plane);
}

// --- Cards --------------------------------------------------------------------------------------------------

const cards = reportData.environments.map((environment) => ({
  environment,
  element: document.getElementById(environment.id),
  range: [0, environment.duration_s],
  plots: [], // uPlot charts
  phases: [], // phase plots, with functions that draw a range and mark a time
}));

function setRange(card, low, high) {
  const end = card.environment.duration_s;
  const span = Math.min(end, Math.max(end / 100, high - low));
  const start = Math.min(Math.max(0, low), end - span);
  card.range = [start, start + span];
  for (const plot of card.plots) plot.setScale("x", { min: start, max: start + span });
  for (const phase of card.phases) phase.draw();
}

function zoom(card, how) {
  const [low, high] = card.range;
  const span = high - low;
  const middle = (low + high) / 2;
  if (how === "in") setRange(card, middle - span / 4, middle + span / 4);
  if (how === "out") setRange(card, middle - span, middle + span);
  if (how === "earlier") setRange(card, low - span / 2, high - span / 2);
  if (how === "later") setRange(card, low + span / 2, high + span / 2);
  if (how === "whole") setRange(card, 0, card.environment.duration_s);
}

function markTime(card, time) {
  for (const phase of card.phases) phase.mark(time);
}

// --- Kinds of charts ----------------------------------------------------------------------------------------

const line = (label, flow, more = {}) => ({
  label,
  stroke: () => colour(`c${flow}`),
  width: 1.3,
  points: { show: false },
  ...more,
});
const capacityLine = () => ({
  label: "available",
  stroke: () => colour("soft"),
  width: 1,
  dash: [5, 4],
  points: { show: false },
});
const number = (value, digits) => (value == null ? "–" : value.toFixed(digits));

// A chart of windows with this many flows is split into one strip per flow.
const STRIPS_FROM = 3;
const STRIP_HEIGHT = 62;

// Each kind returns `data` (columns, starting with time) and `lines` (one per further column). `top` is the end of
// the scale. `read` returns texts by flow, and `beside` a text for all flows.
const KINDS = {
  cwnd: (environment, run, only) => {
    const flows = run.flows.map((_, flow) => flow).filter((flow) => only == null || flow === only);
    return {
      data: [run.x, ...flows.map((flow) => run.cwnd[flow]), ...flows.map((flow) => run.ssthresh[flow])],
      lines: [
        ...flows.map((flow) => line(run.flows[flow], flow)),
        ...flows.map((flow) => line(`${run.flows[flow]} ssthresh`, flow, { width: 0.8, dash: [4, 4], alpha: 0.7 })),
      ],
      flows,
      top: environment.tops.cwnd,
      read: (at) =>
        flows.map((flow) => {
          const ssthresh = run.ssthresh[flow][at];
          return number(run.cwnd[flow][at], 1) + (ssthresh == null ? "" : ` / ${number(ssthresh, 1)}`);
        }),
      says: () => flows.map((flow) => `${run.flows[flow]} mean ${mean(run.cwnd[flow]).toFixed(1)} segments`),
      after: (plot) => {
        for (const flow of flows) drawTimeouts(plot, run.timeouts[flow], colour(`c${flow}`));
      },
    };
  },
  rtt: (environment, run) => ({
    data: [run.x, ...run.rtt],
    lines: run.flows.map((name, flow) => line(name, flow)),
    top: environment.tops.rtt,
    read: (at) => run.flows.map((_, flow) => number(run.rtt[flow][at], 1)),
    says: () => run.flows.map((name, flow) => `${name} mean ${mean(run.rtt[flow]).toFixed(1)} ms`),
  }),
  throughput: (environment, run) => ({
    data: [run.bins, ...run.throughput, ...(run.capacity ? [run.capacity] : [])],
    lines: [...run.flows.map((name, flow) => line(name, flow)), ...(run.capacity ? [capacityLine()] : [])],
    top: environment.tops.throughput,
    read: (at) => run.flows.map((_, flow) => number(run.throughput[flow][at], 2)),
    beside: (at) => (run.capacity ? `of ${number(run.capacity[at], 2)}` : ""),
    says: () => run.flows.map((name, flow) => `${name} mean ${mean(run.throughput[flow]).toFixed(2)} Mbit/s`),
    after: (plot) => {
      if (!run.capacity) drawLevel(plot, environment.capacity_mbps);
    },
  }),
  queue: (environment, run) => ({
    data: [run.x, run.queue],
    lines: [line("queue", 5, { width: 0.9, fill: () => `color-mix(in srgb, ${colour("c5")} 14%, transparent)` })],
    top: environment.tops.queue,
    read: (at) => [number(run.queue[at], 0)],
    says: () => [`mean ${mean(run.queue).toFixed(1)} packets`],
  }),
  jain: (_environment, run) => ({
    data: [run.bins, run.jain],
    lines: [line("Jain's index", 5)],
    top: 1,
    read: (at) => [number(run.jain[at], 3)],
    says: () => [`mean ${mean(run.jain).toFixed(3)}`],
  }),
};

function mean(values) {
  const found = values.filter((value) => value != null);
  return found.length ? found.reduce((sum, value) => sum + value, 0) / found.length : 0;
}

// --- Charts over time ---------------------------------------------------------------------------------------

function inside(plot, draw) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx, bbox);
  ctx.restore();
}

function shadeWarmup(plot, until) {
  inside(plot, (ctx, box) => {
    const left = plot.valToPos(0, "x", true);
    ctx.fillStyle = colour("wash");
    ctx.fillRect(left, box.top, plot.valToPos(until, "x", true) - left, box.height);
  });
}

function drawTimeouts(plot, times, fill) {
  const size = 4 * uPlot.pxRatio;
  inside(plot, (ctx, box) => {
    ctx.fillStyle = fill;
    for (const time of times) {
      const x = plot.valToPos(time, "x", true);
      ctx.beginPath();
      ctx.moveTo(x - size * 0.8, box.top);
      ctx.lineTo(x + size * 0.8, box.top);
      ctx.lineTo(x, box.top + size * 1.5);
      ctx.fill();
    }
  });
}

function drawLevel(plot, value) {
  inside(plot, (ctx, box) => {
    const y = plot.valToPos(value, "y", true);
    ctx.strokeStyle = colour("soft");
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([5 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(box.left, y);
    ctx.lineTo(box.left + box.width, y);
    ctx.stroke();
  });
}

function axis(more) {
  const rule = { stroke: () => colour("rule"), width: 1 };
  return {
    stroke: () => colour("soft"),
    font: "11px system-ui, sans-serif",
    grid: rule,
    ticks: { ...rule, size: 4 },
    gap: 3,
    ...more,
  };
}

function timeChart(card, figure, kind, run, only = null) {
  const { environment } = card;
  const chart = KINDS[kind](environment, run, only);
  const read = figure.querySelector(".read");
  const drawing = figure.querySelectorAll(".plot")[only ?? 0];
  const height = only == null ? PLOT_HEIGHT : STRIP_HEIGHT;
  const isLast = only == null || only === run.flows.length - 1;
  const plot = new uPlot(
    {
      width: drawing.clientWidth,
      height: height + (isLast && only != null ? 20 : 0),
      legend: { show: false },
      padding: [8, 16, 0, 0],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
        // Only the cursor is synchronised by uPlot. The card synchronises the zoom.
        sync: { key: environment.id, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
        bind: { dblclick: () => () => zoom(card, "whole") },
      },
      scales: { x: { time: false, range: () => card.range }, y: { range: () => [0, chart.top] } },
      axes: [
        axis({
          size: isLast ? 24 : 2,
          space: 55,
          values: (_, splits) =>
            splits.map((at, index) => (!isLast ? "" : index === splits.length - 1 ? `${at} s` : `${at}`)),
        }),
        axis({ size: 38, space: only == null ? 30 : 22 }),
      ],
      series: [{}, ...chart.lines],
      hooks: {
        drawClear: [(self) => shadeWarmup(self, environment.warmup_s)],
        draw: [(self) => chart.after?.(self)],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < 3) return;
            self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            setRange(card, self.posToVal(left, "x"), self.posToVal(left + width, "x"));
          },
        ],
        setCursor: [
          (self) => {
            const at = self.cursor.left < 0 ? null : self.cursor.idx;
            markTime(card, at == null ? null : self.data[0][at]);
            if (only == null || only === 0) {
              const whole = only == null ? chart : KINDS[kind](environment, run);
              read.replaceChildren(
                ...(at == null ? [] : readOut(self.data[0][at], whole.read(at), whole.beside?.(at))),
              );
            }
          },
        ],
      },
    },
    chart.data,
    drawing,
  );
  drawing.setAttribute(
    "aria-label",
    `${kind} of ${figure.dataset.label} in ${environment.title}: ${chart.says().join(", ")}`,
  );
  plot.usual = plot.height;
  card.plots.push(plot);
  figure.charts = [...(figure.charts ?? []), chart];
  new ResizeObserver(() => {
    const width = drawing.clientWidth;
    if (width && width !== plot.width && !root.classList.contains("printing"))
      plot.setSize({ width, height: plot.height });
  }).observe(drawing);
}

function readOut(time, texts, beside = "") {
  /** @type {(string | Node)[]} */
  const parts = [`${time.toFixed(1)} s `];
  texts.forEach((text, flow) => {
    if (texts.length > 1) parts.push(swatch(flow));
    parts.push(`${text}  `);
  });
  if (beside) parts.push(beside);
  return parts;
}

function swatch(flow) {
  const mark = document.createElement("i");
  mark.style.background = `var(--c${flow})`;
  return mark;
}

// --- The phase plot, a small square SVG ---------------------------------------------------------------------

function phasePlot(card, figure, run) {
  const { environment } = card;
  const { names, x, y, part } = run.phase;
  const size = 300,
    left = 40,
    bottom = 34,
    right = 8,
    up = 8;
  const top = environment.tops.phase;
  const across = (value) => left + (value / top) * (size - left - right);
  const down = (value) => size - bottom - (value / top) * (size - bottom - up);
  const together = part * environment.capacity_mbps;
  const clip = `clip-${environment.id}-${environment.runs.indexOf(run)}`;
  const label = (x, y, anchor, text) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`;
  const ticks = [0, top / 2, top].map((tick) => {
    const text = Number(tick.toPrecision(3));
    const below = label(across(tick), size - bottom + 14, tick === top ? "end" : "middle", text);
    return below + label(left - 5, down(tick) + 4, "end", text);
  });
  const box = `x="${left}" y="${up}" width="${size - left - right}" height="${size - bottom - up}"`;
  const segment = (from, to) => `M${across(from[0])} ${down(from[1])}L${across(to[0])} ${down(to[1])}`;
  const guide = segment([0, 0], [top, top]) + segment([0, together], [together, 0]);
  const drawing = figure.querySelector(".plot");
  drawing.classList.add("square");
  drawing.innerHTML = `<svg viewBox="0 0 ${size} ${size}" aria-hidden="true">
    <clipPath id="${clip}"><rect ${box}/></clipPath>
    <rect class="frame" ${box}/>
    ${ticks.join("")}
    <text class="across" x="${(left + size - right) / 2}" y="${size - 3}" text-anchor="middle"></text>
    <text class="upward" transform="translate(10 ${(size - bottom + up) / 2}) rotate(-90)" text-anchor="middle"></text>
    <g clip-path="url(#${clip})">
      <path class="guide" d="${guide}"/>
      <g class="trace"></g>
    </g>
    <text x="${across(top * 0.87)}" y="${down(top * 0.91)}" text-anchor="end">fair</text>
    <text x="${across(together * 0.06) + 2}" y="${Math.max(up + 14, down(together * 0.98))}">full</text>
    <circle class="here" r="4.5" visibility="hidden"/>
  </svg>`;
  drawing.querySelector(".across").textContent = names[0];
  drawing.querySelector(".upward").textContent = names[1];
  drawing.setAttribute(
    "aria-label",
    `goodput of ${names[1]} against ${names[0]}, ${figure.dataset.label} in ${environment.title}: ` +
      `means ${mean(y).toFixed(2)} and ${mean(x).toFixed(2)} Mbit/s`,
  );
  const trace = drawing.querySelector(".trace");
  const here = drawing.querySelector(".here");
  const phase = {
    draw() {
      const [low, high] = card.range;
      const shown = run.bins.flatMap((time, at) => (time >= low && time <= high ? [at] : []));
      const counted = shown.filter((at) => run.bins[at] >= environment.warmup_s);
      const point = (at) => `${across(x[at]).toFixed(1)} ${down(y[at]).toFixed(1)}`;
      trace.innerHTML =
        `<path class="path" d="M${counted.map(point).join("L")}"/>` +
        shown
          .map((at, order) => {
            const opacity = run.bins[at] < environment.warmup_s ? 0.1 : 0.2 + (0.75 * order) / shown.length;
            return (
              `<circle class="point" cx="${across(x[at]).toFixed(1)}" cy="${down(y[at]).toFixed(1)}" r="2" ` +
              `opacity="${opacity.toFixed(2)}"/>`
            );
          })
          .join("");
      if (!counted.length) trace.querySelector("path").remove();
    },
    mark(time) {
      here.setAttribute("visibility", time == null ? "hidden" : "visible");
      if (time == null) return;
      const step = run.bins[1] - run.bins[0];
      const at = Math.max(0, Math.min(x.length - 1, Math.round((time - run.bins[0]) / step)));
      here.setAttribute("cx", across(Math.min(top, x[at])));
      here.setAttribute("cy", down(Math.min(top, y[at])));
    },
  };
  phase.draw();
  card.phases.push(phase);
}

// --- Charts as files ----------------------------------------------------------------------------------------

const SAVE =
  '<span class="save"><button type="button" data-save="svg">SVG</button>' +
  '<button type="button" data-save="csv">CSV</button></span>';

for (const [name, csv] of Object.entries(reportData.csv)) {
  const figure = /** @type {HTMLElement} */ (document.querySelector(`[data-name="${name}"]`));
  figure.makeCsv = () => csv;
}

function csvOf(kind, run) {
  if (kind === "phase") {
    const { names, x, y } = run.phase;
    return [
      ["time_s", ...names].map(csvField).join(","),
      ...run.bins.map((time, at) => `${time},${x[at]},${y[at]}`),
    ].join("\n");
  }
  const chart = KINDS[kind]({ tops: {} }, run);
  const rows = chart.data[0].map((_, at) => chart.data.map((column) => column[at] ?? "").join(","));
  return [["time_s", ...chart.lines.map((each) => each.label)].map(csvField).join(","), ...rows].join("\n");
}

// Redraws a chart over time as SVG, because a canvas contains only pixels.
function timeSvg(figure, environment, kind) {
  const width = 640,
    left = 50,
    right = 16,
    title = 24;
  const charts = figure.charts;
  const each = charts.length > 1 ? 90 : 240;
  const height = title + charts.length * each + 30;
  const parts = [
    `<rect width="${width}" height="${height}" fill="${colour("card")}"/>` +
      `<text x="${left}" y="16" font-weight="600" fill="${colour("ink")}">` +
      `${escaped(`${environment.title}, ${figure.dataset.label}: ${kind}`)}</text>`,
  ];
  const across = (time) => (left + (time / environment.duration_s) * (width - left - right)).toFixed(1);
  charts.forEach((chart, index) => {
    const top = title + index * each + 6,
      bottom = title + (index + 1) * each;
    const down = (value) => (bottom - (Math.min(value, chart.top) / chart.top) * (bottom - top)).toFixed(1);
    for (const level of [0, chart.top / 2, chart.top]) {
      parts.push(
        `<path d="M${left} ${down(level)}H${width - right}" stroke="${colour("rule")}"/>` +
          `<text x="${left - 6}" y="${+down(level) + 4}" text-anchor="end">${+level.toPrecision(3)}</text>`,
      );
    }
    chart.lines.forEach((style, at) => {
      let pen = "M";
      const path = chart.data[at + 1]
        .map((value, place) => {
          if (value == null) {
            pen = "M";
            return "";
          }
          const stroke = `${pen}${across(chart.data[0][place])} ${down(value)}`;
          pen = "L";
          return stroke;
        })
        .join("");
      parts.push(
        `<path d="${path}" fill="none" stroke="${style.stroke()}" stroke-width="${style.width}"` +
          `${style.dash ? ` stroke-dasharray="${style.dash}"` : ""}><title>${escaped(style.label)}</title></path>`,
      );
    });
  });
  const shown = environment.duration_s;
  for (const time of [0, 0.25, 0.5, 0.75, 1].map((part) => part * shown)) {
    parts.push(`<text x="${across(time)}" y="${height - 12}" text-anchor="middle">${+time.toPrecision(3)} s</text>`);
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ` +
    `${height}" font-family="system-ui, sans-serif" font-size="11" fill="${colour("soft")}">${parts.join("")}` +
    "</svg>"
  );
}

function escaped(text) {
  const element = document.createElement("i");
  element.textContent = text;
  return element.innerHTML;
}

// --- Building -----------------------------------------------------------------------------------------------

function build(card, section) {
  if (section.dataset.built) return;
  section.dataset.built = "yes";
  const { environment } = card;
  const { kind } = section.dataset;
  const row = section.querySelector(".row");
  environment.runs.forEach((run, index) => {
    const figure = document.createElement("figure");
    figure.dataset.label = environment.labels[index];
    const strips = run && kind === "cwnd" && run.flows.length >= STRIPS_FROM ? run.flows.map((_, flow) => flow) : null;
    const plots = strips
      ? strips.map(() => '<div class="plot strip" role="img"></div>').join("")
      : '<div class="plot" role="img"></div>';
    figure.innerHTML = `<figcaption><b></b><span class="read"></span>${run ? SAVE : ""}</figcaption>${plots}`;
    figure.dataset.name = `${environment.id}-${kind}-${index}`;
    for (const button of figure.querySelectorAll("[data-save]")) {
      button.setAttribute("aria-label", `Save ${button.textContent}: ${kind} of ${environment.labels[index]}`);
    }
    figure.querySelector("b").textContent = environment.labels[index];
    row.append(figure);
    if (run) figure.makeCsv = () => csvOf(kind, run);
    if (run && kind !== "phase") figure.makeSvg = () => timeSvg(figure, environment, kind);
    if (!run) figure.querySelector(".read").textContent = "no samples kept";
    else if (kind === "phase") phasePlot(card, figure, run);
    else if (strips) for (const flow of strips) timeChart(card, figure, kind, run, flow);
    else timeChart(card, figure, kind, run);
  });
}

function showKeys(card) {
  const run = card.environment.runs.find(Boolean);
  if (!run) return;
  const keys = run.flows.map((name, flow) => {
    const key = document.createElement("li");
    key.append(swatch(flow), name);
    return key;
  });
  if (run.hidden) keys.push(Object.assign(document.createElement("li"), { textContent: `and ${run.hidden} more` }));
  card.element.querySelector(".keys").replaceChildren(...keys);
}

function showCommands(card, details) {
  const { commands, scenario } = card.environment;
  details
    .querySelector(".commands")
    .replaceChildren(...commands.map(([name, command]) => again(command, name, heat.runs_here)));
  details.querySelector("pre").textContent = JSON.stringify(scenario, null, 2);
}

// Inserts drawings that the page carries as packed data.
function fill(figures) {
  for (const figure of figures.children) {
    const svg = reportData.svg[figure.dataset.name];
    if (svg && !figure.querySelector("svg")) figure.insertAdjacentHTML("beforeend", svg);
  }
}

// Builds the visible charts of an open card at once. Later parts then keep their places.
function show(card) {
  if (!card.element.open) return;
  fill(card.element.querySelector(".figures"));
  for (const section of card.element.querySelectorAll(".charts")) if (section.offsetParent) build(card, section);
}

// Opens the folds around the target of a link, and scrolls to it.
function reach(id) {
  const target = document.getElementById(id);
  if (target === null) return;
  for (let fold = target.closest("details"); fold !== null; fold = fold.parentElement.closest("details"))
    fold.open = true;
  const card = cards.find(({ element }) => element === target);
  if (card !== undefined) show(card);
  target.scrollIntoView();
}

for (const card of cards) {
  showKeys(card);
  card.element.addEventListener("toggle", () => show(card));
  card.element.querySelector(".more").addEventListener("toggle", () => show(card));
  const details = card.element.querySelector(".parameters");
  details.addEventListener("toggle", () => showCommands(card, details), { once: true });
  show(card);
}
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest('a[href^="#"]');
  if (link === null) return;
  event.preventDefault();
  const id = link.getAttribute("href").slice(1);
  history.replaceState(null, "", `#${id}`);
  reach(id);
});
addEventListener("hashchange", () => reach(location.hash.slice(1)));
if (location.hash) reach(location.hash.slice(1));
for (const card of cards) {
  for (const button of card.element.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(card, button.dataset.zoom));
  }
}

// --- Light theme, dark theme and printing -------------------------------------------------------------------

function recolour() {
  known.clear();
  for (const card of cards) for (const plot of card.plots) plot.redraw();
}

function setTheme(theme) {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  recolour();
}

// A page opened from a file may have no storage.
function remembered(theme) {
  try {
    if (theme) localStorage.setItem("ackclock-theme", theme);
    return localStorage.getItem("ackclock-theme");
  } catch {
    return theme;
  }
}

setTheme(remembered());
paper.addEventListener("change", recolour);
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : paper.matches;
  setTheme(dark ? "light" : "dark");
  remembered(root.dataset.theme);
});

let before;
addEventListener("beforeprint", () => {
  before = root.dataset.theme;
  root.classList.add("printing");
  setTheme("light");
  for (const card of cards) {
    for (const plot of card.plots) plot.setSize({ ...PRINTED, height: Math.min(PRINTED.height, plot.usual) });
  }
});
addEventListener("afterprint", () => {
  root.classList.remove("printing");
  setTheme(before);
  for (const card of cards) {
    for (const plot of card.plots) plot.setSize({ width: plot.root.parentElement.clientWidth, height: plot.usual });
  }
});
