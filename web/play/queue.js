// The page of a queue alone: runs the request, and shows counts and charts over time.

import { label, list, load, queueAlone, Scenario } from "../ackclock.js";
import { bytesOf, lacking } from "../files.js";
import { make } from "../report/elements.js";
import { general } from "../report/figures.js";
import { byId, fill, show } from "./elements.js";
import { overTime, topOf } from "./overtime.js";
import { copy, save } from "./taking.js";

/** Samples of a run: about as many as a chart has room for. */
const SAMPLES = 300;
/** The variables whose names end in a unit. */
const WITH_UNIT = /^(\w+)_(ms|packets|bytes)$/;
/** A scenario whose queue is checked. */
const PROBE = {
  schema: 2,
  duration: "1 s",
  topology: { kind: "dumbbell", rate: "1 Mbit/s", delay: "1 ms" },
  flows: [{ name: "test", cc: "reno" }],
};
const SOJOURNS = ["mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];

let kinds = [];
let last = null;

const linesOf = (id) =>
  byId(id)
    .value.split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** The queue with every key, after the checks of scenarios. */
const queueOf = (text) => new Scenario(PROBE, { sets: [`topology.queue=${text}`] }).resolved.topology.queue;

const nanoseconds = (text) => {
  const resolved = new Scenario(PROBE, { sets: [`duration=${text}`, "warmup=0 s"] }).description;
  return Math.round(resolved.duration_s * 1e9);
};

function requestOf() {
  const duration = byId("duration").value.trim();
  return {
    queue: queueOf(byId("queue").value.trim()),
    rate: byId("rate").value.trim(),
    duration,
    interval: `${Math.max(1, Math.round(nanoseconds(duration) / SAMPLES))} ns`,
    seed: Number(byId("seed").value),
    arrivals: linesOf("arrivals").map((text) => label(text, "rate")),
  };
}

const head = (...texts) => make("tr", {}, ...texts.map((textContent) => make("th", { scope: "col", textContent })));

function line(name, { arrived, sent, dropped, marked, queued, sojourn }) {
  const times = SOJOURNS.map((key) => (sojourn === null ? "–" : (sojourn[key] / 1e6).toFixed(2)));
  const cells = [arrived, sent, dropped, marked, queued, ...times];
  return make(
    "tr",
    {},
    make("th", { scope: "row", textContent: name }),
    ...cells.map((value) => make("td", { textContent: String(value) })),
  );
}

function counts({ total, sources }, names) {
  const columns = [
    "packets",
    "arrived",
    "sent",
    "dropped",
    "marked",
    "queued",
    "mean ms",
    "median",
    "95th",
    "99th",
    "max",
  ];
  const rows = sources.length > 1 ? sources.map((source, at) => line(names[at], source)) : [];
  return [make("thead", {}, head(...columns)), make("tbody", {}, line("all", total), ...rows)];
}

/** The charts: titles, and lines over time. */
function panels({ samples }, interval_s) {
  const rate = (values) => values.map((bytes) => (8e-6 * bytes) / interval_s);
  const sojourns = samples.sojourn_ns.map((value) => (value === null ? null : value / 1e6));
  const found = [
    { title: "largest sojourn time, ms", lines: [sojourns] },
    { title: "queue, packets", lines: [samples.backlog_packets] },
    {
      title: "arrivals (solid) and transmissions (dashed), Mbit/s",
      lines: [rate(samples.arrived_bytes), rate(samples.sent_bytes)],
    },
    { title: "dropped packets", lines: [samples.dropped] },
    { title: "marked packets", lines: [samples.marked] },
    ...Object.entries(samples.state).map(([name, values]) => ({ title: titleOf(name), lines: [values] })),
  ];
  const varies = (values) => values.some((value) => value !== values[0]);
  return found.filter(({ lines }) => lines.some(varies));
}

function titleOf(name) {
  const unit = WITH_UNIT.exec(name);
  return (unit === null ? name : `${unit[1]}, ${unit[2]}`).replaceAll("_", " ");
}

function chart({ title, lines }, x, duration_s) {
  const drawn = { x, lines, warmup_s: 0, duration_s };
  const box = make("figure", {}, make("h3", { textContent: title }));
  const most = Math.max(...lines.flat().filter((value) => value !== null));
  box.insertAdjacentHTML(
    "beforeend",
    overTime(drawn, topOf([drawn]), `${title} over time, at most ${general(most, 3)}`),
  );
  return box;
}

function run() {
  show(null);
  try {
    const request = requestOf();
    const answer = queueAlone(request);
    const x = answer.samples.time_ns.map((time) => time / 1e9);
    const names = linesOf("arrivals");
    byId("words").textContent = `${answer.queue}: utilization ${(100 * answer.utilization).toFixed(1)} %`;
    byId("counts").replaceChildren(...counts(answer, names));
    byId("charts").replaceChildren(...panels(answer, x[0]).map((panel) => chart(panel, x, x.at(-1))));
    byId("result").hidden = false;
    byId("away-state").textContent = `${answer.total.arrived} packets arrived, ${answer.total.dropped} were dropped.`;
    last = { answer, command: commandOf(names) };
    byId("save-csv").disabled = byId("copy-command").disabled = false;
    document.documentElement.dataset.state = "done";
  } catch (error) {
    const told = error.mistakes?.length > 0 ? error.mistakes.map(({ message }) => message).join("; ") : error.message;
    show(`${told}.`.replace(/\.\.$/, "."));
    document.documentElement.dataset.state = "failed";
  }
}

const quoted = (text) => (/^[\w.,:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The command with the same result. */
function commandOf(arrivals) {
  const options = arrivals.flatMap((text) => ["--arrivals", quoted(text)]);
  const value = (id) => quoted(byId(id).value.trim());
  return [
    ...["ackclock queue", value("queue"), "--rate", value("rate"), "--duration", value("duration")],
    ...["--seed", value("seed"), ...options],
  ].join(" ");
}

/** One line per sample. */
function csvOf({ samples: { state, ...columns } }) {
  const all = { ...columns, ...state };
  const rows = columns.time_ns.map((_, at) =>
    Object.values(all)
      .map((column) => column[at] ?? "")
      .join(","),
  );
  return [Object.keys(all).join(","), ...rows].join("\n");
}

function choose() {
  const kind = kinds.find(({ name }) => name === byId("kind").value);
  byId("queue").value = kind.parameters.some(({ name, required }) => required && name === "rate")
    ? `${kind.name}(rate=8 Mbit/s)`
    : kind.name;
  const keys = kind.parameters.map(({ name }) => name).join(", ");
  byId("queue-hint").textContent = `${kind.summary} Keys: ${keys}, as in ${kind.name}(${kind.parameters[0].name}=…).`;
}

async function main() {
  const sentence = lacking();
  if (sentence !== null) {
    byId("main").hidden = true;
    show(sentence);
    return;
  }
  try {
    await load(await bytesOf("module/ackclock_bg.wasm"));
  } catch (error) {
    show(`The simulator cannot be loaded: ${error.message ?? error}.`);
    return;
  }
  // A page has no kernel.
  kinds = list("queue").filter(({ name }) => name !== "kernel");
  fill(byId("kind"), kinds, "codel");
  byId("kind").value = "codel";
  choose();
  byId("kind").addEventListener("change", () => {
    choose();
    run();
  });
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  byId("save-csv").addEventListener("click", () => save("queue.csv", "text/csv", csvOf(last.answer)));
  byId("copy-command").addEventListener("click", () => copy("command", last.command));
  run();
}

main();
