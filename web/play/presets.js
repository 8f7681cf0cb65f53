// Scenarios to begin with.

const dumbbell = (name, duration, rate, delay, queue, flows) => `schema = 2
name = "${name}"
duration = "${duration}"

[topology]
kind = "dumbbell"
rate = "${rate}"
delay = "${delay}"                       # one way
queue = ${queue}
${flows
  .map(
    ([flow, cc, rest]) => `
[[flows]]
name = "${flow}"
cc = ${cc}
${rest}`,
  )
  .join("")}`;

export const presets = [
  {
    title: "The sawtooth and 3/4",
    note:
      "One AIMD flow adds a segment each round trip and halves its window at a loss, so the window is a sawtooth between W/2 and W: 3/4 W on average. " +
      "With a buffer of one bandwidth-delay product (BDP) the link stays busy even right after a cut. Make the buffer 1 packet: 3/4 of the rate is left.",
    text: dumbbell("sawtooth", "60 s", "10 Mbit/s", "25 ms", '{ kind = "drop-tail", limit = "1 BDP" }', [["aimd", '{ kind = "aimd", increase = 1, remaining = 0.5 }', ""]]),
  },
  {
    title: "Convergence: a late flow",
    note: "Two AIMD flows; the second begins after 15 s. At each common loss the larger window loses more than the smaller one, so they meet. Give both the algorithm mimd: they do not.",
    text: dumbbell("late-flow", "90 s", "10 Mbit/s", "25 ms", '{ kind = "drop-tail", limit = "50 packets" }', [
      ["first", '"aimd"', ""],
      ["late", '"aimd"', 'start = "15 s"\n'],
    ]),
  },
  {
    title: "Bufferbloat",
    note: "The buffer holds seconds of data, and CUBIC fills it: the round-trip time is that of the queue. Choose the queue codel or fq-codel, or pull the buffer down to 30 packets.",
    text: dumbbell("bufferbloat", "60 s", "5 Mbit/s", "15 ms", '{ kind = "drop-tail", limit = "1000 packets" }', [["upload", '"cubic"', "count = 2\n"]]),
  },
  {
    title: "CUBIC and BBR",
    note: "One flow that fills queues beside one that measures rate and round-trip time. Who wins depends on the buffer: pull it.",
    text: dumbbell("cubic-bbr", "60 s", "20 Mbit/s", "20 ms", '{ kind = "drop-tail", limit = "1 BDP" }', [
      ["cubic", '"cubic"', ""],
      ["bbr", '"bbr3"', ""],
    ]),
  },
  {
    title: "RTT unfairness",
    note: "Two AIMD flows with access links of 5 ms and 50 ms. A window grows once per round trip, so the short path gets more. Try cubic.",
    text: `schema = 2
name = "rtt-unfairness"
duration = "90 s"

[links.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "60 packets" }

[links.near]
rate = "100 Mbit/s"
delay = "5 ms"

[links.far]
rate = "100 Mbit/s"
delay = "50 ms"

[[flows]]
name = "near"
cc = "aimd"
path = ["near", "bottleneck"]

[[flows]]
name = "far"
cc = "aimd"
path = ["far", "bottleneck"]
`,
  },
];

/** A rule to begin with: AIMD that looks at the queue. */
export const firstRule = `# what an acknowledged segment adds, in segments
grow = gain / w
# what remains of the window after a congestion event
cut = if(queue_delay > 10 ms, 0.5, 0.8) * w
gain = 1
`;
