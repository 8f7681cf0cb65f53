// Tables of samples as CSV, with the columns of the module: their names end with the unit.

const cell = (column, index) => {
  const value = column.values[index];
  if (column.names !== null) return column.names[Number(value)] ?? "";
  if (column.kind === "bool") return value === 1 ? "true" : "false";
  return Number.isNaN(value) ? "" : String(value);
};

// A text that a spreadsheet would compute. A number may begin with its sign.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+|Infinity)(e[+-]?\d+)?$/i;

/** A text in the format of RFC 4180, quoted where necessary. A text that begins a formula gets an apostrophe. */
export function field(text) {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A table as CSV. */
export function csv(table) {
  const columns = Object.entries(table);
  const lines = [columns.map(([name]) => name).join(",")];
  const rows = columns.length > 0 ? columns[0][1].values.length : 0;
  for (let index = 0; index < rows; index += 1)
    lines.push(columns.map(([, column]) => field(cell(column, index))).join(","));
  return `${lines.join("\n")}\n`;
}
