// Compares the metrics of a stored run and of a rerun, with the units that the core declares.

import { words } from "ackclock/play/scales.js";
import { html } from "./elements.js";

/**
 * The lists of results with tables, and the columns of each table.
 *
 * @type {[string, string, string[]][]}
 */
const TABLES = [
  [
    "flows",
    "flows",
    [
      "goodput_bps",
      "loss_rate",
      "timeouts",
      "queue_delay_mean_s",
      "rtt_mean_s",
      "cwnd_mean_segments",
      "completion_time_s",
    ],
  ],
  ["transfers", "groups of transfers", ["goodput_bps", "loss_rate", "completed", "fct_mean_s", "fct_p95_s"]],
  ["datagrams", "datagrams", ["offered_bps", "delivered_bps", "loss_rate", "delay_mean_s", "delay_p99_s"]],
];
/** The largest number of rows of a table. */
const MOST = 20;
const DIGITS = 5;

const text = (metric, value) => (value === null || value === undefined ? "–" : words(metric.factor * value, DIGITS));

function cell(metric, value, kind) {
  return html("td", { class: kind, "data-value": String(value) }, text(metric, value));
}

/** The summary, with a row per metric and columns for the stored run and the rerun. */
export function figures(metrics, stored, mine) {
  const shown = metrics.filter(
    ({ list, better, key }) =>
      list === "summary" && better !== "given" && (stored[key] ?? mine?.[key] ?? null) !== null,
  );
  const head = html(
    "tr",
    {},
    ...["metric", ...(mine ? ["here"] : []), "stored", "unit"].map((name) =>
      html("th", { scope: "col", class: name }, name),
    ),
  );
  const rows = shown.map((metric) => {
    const values = [
      ...(mine ? [cell(metric, mine[metric.key], "here")] : []),
      cell(metric, stored[metric.key], mine ? "stored" : "here"),
    ];
    return html(
      "tr",
      { "data-metric": metric.key },
      html("th", { scope: "row", title: metric.definition }, metric.label),
      ...values,
      html("td", { class: "unit" }, metric.unit),
    );
  });
  return html(
    "table",
    { class: "measures" },
    html("caption", {}, "Metrics of the run"),
    html("thead", {}, head),
    html("tbody", {}, ...rows),
  );
}

/** A table of each list of rows in the runs. Rows of the watched group are bold. */
export function rowsOf(metrics, stored, mine, watched) {
  return TABLES.flatMap(([list, called, keys]) => {
    const before = new Map((stored[list] ?? []).map((row) => [row.name ?? row.group, row]));
    const now = mine?.[list] ?? stored[list] ?? [];
    const columns = metrics.filter(
      (metric) =>
        metric.list === list && keys.includes(metric.key) && now.some((row) => (row[metric.key] ?? null) !== null),
    );
    if (columns.length === 0) return [];
    const heads = [
      list === "transfers" ? "group" : "name",
      ...columns.map(({ heading, unit }) => `${heading} ${unit}`.trim()),
    ];
    const rows = now.slice(0, MOST).map((row) => {
      const name = row.name ?? row.group;
      const values = columns.map((metric) => {
        const old = mine ? [html("small", { class: "stored" }, text(metric, before.get(name)?.[metric.key]))] : [];
        return html("td", { "data-value": String(row[metric.key]) }, text(metric, row[metric.key]), " ", ...old);
      });
      return html(
        "tr",
        row.group === watched ? { class: "watched" } : {},
        html("th", { scope: "row" }, row.cc ? `${name} (${row.cc})` : name),
        ...values,
      );
    });
    const more = now.length > MOST ? `, the first ${MOST} of ${now.length}` : "";
    const about = now.some((row) => row.group === watched) ? ` (watched group: ${watched})` : "";
    return [
      html(
        "table",
        { class: "measures" },
        html("caption", {}, `Metrics of its ${called}${more}${about}`),
        html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
        html("tbody", {}, ...rows),
      ),
    ];
  });
}
