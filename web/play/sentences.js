// Summarises an evaluation in short sentences, as the report does, and formats its figures.

/** A value with so many significant digits, without trailing zeros. */
export function general(value, digits) {
  const text = value.toPrecision(digits);
  if (!text.includes("e")) return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** A value with so many decimals. Zero never has a sign. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** `mean [low, high]`, or the mean alone without an interval. */
export const intervalText = ({ mean, low, high }, digits) =>
  low === null ? fixed(mean, digits) : `${fixed(mean, digits)} [${fixed(low, digits)}, ${fixed(high, digits)}]`;

/** `mean ±half`, or the mean alone without an interval. */
export const estimateText = ({ mean, low, high }, digits) =>
  low === null ? fixed(mean, digits) : `${fixed(mean, digits)} ±${((high - low) / 2).toFixed(digits)}`;

/** The words for a worse and for a better value, by the direction in which a metric improves. */
const DIRECTIONS = {
  higher: ["below", "above"],
  lower: ["above", "below"],
  "near-one": ["farther from 1 than", "closer to 1 than"],
  "reach-one": ["farther below 1 than", "closer to 1 than"],
};

/**
 * A cell of a map: its value, and the signed difference to the reference. `metric`: null for the score, which improves
 * downwards.
 */
export function cellText({ judgement, value, difference }, metric, digits, reference) {
  if (value === null) return "";
  const { label, unit, better } = metric ?? { label: "score", unit: "", better: "lower" };
  const shown = `${label} ${fixed(value.mean, digits)} ${unit}`.trimEnd();
  if (difference === null) return shown;
  const sign = difference.mean < 0 ? -1 : 1;
  const direction = DIRECTIONS[better][sign > 0 ? 0 : 1];
  const size = `${fixed(Math.abs(difference.mean), digits)} ${unit === "%" ? "points" : unit}`.trimEnd();
  const [low, high] =
    difference.low === null ? [] : [sign * difference.low, sign * difference.high].sort((one, other) => one - other);
  const interval = low === undefined ? "" : `, 95 % CI ${fixed(low, digits)} to ${fixed(high, digits)}`;
  return `${shown} (${size} ${direction} ${reference}${interval}${judgement === "open" ? ", not significant" : ""})`;
}

/**
 * The probability of Student's distribution within -t .. t, a finite series (Abramowitz & Stegun 26.7.3 and 26.7.4).
 */
function within(t, degrees) {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let [term, total] = [isOdd ? cosine : 1, 0];
  for (let k = 1 + (degrees % 2); k < degrees; k += 2) {
    total += term;
    term *= (cosine * cosine * k) / (k + 1);
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * total) : sine * total;
}

/** The t with a probability of 95 % within -t .. t. */
function quantile(degrees) {
  let [low, high] = [0, 1];
  while (within(high, degrees) < 0.95) high *= 2;
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    if (within(middle, degrees) < 0.95) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The p-value of a mean difference with its 95 % interval. */
function pValue({ mean, low, high }, replicates) {
  const half = low === null ? 0 : (high - low) / 2;
  if (mean === 0) return 1;
  if (half === 0) return 0;
  return 1 - within((Math.abs(mean) / half) * quantile(replicates - 1), replicates - 1);
}

const ms = (value) => `${general(value, 3)} ms`;

/** The means of the differences that are significant after Holm's correction for all of them. */
function corrected(differences, replicates) {
  const found = differences
    .map((difference) => ({ mean: difference.mean, p: pValue(difference, replicates) }))
    .sort((one, next) => one.p - next.p);
  const end = found.findIndex(({ p }, rank) => p * (found.length - rank) > 0.05);
  return found.slice(0, end < 0 ? found.length : end).map(({ mean }) => mean);
}

function compared({ algorithms, maps: [score] }, name, other, replicates) {
  const at = algorithms.findIndex(({ label }) => label === name);
  const means = corrected(
    score.cells.map((row) => row[at].difference).filter((difference) => difference !== null),
    replicates,
  );
  // The differences are costs.
  const [total, better, worse] = [
    score.cells.length,
    means.filter((mean) => mean < 0).length,
    means.filter((mean) => mean > 0).length,
  ];
  const left = total - better - worse;
  const rest = left > 0 ? ` In ${left}, the difference is not significant.` : "";
  return (
    `By score, ${name} is better than ${other} in ${better} of ${total} environments and worse in ${worse}, ` +
    `after Holm's correction.${rest}`
  );
}

function coexistence({ competitors, environments }) {
  const met = competitors.filter(({ beside }) => beside.length > 0);
  if (met.length === 0) return "Coexistence with other algorithms was not tested.";
  const least = met.reduce((one, other) => (other.beside[0].share.mean < one.beside[0].share.mean ? other : one));
  const [{ environment, share }] = least.beside;
  const part = `${(100 * share.mean).toFixed(0)} % of their fair share`;
  const where = `${least.competitor}, in “${environments.find(({ id }) => id === environment).title}”`;
  if (share.mean >= 1) return `All competing flows get at least ${part} (${where}).`;
  return `The competing flows that suffer most get ${part} (${where}).`;
}

/** An evaluation in three short sentences, without technical terms. */
export function sentences({ document, overview }) {
  const [best] = document.ranking;
  if (best.score === null) return ["Every candidate failed. The tables show the runs before the failures."];
  const [name, other] = [best.candidate, document.reference];
  const spot = (label) => overview.plane.find((each) => each.name === label);
  const achieves = (label) =>
    `It achieves a utilisation of ${spot(label).throughput.toFixed(0)} % with a mean queueing delay of ` +
    `${ms(spot(label).delay)}`;
  if (name === other)
    return [`${name} is the reference of this comparison.`, `${achieves(name)}.`, coexistence(document)];
  return [
    compared(overview, name, other, best.replicates),
    `${achieves(name)} (${other}: ${spot(other).throughput.toFixed(0)} % and ${ms(spot(other).delay)}).`,
    coexistence(document),
  ];
}
