// Reruns the cells of a report in its page. Buttons with `data-rerun` open the dialog on a cell.

import { carried, decoded, lacking, unpacked } from "ackclock/files.js";
import { Engine } from "./engine.js";
import { html } from "./elements.js";
import { Rerun } from "./panel.js";

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("rerun"));
const title = html("h2", { id: "rerun-title" });
const close = html("button", { type: "button", class: "close", "aria-label": "Close", title: "Close" }, "✕");
const body = html("div", { class: "rerun" });
dialog.append(html("div", { class: "head" }, title, close), body);
dialog.setAttribute("aria-labelledby", "rerun-title");

let panel = null;
let cells = null;

/** The cells, unpacked when the first one opens. */
async function readCells() {
  const { scenarios, cells: found } = JSON.parse(
    new TextDecoder().decode(await unpacked(decoded(carried("rerun-cells")))),
  );
  return new Map(
    Object.entries(found).map(([name, cell]) => [name, { name, scenario: scenarios[cell.hash], ...cell }]),
  );
}

async function open(name) {
  if (panel === null) {
    panel = new Rerun(body, new Engine(carried("rerun-worker"), decoded(carried("rerun-module"))));
    panel.hasFiles = document.querySelector("[data-save]") !== null;
  }
  dialog.showModal();
  const missing = lacking();
  if (missing !== null) {
    title.textContent = name;
    panel.tell("refused", missing);
    return;
  }
  cells ??= readCells();
  const cell = (await cells).get(name);
  title.textContent = cell.title;
  panel.show(cell);
}

close.addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => panel.engine.stop());
document.addEventListener("click", (event) => {
  const clicked = /** @type {Element} */ (event.target);
  const button = /** @type {HTMLElement} */ (clicked.closest("[data-rerun]"));
  if (button) open(button.dataset.rerun);
});
const choice = /** @type {HTMLFormElement} */ (document.getElementById("rerun-choose"));
choice?.addEventListener("submit", (event) => {
  event.preventDefault();
  open(new FormData(choice).get("cell"));
});
