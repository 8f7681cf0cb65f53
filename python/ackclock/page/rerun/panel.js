// A cell that can be run again: what may be changed, what is stored of it, and what came out here.

import { lacking } from "ackclock/files.js";
import { csv, drawing } from "./curves.js";
import { html } from "./elements.js";
import { Stopped } from "./engine.js";
import { figures, rowsOf } from "./figures.js";

const FIELDS = [
  ["seed", "Seed", "any other number is other random starts, jitter and losses"],
  ["replicate", "Replicate", "from 0"],
  ["duration", "Time", "such as 120 s"],
];

/** A table that may be wider than its place. */
const scrolled = (table) => html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table.caption.textContent }, table);

const same = (one, other) => Object.keys(one).every((key) => one[key] === other[key]);

export class Rerun {
  /** Fills an element; `engine` runs what is asked for. */
  constructor(element, engine) {
    this.element = element;
    this.engine = engine;
    this.stored = new Map();
    this.fields = Object.fromEntries(FIELDS.map(([name]) => [name, html("input", { name, autocomplete: "off", spellcheck: "false" })]));
    this.sets = html("textarea", { name: "sets", rows: 3, spellcheck: "false", placeholder: "flows.test.count=4\ntopology.queue.limit=20 packets" });
    this.buttons = { run: html("button", { type: "submit", class: "main" }, "Run"), stop: html("button", { type: "button", name: "stop" }, "Stop"), reset: html("button", { type: "button", name: "reset" }, "As stored") };
    this.progress = html("progress", { max: 1, value: 0, "aria-label": "how far the run is" });
    this.told = html("p", { class: "told", role: "status" });
    this.mistakes = html("ul", { class: "mistakes" });
    this.out = html("div", { class: "out" });
    const labels = FIELDS.map(([name, label, hint]) => html("label", {}, `${label} `, this.fields[name], html("small", {}, hint)));
    this.form = html("form", {}, ...labels, html("label", { class: "sets" }, "Changes of the scenario, KEY=VALUE on a line each ", this.sets), html("div", { class: "do" }, ...Object.values(this.buttons), this.progress));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.buttons.stop.addEventListener("click", () => this.engine.stop());
    this.buttons.reset.addEventListener("click", () => this.reset());
    element.replaceChildren(this.form, this.told, this.mistakes, this.out);
  }

  /** Shows a cell: its `scenario` as JSON, `hash`, `seed`, `replicates`, `summaries` by replicate, `watched`, `refusal`. */
  show(cell) {
    this.cell = cell;
    this.tree = JSON.parse(cell.scenario);
    this.reset();
    this.out.replaceChildren();
    const refusal = cell.refusal || lacking();
    this.form.hidden = Boolean(refusal);
    this.tell(refusal ? "refused" : "ready", refusal || "The run is computed here, in this browser; nothing is sent anywhere.");
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

  /** What the form asks for. Throws an error for numbers that are none. */
  asked() {
    const whole = (name, text) => {
      const number = text.trim();
      if (!/^\d{1,20}$/.test(number) || BigInt(number) >= 1n << 64n) throw new Error(`${name}: ${JSON.stringify(text)} is no whole number from 0 to 2^64 - 1.`);
      return String(BigInt(number));
    };
    const sets = this.sets.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
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
      const here = isSame ? stored : { asked, ...(await this.engine.run(asked, (part) => { this.progress.value = part; })) };
      if (cell !== this.cell) return;
      this.present(stored, here);
    } catch (error) {
      if (cell === this.cell) this.complain(error);
    }
  }

  /** The stored run of a replicate, or of the first where it has no such one: run again, once. */
  async runStored(wanted) {
    const { cell } = this;
    const first = cell.replicate ?? 0;
    const replicate = wanted < cell.replicates ? wanted : first;
    const key = `${cell.name}#${replicate}`;
    if (!this.stored.has(key)) {
      const asked = { tree: cell.scenario, seed: cell.seed, replicate: String(replicate), sets: [] };
      const run = this.engine.run(asked, (part) => { this.progress.value = part; });
      this.tell("running", "Running the stored cell …");
      this.stored.set(key, { asked, ...(await run), summary: cell.summaries[replicate] ?? null });
    }
    return this.stored.get(key);
  }

  /** Says whether the stored cell gives its stored figures here. */
  judgement({ summary, document, hash, asked }) {
    const which = `seed ${asked.seed}, replicate ${asked.replicate}`;
    if (hash !== this.cell.hash) return `The stored scenario is not read here as it was: ${hash} is not ${this.cell.hash}.`;
    if (summary === null) return `The figures of the stored run (${which}) are not in this page; those beside yours were computed here.`;
    const other = Object.keys(summary).filter((name) => summary[name] !== document.summary[name]);
    if (other.length > 0) return `The stored run (${which}) gives other figures here: ${other.join(", ")}.`;
    return `The stored run (${which}) gives its stored figures here, to the last digit.`;
  }

  present(stored, here) {
    const { metrics } = this.engine;
    const mine = here === stored ? null : here;
    this.tell("done", [this.judgement(stored), ...here.warnings.map((warning) => `Warning: ${warning}`)].join(" "));
    this.out.replaceChildren(
      html("p", { class: "legend" }, ...(mine === null ? ["Change something above to compare."] : ["Here: strong lines. Stored: thin, dotted lines, and figures in grey."])),
      html("div", { class: "both" }, scrolled(figures(metrics, stored.summary ?? stored.document.summary, mine?.document.summary)), html("div", { class: "curves" }, ...this.charts(stored, mine))),
      ...rowsOf(metrics, stored.document, mine?.document, this.cell.watched).map(scrolled),
    );
  }

  charts(stored, mine) {
    const runs = [{ kind: "stored", run: stored }, ...(mine === null ? [] : [{ kind: "here", run: mine }])];
    const titles = [...new Set(runs.flatMap(({ run }) => run.panels.map(({ title }) => title)))];
    if (titles.length === 0) return [html("p", {}, "The scenario samples nothing over time: the line sampling.interval=100 ms above makes curves.")];
    const names = [...new Set(runs.flatMap(({ run }) => run.panels.flatMap(({ curves }) => curves.map(({ name }) => name))))];
    const end = Math.max(...runs.map(({ run }) => run.document.duration_s));
    return titles.map((title, index) => {
      const sides = runs.map(({ kind, run }) => ({ kind: mine === null ? "here" : kind, curves: run.panels.find((panel) => panel.title === title)?.curves ?? [] }));
      const shown = names.filter((name) => sides.some(({ curves }) => curves.some((curve) => curve.name === name)));
      const keys = shown.map((name) => html("span", { class: `key c${names.indexOf(name) % 6}` }, html("i"), name));
      const figure = html("figure", { "data-name": `run-${index}` }, html("figcaption", {}, html("b", {}, title), " ", ...keys, ...this.saves(title)), drawing(title, sides, names, end));
      figure.makeCsv = () => csv(sides);
      return figure;
    });
  }

  /** Buttons that the page of a report knows. */
  saves(title) {
    if (!this.hasFiles) return [];
    return [html("span", { class: "save" }, ...["svg", "csv"].map((kind) => html("button", { type: "button", "data-save": kind, "aria-label": `Save ${kind.toUpperCase()}: ${title}` }, kind.toUpperCase())))];
  }

  complain(error) {
    const told = (error.mistakes ?? []).map(({ set, key, message }) => [set, set?.startsWith(`${key}=`) ? "" : key, message].filter(Boolean).join(": "));
    this.tell(error instanceof Stopped ? "stopped" : "failed", told.length > 0 ? "That cannot be run:" : error.message, told);
    this.out.replaceChildren();
  }
}
