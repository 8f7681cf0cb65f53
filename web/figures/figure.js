// An interactive figure of the documentation. Its button replaces the picture by a simulation of the linked scenario.
// The simulation uses the charts and the worker of the live page.

import { lacking } from "../files.js";
import { Chart, styleOf } from "../play/charts.js";
import { seldom } from "../play/elements.js";
import { make } from "../report/elements.js";
import { unpack } from "../play/link.js";
import { LogScale, words } from "../play/scales.js";
import { Series } from "../play/series.js";
import { Simulator } from "../play/simulator.js";

const TITLES = { window: "Window, segments", rate: "Rate, Mbit/s", queue: "Queue, packets; ▼ drops, ○ marks" };
/** The controls of a reader: the value in the running scenario, and the setting that changes it. */
const CONTROLS = [
  {
    label: "Rate",
    unit: "Mbit/s",
    scale: new LogScale(0.5, 100),
    value: ({ link }) => link.rate_bps / 1e6,
    set: (value) => `topology.rate=${value} Mbit/s`,
  },
  {
    label: "RTT",
    unit: "ms",
    scale: new LogScale(2, 500),
    value: ({ flow }) => 1e3 * flow.base_rtt_s,
    set: (value) => `topology.delay=${value / 2} ms`,
  },
  {
    label: "Buffer",
    unit: "packets",
    scale: new LogScale(2, 1000),
    value: ({ link }) => Number(/(\d+) packets/.exec(link.queue)?.[1]),
    set: (value) => `topology.queue.limit=${Math.round(value)} packets`,
  },
];
/** How much faster than the clock a run is that is watched. */
const SPEED = 15;

/** Where the engine is, which only a reader who runs a figure loads. */
const { engine } = document.currentScript.dataset;
let loading = null;

/** Loads the engine, once: it is a script, as browsers load nothing else for pages that are opened from disk. */
function loaded() {
  loading ??= new Promise((resolve, reject) => {
    document.head.append(
      make("script", {
        src: engine,
        onload: resolve,
        onerror: () => reject(new Error(`The simulator cannot be loaded: ${engine}.`)),
      }),
    );
  });
  return loading;
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

class Figure {
  constructor(element) {
    this.element = element;
    this.sets = new Map();
    this.turn = 0;
    this.link = element.querySelector("figcaption a");
    this.button = make("button", { type: "button", textContent: "Run it here" });
    this.button.addEventListener("click", () => this.open());
    this.state = make("p", {});
    this.state.setAttribute("role", "status");
    element.querySelector("figcaption").prepend(this.button, " ");
    element.dataset.state = "picture";
  }

  /** Replaces the picture by the charts, and runs. */
  async open() {
    const sentence = lacking();
    if (sentence !== null) {
      this.fail(sentence);
      return;
    }
    this.button.textContent = "Run again";
    if (this.simulator === undefined) {
      try {
        await loaded();
      } catch (error) {
        this.fail(error.message);
        return;
      }
      this.setup = await unpack(new URL(this.link.href).hash.slice(1));
      this.layOut();
      this.simulator = new Simulator(
        (message) => this.hear(message),
        (message) => this.fail(message),
      );
    }
    this.begin(isStill() ? {} : { playing: true });
  }

  layOut() {
    this.charts = this.element.dataset.panels.split(" ").map((name) => {
      const canvas = make("canvas", { ariaLabel: `${TITLES[name]} over time` });
      canvas.setAttribute("role", "img");
      return { name, canvas, chart: new Chart(canvas) };
    });
    const panels = make(
      "div",
      {},
      ...this.charts.flatMap(({ name, canvas }) => [make("small", { textContent: TITLES[name] }), canvas]),
    );
    this.legend = make("p", { className: "legend" });
    this.controls = CONTROLS.map((control) => this.control(control));
    this.element
      .querySelector("img")
      .replaceWith(
        panels,
        this.legend,
        make("div", { className: "controls" }, ...this.controls.map(({ line }) => line)),
      );
    this.element.querySelector("figcaption").append(this.state);
    const redraw = () => {
      for (const { chart } of this.charts) chart.stale = true;
      this.showLegend();
      this.draw();
    };
    addEventListener("resize", redraw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  control({ label, unit, scale, value, set }) {
    const range = make("input", { type: "range", min: 0, max: 1000, step: 1 });
    const shown = make("output", {});
    const show = (is) => {
      shown.textContent = `${words(is, 3)} ${unit}`;
      range.setAttribute("aria-valuetext", shown.textContent);
    };
    const use = seldom(100, (is) => {
      this.sets.set(label, set(is));
      this.begin({});
    });
    range.addEventListener("input", () => {
      const is = scale.value(range.valueAsNumber);
      show(is);
      use(is);
    });
    const line = make("label", {}, label, range, shown);
    /** Shows the values of the scenario where the reader has not changed them. */
    const read = (run) => {
      const is = value(run);
      line.hidden = !Number.isFinite(is);
      if (this.sets.has(label) || line.hidden) return;
      range.value = scale.position(is);
      show(is);
    };
    return { line, read };
  }

  /** Runs the scenario with the reader's settings: to its end at once, or so that it can be watched. */
  begin({ playing = false }) {
    this.turn += 1;
    this.element.dataset.state = "running";
    const { text, sets } = this.setup;
    this.simulator.tell("begin", {
      turn: this.turn,
      order: 0,
      text,
      sets: [...sets, ...this.sets.values()],
      files: {},
      changes: [],
      until: playing ? 0 : Infinity,
      speed: SPEED,
      playing,
    });
  }

  hear(message) {
    if (message.turn !== undefined && message.turn !== this.turn) return;
    if (message.type === "started") this.start(message);
    else if (message.type === "rows") this.add(message.rows);
    else if (message.type === "done") this.show(message.document);
    else if (message.type === "mistakes") this.fail(message.mistakes[0].message);
    else if (message.type === "failed") this.fail(message.message);
  }

  start(message) {
    const { duration, description } = message;
    this.series = new Series(message);
    this.flows = this.series.flows.filter(({ spare }) => !spare);
    for (const { chart } of this.charts) chart.reset(duration);
    const run = {
      link: description.links.find(({ name }) => name === description.bottleneck),
      flow: description.flows[0],
    };
    for (const control of this.controls) control.read(run);
    this.showLegend();
  }

  showLegend() {
    this.legend.replaceChildren(
      ...this.flows.map(({ name }, position) => {
        const { colour, dash } = styleOf(position);
        const key = make("i", {});
        Object.assign(key.style, { borderColor: colour, borderTopStyle: dash.length > 0 ? "dashed" : "solid" });
        return make("span", {}, key, name);
      }),
    );
  }

  add(rows) {
    this.series.add(rows);
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.draw();
    });
  }

  draw() {
    const { series } = this;
    const { values: times } = series.time;
    for (const { name, chart } of this.charts) {
      const columns = name === "queue" ? [series.queue] : this.flows.map((flow) => flow[name]);
      chart.lines = columns.map(({ values }, position) => ({
        times,
        values,
        count: series.count,
        style: styleOf(position),
        revision: name === "rate" ? series.revision : 0,
      }));
      chart.references = series.references(name);
      if (name === "queue")
        chart.events = [
          { counts: series.drops.values, mark: "drop" },
          { counts: series.marks.values, mark: "mark" },
        ];
      chart.draw(series.limit(name));
    }
  }

  show({ summary }) {
    this.draw();
    this.element.dataset.state = "done";
    this.state.textContent =
      `Utilization ${words(100 * summary.utilization, 3)} %, mean queueing delay ` +
      `${words(1e3 * summary.queue_delay_mean_s, 3)} ms, Jain's index ${words(summary.jain_index, 3)}.`;
  }

  fail(sentence) {
    this.element.dataset.state = "failed";
    this.state.textContent = sentence;
    this.element.querySelector("figcaption").append(this.state);
  }
}

for (const element of document.querySelectorAll(".live-figure")) new Figure(element);
