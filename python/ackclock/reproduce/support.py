"""What the verdict on a claim hangs on: robust, depends or never, over the readings of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ackclock.reproduce.choices import Choice
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE, Verdict
from ackclock.reproduce.readings import Reading

ROBUST, DEPENDS, NEVER = "robust", "depends", "never"
#: The status of a claim that was judged under the chosen interpretation only.
ONE = "one interpretation"
#: An interpretation does not support a claim to which one of its answers was fitted.
FITTED = "fitted"

#: A tree of this depth has at most eight leaves, so a reader can take it in.
_DEPTH = 3
#: A leaf with a single interpretation would explain only itself.
_LEAF = 2


@dataclass(frozen=True)
class Branch:
    """A node of a tree: readings with some answers in common, and how the claim fares under them."""

    #: How many readings have each verdict.
    counts: Mapping[str, int]
    #: The answer that divides them: of which choice, and its title; empty for a leaf.
    choice: str = ""
    answer: str = ""
    #: The readings with that answer, and all others.
    with_it: Branch | None = None
    without: Branch | None = None


@dataclass(frozen=True)
class Support:
    """How a claim fares over readings."""

    #: One of `ROBUST`, `DEPENDS`, `NEVER`, `ONE`.
    status: str
    #: How many readings have each verdict; those that hold by a fit are `FITTED`.
    counts: Mapping[str, int]
    #: Answers that alone, all others as chosen, lead to another verdict: that, and what was measured.
    alone: Sequence[tuple[str, str, float | None]] = ()
    tree: Branch | None = None
    #: Whether it follows from the model or the print alone, so that no reading has a part in it.
    is_exact: bool = False

    @property
    def tried(self) -> int:
        """How many readings it was judged under, without those that were fitted to it."""
        return sum(count for verdict, count in self.counts.items() if verdict != FITTED)

    @property
    def text(self) -> str:
        """The status, and under how many readings of how many the claim holds; ? if some are undecidable."""
        if self.status == ONE:
            return ONE
        if self.is_exact:
            return f"{self.status}, no run"
        if not self.tried:
            return "by a fit only"
        unknown = "?" if self.counts.get(UNDECIDABLE) else ""
        if self.counts.get(FITTED) and self.status == NEVER:
            return f"by a fit 0/{self.tried}{unknown}"
        return f"{self.status} {self.counts.get(HOLDS, 0)}/{self.tried}{unknown}"


def support(
    judged: Sequence[tuple[Reading, Verdict]], choices: Sequence[Choice], *, is_exact: bool = False
) -> Support:
    """Return how a claim fares; `judged`: the verdict of each reading on it, the chosen one first.

    `is_exact`: it needs no run, so one verdict is all there is.
    """
    rows = [
        (
            reading,
            FITTED
            if each.verdict == HOLDS and reading.is_fitted_to(each.claim.id, choices)
            else each.verdict,
        )
        for reading, each in judged
    ]
    counts = Counter(verdict for _, verdict in rows)
    if is_exact:
        return Support(ROBUST if counts[HOLDS] else NEVER, counts, is_exact=not counts[FITTED])
    if len(rows) < 2:
        return Support(ONE, counts)
    if counts[HOLDS] == len(rows) - counts[FITTED] > 0:
        status = ROBUST
    elif counts[HOLDS] == 0:
        status = NEVER
    else:
        status = DEPENDS
    alone = [
        (answer.id, each.verdict, each.measured)
        for reading, each in judged
        if len(reading.instead) == 1 and each.verdict != judged[0][1].verdict
        for _, answer in reading.instead
    ]
    tree = _tree(rows, choices, _DEPTH) if len(counts) > 1 else None
    return Support(status, counts, alone, tree if tree is not None and tree.choice else None)


def _tree(rows: Sequence[tuple[Reading, str]], choices: Sequence[Choice], depth: int) -> Branch:
    """Divide readings by the answer that tells their verdicts apart best, and each half again."""
    counts = Counter(verdict for _, verdict in rows)
    leaf = Branch(counts)
    if not depth or len(counts) < 2:
        return leaf
    best, least = None, _impurity(rows)
    # A division that explains less than a fifth of what is left is more likely chance.
    bound = 0.8 * least
    for choice in choices:
        for answer in choice.answers if len(choice.answers) > 2 else choice.others:
            inside = [row for row in rows if row[0].answer(choice).id == answer.id]
            outside = [row for row in rows if row[0].answer(choice).id != answer.id]
            if min(len(inside), len(outside)) < _LEAF:
                continue
            left = _impurity(inside) + _impurity(outside)
            if left < least - 1e-9:
                best, least = (choice, answer, inside, outside), left
    if best is None or least > bound:
        return leaf
    choice, answer, inside, outside = best
    return Branch(
        counts,
        choice.id,
        answer.title,
        _tree(inside, choices, depth - 1),
        _tree(outside, choices, depth - 1),
    )


def _impurity(rows: Sequence[tuple[Reading, str]]) -> float:
    """Return Gini's impurity of the verdicts, times their number."""
    counts = Counter(verdict for _, verdict in rows)
    return len(rows) - sum(count**2 for count in counts.values()) / max(len(rows), 1)


def tree_lines(branch: Branch, indent: str = "") -> list[str]:
    """Return a tree as lines of text."""
    if branch.with_it is None or branch.without is None:
        return [f"{indent}{counts_text(branch.counts)}"]
    lines = []
    for what, below in ((branch.answer, branch.with_it), ("otherwise", branch.without)):
        head = f"{indent}{branch.choice} = {what}" if below is branch.with_it else f"{indent}{what}"
        if below.choice:
            lines += [head, *tree_lines(below, f"{indent}  ")]
        else:
            lines.append(f"{head}: {counts_text(below.counts)}")
    return lines


def counts_text(counts: Mapping[str, int]) -> str:
    """Return how many readings have each verdict, in words."""
    total = sum(counts.values())
    parts = [
        f"{label} in {counts[verdict]}"
        for verdict, label in (
            (HOLDS, "holds"),
            (FITTED, "holds by a fit"),
            (FAILS, "does not hold"),
            (UNDECIDABLE, "undecidable"),
        )
        if counts.get(verdict)
    ]
    if len(parts) == 1:
        return parts[0].rpartition(" in ")[0] + (f" in all {total}" if total > 1 else " in the one tried")
    return ", ".join(parts)
