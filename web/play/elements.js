// Elements of the page.

import { make } from "../report/elements.js";

/**
 * An element of the page. The page determines its type.
 *
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/** Fills a list. A group of the list contains the entries of a family. */
export function fill(select, entries, chosen = select.value) {
  const option = ({ name, summary }) => make("option", { value: name, textContent: name, title: summary ?? "" });
  const families = new Set(entries.map(({ family }) => family));
  select.replaceChildren(
    ...[...families].flatMap((family) => {
      const options = entries.filter((entry) => entry.family === family).map(option);
      return family === undefined ? options : [make("optgroup", { label: family }, ...options)];
    }),
  );
  if (entries.some(({ name }) => name === chosen)) select.value = chosen;
}

/** Sets the choice of a list, and adds a missing one. */
export function choose(select, name) {
  if (![...select.options].some(({ value }) => value === name))
    select.append(make("option", { value: name, textContent: name }));
  select.value = name;
}

/** Calls at most once in `wait` ms, and always with the last arguments. */
export function seldom(wait, call) {
  let timer = null;
  let next = null;
  return (...given) => {
    next = given;
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      call(...next);
    }, wait);
  };
}

/** Calls with a file that the user chooses, or drops on the page. */
export function onFile(input, call) {
  const first = (files) => files.length > 0 && call(files[0]);
  input.addEventListener("change", () => {
    first(input.files);
    // The user can choose the same file again.
    input.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    first(event.dataTransfer.files);
  });
}

/** Shows a message with buttons, or hides it. */
export function show(sentence, ...buttons) {
  byId("message").replaceChildren(sentence ?? "", ...buttons.flatMap((button) => [" ", button]));
  byId("message").hidden = !sentence;
}

/** Offers to wait for a simulation that does not answer, or another way out. */
export function offer(sentence, simulator, label, call) {
  const wait = action("Wait", () => {
    simulator.wait();
    show(null);
  });
  show(sentence, wait, action(label, call));
}

/** A button with an action. */
export function action(textContent, call) {
  const button = make("button", { type: "button", textContent });
  button.addEventListener("click", call);
  return button;
}

function goTo(area, line) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  area.scrollTop = (line - 3) * parseFloat(getComputedStyle(area).lineHeight);
}

/** A button that leads to a line of a text. */
export function lineButton(area, line) {
  return action(`line ${line}`, () => goTo(area, line));
}
