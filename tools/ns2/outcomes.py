"""The outcome of each case, and the table of all outcomes."""

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
    """The outcome of a case: `verdict` is one of VERDICTS, `difference` is the first difference."""

    suite: str
    name: str
    verdict: str
    reason: str = ""
    difference: str = ""


def outcome(suite: Suite, name: str) -> Outcome:
    """Run a case and judge it."""
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
    """True if the explanation applies, and there is no further difference."""
    first = found.difference
    if not isinstance(first, Difference) or not explanation.applies(found.setup, first):
        return False
    return explanation.variant is None or compare(suite, name, explanation.variant).difference is None


def table(results: Sequence[Outcome]) -> str:
    """The results in Markdown: counts by suite, then the cases of each verdict with reasons."""
    return "\n\n".join(
        filter(None, [counts(results), *(of_verdict(results, verdict) for verdict in VERDICTS)])
    )


def counts(results: Sequence[Outcome]) -> str:
    """The number of outputs of each verdict, by suite."""
    suites = dict.fromkeys(result.suite for result in results)
    lines = [("suite", "outputs", *VERDICTS), ("---", *["--:"] * (len(VERDICTS) + 1))]
    for suite in (*suites, ALL):
        verdicts = [result.verdict for result in results if suite in (ALL, result.suite)]
        lines.append((suite, str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of_verdict(results: Iterable[Outcome], verdict: str) -> str:
    """The cases of a verdict: a paragraph for each reason, or a line for each suite."""
    found: dict[str, list[str]] = {}
    for result in results:
        if result.verdict == verdict:
            found.setdefault(result.reason or result.suite, []).append(case(result))
    if not found:
        return ""
    if verdict == "explained":
        parts = [f"{reason}\n\n{block(cases)}" for reason, cases in found.items()]
        return "\n\n".join([f"### {verdict.capitalize()}", *parts])
    lines = (filled(f"{title}: {' '.join(cases)}") for title, cases in found.items())
    return f"### {verdict.capitalize()}\n\n{block(lines)}"


def case(result: Outcome) -> str:
    """A case with its suite where others are in the list, and with its first difference."""
    name = f"{result.suite}/{result.name}" if result.reason else result.name
    return f"{name}: {result.difference}" if result.difference else name


def block(lines: Iterable[str]) -> str:
    """Lines of text as they are."""
    return "\n".join(["```text", *lines, "```"])


def filled(text: str) -> str:
    """A line that continues in indented lines."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
