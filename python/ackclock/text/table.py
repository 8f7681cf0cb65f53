"""Tables for a terminal: text wraps at words, and a table that is still too wide is transposed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ackclock.text.printable import one_line

#: The width in which everything fits.
WIDTH = 80
_GAP = "  "
#: Two columns of one character.
_NARROWEST = 4
#: If the terminal is narrow, longer words are folded, and names in the first column wrap at this length.
#: Other cells keep at least this width.
_WORD, _NAME, _SHORT = 24, 28, 12
#: So many records stand side by side when a table is turned.
_MOST_SIDE_BY_SIDE = 8
#: Words with the characters after which a line may end. A rate stays whole.
_PARTS = re.compile(r"\s+|[-/,]*[^\s/,-]+(?:/s\b)?[-/,]*|[-/,]+")


@dataclass(frozen=True)
class Column:
    """A column. Figures are aligned to the right and never wrap."""

    heading: str
    right: bool = False


@dataclass
class _Section:
    label: str
    rows: list[tuple[str, ...]] = field(default_factory=list)


class Table:
    """Rows of text under headings, in sections. Each section may have a line above it."""

    def __init__(self, *columns: Column | str, title: str = "", caption: str = "") -> None:
        made = (Column(column) if isinstance(column, str) else column for column in columns)
        self.columns = tuple(replace(column, heading=one_line(column.heading)) for column in made)
        self.title = one_line(title)
        self.caption = caption
        self._sections = [_Section("")]

    def add_section(self, label: str = "") -> None:
        """Begin a section."""
        if self._sections[-1].rows:
            self._sections.append(_Section(one_line(label)))
        else:
            self._sections[-1].label = one_line(label)

    def add_row(self, *cells: str) -> None:
        """Add a row to the last section. Missing cells are empty."""
        texts = map(one_line, cells)
        self._sections[-1].rows.append((*texts, *([""] * (len(self.columns) - len(cells)))))

    def fits(self, width: int) -> bool:
        """Return whether the table need not turn on its side."""
        return self._widths(width) is not None

    def lines(self, width: int = WIDTH) -> list[str]:
        """Return the table as lines of at most `width` columns of a terminal."""
        return [line for line, _ in self._styled_lines(width)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line, style in self._styled_lines(options.max_width):
            yield Text(line, style=style, no_wrap=True, overflow="ignore")

    def _styled_lines(self, width: int) -> Iterator[tuple[str, str]]:
        width = max(width, _NARROWEST)
        for line in wrapped(self.title, width) if self.title else ():
            yield line, "italic"
        widths = self._widths(width)
        if widths is not None:
            yield from self._grid(widths, width)
        elif (turned := self._turned()) is not None and turned.fits(width):
            yield from list(turned._styled_lines(width))[:-1]
        else:
            yield from ((line, "") for line in self._records(width))
        for text in self.caption.splitlines():
            for line in wrapped(one_line(text), width):
                yield line, "dim"
        yield "", ""

    def _rows(self) -> list[tuple[str, ...]]:
        return [row for section in self._sections for row in section.rows]

    def _widths(self, width: int) -> list[int] | None:
        """Return the width of each column, with spare room shared by need. None if the table is too wide."""
        rows = self._rows()
        tight, natural = [], []
        for index, column in enumerate(self.columns):
            cells = [row[index] for row in rows]
            longest = max(map(cell_len, cells), default=0)
            word = max(map(_longest_part, cells), default=0)
            least = _NAME if index == 0 else max(_SHORT, min(word, _WORD))
            cell = longest if column.right else min(longest, least)
            tight.append(max(cell, _longest_part(column.heading), 1))
            natural.append(max(longest, cell_len(column.heading), 1))
        spare = width - sum(tight) - len(_GAP) * (len(tight) - 1)
        if spare < 0:
            return None
        widths = tight
        while spare and any(want > have for want, have in zip(natural, widths, strict=True)):
            # The column whose cells would become the highest.
            neediest = max(range(len(widths)), key=lambda index: natural[index] / widths[index])
            widths[neediest] += 1
            spare -= 1
        return widths

    def _grid(self, widths: Sequence[int], width: int) -> Iterator[tuple[str, str]]:
        for line in self._row_lines([column.heading for column in self.columns], widths, bottom=True):
            yield line, "bold"
        yield "─" * (sum(widths) + len(_GAP) * (len(widths) - 1)), ""
        for number, section in enumerate(self._sections):
            if number:
                yield "", ""
            for line in wrapped(section.label, width) if section.label else ():
                yield line, "bold"
            for row in section.rows:
                for line in self._row_lines(row, widths):
                    yield line, ""

    def _row_lines(
        self, cells: Sequence[str], widths: Sequence[int], *, bottom: bool = False
    ) -> Iterator[str]:
        """Give the lines of a row. Cells with fewer lines are aligned at the top or at the bottom."""
        columns = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
        height = max(map(len, columns))
        blanks = [[""] * (height - len(column)) for column in columns]
        filled = (
            blank + column if bottom else column + blank
            for column, blank in zip(columns, blanks, strict=True)
        )
        for texts in zip(*filled, strict=True):
            padded = (
                _padded(text, width, right=column.right)
                for text, width, column in zip(texts, widths, self.columns, strict=True)
            )
            yield _GAP.join(padded).rstrip()

    def _turned(self) -> Table | None:
        """Return the table with a column for each row. None if there are too many rows."""
        rows = self._rows()
        if not 0 < len(rows) <= _MOST_SIDE_BY_SIDE or any(section.label for section in self._sections):
            return None
        table = Table(self.columns[0].heading, *(row[0] for row in rows))
        for index, column in enumerate(self.columns[1:], 1):
            table.add_row(column.heading, *(row[index] for row in rows))
        return table

    def _records(self, width: int) -> Iterator[str]:
        """Give one block per row: a line per column, with its heading and its cell."""
        left = max((cell_len(column.heading) for column in self.columns), default=0)
        # A heading may be a key of many words: half of the room is for values.
        left = max(1, min(left, (width - len(_GAP)) // 2))
        right = max(1, width - left - len(_GAP))
        shape = Table("", "")
        for section in self._sections:
            if section.label:
                yield from wrapped(section.label, width)
            for row in section.rows:
                for column, cell in zip(self.columns, row, strict=True):
                    yield from shape._row_lines((column.heading, cell), (left, right))
                yield "─" * width


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text: broken at words, words longer than a line wherever it ends."""
    lines = [""]
    for part in _PARTS.findall(text.rstrip()):
        if cell_len(lines[-1]) + cell_len(part.rstrip()) <= width:
            lines[-1] += part
            continue
        if lines[-1].strip():
            lines.append("")
        if not part.isspace():
            lines[-1:] = chop_cells(part, width)
    return [line.rstrip() for line in lines]


def _longest_part(text: str) -> int:
    return max((cell_len(part.strip()) for part in _PARTS.findall(text)), default=0)


def _padded(text: str, width: int, *, right: bool) -> str:
    fill = " " * (width - cell_len(text))
    return fill + text if right else text + fill
