"""Claims of a paper: the printed value, the measured value, and the verdict."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.files.declaration import Place, require_once
from ackclock.files.documents import as_toml
from ackclock.reproduce.grids import Values
from ackclock.reproduce.measures import Part, cells_of, check, is_run, require_column, take
from ackclock.reproduce.paper import CLAIMS_FILE, Paper
from ackclock.reproduce.paper_keys import COMPARED
from ackclock.reproduce.readings import CHOSEN, Reading
from ackclock.reproduce.runs import Runs
from ackclock.statistics.estimates import CONFIDENCE
from ackclock.text.suggest import hint

HOLDS, FAILS, UNDECIDABLE = "holds", "does not hold", "undecidable"
VERDICTS = (HOLDS, FAILS, UNDECIDABLE)


@dataclass(frozen=True)
class Region:
    """The region in which a value must lie for the claim to hold."""

    low: float
    high: float
    #: Whether the region excludes its ends.
    open: bool
    text: str

    def judge(self, low: float, high: float) -> str:
        """Return the verdict for an interval."""
        if self.open:
            inside = self.low < low and high < self.high
            outside = high <= self.low or self.high <= low
        else:
            inside = self.low <= low and high <= self.high
            outside = high < self.low or self.high < low
        return HOLDS if inside else FAILS if outside else UNDECIDABLE

    def margin(self, value: float) -> float:
        """Return the distance of a value from the edge, negative outside of the region."""
        return min(value - self.low, self.high - value)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that can be measured."""

    id: str
    #: The heading that lists it, or empty.
    section: str
    statement: str
    unit: str
    digits: int
    printed: float | None
    region: Region
    measure: Values
    #: A sentence that explains the verdict. `{name}` stands for a measure of `values`.
    note: str
    values: Values

    def cells(self, paper: Paper) -> list[tuple[str, Values]]:
        """Return the cells that its measures use, by grid."""
        return [cell for spec in (self.measure, *self.values.values()) for cell in cells_of(paper, spec)]


@dataclass(frozen=True)
class Verdict:
    """A claim with its verdict and measured values."""

    claim: Claim
    verdict: str
    reason: str
    note: str
    parts: tuple[Part, ...]
    #: The deciding part: among the parts with this verdict, the part with the smallest margin.
    decisive: Part

    @property
    def measured(self) -> float | None:
        """The value of the decisive part."""
        return None if self.decisive.value is None else self.decisive.value.mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the decisive part."""
        return self.decisive.interval


def claims_of(paper: Paper) -> list[Claim]:
    """Read the claims of a paper. An entry with `each` becomes one claim per value.

    Raises `InputError` with file and claim.
    """
    path = str(paper.folder / CLAIMS_FILE)
    claims: list[Claim] = []
    for entry in paper.claims:
        place = Place(path, f"claims[{entry['id']}]")
        claims += [_claim(paper, spec, place) for spec in _each(entry)]
    require_once([claim.id for claim in claims], Place(path, "claims"))
    return claims


def claims_run(
    paper: Paper, claims: Sequence[Claim], *, extended: bool = False, reading: Reading = CHOSEN
) -> list[Claim]:
    """Return the claims whose cells are run."""
    return [claim for claim in claims if is_run(paper, claim.measure, extended=extended, reading=reading)]


def judge(runs: Runs, claim: Claim, *, with_note: bool = True) -> Verdict:
    """Measure a claim and return its verdict. Raises `InputError` with file and claim."""
    try:
        parts = tuple(take(runs, claim.measure))
        note = _note(runs, claim) if with_note else ""
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        Place(str(runs.paper.folder / CLAIMS_FILE), f"claims[{claim.id}]").fail(
            f"cannot be measured: {error}"
        )
    verdict, decisive = decide(claim.region, parts)
    return Verdict(claim, verdict, _reason(claim, verdict, decisive), note, parts, decisive)


def decide(region: Region, parts: Sequence[Part]) -> tuple[str, Part]:
    """Return the verdict over all parts, and the deciding part."""
    judged = [(_judge(region, part), part) for part in parts]
    for verdict in (FAILS, UNDECIDABLE, HOLDS):
        those = [part for each, part in judged if each == verdict]
        if those:
            return verdict, min(those, key=lambda part: _margin(region, part))
    raise ValueError("nothing was measured")


def _judge(region: Region, part: Part) -> str:
    return UNDECIDABLE if part.interval is None else region.judge(*part.interval)


def _margin(region: Region, part: Part) -> float:
    return -math.inf if part.value is None else region.margin(part.value.mean)


def _reason(claim: Claim, verdict: str, part: Part) -> str:
    where, the = (f"{part.label}: ", "the") if part.label else ("", "The")
    if part.value is None:
        return f"{where}{part.reason}"
    if part.interval is None:
        return f"{where}{the} value comes from one random run, which has no interval"
    low, high = part.interval
    what = (
        f"{part.value.mean:.{claim.digits}f}"
        if part.exact
        else f"{the} {100 * CONFIDENCE:.0f} % interval {low:.{claim.digits}f} … {high:.{claim.digits}f}"
    )
    is_so = {
        HOLDS: "is" if part.exact else "lies",
        FAILS: "is not" if part.exact else "does not lie",
        UNDECIDABLE: "lies only partly",
    }[verdict]
    return f"{where}{what} {is_so} {claim.region.text}"


def _note(runs: Runs, claim: Claim) -> str:
    if not claim.note:
        return ""
    values = {}
    for name, spec in claim.values.items():
        part = take(runs, spec)[0]
        values[name] = math.nan if part.value is None else part.value.mean
    return claim.note.format(**values)


def _each(entry: Values) -> list[dict[str, Any]]:
    """Expand `each = { axis = [values] }`: `{axis}` in texts, the value itself in selections."""
    axes = entry.get("each", {})
    return [_at(entry, dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]


def _at(entry: Values, place: Values) -> dict[str, Any]:
    """Return an entry with the values of its axes filled in."""
    spec = {key: item for key, item in entry.items() if key != "each"}
    if not place:
        return spec
    for axis, value in place.items():
        for key in ("id", "statement", "note"):
            if key in spec:
                spec[key] = spec[key].replace(f"{{{axis}}}", str(value))
        if "with" in spec:
            spec["with"] = _filled(spec["with"], f"{{{axis}}}", value)
    spec["measure"] = {**spec["measure"], "at": {**spec["measure"].get("at", {}), **place}}
    if isinstance(spec.get("printed"), dict):
        spec["printed"] = {**spec["printed"], "at": place}
    return spec


def _filled(tree: Any, placeholder: str, value: Any) -> Any:
    """Return a tree with `value` instead of each text that equals the placeholder."""
    if isinstance(tree, dict):
        return {key: _filled(item, placeholder, value) for key, item in tree.items()}
    return value if tree == placeholder else tree


def _claim(paper: Paper, spec: Values, place: Place) -> Claim:
    check(paper, spec["measure"], place.at("measure"))
    values = spec.get("with", {})
    for name, measured in values.items():
        check(paper, measured, place.at(f"with.{name}"))
    try:
        spec.get("note", "").format(**dict.fromkeys(values, 0.0))
    except KeyError as error:
        place.at("note").fail(f"`with` contains no measure {error}; {hint(error.args[0], values)}")
    except (ValueError, IndexError) as error:
        place.at("note").fail(f"cannot be filled with the measures of `with`: {error}")
    digits = spec.get("digits", 2)
    printed = _printed(paper, spec.get("printed"), place.at("printed"))
    return Claim(
        id=spec["id"],
        section=spec.get("section", ""),
        statement=spec["statement"],
        unit=spec.get("unit", ""),
        digits=digits,
        printed=printed,
        region=_region(spec["expect"], printed, digits, place.at("expect")),
        measure=spec["measure"],
        note=spec.get("note", ""),
        values=values,
    )


def _printed(paper: Paper, spec: Any, place: Place) -> float | None:
    """Return a number, either given directly or from a printed table."""
    if spec is None or isinstance(spec, int | float):
        return spec
    require_column(paper, spec["table"], spec["column"], place)
    at = spec.get("at", {})
    try:
        value = paper.printed[spec["table"]].value(spec["column"], at)
        return value * (at[spec["times"]] if "times" in spec else 1.0)
    except (KeyError, ValueError, TypeError):
        place.fail(f"table {spec['table']} contains no number in {spec['column']} at {as_toml(at)}")


def _region(expect: Values, printed: float | None, digits: int, place: Place) -> Region:
    if len(expect) != 1:
        place.fail(f"needs exactly one of {', '.join(COMPARED)}")
    ((kind, value),) = expect.items()
    if kind == "above":
        return Region(value, math.inf, True, f"above {value:g}")
    if kind == "below":
        return Region(-math.inf, value, True, f"below {value:g}")
    if kind == "at_most":
        return Region(-math.inf, value, False, f"at or below {value:g}")
    if printed is None:
        place.fail(f"{kind} needs a printed value")
    reach = value if kind == "within" else abs(printed) * value / 100
    unit = " %" if kind == "within_percent" else ""
    text = f"within {value:g}{unit} of the printed {printed:.{digits}f}"
    return Region(printed - reach, printed + reach, False, text)
