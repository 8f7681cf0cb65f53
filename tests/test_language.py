"""The lint of the language: its rules, the pages that keep them, and the falling counts of findings."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest
from helpers import ROOT

import language

#: Findings that pages and folders of sources still contain. A count may only fall, and a new page has none.
BASELINE: dict[str, int] = tomllib.loads(
    (ROOT / "tools/docs/language_baseline.toml").read_text(encoding="utf-8")
)["findings"]


def rules(text: str, suffix: str = ".md") -> list[str]:
    """The rules that a text violates, in the order of its lines."""
    findings, _ = language.check(ROOT / f"text{suffix}", text)
    return [finding.rule for finding in findings]


def lines(text: str, suffix: str = ".md") -> list[int]:
    findings, _ = language.check(ROOT / f"text{suffix}", text)
    return [finding.line for finding in findings]


def test_a_sentence_of_20_words_passes_and_longer_ones_do_not() -> None:
    assert rules("Word " * 19 + "word.\n") == []
    assert rules("Word " * 20 + "word.\n") == ["long"]
    assert rules("Word " * 30 + "word.\n") == ["hard"]


def test_code_is_one_word_and_blocks_are_not_read() -> None:
    assert rules("Run `" + "ackclock run; " * 30 + "` once.\n") == []
    assert rules("```console\n" + "word; " * 40 + "\n```\n") == []
    assert rules("Text.\n\n    " + "word; " * 40 + "\n") == []


def test_the_end_of_a_sentence_is_found() -> None:
    found = [
        text for _, text in language.sentences("See e.g. RFC 5681. It cuts (cf. Fig. 2).\n“So it does.” Yes!")
    ]
    assert found == ["See e.g. RFC 5681.", "It cuts (cf. Fig. 2).", "“So it does.”", "Yes!"]


def test_a_semicolon_is_found_in_prose_and_cells_not_in_code() -> None:
    assert rules("It sends; it waits.\n") == ["semicolon"]
    assert rules("| key | value |\n|---|---|\n| `a; b` | sends; waits |\n") == ["semicolon"]
    assert rules("It runs `a; b`, and &quot;c&quot;.\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "It shares the link beside CUBIC.",
        "The two are not told from each other.",
        "It beats each rival.",
        "The queue drops what it has no space for.",
        "The rate is that of the link.",
        "It agrees with ns-2, too.",
        "The delay is .5 ms.",
        "The run goes on.",
        "This color differs.",
        "We initialize it.",
        "It takes some 4 minutes.",
        "It is no proof.",
    ],
)
def test_banned_words_are_found(text: str) -> None:
    assert "banned" in rules(text + "\n")


@pytest.mark.parametrize(
    "text",
    [
        "The size of the resized buffer is 0.5 ms.",
        "It is no longer in use, and there is no proof.",
        "Two of too many runs fail, also in ns-2.",
        "What does it print?",
        "The default is None.",
    ],
)
def test_plain_words_pass(text: str) -> None:
    assert rules(text + "\n") == []


def test_headings_are_search_terms() -> None:
    assert rules("# Where to read on\n") == ["heading"]
    assert rules("# How to cite ackclock\n\n## Why is AIMD not Reno?\n\n## Stopping rules\n") == []


def test_links_name_their_targets() -> None:
    assert rules("See the [page](docs/a.md), [decision 3](b.md) and [the tutorial](c.md).\n") == [
        "link",
        "link",
    ]


def test_findings_carry_the_line_of_their_sentence() -> None:
    assert lines("# Title\n\nOne.\nTwo. It is\nshort. It sends; it waits.\n\n- a; b\n") == [5, 7]


def test_docstrings_and_help_texts_are_read() -> None:
    source = (
        '"""Sends; waits."""\n\n#: Drops; marks.\nA = 1\n\noption("--all", help="It runs beside CUBIC.")\n'
    )
    assert rules(source, ".py") == ["semicolon", "semicolon", "banned"]
    assert rules(
        'def f():\n    """Run.\n\n    \x08\n    a; b\n    c; d\n\n    Sends; waits.\n    """\n', ".py"
    ) == ["semicolon"]


def test_doc_comments_of_rust_and_javascript_are_read() -> None:
    assert rules("/// Sends; waits.\n// not this; one\nfn f() {}\n", ".rs") == ["semicolon"]
    assert rules("/** Sends; waits. */\n// Drops; marks.\nlet a = 1;\n", ".js") == ["semicolon", "semicolon"]


def test_messages_may_separate_mistake_and_remedy() -> None:
    assert rules('raise ValueError("a number has no unit; write 3 ms")\n', ".py") == []


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ('notes.append("It runs beside CUBIC.")\n', ".py"),
        ('fn f() {\n    warn(\n        "it runs \\\n         beside cubic"\n    );\n}\n', ".rs"),
        ('fn f() { warn("{name}: it runs beside {other}; leave it out") }\n', ".rs"),
        ('say("It runs beside CUBIC.");\n', ".js"),
        ("say(`It runs beside ${name}.`);\n", ".js"),
    ],
)
def test_messages_are_read_wherever_they_stand(source: str, suffix: str) -> None:
    assert rules(source, suffix) == ["banned"]


@pytest.mark.parametrize(
    "source",
    [
        'query("SELECT flow, sum(packets) FROM runs; SELECT count(*) FROM links beside flows")\n',
        'plan("""schema = 1\nduration = "1 s"; beside the end of the day""")\n',
        'style("p { color: red; opacity: 1 } this is beside the point")\n',
    ],
)
def test_source_code_in_texts_is_not_read(source: str) -> None:
    assert rules(source, ".py") == []


def test_every_exception_has_a_reason_and_is_needed() -> None:
    listed = tomllib.loads(language.EXCEPTIONS.read_text(encoding="utf-8")).get("exception", [])
    for entry in listed:
        assert entry["reason"], entry
        page = language.plain((ROOT / entry["path"]).read_text(encoding="utf-8"))
        assert entry["text"] in " ".join(page.split()), entry


def test_findings_only_fall() -> None:
    """`python tools/docs/language.py --baseline` writes smaller counts."""
    found: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    for file in language.files(language.DEFAULT):
        findings, _ = language.check(file)
        name = language.area(file)
        found[name] += len(findings)
        first.setdefault(name, []).extend(map(str, findings))
    grown = {name: number for name, number in found.items() if number > BASELINE.get(name, 0)}
    assert grown == {}, "\n".join(line for name in grown for line in first[name][:20])


def test_paths_limit_the_lint() -> None:
    assert language.files([Path("README.md")]) == [ROOT / "README.md"]
