// Packets between senders and receivers, drawn where they are: at slow speed, and from packet to packet.

import { firstRtt } from "./bottleneck.js";
import { styleOf, theme } from "./charts.js";
import { byId } from "./elements.js";
import { LEGS, NUMBERS } from "./flight.js";
import { lab, now, speed } from "./lab.js";
import { words } from "./scales.js";

/** From this speed down packets can be followed. */
const SLOW = 0.1;
const SIDE = 10;
const GAP = 2;
const [DATA, ACKS] = [56, 112];
/** Widths of the legs from left to right, those that there are. */
const SHARES = { before: 0.16, queue: 0.32, wire: 0.52, after: 0.16 };

let told = "";

/** Has packets drawn, or no longer: where they are is asked for only then. */
export function watch() {
  const isOn = lab.stepped || speed() <= SLOW;
  if (isOn === lab.watched) return;
  lab.watched = isOn;
  byId("wire").hidden = !isOn;
  lab.packets = null;
  lab.simulator.tell("watch", { isOn });
}

/** The packets as objects: leg, place, flow, and whether it is marked. */
const unpacked = (numbers) =>
  Array.from({ length: numbers.length / NUMBERS }, (_, index) => {
    const [leg, place, position, marked] = numbers.subarray(NUMBERS * index, NUMBERS * (index + 1));
    return { leg: LEGS[leg], place, position, marked: marked === 1 };
  });

/** Packets that a column counted since `time`. */
function since(column, time) {
  const { values } = lab.series.time;
  let index = lab.series.count - 1;
  while (index > 0 && values[index - 1] > time) index -= 1;
  return index < 1 ? 0 : lab.series.last(column) - column.values[index - 1];
}

/** For how long a drop is seen: half a round-trip time, s. */
const memory = () => (firstRtt() ?? 0.1) / 2;

/** The canvas and the colours, read once per picture. */
function palette(canvas) {
  const colours = new Map();
  const colourOf = (position) => {
    if (!colours.has(position)) colours.set(position, styleOf(position).colour);
    return colours.get(position);
  };
  return { pen: canvas.getContext("2d"), colourOf, ...theme() };
}

function packet({ pen, colourOf, soft, ink, paper }, x, y, { leg, position, marked }) {
  pen.fillStyle = position < 0 ? soft : colourOf(position);
  pen.beginPath();
  if (leg === "back") pen.arc(x, y, SIDE / 2, 0, 7);
  else pen.rect(x - SIDE / 2, y - SIDE / 2, SIDE, SIDE);
  pen.fill();
  if (position >= 0 && position < 9) {
    pen.fillStyle = paper;
    pen.font = "bold 9px system-ui, sans-serif";
    pen.fillText(String(position + 1), x, y + 0.5);
  }
  if (!marked) return;
  pen.strokeStyle = ink;
  pen.beginPath();
  pen.arc(x, y, SIDE - 2, 0, 7);
  pen.stroke();
}

/** Where each leg of the data begins and ends. */
function layOut(width, packets) {
  const legs = ["before", "queue", "wire", "after"].filter(
    (leg) => leg === "queue" || leg === "wire" || packets.some((one) => one.leg === leg),
  );
  const [left, right] = [16, width - 16];
  const whole = legs.reduce((sum, leg) => sum + SHARES[leg], 0);
  const ends = { back: [right, left] };
  let from = left;
  for (const leg of legs) {
    const to = from + ((right - left) * SHARES[leg]) / whole;
    ends[leg] = [from, to];
    from = to;
  }
  return ends;
}

function scene({ pen, soft, line }, width, ends, queued) {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = soft;
  pen.strokeStyle = line;
  pen.lineWidth = 1;
  for (const y of [DATA, ACKS]) {
    pen.beginPath();
    pen.moveTo(16, y + SIDE);
    pen.lineTo(width - 16, y + SIDE);
    pen.stroke();
  }
  for (const x of [4, width - 10]) pen.fillRect(x, DATA - SIDE, 6, ACKS - DATA + 3 * SIDE);
  const [from, to] = ends.queue;
  pen.strokeStyle = soft;
  pen.strokeRect(from + 2, DATA - SIDE, to - from - 4, 2 * SIDE);
  const rate = lab.series.last(lab.series.linkRate);
  const labels = [
    ["left", 4, "senders"],
    ["center", (from + to) / 2, `queue ${queued}`],
    ["center", (ends.wire[0] + ends.wire[1]) / 2, Number.isFinite(rate) ? `${words(rate)} Mbit/s` : "bottleneck"],
    ["right", width - 4, "receivers"],
  ];
  for (const [align, x, text] of labels) {
    pen.textAlign = align;
    pen.fillText(text, x, 12);
  }
  pen.textAlign = "center";
  pen.fillText("← ACKs", width / 2, ACKS + 2 * SIDE);
}

/** Recent losses at their places: before the queue, or on the wire. */
function losses({ pen, warn }, ends, dropped, lost) {
  pen.fillStyle = warn;
  pen.font = "bold 12px system-ui, sans-serif";
  pen.textAlign = "left";
  if (dropped > 0) pen.fillText(`▼ ${dropped}`, ends.queue[0] + 4, DATA + 2 * SIDE + 6);
  if (lost > 0) pen.fillText(`✕ ${lost}`, ends.wire[0] + 4, DATA + 2 * SIDE + 6);
}

function say(text) {
  if (text !== told) byId("wire-state").textContent = text;
  told = text;
}

/** Describes the canvas in words. */
function tell(packets, queued, dropped, lost) {
  const count = (leg) => packets.filter((one) => one.leg === leg).length;
  const shares = new Map();
  for (const { position } of packets.filter(({ leg }) => leg === "queue"))
    shares.set(position, (shares.get(position) ?? 0) + 1);
  const names = Array.from(
    shares,
    ([position, packets]) => `${lab.series.flows[position]?.name ?? "others"} ${packets}`,
  );
  const marked = packets.filter((one) => one.marked).length;
  const parts = [
    `${queued} queued${names.length > 0 ? ` (${names.join(", ")})` : ""}`,
    `${count("wire")} on the wire`,
    `${count("back")} ACKs`,
    `${marked} marked`,
    `${dropped} dropped and ${lost} lost in the last ${words(1e3 * memory(), 3)} ms`,
  ];
  const key = lab.series.flows
    .filter(({ begun }, position) => begun && position < 9)
    .map(({ name, position }) => `${position + 1} ${name}`);
  say(`${parts.join(", ")}. Flows: ${key.join(", ")}.`);
}

export function drawWire() {
  if (!lab.watched) return;
  const canvas = byId("chart-wire");
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = Math.min(devicePixelRatio || 1, 3);
  // Setting its size clears it.
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  if (lab.packets === null) {
    say(lab.outcome === null ? "" : "The run has ended.");
    return;
  }
  const look = palette(canvas);
  look.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const packets = unpacked(lab.packets);
  const queued = lab.series.last(lab.series.queue);
  const [dropped, lost] = [lab.series.drops, lab.series.losses].map((column) => since(column, now() - memory()));
  const ends = layOut(width, packets);
  scene(look, width, ends, queued);
  const room = Math.floor((ends.queue[1] - ends.queue[0] - 8) / (SIDE + GAP));
  for (const one of packets) {
    const [from, to] = ends[one.leg];
    if (one.leg !== "queue") packet(look, from + (to - from) * one.place, one.leg === "back" ? ACKS : DATA, one);
    else if (one.place < room) packet(look, to - 4 - SIDE / 2 - one.place * (SIDE + GAP), DATA, one);
  }
  losses(look, ends, dropped, lost);
  tell(packets, queued, dropped, lost);
}
