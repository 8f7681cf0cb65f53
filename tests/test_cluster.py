"""`ackclock study --dask`: a scheduler and workers as processes of their own, on loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers import TINY, cli, rows, without_cpu_time
from test_interrupt import interrupted, started

from ackclock.errors import ClusterError
from ackclock.running.cluster import DaskExecutor, dask_executor
from ackclock.running.store import Store
from ackclock.studies.campaign import run_grid
from ackclock.studies.grid import Grid

STUDY = """\
scenario = "tiny.toml"
replicates = {replicates}
[grid]
"flows.test.cc" = ["aimd", "cubic"]
"topology.queue.limit" = ["5 packets", "10 packets"]
"""
#: Starting a process of Dask takes a second or two, on a machine with nothing else to do.
PATIENCE_S = 180


class Cluster:
    """A scheduler, and workers of a thread each. What they run stands in `notes`, a file each."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.notes.mkdir(parents=True)
        self.workers: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        self.address = ""
        # Should nobody be left to end it.
        options = ("--port=0", "--no-jupyter", "--idle-timeout=15 minutes")
        self.scheduler = self._start("scheduler", *options, **environment)

    def listens(self) -> None:
        """Wait for the scheduler."""
        # Dask writes the file where it is, a piece at a time.
        wait_for(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"]

    def add_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker; `joined` waits for it."""
        preload = Path(__file__).with_name("cluster_worker.py")
        options = ("--nthreads=1", "--no-nanny", f"--local-directory={self.folder}", f"--preload={preload}")
        self.workers.append(self._start("worker", *options, **environment))
        return self.workers[-1]

    def joined(self, count: int) -> Cluster:
        """Wait for so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE_S)
        return self

    def noted(self, worker: subprocess.Popen[bytes], what: str) -> list[list[str]]:
        """Keys of each chunk that a worker has begun or ended, in its order."""
        path = self.notes / str(worker.pid)
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split()[1:] for line in lines if line.split()[0] == what]

    def keys(self, what: str) -> set[str]:
        """Keys of all runs that were begun (`run`) or ended (`done`)."""
        return {key for worker in self.workers for keys in self.noted(worker, what) for key in keys}

    def close(self) -> None:
        """End every process."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, kind: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        common = ("--host=127.0.0.1", "--no-dashboard", f"--scheduler-file={self._file}")
        command = [str(Path(sysconfig.get_path("scripts")) / "dask"), kind, *common, *options]
        return subprocess.Popen(
            command,
            env={**os.environ, "ACKCLOCK_NOTES": str(self.notes), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"{kind}.log").open("ab"),
        )


@contextmanager
def cluster_of(workers: int, folder: Path, **environment: str) -> Iterator[Cluster]:
    cluster = Cluster(folder, **environment)
    try:
        cluster.listens()
        for _ in range(workers):
            cluster.add_worker()
        yield cluster.joined(workers) if workers else cluster
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers that every test leaves as they were."""
    with cluster_of(2, tmp_path_factory.mktemp("cluster")) as found:
        yield found


def wait_for(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited for nothing"
        time.sleep(0.02)


def study_file(tmp_path: Path, replicates: int, *, scenario: str = TINY, name: str = "study") -> Path:
    (tmp_path / "tiny.toml").write_text(scenario)
    path = tmp_path / f"{name}.toml"
    path.write_text(STUDY.format(replicates=replicates))
    return path


def same_files(one: Path, other: Path) -> None:
    """Two folders hold the same bytes, and documents that are the same but for the CPU time."""
    names = ["summary.csv", "summary.parquet"]
    samples = sorted(path.name for path in (one / "samples").iterdir())
    assert samples == sorted(path.name for path in (other / "samples").iterdir()) != []
    for name in (*names, *(f"samples/{name}" for name in samples)):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    documents = [
        {key: without_cpu_time(json.loads(text)) for key, text in rows(folder).items()}
        for folder in (one, other)
    ]
    assert documents[0] == documents[1]


def failed(answer_text: str) -> str:
    """The one line of an error."""
    (line,) = answer_text.splitlines()
    assert line.startswith("error: ")
    return line


def test_two_workers_leave_what_threads_leave(cluster: Cluster, tmp_path: Path) -> None:
    study = study_file(tmp_path, 12)
    near = cli("study", study, "--out", tmp_path / "near", "--json")
    far = cli("study", study, "--out", tmp_path / "far", "--json", "--dask", cluster.address)
    assert far.code == 0, far.stderr
    assert far.stdout == near.stdout
    assert far.stderr.replace("far", "near") == near.stderr
    same_files(tmp_path / "near", tmp_path / "far")
    assert all(cluster.noted(worker, "ended") for worker in cluster.workers), "a worker did nothing"


def test_a_worker_that_is_killed_costs_its_chunks_in_flight_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_file(tmp_path, 60)
    assert cli("study", study, "--out", tmp_path / "near").code == 0
    # Chunks of about ten runs.
    monkeypatch.setattr(DaskExecutor, "chunk_s", 0.2)
    with cluster_of(2, tmp_path / "cluster") as cluster:
        victim, survivor = cluster.workers
        stored: set[str] = set()

        def kill(done: int, total: int) -> None:
            if done >= 80 and not stored:
                wait_for(lambda: len(cluster.noted(victim, "begun")) > len(cluster.noted(victim, "ended")))
                victim.kill()
                victim.wait()
                stored.update(rows(tmp_path / "far"))

        with Store(tmp_path / "far") as store, dask_executor(cluster.address) as executor:
            run_grid(Grid.load(study), store, executor=executor, progress=kill)
        of_victim, of_survivor = cluster.noted(victim, "begun"), cluster.noted(survivor, "begun")
        cut_off = of_victim[len(cluster.noted(victim, "ended")) :]
    assert len(rows(tmp_path / "far")) == 240
    again = {key for keys in of_victim for key in keys} & {key for keys in of_survivor for key in keys}
    # The chunk that was cut off is done again, and the one before it if its result was not fetched yet.
    assert {key for keys in cut_off for key in keys} <= again != set()
    assert again <= {key for keys in of_victim[-1 - len(cut_off) :] for key in keys}
    assert len(cut_off) <= 1 and not again & stored
    # Nothing else is run twice, and nothing is lost.
    for chunks in (of_victim, of_survivor):
        assert sum(map(len, chunks)) == len({key for keys in chunks for key in keys})
    assert sum(map(len, of_victim)) + sum(map(len, of_survivor)) == 240 + len(again)
    assert cli("study", study, "--out", tmp_path / "far").code == 0
    same_files(tmp_path / "near", tmp_path / "far")


@pytest.mark.parametrize(("pretend", "has"), [("other", "has ackclock 0.0.1+"), ("none", "has no ackclock")])
def test_a_worker_of_another_version_is_refused(
    cluster: Cluster, tmp_path: Path, pretend: str, has: str
) -> None:
    worker = cluster.add_worker(ACKCLOCK_PRETEND=pretend)
    try:
        cluster.joined(3)
        answer = cli("study", study_file(tmp_path, 4), "--out", tmp_path / "out", "--dask", cluster.address)
    finally:
        leave(cluster, worker)
    assert answer.code == 2
    line = failed(answer.stderr)
    assert has in line and "must have the same build" in line and "worker tcp://127.0.0.1:" in line
    assert rows(tmp_path / "out") == {}


def test_a_worker_of_another_version_that_joins_later_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store, dask_executor(cluster.address) as executor:
        worker = cluster.add_worker(ACKCLOCK_PRETEND="other")
        try:
            cluster.joined(3)
            with pytest.raises(ClusterError, match=r"worker tcp://\S+ has ackclock 0\.0\.1.* are kept"):
                run_grid(Grid.load(study_file(tmp_path, 60)), store, executor=executor)
        finally:
            leave(cluster, worker)


def leave(cluster: Cluster, worker: subprocess.Popen[bytes]) -> None:
    """Take a worker out of a cluster."""
    worker.kill()
    worker.wait()
    cluster.workers.remove(worker)
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        wait_for(lambda: len(client.nthreads()) == len(cluster.workers))


def test_ctrl_c_stops_the_workers_and_the_same_command_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    study = study_file(tmp_path, 2)
    # Runs that no other test has.
    text = f"seed = 77\n{study.read_text()}"
    study.write_text(text.replace("[grid]", '[grid]\n"duration" = ["8 s", "2000 h"]'))
    out = tmp_path / "out"
    grid = Grid.load(study)
    short, endless = (
        {job.key for point in points for job in grid.jobs(point)}
        for points in (grid.points[:4], grid.points[4:])
    )
    with started("study", study, "--out", out, "--dask", cluster.address) as process:
        wait_for(lambda: endless & cluster.keys("run"))
        interrupted(process)
    # Short runs that were finished in one chunk with endless ones are there, too.
    kept = rows(out)
    assert kept.keys() == cluster.keys("done") & short != set()
    # The workers are free again: this would wait for ever otherwise.
    study.write_text(text)
    answer = cli("study", study, "--out", out, "--dask", cluster.address)
    assert answer.code == 0, answer.stderr
    assert kept.items() <= rows(out).items() and rows(out).keys() == short


def test_what_goes_wrong_on_a_worker_is_one_message(cluster: Cluster, tmp_path: Path) -> None:
    study = study_file(tmp_path, 1, name="fails")
    answer = cli("study", study, "--out", tmp_path / "out", "--dask", cluster.address)
    assert answer.code == 2
    assert "a run failed on a worker: ValueError: this went wrong; finished" in failed(answer.stderr)


def test_a_run_that_takes_too_much_memory_costs_no_other(cluster: Cluster, tmp_path: Path) -> None:
    study = study_file(tmp_path, 2)
    study.write_text(study.read_text() + '"transport.initial_window" = [16000000, 2]\n')
    answer = cli("study", study, "--out", tmp_path / "out", "--dask", cluster.address)
    assert answer.code == 2
    assert "segments in flight" in answer.stderr and "; 7 other runs failed this way" in failed(answer.stderr)
    assert len(rows(tmp_path / "out")) == 8


def test_runs_that_kill_their_workers_end_the_study(tmp_path: Path) -> None:
    study = study_file(tmp_path, 1, name="dies")
    with cluster_of(1, tmp_path / "cluster", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        answer = cli("study", study, "--out", tmp_path / "out", "--dask", cluster.address)
    assert answer.code == 2
    assert "1 workers died over the same runs, the last one was tcp://127.0.0.1:" in failed(answer.stderr)


def test_a_scheduler_that_is_lost_is_one_message(tmp_path: Path) -> None:
    study, out = study_file(tmp_path, 100), tmp_path / "out"
    with (
        cluster_of(2, tmp_path / "cluster") as cluster,
        started("study", study, "--out", out, "--dask", cluster.address) as process,
    ):
        wait_for(lambda: out.exists() and rows(out))
        cluster.scheduler.kill()
        _, stderr = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 2
        assert "the scheduler is lost; finished runs are kept" in failed(stderr)
    kept = rows(out)
    assert 0 < len(kept) < 400
    assert cli("study", study, "--out", out).code == 0
    assert kept.items() <= rows(out).items() and len(rows(out)) == 400


def test_a_scheduler_that_cannot_be_reached_is_one_message(tmp_path: Path) -> None:
    study = study_file(tmp_path, 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for address, reason in (
            ("tcp://127.0.0.1:9", "refused"),
            ("nonsense", ""),
            (f"tcp://127.0.0.1:{port}", "does not answer"),
            ("foo://host:1", ""),
        ):
            answer = cli("study", study, "--out", tmp_path / "out", "--dask", address)
            assert answer.code == 2
            message = failed(answer.stderr)
            assert f"{address}: no Dask scheduler answers" in message and reason in message


def test_options_that_exclude_each_other(tmp_path: Path) -> None:
    study = study_file(tmp_path, 1)
    for option in ("--workers=2", "--plan"):
        answer = cli("study", study, option, "--dask", "tcp://127.0.0.1:9")
        assert answer.code == 2 and option.split("=")[0] in answer.stderr


def test_without_dask_the_message_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK, str(study_file(tmp_path, 1))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "python -m pip install distributed" in failed(done.stderr)


WITHOUT_DASK = """\
import sys
sys.modules["distributed"] = None
sys.argv = ["ackclock", "study", sys.argv[1], "--dask", "tcp://127.0.0.1:9"]
from ackclock.__main__ import main
main()
"""


def test_a_worker_may_come_later(tmp_path: Path) -> None:
    study = study_file(tmp_path, 1)
    with cluster_of(0, tmp_path / "cluster") as cluster:
        with started("study", study, "--out", tmp_path / "out", "--dask", cluster.address) as process:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert f"{cluster.address} has no workers yet; waiting" in said
            cluster.add_worker()
            process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
