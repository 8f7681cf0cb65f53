"""The keys of `paper.toml` and `claims.toml`. Measures declare their own keys."""

from __future__ import annotations

from ackclock.files.declaration import (
    SETS,
    Anything,
    ByKind,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    Table,
    Text,
    Type,
    Whole,
)

#: The replicates of a cell whose samples over time are kept, with the argument of `Study.of`.
SAMPLES = {"none": False, "first": None, "all": True}
#: The origin of an answer: it follows from the text, is the usual value, or was fitted to printed numbers.
ORIGINS = ("derived", "conventional", "fitted")
#: The time of an answer: before the results of the paper's runs were known, together with them, or after.
CHOSEN = ("before", "with", "after")
#: The regret of a control over the environments: total, mean or worst case.
WHICH = ("d_sum", "d_mean", "c_max")

#: A value of an axis.
VALUE = Either((Text(), Number(), Flag()))
#: Values by axis. A list stands for any of its members.
SELECTION = MapOf(Either((Text(), Number(), Flag(), ListOf(VALUE, 1))))

_AXIS = Table(
    "an axis",
    {"values": Either((ListOf(VALUE, 1), MapOf(SETS)))},
    {"name": Text(), "set": Text(words='a text "KEY=VALUE"')},
)
_GRID = Table(
    "a grid",
    {"name": Text(), "axes": ListOf(Either((Text(), _AXIS)), 1)},
    {
        "scenario": Text(),
        "suite": Text(),
        "samples": Text(tuple(SAMPLES)),
        "extended": Flag(),
        "replicates": Whole(1),
    },
)
_CHANGE = Table("a change", {"set": SETS}, {"grids": ListOf(Text(), 1), "where": SELECTION})
_ANSWER: dict[str, Type] = {
    "set": SETS,
    "changes": ListOf(_CHANGE, 1),
    "origin": Text(ORIGINS),
    "fits": ListOf(Text(), 1),
    "chosen": Text(CHOSEN),
}
_ALTERNATIVE = Table(
    "an alternative",
    {"id": Text(), "title": Text()},
    {**_ANSWER, "where": SELECTION, "at": MapOf(SELECTION), "metrics": MapOf(Text())},
)
_CHOICE = Table(
    "a choice",
    {"question": Text(), "answer": Text(), "why": Text()},
    {**_ANSWER, "id": Text(), "source": Text(), "alternatives": ListOf(_ALTERNATIVE)},
)

_SHOWN: dict[str, Type] = {"id": Text(), "title": Text()}
_OF_GRID: dict[str, Type] = {"grid": Text(), "at": SELECTION}
_COLUMN: dict[str, Type] = {"title": Text(), "metric": Text(), "digits": Whole(0)}
_ROBUSTNESS = Table("a column", {**_COLUMN, "which": Text(WHICH)}, {"printed": Text(), "at": SELECTION})
_TABLE = ByKind(
    {
        "": Table(
            "a table",
            {**_SHOWN, "rows": Text()},
            {
                **_OF_GRID,
                "printed": Text(),
                "columns": ListOf(Table("a column", _COLUMN, {"printed": Text()}), 1),
                "across": Table(
                    "across",
                    {"axis": Text(), "metric": Text(), "digits": Whole(0)},
                    {"printed": Text()},
                ),
            },
        ),
        "robustness": Table(
            "a table",
            {
                **_SHOWN,
                "columns": ListOf(_ROBUSTNESS, 1),
            },
            {**_OF_GRID, "grids": ListOf(Text(), 1), "printed": Text()},
        ),
    },
)
_POINTS_PANEL = Table(
    "a panel",
    {"title": Text(), "metric": Text(), "unit": Text()},
    {"printed": Table("printed", {"table": Text(), "column": Text()})},
)
_FIGURE = ByKind(
    {
        "series": Table(
            "a figure", {**_SHOWN, "panels": Text(), "lines": ListOf(Text(), 1), "unit": Text()}, _OF_GRID
        ),
        "points": Table(
            "a figure",
            {**_SHOWN, "along": Text(), "panels": ListOf(_POINTS_PANEL, 1)},
            {**_OF_GRID, "lines": Text()},
        ),
        "expansion": Table("a figure", {**_SHOWN, "lines": MapOf(Text()), "unit": Text()}),
    }
)

PAPER = Table(
    "a paper",
    {
        "name": Text(),
        "title": Text(),
        "reference": Text(),
        "replicates": Whole(1),
        "alternative_replicates": Whole(1),
        "grids": ListOf(_GRID, 1),
        "choices": ListOf(_CHOICE),
    },
    {
        "quick": Table("quick", {}, {"replicates": Whole(1), "set": SETS}),
        "printed": MapOf(Text()),
        "axes": MapOf(_AXIS),
        "alternatives_at": MapOf(SELECTION),
        "tables": ListOf(_TABLE),
        "figures": ListOf(_FIGURE),
    },
)

#: The comparisons of a measured value with a number.
COMPARED = ("within", "within_percent", "above", "below", "at_most")
_EXPECT = Table("expect", {}, dict.fromkeys(COMPARED, Number()))
CLAIMS = Table(
    "the claims",
    {
        "claims": ListOf(
            Table(
                "a claim",
                {"id": Text(), "statement": Text(), "expect": _EXPECT, "measure": MapOf(Anything())},
                {
                    "section": Text(),
                    "unit": Text(),
                    "digits": Whole(0),
                    "printed": Either(
                        (
                            Number(),
                            Table(
                                "printed",
                                {"table": Text(), "column": Text()},
                                {"at": SELECTION, "times": Text()},
                            ),
                        )
                    ),
                    "note": Text(),
                    "with": MapOf(MapOf(Anything())),
                    "each": MapOf(ListOf(VALUE, 1)),
                },
            ),
            1,
        )
    },
)
