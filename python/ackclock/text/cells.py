"""Tables as CSV that a spreadsheet takes for text and numbers, and for nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

#: A cell that a spreadsheet computes.
_FORMULA = r"^[=+\-@\t\r]"
#: A number, which may begin with its sign.
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that begins like it gets an apostrophe."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def quoted(text: str) -> str:
    """Return a text as a cell in quotes."""
    return '"' + cell(text).replace('"', '""') + '"'


def csv_text(frame: polars.DataFrame) -> str:
    """Return a table as CSV, whose names and texts are as `cell` makes them."""
    import polars

    texts = polars.selectors.string()
    is_formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    safe = polars.when(is_formula).then(polars.lit("'") + texts).otherwise(texts)
    names = {name: cell(name) for name in frame.columns}
    return frame.with_columns(safe.name.keep()).rename(names).write_csv()
