// A resolved scenario as TOML, and command lines.

const key = (name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name));

/** TOML knows no DEL in a text, which JSON leaves as it is. */
const text = (value) => JSON.stringify(value).replaceAll("\u007f", "\\u007f");

function value(item) {
  if (Array.isArray(item)) return `[${item.map(value).join(", ")}]`;
  if (typeof item === "object")
    return `{ ${Object.entries(item)
      .filter(([, part]) => part !== null)
      .map(([name, part]) => `${key(name)} = ${value(part)}`)
      .join(", ")} }`;
  return typeof item === "string" ? text(item) : String(item);
}

const isTable = (item) => typeof item === "object" && item !== null && !Array.isArray(item);
const isTables = (item) => Array.isArray(item) && item.length > 0 && item.every(isTable);

/** A tree as TOML: a table for each key of the top, everything below in line. */
export function toml(tree) {
  const entries = Object.entries(tree).filter(([, item]) => item !== null);
  const lines = entries
    .filter(([, item]) => !isTable(item) && !isTables(item))
    .map(([name, item]) => `${key(name)} = ${value(item)}`);
  const rows = (item) =>
    Object.entries(item)
      .filter(([, part]) => part !== null)
      .map(([name, part]) => `${key(name)} = ${value(part)}`);
  for (const [name, item] of entries) {
    if (isTable(item)) lines.push("", `[${key(name)}]`, ...rows(item));
    if (isTables(item)) for (const part of item) lines.push("", `[[${key(name)}]]`, ...rows(part));
  }
  return `${lines.join("\n")}\n`;
}

/** A word of a command line. */
export const quoted = (word) => (/^[A-Za-z0-9_./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The commands that run the same: they write the scenario into `file`, and run it. */
export function command(file, text, sets) {
  const lines = text.split("\n");
  let end = "END";
  while (lines.includes(end)) end += "_";
  const written = text.endsWith("\n") ? text : `${text}\n`;
  const run = ["ackclock", "run", file, ...sets.flatMap((set) => ["--set", set])].map(quoted).join(" ");
  return `cat > ${quoted(file)} <<'${end}'\n${written}${end}\n${run}`;
}
