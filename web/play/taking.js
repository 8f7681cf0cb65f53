// Exports files and texts. `away-state` confirms each export.

import { byId } from "./elements.js";
import { make } from "../report/elements.js";

/** Gives a file. */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  byId("away-state").textContent = `Saved as ${name}.`;
  byId("away-text").hidden = true;
}

/** Gives a text, which is shown where it cannot be copied. */
export async function copy(what, text, more = "") {
  const area = byId("away-text");
  area.hidden = false;
  area.value = text;
  try {
    await navigator.clipboard.writeText(text);
    byId("away-state").textContent = `${what} copied.${more}`;
  } catch {
    area.select();
    byId("away-state").textContent = `${what} to copy:${more}`;
  }
}
