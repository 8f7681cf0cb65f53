// What came of an evaluation in short sentences, and its figures as text: what the command's report says.

/** A value with so many digits that count, without zeros at the end. */
export function general(value, digits) {
  const text = value.toPrecision(digits);
  if (!text.includes("e")) return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** A value with so many digits after the point; no zero has a sign. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** `mean [low, high]`, or the mean alone where there is no interval. */
export const intervalText = ({ mean, low, high }, digits) => (low === null ? fixed(mean, digits) : `${fixed(mean, digits)} [${fixed(low, digits)}, ${fixed(high, digits)}]`);

/** `mean ±half`, or the mean alone where there is no interval. */
export const estimateText = ({ mean, low, high }, digits) => (low === null ? fixed(mean, digits) : `${fixed(mean, digits)} ±${((high - low) / 2).toFixed(digits)}`);

const ms = (value) => `${general(value, 3)} ms`;

function compared({ algorithms, maps: [score] }, name, other) {
  const at = algorithms.findIndex(({ label }) => label === name);
  const count = (judgement) => score.cells.filter((row) => row[at].judgement === judgement).length;
  const [total, better, worse] = [score.cells.length, count("better"), count("worse")];
  const left = total - better - worse;
  return `${name} does better than ${other} in ${better} of ${total} networks and worse in ${worse}${left > 0 ? `; in ${left} the runs cannot tell` : ""}.`;
}

function neighbours({ rivals, environments }) {
  const met = rivals.filter(({ beside }) => beside.length > 0);
  if (met.length === 0) return "What it leaves to connections of other kinds was not tried.";
  const least = met.reduce((one, other) => (other.beside[0].share.mean < one.beside[0].share.mean ? other : one));
  const [{ environment, share }] = least.beside;
  const part = `${(100 * share.mean).toFixed(0)} % of an equal part`;
  const where = `${least.rival}, in “${environments.find(({ id }) => id === environment).title}”`;
  if (share.mean >= 1) return `It takes nothing from its neighbours: the least that one gets is ${part} (${where}).`;
  return `The neighbour that gets least beside it has ${part} (${where}).`;
}

/** An evaluation in three short sentences without a word that needs an explanation. */
export function sentences({ document, overview }) {
  const [best] = document.ranking;
  if (best.score === null) return ["Every candidate failed; what was run before is shown below."];
  const [name, other] = [best.candidate, document.reference];
  const spot = (label) => overview.plane.find((each) => each.name === label);
  const carries = (label) => `It carries ${spot(label).throughput.toFixed(0)} % of what the links can, and its packets wait ${ms(spot(label).delay)} on average`;
  if (name === other) return [`All others are compared with ${name}.`, `${carries(name)}.`, neighbours(document)];
  return [compared(overview, name, other), `${carries(name)} (${other}: ${spot(other).throughput.toFixed(0)} % and ${ms(spot(other).delay)}).`, neighbours(document)];
}
