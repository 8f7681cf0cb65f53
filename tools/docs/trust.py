"""The README's table of comparisons with Linux, ns-2 and ns-3, with results and dates.

The figures are the stored results of `make evidence`, `make validate-linux` and `tools/kernel/agreement.py`.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A comparison, the row of `tools/evidence/rows.toml`, the pattern of its figure, and the sentence.
ROWS = (
    (
        "ns-2, averages",
        "compare-ns2",
        r"(\d+) measures inside their bounds, (\d+) undecided, (\d+) outside",
        "{0} within bounds, {1} undecided, {2} outside",
    ),
    (
        "ns-2, packet by packet",
        "verify-ns2",
        r"(\d+) matched, (\d+) explained, (\d+) not matched, (\d+) not run",
        "{0} outputs identical, {1} explained, {2} unexplained, {3} not run",
    ),
    (
        "ns-3, CoDel and token bucket",
        "compare-ns3",
        r"(\d+) comparisons, (\d+) not met",
        "{0} comparisons, {1} outside",
    ),
)


#: A comparison with the kernel's TCP, the files of its results, and their folder.
KERNEL = (
    ("[selected links](docs/validation/linux.md)", "tools/linux", ("results", "episodes", "shares")),
    ("[grid](docs/validation/kernel-agreement.md)", "tools/kernel", ("agreement",)),
)
#: Verdicts after those within bounds, and their words. The first two are shown even if none has them.
VERDICTS = {
    "undecided": "undecided",
    "outside": "outside",
    "explained": "explained",
    "invalid": "invalid",
    "reported": "without bounds",
    "not measured yet": "not measured",
}
ALWAYS = ("undecided", "outside")


def linux(name: str, folder: str, files: Sequence[str]) -> str:
    """Return a row of the kernel's TCP, with all configurations of these files."""
    made = " ".join(
        json.loads((ROOT / folder / f"{file}.json").read_text(encoding="utf-8"))["made"] for file in files
    )
    counts: Counter[str] = Counter()
    for count, verdict in re.findall(rf"(\d+) (inside|{'|'.join(VERDICTS)})\b", made):
        counts[verdict] += int(count)
    assert counts.total() == sum(map(int, re.findall(r"(\d+) cells", made))), made
    version, date = (max(re.findall(each, made)) for each in (r"Linux (\d+\.\d+)", r"\d{4}-\d\d-\d\d"))
    words = [f"{counts['inside']} within bounds"]
    words += [f"{counts[each]} {word}" for each, word in VERDICTS.items() if counts[each] or each in ALWAYS]
    return f"| TCP of Linux {version}, {name} | {', '.join(words)} | {date} |"


def table() -> str:
    """Return the comparisons with their results and dates."""
    results = json.loads((ROOT / "tools/evidence/results.json").read_text(encoding="utf-8"))
    lines = ["| compared with | result | date |", "|---|---|---|", *(linux(*each) for each in KERNEL)]
    for name, row, pattern, sentence in ROWS:
        figure = re.search(pattern, results[row]["figure"])
        assert figure, results[row]
        lines.append(f"| {name} | {sentence.format(*figure.groups())} | {results[row]['date']} |")
    return "\n".join(lines)
