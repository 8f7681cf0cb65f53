"""Mistakes: one clear message with file and key, exit code 2, no traceback."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from helpers import ACKCLOCK, TINY, Answer, cli


def check_refused(answer: Answer, *expected: str, lines: int = 1) -> None:
    assert answer.code == 2, answer
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    assert len(answer.stderr.strip().splitlines()) <= lines, answer.stderr
    for text in expected:
        assert text in answer.stderr


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('rate = "2 Mbit/s"', 'rate = "2 Mbit"', ("tiny.toml:8", "topology.rate")),
        ('rate = "2 Mbit/s"', 'rate = "2 ms"', ("tiny.toml:8", "topology.rate")),
        ('rate = "2 Mbit/s"', "rate = 2", ("tiny.toml:8", "topology.rate", "unit")),
        ('rate = "2 Mbit/s"', 'rate = "-2 Mbit/s"', ("tiny.toml:8", "topology.rate")),
        ('rate = "2 Mbit/s"', 'rate = "0 Mbit/s"', ("tiny.toml:8", "topology.rate")),
        ('rate = "2 Mbit/s"\n', "", ("tiny.toml", "topology.rate", "missing")),
        ('delay = "18 ms"', 'delay = "-1 ms"', ("tiny.toml:9", "topology.delay")),
        ('delay = "18 ms"', 'dealy = "18 ms"', ("tiny.toml:9", "topology.dealy", 'did you mean "delay"?')),
        ('name = "test"', 'name = "test"\ncwnd = 3', ("tiny.toml:15", "flows.test.cwnd", "unknown key")),
        ("increase = 1", "increse = 1", ("tiny.toml:16", "cc.increse", 'did you mean "increase"?')),
        ('kind = "aimd"', 'kind = "amid"', ("tiny.toml:16", "cc.kind", 'did you mean "aimd"?')),
        ('kind = "aimd"', 'kind = "vegas"', ("tiny.toml:16", "cc.kind", "new-aimd")),
        ("remaining = 0.5", "remaining = 1.5", ("tiny.toml:16", "cc.remaining", "1.5")),
        ("remaining = 0.5", "remaining = nan", ("tiny.toml:16", "cc.remaining")),
        ('kind = "drop-tail"', 'kind = "drop-tale"', ("tiny.toml:10", "queue.kind", "drop-tail")),
        ('limit = "10 packets"', 'limit = "-1 packets"', ("tiny.toml:10", "queue.limit")),
        ("count = 2", "count = 0", ("tiny.toml:15", "flows.test.count")),
        ("count = 2", "count = -2", ("tiny.toml:15", "flows.test.count")),
        ("count = 2", 'count = "two"', ("tiny.toml:15", "flows.test.count")),
        (TINY[TINY.index("[[flows]]") :], "", ("tiny.toml", "flows")),
        (TINY[TINY.index("[[flows]]") :], "flows = []\n", ("tiny.toml", "flows")),
        ('duration = "8 s"', 'duration = "0 s"', ("tiny.toml:3", "duration")),
        ('duration = "8 s"', 'duration = "1 fortnight"', ("tiny.toml:3", "duration")),
        ('warmup = "1 s"', 'warmup = "8 s"', ("tiny.toml:4", "warmup", "nothing")),
        ('["0 s", "500 ms"]', '["9 s", "10 s"]', ("tiny.toml:17", "flows.test.start", "ends at 8 s")),
        ('["0 s", "500 ms"]', '["2 s", "1 s"]', ("tiny.toml:17", "flows.test.start")),
        ('name = "test"', 'name = "test"\nstop = "0 s"', ("tiny.toml:15", "flows.test.stop")),
        ('name = "test"', 'name = "test"\nrtt = "1 ms"', ("tiny.toml:15", "flows.test.rtt")),
        ("schema = 1", "schema = 2", ("tiny.toml:1", "version 2")),
        ("[topology]", "[topology", ("tiny.toml:6", "TOML")),
    ],
)
def test_a_mistake_in_a_scenario(tiny: Path, old: str, new: str, expected: tuple[str, ...]) -> None:
    assert TINY.count(old) == 1
    tiny.write_text(TINY.replace(old, new))
    check_refused(cli("run", tiny, "--json"), *expected)


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_file_that_is_no_scenario(tmp_path: Path, command: str) -> None:
    check_refused(cli(command, tmp_path / "none.toml"), "none.toml", "No such file")
    check_refused(cli(command, tmp_path), str(tmp_path), "directory")
    latin = tmp_path / "latin.toml"
    latin.write_bytes('name = "Zürich"'.encode("latin-1"))
    check_refused(cli(command, latin), "latin.toml", "UTF-8")
    empty = tmp_path / "empty.toml"
    empty.touch()
    check_refused(cli(command, empty), "empty.toml", "empty")
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema": 1,')
    check_refused(cli(command, broken), "broken.json", "JSON")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('"flows.test.cwmd" = [1]', ("grid: flows.test.cwmd=1", "cwmd")),
        ('"flows.late.count" = [1]', ("grid: flows.late.count=1", 'no item "late"')),
        ('topolgy.rate = ["1 Mbit/s"]', ("grid: topolgy.rate=", 'did you mean "topology"?')),
        ('"topology.rate" = ["1 Mbit/s", 5]', ("grid: topology.rate=5", "unit")),
    ],
)
def test_a_mistake_in_the_grid_of_a_study(tiny: Path, keys: str, expected: tuple[str, ...]) -> None:
    study = tiny.with_name("study.toml")
    study.write_text(f'scenario = "{tiny.name}"\n[grid]\n{keys}\n')
    check_refused(cli("study", study), "study.toml: ", *expected)


def test_a_file_that_must_not_be_read(tiny: Path) -> None:
    tiny.chmod(0)
    check_refused(cli("run", tiny, before=_obey_permissions), "tiny.toml", "Permission denied")


def _obey_permissions() -> None:
    """Take from root the right to read every file; others do not have it."""
    drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2  # prctl(2), capabilities(7)
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (dac_override, dac_read_search):
            libc.prctl(drop_from_bounding_set, capability, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flows.test.cc.increse=2", 'did you mean "increase"?'),
        ("flows.tset.count=2", "flows"),
        ("flows.7.count=2", "flows"),
        ("flows.test.cc=new-amid", 'did you mean "new-aimd"?'),
        ("topology.rate=5", "unit"),
        ("duration", "duration"),
        ("=5 s", "=5 s"),
    ],
)
def test_a_mistake_in_set(tiny: Path, text: str, expected: str) -> None:
    check_refused(cli("run", tiny, "--set", text), f"--set {text}", expected)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["rum"], "did you mean 'run'?"),
        (["run"], "FILE"),
        (["run", "x.toml", "--sed", "1"], "--seed"),
        (["run", "x.toml", "--seed", "-1"], "--seed"),
        (["run", "x.toml", "--seed", "luck"], "--seed"),
        (["list", "suites"], "did you mean 'suite'?"),
        (["list", "weather"], "traffic"),
        (["evaluate", "new-amid"], 'did you mean "new-aimd"?'),
        (["evaluate", "{ kind = "], "flows.test.cc"),
        (["evaluate", "aimd", "--suite", "cure"], "core"),
        (["evaluate", "aimd", "--against", "amid"], 'did you mean "aimd"?'),
        (["evaluate", "aimd", "--replicates", "0"], "--replicates"),
        (["evaluate", "aimd", "--set", "topolgy.rate=1 Mbit/s"], 'did you mean "topology"?'),
        (["model", "amid"], "aimd"),
        (["model", "aimd", "--x-goal", "-3"], "x_goal"),
        (["model", "aimd", "--x-goal", "nan"], "model"),
        (["model", "--x-goal", "50"], "name an algorithm"),
        (["model", "aimd", "--user", "size=3"], "--user size=3"),
        (["model", "aimd", "--user", "window=many"], "many"),
    ],
)
def test_a_mistake_on_the_command_line(tmp_path: Path, args: list[str], expected: str) -> None:
    answer = cli(*args, cwd=tmp_path)
    # A mistake of usage says in two lines more where the help is.
    check_refused(answer, expected, lines=4)
    assert not list(tmp_path.iterdir())


def test_a_suite_that_makes_no_sense(tiny_suite: Path, tmp_path: Path) -> None:
    def refused(*expected: str) -> None:
        check_refused(cli("evaluate", "aimd", "--suite", tiny_suite, "--out", tmp_path / "out"), *expected)

    path = tiny_suite / "suite.toml"
    good = path.read_text()
    for old, new, expected in (
        ("replicates = 2", "replicates = ", "suite.toml"),
        ("replicates = 2", "replicates = 0", "replicates"),
        ("replicates = 2", 'replicates = "two"', "suite.toml"),
        ('name = "tiny"\n', "", "name"),
        ('scenario = "alone.toml"', 'scenario = "along.toml"', "along.toml"),
        ('metric = "share"', 'metric = "shore"', "shore"),
        ('group = "standard"', 'group = "standart"', "standart"),
        ('better = "near-one"', 'better = "nearer"', "nearer"),
        ('panel = ["aimd", "aimd-fc+"]', 'panel = ["amid"]', "amid"),
    ):
        assert good.count(old) == 1
        path.write_text(good.replace(old, new))
        refused(expected)
    path.write_text(good[: good.index("[[environments]]")] + "environments = []\n")
    refused("suite.toml", "environments")
    path.write_bytes(b"\xff\xfe")
    refused("suite.toml", "UTF-8")


@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_an_output_folder_that_is_a_file(tiny: Path, tiny_suite: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "out").write_text("precious")
    args = [tiny] if command == "run" else ["aimd", "--suite", tiny_suite]
    for out in ("out", "out/deeper"):
        check_refused(cli(command, *args, "--out", tmp_path / out), str(tmp_path / out), lines=4)
    assert (tmp_path / "out").read_text() == "precious"


def test_a_corrupt_index(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_bytes(b"this is no database" * 99)
    check_refused(cli("run", tiny, "--out", tmp_path), str(tmp_path), "not a database")


def test_an_index_of_another_shape(tiny: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "runs.sqlite") as index:
        index.execute("CREATE TABLE runs (key TEXT)")
    check_refused(cli("run", tiny, "--out", tmp_path), str(tmp_path))


def test_a_truncated_sample_file_is_made_anew(tiny_suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    args = ("evaluate", "aimd", "--suite", tiny_suite, "--out", out)
    assert cli(*args).code == 0
    for path in (out / "samples").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    answer = cli(*args)
    assert answer.code == 0, answer.stderr
    assert all(path.stat().st_size > 100 for path in (out / "samples").iterdir())


def test_stdout_on_a_full_disk(tiny: Path) -> None:
    with Path("/dev/full").open("w") as full:
        answer = cli("run", tiny, "--json", stdout=full.fileno())
    assert (answer.code, answer.stderr) == (1, "error: output cannot be written: No space left on device\n")


def test_no_room_for_samples(tiny: Path, tmp_path: Path) -> None:
    """A bound on the size of files stands for a disk that is nearly full."""
    out = tmp_path / "out"

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))

    answer = cli("run", tiny, "--out", out, before=small_files)
    assert (
        answer.code == 1 and f"error: {out}: " in answer.stderr and "finished runs are kept" in answer.stderr
    )
    assert not list((out / "samples").iterdir())
    assert cli("run", tiny, "--out", out).code == 0


def test_a_full_disk_and_the_same_command_once_more(tiny_suite: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a small disk of one's own needs root and unshare")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", disk], capture_output=True
    ).returncode:
        pytest.skip("no right to mount")
    # The mount is seen by this shell alone, and goes with it. The ballast leaves room for some runs.
    script = (
        f"mount -t tmpfs -o size=12m none {disk} && cd {disk} && head -c 11600k /dev/zero >ballast\n"
        f"{ACKCLOCK} evaluate aimd --suite {tiny_suite} --replicates 20 --workers 1 --out out\n"
        "echo $? && rm ballast\n"
        f"{ACKCLOCK} evaluate aimd --suite {tiny_suite} --replicates 20 --workers 1 --out out >/dev/null\n"
        "echo $?\n"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, encoding="utf-8", check=False
    )
    message, kept = done.stderr.splitlines()
    assert done.stdout.split() == ["1", "0"], done
    assert message.startswith("error: out: ") and "finished runs are kept" in message
    assert kept == "report: out/report.html"
