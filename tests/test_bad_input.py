"""Mistakes: one clear message with file and key, exit code 2, no traceback."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from helpers import ACKCLOCK, TINY, Answer, cli

import ackclock


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
        ('kind = "aimd"', 'kind = "sprout"', ("tiny.toml:16", "cc.kind", "use one of reno")),
        ("remaining = 0.5", "remaining = 1.5", ("tiny.toml:16", "cc.remaining", "1.5")),
        ("remaining = 0.5", "remaining = nan", ("tiny.toml:16", "cc.remaining")),
        ('kind = "drop-tail"', 'kind = "drop-tale"', ("tiny.toml:10", "queue.kind", "drop-tail")),
        ('limit = "10 packets"', 'limit = "-1 packets"', ("tiny.toml:10", "queue.limit")),
        ("count = 2", "count = 0", ("tiny.toml:15", "flows.test.count")),
        ("count = 2", "count = -2", ("tiny.toml:15", "flows.test.count")),
        ("count = 2", 'count = "two"', ("tiny.toml:15", "flows.test.count")),
        (TINY[TINY.index("[[flows]]") :], "", ("tiny.toml", "flows")),
        ('duration = "8 s"', 'duration = "0 s"', ("tiny.toml:3", "duration")),
        ('duration = "8 s"', 'duration = "1 fortnight"', ("tiny.toml:3", "duration")),
        ('warmup = "1 s"', 'warmup = "8 s"', ("tiny.toml:4", "warmup", "nothing")),
        ('["0 s", "500 ms"]', '["9 s", "10 s"]', ("tiny.toml:17", "flows.test.start", "ends at 8 s")),
        ('["0 s", "500 ms"]', '["2 s", "1 s"]', ("tiny.toml:17", "flows.test.start")),
        ('name = "test"', 'name = "test"\nstop = "0 s"', ("tiny.toml:15", "flows.test.stop")),
        ('name = "test"', 'name = "test"\nrtt = "1 ms"', ("tiny.toml:15", "flows.test.rtt")),
        ("schema = 1", "schema = 3", ("tiny.toml:1", "version 3")),
        (
            'delay = "18 ms"',
            'delay = "0,5 ms"',
            ("tiny.toml:9", "topology.delay", 'write for example "0.5 ms"'),
        ),
        ('"10 packets"', '"1e9 BDP"', ("tiny.toml:10", "queue.limit", "at most 1000000 BDP")),
        ('"10 packets"', '"0 packets"', ("tiny.toml:10", "queue.limit", "carries nothing")),
        ('"10 packets"', '"1 kB"', ("tiny.toml:10", "queue.limit", "carries nothing", "1500 B")),
        ('name = "tiny"', 'name = "\\u001b]0;owned\\u0007"', ("tiny.toml:2", "name", "control character")),
        (
            'name = "test"',
            'name = "\\u001b[31m"',
            ("tiny.toml:14", "name", "\\u{1b}[31m", "cannot be a name"),
        ),
        ('name = "test"', 'name = "test"\n"\\u001b[2J" = 1', ("tiny.toml:15", "unknown key")),
        ("increase = 1", "increase = 1e300", ("tiny.toml:16", "cc.increase", "1e300", "at most 16777216")),
        ("increase = 1", "increase = inf", ("tiny.toml:16", "cc.increase", "not a finite number")),
        ("count = 2", "count = 4000000000", ("tiny.toml:15", "flows.test.count", "from 1 to 1000000")),
        (
            'name = "test"',
            'name = "test"\ninitial_window = 4000000000',
            ("tiny.toml:15", "initial_window", "from 1 to 16777216"),
        ),
        (
            'name = "test"',
            'name = "test"\nmax_window = 4000000000',
            ("tiny.toml:15", "max_window", "from 1 to 16777216"),
        ),
        ('name = "test"', 'name = "test"\nmax_burst = 1e9', ("tiny.toml:15", "max_burst", "whole number")),
        (
            'name = "test"',
            'name = "test"\ntraffic = { kind = "arrivals", every = "10 ns", size = "1 kB" }',
            ("tiny.toml:15", "traffic.every", "at most 10000000"),
        ),
        (
            'name = "test"',
            'name = "test"\npath = ["bottleneck", "bottleneck.reverse"]',
            ("tiny.toml:15", "flows.test.path", "the two directions of a link"),
        ),
        (
            "[topology]",
            '[sampling]\ninterval = "1 ns"\n[topology]',
            ("tiny.toml:7", "sampling.interval", "10000000"),
        ),
        (
            'queue = { kind = "drop-tail", limit = "10 packets" }',
            'varies = { kind = "trace", milliseconds = [] }',
            ("tiny.toml:10", "varies.milliseconds", "the trace is empty"),
        ),
        ("[topology]", "[topology", ("tiny.toml:6", "TOML")),
    ],
)
def test_a_mistake_in_a_scenario(tiny: Path, old: str, new: str, expected: tuple[str, ...]) -> None:
    assert TINY.count(old) == 1
    tiny.write_text(TINY.replace(old, new))
    check_refused(cli("run", tiny, "--json"), *expected)


def test_all_mistakes_of_a_scenario_at_once(tiny: Path) -> None:
    changes = ('rate = "2 Mbit/s"', "rate = 2"), ("increase = 1", "increse = 1"), ("= 0.5", "= 1.5")
    text = TINY
    for old, new in changes:
        text = text.replace(old, new)
    tiny.write_text(text)
    answer = cli("run", tiny, "--set", "flows.late.count=1")
    check_refused(answer, lines=4)
    told = answer.stderr.strip().splitlines()
    places = (
        "tiny.toml:8: ",
        "tiny.toml:16: flows.test.cc.incr",
        "tiny.toml:16: flows.test.cc.rem",
        "--set flows.late",
    )
    assert len(told) == 4
    assert all(place in line for place, line in zip(places, told, strict=True))
    answer = cli("check", tiny, "--json")
    assert answer.code == 2
    mistakes = json.loads(answer.stdout)["mistakes"]
    assert [(mistake["line"], mistake["key"]) for mistake in mistakes] == [
        (8, "topology.rate"),
        (16, "flows.test.cc.increse"),
        (16, "flows.test.cc.remaining"),
    ]
    with pytest.raises(ackclock.ScenarioError) as raised:
        ackclock.Scenario.from_file(tiny, ["nonsense"])
    assert [mistake.line for mistake in raised.value.mistakes] == [8, 16, 16, None]
    assert str(raised.value).splitlines()[-1].startswith("sets: nonsense: write KEY=VALUE")


def test_an_empty_list_of_flows(tiny: Path) -> None:
    tiny.write_text("flows = []\n" + TINY[: TINY.index("[[flows]]")])
    check_refused(cli("run", tiny), "tiny.toml:1: flows: no flows; write at least one [[flows]]")


def test_many_mistakes_are_counted(tiny: Path) -> None:
    tiny.write_text(TINY + "".join(f"wrong{number} = 1\n" for number in range(1000)))
    check_refused(cli("run", tiny), "and 900 more mistakes", lines=101)


@pytest.mark.parametrize(
    ("command", "file", "expected"),
    [
        ("run", "study", "this is a study file, not a scenario; use: ackclock study "),
        ("check", "suite", "this is a suite file, not a scenario; use: ackclock evaluate CC --suite "),
        ("run", "script.pkt", "this is an exchange script, not a scenario; use: ackclock exchange "),
        ("study", "scenario", "this is a scenario file, not a study; use: ackclock run "),
        ("study", "suite", "this is a suite file, not a study; use: ackclock evaluate CC --suite "),
        ("study", "script.pkt", "this is an exchange script, not a study; use: ackclock exchange "),
        ("exchange", "scenario", "this is a scenario file, not a script; use: ackclock run "),
    ],
)
def test_a_file_of_another_kind(
    tiny: Path, tiny_suite: Path, tmp_path: Path, command: str, file: str, expected: str
) -> None:
    files = {
        "scenario": tiny,
        "study": tmp_path / "study.toml",
        "suite": tiny_suite / "suite.toml",
        "script.pkt": tmp_path / "script.pkt",
    }
    files["study"].write_text(f'schema = 1\nscenario = "{tiny.name}"\n[grid]\nseed = [1]\n')
    files["script.pkt"].write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    check_refused(cli(command, files[file]), str(files[file]), expected)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "// nothing\n", "--cc=reno\n", "`sysctl -q net.ipv4.tcp_sack=0`\n"]
)
def test_an_exchange_script_that_tests_nothing(tmp_path: Path, text: str) -> None:
    script = tmp_path / "empty.pkt"
    script.write_text(text)
    answer = cli("exchange", script)
    assert answer.code == 2
    assert "the script tests nothing" in answer.stdout
    assert "0 passed" in answer.stdout


def test_python_says_set_where_python_was_used(tiny: Path) -> None:
    for run in (
        lambda: ackclock.run(tiny, sets=("flows.test.cwmd=1",)),
        lambda: ackclock.Scenario.from_file(tiny).with_sets(["flows.test.cwmd=1"]),
        lambda: ackclock.evaluate("aimd(increse=2)"),
    ):
        with pytest.raises(ackclock.ScenarioError) as raised:
            run()
        assert "--set" not in str(raised.value)
        assert "cwmd: unknown key" in str(raised.value) or "aimd" in str(raised.value)


def test_sets_of_a_study_file_are_named_as_such(tiny: Path) -> None:
    study = tiny.with_name("study.toml")
    study.write_text(f'scenario = "{tiny.name}"\nset = ["flows.test.cwmd=1"]\n')
    answer = cli("study", study)
    check_refused(answer, "study.toml: set: flows.test.cwmd=1: ", "unknown key")
    assert "--set" not in answer.stderr


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
        (["evaluate", "{ kind = "], "algorithm '{ kind =': cannot be read; write aimd(increase=2"),
        (["evaluate", "aimd(increase=nan)"], "increase: NaN is not a finite number"),
        (["evaluate", "aimd(increase=0,5)"], "with decimal points"),
        (["evaluate", "aimd(increase=1e300)"], "at most 16777216"),
        (["evaluate", "reno(increase=2)"], "increase: unknown key"),
        (["tune", "aimd(increase=inf)"], "not a finite number"),
        (
            ["model", "aimd", "--user", "window=nan"],
            "model: users.0.window is nan, but must be a finite number",
        ),
        (["model", "aimd", "--duration", "inf"], "model: duration is inf, but must be a finite number"),
        (["model", "aimd", "--duration", "1e12"], "at most 500000 steps"),
        (["evaluate", "aimd(increse=1)"], "increse: unknown key; did you mean"),
        (["tune", "aimd(increse=1)"], "increse: unknown key; did you mean"),
        (["evaluate", "aimd", "--set", "flows.test.cc=cubic"], "write its parameters as in"),
        (["evaluate", "aimd", "--set", "flows.test.cc.increase=2"], "write its parameters as in"),
        (["evaluate", "aimd", "--suite", "cure"], "core"),
        (["evaluate", "aimd", "--against", "amid"], 'did you mean "aimd"?'),
        (["evaluate", "aimd", "--replicates", "0"], "--replicates"),
        (["evaluate", "aimd", "--set", "topolgy.rate=1 Mbit/s"], 'did you mean "topology"?'),
        (["model", "amid"], "aimd"),
        (["model", "aimd", "--x-goal", "-3"], "x_goal"),
        (["model", "aimd", "--x-goal", "nan"], "model"),
        (["model", "--x-goal", "50"], "need an algorithm"),
        (["model", "aimd", "--user", "size=3"], "--user size=3"),
        (["model", "aimd", "--user", "window=many"], "many"),
    ],
)
def test_a_mistake_on_the_command_line(tmp_path: Path, args: list[str], expected: str) -> None:
    answer = cli(*args, cwd=tmp_path)
    # A scenario without a file is printed before its mistakes.
    check_refused(answer, expected, lines=2)
    assert "--set " not in answer.stderr or "--set" in args
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("replicates = 2", "replicates = ", "is not TOML"),
        ("replicates = 2", "replicates = 0", "replicates: is 0, but must be at least 1"),
        ("replicates = 2", 'replicates = "3"', 'replicates: is "3", but must be a whole number'),
        ("replicates = 2", "replicates = true", "replicates: is true, but must be a whole number"),
        ("replicates = 2", "replicates = 2.5", "replicates: is 2.5, but must be a whole number"),
        ("replicates = 2", "replicate = 2", "replicate: is not a key of a suite; did you mean 'replicates'?"),
        ("version = 3", 'version = "3"', 'version: is "3", but must be a whole number'),
        ('name = "tiny"\n', "", "name: is missing: a text"),
        (
            'test = ["test"]',
            'test = ["tset"]',
            "no group of flows is called 'tset'; did you mean 'test'?",
        ),
        (
            'test = ["test"]',
            'test = ["test", "late"]',
            "no group of flows is called 'late'; there are:",
        ),
        ('test = ["test"]', 'test = ["standard"]', "environments[alone]: has no flows under test"),
        ('test = ["test"]', 'test = "test"', 'test: is "test", but must be a list'),
        ('test = ["test"]', "test = []", "test: is [], but must be a list of at least one value"),
        ('panel = ["aimd", "aimd-fc+"]', "panel = []", "panel: is [], but must be a list of at least one"),
        ('panel = ["aimd", "aimd-fc+"]', 'panel = ["amid"]', "panel: algorithm 'amid': "),
        ('panel = ["aimd", "aimd-fc+"]', 'panel = ["aimd(increse=1)"]', 'did you mean "increase"?'),
        (
            'set = ["duration=6 s"]',
            'sett = ["duration=6 s"]',
            "environments[company].sett: is not a key",
        ),
        ('set = ["duration=6 s"]', 'set = "duration=6 s"', "environments[company].set: is "),
        ('set = ["duration=6 s"]', "set = [6]", "environments[company].set[0]: is 6, but must be a text"),
        ('set = ["duration=6 s"]', 'set = ["durration=6 s"]', "environments[company]: "),
        ('set = ["duration=6 s"]', 'set = ["flows.test.cc.increase=2"]', "environments[company].set: flows."),
        ('set = ["duration=6 s"]', 'set = ["flows.test.cc=cubic"]', "has no effect: the flows 'test' get"),
        ('set = ["duration=6 s"]', "compny = true", "did you mean 'company'?"),
        ('set = ["duration=6 s"]', 'company = "yes"', 'company: is "yes", but must be true or false'),
        ('set = ["duration=6 s"]', "fairness = 0", "fairness: is 0, but must be true or false"),
        ('id = "company"', 'id = "alone"', "environments[alone].id: there are two environments of this id"),
        ('id = "company"', 'id = "in company"', "environments[in company].id: may hold letters"),
        ('scenario = "alone.toml"', 'scenario = "along.toml"', "environments[alone]: "),
        ('metric = "share"', 'metric = "shore"', "watch.metric: is 'shore', but must be one of share"),
        ('metric = "share"', 'metric = "completion-time"', "the flows 'standard' never complete"),
        (
            'metric = "share"',
            'metrics = "share"',
            "is not a key of a watch; did you mean 'metric'?",
        ),
        (
            'group = "standard"',
            'group = "standart"',
            "watch.group: no group of flows is called",
        ),
        ('better = "near-one"', 'better = "nearer"', "watch.better: is 'nearer', but must be one of higher"),
        ('better = "near-one"', 'better = "near-one", scale = "big"', "watch.scale: is "),
    ],
)
def test_a_suite_that_makes_no_sense(
    tiny_suite: Path, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    path = tiny_suite / "suite.toml"
    good = path.read_text()
    assert good.count(old) == 1
    path.write_text(good.replace(old, new))
    answer = cli("evaluate", "aimd", "--suite", tiny_suite, "--out", tmp_path / "out")
    check_refused(answer, f"error: {path}: ", expected)
    assert not (tmp_path / "out").exists()


def test_a_suite_that_is_none(tiny_suite: Path, tmp_path: Path) -> None:
    path = tiny_suite / "suite.toml"
    text = path.read_text()
    for content, expected in (
        ((text[: text.index("[[environments]]")] + "environments = []\n").encode(), "environments: is []"),
        (b"\xff\xfe", "UTF-8"),
        (b"", "name: is missing"),
    ):
        path.write_bytes(content)
        answer = cli("evaluate", "aimd", "--suite", tiny_suite, "--out", tmp_path / "out")
        check_refused(answer, "suite.toml", expected)


@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_an_output_folder_that_is_a_file(tiny: Path, tiny_suite: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "out").write_text("precious")
    args = [tiny] if command == "run" else ["aimd", "--suite", tiny_suite]
    for out in ("out", "out/deeper"):
        answer = cli(command, *args, "--out", tmp_path / out)
        check_refused(answer, str(tmp_path / out), lines=4)
        assert "are kept" not in answer.stderr
    assert (tmp_path / "out").read_text() == "precious"


def test_a_corrupt_index(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_bytes(b"this is no database" * 99)
    answer = cli("run", tiny, "--out", tmp_path)
    check_refused(answer, str(tmp_path), "not a database", "move it away, or use another folder")
    assert "are kept" not in answer.stderr
    check_refused(cli("query", "FROM runs", "--store", tmp_path), "not a database", "damaged")


def test_an_index_that_is_damaged_inside(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("run", tiny, "--out", out).code == 0
    index = out / "runs.sqlite"
    content = bytearray(index.read_bytes())
    content[4096 + 8 :] = b"\xff" * (len(content) - 4096 - 8)
    index.write_bytes(content)
    for answer in (cli("run", tiny, "--out", out), cli("query", "FROM runs", "--store", out)):
        check_refused(answer, str(out), "malformed", "runs.sqlite is damaged")
        assert "are kept" not in answer.stderr


def test_an_empty_index_is_no_store_to_read(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").touch()
    check_refused(cli("query", "FROM runs", "--store", tmp_path), "its runs.sqlite is empty")


def test_a_store_that_may_only_be_read(tiny: Path, tmp_path: Path) -> None:
    """Reading needs no right to write; filling says what it needs, and promises nothing."""
    out = tmp_path / "out"
    assert cli("run", tiny, "--out", out).code == 0
    before = sorted(path.name for path in out.rglob("*"))
    paths = [*out.rglob("*"), out]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        answer = cli("query", "SELECT count(*) AS runs FROM runs", "--store", out, before=_obey_permissions)
        assert (answer.code, answer.stderr) == (0, "") and "1" in answer.stdout
        assert sorted(path.name for path in out.rglob("*")) == before
        answer = cli("run", tiny, "--seed", "2", "--out", out, before=_obey_permissions)
        check_refused(answer, str(out), "use another folder")
        assert "are kept" not in answer.stderr
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize("with_shm", [True, False])
def test_what_a_killed_process_left_can_be_read_where_nothing_can_be_written(
    tiny: Path, tmp_path: Path, with_shm: bool
) -> None:
    """The last runs are beside the index, in its write-ahead log: none may be missing."""
    out, copy = tmp_path / "out", tmp_path / "copy"
    for seed in "12":
        assert cli("run", tiny, "--seed", seed, "--out", out).code == 0
    index = sqlite3.connect(out / "runs.sqlite")
    index.execute("PRAGMA wal_autocheckpoint = 0")
    with index:
        index.execute("DELETE FROM runs WHERE seed = 1")
    copy.mkdir()
    for name in ("runs.sqlite", "runs.sqlite-wal", *(["runs.sqlite-shm"] * with_shm)):
        shutil.copy(out / name, copy / name)
    index.close()
    for path in (*copy.iterdir(), copy):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        sql = "SELECT seed FROM runs"
        answer = cli("query", sql, "--store", copy, "--csv", before=_obey_permissions)
        assert answer.stdout == "seed\n2\n", answer
    finally:
        copy.chmod(0o700)


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
    assert kept.startswith("report: out/report.html   details: ackclock evaluate aimd ")
