"""What a run gives to a notebook: metrics as plain values, samples as polars frames on demand."""

from __future__ import annotations

import html
import io
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.job import Outcome
from ackclock.scenario import Scenario
from ackclock.store import Store
from ackclock.study import Study, run_study

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Samples:
    """Samples over time. Counters count from the start of the run; the unit is in each name."""

    _outcome: Outcome = field(repr=False)

    @cached_property
    def flows(self) -> polars.DataFrame:
        """A row per time and flow: cwnd, ssthresh, in flight, srtt, phase, bytes, what algorithms report."""
        return _frame(self._outcome.flow_samples)

    @cached_property
    def links(self) -> polars.DataFrame:
        """One row per time and shared link: backlog, bytes forwarded, drops."""
        return _frame(self._outcome.link_samples)


@dataclass(frozen=True)
class RunResult:
    """Metrics over `[warmup, end]`; each is defined in `docs/metrics.md`."""

    scenario: Scenario
    document: dict[str, Any] = field(repr=False)
    samples: Samples = field(repr=False)

    @property
    def summary(self) -> dict[str, float]:
        """Metrics of the whole run."""
        return dict(self.document["summary"])

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Metrics of each flow with congestion control; transfers that arrive are not among them."""
        return list(self.document["flows"])

    @property
    def transfers(self) -> list[dict[str, Any]]:
        """Metrics of each group of transfers, completion times among them."""
        return list(self.document.get("transfers", ()))

    @property
    def datagrams(self) -> list[dict[str, Any]]:
        """Metrics of each flow or crowd of datagrams."""
        return list(self.document.get("datagrams", ()))

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
            f"<tr><td>{name}</td><td>{value:.6g}</td></tr>" for name, value in self.summary.items()
        )
        return f"<table><caption>{html.escape(self.scenario.name)}</caption>{rows}</table>"


def run(
    scenario: Scenario | str | Path | dict[str, Any],
    *,
    seed: int | None = None,
    replicate: int = 0,
    sets: tuple[str, ...] = (),
    out: str | Path | None = None,
) -> RunResult:
    """Run one replicate of a scenario: a `Scenario`, a file, or the dict of one.

    `seed`: the file's own by default. `sets`: `KEY=VALUE` texts as of `--set`. `out`: a folder to keep the
    result in. Raises `ScenarioError` or `StoreError`.
    """
    if isinstance(scenario, str | Path):
        scenario = Scenario.from_file(scenario)
    elif isinstance(scenario, dict):
        scenario = Scenario.from_dict(scenario)
    if sets:
        scenario = scenario.with_sets(sets)
    jobs = Study.of(scenario, seed=seed, replicates=replicate + 1, samples=True).jobs
    with Store(out) as store:
        (outcome,) = run_study(Study(jobs[-1:]), store, workers=1)
    return RunResult(scenario, json.loads(outcome.result_json), Samples(outcome))


def _frame(content: bytes | None) -> polars.DataFrame:
    import polars

    return polars.DataFrame() if content is None else polars.read_parquet(io.BytesIO(content))
