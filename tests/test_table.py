"""Tables: within their width, nothing lost, text wrapped at words, on their side where they are too wide."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from ackclock.text.table import Column, Table, wrapped


def a_table(columns: int, rows: int) -> Table:
    table = Table(
        "name", *(Column(f"figure {index} ms", right=True) for index in range(columns)), title="a title"
    )
    for row in range(rows):
        table.add_row(f"row-number-{row}", *(f"{row}.{index:03} ±0.1" for index in range(columns)))
    return table


def letters(text: str) -> str:
    return "".join(character for character in text if character not in " \n─")


@pytest.mark.parametrize("width", [20, 40, 80, 120, 300])
@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (4, 3), (9, 2), (9, 30), (40, 3)])
def test_no_line_is_too_long_and_no_cell_is_lost(width: int, columns: int, rows: int) -> None:
    table = a_table(columns, rows)
    lines = table.lines(width)
    assert max(map(cell_len, lines)) <= width
    if table.fits(width):
        text = "\n".join(lines)
        for row in range(rows):
            for index in range(columns):
                assert f"{row}.{index:03} ±0.1" in text
    else:
        # Folded, perhaps, but all there.
        shown = sum(line.count("±") for line in lines)
        assert shown == rows * columns


def test_a_wide_table_has_a_column_for_each_record() -> None:
    lines = a_table(9, 2).lines(80)
    assert lines[1].split() == ["name", "row-number-0", "row-number-1"]
    assert lines[3].split() == ["figure", "0", "ms", "0.000", "±0.1", "1.000", "±0.1"]


def test_many_wide_records_become_blocks() -> None:
    lines = a_table(20, 30).lines(80)
    assert lines[1].split() == ["name", "row-number-0"]
    assert lines[2].split() == ["figure", "0", "ms", "0.000", "±0.1"]
    assert set(lines[22]) == {"─"} and lines[23].split() == ["name", "row-number-1"]


def test_text_wraps_at_words_and_figures_do_not() -> None:
    table = Table("name", "text", Column("figure", right=True))
    table.add_row("first", "some words " * 12, "12.5 ±0.4")
    lines = table.lines(60)
    assert len(lines) > 4 and "12.5 ±0.4" in lines[2]
    assert all(set(line.split()) <= {"some", "words"} for line in lines[3:])


def test_a_section_has_a_line_of_its_own() -> None:
    table = Table("cc", "C")
    table.add_section("a title that is much wider than the table")
    table.add_row("aimd", "1")
    table.add_section("another")
    table.add_row("cubic", "2")
    assert table.lines(80)[2:] == [
        "a title that is much wider than the table",
        "aimd   1",
        "",
        "another",
        "cubic  2",
        "",
    ]


def test_wide_characters_take_two_columns() -> None:
    table = Table("name", "text")
    table.add_row("\u8f93\u51fa", "\u94fe\u8def" * 40)
    assert max(map(cell_len, table.lines(40))) <= 40


def test_nothing_that_a_terminal_obeys_gets_through() -> None:
    table = Table("na\x1b[31mme", title="\x9b2J", caption="\x07")
    table.add_row("a\tb\nc\r\u202e\x1b]0;title\x07")
    shown = io.StringIO()
    Console(file=shown, width=80, markup=False).print(table)
    text = shown.getvalue()
    assert not any(ord(character) < 32 for character in text.replace("\n", ""))
    assert "\x9b" not in text and "\u202e" not in text
    assert r"na\x1b[31mme" in text and r"a\tb\nc\r\u202e\x1b]0;title\x07" in text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("aaaaaaaaaaaaaa", ["aaaaaaaaa", "aaaaa"]),
        ("new-aimd fc", ["new-aimd", "fc"]),
        ("a-very-long-name", ["a-very-", "long-name"]),
    ],
)
def test_lines_end_after_words(text: str, lines: list[str]) -> None:
    assert wrapped(text, 9) == lines
