// The exports: files, the command line, a link.

import { lightStyle, svg } from "./charts.js";
import { byId } from "./elements.js";
import { lab, setsOf } from "./lab.js";
import { LinkError, pack } from "./link.js";
import { limitOf, linesOf, referencesOf, TITLES } from "./panels.js";
import { copy, save } from "./taking.js";
import { command, toml } from "./toml.js";

const fileName = (end) => `${lab.run.name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60) || "scenario"}${end}`;

const plain = (setup) => ({ text: setup.text, sets: setsOf(setup), changes: setup.changes });

async function copyLink() {
  let fragment;
  try {
    fragment = await pack({ ...plain(lab.setup), other: lab.other === null ? null : plain(lab.other.setup) });
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    byId("away-state").textContent = "This configuration is too long for a link. Export the scenario instead.";
    return;
  }
  lab.ownLink = `#${fragment}`;
  history.replaceState(null, "", lab.ownLink);
  const what = lab.setup.sets.size + lab.setup.changes.length > 0 ? " It contains the settings and live changes." : "";
  const where =
    location.protocol === "file:" ? " On another machine, append the part from # to the address of its page." : "";
  await copy("Link", location.href, what + where);
}

const asText = () => (lab.setup.sets.size === 0 ? lab.setup.text : toml(lab.run.resolved));

function saveSvg() {
  const names = lab.series.flows.filter(({ begun }) => begun);
  const panels = Object.keys(TITLES).map((name) => ({
    title: TITLES[name],
    lines: linesOf(name),
    limit: limitOf(name),
    references: referencesOf(name),
  }));
  const legend = names.map((flow) => ({ label: flow.name, style: lightStyle(flow.position) }));
  save(fileName(".svg"), "image/svg+xml", svg(panels, lab.run.duration, legend, lab.run.name));
}

const ACTIONS = {
  "copy-link": copyLink,
  "copy-command": () =>
    copy(
      "Command",
      command(fileName(".toml"), lab.setup.text, setsOf(lab.setup)),
      lab.setup.changes.length > 0 ? " It lacks the live changes. The link contains them." : "",
    ),
  "save-scenario": () => save(fileName(".toml"), "application/toml", asText()),
  "save-svg": saveSvg,
  "save-flows": () => save(fileName("-flows.csv"), "text/csv", lab.outcome.tables.flows),
  "save-links": () => save(fileName("-links.csv"), "text/csv", lab.outcome.tables.links),
};

export function wireAway() {
  for (const [id, act] of Object.entries(ACTIONS)) byId(id).addEventListener("click", act);
}
