// The first run of the page: the link's configuration, the scenario that the page was saved with, or a lesson.

import { carried, textOf } from "../files.js";
import { pin, unpin } from "./compare.js";
import { byId, show } from "./elements.js";
import { make } from "../report/elements.js";
import { isStill, lab, setupOf } from "./lab.js";
import { measured, parsed } from "./lesson.js";
import { unpack } from "./link.js";
import { blocks, inline } from "./markdown.js";
import { words } from "./scales.js";
import { use } from "./text.js";

const LESSON = /^#lesson=([a-z0-9-]+)$/;

/** Names of the lessons, each with its parsed file. */
const lessons = new Map();
/** The lesson that is shown, if any. */
let lesson = null;
let lessonsRead = null;
let isFolded = false;
const isNarrow = matchMedia("(max-width: 900px)");

async function readLessons() {
  const names = JSON.parse(await textOf("play/lessons/index.json"));
  const texts = await Promise.all(names.map((name) => textOf(`play/lessons/${name}.md`)));
  names.forEach((name, index) => lessons.set(name, parsed(texts[index])));
  byId("lesson-list").append(
    ...Array.from(lessons, ([name, { title }], index) =>
      make("option", { value: name, textContent: `${index + 1}. ${title}` }),
    ),
  );
}

/** Runs the scenario of the lesson with some settings. */
const tryOut = (sets) => use(lesson.scenario, { sets, play: !isStill() });

/** A change that the lesson proposes, with the expected figures. */
function stepElement(step) {
  const button = make("button", { type: "button", textContent: step.label, title: step.sets.join("\n") });
  button.addEventListener("click", () => {
    tryOut(step.sets);
    foldLesson();
    // On narrow screens the charts are below the text, so scroll to them.
    if (isNarrow.matches) byId("stage").scrollIntoView();
  });
  step.found = step.expectations.map(() => make("b", { textContent: "" }));
  const figures = step.expectations.map(({ label, least, most, unit }, index) =>
    make("p", {}, `${label}: ${least} to ${most}${unit === "" ? "" : ` ${unit}`} `, step.found[index]),
  );
  return make("li", {}, button, ...figures);
}

/** Folds the text of the lesson after the first change. Its experiments stay visible. */
export function foldLesson() {
  if (lesson === null || isFolded) return;
  isFolded = true;
  byId("lesson-before").open = false;
}

/** Shows or hides the lesson, and the column for it. */
function place(isShown) {
  byId("lesson").hidden = !isShown;
  byId("main").classList.toggle("with-lesson", isShown);
}

const text = (id, elements) =>
  byId(id)
    .querySelector("div")
    .replaceChildren(...elements);

function showLesson(name) {
  lesson = lessons.get(name);
  isFolded = false;
  byId("lesson-list").value = name;
  place(true);
  byId("lesson-title").textContent = lesson.title;
  byId("lesson-before").open = true;
  byId("lesson-after").open = false;
  const steps = make("ol", { className: "steps" }, ...lesson.steps.map(stepElement));
  const how = make(
    "p",
    { className: "hint" },
    ...inline(
      "Each button restarts the lesson with its change. After a whole run, the result appears next to the " +
        "expected range.",
    ),
  );
  const before = blocks(lesson.before);
  // The last element is the heading of the experiments.
  const headings = before.splice(before.findLastIndex(({ tagName }) => tagName === "H3"));
  text("lesson-before", before);
  byId("lesson-steps").replaceChildren(...headings, steps, how);
  text("lesson-after", blocks(lesson.after));
  const own = `#lesson=${name}`;
  if (location.hash !== own) history.replaceState(null, "", own);
  tryOut([]);
}

function hideLesson() {
  lesson = null;
  byId("lesson-list").value = "";
  place(false);
}

/** Shows the results next to the expected ranges if the run is one that the lesson proposes. */
export function compareWithLesson() {
  const settings = JSON.stringify(Array.from(lab.setup.sets, ([key, value]) => `${key}=${value}`));
  if (lesson === null || lab.setup.text !== lesson.scenario || lab.setup.changes.length > 0) return;
  const step = lesson.steps.find(({ sets }) => JSON.stringify(sets) === settings);
  step?.expectations.forEach((expectation, index) => {
    const value = measured(lab.outcome.document, expectation);
    const isSo = value >= expectation.least && value <= expectation.most;
    step.found[index].textContent =
      `${isSo ? "✓" : "✗"} ${words(value, 3)}${expectation.unit === "" ? "" : ` ${expectation.unit}`}`;
  });
}

/** Begins with the link's configuration, with the page's own scenario, or with a lesson. */
export async function open() {
  if (location.hash === lab.ownLink && lab.ownLink !== null) return;
  const [, name] = LESSON.exec(location.hash) ?? [];
  lab.greeting = null;
  unpin();
  try {
    const given = name === undefined ? await unpack(location.hash.slice(1) || (carried("opening") ?? "")) : null;
    if (given !== null) {
      hideLesson();
      use(given.text, { ...given, play: !isStill() });
      if (given.other !== null) pin(setupOf(given.other));
      return;
    }
  } catch (error) {
    lab.greeting = `The link cannot be read: ${error.message}. The page shows the first lesson instead.`;
  }
  await lessonsRead;
  if (lessons.size > 0) showLesson(lessons.has(name) ? name : lessons.keys().next().value);
}

export function wireOpening() {
  // On narrow screens the settings are a sheet at the lower edge.
  const fold = () => {
    byId("sheet").open = !isNarrow.matches;
  };
  fold();
  isNarrow.addEventListener("change", fold);
  lessonsRead = readLessons().catch((error) => show(`The lessons cannot be read: ${error.message}.`));
  byId("lesson-list").addEventListener("change", () => {
    unpin();
    const name = byId("lesson-list").value;
    if (lessons.has(name)) {
      showLesson(name);
      return;
    }
    // The scenario remains for the reader to edit. The link no longer names the lesson.
    hideLesson();
    history.replaceState(null, "", location.pathname + location.search);
    byId("text-box").open = true;
  });
  addEventListener("hashchange", open);
}
