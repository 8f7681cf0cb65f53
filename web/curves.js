// A run over time for the charts of an evaluation. It contains windows of flows and the bottleneck queue, thinned and
// rounded.

/** Flows drawn: more lines are indistinguishable. */
const MOST_FLOWS = 6;

/** The nearest number with so many digits after the point. A tie rounds to even. */
function rounded(value, digits) {
  if (!Number.isFinite(value)) return null;
  const twice = value * 2 * 10 ** digits;
  if (!Number.isInteger(twice) || twice % 2 === 0) return Number(value.toFixed(digits));
  const below = Math.floor(twice / 2);
  return (below % 2 === 0 ? below : below + 1) / 10 ** digits;
}

/** First and last index of each stretch. A stretch keeps two of its values. */
function stretches(length, points) {
  const size = Math.ceil(length / Math.floor(points / 2));
  const found = [];
  for (let start = 0; start < length; start += size) found.push([start, Math.min(start + size, length)]);
  // The last stretch also has at least two values.
  if (found.length > 1 && found.at(-1)[1] - found.at(-1)[0] < 2) found.splice(-2, 2, [found.at(-2)[0], length]);
  return found;
}

/** At most so many values: the least and the greatest of every stretch, in the order of time. */
function thin(values, points) {
  if (values.length <= points) return values;
  return stretches(values.length, points).flatMap(([start, end]) => {
    let [low, high] = [start, start];
    for (let at = start; at < end; at += 1) {
      if (values[at] < values[low]) low = at;
      if (values[at] > values[high]) high = at;
    }
    return [values[Math.min(low, high)], values[Math.max(low, high)]];
  });
}

/** The times at which `thin` puts its values. */
function thinTimes(times, points) {
  if (times.length <= points) return times;
  return stretches(times.length, points).flatMap(([start, end]) => [
    times[start],
    times[start + Math.floor((end - start) / 2)],
  ]);
}

/** Some of the flows in their order: the first of every group goes before any second one. */
function chooseFlows(names, groups) {
  const seen = new Map();
  const ranked = names.map((name, order) => {
    const group = groups.get(name) ?? name;
    const rank = seen.get(group) ?? 0;
    seen.set(group, rank + 1);
    return { name, order, rank };
  });
  const chosen = ranked.sort((one, other) => one.rank - other.rank || one.order - other.order).slice(0, MOST_FLOWS);
  return chosen.sort((one, other) => one.order - other.order).map(({ name }) => name);
}

const named = ({ values, names }, at) => names[Number(values[at])];

/** The rows of each name of a column, in their order. */
function rowsBy(column) {
  const rows = new Map();
  for (let at = 0; at < column.values.length; at += 1) {
    const name = named(column, at);
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name).push(at);
  }
  return rows;
}

/** The lines of a result, or null without samples. `description` belongs to its scenario. */
export function curvesOf(result, description, points) {
  const groups = new Map(result.document.flows.map(({ name, group }) => [name, group]));
  const flows = result.samples("flows");
  const byFlow = rowsBy(flows.flow);
  if (byFlow.size === 0) return null;
  const chosen = chooseFlows([...byFlow.keys()], groups);
  const line = (column, rows) =>
    thin(
      rows.map((at) => Number(column.values[at])),
      points,
    ).map((value) => rounded(value, 1));
  const times = byFlow.get(chosen[0]).map((at) => Number(flows.time_ns.values[at]) / 1e9);
  const cwnd = chosen.map((name) => line(flows.cwnd_segments, byFlow.get(name)));
  const x = thinTimes(times, points).map((value) => rounded(value, 3));
  const links = result.samples("links");
  const queue = line(links.backlog_packets, rowsBy(links.link).get(description.bottleneck) ?? []);
  return {
    flows: chosen,
    hidden: byFlow.size - chosen.length,
    x,
    cwnd,
    queue,
    warmup_s: description.warmup_s,
    duration_s: description.duration_s,
  };
}
