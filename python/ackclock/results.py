"""Running a scenario in Python: metrics as plain values, samples as polars frames on demand."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from ackclock.arguments import path_of, whole_number
from ackclock.errors import ArgumentTypeError, ArgumentValueError
from ackclock.metrics.frames import samples_frame
from ackclock.metrics.shares import groups_of, metric_named
from ackclock.metrics.summary import coverage, shown
from ackclock.running.backend import chosen, prepare
from ackclock.running.job import LINUX, SIM, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Algorithm, Scenario

if TYPE_CHECKING:
    import polars

    from ackclock.page.over_time import Drawing
    from ackclock.page.plots import Plot


@dataclass(frozen=True)
class Samples:
    """Samples over time. Counters count from the start of the run. Each name contains the unit."""

    _outcome: Outcome = field(repr=False)

    def __repr__(self) -> str:
        return f"Samples({_sizes('flows', self.flows)}; {_sizes('links', self.links)}{_span(self.flows)})"

    @cached_property
    def flows(self) -> polars.DataFrame:
        """A row per time and flow: cwnd, ssthresh, in flight, srtt, phase, bytes, values of algorithms."""
        return samples_frame(self._outcome.flow_samples)

    @cached_property
    def links(self) -> polars.DataFrame:
        """One row per time and shared link: backlog, bytes forwarded, drops."""
        return samples_frame(self._outcome.link_samples)


@dataclass(frozen=True)
class RunResult:
    """Metrics over `[warmup, end)`, which `docs/reference/metrics.md` defines. It can be pickled."""

    scenario: Scenario
    document: dict[str, Any] = field(repr=False)
    samples: Samples = field(repr=False)

    @property
    def summary(self) -> dict[str, float | None]:
        """Metrics of all flows together and of the bottleneck. None where a metric does not apply."""
        return dict(self.document["summary"])

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Metrics of each flow with congestion control, except flow arrivals."""
        return list(self.document["flows"])

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Each group of flows: `group`, `flows`, `delivered_bps`, and `share` of the payload of all flows."""
        return groups_of(self.document)

    def metric(self, name: str) -> float | None:
        """Return a metric of the summary, or a share such as `share(cubic, bbr3)`, in the unit of its key.

        None where it does not apply. Raises `ArgumentValueError` for an unknown name.
        """
        if (metric := metric_named(name)) is None:
            raise ArgumentValueError("name", f"is {name!r}, which is not a metric")
        return metric.of(self.document)

    @property
    def transfers(self) -> list[dict[str, Any]]:
        """Metrics of each group of transfers, completion times among them."""
        return list(self.document.get("transfers", ()))

    @property
    def datagrams(self) -> list[dict[str, Any]]:
        """Metrics of each source of datagrams."""
        return list(self.document.get("datagrams", ()))

    @property
    def meters(self) -> list[dict[str, Any]]:
        """Metrics of each meter: packets by colour."""
        return list(self.document.get("meters", ()))

    @property
    def links(self) -> list[dict[str, Any]]:
        """Metrics of each shared link."""
        return list(self.document["links"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.document["seed"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(label)}</td><td>{value}</td><td>{html.escape(unit)}</td></tr>"
            for label, value, unit in shown(self.document)
        )
        head = "<tr><th>metric</th><th>value</th><th>unit</th></tr>"
        caption = html.escape(f"{self.scenario.name}: {coverage(self.document)}")
        table = f"<table><caption>{caption}</caption>{head}{rows}</table>"
        if self.samples.flows.is_empty() and self.samples.links.is_empty():
            return table
        # Imported here and below, because runs do not need pages.
        from ackclock.page.notebook import picture

        return table + picture(self._drawing().svg().decode())

    def plot(self) -> Plot:
        """Draw window, RTT, goodput and queue over time: a figure of matplotlib.

        Raises `InputError` without matplotlib, or where nothing was sampled.
        """
        return self._drawing().figure()

    def explore(self) -> Any:
        """Show this run in a notebook, to run it again with another seed, other settings, or longer.

        The browser computes the runs, without a server or a kernel. Raises `InputError` without anywidget, or
        where ackclock was installed without its module for browsers.
        """
        from ackclock.page.interactive import Kept
        from ackclock.page.widget import explorer
        from ackclock.running.kept import refusal

        resolved, replicate = self.scenario.resolved_json, int(self.document["replicate"])
        kept = Kept(
            self.scenario.name,
            json.dumps(self.scenario.written),
            self.scenario.hash,
            self.seed,
            0,
            {replicate: self.summary},
            refusal=refusal(resolved, self.document["backend"]),
        )
        return explorer(kept, replicate)

    def _drawing(self) -> Drawing:
        from ackclock.page.over_time import over_time

        title = f"{self.scenario.name}: seed {self.seed}"
        return over_time(self.samples.flows, self.samples.links, self.document["duration_s"], title)


def run(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    *,
    seed: int | None = None,
    replicate: int = 0,
    sets: Iterable[str] = (),
    out: str | PathLike[str] | None = None,
    cc: Algorithm | None = None,
    backend: str = SIM,
    kernel: str | None = None,
) -> RunResult:
    """Run one replicate of a scenario: a `Scenario`, a file, or the dict of one.

    `seed`: by default the seed of the file. `sets`: changes of keys, such as `["flows.test.count=4"]`. `out`:
    a folder for the result. `cc`: the algorithm of the flows `test`, or of all flows without such a group. It
    is a subclass of `CongestionControl`, a name, `my_cc.py:MyCc`, rule text, or the dict of an algorithm.
    `backend`: `sim`, `linux`, the running kernel's TCP in real time, or `kernel`, a kernel in virtual time.
    With `linux`, `document["emulation"]` says whether the result is valid. `kernel`: the version, name or
    path of a built kernel, by default the one that was built last. Raises `ScenarioError`, `StoreError`,
    `InputError` without such a kernel, or `ArgumentError`, which names the argument.
    """
    replicate = whole_number("replicate", replicate)
    backend = chosen(backend, kernel)
    prepare(backend)
    if isinstance(scenario, str | PathLike):
        scenario = Scenario.from_file(scenario)
    elif isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif not isinstance(scenario, Scenario):
        kind = type(scenario).__name__
        raise ArgumentTypeError("scenario", f"is of type {kind}, but must be a Scenario, a file or a dict")
    if cc is not None:
        scenario = scenario.with_algorithm(cc)
    if sets:
        scenario = scenario.with_sets(sets)
    job = Study.of(scenario, seed=seed, samples=True, backend=backend).jobs[0]
    if scenario.is_random or backend == LINUX:
        job = dataclasses.replace(job, replicate=replicate)
    with Store(out if out is None else path_of("out", out)) as store:
        (outcome,) = run_study(Study((job,)), store, workers=1)
    return RunResult(scenario, json.loads(outcome.result_json), Samples(outcome))


def _sizes(name: str, frame: polars.DataFrame) -> str:
    return f"{name}: {frame.height} rows, {frame.width} columns"


def _span(frame: polars.DataFrame) -> str:
    if frame.is_empty():
        return ""
    first, last = frame["time_ns"].min(), frame["time_ns"].max()
    assert isinstance(first, int) and isinstance(last, int), "times are whole nanoseconds"
    return f"; {1e-9 * first:g} s to {1e-9 * last:g} s"
