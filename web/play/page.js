// The page: it keeps the set-up (text, settings, changes made while it ran), tells the worker, and draws what comes back.

import { Chart, lightStyle, styleOf, svg } from "./charts.js";
import { pack, unpack } from "./link.js";
import { firstRule, presets } from "./presets.js";
import { LogScale, words } from "./scales.js";
import { Series } from "./series.js";
import { lacking, Simulator } from "./simulator.js";
import { command, toml } from "./toml.js";

const byId = (id) => document.getElementById(id);
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** An element with text or children; texts are never read as HTML. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** What is run: all that a link holds. */
let setup = { text: presets[0].text, sets: new Map(), changes: [] };
/** The last set-up that had no mistakes. */
let good = null;
/** What the worker said of the run. */
let run = null;
let series = null;
let outcome = null;
let playing = false;
let simulator = null;
let lists = { cc: [], queue: [] };

const setsOf = ({ sets }) => Array.from(sets, ([key, value]) => `${key}=${value}`);
const copyOf = ({ text, sets, changes }) => ({ text, sets: new Map(sets), changes: [...changes] });

function show(sentence) {
  byId("message").textContent = sentence ?? "";
  byId("message").hidden = !sentence;
}

/** Runs the set-up from its start, as fast as it goes up to `until`. */
function begin({ until = 0, play = playing } = {}) {
  playing = play;
  outcome = null;
  simulator.tell("begin", { text: setup.text, sets: setsOf(setup), files: {}, changes: setup.changes, until, speed: speed(), playing });
}

const now = () => series?.now ?? 0;
const speed = () => Number(byId("speed").value);
const isMidway = () => run !== null && outcome === null && now() > 0;

/** Settings that the engine cannot change as it runs: again at the same seed, up to the time shown. */
function set(pairs) {
  for (const [key, value] of Object.entries(pairs)) {
    setup.sets.delete(key);
    setup.sets.set(key, value);
  }
  begin({ until: now() });
}

// ---- what the worker says

const heard = {
  ready(message) {
    lists = message;
    fill(byId("queue"), lists.queue.filter(isChoice));
  },
  started(message) {
    show(null);
    run = message;
    good = copyOf(setup);
    series = new Series(run.flows, Math.max(run.duration / 200, 0.05));
    markStopped();
    layOut();
    mistakes([]);
    byId("result").hidden = true;
  },
  rows({ rows }) {
    series.add(rows);
    stale = true;
  },
  changed({ changes }) {
    setup.changes = changes;
    markStopped();
    showChanges();
  },
  refused({ message }) {
    show(`That cannot be changed while it runs: ${message}.`);
  },
  done(message) {
    outcome = message;
    playing = false;
    showResult();
    stale = true;
  },
  mistakes({ mistakes: list }) {
    mistakes(list);
    if (list.some(({ set: text }) => text !== null) && good !== null && good.text === setup.text) {
      show(`That cannot be set: ${list[0].message}.`);
      setup = copyOf(good);
      showSettings();
    } else if (byId("text").value === setup.text && good?.text !== setup.text) {
      playing = false;
      run = null;
      byId("text-box").open = true;
    }
    buttons();
  },
  checked() {
    mistakes([]);
  },
  rule({ value, message }) {
    byId("rule-state").textContent = message ?? "";
    const key = `flows.${byId("rule-group").value}.cc`;
    if (value !== undefined && setup.sets.get(key) !== value) set({ [key]: value });
  },
  failed({ message, ended }) {
    playing = false;
    if (ended) simulator.end(`The simulation ended: ${message}.`);
    else show(`The simulation ended: ${message}.`);
    buttons();
  },
};

function lost(sentence) {
  playing = false;
  run = null;
  show(sentence);
  buttons();
}

// ---- drawing

const charts = Object.fromEntries(["window", "rate", "rtt", "queue"].map((name) => [name, new Chart(byId(`chart-${name}`))]));
const TITLES = { window: "Window, segments", rate: "Rate, Mbit/s", rtt: "RTT, ms", queue: "Queue, packets" };
let stale = false;
let drawn = 0;
let told = 0;

/** The lines of a panel, with their styles on the page and in files. */
function linesOf(name) {
  const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft");
  if (name === "queue") return [{ values: series.queue.values, style: styleOf(0), svgStyle: lightStyle(0) }];
  const lines = series.flows.map((flow, position) => ({ values: flow[name].values, style: styleOf(position), svgStyle: lightStyle(position) }));
  const link = { values: series.linkRate.values, style: { colour: ink, dash: [3, 3], width: 1 }, svgStyle: { colour: "#666", dash: [3, 3] } };
  return name === "rate" ? [link, ...lines] : lines;
}

function draw(time) {
  requestAnimationFrame(draw);
  // Who wants less motion sees a picture twice a second.
  if (!stale || series === null || (stillness.matches && time - drawn < 500 && outcome === null)) return;
  drawn = time;
  stale = false;
  for (const [name, chart] of Object.entries(charts)) {
    chart.lines = linesOf(name);
    if (name === "queue") chart.events = [{ counts: series.drops.values, mark: "drop" }, { counts: series.marks.values, mark: "mark" }];
    chart.draw(series.time.values, series.count, series.most[name]);
  }
  byId("clock").textContent = `${now().toFixed(run !== null && run.duration < 10 ? 3 : 2)} s of ${words(run?.duration ?? 0)} s`;
  byId("progress").value = run === null ? 0 : now() / run.duration;
  if (time - told > 250 || outcome !== null || !playing) {
    told = time;
    showFlows();
    buttons();
  }
}

function redraw() {
  for (const chart of Object.values(charts)) chart.stale = true;
  stale = true;
}

// ---- the flows

function layOut() {
  for (const chart of Object.values(charts)) chart.reset(run.duration);
  const body = byId("flows").tBodies[0];
  body.replaceChildren(
    ...series.flows.map((flow, position) => {
      const canvas = make("canvas", { className: "key", width: 52, height: 20 });
      const cells = [make("th", { scope: "row" }, canvas, flow.name), make("td", {}, algorithm(flow)), ...Array.from({ length: 4 }, () => make("td", { className: "n" }))];
      const stop = make("button", { type: "button", textContent: "Stop", ariaLabel: `Stop ${flow.name}` });
      stop.addEventListener("click", () => {
        simulator.tell("change", { kind: "end", index: flow.index, value: 0 });
      });
      const row = make("tr", { hidden: !flow.begun }, ...cells, make("td", { className: "n" }, stop));
      Object.assign(flow, { row, cells, stop, canvas, position });
      return row;
    }),
  );
  keys();
  const groups = new Map(run.description.flows.map((flow) => [flow.group, flow]));
  fill(byId("like"), [...groups.values()].filter((flow) => flow.cc !== null).map((flow) => ({ name: flow.group })));
  showSettings();
  showChanges();
  redraw();
}

function keys() {
  for (const flow of series?.flows ?? []) {
    const context = flow.canvas.getContext("2d");
    const { colour, dash } = styleOf(flow.position);
    context.clearRect(0, 0, 52, 20);
    context.strokeStyle = colour;
    context.lineWidth = 5;
    context.setLineDash(dash.map((part) => 2 * part));
    context.beginPath();
    context.moveTo(0, 12);
    context.lineTo(52, 12);
    context.stroke();
  }
}

const described = (flow) => run.description.flows[flow.like];
const algorithm = (flow) => described(flow)?.cc ?? described(flow)?.traffic ?? "";

function showFlows() {
  for (const flow of series.flows) {
    flow.row.hidden = !flow.begun;
    if (!flow.begun) continue;
    const figures = [words(series.last(flow.window), 4), words(series.last(flow.rtt), 4), words(series.last(flow.rate), 3), String(flow.retransmits)];
    figures.forEach((text, index) => {
      if (flow.cells[index + 2].textContent !== text) flow.cells[index + 2].textContent = text;
    });
    flow.stop.disabled = flow.stopped || outcome !== null || now() === 0;
    flow.stop.textContent = flow.stopped ? "Stopped" : "Stop";
  }
  const hidden = run.flowCount - run.description.flows.length;
  byId("link-state").textContent = `${words(series.last(series.queue), 5)} packets queued, ${series.last(series.drops)} dropped, ${series.last(series.marks)} marked${hidden > 0 ? `; ${hidden} more flows are not shown` : ""}`;
}

/** Flows that a change stops. */
function markStopped() {
  const stopped = new Set(setup.changes.filter(({ kind }) => kind === "end").map(({ index }) => index));
  for (const flow of series?.flows ?? []) flow.stopped = stopped.has(flow.index);
}

function addFlow() {
  const begun = new Set(setup.changes.filter(({ kind }) => kind === "begin").map(({ index }) => index));
  const spare = series.flows.find((flow) => flow.spare && !begun.has(flow.index) && described(flow)?.group === byId("like").value);
  if (spare === undefined) show("No more flows can be added to this group while it runs; raise its count in the text.");
  else simulator.tell("change", { kind: "begin", index: spare.index, value: 0 });
}

// ---- the settings

const isChoice = (entry) => !(entry.parameters ?? []).some(({ required }) => required);

function fill(select, entries, chosen = select.value) {
  select.replaceChildren(...entries.map(({ name, summary }) => make("option", { value: name, textContent: name, title: summary ?? "" })));
  if (entries.some(({ name }) => name === chosen)) select.value = chosen;
}

/** Sets the choice of a list; one that it does not have is added. */
function choose(select, name) {
  if (![...select.options].some(({ value }) => value === name)) select.append(make("option", { value: name, textContent: name }));
  select.value = name;
}

/** Where the keys of the bottleneck are. */
const base = () => (run.resolved.topology ? "topology" : `links.${run.description.bottleneck}`);
const bottleneckKeys = () => run.resolved.topology ?? run.resolved.links?.[run.description.bottleneck] ?? {};
const bottleneck = () => run.description.links.find(({ name }) => name === run.description.bottleneck);
const milliseconds = (seconds) => `${Number((1e3 * seconds).toFixed(6))} ms`;

const firstRtt = () => run.description.flows.find(({ base_rtt_s: rtt }) => rtt !== null)?.base_rtt_s ?? null;
const delayFor = (rtt) => Math.max(0, bottleneck().delay_s + (rtt - firstRtt()) / 2);

/** The last value that a change gave a link, if any did up to now. */
const changed = (kind, index) => setup.changes.findLast((change) => change.kind === kind && change.index === index && change.at <= now())?.value;

const SLIDERS = [
  {
    id: "rate", label: "Rate", unit: "Mbit/s", scale: new LogScale(0.1, 1000),
    value: () => (changed("rate", run.link) ?? bottleneck()?.rate_bps ?? NaN) / 1e6,
    use(value) {
      if (isMidway()) simulator.tell("change", { kind: "rate", index: run.link, value: 1e6 * value });
      else set({ [`${base()}.rate`]: `${value} Mbit/s` });
    },
  },
  {
    id: "rtt", label: "Base RTT", unit: "ms", scale: new LogScale(1, 2000),
    value() {
      const delay = changed("delay", run.link);
      return firstRtt() === null || run.resolved.topology?.kind === "parking-lot" ? NaN : 1e3 * (firstRtt() + (delay === undefined ? 0 : 2 * (delay - bottleneck().delay_s)));
    },
    use(value) {
      const delay = delayFor(value / 1e3);
      if (isMidway()) for (const index of [run.link, run.back].filter((link) => link >= 0)) simulator.tell("change", { kind: "delay", index, value: delay });
      else set({ [`${base()}.delay`]: milliseconds(delay) });
    },
  },
  {
    id: "buffer", label: "Buffer", unit: "packets", scale: new LogScale(1, 10000),
    value: () => Number(/(\d+) packets/.exec(bottleneck()?.queue ?? "")?.[1] ?? NaN),
    use: (value) => set({ [`${base()}.queue.limit`]: `${Math.max(1, Math.round(value))} packets` }),
  },
  {
    id: "loss", label: "Loss", unit: "%", scale: new LogScale(0.001, 20, true),
    value() {
      const loss = bottleneckKeys().loss ?? { kind: "none" };
      if (loss.kind === "none") return 0;
      return loss.kind === "bernoulli" ? 100 * loss.probability : NaN;
    },
    use: (value) => set({ [`${base()}.loss`]: value > 0 ? `{ kind = "bernoulli", probability = ${Number((value / 100).toPrecision(6))} }` : "none" }),
  },
];

/** Calls at most once in `wait` ms, the last time for sure. */
function seldom(wait, call) {
  let timer = null;
  let next = null;
  return (...given) => {
    next = given;
    timer ??= setTimeout(() => {
      timer = null;
      call(...next);
    }, wait);
  };
}

function makeSliders() {
  for (const slider of SLIDERS) {
    const { id, label, unit, scale } = slider;
    const range = make("input", { id: `${id}-range`, type: "range", min: 0, max: 1000, step: 1 });
    const number = make("input", { id, type: "number", min: 0, step: "any" });
    range.setAttribute("aria-label", `${label}, ${unit}`);
    number.setAttribute("aria-describedby", `${id}-unit`);
    const use = seldom(120, (value) => {
      slider.held = performance.now();
      slider.use(value);
    });
    range.addEventListener("input", () => {
      const value = scale.value(range.valueAsNumber);
      slider.held = performance.now();
      number.value = value;
      range.setAttribute("aria-valuetext", `${value} ${unit}`);
      use(value);
    });
    number.addEventListener("change", () => {
      if (Number.isFinite(number.valueAsNumber) && number.valueAsNumber >= 0) use(number.valueAsNumber);
    });
    Object.assign(slider, { range, number, held: -Infinity });
    byId("sliders").append(make("div", { className: "control slider" }, make("label", { htmlFor: id, textContent: label }), range, number, make("small", { id: `${id}-unit`, textContent: unit })));
  }
}

function showSettings() {
  if (run === null) return;
  for (const { range, number, scale, unit, value, held } of SLIDERS) {
    const is = value();
    range.disabled = number.disabled = !Number.isFinite(is);
    // Not under the hand that moves it.
    if (performance.now() - held < 700 && !range.disabled) continue;
    number.value = Number.isFinite(is) ? words(is, 5) : "";
    range.value = scale.position(is);
    range.setAttribute("aria-valuetext", Number.isFinite(is) ? `${words(is, 5)} ${unit}` : "set by the text");
  }
  choose(byId("queue"), bottleneckKeys().queue?.kind ?? "drop-tail");
  if (document.activeElement !== byId("seed")) byId("seed").value = run.seed;
  showGroups();
  const sets = setsOf(setup);
  byId("write").disabled = sets.length === 0;
  byId("write").textContent = sets.length === 0 ? "Settings: those of the text" : `Undo ${sets.length} setting${sets.length > 1 ? "s" : ""} made above`;
  byId("write").title = sets.join("\n");
  byId("how").textContent = "Rate and RTT change the run as it goes. The others start it again with the same seed, up to the time shown.";
}

function showGroups() {
  const flows = run.resolved.flows;
  const names = flows.map(({ name }) => name);
  const box = byId("groups");
  if (box.dataset.names !== JSON.stringify(names)) {
    box.dataset.names = JSON.stringify(names);
    box.replaceChildren(
      ...flows.map(({ name }, index) => {
        const select = make("select", { id: `cc-${index}` });
        fill(select, lists.cc.filter((entry) => isChoice(entry)));
        select.addEventListener("change", () => {
          if (select.value === "rule") tryRule(index);
          else set({ [`flows.${index}.cc`]: select.value });
        });
        return make("div", { className: "control" }, make("label", { htmlFor: select.id, textContent: name }), select);
      }),
    );
    byId("rule-group").replaceChildren(...names.map((name, index) => make("option", { value: index, textContent: name })));
  }
  flows.forEach(({ cc }, index) => {
    byId(`cc-${index}`).disabled = cc === undefined || cc === null;
    if (cc) choose(byId(`cc-${index}`), cc.kind);
  });
}

function tryRule(index) {
  byId("rule-box").open = true;
  if (index !== undefined) byId("rule-group").value = index;
  simulator.tell("rule", { text: byId("rule").value });
}

// ---- the text

function mistakes(list) {
  byId("mistakes").replaceChildren(
    ...list.map(({ line, key, message, set: text }) => {
      const where = text !== null ? `${text}: ` : key === "" ? "" : `${key}: `;
      const item = make("li", {}, `${where}${message}`);
      if (line !== null && text === null) {
        const go = make("button", { type: "button", textContent: `line ${line}` });
        go.addEventListener("click", () => goTo(line));
        item.prepend(go, " ");
      }
      return item;
    }),
  );
  byId("text").setAttribute("aria-invalid", String(list.some(({ set: text }) => text === null)));
}

function goTo(line) {
  const area = byId("text");
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  area.scrollTop = (line - 3) * parseFloat(getComputedStyle(area).lineHeight);
}

/** Runs a text: its settings are its own. */
function use(text, { sets = [], changes = [], play = true } = {}) {
  setup = { text, sets: new Map(sets.map((item) => [item.slice(0, Math.max(0, item.indexOf("="))), item.slice(item.indexOf("=") + 1)])), changes };
  byId("text").value = text;
  series = null;
  begin({ play });
}

// ---- buttons, changes, results

function buttons() {
  const isOn = run !== null && outcome === null;
  byId("play").textContent = playing ? "Pause" : "Play";
  byId("play").disabled = byId("again").disabled = run === null;
  for (const id of ["packet", "rtt-step", "finish"]) byId(id).disabled = !isOn;
  byId("add").disabled = !isOn || now() === 0;
  for (const id of ["save-flows", "save-links"]) byId(id).disabled = outcome === null;
  for (const id of ["copy-link", "copy-command", "save-scenario", "save-svg"]) byId(id).disabled = run === null;
  document.documentElement.dataset.state = run === null ? "none" : outcome !== null ? "done" : playing ? "playing" : "paused";
}

function toggle() {
  if (run === null) return;
  if (outcome !== null) begin({ play: true });
  else {
    playing = !playing;
    simulator.tell("play", { speed: speed(), playing });
  }
  buttons();
}

function step(seconds) {
  playing = false;
  simulator.tell("step", { seconds });
  buttons();
}

const CHANGES = {
  rate: ({ index, value }) => `${run.description.links[index]?.name ?? `link ${index}`}: rate ${words(value / 1e6)} Mbit/s`,
  delay: ({ index, value }) => `${run.description.links[index]?.name ?? `link ${index}`}: delay ${words(1e3 * value)} ms`,
  begin: ({ index }) => `${nameOf(index)} begins`,
  end: ({ index }) => `${nameOf(index)} ends`,
};
const nameOf = (index) => run.flows.find((flow) => flow.index === index)?.name ?? `flow ${index}`;

function showChanges() {
  byId("change-count").textContent = setup.changes.length;
  byId("forget").disabled = setup.changes.length === 0;
  byId("changes").replaceChildren(...setup.changes.slice(-50).map((change) => make("li", {}, `${words(change.at, 6)} s: ${CHANGES[change.kind](change)}`)));
}

function showResult() {
  const { summary } = outcome.document;
  const figures = [
    ["utilization", 100 * summary.utilization, "%"],
    ["goodput", summary.goodput_bps / 1e6, "Mbit/s"],
    ["queueing delay, mean", 1e3 * summary.queue_delay_mean_s, "ms"],
    ["loss rate", 100 * summary.loss_rate, "%"],
    ["Jain index", summary.jain_index, ""],
  ];
  byId("summary").replaceChildren(
    ...figures.filter(([, value]) => Number.isFinite(value)).map(([label, value, unit]) => make("div", {}, make("b", { textContent: `${words(value, 4)} ${unit}` }), make("span", { textContent: label }))),
  );
  byId("sum").textContent = outcome.sum ?? "none: this page is not served securely";
  byId("result").hidden = false;
}

// ---- to take away

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  byId("away-state").textContent = `Saved as ${name}.`;
  byId("away-text").hidden = true;
}

async function copy(what, text, more = "") {
  const area = byId("away-text");
  area.hidden = false;
  area.value = text;
  try {
    await navigator.clipboard.writeText(text);
    byId("away-state").textContent = `${what} copied.${more}`;
  } catch {
    area.select();
    byId("away-state").textContent = `${what} to copy:${more}`;
  }
}

const fileName = (end) => `${run.name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60) || "scenario"}${end}`;

async function copyLink() {
  const fragment = await pack({ text: setup.text, sets: setsOf(setup), changes: setup.changes });
  linked = `#${fragment}`;
  history.replaceState(null, "", linked);
  await copy("Link", location.href, setup.sets.size + setup.changes.length > 0 ? " It holds the settings and changes." : "");
}

const asText = () => (setup.sets.size === 0 ? setup.text : toml(run.resolved));

function saveSvg() {
  const names = series.flows.filter(({ begun }) => begun);
  const panels = Object.keys(TITLES).map((name) => ({ title: TITLES[name], lines: linesOf(name), most: series.most[name] }));
  const legend = names.map((flow) => ({ label: flow.name, style: lightStyle(flow.position) }));
  save(fileName(".svg"), "image/svg+xml", svg(panels, series.time.values, series.count, run.duration, legend, run.name));
}

const ACTIONS = {
  play: toggle,
  again: () => begin({ play: true }),
  packet: () => step((1500 * 8) / (series.last(series.linkRate) * 1e6 || 1e7)),
  "rtt-step": () => step(series.last(series.flows[0].rtt) / 1e3 || firstRtt() || 0.1),
  finish: () => simulator.tell("finish"),
  add: addFlow,
  apply: () => use(byId("text").value),
  write: () => use(setup.text),
  forget() {
    setup.changes = [];
    begin({ until: now() });
  },
  "copy-link": copyLink,
  "copy-command": () => copy("Command", command(fileName(".toml"), setsOf(setup).length === 0 ? [] : setsOf(setup)), setup.changes.length > 0 ? " The changes made while it ran are not in it; the link has them." : ""),
  "save-scenario": () => save(fileName(".toml"), "application/toml", asText()),
  "save-svg": saveSvg,
  "save-flows": () => save(fileName("-flows.csv"), "text/csv", outcome.tables.flows),
  "save-links": () => save(fileName("-links.csv"), "text/csv", outcome.tables.links),
};

function wire() {
  for (const [id, act] of Object.entries(ACTIONS)) byId(id).addEventListener("click", act);
  byId("speed").append(...[0.01, 0.1, 1, 3, 10, 30, 100, 1000].map((value) => make("option", { value, textContent: `${value}×`, selected: value === 10 })));
  byId("speed").addEventListener("change", () => simulator.tell("play", { speed: speed(), playing }));
  byId("preset").append(...presets.map(({ title }, index) => make("option", { value: index, textContent: title })));
  byId("preset").addEventListener("change", () => lesson(Number(byId("preset").value)));
  byId("queue").addEventListener("change", () => {
    const limit = setup.sets.get(`${base()}.queue.limit`);
    set({ [`${base()}.queue`]: byId("queue").value, ...(limit === undefined ? {} : { [`${base()}.queue.limit`]: limit }) });
  });
  byId("seed").addEventListener("change", () => {
    if (/^\d{1,19}$/.test(byId("seed").value)) set({ seed: byId("seed").value });
  });
  byId("rule").value = firstRule;
  byId("rule").addEventListener("input", seldom(300, () => tryRule()));
  byId("text").addEventListener("input", seldom(400, () => simulator.tell("check", { text: byId("text").value, sets: [], files: {} })));
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ACTIONS.apply();
  });
  document.addEventListener("keydown", (event) => {
    const id = { " ": "play", ".": "packet", "/": "rtt-step", End: "finish" }[event.key];
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, button, summary")) return;
    event.preventDefault();
    byId(id).click();
  });
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    keys();
    redraw();
  });
  addEventListener("hashchange", open);
}

function lesson(index) {
  byId("note").textContent = presets[index].note;
  use(presets[index].text, { play: !stillness.matches });
}

/** The fragment that this page itself wrote. */
let linked = null;

/** What the link holds, or the first example. */
async function open() {
  if (location.hash === linked && linked !== null) return;
  let given = null;
  let wrong = null;
  try {
    given = await unpack(location.hash.slice(1));
  } catch (error) {
    wrong = `The link cannot be read: ${error.message}. This is the first example instead.`;
  }
  if (given === null) lesson(0);
  else {
    byId("note").textContent = "From a link.";
    use(given.text, { ...given, play: !stillness.matches });
  }
  if (wrong !== null) {
    heard.started = ((usual) => (message) => {
      heard.started = usual;
      usual(message);
      show(wrong);
    })(heard.started);
  }
}

function main() {
  const sentence = lacking();
  if (sentence !== null) {
    byId("main").hidden = true;
    show(sentence);
    return;
  }
  makeSliders();
  wire();
  buttons();
  simulator = new Simulator((message) => heard[message.type]?.(message), lost);
  open();
  requestAnimationFrame(draw);
}

main();
