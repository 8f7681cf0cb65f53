"""The search space: the parameters of an algorithm, each within a range."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import ArgumentValueError, ScenarioError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.constraints import Linear, meets_printed
from ackclock.files.documents import as_toml
from ackclock.foreign.describe import Parameter
from ackclock.text.suggest import hint
from ackclock.tuning.relation import Relation

#: A range that is not given: the default divided by this, to the default times this.
_FACTOR = 10.0
#: The range of a parameter that is a part of something, which cannot be 1.5.
_PART = (0.05, 0.95)
_MORE_THAN_A_PART = 1.5
#: Parameters are rounded to so many digits, to avoid `increase = 1.3729184`.
_DIGITS = 3
_OVER = re.compile(r"\s*([\w-]+)\s*=\s*(\S+?)\s*\.\.\s*(\S+)\s*")


@dataclass(frozen=True)
class Axis:
    """A parameter with its range, ends included."""

    name: str
    low: float
    high: float
    #: Whether it takes whole numbers only.
    is_whole: bool = False

    @property
    def is_log(self) -> bool:
        """Whether steps are factors: where the range spans a factor of ten."""
        return self.low > 0 and self.high >= 10 * self.low

    def value(self, place: float) -> float:
        """Return the parameter at a place from 0 to 1, rounded."""
        place = min(max(place, 0.0), 1.0)
        if self.is_log:
            found = self.low * (self.high / self.low) ** place
        else:
            found = self.low + (self.high - self.low) * place
        return min(max(float(round(found)) if self.is_whole else _rounded(found), self.low), self.high)

    def place(self, value: float) -> float:
        """Return where a value lies, from 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Space:
    """An algorithm with its fixed and its searched parameters."""

    kind: str
    fixed: Mapping[str, Any]
    axes: tuple[Axis, ...]
    #: Whether only controls within the printed constraints of Reddy et al. are wanted.
    constrained: bool = False
    #: The name of the algorithm in messages.
    title: str = ""
    #: The parameters of user-supplied code.
    parameters: tuple[Parameter, ...] = ()
    #: Relations between parameters that settings keep.
    relations: tuple[Relation, ...] = ()

    @classmethod
    def of(
        cls, cc: str, over: Sequence[str] = (), *, constrained: bool = False, keep: Sequence[str] = ()
    ) -> Space:
        """Take an algorithm as `Candidate` does. The parameters given with it are fixed.

        `over` lists texts `PARAM=lo..hi`. Without them, the search covers every numeric parameter with a
        range. A share, which cannot be 1.5, ranges from 0.05 to 0.95. Any other parameter ranges from a tenth
        of its default to ten times its default. User-supplied code may give its own ranges.
        `keep` lists relations between parameters, such as `alpha < beta`. Their parameters are searched even
        if the algorithm accepts the ends of a range only with other parameters.
        Raises `InputError`, also for a relation without a searched parameter.
        """
        candidate = Candidate.parse(cc)
        kind = str(candidate.resolved["kind"])
        written = candidate.written if isinstance(candidate.written, dict) else {}
        fixed = {name: value for name, value in written.items() if name != "kind"}
        title = candidate.label.partition("(")[0] if candidate.is_foreign else kind
        if constrained and Linear.of(candidate.resolved) is None:
            raise ArgumentValueError(
                "constrained",
                f"{title} is not a linear control; aimd, aiad, mimd, miad and linear are",
                option="--constraints reddy",
            )
        space = cls(kind, fixed, (), constrained, title, candidate.parameters)
        relations = tuple(Relation.parse(text, space._numbers) for text in keep)
        axes = tuple(space._given(text) for text in over) or tuple(
            space._derived({name for relation in relations for name in relation.names})
        )
        names = [axis.name for axis in axes]
        for name in names:
            if names.count(name) > 1:
                raise ArgumentValueError("over", f"{name}: is given twice")
        if not axes:
            hint = "name one with its range, as in increase=0.5..3"
            raise ArgumentValueError("over", f"{cc} has no parameter whose range is known; {hint}")
        for relation in relations:
            if relation.names.isdisjoint(names):
                raise ArgumentValueError(
                    "keep",
                    f"{relation.text!r}: reaches nothing, as the search covers only {', '.join(names)}; "
                    "name one of its parameters in --over",
                    option="--constraint",
                )
        return replace(space, axes=axes, relations=relations)

    @property
    def text(self) -> str:
        """The searched parameters, in words."""
        ranges = ", ".join(f"{axis.name} {axis.low:g} to {axis.high:g}" for axis in self.axes)
        kept = "".join(f", {relation.text}" for relation in self.relations)
        return f"{self.title}, {ranges}{kept}{' within the constraints of Reddy et al.' * self.constrained}"

    @property
    def _numbers(self) -> dict[str, float]:
        """The parameters that are numbers, those that are fixed with their values, others by default."""
        fixed = {name: float(value) for name, value in self.fixed.items() if isinstance(value, int | float)}
        return {**self._defaults, **fixed}

    @cached_property
    def _defaults(self) -> dict[str, float]:
        """Defaults of the parameters that are numbers, and not fixed."""
        if self.parameters:
            return {
                parameter.name: float(parameter.default)
                for parameter in self.parameters
                if parameter.type in ("float", "int")
                and parameter.default is not None
                and parameter.name not in self.fixed
            }
        (entry,) = (entry for entry in json.loads(_core.list_json("cc")) if entry["name"] == self.kind)
        return {
            parameter["name"]: float(parameter["default"])
            for parameter in entry["parameters"]
            if parameter["takes"] == "number" and parameter["name"] not in self.fixed
        }

    def candidate(self, values: Mapping[str, float]) -> Candidate:
        """Return the algorithm with some parameters. Raises `ScenarioError` where they cannot be."""
        return Candidate.parse(as_toml({"kind": self.kind, **self.fixed, **values}))

    @property
    def default(self) -> dict[str, float]:
        """The default of each parameter that is searched."""
        return {axis.name: self._defaults[axis.name] for axis in self.axes}

    def values(self, places: Sequence[float]) -> dict[str, float]:
        """Return the parameters at a place of the unit cube."""
        return {axis.name: axis.value(place) for axis, place in zip(self.axes, places, strict=True)}

    def places(self, values: Mapping[str, float]) -> list[float]:
        """Return where parameters lie in the unit cube, at its border if they are outside."""
        return [axis.place(values[axis.name]) for axis in self.axes]

    def allows(self, values: Mapping[str, float]) -> bool:
        """Return whether the algorithm takes parameters, and the constraints hold."""
        numbers = {**self._numbers, **values}
        if not all(relation.holds(numbers) for relation in self.relations):
            return False
        try:
            cc = self.candidate(values).resolved
        except ScenarioError:
            return False
        return not self.constrained or meets_printed(cc)

    def _derived(self, related: Collection[str]) -> list[Axis]:
        """Return the parameters with a known range. `related` are the parameters of relations."""
        axes = []
        given = {parameter.name: parameter for parameter in self.parameters}
        for name, default in self._defaults.items():
            if name in given and (given[name].range is not None or given[name].type == "int"):
                low, high = given[name].range or (max(1, round(default / _FACTOR)), round(default * _FACTOR))
                if low < high:
                    axes.append(Axis(name, low, high, is_whole=given[name].type == "int"))
                continue
            is_part = default < _MORE_THAN_A_PART and not self._takes(name, _MORE_THAN_A_PART)
            if is_part and self._takes(name, default / 2):
                low, high = _PART
            else:
                low, high = _rounded(default / _FACTOR), _rounded(default * _FACTOR)
            if low < high and (name in related or (self._takes(name, low) and self._takes(name, high))):
                axes.append(Axis(name, low, high))
        return axes

    def _takes(self, name: str, value: float) -> bool:
        try:
            self.candidate({name: value})
        except ScenarioError:
            return False
        return True

    def _given(self, text: str) -> Axis:
        found = _OVER.fullmatch(text)
        if found is None:
            raise ArgumentValueError("over", f"{text!r}: expected PARAM=lo..hi, as in increase=0.5..3")
        name = found[1]
        if name in self.fixed:
            raise ArgumentValueError(
                "over", f"{text!r}: {name} is fixed by {as_toml({name: self.fixed[name]})}"
            )
        if name not in self._defaults:
            raise ArgumentValueError(
                "over",
                f"{text!r}: {self.title} has no parameter {name!r} that is a number; "
                f"{hint(name, self._defaults)}",
            )
        try:
            low, high = float(found[2]), float(found[3])
        except ValueError:
            raise ArgumentValueError(
                "over", f"{text!r}: the ends of a range are numbers, as in 0.5..3"
            ) from None
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ArgumentValueError("over", f"{text!r}: the lower end must be below the upper one")
        for value in (low, high):
            try:
                self.candidate({name: value})
            except ScenarioError as error:
                raise ArgumentValueError(
                    "over", f"{text!r}: {self.title} does not take {value:g}: {error.args[0]}"
                ) from None
        whole = any(parameter.name == name and parameter.type == "int" for parameter in self.parameters)
        return Axis(name, low, high, whole)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
