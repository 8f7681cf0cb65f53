// The positions of packets between two steps. Each packet is on a leg of the path from its sender to its receiver and
// back.

/** The legs, in the order of the way. Before and after the bottleneck there may be no links. */
export const LEGS = ["before", "queue", "wire", "after", "back"];
/** Numbers of a packet: leg, position on the leg (in the queue: packets ahead), flow, mark. */
export const NUMBERS = 4;

const leg = (name) => LEGS.indexOf(name);
/** Packets of a link that are told of. */
const MOST = 600;

export class Flight {
  /** `routes`: of each flow its index in the run, and the names of the links there and back. */
  constructor(live, description, bottleneck, routes) {
    this.live = live;
    this.bottleneck = bottleneck;
    this.delays = new Map(description.links.map(({ name, delay_s: delay }) => [name, delay]));
    /** For each crossed link and each flow, the link's part of a leg. */
    this.links = new Map([[bottleneck, new Map()]]);
    for (const route of routes) this.add(route);
  }

  add({ index, position, path, back, like }) {
    const name = this.live.linkNames[this.bottleneck];
    const turn = path.indexOf(name);
    if (turn < 0) return;
    const parts = { before: path.slice(0, turn), wire: [name], after: path.slice(turn + 1), back };
    for (const [part, links] of Object.entries(parts)) {
      const delays = links.map((link) => this.delays.get(like(link)) ?? 0);
      const whole = delays.reduce((sum, delay) => sum + delay, 0);
      let from = 0;
      links.forEach((link, place) => {
        const length = whole > 0 ? delays[place] / whole : 1 / links.length;
        const number = this.live.linkNames.indexOf(link);
        if (!this.links.has(number)) this.links.set(number, new Map());
        this.links.get(number).set(index, { leg: leg(part), from, length, position });
        from += length;
      });
    }
  }

  /** The packets of all links, `NUMBERS` for each. */
  packets() {
    const out = [];
    const now = this.live.now;
    for (const [link, flows] of this.links) {
      const { rate_bps: rate, delay_s: delay } = this.live.link(link);
      const isBottleneck = link === this.bottleneck;
      let queued = 0;
      for (const { flow, wire_bytes: bytes, marked, arrives_s: arrives } of this.live.packets(link).slice(0, MOST)) {
        const place = flows.get(flow) ?? (isBottleneck ? { leg: leg("wire"), from: 0, length: 1, position: -1 } : null);
        if (place === null) continue;
        const waits = Number.isNaN(arrives);
        if (waits && isBottleneck) {
          out.push(leg("queue"), queued, place.position, marked ? 1 : 0);
          queued += 1;
          continue;
        }
        const whole = delay + (rate > 0 ? (8 * bytes) / rate : 0);
        const done = waits ? 0 : whole > 0 ? Math.min(1, Math.max(0, 1 - (arrives - now) / whole)) : 1;
        out.push(place.leg, place.from + place.length * done, place.position, marked ? 1 : 0);
      }
    }
    return Float64Array.from(out);
  }
}
