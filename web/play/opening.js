// What the page begins with: what its link holds, or an example.

import { byId, make, show } from "./elements.js";
import { isStill, lab } from "./lab.js";
import { unpack } from "./link.js";
import { presets } from "./presets.js";
import { use } from "./text.js";

function example(index) {
  byId("note").textContent = presets[index].note;
  use(presets[index].text, { play: !isStill() });
}

/** Begins with what the link holds, or with the first example. */
export async function open() {
  if (location.hash === lab.ownLink && lab.ownLink !== null) return;
  let given = null;
  lab.greeting = null;
  try {
    given = await unpack(location.hash.slice(1));
  } catch (error) {
    lab.greeting = `The link cannot be read: ${error.message}. This is the first example instead.`;
  }
  if (given === null) example(0);
  else {
    byId("note").textContent = "From a link.";
    use(given.text, { ...given, play: !isStill() });
  }
}

export function wireOpening() {
  byId("preset").append(...presets.map(({ title }, index) => make("option", { value: index, textContent: title })));
  byId("preset").addEventListener("change", () => example(Number(byId("preset").value)));
  addEventListener("hashchange", open);
}
