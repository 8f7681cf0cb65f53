"""Studies, stores, executors: order, equal bytes on any number of workers, nothing half written."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from helpers import cli, without_cpu_time

from ackclock import Scenario, StoreError, _core
from ackclock.errors import BuildError, RunError
from ackclock.files.writing import write_whole
from ackclock.running.chunks import ChunkSize
from ackclock.running.executor import Chunk, Executor, Threads, execute_chunk
from ackclock.running.job import Job, Outcome, execute
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study


class InPlace:
    """Runs chunks of three where they are submitted, and hands back the last of each."""

    chunk_s = 1000.0

    def __init__(self) -> None:
        self.chunks: list[int] = []

    def capacity(self) -> int:
        return 1

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        self.chunks.append(len(jobs))
        future: Future[Chunk] = Future()
        few = jobs if len(jobs) == 1 else jobs[: min(len(jobs) - 1, 2)]
        try:
            future.set_result(execute_chunk(few, _core.Cancel(), 1000.0))
        except RunError as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        raise AssertionError("nothing went wrong")


@pytest.fixture
def scenario(tiny: Path) -> Scenario:
    return Scenario.from_file(tiny)


def documents(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    return [without_cpu_time(json.loads(outcome.result_json)) for outcome in outcomes]


def run_in_memory(
    study: Study, executor: Executor | None = None, workers: int | None = None
) -> list[Outcome]:
    with Store() as store:
        return run_study(study, store, executor=executor, workers=workers)


def test_results_come_in_the_order_of_the_study(scenario: Scenario) -> None:
    # The first job takes longest by far.
    long = scenario.with_sets(["duration=2000 s"])
    study = Study.of(long) + Study.of(scenario, replicates=3) + Study.of(long, seed=2)
    outcomes = run_in_memory(study, workers=2)
    assert [outcome.key for outcome in outcomes] == [job.key for job in study.jobs]
    assert [document["duration_s"] for document in documents(outcomes)] == [2000, 8, 8, 8, 2000]
    assert [document["replicate"] for document in documents(outcomes)] == [0, 0, 1, 2, 0]


def test_a_job_that_stands_twice_runs_once(scenario: Scenario) -> None:
    told = []
    study = Study.of(scenario) + Study.of(scenario)
    with Store() as store:
        first, second = run_study(study, store, progress=lambda done, total: told.append((done, total)))
    assert first is second
    assert told == [(0, 1), (1, 1)]


def test_any_executor_gives_the_same_documents(scenario: Scenario) -> None:
    study = Study.of(scenario, replicates=4)
    expected = run_in_memory(study, workers=1)
    assert len({outcome.key for outcome in expected}) == 4
    with Threads(2) as threads:
        for executor in (in_place := InPlace(), threads):
            outcomes = run_in_memory(study, executor)
            assert documents(outcomes) == documents(expected)
            assert outcomes[0].flow_samples == expected[0].flow_samples
            assert outcomes[1].flow_samples is None
    # One to learn what a run costs; of three that follow two are run, and one is handed out again.
    assert in_place.chunks == [1, 3, 1]


def test_chunks_get_as_many_runs_as_fill_the_time() -> None:
    chunk_size = ChunkSize(2.0)
    assert chunk_size.next(10_000, 4) == 1
    chunk_size.observe(1, 0.1)
    assert chunk_size.next(10_000, 4) == 20
    chunk_size.observe(0, 5.0)
    assert chunk_size.next(10_000, 4) == 20
    # Three tenths of the way from 0.1 s to 0.5 s a run.
    chunk_size.observe(20, 10.0)
    assert chunk_size.next(10_000, 4) == round(2 / 0.22)
    for _ in range(50):
        chunk_size.observe(10, 100.0)
    assert chunk_size.next(10_000, 4) == 1
    for _ in range(50):
        chunk_size.observe(100, 1e-6)
    assert chunk_size.next(10_000, 4) == 1000
    alone = ChunkSize(0.0)
    alone.observe(1, 1e-3)
    assert alone.next(10_000, 4) == 1


def test_chunks_become_small_towards_the_end() -> None:
    chunk_size = ChunkSize(2.0)
    chunk_size.observe(1, 0.1)
    left, sizes = 60, []
    while left:
        sizes.append(chunk_size.next(left, 4))
        left -= sizes[-1]
    assert sizes == [15, 12, 9, 6, 5, 4, 3, 2, 1, 1, 1, 1]


def test_a_chunk_ends_with_its_time_or_with_a_run_that_fails(scenario: Scenario) -> None:
    jobs = Study.of(scenario, replicates=3, samples=False).jobs
    bad = replace(jobs[0], scenario_json="{}")
    cancel = _core.Cancel()
    assert len(execute_chunk(jobs, cancel, 100.0).outcomes) == 3
    assert len(execute_chunk(jobs, cancel, 0.0).outcomes) == 1
    assert len(execute_chunk((*jobs, bad), cancel, 100.0).outcomes) == 3
    with pytest.raises(_core.ScenarioError):
        execute_chunk((bad, *jobs), cancel, 100.0)


def test_a_run_of_another_build_is_refused(scenario: Scenario) -> None:
    (job,) = Study.of(scenario).jobs
    with pytest.raises(BuildError, match=r"the runs are of 99\.0\.0\+0"):
        execute(replace(job, build="99.0.0+0"))


def test_jobs_and_outcomes_can_be_sent_away(scenario: Scenario) -> None:
    (job,) = Study.of(scenario).jobs
    outcome = execute(pickle.loads(pickle.dumps(job)))
    assert pickle.loads(pickle.dumps(outcome)) == outcome


def test_one_or_two_workers_give_the_same_scoreboard(tiny_suite: Path, tmp_path: Path) -> None:
    boards = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        answer = cli("evaluate", "new-aimd", "--suite", tiny_suite, "--workers", workers, "--out", out)
        assert answer.code == 0, answer.stderr
        boards.append(((out / "scoreboard.json").read_bytes(), answer.stdout))
        samples = {path.name: path.read_bytes() for path in (out / "samples").iterdir()}
        boards[-1] += (samples,)  # type: ignore[assignment]
    assert boards[0] == boards[1]


def test_a_scenario_with_nothing_random_runs_once(scenario: Scenario) -> None:
    assert len(Study.of(scenario, replicates=7).jobs) == 7
    settled = scenario.with_sets(["flows.test.start=0 s"])
    assert not settled.is_random
    assert len(Study.of(settled, replicates=7).jobs) == 1


def test_replicates_differ_and_share_no_key(scenario: Scenario) -> None:
    study = Study.of(scenario, replicates=3) + Study.of(scenario, seed=2, replicates=3)
    assert len({job.key for job in study.jobs}) == 6
    goodputs = [document["summary"]["goodput_bps"] for document in documents(run_in_memory(study))]
    assert len(set(goodputs)) == 6


def test_the_key_depends_on_what_changes_results_only(scenario: Scenario) -> None:
    (job,) = Study.of(scenario).jobs
    for sets in (
        ["flows.test.cc.increase=2"],
        ["transport.mss=1000 B"],
        ["duration=9 s"],
        ["flows.0.count=3"],
    ):
        assert Study.of(scenario.with_sets(sets)).jobs[0].key != job.key
    assert Study.of(scenario.with_sets(["name=other"])).jobs[0].key == job.key


def test_stored_outcomes_are_found_again(scenario: Scenario, tmp_path: Path) -> None:
    study = Study.of(scenario, replicates=2)
    with Store(tmp_path) as store:
        outcomes = run_study(study, store)
    with Store(tmp_path) as store:
        assert [store.get(job) for job in study.jobs] == outcomes


def test_samples_that_were_not_wanted_then_are_run_for_now(scenario: Scenario, tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        run_study(Study.of(scenario, samples=False), store)
        (job,) = Study.of(scenario, samples=True).jobs
        assert store.get(job) is None
        (outcome,) = run_study(Study((job,)), store)
        assert outcome.flow_samples is not None
        assert store.get(job) == outcome


def test_runs_of_another_build_are_not_mixed_up(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = Study.of(scenario).jobs
    with Store(tmp_path) as store:
        run_study(Study((job,)), store)
        monkeypatch.setattr(_core, "BUILD", "99.0.0+0")
        (job,) = Study.of(scenario).jobs
        assert store.get(job) is None
        run_study(Study((job,)), store)
    with sqlite3.connect(tmp_path / "runs.sqlite") as index:
        versions = {version for (version,) in index.execute("SELECT version FROM runs")}
    assert len(versions) == 2


def test_two_processes_may_write_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result"

    def another_process(_: int) -> None:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        monkeypatch.setattr(os, "getpid", lambda: -1)
        write_whole(path, b"theirs")

    monkeypatch.setattr(os, "fsync", another_process)
    write_whole(path, b"ours")
    assert path.read_bytes() == b"ours"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_put_leaves_nothing_half_done(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    (job,) = Study.of(scenario).jobs
    outcome = execute(job)

    def fail(*_: object) -> NoReturn:
        raise error

    with Store(tmp_path) as store:
        with monkeypatch.context() as patch, pytest.raises((StoreError, KeyboardInterrupt)) as raised:
            patch.setattr(Path, "replace", fail)
            store.put(job, outcome)
        if isinstance(error, OSError):
            assert str(tmp_path) in str(raised.value) and "No space left" in str(raised.value)
        assert store.get(job) is None
        assert list((tmp_path / "samples").iterdir()) == []
        store.put(job, outcome)
        assert store.get(job) == outcome


def test_a_run_that_fails_keeps_what_was_finished(scenario: Scenario, tmp_path: Path) -> None:
    good = Study.of(scenario, replicates=2)
    bad = Job(name="bad", scenario_json="{}", scenario_hash="0", seed=1, replicate=0)
    with Store(tmp_path) as store:
        with pytest.raises(_core.ScenarioError):
            run_study(Study((*good.jobs, bad)), store, workers=1)
        assert all(store.get(job) is not None for job in good.jobs)


@pytest.mark.parametrize("executor", [None, InPlace()])
def test_runs_that_take_too_much_memory_do_not_stop_the_others(
    scenario: Scenario, tmp_path: Path, executor: Executor | None
) -> None:
    good = Study.of(scenario, replicates=3)
    bad = Study.of(scenario.with_sets(["transport.initial_window=16000000"]), replicates=3)
    mixed = Study(tuple(job for pair in zip(bad.jobs, good.jobs, strict=True) for job in pair))
    with Store(tmp_path) as store:
        with pytest.raises(
            RunError, match=r"^flow test.* segments in flight .*; 2 other runs fail"
        ) as raised:
            run_study(mixed, store, executor=executor, workers=2)
        assert str(raised.value).endswith(f"; finished runs are kept in {tmp_path}")
        assert all(store.has(job) for job in good.jobs)
        assert not any(store.has(job) for job in bad.jobs)
    with pytest.raises(RunError, match=r"or correct the algorithm$"):
        run_in_memory(Study(bad.jobs[:1]), executor)


def test_an_error_of_a_run_can_be_sent_back() -> None:
    error = pickle.loads(pickle.dumps(RunError("too much")))
    assert (type(error), str(error), error.exit_code) == (RunError, "too much", 2)
