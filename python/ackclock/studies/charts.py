"""The charts of a study: the layout of its axes, lines with intervals, and heat maps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.metrics.declared import Metric
from ackclock.metrics.quantities import number_of
from ackclock.metrics.shares import GroupShare
from ackclock.page.lines import Axes, Line, csv_of, ends, lines
from ackclock.statistics.estimates import Estimate
from ackclock.studies.campaign import PointSummary, metrics_of
from ackclock.studies.grid import Axis, Grid, plain
from ackclock.text.cells import quoted

#: The metrics with charts. `summary.csv` contains all metrics.
SHOWN = ("goodput", "queue_delay_mean", "queue_delay_p95", "loss_rate", "utilization", "jain_index")
#: The largest number of lines of a chart. Dashes and marks distinguish six.
_LINES = 6
#: The largest number of charts of a metric.
_CHARTS = 24
#: The smallest number of values of both axes of a heat map.
_LEAST = 3
#: Axes whose values span this ratio or more are logarithmic.
_WIDE = 20.0


def shown_of(grid: Grid, found: Sequence[PointSummary]) -> list[Metric]:
    """Return the metrics with charts and columns: the named ones, or the main metrics and all shares."""
    if grid.metrics:
        return [*grid.metrics]
    metrics = {metric.name: metric for metric in metrics_of(found)}
    main = [metrics[name] for name in SHOWN if name in metrics]
    return [*main, *(metric for metric in metrics.values() if isinstance(metric, GroupShare))]


@dataclass(frozen=True)
class Side:
    """An axis of the grid as an axis of charts."""

    name: str
    #: The label of each step.
    texts: tuple[str, ...]
    #: The numbers of its steps, or None if a step is not a number.
    numbers: tuple[float, ...] | None
    unit: str

    @classmethod
    def of(cls, axis: Axis) -> Side:
        """Take an axis. Keys that change together share a name, and the first numeric key gives positions."""
        texts = tuple(", ".join(str(plain(value)) for value in row) for row in axis.rows)
        name = ", ".join(axis.keys)
        for column in zip(*axis.rows, strict=True):
            found = [_number(value) for value in column]
            units = {each[0] for each in found if each is not None}
            if None not in found and len(units) == 1 and len(set(found)) == len(found) > 1:
                return cls(name, texts, tuple(each[1] for each in found if each is not None), units.pop())
        return cls(name, texts, None, "")

    @property
    def title(self) -> str:
        """The name with its unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True)
class Layout:
    """The assignment of grid axes to the horizontal axis, to colours and to separate charts."""

    right: int
    colour: int | None
    facets: tuple[int, ...]


def layout(sides: Sequence[Side]) -> Layout | None:
    """Choose the layout by the number of values.

    The numeric axis with most values becomes horizontal, and the next one that fits gets colours. Returns
    None if no axis varies.
    """
    varying = [at for at, side in enumerate(sides) if len(side.texts) > 1]
    if not varying:
        return None
    right = max(varying, key=lambda at: (sides[at].numbers is not None, len(sides[at].texts), -at))
    rest = [at for at in varying if at != right]
    few = [at for at in rest if len(sides[at].texts) <= _LINES]
    colour = max(few, key=lambda at: (len(sides[at].texts), -at), default=None)
    return Layout(right, colour, tuple(at for at in rest if at != colour))


@dataclass(frozen=True)
class Drawn:
    """The charts of a metric with their captions, on the same axes."""

    metric: Metric
    axes: Axes
    charts: Sequence[tuple[str, Sequence[Line]]]

    def svg(self) -> str:
        """Return the first chart as SVG."""
        caption, found = self.charts[0]
        return lines(found, self.axes, f"{self.metric.label} {caption}".strip())


class Charts:
    """The charts of a study by metric."""

    def __init__(self, grid: Grid, found: Sequence[PointSummary]) -> None:
        self.sides = [Side.of(axis) for axis in grid.axes]
        steps = itertools.product(*(range(len(axis.rows)) for axis in grid.axes))
        self._points = dict(zip(steps, found, strict=True))
        self._layout = layout(self.sides)
        self.metrics = [
            metric
            for metric in shown_of(grid, found)
            if any(summary.metrics.get(metric.name) is not None for summary in found)
        ]

    def drawn(self, metric: Metric) -> Drawn | None:
        """Return the lines of a metric, with a chart for each combination of the facets' values.

        Returns None if nothing varies.
        """
        if self._layout is None:
            return None
        facets = itertools.islice(self._facets(self._layout.facets), _CHARTS)
        every = [(caption, list(self._lines(metric, steps))) for steps, caption in facets]
        side = self.sides[self._layout.right]
        axes = _axes(side, metric, ends([line for _, found in every for line in found]))
        kept = [(caption, found) for caption, found in every if any(line.x for line in found)]
        return Drawn(metric, axes, kept) if kept else None

    def of(self, metric: Metric) -> list[dict[str, str]]:
        """Return a chart for each combination of the facets' values."""
        drawn = self.drawn(metric)
        if self._layout is None or drawn is None:
            return []
        unit = self.sides[self._layout.right].unit or "step"
        return [
            {
                "name": f"{metric.anchor}-{number}",
                "svg": lines(found, drawn.axes, f"{metric.label} {caption}".strip()),
                "csv": csv_of(found, unit),
                "caption": caption,
            }
            for number, (caption, found) in enumerate(drawn.charts)
        ]

    def _facets(self, axes: Sequence[int]) -> Iterator[tuple[dict[int, int], str]]:
        """Yield each combination of the steps of some axes, with its caption."""
        for row in itertools.product(*(range(len(self.sides[at].texts)) for at in axes)):
            steps = dict(zip(axes, row, strict=True))
            yield (
                steps,
                ", ".join(f"{self.sides[at].name} {self.sides[at].texts[to]}" for at, to in steps.items()),
            )

    def _lines(self, metric: Metric, steps: Mapping[int, int]) -> Iterator[Line]:
        assert self._layout is not None, "only what varies has lines"
        right, colour = self._layout.right, self._layout.colour
        side = self.sides[right]
        for line_at in range(1 if colour is None else len(self.sides[colour].texts)):
            places = {**steps, right: 0} if colour is None else {**steps, right: 0, colour: line_at}
            points = []
            for at in range(len(side.texts)):
                value = self._value(metric, {**places, right: at})
                if value is not None:
                    x = float(at) if side.numbers is None else side.numbers[at]
                    points.append((x, value.mean, _bounds(value)))
            points.sort(key=lambda point: point[0])
            name = metric.label if colour is None else self.sides[colour].texts[line_at]
            yield Line(
                name,
                [x for x, _, _ in points],
                [y for _, y, _ in points],
                [bounds for _, _, bounds in points],
            )

    def _value(self, metric: Metric, steps: Mapping[int, int]) -> Estimate | None:
        """Return a metric at a point, in its displayed unit."""
        key = tuple(steps.get(at, 0) for at in range(len(self.sides)))
        value = self._points[key].metrics.get(metric.name)
        if value is None:
            return None
        low, high = (None if end is None else metric.factor * end for end in (value.low, value.high))
        return Estimate(metric.factor * value.mean, low, high, value.count)

    def heat(self, metric: Metric) -> list[dict[str, Any]]:
        """Return a table over two numeric axes for each combination of the other axes."""
        numeric = [
            at for at, side in enumerate(self.sides) if side.numbers is not None and len(side.texts) >= _LEAST
        ]
        if len(numeric) < 2:
            return []
        down, across = sorted(numeric, key=lambda at: len(self.sides[at].texts))[-2:]
        others = [at for at in range(len(self.sides)) if at not in (down, across)]
        return [
            self._table(metric, steps, down, across, caption)
            for steps, caption in itertools.islice(self._facets(others), _CHARTS)
        ]

    def _table(
        self, metric: Metric, steps: Mapping[int, int], down: int, across: int, caption: str
    ) -> dict[str, Any]:
        cells = [
            [
                self._value(metric, {**steps, down: row, across: column})
                for column in range(len(self.sides[across].texts))
            ]
            for row in range(len(self.sides[down].texts))
        ]
        means = [cell.mean for row in cells for cell in row if cell is not None]
        low, high = min(means, default=0.0), max(means, default=0.0)
        shown = [
            [
                None
                if cell is None
                else {
                    "text": f"{cell.mean:.4g}",
                    "title": _interval(cell),
                    "part": _part(cell.mean, low, high),
                }
                for cell in row
            ]
            for row in cells
        ]
        rows = [
            f"{quoted(self.sides[down].texts[row])},{quoted(self.sides[across].texts[column])},{cell.mean:.6g}"
            for row, line in enumerate(cells)
            for column, cell in enumerate(line)
            if cell is not None
        ]
        names = (self.sides[down].name, self.sides[across].name, metric.column)
        head = ",".join(map(quoted, names))
        return {
            "caption": caption,
            "down": self.sides[down],
            "across": self.sides[across],
            "rows": shown,
            "csv": "\n".join([head, *rows]) + "\n",
        }


def _axes(side: Side, metric: Metric, y_ends: tuple[float, float]) -> Axes:
    """Return the common axes of a metric's charts."""
    numbers = side.numbers
    if numbers is None:
        return Axes(side.name, metric.column, names=side.texts, y_ends=y_ends)
    is_wide = min(numbers) > 0 and max(numbers) / min(numbers) >= _WIDE
    return Axes(side.title, metric.column, logarithmic=is_wide, y_ends=y_ends)


def _number(value: Any) -> tuple[str, float] | None:
    """Return the unit and the number of a setting."""
    if isinstance(value, bool):
        return None
    return ("", float(value)) if isinstance(value, int | float) else number_of(value)


def _bounds(value: Estimate) -> tuple[float, float] | None:
    return None if value.low is None or value.high is None else (value.low, value.high)


def _interval(value: Estimate) -> str:
    bounds = _bounds(value)
    return "" if bounds is None else f"[{bounds[0]:.4g}, {bounds[1]:.4g}]"


def _part(value: float, low: float, high: float) -> int:
    """Return the position of a value between two others, in percent."""
    return round(100 * (value - low) / (high - low)) if high > low else 0
