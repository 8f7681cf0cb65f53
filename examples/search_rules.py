"""Search for a better rule by random mutation, then score the winner on new seeds and environments.

    python examples/search_rules.py

The search tries two hundred rule texts on three shortened environments of the suite `core`. It then scores
the winner on the same environments with fresh seeds, and on all others of the suite. It needs numpy.
docs/how-to/search-rules.md shows a result.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import tomllib
from importlib import resources
from pathlib import Path

import numpy

import ackclock

#: The environments of the search, and their duration.
SEARCHED = ("slow-2", "random-loss", "with-standard")
CHANGES = ["duration=40 s", "warmup=10 s", 'flows.test.start={ uniform = ["0 s", "5 s"] }']
#: Rules of a generation, and those that have children.
GENERATION, PARENTS = 20, 4
#: The parts of the texts. `1 * ` turns a value of any unit into a plain number, so that all can be added.
LEAVES = ("(1 * w)", "(1 * min_rtt / rtt)")
OPERATIONS = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "min({}, {})", "max({}, {})")

#: A number, a leaf, or an operation with two formulas.
Formula = float | str | tuple
Rule = tuple[Formula, Formula]
#: The rule that the search begins with: AIMD.
START: Rule = (("({} / {})", 1.0, LEAVES[0]), ("({} * {})", 0.5, LEAVES[0]))


def text(formula: Formula) -> str:
    """Return a formula as rule text has it."""
    if isinstance(formula, tuple):
        operation, left, right = formula
        return operation.format(text(left), text(right))
    return formula if isinstance(formula, str) else f"{formula:.3g}"


def rule_text(rule: Rule) -> str:
    """Return a rule. Its increase is never negative, and a cut leaves between 1 and the whole window."""
    grow, cut = map(text, rule)
    return f"rule grow = max({grow}, 0); cut = min(max({cut}, 1), w)"


def drawn(draw: numpy.random.Generator, depth: int) -> Formula:
    """Draw a formula."""
    if depth and draw.random() < 0.5:
        operation = OPERATIONS[draw.integers(len(OPERATIONS))]
        return operation, drawn(draw, depth - 1), drawn(draw, depth - 1)
    if draw.random() < 0.5:
        return float(draw.lognormal(0.0, 1.0))
    return LEAVES[draw.integers(len(LEAVES))]


def mutated(draw: numpy.random.Generator, formula: Formula) -> Formula:
    """Change one place of a formula: a number by a factor, anything by a new formula."""
    if isinstance(formula, tuple) and draw.random() < 0.7:
        operation, left, right = formula
        if draw.random() < 0.5:
            return operation, mutated(draw, left), right
        return operation, left, mutated(draw, right)
    if isinstance(formula, float) and draw.random() < 0.7:
        return formula * float(draw.lognormal(0.0, 0.4))
    if draw.random() < 0.3:
        return OPERATIONS[draw.integers(len(OPERATIONS))], formula, drawn(draw, 1)
    return drawn(draw, 2)


def child(draw: numpy.random.Generator, rule: Rule) -> Rule:
    """Change one of the two formulas of a rule."""
    grow, cut = rule
    return (mutated(draw, grow), cut) if draw.random() < 0.5 else (grow, mutated(draw, cut))


def write_suite(folder: Path, wanted: set[str], changes: list[str]) -> str:
    """Write a suite of some environments of `core`, and return its folder."""
    core = Path(str(resources.files("ackclock.suites"))) / "core"
    suite = tomllib.loads((core / "suite.toml").read_text())
    chosen = [each for each in suite["environments"] if each["id"] in wanted]
    groups = {
        each["name"]
        for name in {each["scenario"] for each in chosen}
        for each in tomllib.loads((core / name).read_text())["flows"]
    }
    lines = [
        f'name = "{folder.name}"',
        f"title = {json.dumps('Part of core: ' + folder.name)}",
        "version = 1",
        "replicates = 10",
        f"test = {json.dumps([group for group in suite['test'] if group in groups])}",
        f"panel = {json.dumps(suite['panel'])}",
    ]
    for each in chosen:
        each["scenario"] = str(core / each["scenario"])
        each["set"] = [*each.get("set", []), *changes]
        lines.append("[[environments]]")
        for key, value in each.items():
            inline = isinstance(value, dict)
            shown = (
                ", ".join(f"{name} = {json.dumps(part)}" for name, part in value.items()) if inline else ""
            )
            lines.append(f"{key} = {{ {shown} }}" if inline else f"{key} = {json.dumps(value)}")
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text("\n".join(lines) + "\n")
    return str(folder)


def search(suite: str, count: int, seed: int, replicates: int) -> tuple[str, float, int]:
    """Try `count` rules. Return the best with its score, and the number of failures."""
    draw = numpy.random.default_rng(seed)
    rules = {rule_text(START): START}
    scores: dict[str, float] = {}
    failed = 0
    while len(scores) + failed < count:
        parents = [rules[name] for name in sorted(scores, key=scores.__getitem__)[:PARENTS]] or [START]
        tried = [] if scores else [rule_text(START)]
        while len(tried) < min(GENERATION, count - len(scores) - failed):
            new = child(draw, parents[draw.integers(len(parents))])
            # Rule text has at most 2000 bytes; shorter rules are also easier to read.
            if (name := rule_text(new)) not in rules and len(name) < 300:
                rules[name] = new
                tried.append(name)
        found = ackclock.evaluate(tried, suite=suite, seed=seed, replicates=replicates, budget="10 min")
        for entry in found.ranking.entries:
            if entry.score is None:
                failed += 1
            else:
                scores[tried[entry.index]] = entry.score.value.mean
        best = min(scores, key=scores.__getitem__)
        print(f"{len(scores) + failed:4} rules, {failed} failed; best {scores[best]:.3f}  {best}", flush=True)
    return best, scores[best], failed


def main() -> None:
    """Search, confirm, and print both scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replicates", type=int, default=8, help="of the search, at the most")
    parser.add_argument("--check", type=int, default=5, help="replicates of the check")
    parser.add_argument(
        "--unseen", nargs="*", help="environments of the check; all that the search did not see"
    )
    given = parser.parse_args()
    core = Path(str(resources.files("ackclock.suites"))) / "core" / "suite.toml"
    every = {each["id"] for each in tomllib.loads(core.read_text())["environments"]}
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        seen = write_suite(Path(name) / "seen", set(SEARCHED), CHANGES)
        unseen = write_suite(Path(name) / "unseen", set(given.unseen or every - set(SEARCHED)), [])
        winner, score, _ = search(seen, given.rules, given.seed, given.replicates)
        print(f"\nsearch: {time.monotonic() - started:.0f} s\nwinner: {winner}\n")
        print("mean regret %, less is better           winner                    AIMD")
        print(f"{'search: its seeds, its environments':36}{score:8.3f}")
        for title, suite in (
            ("check: fresh seeds", seen),
            ("check: fresh seeds, other environments", unseen),
        ):
            found = ackclock.evaluate(
                [winner, rule_text(START)], suite=suite, seed=given.seed + 1, replicates=given.check
            )
            cells = {}
            for entry in found.ranking.entries:
                value = entry.score.value if entry.score is not None else None
                shown = "failed" if value is None else f"{value.mean:8.3f}"
                interval = (
                    "" if value is None or value.low is None else f" [{value.low:.3f}, {value.high:.3f}]"
                )
                cells[entry.index] = f"{shown}{interval}"
            print(f"{title:36}{cells[0]:26}{cells[1]}")
    print(f"\n{time.monotonic() - started:.0f} s in all")


if __name__ == "__main__":
    main()
