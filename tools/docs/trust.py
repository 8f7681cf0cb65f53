"""The tables of comparisons with Linux, ns-2 and ns-3 in the README and in the paper, with results and dates.

The figures are the stored results of `make evidence`, `make validate-linux` and `tools/kernel/agreement.py`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Comparison:
    """One comparison, with its command, result and date. The page in the documentation may be `None`."""

    name: str
    page: str | None
    command: str
    result: str
    date: str


#: A comparison, the row of `tools/evidence/rows.toml`, the pattern of its figure, and the sentence.
ROWS = (
    (
        "ns-2, packet by packet",
        "verify-ns2",
        r"(\d+) matched, (\d+) explained, (\d+) not matched, (\d+) not run",
        "{0} outputs identical, {1} explained, {2} unexplained, {3} not run",
    ),
    (
        "ns-3, CoDel, PIE, COBALT, token bucket",
        "compare-ns3",
        r"(\d+) comparisons, (\d+) not met",
        "{0} comparisons, {1} outside",
    ),
)
#: Further rows of the paper.
OF_PAPER = (
    (
        "ns-2, averages",
        "compare-ns2",
        r"(\d+) measures inside their bounds, (\d+) undecided, (\d+) outside",
        "{0} within bounds, {1} undecided, {2} outside",
    ),
    (
        "metrics recomputed from packet traces",
        "evidence-metrics",
        r"(\d+) values compared, .*?(\d+) differ",
        "{0} values, {1} different",
    ),
    ("hashes of results", "golden", r"(\d+) runs, (\d+) differ", "{0} runs, {1} different"),
)
#: A comparison with the kernel's TCP, its page, its command, and the files of its results.
KERNEL = (
    (
        "selected links",
        "docs/validation/linux.md",
        "tools/linux/validate.py",
        ("tools/linux/results.json", "tools/linux/episodes.json", "tools/linux/shares.json"),
    ),
    (
        "grid",
        "docs/validation/kernel-agreement.md",
        "tools/kernel/agreement.py",
        ("tools/kernel/agreement.json",),
    ),
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


def linux(name: str, page: str, command: str, files: Sequence[str]) -> Comparison:
    """Return a comparison with the kernel's TCP, with all configurations of these files.

    It shows the date of the oldest result.
    """
    made = " ".join(json.loads((ROOT / file).read_text(encoding="utf-8"))["made"] for file in files)
    counts: Counter[str] = Counter()
    for count, verdict in re.findall(rf"(\d+) (inside|{'|'.join(VERDICTS)})\b", made):
        counts[verdict] += int(count)
    assert counts.total() == sum(map(int, re.findall(r"(\d+) configurations", made))), made
    version = max(re.findall(r"Linux (\d+\.\d+)", made))
    words = [f"{counts['inside']} within bounds"]
    words += [f"{counts[each]} {word}" for each, word in VERDICTS.items() if counts[each] or each in ALWAYS]
    oldest = min(re.findall(r"\d{4}-\d\d-\d\d", made))
    return Comparison(f"TCP of Linux {version}, {name}", page, command, ", ".join(words), oldest)


def of_rows(rows: Sequence[tuple[str, str, str, str]]) -> Iterator[Comparison]:
    """Yield the comparisons of rows of the validation overview."""
    results = json.loads((ROOT / "tools/evidence/results.json").read_text(encoding="utf-8"))
    for name, row, pattern, sentence in rows:
        found = results[row]
        figure = re.search(pattern, found["figure"])
        assert figure, found
        command = re.sub(r"\S*python ", "", found["command"])
        yield Comparison(name, None, command, sentence.format(*figure.groups()), found["date"])


def table() -> str:
    """Return the README's table."""
    lines = ["| compared with | result | date |", "|---|---|---|"]
    for each in (*(linux(*row) for row in KERNEL), *of_rows(ROWS)):
        name = each.name
        if each.page is not None:
            start, _, last = name.rpartition(", ")
            name = f"{start}, [{last}]({each.page})"
        lines.append(f"| {name} | {each.result} | {each.date} |")
    return "\n".join(lines)


def table_of_paper() -> str:
    """Return the table of the paper, with commands."""
    lines = ["| compared with | command | result | date |", "|---|---|---|---|"]
    for each in (*(linux(*row) for row in KERNEL), *of_rows((*ROWS, *OF_PAPER))):
        lines.append(f"| {each.name} | `{each.command}` | {each.result} | {each.date} |")
    return "\n".join(lines)
