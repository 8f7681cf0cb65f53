"""The README's table of comparisons with Linux, ns-2 and ns-3, with results and dates.

The figures are the stored results of `make evidence` and `make validate-linux`.
"""

import json
import re
from collections import Counter
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
    """Return the row of the running kernel's TCP: bulk data, episodes and shares together."""
    found = [
        row
        for name in ("results", "episodes", "shares")
        for row in json.loads((ROOT / f"tools/linux/{name}.json").read_text(encoding="utf-8"))["rows"]
    ]
    counts = Counter(row["verdict"] for row in found)
    made = " ".join(row["made"] for row in found)
    version, date = (max(re.findall(each, made)) for each in (r"Linux (\d+\.\d+)", r"\d{4}-\d\d-\d\d"))
    result = ", ".join(
        [
            f"{counts['inside']} configurations within bounds",
            *(f"{counts[verdict]} {verdict}" for verdict in ("undecided", "explained", "outside")),
        ]
    )
    return f"| TCP of Linux {version} | {result} | {date} |"


def table() -> str:
    """Return the comparisons with their results and dates."""
    results = json.loads((ROOT / "tools/evidence/results.json").read_text(encoding="utf-8"))
    lines = ["| compared with | result | date |", "|---|---|---|", linux()]
    for name, row, pattern, sentence in ROWS:
        figure = re.search(pattern, results[row]["figure"])
        assert figure, results[row]
        lines.append(f"| {name} | {sentence.format(*figure.groups())} | {results[row]['date']} |")
    return "\n".join(lines)
