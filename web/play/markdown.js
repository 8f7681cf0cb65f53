// The part of Markdown that lessons are written in, as elements: headings, paragraphs, lists, code, emphasis, links.
// Text stays text.

import { make } from "../report/elements.js";

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((https:\/\/[^)\s]+)\)/g;

/** The texts and elements of a line. */
export function inline(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    const [whole, code, strong, emphasis, label, href] = match;
    parts.push(text.slice(end, match.index));
    if (code !== undefined) parts.push(make("code", { textContent: code }));
    else if (strong !== undefined) parts.push(make("strong", { textContent: strong }));
    else if (emphasis !== undefined) parts.push(make("em", { textContent: emphasis }));
    else parts.push(make("a", { href, textContent: label, rel: "noreferrer", target: "_blank" }));
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}

const joined = (lines) => lines.join(" ");

/** A block: lines between empty ones. */
function block(lines) {
  const heading = /^## (.*)/.exec(lines[0]);
  if (heading !== null) return make("h3", {}, ...inline(heading[1]));
  if (!lines[0].startsWith("- ")) return make("p", {}, ...inline(joined(lines)));
  const items = [];
  for (const line of lines) {
    if (line.startsWith("- ")) items.push([line.slice(2)]);
    else items.at(-1).push(line.trim());
  }
  return make("ul", {}, ...items.map((item) => make("li", {}, ...inline(joined(item)))));
}

/** Elements of a text. */
export const blocks = (text) =>
  text
    .split(/\n{2,}/)
    .map((part) => part.split("\n").filter((line) => line !== ""))
    .filter(({ length }) => length > 0)
    .map(block);
