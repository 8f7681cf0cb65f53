// Turns the samples of a run into curves, like `ackclock.page.over_time`.

/** The largest number of drawn flows. */
const MOST = 6;
/** The largest number of intervals over which rates are averaged. */
const RATE_PARTS = 200;

/** The rows of each name of a table, as indices. */
function parts(column) {
  const found = new Map();
  column.values.forEach((number, row) => {
    const name = column.names[number];
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(row);
  });
  return [...found];
}

function curve(name, rows, times, value) {
  const points = rows.map((row) => [Number(times[row]) / 1e9, value(row)]).filter(([, at]) => Number.isFinite(at));
  return {
    name,
    times: Float64Array.from(points, ([time]) => time),
    values: Float64Array.from(points, ([, at]) => at),
  };
}

/** The received payload per time, in Mbit/s. */
function rate(name, rows, table, end) {
  const [times, values] = [[], []];
  const at = (row) => [Number(table.time_ns.values[row]) / 1e9, Number(table.delivered_bytes.values[row])];
  let [from, before] = at(rows[0]);
  for (const row of rows) {
    const [time, bytes] = at(row);
    if (time <= from || time - from < end / RATE_PARTS) continue;
    times.push(time);
    values.push((8e-6 * (bytes - before)) / (time - from));
    [from, before] = [time, bytes];
  }
  return { name, times: Float64Array.from(times), values: Float64Array.from(values) };
}

/** Window, RTT and goodput of the first flows, and the queues of links. Empty without samples. */
export function panels(result) {
  const end = result.document.duration_s;
  const flows = result.samples("flows");
  const times = flows.time_ns.values;
  const groups = parts(flows.flow);
  const drawn = groups.slice(0, MOST);
  const made = [
    {
      title: "Window, segments",
      curves: drawn.map(([name, rows]) => curve(name, rows, times, (row) => flows.cwnd_segments.values[row])),
    },
    // Zero means that no RTT was measured yet.
    {
      title: "Smoothed RTT, ms",
      curves: drawn.map(([name, rows]) =>
        curve(name, rows, times, (row) => Number(flows.srtt_ns.values[row]) / 1e6 || NaN),
      ),
    },
    { title: "Goodput, Mbit/s", curves: drawn.map(([name, rows]) => rate(name, rows, flows, end)) },
  ];
  const links = result.samples("links");
  const queues = parts(links.link).map(([name, rows]) =>
    curve(name, rows, links.time_ns.values, (row) => links.backlog_packets.values[row]),
  );
  const queued = queues.filter(({ values }) => values.some((value) => value > 0));
  made.push({ title: "Queue, packets", curves: (queued.length > 0 ? queued : queues).slice(0, MOST) });
  return {
    panels: made.filter(({ curves }) => curves.some(({ times: some }) => some.length > 0)),
    hidden: groups.length - drawn.length,
  };
}
