"""`ackclock study`: the same results in any order, on any number of workers, wherever it was killed."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from helpers import ACKCLOCK, cli, rows

from ackclock.running.executor import Chunk, Threads, execute_chunk
from ackclock.running.job import Job
from ackclock.running.store import Store
from ackclock.studies.campaign import run_grid, summaries
from ackclock.studies.grid import Grid
from ackclock.studies.queries import runs

#: `make kills` sets more.
KILLS = int(os.environ.get("ACKCLOCK_KILLS", "6"))
STUDY = """\
scenario = "tiny.toml"
replicates = 20

[grid]
"flows.test.cc" = ["aimd", "new-aimd", "cubic"]
"topology.queue.limit" = ["5 packets", "10 packets"]
"""


class Late(Threads):
    """Ends runs in an order of its own."""

    def __init__(self, seed: int) -> None:
        super().__init__(8)
        self._luck = random.Random(seed)

    def capacity(self) -> int:
        return 8

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        delay_s = self._luck.choice((0, 0.002, 0.02))

        def late() -> Chunk:
            time.sleep(delay_s)
            return execute_chunk(jobs, self._cancel)

        return self._pool.submit(late)


@pytest.fixture
def study(tiny: Path, tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.mark.parametrize("profile", ["rfc", "quic"])
def test_one_or_two_workers_leave_the_same_files(profile: str, study: Path, tmp_path: Path) -> None:
    study.write_text(f'{STUDY}"transport.profile" = ["{profile}"]\n')
    left = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        answer = cli("study", study, "--workers", workers, "--out", out)
        assert answer.code == 0, answer.stderr
        files = [out / "summary.csv", out / "summary.parquet", *sorted((out / "samples").iterdir())]
        left.append((answer.stdout, {path.name: path.read_bytes() for path in files}))
    assert left[0] == left[1]
    # Samples of replicate 0, flows and links.
    assert len(left[0][1]) == 2 + 6 * 2


def test_the_order_in_which_runs_end_changes_nothing(study: Path) -> None:
    study.write_text(f'until = "goodput +- 0.3 %"\n{STUDY}'.replace("replicates = 20", "replicates = 25"))
    grid = Grid.load(study, samples="none")
    found = []
    for seed in range(3):
        with Store() as store, Late(seed) as executor:
            run_grid(grid, store, executor=executor)
            found.append(list(summaries(grid, store)))
    assert found[0] == found[1] == found[2]
    counts = {summary.replicates for summary in found[0]}
    assert counts <= {10, 15, 20, 25} and len(counts) > 1


def test_a_study_that_is_killed_loses_nothing_and_repeats_nothing(study: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    total = max(120, 12 * KILLS)
    study.write_text(STUDY.replace("replicates = 20", f"replicates = {total // 6}"))
    assert cli("study", study, "--out", whole).code == 0
    luck = random.Random(1)
    known: dict[str, str] = {}
    kills = 0
    while kills < KILLS and len(known) < total:
        process = subprocess.Popen(
            [ACKCLOCK, "study", study, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wanted = len(known) + luck.randrange(1, 8)
        while process.poll() is None and len(rows(out) if out.exists() else ()) < min(wanted, total):
            time.sleep(luck.random() * 0.01)
        process.kill()
        process.wait()
        kills += 1
        stored = rows(out)
        assert known.items() <= stored.items(), "a finished run is lost or was repeated"
        known = stored
    answer = cli("study", study, "--out", out)
    assert answer.code == 0, answer.stderr
    stored = rows(out)
    assert known.items() <= stored.items() and len(stored) == total
    assert kills == KILLS or len(known) == total
    for name in ("summary.csv", "summary.parquet"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_a_second_process_on_a_store_is_refused(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Store(out) as store:
        store.claim()
        answer = cli("study", study, "--out", out)
        assert answer.code == 2
        assert "another process is filling this store" in answer.stderr
        assert "Traceback" not in answer.stderr
    assert cli("study", study, "--out", out).code == 0


def test_a_changed_file_runs_what_is_new(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("study", study, "--out", out, "--replicates", "2").code == 0
    before = rows(out)
    study.write_text(STUDY.replace('"cubic"]', '"cubic", "aimd-fc"]'))
    answer = cli("study", study, "--out", out, "--replicates", "3", "--json")
    after = rows(out)
    assert before.items() <= after.items()
    assert (len(before), len(after)) == (12, 24)
    document = json.loads(answer.stdout)
    assert [point["replicates"] for point in document["points"]] == [3] * 8
    assert document["points"][6]["settings"]["flows.test.cc"] == "aimd-fc"


def test_points_that_are_the_same_scenario_share_runs(study: Path, tmp_path: Path) -> None:
    study.write_text(
        'scenario = "tiny.toml"\nreplicates = 2\n[grid]\n"topology.rate" = ["2 Mbit/s", "2000 kbit/s"]'
    )
    out = tmp_path / "out"
    answer = cli("study", study, "--out", out, "--json")
    first, second = json.loads(answer.stdout)["points"]
    assert first["metrics"] == second["metrics"]
    assert len(rows(out)) == 2


def test_a_rule_that_replicates_end_before_is_told(study: Path, tmp_path: Path) -> None:
    study.write_text(f'until = "goodput +- 0.001 %"\n{STUDY}'.replace("replicates = 20", "replicates = 10"))
    out = tmp_path / "out"
    answer = cli("study", study, "--out", out)
    assert answer.code == 0, answer.stderr
    assert "! 'goodput +- 0.001 %' is not met at 6 of 6 points" in answer.stdout
    assert answer.stdout.count("10 !") == 6
    points = json.loads(cli("study", study, "--out", out, "--json").stdout)["points"]
    assert [point["until_met"] for point in points] == [False] * 6
    assert (out / "summary.csv").read_text().splitlines()[0].split(",")[5] == "until_met"
    met = cli("study", study, "--out", out, "--replicates", "11")
    assert met.code == 0 and "is not met" in met.stdout


def test_what_a_killed_study_left_has_its_settings(study: Path, tmp_path: Path) -> None:
    grid = Grid.load(study, samples="none")

    def kill(done: int, total: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with Store(tmp_path / "out") as store:
        with pytest.raises(KeyboardInterrupt):
            run_grid(grid, store, workers=1, progress=kill)
        found = runs(store)
    assert found["study"].unique().to_list() == ["study"]
    assert found["flows.test.cc"].null_count() == 0


def test_parts_of_files_are_removed_when_who_wrote_them_is_dead(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "samples").mkdir(parents=True)
    dead = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True).stdout.strip()
    names = [f".ackclock-{process}-{'0' * 32}.partial" for process in (dead, os.getpid())]
    for name in (*names, "others.1.partial"):
        (out / "samples" / name).touch()
    assert cli("study", study, "--out", out, "--replicates", "1", "--samples", "none").code == 0
    assert {path.name for path in (out / "samples").iterdir()} == {names[1], "others.1.partial"}


def test_a_plan_says_what_is_missing_and_runs_nothing(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("study", study, "--plan", "--out", out)
    assert answer.code == 0, answer.stderr
    assert "120, 0 of them stored" in answer.stdout and "samples of 6 runs" in answer.stdout
    assert not out.exists()
    assert cli("study", study, "--out", out, "--replicates", "5").code == 0
    document = json.loads(cli("study", study, "--plan", "--out", out, "--json").stdout)
    assert (document["points"], document["least_runs"], document["stored_runs"]) == (6, 120, 30)
    assert document["most_time_s"] > 0 and document["most_bytes"] > 0
    assert len(rows(out)) == 30


def test_a_store_of_another_version_is_refused(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    index = sqlite3.connect(out / "runs.sqlite")
    index.execute("CREATE TABLE runs (key TEXT)")
    index.commit()
    index.close()
    answer = cli("study", study, "--out", out)
    assert answer.code == 2
    assert "was filled by another version of ackclock" in answer.stderr


def test_a_store_that_is_killed_while_it_is_made_can_be_used(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = """
import os, signal, sqlite3, sys
from ackclock.running.store import Store

def watch(statement):
    if "PRAGMA user_version =" in statement:
        os.kill(os.getpid(), signal.SIGKILL)

class Watched(sqlite3.Connection):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.set_trace_callback(watch)

real = sqlite3.connect
sqlite3.connect = lambda path: real(path, factory=Watched)
Store(sys.argv[1])
"""
    killed = subprocess.run([sys.executable, "-c", program, out], check=False)
    assert killed.returncode == -signal.SIGKILL
    answer = cli("study", study, "--out", out, "--replicates", "1")
    assert answer.code == 0, answer.stderr


def test_the_table_fits_and_leaves_out_metrics_for_settings(study: Path, tmp_path: Path) -> None:
    study.write_text(
        """\
scenario = "tiny.toml"
[[together]]
"flows.test.cc" = ["aimd", { kind = "aimd", increase = 0.2, remaining = 0.875 }]
"topology.queue.limit" = ["5 packets", "10 packets"]
[grid]
"topology.rate" = ["2 Mbit/s"]
"topology.reverse.rate" = ["2 Mbit/s"]
"duration" = ["10 s"]
"""
    )
    shown = cli("study", study, "--out", tmp_path / "out", columns=80).stdout.splitlines()
    assert max(map(len, shown)) <= 80
    headings = " ".join(shown[1:4])
    for heading in ("cc ", " limit ", "topology.rate", "reverse.rate", "duration", "goodput"):
        assert heading in headings, headings
    # A setting wraps rather than being cut.
    text = " ".join(shown)
    assert all(part in text for part in ("{ kind =", "increase =", "remaining", "0.875 }"))
    assert "Jain" not in headings


def test_a_point_that_takes_too_much_memory_costs_no_other(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "wide.toml"
    file.write_text(
        f'scenario = "{tiny.name}"\nreplicates = 2\n[grid]\n"transport.initial_window" = [16000000, 2]\n'
    )
    answer = cli("study", file, "--out", tmp_path / "out")
    assert answer.code == 2
    assert answer.stderr.startswith("error: wide: with transport.initial_window=16000000: flow test.")
    assert "segments in flight" in answer.stderr
    assert answer.stderr.endswith(
        f"; 1 other run failed this way; finished runs are kept in {tmp_path}/out\n"
    )
    assert len(rows(tmp_path / "out")) == 2


def test_a_metric_that_never_applies_is_a_dash_in_the_table_and_null_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "cbr.toml").write_text(
        'schema = 1\nduration = "2 s"\ntopology = { kind = "dumbbell", rate = "1 Mbit/s", delay = "9 ms" }\n'
        '[[flows]]\nname = "cbr"\ntraffic = { kind = "cbr", rate = "100 kbit/s" }\n'
    )
    file = tmp_path / "datagrams.toml"
    file.write_text('scenario = "cbr.toml"\n[grid]\n"topology.rate" = ["1 Mbit/s", "2 Mbit/s"]\n')
    out = tmp_path / "out"
    answer = cli("study", file, "--out", out)
    assert answer.code == 0, answer.stderr
    row = next(line.split() for line in answer.stdout.splitlines() if line.startswith("1 Mbit/s"))
    assert row[:5] == ["1", "Mbit/s", "1", "-", "-"]
    document = json.loads(cli("study", file, "--out", out, "--json").stdout)
    assert document["points"][0]["metrics"]["goodput_bps"] is None
    assert document["points"][0]["metrics"]["utilization"]["mean"] == pytest.approx(0.1, rel=0.1)
    (first, *_) = list(csv.DictReader((out / "summary.csv").open()))
    assert (first["goodput_bps"], first["goodput_bps_low"]) == ("", "")
    sql = "SELECT avg(goodput_bps) AS goodput, avg(utilization) AS utilization FROM runs"
    (found,) = json.loads(cli("query", sql, "--store", out, "--json").stdout)
    assert found["goodput"] is None and found["utilization"] > 0


def test_a_percentile_is_as_uncertain_as_a_bin_of_its_histogram(tiny: Path, tmp_path: Path) -> None:
    """All replicates fill the queue, so that their percentiles are in one bin."""
    words = ("--vary", "topology.rate=2 Mbit/s,3 Mbit/s", "--replicates", "3")
    answer = cli("study", tiny, *words, "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.stderr
    for point in json.loads(answer.stdout)["points"]:
        delay = point["metrics"]["queue_delay_p95_s"]
        assert delay["high"] - delay["low"] == pytest.approx(0.01 * delay["mean"])
    assert "±0.0000" not in cli("study", tiny, *words, "--out", tmp_path / "out").stdout
