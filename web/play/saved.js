// A report as one file that loads nothing: the report, its styles, and the document of the evaluation.

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The rules of the page's style sheets. A browser may withhold rules loaded from files. The report is then plain. */
function styles() {
  const rulesOf = (sheet) => {
    try {
      return [...sheet.cssRules].map(({ cssText }) => cssText);
    } catch {
      return [];
    }
  };
  return [...document.styleSheets].flatMap(rulesOf).join("\n");
}

/** The report without its interactive elements. */
function still(report) {
  const copy = report.cloneNode(true);
  for (const each of copy.querySelectorAll(".by, .told")) each.remove();
  for (const button of copy.querySelectorAll("button")) {
    const span = document.createElement("span");
    Object.assign(span, { className: button.className, title: button.title });
    span.append(...button.childNodes);
    button.replaceWith(span);
  }
  for (const details of copy.querySelectorAll("details")) details.open = true;
  return copy;
}

function element(name, properties, text = "") {
  const made = Object.assign(document.createElement(name), properties);
  made.textContent = text;
  return made;
}

/** The text of the file. */
export function savedReport(report, title, found) {
  const head = document.createElement("head");
  const policy = element("meta", { httpEquiv: "Content-Security-Policy", content: POLICY });
  const viewport = element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" });
  head.append(policy, viewport, element("title", {}, title));
  const main = document.createElement("main");
  main.className = "saved";
  main.append(still(report));
  // Escape `<`, so that neither text ends its element early.
  const style = `<style>\n${styles().replaceAll("<", "\\3c ")}\n</style>`;
  const data =
    `<script type="application/json" id="evaluation">\n${JSON.stringify(found).replaceAll("<", "\\u003c")}\n` +
    "</script>";
  return (
    `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">${head.innerHTML}\n${style}\n</head>\n` +
    `<body>\n${main.outerHTML}\n${data}\n</body>\n</html>\n`
  );
}
