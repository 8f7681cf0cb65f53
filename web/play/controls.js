// The buttons that run and stop, and the keys that do the same.

import { firstRtt } from "./bottleneck.js";
import { byId } from "./elements.js";
import { make } from "../report/elements.js";
import { begin, lab, now, order, speed } from "./lab.js";
import { watch } from "./wire.js";

export function buttons() {
  const isOn = lab.run !== null && lab.outcome === null;
  for (const id of ["knobs", "sliders"]) byId(id).disabled = lab.run === null;
  byId("play").textContent = lab.playing ? "Pause" : "Play";
  for (const id of ["play", "again", "pin"]) byId(id).disabled = lab.run === null;
  for (const id of ["packet", "rtt-step", "finish"]) byId(id).disabled = !isOn;
  byId("add").disabled = !isOn || now() === 0;
  for (const id of ["save-flows", "save-links"]) byId(id).disabled = lab.outcome === null;
  for (const id of ["copy-link", "copy-command", "save-scenario", "save-svg"]) byId(id).disabled = lab.run === null;
  document.documentElement.dataset.state =
    lab.run === null ? "none" : lab.outcome !== null ? "done" : lab.playing || !lab.resting ? "playing" : "paused";
}

function toggle() {
  if (lab.run === null) return;
  if (lab.outcome !== null) begin({ play: true });
  else {
    lab.playing = !lab.playing;
    lab.stepped = false;
    watch();
    order("play", { speed: speed(), playing: lab.playing });
  }
  buttons();
}

function step(seconds) {
  lab.playing = false;
  lab.stepped = true;
  watch();
  order("step", { seconds });
  buttons();
}

const SPEEDS = [0.01, 0.1, 1, 3, 10, 30, 100, 1000];
const KEYS = { " ": "play", ".": "packet", "/": "rtt-step", End: "finish" };
const ACTIONS = {
  play: toggle,
  again: () => begin({ play: true }),
  packet: () => step((1500 * 8) / (lab.series.last(lab.series.linkRate) * 1e6 || 1e7)),
  "rtt-step": () =>
    step((lab.series.flows.length > 0 && lab.series.last(lab.series.flows[0].rtt) / 1e3) || firstRtt() || 0.1),
  finish: () => order("finish"),
};

export function wireControls() {
  for (const [id, act] of Object.entries(ACTIONS)) byId(id).addEventListener("click", act);
  byId("speed").append(
    ...SPEEDS.map((value) => make("option", { value, textContent: `${value}×`, selected: value === 10 })),
  );
  byId("speed").addEventListener("change", () => {
    lab.stepped = false;
    watch();
    order("play", { speed: speed(), playing: lab.playing });
  });
  document.addEventListener("keydown", (event) => {
    const id = KEYS[event.key];
    if (
      id === undefined ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      /** @type {Element} */ (event.target).closest("input, textarea, select, button, summary")
    )
      return;
    event.preventDefault();
    byId(id).click();
  });
}
