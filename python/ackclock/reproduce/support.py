"""The status of a claim over all interpretations of a paper, and the choices that decide its verdict."""

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
    """A node of a tree: interpretations with common answers, and the claim's verdicts under them."""

    #: The number of interpretations with each verdict.
    counts: Mapping[str, int]
    #: The choice and the title of the answer that divide them, both empty for a leaf.
    choice: str = ""
    answer: str = ""
    #: The interpretations with that answer, and all others.
    with_it: Branch | None = None
    without: Branch | None = None


@dataclass(frozen=True)
class Support:
    """The status of a claim over all interpretations."""

    #: One of `ROBUST`, `DEPENDS`, `NEVER`, `ONE`.
    status: str
    #: The number of interpretations with each verdict. Verdicts that hold by a fit count as `FITTED`.
    counts: Mapping[str, int]
    #: Single answers that change the verdict, each with the new verdict and the measured value.
    alone: Sequence[tuple[str, str, float | None]] = ()
    tree: Branch | None = None
    #: Whether it follows from the model or the printed values alone, independent of interpretations.
    is_exact: bool = False

    @property
    def tried(self) -> int:
        """The number of interpretations that judged it, without those fitted to it."""
        return sum(count for verdict, count in self.counts.items() if verdict != FITTED)

    @property
    def text(self) -> str:
        """The status with the number of interpretations under which the claim holds.

        A question mark shows that some are undecidable.
        """
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
    """Return the support of a claim from its verdict under each interpretation, the chosen one first.

    `is_exact` marks a claim without runs, which has a single verdict.
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
    """Divide interpretations recursively by the answer that separates their verdicts best."""
    counts = Counter(verdict for _, verdict in rows)
    leaf = Branch(counts)
    if not depth or len(counts) < 2:
        return leaf
    best, least = None, _impurity(rows)
    # A division that removes less than a fifth of the impurity is more likely chance.
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
    """Return the number of interpretations with each verdict, in words."""
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
