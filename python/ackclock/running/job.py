"""A run as a value: the job that a worker gets, and the outcome that it returns.

Both can be pickled, so a worker may be a thread, a process or a machine elsewhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import _core
from ackclock.errors import BackendError, BuildError, InputError, RunError

if TYPE_CHECKING:
    from ackclock.kernels.store import Kernel

#: Backends of a job: the simulation, the running kernel's TCP in real time, a kernel in virtual time.
SIM, LINUX, KERNEL = "sim", "linux", "kernel"
BACKENDS = (SIM, LINUX, KERNEL)


def with_kernel(name: str) -> str:
    """Return the backend that is a kernel in virtual time, by the name of the kernel."""
    return f"{KERNEL}:{name}"


def kind_of(backend: str) -> str:
    """Return the one of `BACKENDS` that a backend is."""
    return backend.partition(":")[0]


def kernel_of(backend: str) -> str:
    """Return the name of the kernel of a backend. Empty for other backends."""
    return backend.partition(":")[2]


@dataclass(frozen=True)
class Capture:
    """Which packets are captured where."""

    #: A link, `sender` or `receiver`.
    at: str
    #: Names of flows or groups. Empty for all.
    flows: tuple[str, ...]
    #: Bytes of each packet that a pcapng file keeps. None for no such file.
    snaplen: int | None = None
    #: Version of a qlog file. None for no such file. This and the following need a capture at `sender`.
    qlog_version: str | None = None
    #: Beginning and end of time-sequence plots, in nanoseconds. None for no plots.
    sequence_ns: tuple[int, int] | None = None


@dataclass(frozen=True)
class Programs:
    """Programs that an emulation runs instead of a group of flows."""

    group: str
    #: Shell command on the host of the senders. The run ends with it.
    command: str
    #: Shell command on the host of the receivers.
    server: str | None = None


@dataclass(frozen=True)
class Job:
    """A scenario and a replicate of it."""

    name: str
    #: The resolved scenario.
    scenario_json: str
    scenario_hash: str
    seed: int
    replicate: int
    #: Whether to keep samples over time.
    samples: bool = False
    #: Packets to capture. A stored result contains none.
    capture: Capture | None = None
    #: `SIM`, `LINUX`, or the result of `with_kernel`.
    backend: str = SIM
    #: Programs on the hosts of an emulation. A stored result contains none.
    programs: Programs | None = None
    #: The version and sources of ackclock that the result is of.
    build: str = field(default_factory=lambda: _core.BUILD)

    @property
    def key(self) -> str:
        """The key of the result in a store, with everything that it depends on."""
        emulated = "" if self.backend == SIM else f"{kind_of(self.backend)}-"
        if name := kernel_of(self.backend):
            # The digits of its recipe, which the name ends with.
            emulated += f"{name.rpartition('-')[2]}-"
        return f"{emulated}{self.scenario_hash}-s{self.seed}-r{self.replicate}-v{self.build}"


@dataclass(frozen=True)
class Outcome:
    """The result of a job."""

    key: str
    #: The document of `run --json`.
    result_json: str
    #: Histograms of queueing delay at each shared link, and of data on the path, where `link` is null. It is
    #: a list of `link`, `up_to_ns` and `packets`.
    histograms_json: str
    #: Parquet files, where samples were wanted.
    flow_samples: bytes | None = None
    link_samples: bytes | None = None
    #: The capture in the formats that were wanted.
    pcapng: bytes | None = None
    qlog: str | None = None
    sequences_json: str | None = None


def execute(job: Job, cancel: _core.Cancel | None = None) -> Outcome:
    """Run a job.

    User-supplied code runs in a process of its own. Raises `BackendError` if the backend does not support the
    job, or the system does not permit it. Raises `InputError` if the kernel of the job is not built here.
    Raises `BuildError` for a job of another ackclock, and `Interrupted` once `cancel` is set. Raises
    `RunError` if the run needs too much memory or its algorithm fails.
    """
    if job.build != _core.BUILD:
        raise BuildError(f"has ackclock {_core.BUILD}, but the runs are of {job.build}")
    scenario = _scenario(job)
    if job.backend != SIM:
        return _emulate(scenario, job, cancel)
    if not scenario.foreign:
        return _run(scenario, job, cancel)
    from ackclock.foreign import process

    if not process.is_needed(scenario.foreign):
        return _run(scenario, job, cancel)
    try:
        return process.call_until(cancel, _run_there, job)
    except process.CrashError as error:
        names = ", ".join(source for _, source, _ in scenario.foreign)
        raise RunError(f"{names}: {error} (seed {job.seed}, replicate {job.replicate})") from None


def _scenario(job: Job) -> _core.Scenario:
    """Return the scenario of a job. Raises `RunError` if its library has changed."""
    try:
        return _core.Scenario.from_json(job.scenario_json, job.name)
    except _core.ScenarioError as error:
        if '"sha256"' in job.scenario_json:
            raise RunError(str(error)) from None
        raise


def _run_there(job: Job) -> Outcome:
    return _run(_core.Scenario.from_json(job.scenario_json, job.name), job, None)


def _run(scenario: _core.Scenario, job: Job, cancel: _core.Cancel | None) -> Outcome:
    try:
        run = scenario.run(job.seed, job.replicate, cancel, samples=job.samples, capture=_place(job.capture))
    except _core.RunError as error:
        raise RunError(str(error)) from None
    except _core.BackendError as error:
        raise BackendError(str(error)) from None
    capture = job.capture or Capture("", ())
    return replace(
        _outcome(run, job),
        pcapng=None if capture.snaplen is None else run.pcapng(capture.snaplen),
        qlog=None if capture.qlog_version is None else run.qlog(capture.qlog_version),
        sequences_json=None if capture.sequence_ns is None else run.sequences_json(*capture.sequence_ns),
    )


def _emulate(scenario: _core.Scenario, job: Job, cancel: _core.Cancel | None) -> Outcome:
    # Imported here: most runs use no kernel.
    from ackclock import kernel
    from ackclock.kernels import store as kernels

    wanted = job.capture
    if wanted is not None and (wanted.qlog_version, wanted.sequence_ns) != (None, None):
        raise BackendError(
            "a kernel reports no events of its senders: --qlog needs a simulation, --pcap works with both"
        )
    snaplen = 0 if wanted is None else wanted.snaplen or 0
    capture = None if wanted is None else (wanted.at, list(wanted.flows), snaplen)
    programs = (
        None if job.programs is None else (job.programs.group, job.programs.command, job.programs.server)
    )
    name = kernel_of(job.backend)
    built = kernels.find(name) if name else None
    try:
        run = scenario.emulate(
            job.seed,
            job.replicate,
            cancel,
            samples=job.samples,
            programs=programs,
            capture=capture,
            objects=kernel.folder(),
            kernel=None if built is None else (built.image, built.title, _modules(built, scenario, job)),
        )
    except _core.BackendError as error:
        raise BackendError(str(error)) from None
    return replace(_outcome(run, job), pcapng=None if wanted is None else run.pcapng(snaplen))


def _modules(built: Kernel, scenario: _core.Scenario, job: Job) -> dict[str, Path]:
    """Return the compiled kernel modules of a scenario by the text of their source."""
    if not any(kind == "module" for kind, *_ in scenario.foreign):
        return {}
    from ackclock.kernels import modules

    found: dict[str, Path] = {}
    for flow in json.loads(job.scenario_json)["flows"]:
        match flow.get("cc"):
            case {"kind": "module", "source": str(source), "code": str(code)} if code not in found:
                try:
                    found[code] = modules.build(built, source, code)
                except InputError as error:
                    raise BackendError(f"flows.{flow['name']}.cc: {error}") from None
    return found


def _outcome(run: _core.Run, job: Job) -> Outcome:
    return Outcome(
        job.key,
        run.to_json(),
        run.histograms_json(),
        _parquet(run.flow_samples) if job.samples else None,
        _parquet(run.link_samples) if job.samples else None,
    )


def _place(capture: Capture | None) -> tuple[str, list[str], bool] | None:
    if capture is None:
        return None
    has_senders = (capture.qlog_version, capture.sequence_ns) != (None, None)
    return capture.at, list(capture.flows), has_senders


def _parquet(table: _core.Table) -> bytes:
    # Imported here: a run without samples starts without polars.
    import io

    import polars

    buffer = io.BytesIO()
    polars.DataFrame(table).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
