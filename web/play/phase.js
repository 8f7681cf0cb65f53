// The phase plane: the windows of two flows against each other, from left to right and from bottom to top.

import { styleOf, theme } from "./charts.js";
import { ceiling, ticks, words } from "./scales.js";

const MARGIN = { left: 52, right: 10, top: 8, bottom: 36 };

export class PhasePlane {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.reset();
  }

  reset() {
    this.top = 0;
    this.most = 0;
    this.drawn = 0;
    this.stale = true;
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    if (this.width === width && this.height === height && this.ratio === ratio) return;
    const side = Math.min(width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.side = side;
    this.stale = true;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  x(value) {
    return MARGIN.left + (value / this.top) * this.side;
  }

  y(value) {
    return MARGIN.top + this.side - (value / this.top) * this.side;
  }

  /** Draws up to row `count`. `flows`: the two flows. `pipe`: segments that the path holds without a queue. */
  draw(flows, count, pipe) {
    this.fit();
    const [across, up] = flows.map(({ window }) => window.values);
    // A flow that does not send has NaN, and the comparison skips it.
    for (let index = this.drawn; index < count; index += 1)
      if (across[index] + up[index] > 0) this.most = Math.max(this.most, across[index], up[index]);
    const top = ceiling(Math.max(this.most, 10) * 1.02);
    if (top > this.top || this.stale || count < this.drawn) {
      this.top = Math.max(this.top, top);
      this.drawn = 0;
      this.stale = false;
      this.axes(flows, pipe);
    }
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.strokeStyle = styleOf(0).colour;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.beginPath();
    let isOn = false;
    for (let index = Math.max(0, this.drawn - 1); index < count; index += 1) {
      const place = [this.x(across[index]), this.y(up[index])];
      if (!place.every(Number.isFinite)) isOn = false;
      else if (isOn) context.lineTo(...place);
      else {
        context.moveTo(...place);
        isOn = true;
      }
    }
    context.stroke();
    this.drawn = count;
  }

  axes(flows, pipe) {
    const context = this.context;
    const { soft, line, ink } = theme();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = soft;
    context.lineWidth = 1;
    for (const value of ticks(this.top)) {
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(words(value), MARGIN.left - 6, this.y(value));
      context.textAlign = "center";
      context.textBaseline = "top";
      context.fillText(words(value), this.x(value), MARGIN.top + this.side + 5);
    }
    context.textAlign = "right";
    context.fillText(`${flows[0].name} →`, MARGIN.left + this.side, MARGIN.top + this.side + 20);
    context.textAlign = "left";
    context.fillText(`↑ ${flows[1].name}`, MARGIN.left + 5, MARGIN.top);
    this.straight([0, 0], [this.top, this.top], [3, 3], soft);
    const end = Math.min(pipe, this.top);
    if (pipe > 0 && pipe < 2 * this.top) this.straight([end, pipe - end], [pipe - end, end], [6, 3], ink);
    context.setLineDash([]);
    context.strokeStyle = line;
    context.strokeRect(MARGIN.left, MARGIN.top, this.side, this.side);
  }

  straight(from, to, dash, colour) {
    const context = this.context;
    context.strokeStyle = colour;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(this.x(from[0]), this.y(from[1]));
    context.lineTo(this.x(to[0]), this.y(to[1]));
    context.stroke();
  }
}
