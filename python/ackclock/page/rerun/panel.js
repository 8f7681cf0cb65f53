// The panel that reruns a cell: its form, its stored run, and the result of the rerun.

import { lacking } from "ackclock/files.js";
import { csv, drawing } from "./curves.js";
import { html } from "./elements.js";
import { Stopped } from "./engine.js";
import { figures, rowsOf } from "./figures.js";

const FIELDS = [
  ["seed", "Seed", "another number gives other random starts, jitter and losses"],
  ["replicate", "Replicate", "from 0"],
  ["duration", "Duration", "such as 120 s"],
];

/** A table with a horizontal scroll bar. */
const scrolled = (table) =>
  html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table.caption.textContent }, table);

const same = (one, other) => Object.keys(one).every((key) => one[key] === other[key]);

export class Rerun {
  /** Fills an element. `engine` runs the scenarios. */
  constructor(element, engine) {
    this.element = element;
    this.engine = engine;
    this.stored = new Map();
    /** Whether the page offers charts as files. */
    this.hasFiles = false;
    this.fields = Object.fromEntries(
      FIELDS.map(([name]) => [name, html("input", { name, autocomplete: "off", spellcheck: "false" })]),
    );
    this.sets = html("textarea", {
      name: "sets",
      rows: 3,
      spellcheck: "false",
      placeholder: "flows.test.count=4\ntopology.queue.limit=20 packets",
    });
    this.buttons = {
      run: html("button", { type: "submit", class: "main" }, "Run"),
      stop: html("button", { type: "button", name: "stop" }, "Stop"),
      reset: html("button", { type: "button", name: "reset" }, "Reset"),
    };
    this.progress = html("progress", { max: 1, value: 0, "aria-label": "progress of the run" });
    this.told = html("p", { class: "told", role: "status" });
    this.mistakes = html("ul", { class: "mistakes" });
    this.out = html("div", { class: "out" });
    const labels = FIELDS.map(([name, label, hint]) =>
      html("label", {}, `${label} `, this.fields[name], html("small", {}, hint)),
    );
    this.form = html(
      "form",
      {},
      ...labels,
      html("label", { class: "sets" }, "Changes to the scenario, one KEY=VALUE per line ", this.sets),
      html("div", { class: "do" }, ...Object.values(this.buttons), this.progress),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.buttons.stop.addEventListener("click", () => this.engine.stop());
    this.buttons.reset.addEventListener("click", () => this.reset());
    element.replaceChildren(this.form, this.told, this.mistakes, this.out);
  }

  /**
   * Shows a cell: its `scenario` as JSON, `hash`, `seed`, `replicates`, `summaries` by replicate, `watched`, `refusal`.
   */
  show(cell) {
    this.cell = cell;
    this.tree = JSON.parse(cell.scenario);
    this.reset();
    this.out.replaceChildren();
    const refusal = cell.refusal || lacking();
    this.form.hidden = Boolean(refusal);
    this.tell(
      refusal ? "refused" : "ready",
      refusal || "The simulation runs in this browser, without network requests.",
    );
  }

  reset() {
    const { seed, replicate = 0 } = this.cell;
    this.fields.seed.value = seed;
    this.fields.replicate.value = replicate;
    this.fields.duration.value = this.tree.duration;
    this.sets.value = "";
  }

  tell(state, text, mistakes = []) {
    this.element.dataset.state = state;
    this.told.textContent = text;
    this.mistakes.replaceChildren(...mistakes.map((mistake) => html("li", {}, mistake)));
    this.buttons.stop.disabled = state !== "running";
    this.buttons.run.disabled = state === "running";
    if (state !== "running") this.progress.value = 0;
  }

  /** The values of the form. Throws an error for invalid numbers. */
  asked() {
    const whole = (name, text) => {
      const number = text.trim();
      if (!/^\d{1,20}$/.test(number) || BigInt(number) >= 1n << 64n)
        throw new Error(`${name}: ${JSON.stringify(text)} is not an integer from 0 to 2^64 - 1.`);
      return String(BigInt(number));
    };
    const sets = this.sets.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    const duration = this.fields.duration.value.trim();
    return {
      tree: this.cell.scenario,
      seed: whole("Seed", this.fields.seed.value),
      replicate: whole("Replicate", this.fields.replicate.value),
      sets: duration === this.tree.duration ? sets : [...sets, `duration=${duration}`],
    };
  }

  async run() {
    const { cell } = this;
    try {
      const asked = this.asked();
      this.tell("running", "Loading the simulator …");
      const stored = await this.runStored(Number(asked.replicate));
      const isSame = same({ ...stored.asked, sets: "" }, { ...asked, sets: asked.sets.join("\n") });
      if (!isSame) this.tell("running", "Running …");
      const here = isSame
        ? stored
        : {
            asked,
            ...(await this.engine.run(asked, (part) => {
              this.progress.value = part;
            })),
          };
      if (cell !== this.cell) return;
      this.present(stored, here);
    } catch (error) {
      if (cell === this.cell) this.complain(error);
    }
  }

  /** Reruns a stored replicate once, or the first one if this replicate is not stored. */
  async runStored(wanted) {
    const { cell } = this;
    const first = cell.replicate ?? 0;
    const replicate = wanted < cell.replicates ? wanted : first;
    const key = `${cell.name}#${replicate}`;
    if (!this.stored.has(key)) {
      const asked = { tree: cell.scenario, seed: cell.seed, replicate: String(replicate), sets: [] };
      const run = this.engine.run(asked, (part) => {
        this.progress.value = part;
      });
      this.tell("running", "Running the stored cell …");
      this.stored.set(key, { asked, ...(await run), summary: cell.summaries[replicate] ?? null });
    }
    return this.stored.get(key);
  }

  /** Tells whether the rerun of the stored cell reproduces its stored figures. */
  judgement({ summary, document, hash, asked }) {
    const which = `seed ${asked.seed}, replicate ${asked.replicate}`;
    if (hash !== this.cell.hash)
      return `This page reads the stored scenario differently: hash ${hash} instead of ${this.cell.hash}.`;
    if (summary === null)
      return `This page does not contain the figures of the stored run (${which}), and computed them again.`;
    const other = Object.keys(summary).filter((name) => summary[name] !== document.summary[name]);
    if (other.length > 0) return `The stored run (${which}) gives different figures here: ${other.join(", ")}.`;
    return `The stored run (${which}) gives its stored figures here, to the last digit.`;
  }

  present(stored, here) {
    const { metrics } = this.engine;
    const mine = here === stored ? null : here;
    this.tell("done", [this.judgement(stored), ...here.warnings.map((warning) => `Warning: ${warning}`)].join(" "));
    this.out.replaceChildren(
      html(
        "p",
        { class: "legend" },
        ...(mine === null
          ? ["Change a value above to compare."]
          : ["The rerun has bold lines. The stored run has thin, dotted lines and grey figures."]),
      ),
      html(
        "div",
        { class: "both" },
        scrolled(figures(metrics, stored.summary ?? stored.document.summary, mine?.document.summary)),
        html("div", { class: "curves" }, ...this.charts(stored, mine)),
      ),
      ...rowsOf(metrics, stored.document, mine?.document, this.cell.watched).map(scrolled),
    );
  }

  charts(stored, mine) {
    const runs = [{ kind: "stored", run: stored }, ...(mine === null ? [] : [{ kind: "here", run: mine }])];
    const titles = [...new Set(runs.flatMap(({ run }) => run.panels.map(({ title }) => title)))];
    if (titles.length === 0)
      return [
        html("p", {}, "The scenario has no samples over time. Add the line sampling.interval=100 ms for curves."),
      ];
    const names = [
      ...new Set(runs.flatMap(({ run }) => run.panels.flatMap(({ curves }) => curves.map(({ name }) => name)))),
    ];
    const end = Math.max(...runs.map(({ run }) => run.document.duration_s));
    return titles.map((title, index) => {
      const sides = runs.map(({ kind, run }) => ({
        kind: mine === null ? "here" : kind,
        curves: run.panels.find((panel) => panel.title === title)?.curves ?? [],
      }));
      const shown = names.filter((name) => sides.some(({ curves }) => curves.some((curve) => curve.name === name)));
      const keys = shown.map((name) => html("span", { class: `key c${names.indexOf(name) % 6}` }, html("i"), name));
      const figure = html(
        "figure",
        { "data-name": `run-${index}` },
        html("figcaption", {}, html("b", {}, title), " ", ...keys, ...this.saves(title)),
        drawing(title, sides, names, end),
      );
      figure.makeCsv = () => csv(sides);
      return figure;
    });
  }

  /** The buttons that save a chart, handled by the page of the report. */
  saves(title) {
    if (!this.hasFiles) return [];
    return [
      html(
        "span",
        { class: "save" },
        ...["svg", "csv"].map((kind) =>
          html(
            "button",
            { type: "button", "data-save": kind, "aria-label": `Save ${kind.toUpperCase()}: ${title}` },
            kind.toUpperCase(),
          ),
        ),
      ),
    ];
  }

  complain(error) {
    const told = (error.mistakes ?? []).map(({ set, key, message }) =>
      [set, set?.startsWith(`${key}=`) ? "" : key, message].filter(Boolean).join(": "),
    );
    this.tell(
      error instanceof Stopped ? "stopped" : "failed",
      told.length > 0 ? "This scenario cannot run:" : error.message,
      told,
    );
    this.out.replaceChildren();
  }
}
