"""One run as a value: what goes to a worker, and what comes back.

Both can be pickled, so a worker may be a thread, a process or a machine elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from ackclock import _core

#: Stops every run of this process that is under way, once set.
_cancel = _core.Cancel()


@dataclass(frozen=True)
class Job:
    """A scenario and a replicate of it."""

    name: str
    #: The resolved scenario.
    scenario_json: str
    scenario_hash: str
    seed: int
    replicate: int
    #: Whether samples over time are wanted, too.
    samples: bool = False

    @property
    def key(self) -> str:
        """What finds the result in a store: everything that it depends on."""
        return f"{self.scenario_hash}-s{self.seed}-r{self.replicate}-v{_core.BUILD}"


@dataclass(frozen=True)
class Outcome:
    """The result of a job."""

    key: str
    #: The document of `run --json`.
    result_json: str
    #: How long the packets of each shared link waited: a list of `link`, `up_to_ns` and `packets`.
    histograms_json: str
    #: Parquet files, where samples were wanted.
    flow_samples: bytes | None = None
    link_samples: bytes | None = None


def execute(job: Job) -> Outcome:
    """Run a job. Raises `Interrupted` after `cancel_all`."""
    scenario = _core.Scenario.from_json(job.scenario_json, job.name)
    run = scenario.run(job.seed, job.replicate, _cancel)
    documents = run.to_json(), run.histograms_json()
    if not job.samples:
        return Outcome(job.key, *documents)
    return Outcome(job.key, *documents, _parquet(run.flow_samples), _parquet(run.link_samples))


def cancel_all() -> None:
    """Stop every run of this process that is under way, soon."""
    _cancel.set()


def reset_cancel() -> None:
    """Allow runs again after `cancel_all`."""
    global _cancel
    _cancel = _core.Cancel()


def _parquet(table: _core.Table) -> bytes:
    # Imported here: a run without samples starts without polars.
    import io

    import polars

    buffer = io.BytesIO()
    polars.DataFrame(table).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
