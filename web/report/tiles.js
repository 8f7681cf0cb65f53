// The verdict of an evaluation: its sentences, and four figures of candidate, reference and best algorithm.

import { make, unseen } from "./elements.js";
import { intervalText } from "./figures.js";
import { SIGNS, WORDS } from "./words.js";

const line = (name, text) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: text }));

/** A figure of the best candidate, the reference and the best algorithm. */
function tile({ label, unit, candidate, reference, best, judgement }, other, nameOf) {
  const text = (told) => (told === null ? "–" : `${told.text} ${unit === "%" || unit === "ms" ? unit : "%"}`);
  const sign =
    judgement === ""
      ? []
      : [make("span", { className: "mark", textContent: SIGNS[judgement] }), unseen(WORDS[judgement])];
  const figure = make("p", { className: "figure" }, make("b", { textContent: text(candidate) }), " ", ...sign);
  if (candidate !== null) figure.title = `${intervalText(candidate, 3)} ${unit}`;
  return make(
    "li",
    { className: `tile ${judgement}` },
    make("h3", { textContent: label }),
    figure,
    make(
      "dl",
      {},
      line(nameOf(other), text(reference)),
      ...(best === null ? [] : [line(`best: ${nameOf(best.label)}`, text(best))]),
    ),
  );
}

/** The sentences, the figures and the failures. */
export function verdict({ document: { ranking, reference, environments }, overview: { summary, tiles } }, { nameOf }) {
  const [best] = ranking;
  const named = (sentence) => sentence.replaceAll(best.candidate, nameOf(best.candidate));
  const [first, ...more] = summary.sentences.map(named);
  const title = (id) => environments.find((each) => each.id === id).title;
  const failed = ranking
    .filter(({ failure }) => failure !== null)
    .map(({ candidate, failure }) =>
      make("p", {
        className: "failure",
        textContent:
          `✕ ${nameOf(candidate)} failed in “${title(failure.environment)}”, replicate ${failure.replicate}: ` +
          `${failure.message}`,
      }),
    );
  const told = more.map((textContent) => make("span", { textContent: `${textContent} ` }));
  return [
    make("p", { className: "verdict" }, make("span", { textContent: first })),
    ...(best.score === null
      ? []
      : [
          make("ul", { className: "tiles" }, ...tiles.map((each) => tile(each, reference, nameOf))),
          make("p", { className: "soft" }, ...told),
        ]),
    ...failed,
  ];
}
