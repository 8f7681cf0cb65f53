// The signs and words of judgements.

/** The signs of marks. A small difference is significant and below 1 % of the metric. */
export const SIGNS = { better: "▲", worse: "▼", small: "•", open: "·", reference: "=", none: "", failed: "✕" };

export const WORDS = {
  better: "better",
  worse: "worse",
  open: "no significant difference",
  reference: "the reference",
  none: "does not apply",
  failed: "failed",
};
