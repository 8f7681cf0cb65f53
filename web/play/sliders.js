// The sliders of the bottleneck. They change a running simulation, or the settings before its start.

import {
  base,
  bottleneck,
  bottleneckKeys,
  changed,
  delayFor,
  firstRtt,
  lastChange,
  queueInWords,
} from "./bottleneck.js";
import { byId, seldom } from "./elements.js";
import { make } from "../report/elements.js";
import { isMidway, lab, set } from "./lab.js";
import { LogScale, words } from "./scales.js";

const milliseconds = (seconds) => `${Number((1e3 * seconds).toFixed(6))} ms`;

const SLIDERS = [
  {
    id: "rate",
    label: "Rate",
    unit: "Mbit/s",
    scale: new LogScale(0.1, 1000),
    value: () => (bottleneck()?.varies ? NaN : (changed("rate", lab.run.link) ?? bottleneck()?.rate_bps ?? NaN) / 1e6),
    use(value) {
      if (isMidway()) lab.simulator.tell("change", { kind: "rate", index: lab.run.link, value: 1e6 * value });
      else set({ [`${base()}.rate`]: `${value} Mbit/s` });
    },
  },
  {
    id: "rtt",
    label: "Base RTT",
    unit: "ms",
    scale: new LogScale(1, 2000),
    value() {
      const delay = changed("delay", lab.run.link);
      return firstRtt() === null || lab.run.resolved.topology?.kind === "parking-lot"
        ? NaN
        : 1e3 * (firstRtt() + (delay === undefined ? 0 : 2 * (delay - bottleneck().delay_s)));
    },
    use(value) {
      const delay = delayFor(value / 1e3);
      if (isMidway())
        for (const index of [lab.run.link, lab.run.back].filter((link) => link >= 0))
          lab.simulator.tell("change", { kind: "delay", index, value: delay });
      else set({ [`${base()}.delay`]: milliseconds(delay) });
    },
  },
  {
    id: "buffer",
    label: "Buffer",
    unit: "packets",
    scale: new LogScale(1, 10000),
    value() {
      const [limit, queue] = ["limit", "queue"].map((kind) => lastChange(kind, lab.run.link));
      // A queue that came later has a limit of its own.
      if (limit !== undefined && !(queue?.at > limit.at)) return limit.value;
      return Number(/(\d+) packets?/.exec(queueInWords())?.[1] ?? NaN);
    },
    use(value) {
      const packets = Math.max(1, Math.round(value));
      if (isMidway()) lab.simulator.tell("change", { kind: "limit", index: lab.run.link, value: packets });
      else set({ [`${base()}.queue.limit`]: `${packets} packets` });
    },
  },
  {
    id: "loss",
    label: "Loss",
    unit: "%",
    scale: new LogScale(0.001, 20, true),
    value() {
      const now = changed("loss", lab.run.link);
      if (now !== undefined) return 100 * now;
      const loss = bottleneckKeys().loss ?? { kind: "none" };
      if (loss.kind === "none") return 0;
      return loss.kind === "bernoulli" ? 100 * loss.probability : NaN;
    },
    use(value) {
      const probability = Number((value / 100).toPrecision(6));
      if (isMidway()) lab.simulator.tell("change", { kind: "loss", index: lab.run.link, value: probability });
      else
        set({ [`${base()}.loss`]: probability > 0 ? `{ kind = "bernoulli", probability = ${probability} }` : "none" });
    },
  },
];

export function makeSliders() {
  for (const slider of SLIDERS) {
    const { id, label, unit, scale } = slider;
    const range = make("input", { id: `${id}-range`, type: "range", min: 0, max: 1000, step: 1 });
    const number = make("input", { id, type: "number", min: 0, step: "any" });
    range.setAttribute("aria-label", `${label}, ${unit}`);
    number.setAttribute("aria-describedby", `${id}-unit`);
    const use = seldom(120, (value) => slider.use(value));
    range.addEventListener("input", () => {
      const value = scale.value(range.valueAsNumber);
      hold(slider, 700);
      number.value = value;
      range.setAttribute("aria-valuetext", `${value} ${unit}`);
      use(value);
    });
    number.addEventListener("change", () => {
      const value = number.valueAsNumber;
      if (!(value >= 0)) return;
      hold(slider, 250);
      range.value = scale.position(value);
      range.setAttribute("aria-valuetext", `${value} ${unit}`);
      use(value);
    });
    Object.assign(slider, { range, number, heldTo: 0 });
    byId("sliders").append(
      make(
        "div",
        { className: "slider" },
        make("label", { htmlFor: id, textContent: label }),
        number,
        make("small", { id: `${id}-unit`, textContent: unit }),
        range,
      ),
    );
  }
}

/** Keeps a value that the user has just set. */
function hold(slider, milliseconds) {
  slider.heldTo = performance.now() + milliseconds;
}

/** Shows the values in force after a refused change. */
export function release() {
  for (const slider of SLIDERS) slider.heldTo = 0;
  showSliders();
}

export function showSliders() {
  for (const { range, number, scale, unit, value, heldTo } of SLIDERS) {
    const is = value();
    range.disabled = number.disabled = !Number.isFinite(is);
    const isHeld = performance.now() < heldTo || document.activeElement === number;
    if (isHeld && !range.disabled) continue;
    number.value = Number.isFinite(is) ? words(is, 5) : "";
    range.value = scale.position(is);
    range.setAttribute("aria-valuetext", Number.isFinite(is) ? `${words(is, 5)} ${unit}` : "set by the text");
  }
}
