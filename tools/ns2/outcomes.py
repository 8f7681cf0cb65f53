"""What comes of the cases, and the table of it."""

import dataclasses
import textwrap
from collections.abc import Iterable, Sequence

import reference
from comparison import Comparison, compare
from explanations import EXPLANATIONS, Explanation
from features import NotTranslatable
from packets import Difference
from suites import Suite

VERDICTS = ("matched", "explained", "not matched", "not run")
ALL = "all"
# Columns of the lists.
WIDTH = 100


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a case: `verdict` is one of VERDICTS, `difference` the first one."""

    suite: str
    name: str
    verdict: str
    reason: str = ""
    difference: str = ""


def outcome(suite: Suite, name: str) -> Outcome:
    """What comes of a case."""
    if name not in reference.tests(suite.script):
        return Outcome(suite.name, name, "not run", "an output without a test in the suite")
    try:
        comparison = compare(suite, name)
    except NotTranslatable as missing:
        return Outcome(suite.name, name, "not run", str(missing))
    if comparison.difference is None:
        return Outcome(suite.name, name, "matched")
    for explanation in EXPLANATIONS:
        if holds(explanation, suite, name, comparison):
            return Outcome(suite.name, name, "explained", explanation.reason, str(comparison.difference))
    return Outcome(suite.name, name, "not matched", difference=str(comparison.difference))


def holds(explanation: Explanation, suite: Suite, name: str, found: Comparison) -> bool:
    """True if the difference is the one that is explained, and there is no other."""
    first = found.difference
    if not isinstance(first, Difference) or not explanation.applies(found.setup, first):
        return False
    return explanation.variant is None or compare(suite, name, explanation.variant).difference is None


def table(results: Sequence[Outcome]) -> str:
    """The results in Markdown: how many of each suite, which, and why the rest does not match."""
    return "\n\n".join(
        filter(None, [counts(results), *(of_verdict(results, verdict) for verdict in VERDICTS)])
    )


def counts(results: Sequence[Outcome]) -> str:
    """How many outputs there are of each verdict, by suite."""
    suites = dict.fromkeys(result.suite for result in results)
    lines = [("suite", "outputs", *VERDICTS), ("---", *["--:"] * (len(VERDICTS) + 1))]
    for suite in (*suites, ALL):
        verdicts = [result.verdict for result in results if suite in (ALL, result.suite)]
        lines.append((suite, str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of_verdict(results: Iterable[Outcome], verdict: str) -> str:
    """The cases of a verdict: by their reason, or by suite."""
    found: dict[str, list[str]] = {}
    for result in results:
        if result.verdict == verdict:
            name = f"{result.suite}/{result.name}" if result.reason else result.name
            case = f"`{name}`" + (f" ({result.difference})" if result.difference else "")
            found.setdefault(result.reason or result.suite, []).append(case)
    items = (
        textwrap.fill(
            f"- {title}: {', '.join(cases)}.",
            WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for title, cases in found.items()
    )
    return f"**{verdict.capitalize()}**\n\n" + "\n".join(items) if found else ""
