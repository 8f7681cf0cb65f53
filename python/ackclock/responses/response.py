"""Runs algorithms alone over a range of loss rates, RTTs, buffers or rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.errors import ArgumentValueError, RunError
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.metrics.quantities import number_of, part_of
from ackclock.page.lines import Axes, Line, lines
from ackclock.page.notebook import alone, bar, drawer
from ackclock.responses.closed_form import buffer_utilization, mean_window
from ackclock.responses.runs import goodputs
from ackclock.running.executor import Executor
from ackclock.running.warned import Warned
from ackclock.scenario import SCHEMA
from ackclock.statistics.estimates import estimate
from ackclock.studies.grid import Grid
from ackclock.text.suggest import hint

if TYPE_CHECKING:
    import polars

    from ackclock.page.plots import Plot

_MBIT = 1e6
#: Bytes of payload and on the wire of a full segment, with its timestamps.
_PAYLOAD, _WIRE = 1448, 1500
#: Kinds of loss. The closed forms assume periodic loss.
LOSSES = ("random", "periodic")


class Axis(NamedTuple):
    """A quantity that varies."""

    #: The argument of `response` for the same quantity.
    key: str
    label: str
    #: The column of a frame.
    column: str
    #: The label's unit in units of the scenario.
    factor: float
    #: Its values, in the words of an option.
    values: tuple[str, ...]
    #: The rest of the network, by argument.
    rest: dict[str, str]


#: Windows of a flow with random loss stay below the BDP of 100 Mbit/s and 40 ms for most algorithms.
_WIDE = {"rate": "100 Mbit/s", "rtt": "40 ms", "limit": "1 BDP"}
AXES = {
    "loss": Axis(
        "loss",
        "loss rate",
        "loss_rate",
        1.0,
        ("0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1"),
        _WIDE,
    ),
    "rtt": Axis(
        "rtt",
        "base RTT, ms",
        "rtt_ms",
        1e3,
        ("10 ms", "20 ms", "40 ms", "80 ms", "160 ms", "320 ms"),
        {"rate": "100 Mbit/s", "limit": "1 BDP", "loss": "0.001"},
    ),
    "buffer": Axis(
        "limit",
        "buffer, BDP",
        "buffer_bdp",
        1.0,
        ("0.05 BDP", "0.1 BDP", "0.2 BDP", "0.5 BDP", "1 BDP", "2 BDP", "4 BDP"),
        {"rate": "20 Mbit/s", "rtt": "40 ms", "loss": "0"},
    ),
    "rate": Axis(
        "rate",
        "rate, Mbit/s",
        "rate_mbps",
        1e-6,
        ("1 Mbit/s", "3 Mbit/s", "10 Mbit/s", "30 Mbit/s", "100 Mbit/s", "300 Mbit/s"),
        {"rtt": "40 ms", "limit": "1 BDP", "loss": "0.001"},
    ),
}
#: By argument: the unit of its number, and a value for messages.
_QUANTITIES = {"rate": ("bps", "20 Mbit/s"), "rtt": ("s", "40 ms"), "limit": ("bdp", "0.5 BDP")}
#: By argument: the key of the topology.
_KEYS = {"rate": "rate", "rtt": "delay", "limit": "queue", "loss": "loss"}


class Point(NamedTuple):
    """The goodput of an algorithm at a value of the axis."""

    algorithm: str
    #: The value in the unit of the axis.
    x: float
    goodput_bps: float
    #: The 95 % interval of the mean. None if nothing is random.
    low_bps: float | None
    high_bps: float | None
    closed_form_bps: float | None


@dataclass(frozen=True)
class Response:
    """Response functions of algorithms, each alone on a bottleneck."""

    over: str
    points: tuple[Point, ...]
    #: The network, without the axis.
    conditions: dict[str, str] = field(default_factory=dict)
    #: The distinct warnings of scenarios, each with its points.
    warnings: tuple[Warned, ...] = ()

    @property
    def axis(self) -> Axis:
        """The quantity that varies."""
        return AXES[self.over]

    @property
    def frame(self) -> polars.DataFrame:
        """The points with units in the column names."""
        import polars

        frame = polars.DataFrame(self.points, schema=list(Point._fields), orient="row")
        return frame.rename({"x": self.axis.column})

    @property
    def document(self) -> dict[str, Any]:
        """Everything as JSON."""
        points = [point._asdict() for point in self.points]
        warnings = [each.json("points") for each in self.warnings]
        return {"over": self.over, "conditions": self.conditions, "points": points, "warnings": warnings}

    def lines(self) -> list[Line]:
        """Return a line for each algorithm, and one for each closed form.

        The axis is logarithmic. Points without goodput are left out, and bars end at a tenth of the mean.
        """
        found = []
        for name in dict.fromkeys(point.algorithm for point in self.points):
            own = [point for point in self.points if point.algorithm == name and point.goodput_bps > 0]
            if not own:
                continue
            bounds = [
                None
                if point.low_bps is None or point.high_bps is None
                else (max(point.low_bps, point.goodput_bps / 10) / _MBIT, point.high_bps / _MBIT)
                for point in own
            ]
            found.append(
                Line(name, [point.x for point in own], [point.goodput_bps / _MBIT for point in own], bounds)
            )
            told = [point for point in own if point.closed_form_bps is not None]
            if told:
                values = [(point.closed_form_bps or 0.0) / _MBIT for point in told]
                found.append(Line(f"{name}, closed form", [point.x for point in told], values))
        return found

    @property
    def axes(self) -> Axes:
        """The axes of a drawing: both logarithmic."""
        return Axes(self.axis.label, "goodput, Mbit/s", logarithmic=True, logarithmic_y=True)

    @property
    def title(self) -> str:
        """The title of a drawing."""
        return f"goodput over {self.axis.label.partition(',')[0]}"

    def svg(self) -> bytes:
        """Draw goodput over the axis as standalone SVG."""
        return alone(lines(self.lines(), self.axes, self.title)).encode()

    def png(self) -> bytes:
        """Draw goodput over the axis as PNG. Raises `InputError` without matplotlib."""
        return self.plot().png()

    def plot(self) -> Plot:
        """Draw goodput over the axis, as a matplotlib figure. Raises `InputError` without matplotlib."""
        figure: Plot = drawer().lines([("", self.lines())], self.axes, self.title)
        return figure


def response(
    *algorithms: Any,
    over: str = "loss",
    values: Sequence[str] | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    limit: str | None = None,
    loss: str | None = None,
    loss_kind: str = LOSSES[0],
    duration: str = "60 s",
    replicates: int = 5,
    seed: int = 1,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    failed: Callable[[int, str], None] | None = None,
) -> Response:
    """Run algorithms alone over a range of loss rates, RTTs, buffers or rates.

    - `algorithms`: names, labels or files, as for `evaluate`.
    - `over`: `loss`, `rtt`, `buffer` or `rate`. `values`: the values of it, such as `["1 %", "2 %"]`.
    - `rate`, `rtt`, `limit`, `loss`: the rest of the network. `loss_kind`: `random` or `periodic`.
    - `replicates`: seeds of each point. A point without chance runs once.
    - `out`: a folder for the runs. A second call reuses them. `executor`, `workers`: as for `evaluate`.
    - `failed`: takes the place of an algorithm, and the message of each point with a failed run. The point is
      left out. Without `failed`, a `RunError` is raised.

    Raises `AckclockError`. An `ArgumentError` names the argument.
    """
    if over not in AXES:
        raise ArgumentValueError("over", f"is {over!r}; {hint(over, AXES)}")
    if loss_kind not in LOSSES:
        raise ArgumentValueError("loss_kind", f"is {loss_kind!r}; {hint(loss_kind, LOSSES)}")
    if not algorithms:
        raise ArgumentValueError("algorithms", "is empty; name at least one, such as 'cubic'")
    axis = AXES[over]
    given = {"rate": rate, "rtt": rtt, "limit": limit, "loss": loss}
    if given[axis.key] is not None:
        raise ArgumentValueError(
            axis.key, f"is the axis; give its values as `values` instead of `{axis.key}`"
        )
    conditions = {key: given[key] or default for key, default in axis.rest.items()}
    rest = {key: _number(key, key, value) for key, value in conditions.items()}
    places = [_number("values", axis.key, text) for text in values or axis.values]
    candidates = distinct([Candidate.parse(algorithm) for algorithm in algorithms])
    document = _study(candidates, axis, places, rest, loss_kind, duration, seed)
    grid = Grid.of(document, replicates=replicates, samples="none")
    rows = goodputs(
        grid,
        out,
        executor,
        workers,
        progress or bar(document["name"]),
        lambda number, message: (failed or _raise)(*_failure(number, message, candidates, axis, places)),
    )
    points = []
    for index, found in enumerate(rows):
        if not found:
            continue
        candidate, place = candidates[index // len(places)], places[index % len(places)]
        told = _closed_form(candidate, over, {**rest, axis.key: place})
        mean = estimate(found)
        points.append(Point(candidate.label, place * axis.factor, mean.mean, mean.low, mean.high, told))
    return Response(over, tuple(points), conditions, grid.warnings)


def _failure(
    number: int, message: str, candidates: Sequence[Candidate], axis: Axis, places: Sequence[float]
) -> tuple[int, str]:
    """Return the place of an algorithm whose run failed, and a message with the value of the axis."""
    at, place = divmod(number, len(places))
    value = f"{axis.label.partition(',')[0]} {places[place] * axis.factor:g}"
    return at, f"{candidates[at].label}, {value}: {message}"


def _raise(_: int, message: str) -> None:
    raise RunError(message)


def _number(argument: str, key: str, text: str) -> float:
    """Return a quantity in seconds, bit/s or BDP, or a part. Raises `ArgumentValueError`."""
    if key == "loss":
        part = part_of(text)
        if part is None or not 0 <= part < 1:
            raise ArgumentValueError(argument, f"contains {text!r}; expected a part such as 0.001 or 0.1%")
        return part
    unit, example = _QUANTITIES[key]
    found = number_of(text)
    if found is None or found[0] != unit or found[1] <= 0:
        raise ArgumentValueError(argument, f"contains {text!r}; expected a quantity such as {example}")
    return found[1]


def _study(
    candidates: Sequence[Candidate],
    axis: Axis,
    places: Sequence[float],
    rest: dict[str, float],
    loss_kind: str,
    duration: str,
    seed: int,
) -> dict[str, Any]:
    unit, length = number_of(duration) or ("", 0.0)
    if unit != "s" or length <= 0:
        raise ArgumentValueError("duration", f"is {duration!r}; expected a time such as 60 s")
    values = [_value(axis.key, place, loss_kind) for place in places]
    network = {_KEYS[key]: _value(key, number, loss_kind) for key, number in rest.items()}
    return {
        "schema": 1,
        "name": f"response over {axis.label.partition(',')[0]}",
        "seed": seed,
        "scenario": {
            "schema": SCHEMA,
            "duration": duration,
            "warmup": f"{length / 6:g} s",
            "topology": {"kind": "dumbbell", **network, _KEYS[axis.key]: values[0]},
            "flows": [{"name": "test", "cc": "cubic"}],
        },
        "grid": {
            "flows.test.cc": [candidate.written for candidate in candidates],
            f"topology.{_KEYS[axis.key]}": values,
        },
    }


def _value(key: str, number: float, loss_kind: str) -> Any:
    if key == "rate":
        return f"{number / _MBIT:.9g} Mbit/s"
    if key == "rtt":
        return f"{number * 1e3 / 2:.9g} ms"
    if key == "limit":
        return {"kind": "drop-tail", "limit": f"{number:.9g} BDP"}
    if number == 0:
        return {"kind": "none"}
    if loss_kind == "periodic":
        return {"kind": "periodic", "period": max(1, round(1 / number))}
    return {"kind": "bernoulli", "probability": number}


def _closed_form(candidate: Candidate, over: str, network: dict[str, float]) -> float | None:
    capacity = network["rate"] * _PAYLOAD / _WIRE
    if over == "buffer" and network["loss"] == 0:
        share = buffer_utilization(candidate.resolved, network["limit"])
        return None if share is None else share * capacity
    if network["loss"] == 0:
        return None
    window = mean_window(candidate.resolved, network["loss"], network["rtt"])
    if window is None:
        return None
    return min(window * 8 * _PAYLOAD / network["rtt"] * (1 - network["loss"]), capacity)
