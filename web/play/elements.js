// Elements of the page.

export const byId = (id) => document.getElementById(id);

/** An element with text or children; texts are never read as HTML. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function fill(select, entries, chosen = select.value) {
  select.replaceChildren(...entries.map(({ name, summary }) => make("option", { value: name, textContent: name, title: summary ?? "" })));
  if (entries.some(({ name }) => name === chosen)) select.value = chosen;
}

/** Sets the choice of a list; one that it does not have is added. */
export function choose(select, name) {
  if (![...select.options].some(({ value }) => value === name)) select.append(make("option", { value: name, textContent: name }));
  select.value = name;
}

/** Calls at most once in `wait` ms, the last time for sure. */
export function seldom(wait, call) {
  let timer = null;
  let next = null;
  return (...given) => {
    next = given;
    timer ??= setTimeout(() => {
      timer = null;
      call(...next);
    }, wait);
  };
}

/** Calls with a file that is chosen, or dropped on the page. */
export function onFile(input, call) {
  const first = ([file]) => file !== undefined && call(file);
  input.addEventListener("change", () => {
    first(input.files);
    // The same file can be chosen again.
    input.value = "";
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    first(event.dataTransfer.files);
  });
}

export function show(sentence) {
  byId("message").textContent = sentence ?? "";
  byId("message").hidden = !sentence;
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
  const button = make("button", { type: "button", textContent: `line ${line}` });
  button.addEventListener("click", () => goTo(area, line));
  return button;
}
