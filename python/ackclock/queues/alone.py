"""Runs a queue alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.arguments import whole_number
from ackclock.errors import ArgumentValueError, InputError
from ackclock.metrics.quantities import number_of
from ackclock.queues.spec import queue_of, source_of
from ackclock.queues.trace import read_trace

if TYPE_CHECKING:
    import polars

    from ackclock.page.over_time import Drawing
    from ackclock.page.plots import Plot

#: Arrivals that show how a queue reacts: three quarters of the rate, and twice as much for two seconds.
DEFAULT_ARRIVALS = ("poisson({base:g} Mbit/s)", "cbr({extra:g} Mbit/s, from={start:g} s, to={end:g} s)")
_BASE, _EXTRA, _START, _END = 0.75, 0.75, 0.3, 0.5
#: Samples of a run by default.
_SAMPLES = 1000

Queue = str | Mapping[str, Any]


@dataclass(frozen=True)
class QueueRun:
    """A queue under open-loop arrivals. It can be pickled."""

    #: Counts, sojourn times and samples, as `ackclock queue --json` prints them.
    document: dict[str, Any] = field(repr=False)
    duration_s: float

    @property
    def queue(self) -> str:
        """Name, limit and parameters of the queue in words."""
        return str(self.document["queue"])

    @cached_property
    def samples(self) -> polars.DataFrame:
        """One row per interval: backlog, largest sojourn time, bytes, drops, marks, variables."""
        import polars

        samples = self.document["samples"]
        columns = {name: values for name, values in samples.items() if name != "state"}
        return polars.DataFrame(columns | samples["state"])

    @cached_property
    def packets(self) -> polars.DataFrame:
        """One row per packet: arrival, source, flow, bytes, outcome, time of leaving, reasons."""
        import polars

        schema = {
            "arrived_ns": polars.UInt64,
            "source": polars.UInt32,
            "flow": polars.UInt64,
            "bytes": polars.UInt32,
            "outcome": polars.String,
            "left_ns": polars.UInt64,
            "dropped": polars.String,
            "marked": polars.String,
        }
        return polars.DataFrame(self.document["packets"], schema=schema)

    def drawing(self, title: str | None = None) -> Drawing:
        """Return sojourn times, backlog, drops and marks, and the variables of the queue, over time."""
        from ackclock.queues.drawing import drawing

        return drawing(self.document["samples"], self.duration_s, title or self.queue)

    def plot(self) -> Plot:
        """Draw the run with matplotlib. Raises `InputError` without matplotlib."""
        return self.drawing().figure()


def queue(
    queue: Queue,
    *,
    arrivals: Sequence[str | Mapping[str, Any]] = (),
    trace: str | Path | None = None,
    rate: str = "10 Mbit/s",
    rtt: str = "100 ms",
    duration: str = "10 s",
    interval: str | None = None,
    seed: int = 1,
    packets: bool = True,
) -> QueueRun:
    """Run a queue alone, in front of a transmitter, under arrivals that do not respond to it.

    - `queue`: a name (`ackclock list queue`), a label such as `codel(target=10 ms)`, or a dict of keys.
    - `arrivals`: sources such as `poisson(9 Mbit/s)`, `cbr(2 Mbit/s, from=1 s)` and
      `burst(packets=50, every=1 s)` (docs/how-to/queue-alone.md).
    - `trace`: a CSV file with a line per packet: `time_s`, `bytes`, and optionally `flow` and `ecn`.
    - `rtt`: the base RTT that sizes in BDP refer to.
    - `interval`: the time between samples, by default a thousandth of the duration.
    - `packets`: whether to keep the outcome of each packet.

    Raises `AckclockError`.
    """
    seconds = _seconds("duration", duration)
    resolved = queue_of(queue)
    sources = [source_of(each) for each in arrivals]
    recorded = [] if trace is None else read_trace(Path(trace))
    if not sources and not recorded:
        sources = [source_of(text) for text in default_arrivals(rate, seconds)]
    request = {
        "queue": resolved,
        "rate": rate,
        "rtt": rtt,
        "duration": duration,
        "interval": interval or f"{round(seconds / _SAMPLES * 1e9)} ns",
        "seed": whole_number("seed", seed),
        "arrivals": sources,
        "trace": recorded,
        "packets": packets,
    }
    try:
        document = json.loads(_core.queue_json(json.dumps(request)))
    except ValueError as error:
        raise InputError(f"queue: {error}") from None
    return QueueRun(document, seconds)


def default_arrivals(rate: str, seconds: float) -> list[str]:
    """Return the sources for a rate and a duration if none is given. Raises `ArgumentValueError`."""
    number = number_of(rate)
    if number is None or number[0] != "bps":
        raise ArgumentValueError("rate", f'{rate!r} is not a rate with a unit; write for example "10 Mbit/s"')
    numbers = {
        "base": 1e-6 * _BASE * number[1],
        "extra": 1e-6 * _EXTRA * number[1],
        "start": _START * seconds,
        "end": _END * seconds,
    }
    return [text.format(**numbers) for text in DEFAULT_ARRIVALS]


def _seconds(argument: str, text: str) -> float:
    number = number_of(text)
    if number is None or number[0] != "s" or number[1] <= 0:
        raise ArgumentValueError(argument, f'{text!r} is not a duration with a unit; write "10 s"')
    return number[1]
