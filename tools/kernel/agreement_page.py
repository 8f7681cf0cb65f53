"""The map and the tables of docs/validation/kernel-agreement.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "kernel-agreement.svg"
RESULTS = Path(__file__).with_name("agreement.json")

SIDE, GAP, LEFT, TOP = 20, 6, 64, 58
#: Panels side by side.
COLUMNS = 2
#: The symbol of a configuration and its class, by verdict. Configurations outside show a letter of `LETTERS`.
SYMBOLS = {
    "inside": ("●", "inside"),
    "undecided": ("?", "undecided"),
    "explained": ("", "explained"),
    "outside": ("", "outside"),
    "invalid": ("x", "outside"),
    "not measured yet": ("-", "none"),
}
#: The letter of the measure with the largest excess.
LETTERS = {"goodput": "G", "cwnd": "W", "recoveries": "R"}
STYLE = (
    "svg{--ink:#1c2127;--soft:#5a626d;--paper:#fff;--in:#cfe8dc;--maybe:#fdf0c4;--known:#cfe0f5;--out:#f7c9b6;"
    "--none:#ececea;font:11px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e7e9ec;--soft:#a0a8b3;--paper:#1b1f25;--in:#1d4a3b;"
    "--maybe:#5a4a14;--known:#1f3f66;--out:#6e2f18;--none:#2c3138}}"
    ".paper{fill:var(--paper)}text{fill:var(--soft)}.ink{fill:var(--ink)}.name{font-weight:600;fill:var(--ink)}"
    ".inside{fill:var(--in)}.undecided{fill:var(--maybe)}.explained{fill:var(--known)}.outside{fill:var(--out)}"
    ".none{fill:var(--none)}"
)


def line(row: Mapping[str, Any]) -> str:
    """Return a row as the line of a table in Markdown."""
    cells = [row["cell"], *(_figure(row, name) for name in LETTERS), _verdict(row)]
    return f"| {' | '.join(cells)} |"


def _figure(row: Mapping[str, Any], name: str) -> str:
    for measure in row["measures"]:
        if measure["name"] == name:
            scale = 1e-6 if name == "goodput" else 1
            both = (f"{scale * measure[side]:.4g}" for side in ("simulated", "linux"))
            mark = "" if measure["verdict"] == "inside" else f", {measure['verdict']}"
            return f"{', '.join(both)} ({100 * measure['deviation']:+.1f} %{mark})"
    return "-"


def _verdict(row: Mapping[str, Any]) -> str:
    return f"{row['verdict']}: {row['cause']}" if row.get("cause") else str(row["verdict"])


def worst(row: Mapping[str, Any]) -> str:
    """Return the letter of the first measure that is outside."""
    return next((LETTERS[each["name"]] for each in row["measures"] if each["verdict"] == "outside"), "")


def table() -> str:
    """Return the configurations that are not inside, with the kernel and the date."""
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    head = ["configuration", "goodput, Mbit/s", "mean cwnd, segments", "recoveries in a run", "verdict"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [line(row) for row in document["rows"] if row["verdict"] != "inside"]
    made = document["made"].replace(": ", ". ", 1)
    return f"{made}.\n\n" + "\n".join(lines)


def picture(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the map of configurations as SVG.

    Each algorithm has a panel, with rates down, and round trips and queues across.
    """
    names, rates, rtts, buffers = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("algorithm", "mbit", "rtt_ms", "bdp")
    )
    rates.sort()
    rtts.sort()
    buffers.sort()
    by_place = {(row["algorithm"], row["mbit"], row["rtt_ms"], row["bdp"]): row for row in rows}
    panel_width = LEFT + len(rtts) * (len(buffers) * SIDE + GAP) + 16
    panel_height = TOP + len(rates) * SIDE + 20
    places = len(names) + 1
    width, height = COLUMNS * panel_width, -(-places // COLUMNS) * panel_height
    parts = []
    for at, name in enumerate(names):
        x, y = at % COLUMNS * panel_width, at // COLUMNS * panel_height
        parts.append(f'<text class="name" x="{x + 8}" y="{y + 20}">{escape(name)}</text>')
        for column, (rtt, bdp) in enumerate((rtt, bdp) for rtt in rtts for bdp in buffers):
            left = x + LEFT + column * SIDE + column // len(buffers) * GAP
            if column % len(buffers) == 0:
                middle = left + len(buffers) * SIDE / 2
                parts.append(f'<text x="{middle:g}" y="{y + TOP - 22}" text-anchor="middle">{rtt} ms</text>')
            short = {0.25: "¼"}.get(bdp, f"{bdp:g}")
            parts.append(
                f'<text x="{left + SIDE / 2:g}" y="{y + TOP - 6}" text-anchor="middle">{short}</text>'
            )
            for line_number, mbit in enumerate(rates):
                top = y + TOP + line_number * SIDE
                parts.append(_cell(left, top, by_place[name, mbit, rtt, bdp]))
        for line_number, mbit in enumerate(rates):
            base = y + TOP + line_number * SIDE + 14
            parts.append(f'<text x="{x + LEFT - 6}" y="{base}" text-anchor="end">{mbit} Mbit/s</text>')
    parts.append(_legend(len(names) % COLUMNS * panel_width, len(names) // COLUMNS * panel_height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Agreement of simulator and kernel, by configuration">'
        f'<style>{STYLE}</style><rect class="paper" width="{width}" height="{height}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _cell(left: int, top: int, row: Mapping[str, Any]) -> str:
    symbol, kind = SYMBOLS[row["verdict"]]
    symbol = symbol or worst(row)
    title = f"{row['cell']}: {row['verdict']}"
    middle = left + SIDE / 2
    return (
        f'<g><title>{escape(title)}</title><rect class="{kind}" x="{left + 1}" y="{top + 1}" '
        f'width="{SIDE - 2}" height="{SIDE - 2}" rx="3"/>'
        f'<text class="ink" x="{middle:g}" y="{top + 14}" text-anchor="middle">{symbol}</text></g>'
    )


def _legend(x: int, y: int) -> str:
    lines = [
        ("●", "inside", "inside all bounds"),
        ("?", "undecided", "undecided: random variation explains the excess"),
        ("G W R", "explained", "outside, cause known"),
        ("G W R", "outside", "outside"),
        ("-", "none", "not measured yet"),
    ]
    parts = [
        f'<rect class="{kind}" x="{x + 8}" y="{y + 14 + 22 * at}" width="46" height="18" rx="3"/>'
        f'<text class="ink" x="{x + 31}" y="{y + 27 + 22 * at}" text-anchor="middle">{symbol}</text>'
        f'<text x="{x + 62}" y="{y + 27 + 22 * at}">{words}</text>'
        for at, (symbol, kind, words) in enumerate(lines)
    ]
    below = ("G goodput, W mean window, R recoveries", "Columns: RTT, and queue in BDP (¼, 1, 4)")
    parts += [f'<text x="{x + 8}" y="{y + 138 + 16 * at}">{words}</text>' for at, words in enumerate(below)]
    return "".join(parts)
