// Saves charts as SVG and their data as CSV. Every page with figures contains this script.
"use strict";

const ACKCLOCK_STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "fill-opacity",
  "stroke-opacity",
  "font",
  "text-anchor",
  "visibility",
];

function saveFile(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A drawing of the page as a standalone document, with its colours and fonts.
function standaloneSvg(svg) {
  const copy = svg.cloneNode(true);
  const sources = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, index) => {
    const style = getComputedStyle(sources[index]);
    for (const name of ACKCLOCK_STYLES) element.style.setProperty(name, style.getPropertyValue(name));
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", width);
  ground.setAttribute("height", height);
  ground.style.fill = getComputedStyle(document.body).backgroundColor;
  copy.prepend(ground);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
}

const csvField = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// A table as a drawing, with the colours and signs of cells and the names of rows and columns.
function tableSvg(table) {
  const cell = 26,
    size = 12;
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const heads = [...table.tHead.rows[0].cells].slice(1).map((head) => head.textContent.trim());
  const names = rows.map((row) => row.cells[0].textContent.trim());
  const left = 20 + 6.6 * Math.max(...names.map((name) => name.length));
  const top = 20 + 6.6 * Math.max(...heads.map((name) => name.length));
  const parts = [];
  const text = (x, y, value, more = "") => {
    const element = document.createElement("i");
    element.textContent = value;
    parts.push(
      `<text x="${x}" y="${y}" ${more} fill="${getComputedStyle(table).color}" font-family="system-ui, ` +
        `sans-serif" font-size="${size}">${element.innerHTML}</text>`,
    );
  };
  heads.forEach((head, at) =>
    text(0, 0, head, `transform="translate(${left + at * cell + 17} ${top - 6}) rotate(-90)"`),
  );
  rows.forEach((row, index) => {
    text(8, top + index * cell + 17, names[index]);
    [...row.cells].slice(1).forEach((data, at) => {
      const shown = data.querySelector("button, a, span") ?? data;
      parts.push(
        `<rect x="${left + at * cell + 1}" y="${top + index * cell + 1}" width="${cell - 2}" height="` +
          `${cell - 2}" fill="${getComputedStyle(shown).backgroundColor}"/>`,
      );
      text(
        left + at * cell + cell / 2,
        top + index * cell + 17,
        (shown.firstChild?.textContent ?? "").trim(),
        'text-anchor="middle"',
      );
    });
  });
  const width = left + heads.length * cell + 20,
    height = top + rows.length * cell + 10;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="${width}" height="${height}" fill="${getComputedStyle(document.body).backgroundColor}"/>` +
    `${parts.join("")}</svg>`
  );
}

// The files of a figure: a drawing of the page, or the output of the page's own script.
const figureFiles = {
  svg: (figure) =>
    figure.makeSvg
      ? figure.makeSvg()
      : figure.querySelector("svg")
        ? standaloneSvg(figure.querySelector("svg"))
        : tableSvg(figure.querySelector("table")),
  csv: (figure) => (figure.makeCsv ? figure.makeCsv() : figure.querySelector(".csv").textContent),
};
const TYPES = { svg: "image/svg+xml", csv: "text/csv" };

document.addEventListener("click", (event) => {
  const clicked = /** @type {Element} */ (event.target);
  const button = /** @type {HTMLElement} */ (clicked.closest("[data-save]"));
  if (button) {
    const figure = button.closest("figure");
    const kind = button.dataset.save;
    saveFile(`${figure.dataset.name}.${kind}`, TYPES[kind], figureFiles[kind](figure));
  }
  const copied = clicked.closest("[data-copy]");
  if (copied) {
    navigator.clipboard?.writeText(copied.parentElement.querySelector("code").textContent);
    copied.textContent = "copied";
  }
});

// --- Heat maps: arrow keys move between cells, and the tab key stops once ----------------------------------

/** @type {NodeListOf<HTMLTableElement>} */
const grids = document.querySelectorAll("table.heat");
for (const grid of grids) {
  const cells = [...grid.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.querySelectorAll("button")]);
  const stop = (cell) => {
    grid.querySelector('button[tabindex="0"]')?.setAttribute("tabindex", "-1");
    cell.tabIndex = 0;
  };
  for (const cell of cells.flat()) cell.tabIndex = -1;
  if (cells[0]?.[0]) stop(cells[0][0]);
  grid.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLButtonElement) stop(target);
  });
  grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const focused = /** @type {HTMLButtonElement} */ (document.activeElement);
    const row = cells.findIndex((each) => each.includes(focused));
    if (row < 0) return;
    const column = cells[row].indexOf(focused);
    const [down, right] =
      { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
    const to = cells[row + down]?.[column + right];
    if (down === undefined) return;
    event.preventDefault();
    to?.focus();
  });
  grid.addEventListener("click", (event) => {
    const cell = /** @type {Element} */ (event.target).closest("button");
    if (!cell) return;
    grid.querySelector('[aria-pressed="true"]')?.setAttribute("aria-pressed", "false");
    cell.setAttribute("aria-pressed", "true");
    grid.dispatchEvent(new CustomEvent("cell", { detail: cell }));
  });
}
