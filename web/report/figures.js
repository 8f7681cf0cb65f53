// Formats the figures of an evaluation.

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
