// Elements of a report.

/**
 * An element with text or children. The browser never parses a text as HTML.
 *
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A text for screen readers alone. */
export const unseen = (textContent) => make("span", { className: "unseen", textContent });

/** A drawing from its text, without a line of HTML. */
export function drawn(svg) {
  return document.importNode(
    new DOMParser().parseFromString(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '), "image/svg+xml")
      .documentElement,
    true,
  );
}

/** The buttons that save a figure. */
function saving(what) {
  const button = (kind, words) => {
    const made = make("button", { type: "button", textContent: kind, ariaLabel: `${words}: ${what}` });
    made.dataset.save = kind.toLowerCase();
    return made;
  };
  return make("span", { className: "save" }, button("SVG", "Save as SVG"), button("CSV", "Save data as CSV"));
}

/**
 * A figure with its caption. `csv` returns its data. Pages that can save files show buttons.
 *
 * @param {{ name: string, caption: string, more: string, csv: () => string, saves: boolean }} told
 */
export function figure({ name, caption, more, csv, saves }, ...content) {
  const small = make("small", { textContent: more });
  const head = make(
    "figcaption",
    {},
    make("b", { textContent: caption }),
    " ",
    small,
    ...(saves ? [saving(name)] : []),
  );
  const made = make("figure", { makeCsv: csv }, head, ...content);
  made.dataset.name = name;
  return made;
}

/** A text as a field of CSV. */
export const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A command with a button that copies it, and one that runs it in the page. */
export function again(command, name, runsHere) {
  const button = (textContent, key, value) => {
    const made = make("button", { type: "button", textContent });
    made.dataset[key] = value;
    return made;
  };
  return make(
    "span",
    { className: "again" },
    make("code", { textContent: command }),
    button("copy", "copy", ""),
    ...(runsHere ? [button("run here", "rerun", name)] : []),
  );
}
