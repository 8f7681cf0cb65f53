"""The README's table of comparisons with Linux, ns-2 and ns-3, with results and dates.

The figures are the stored results of `make evidence` and `make validate-linux`.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A comparison, the row of `tools/evidence/rows.toml`, the pattern of its figure, and the sentence.
ROWS = (
    (
        "ns-2, averages",
        "compare-ns2",
        r"(\d+) measures inside their bounds, (\d+) undecided, (\d+) outside",
        "{0} measures within bounds, {1} undecided, {2} outside",
    ),
    (
        "ns-2, packet by packet",
        "verify-ns2",
        r"(\d+) matched, (\d+) explained, (\d+) not matched",
        "{0} outputs identical, {1} with an explained difference, {2} unexplained",
    ),
    (
        "ns-3, CoDel and token bucket",
        "compare-ns3",
        r"(\d+) comparisons, (\d+) not met",
        "{0} comparisons, {1} outside their bounds",
    ),
)


def linux() -> str:
    """Return the row of the running kernel's TCP."""
    made = json.loads((ROOT / "tools/linux/results.json").read_text(encoding="utf-8"))["made"]
    version = re.search(r"Linux (\d+\.\d+)", made)
    date = max(re.findall(r"\d{4}-\d\d-\d\d", made))
    counts = re.search(r"(\d+) inside, (\d+) undecided, (\d+) outside", made)
    assert version and counts
    inside, undecided, outside = counts.groups()
    result = f"{inside} configurations within bounds, {undecided} undecided, {outside} outside"
    return f"| TCP of Linux {version[1]} | {result} | {date} |"


def table() -> str:
    """Return the comparisons with their results and dates."""
    results = json.loads((ROOT / "tools/evidence/results.json").read_text(encoding="utf-8"))
    lines = ["| compared with | result | date |", "|---|---|---|", linux()]
    for name, row, pattern, sentence in ROWS:
        figure = re.search(pattern, results[row]["figure"])
        assert figure, results[row]
        lines.append(f"| {name} | {sentence.format(*figure.groups())} | {results[row]['date']} |")
    return "\n".join(lines)
