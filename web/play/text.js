// The scenario text and its mistakes.

import { byId, lineButton, seldom } from "./elements.js";
import { make } from "../report/elements.js";
import { begin, lab, setupOf } from "./lab.js";

export function mistakes(list) {
  byId("mistakes").replaceChildren(
    ...list.map(({ line, key, message, set: text }) => {
      const where = text !== null ? `${text}: ` : key === "" ? "" : `${key}: `;
      const item = make("li", {}, `${where}${message}`);
      if (line !== null && text === null) item.prepend(lineButton(byId("text"), line), " ");
      return item;
    }),
  );
  byId("text").setAttribute("aria-invalid", String(list.some(({ set: text }) => text === null)));
}

/** Runs a text: its settings are its own. */
export function use(text, { sets = [], changes = [], play = true } = {}) {
  lab.setup = setupOf({ text, sets, changes });
  byId("text").value = text;
  lab.series = null;
  begin({ play });
}

export function wireText() {
  const apply = () => use(byId("text").value);
  byId("apply").addEventListener("click", apply);
  byId("write").addEventListener("click", () => use(lab.setup.text));
  byId("text").addEventListener(
    "input",
    seldom(400, () => lab.simulator.tell("check", { text: byId("text").value, sets: [], files: {} })),
  );
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
  });
}
