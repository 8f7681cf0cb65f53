"""Null pairs: algorithms without a difference, for which an evaluation must claim none.

There are two kinds. A pair *equal by name* is one algorithm in two forms, such as a rule and a class. A
parameter may differ by 1e-4. Both use the same random draws. A pair *equal by chance* is an algorithm
against itself with other random draws. Chance alone marks 5 % of its cells.

    python tools/evidence/null_pairs.py [--pairs 400] [--kind name|chance]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ackclock.suites
from ackclock import _core
from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.score import Result, Score, Scoreboard, specification
from ackclock.evaluation.verdict import SILENT, verdict

CORE = Path(ackclock.suites.__path__[0]) / "core"
#: The replicates of an evaluation.
REPLICATES = 10
#: The environments of `core`, shorter: file, flows under test, changes, fairness, the group that is watched.
ENVIRONMENTS: dict[str, tuple[str, tuple[str, ...], str | None]] = {
    "slow-2": ("slow", (), None),
    "random-loss": ("random-loss", (), None),
    "bursts": ("random-loss", ("topology.loss={ kind = 'gilbert-elliott', p = 1e-3, r = 0.2 }",), None),
    "red": ("red", (), None),
    "ecn": ("red", ("topology.queue.ecn=true", "transport.ecn=classic"), None),
    "codel": ("codel", (), None),
    "with-standard": ("with-standard", (), "standard"),
    "with-cubic": ("with-competitor", ("flows.rival.cc=cubic", "topology.queue.limit=0.25 BDP"), "rival"),
}

#: TCP Reno as a class without methods, and with the formulas of the rule.
CLASSES = """\
import ackclock


class Empty(ackclock.CongestionControl):
    pass


class Formulas(ackclock.CongestionControl):
    def on_ack(self, ack):
        if self.in_slow_start:
            super().on_ack(ack)
        elif ack.may_grow:
            self.cwnd += ack.acked / self.cwnd

    def on_congestion(self, congestion):
        self.cwnd = self.ssthresh = max(0.5 * self.cwnd, 2 if congestion.kind == "loss" else 1)
"""

#: Candidate and reference. `CLASSES` stands for its file.
NAMED: tuple[tuple[str, str], ...] = (
    ("rule grow = 1/w; cut = w/2", "aimd"),
    ("rule grow = 1 / w; cut = w - w/2", "aimd"),
    ("rule grow = 1.0001/w; cut = w/2", "aimd"),
    ("rule grow = 1/w; cut = 0.50005 * w", "aimd"),
    ("CLASSES:Empty", "aimd"),
    ("CLASSES:Formulas", "aimd"),
    ("reno", "aimd"),
    ("aimd(increase=1.0001)", "aimd"),
    ("aimd(increase=0.9999)", "aimd"),
    ("aimd(remaining=0.50005)", "aimd"),
    ("aimd(remaining=0.49995)", "aimd"),
    ("cubic(c=0.40004)", "cubic"),
    ("cubic(c=0.39996)", "cubic"),
    ("cubic(remaining=0.70007)", "cubic"),
    ("cubic(remaining=0.69993)", "cubic"),
    ("aimd-fc(increase=1.0001)", "aimd-fc"),
    ("aimd-fc(increase=0.9999)", "aimd-fc"),
    ("new-aimd(increase=1.0001)", "new-aimd"),
    ("mr-aimd(alpha=1.0001)", "mr-aimd"),
    ("rule grow = 2.0002/w; cut = 0.8 * w", "aimd(increase=2, remaining=0.8)"),
)
#: Algorithms that are compared with themselves.
ALONE = ("aimd", "cubic", "aimd-fc+", "bbr3", "rule grow = 2/w; cut = 0.8 * w")


@dataclass(frozen=True)
class Judged:
    """The verdict of an evaluation about a pair."""

    candidate: str
    reference: str
    cells: int
    marked: int
    #: Whether the verdict calls one better or worse by its score, or names any difference.
    is_called: bool
    verdict: str


def write_suite(folder: Path) -> Path:
    """Write the suite with its file of classes, and return the folder."""
    suite = folder / "null"
    suite.mkdir()
    (suite / "classes.py").write_text(CLASSES)
    lines = [
        'name = "null"',
        "version = 1",
        'title = "Environments of core, shorter"',
        f"replicates = {REPLICATES}",
        'test = ["test"]',
        'panel = ["aimd"]',
    ]
    for name, (file, sets, watched) in ENVIRONMENTS.items():
        groups = ["test", *([watched] if watched else [])]
        starts = [f"flows.{group}.start={{ uniform = ['0 s', '3 s'] }}" for group in groups]
        changes = json.dumps(["duration=12 s", "warmup=3 s", *starts, *sets])
        lines += [
            "[[environments]]",
            f'id = "{name}"',
            f'title = "{name}"',
            'question = "?"',
            f"scenario = {json.dumps(str(CORE / f'{file}.toml'))}",
            f"set = {changes}",
        ]
        if watched:
            lines.append(
                f'watch = {{ metric = "share", group = "{watched}", label = "share", better = "reach-one" }}'
            )
    (suite / "suite.toml").write_text("\n".join(lines) + "\n")
    return suite


def cells(board: Scoreboard) -> Iterator[Score]:
    """Return the cells of the first candidate that a scoreboard shows."""
    for result in board.results:
        yield from (score for score in result.scores[0] if score.metric.name != "goodput")


def judge(board: Scoreboard, score: _core.Estimate | None, reference: str) -> Judged:
    """Return marked cells and verdict. `score` is the difference of scores to the reference."""
    found = list(cells(board))
    text = verdict(board)
    least = _core.least_difference("shares")
    counts = score is not None and score.judgement != "" and abs(score.mean) >= least
    return Judged(
        board.candidates[0].label,
        reference,
        len(found),
        sum(bool(each.judgement) for each in found),
        counts or SILENT not in text,
        text,
    )


def named(suite: Path, out: Path, pair: tuple[str, str], seed: int) -> Judged:
    """Evaluate an algorithm against one that is equal by name."""
    candidate, reference = pair
    found = evaluate(
        candidate.replace("CLASSES", str(suite / "classes.py")),
        against=[reference],
        suite=str(suite),
        replicates=REPLICATES,
        seed=seed,
        out=out,
        progress=lambda done, total: None,
    )
    (rival,) = (each for each in found.competitors if each.difference is not None)
    return judge(found.board, rival.difference, reference)


def alone(suite: Path, out: Path, cc: str, seed: int) -> Evaluation:
    """Evaluate an algorithm by itself."""
    return evaluate(
        cc,
        against=["aimd" if cc != "aimd" else "cubic"],
        suite=str(suite),
        replicates=REPLICATES,
        seed=seed,
        out=out,
        progress=lambda done, total: None,
    )


def by_chance(one: Evaluation, other: Evaluation) -> Judged:
    """Compare an algorithm with itself under other random draws."""
    board = one.board
    results = []
    for ours, theirs in zip(board.results, other.board.results, strict=True):
        runs = [
            [list(row) for row in zip(*(score.values for score in result.scores[0]), strict=True)]
            for result in (ours, theirs)
        ]
        found = _core.scores(specification(ours.environment), runs, 1, False)
        scores = tuple(
            tuple(
                Score(metric, tuple(values), value, difference)
                for metric, (values, value, difference) in zip(ours.metrics, row, strict=True)
            )
            for row in found
        )
        results.append(Result(ours.environment, ours.metrics, scores))
    pair = Scoreboard(
        board.suite, board.seed, (board.candidates[0], board.candidates[0]), 1, tuple(results), board.sets
    )
    values = [
        each.ranking.best.score.values
        for each in (one, other)
        if each.ranking.best and each.ranking.best.score
    ]
    return judge(pair, _core.compared(values[0], values[1], exact=False), board.candidates[0].label)


def summary(kind: str, found: Sequence[Judged]) -> tuple[float, float]:
    """Print and return the percentages of marked cells and of verdicts that claim a difference."""
    marked = 100 * sum(each.marked for each in found) / sum(each.cells for each in found)
    called = 100 * sum(each.is_called for each in found) / len(found)
    print(
        f"{kind}: {len(found)} pairs, {marked:.2f} % of cells marked, {called:.2f} % of verdicts", flush=True
    )
    return marked, called


def pairs_by_name(suite: Path, folder: Path, count: int) -> list[Judged]:
    """Evaluate pairs that are equal by name."""
    pairs = [(NAMED[number % len(NAMED)], 1 + number // len(NAMED)) for number in range(count)]
    return [named(suite, folder / f"named-{seed}", pair, seed) for pair, seed in pairs]


def pairs_by_chance(suite: Path, folder: Path, count: int) -> list[Judged]:
    """Evaluate pairs that are equal by chance."""
    found = []
    for number in range(count):
        cc, first = ALONE[number % len(ALONE)], 1000 + 2 * (number // len(ALONE))
        one, other = (alone(suite, folder / f"alone-{seed}", cc, seed) for seed in (first, first + 1))
        found.append(by_chance(one, other))
    return found


#: Each kind of pairs: its evaluation, and the bounds of marked cells and of verdicts, %.
KINDS = {
    "name": (pairs_by_name, (0.0, 6.5), 5.0),
    "chance": (pairs_by_chance, (4.0, 6.0), 5.0),
}


def main() -> int:
    """Run half of the pairs of each kind, and fail if too many cells or verdicts claim a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400, help="how many, half of each kind")
    parser.add_argument("--kind", choices=KINDS, help="only pairs equal by name or by chance")
    given = parser.parse_args()
    is_kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = write_suite(folder)
        for kind in [given.kind] if given.kind else KINDS:
            judge_pairs, (least, most), most_called = KINDS[kind]
            marked, called = summary(f"equal by {kind}", judge_pairs(suite, folder, given.pairs // 2))
            is_kept = is_kept and least <= marked <= most and called <= most_called
    print("null pairs: as they should be" if is_kept else "null pairs: too much or too little is said")
    return 0 if is_kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
