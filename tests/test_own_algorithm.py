"""Algorithms of one's own: Python classes and shared objects, what they see, and every way in which they can be wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, TINY, cli, without_cpu_time

import ackclock
from ackclock.errors import ArgumentError, RunError, ScenarioError
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.files.labels import split_list
from ackclock.running.executor import Threads
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.tuning.space import Space

GENTLE = ROOT / "examples/own/gentle.py"

#: AIMD(1, 1/2) as the built-in one, event by event: RFC 5681 with the rule in congestion avoidance.
AIMD = """
import ackclock

class Aimd(ackclock.CongestionControl):
    def on_ack(self, ack):
        if not ack.may_grow:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += ack.acked
        else:
            self.cwnd += ack.acked / self.cwnd

    def on_congestion(self, congestion):
        self.cwnd = self.ssthresh = max(0.5 * self.cwnd, 2)
"""
BODY = "import ackclock\n\nclass MyCc(ackclock.CongestionControl):\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path


def write(folder: Path, body: str, name: str = "my_cc.py") -> str:
    (folder / name).write_text(body)
    return name


def document(cc: Any, sets: list[str] | None = None) -> dict[str, Any]:
    return ackclock.run("tiny.toml", cc=cc, sets=sets or []).document


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    """A document without what names the algorithm."""
    left = {key: value for key, value in without_cpu_time(found).items() if key != "scenario_hash"}
    return left | {
        "flows": [{key: value for key, value in flow.items() if key != "cc"} for flow in left["flows"]]
    }


def mistake(cc: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        ackclock.run("tiny.toml", cc=cc)
    return str(error.value)


def failure(cc: Any) -> str:
    with pytest.raises(RunError) as error:
        ackclock.run("tiny.toml", cc=cc)
    return str(error.value)


# ---- what they do ----


def test_a_class_with_the_arithmetic_of_aimd_gives_its_run(here: Path) -> None:
    write(here, AIMD)
    assert numbers(document("my_cc.py:Aimd")) == numbers(document("aimd"))


@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["transport.ecn=accecn", 'topology.queue={ kind = "codel", ecn = true }'],
        ["duration=40 s", "topology.loss.kind=bernoulli", "topology.loss.probability=0.05"],
    ],
)
def test_the_defaults_are_reno(here: Path, sets: list[str]) -> None:
    """A class without methods halves at losses, marks and timeouts, which is AIMD(1, 1/2) with RFC 5681's floors."""
    write(here, BODY + "    pass\n")
    mine, aimd = document("my_cc.py", sets), document("aimd", sets)
    assert numbers(mine) == numbers(aimd)
    if len(sets) == 3:
        assert sum(flow["timeouts"] for flow in mine["flows"]) > 0, "or timeouts are not tried"
    if len(sets) == 2:
        assert mine["links"][0]["marks"] > 0, "or marks are not tried"


def test_an_overridden_timeout_still_leaves_one_segment(here: Path) -> None:
    write(
        here,
        BODY
        + "    def on_timeout(self, congestion):\n        self.ssthresh = max(self.cwnd / 2, 2)\n        self.cwnd = 50\n",
    )
    sets = ["duration=40 s", "topology.loss.kind=bernoulli", "topology.loss.probability=0.05"]
    assert numbers(document("my_cc.py", sets)) == numbers(document("aimd", sets))


def test_persistent_congestion_of_quic_leaves_two_packets(here: Path) -> None:
    """RFC 9002, 7.6.2: the smallest window after an outage, of a class without methods, an eBPF program, and built in."""
    write(here, BODY + "    pass\n")
    sets = ["transport.profile=quic", "duration=12 s", "topology.outages={ times = ['5 s'], length = '3 s' }"]
    sets += ["sampling.interval=10 ms"]
    program = str(ROOT / "python/ackclock/kernel/objects/aimd.bpf.o")
    runs = [ackclock.run("tiny.toml", cc=cc, sets=sets) for cc in ("my_cc.py", program, "aimd")]
    least = [min(run.samples.flows["cwnd_segments"].to_list()) for run in runs]
    assert all(2 <= window < 3.5 for window in least), least


def test_events_have_units_and_methods_are_called_where_they_are_overridden(here: Path) -> None:
    write(
        here,
        BODY
        + """    rate_samples = True

    def on_start(self):
        self.seen = {"acks": 0, "rounds": 0, "sent": 0, "congestion": 0, "enter": 0, "exit": 0, "rate": 0, "rtt": 1.0}

    def on_round(self, ack):
        self.seen["rounds"] += 1

    def on_ack(self, ack):
        assert isinstance(ack, ackclock.Ack) and isinstance(ack, ackclock.Event)
        assert 0.04 <= ack.min_rtt <= ack.rtt <= 0.2, ack.rtt
        assert abs(ack.queue_delay - (ack.rtt - ack.min_rtt)) < 1e-9
        assert ack.mss == 1460 and ack.in_flight_bytes == 1460 * ack.in_flight
        assert type(ack.may_grow) is bool and ack.ce == 0 and not ack.ece
        self.seen["acks"] += 1
        self.seen["rtt"] = min(self.seen["rtt"], ack.rtt)
        if ack.delivery_rate is not None:
            assert ack.delivery_rate < 2.2e6
            self.seen["rate"] = max(self.seen["rate"], ack.delivery_rate)
        super().on_ack(ack)

    def on_sent(self, sent):
        assert sent.bytes == 1460
        self.seen["sent"] += 1

    def on_congestion(self, congestion):
        assert congestion.kind == "loss" and congestion.flight_size > 0 and not congestion.again
        self.seen["congestion"] += 1
        super().on_congestion(congestion)

    def on_recovery_enter(self, recovery):
        self.seen["enter"] += 1

    def on_recovery_exit(self, recovery):
        self.seen["exit"] += 1

    def probe(self):
        return self.seen
""",
    )
    result = ackclock.run("tiny.toml", cc="my_cc.py", sets=["sampling.interval=1 s", "flows.test.count=1"])
    last = {
        name.removeprefix("cc."): values[-1]
        for name, values in result.samples.flows.to_dict(as_series=False).items()
        if name.startswith("cc.")
    }
    # 2 Mbit/s of packets of 1500 bytes are 167 a second, and one that is full is what goodput says.
    assert 1000 < last["acks"] < 1400 and last["sent"] >= last["acks"]
    assert last["congestion"] >= last["enter"] >= last["exit"] > 1
    assert 20 < last["rounds"] < 8 / 0.04
    assert last["rtt"] == pytest.approx(0.0466, abs=0.002)
    assert 1.7e6 < last["rate"] < 2.2e6
    assert (
        numbers(result.document)["flows"]
        == numbers(document("aimd", ["sampling.interval=1 s", "flows.test.count=1"]))["flows"]
    )


def test_a_pacing_class_is_paced(here: Path) -> None:
    write(
        here,
        BODY
        + "    def on_start(self):\n        self.cwnd = 100\n        self.pacing_rate = 5e5\n    def on_ack(self, ack):\n        pass\n",
    )
    flows = document("my_cc.py")["flows"]
    for flow in flows:
        assert flow["goodput_bps"] == pytest.approx(5e5 * 1460 / 1500, rel=0.02)


def test_an_event_that_is_kept_keeps_its_values(here: Path) -> None:
    write(
        here,
        BODY
        + """    def on_start(self):
        self.last = None
    def on_ack(self, ack):
        if self.last is not None:
            assert self.last.now == self.then and self.last is not ack
        self.last, self.then = ack, ack.now
""",
    )
    assert document("my_cc.py")["flows"]


def test_nothing_of_a_run_is_left_in_the_next(here: Path) -> None:
    write(
        here,
        "import ackclock\nruns = 0\n\nclass MyCc(ackclock.CongestionControl):\n    def on_start(self):\n        global runs\n        runs += 1\n        self.mine = runs\n    def probe(self):\n        return {'runs': self.mine}\n",
    )
    counts = [
        ackclock.run("tiny.toml", cc="my_cc.py", seed=seed, sets=["sampling.interval=1 s"])
        .samples.flows["cc.runs"]
        .max()
        for seed in (1, 2)
    ]
    assert counts == [2, 2]


# ---- where they can be named ----


def test_a_scenario_names_a_file_beside_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(GENTLE, here / "gentle.py")
    text = TINY.replace(
        '{ kind = "aimd", increase = 1, remaining = 0.5 }',
        '{ kind = "python", source = "gentle.py:Gentle", left = 0.5 }',
    )
    (here / "own.toml").write_text(text)
    monkeypatch.chdir("/")
    scenario = Scenario.from_file(here / "own.toml")
    cc = json.loads(scenario.resolved_json)["flows"][0]["cc"]
    assert (cc["gain"], cc["left"], cc["code"]) == (1.0, 0.5, GENTLE.read_text())
    result = ackclock.run(scenario)
    assert result.flows[0]["cc"] == "Gentle"
    assert ackclock.run(Scenario.from_dict(json.loads(scenario.resolved_json))).summary == result.summary


def test_an_edited_file_never_meets_old_results(here: Path) -> None:
    write(here, AIMD)
    first = cli("run", "tiny.toml", "--set", "flows.test.cc=my_cc.py", "--out", "kept", "--json", cwd=here)
    again = cli("run", "tiny.toml", "--set", "flows.test.cc=my_cc.py", "--out", "kept", "--json", cwd=here)
    assert (first.code, again.stdout) == (0, first.stdout)
    write(here, AIMD.replace("0.5 *", "0.8 *"))
    other = cli("run", "tiny.toml", "--set", "flows.test.cc=my_cc.py", "--out", "kept", "--json", cwd=here)
    one, two = json.loads(first.stdout), json.loads(other.stdout)
    assert one["scenario_hash"] != two["scenario_hash"] and one["summary"] != two["summary"]


def test_a_class_of_this_process_runs_here(here: Path) -> None:
    seen: list[float] = []

    class Here(ackclock.CongestionControl):
        def on_ack(self, ack: ackclock.Ack) -> None:
            seen.append(ack.now)
            super().on_ack(ack)

    assert numbers(document(Here)) == numbers(document("aimd"))
    assert len(seen) > 1000


def test_run_takes_what_names_an_algorithm(here: Path) -> None:
    table = {"kind": "aimd", "increase": 1, "remaining": 0.5}
    assert (
        document("grow = 1 / w; cut = w / 2")["summary"]
        == document(table)["summary"]
        == document("aimd")["summary"]
    )
    with pytest.raises(ArgumentError, match="cc: is of type int; give a class"):
        ackclock.run("tiny.toml", cc=7)  # type: ignore[arg-type]


def test_classes_of_one_name_are_told_apart(here: Path) -> None:
    """By their files, and by a number where one file has changed; the same algorithm twice is the same."""
    text = GENTLE.read_text()
    (here / "gentle.py").write_text(text)
    (here / "other.py").write_text(text + "# another text\n")
    before = Candidate.parse("gentle.py")
    (here / "gentle.py").write_text(text + "# a later text\n")
    after, other, aimd = Candidate.parse("gentle.py"), Candidate.parse("other.py:Gentle"), Candidate("aimd")
    assert [each.label for each in (before, after, other)] == ["Gentle"] * 3
    labels = [each.label for each in distinct([before, aimd, other, after, before])]
    assert labels[1:3] == ["aimd", "other.py:Gentle"]
    assert labels[3] == f"{labels[0]} #2" and labels[4] == labels[0]
    assert [each.label for each in distinct([before, aimd, before])] == ["Gentle", "aimd", "Gentle"]


def test_candidates_are_short_and_carry_their_code(here: Path) -> None:
    shutil.copy(GENTLE, here / "gentle.py")
    plain, strong = Candidate.parse("gentle.py"), Candidate.parse("gentle.py:Gentle(gain=3)")
    assert (plain.label, strong.label) == ("Gentle", "Gentle(gain=3)")
    (here / "gentle.py").unlink()
    assert strong.resolved["code"] == GENTLE.read_text()
    assert Candidate.parse(strong.text).resolved == strong.resolved
    assert split_list("cubic, aimd(increase=1, remaining=0.5),{ kind = 'rule', grow = \"max(1, w)\" }") == [
        "cubic",
        "aimd(increase=1, remaining=0.5)",
        "{ kind = 'rule', grow = \"max(1, w)\" }",
    ]


def test_fields_are_what_is_tuned(here: Path) -> None:
    shutil.copy(GENTLE, here / "gentle.py")
    space = Space.of("gentle.py:Gentle")
    assert [(axis.name, axis.low, axis.high) for axis in space.axes] == [
        ("gain", 0.1, 4.0),
        ("left", 0.3, 0.95),
    ]
    assert space.default == {"gain": 1.0, "left": 0.7}
    assert space.candidate({"gain": 2.0}).label == "Gentle(gain=2)"
    assert [axis.name for axis in Space.of("gentle.py:Gentle(gain=2)").axes] == ["left"]


def test_evaluate_ranks_a_file_against_others(here: Path) -> None:
    shutil.copy(GENTLE, here / "gentle.py")
    (here / "s.toml").write_text(TINY)
    (here / "suite.toml").write_text(
        'name = "s"\nversion = 1\ntitle = "S"\ntest = ["test"]\npanel = ["aimd"]\nreplicates = 2\n'
        '[[environments]]\nid = "one"\ntitle = "One"\nquestion = "?"\nscenario = "s.toml"\n'
    )
    found = cli(
        "evaluate",
        "gentle.py:Gentle",
        "--against",
        "cubic,aimd",
        "--suite",
        ".",
        "--json",
        "--out",
        "ev",
        cwd=here,
    )
    assert found.code == 0, found.stderr
    labels = [row["label"] for row in json.loads(found.stdout)["candidates"]]
    assert labels == ["Gentle", "cubic", "aimd"]


# ---- what goes wrong as they are read ----


@pytest.mark.parametrize(
    ("body", "cc", "message"),
    [
        ("def f(:\n", "my_cc.py", "cc: my_cc.py:1: is invalid Python: invalid syntax: def f(:"),
        ("x = 1 / 0\n", "my_cc.py", "cc: ZeroDivisionError: division by zero; my_cc.py:1, in <module>: x = 1 / 0"),
        ("x = 1\n", "my_cc.py", "cc: my_cc.py has no class that inherits ackclock.CongestionControl"),
        (BODY + "    pass\n", "my_cc.py:MyCd", "cc: my_cc.py has no class 'MyCd'; did you mean 'MyCc'?"),
        (BODY + "    pass\nclass B(MyCc):\n    pass\n", "my_cc.py", "cc: my_cc.py has 2 classes that inherit ackclock.CongestionControl; name one, as in my_cc.py:MyCc"),
        ("class MyCc:\n    pass\n", "my_cc.py:MyCc", "cc: my_cc.py: MyCc does not inherit ackclock.CongestionControl"),
        (BODY + "    seen = []\n", "my_cc.py", "cc: MyCc.seen: all flows would share this list; set self.seen in on_start, or write seen: list = field(default_factory=list, init=False)"),
        (BODY + "    cwnd = 3\n", "my_cc.py", "cc: MyCc.cwnd: the name is taken by ackclock.CongestionControl; use another"),
        ("import beside\n" + BODY + "    pass\n", "my_cc.py", "cc: my_cc.py:1: imports beside from its own folder, but an algorithm is one file; move the imported code into it"),
        ("from . import x\n" + BODY + "    pass\n", "my_cc.py", "cc: my_cc.py:1: imports . from its own folder, but an algorithm is one file; move the imported code into it"),
        (BODY + "    pass\n", {"gain": 1}, "cc: MyCc takes no parameter 'gain'; there are none"),
        (BODY + "    gain: float = 1\n", {"gain": 1}, "cc: MyCc takes no parameter 'gain': make it a dataclass (@dataclass), whose fields are its parameters"),
        (BODY + "    def __init__(self, gain=1.5, deep=False, steps=3): self.gain = gain\n", {"gian": 2}, "cc: MyCc takes no parameter 'gian'; did you mean 'gain'?"),
        (BODY + "    def __init__(self, gain=1.5): self.gain = gain\n", {"gain": "much"}, 'cc: expected a number, found "much"'),
        (BODY + "    def __init__(self, steps=3): self.steps = steps\n", {"steps": 2.5}, "cc: expected a whole number, found 2.5"),
        (BODY + "    def __init__(self, gain: float): self.gain = gain\n", "my_cc.py", "cc: the parameter 'gain' has no default; give it a value"),
        (BODY + "    def __init__(self, gain=None): self.gain = gain\n", "my_cc.py", "cc: MyCc.gain is not a float, int, bool or str, and cannot be a parameter; write field(init=False, default=...)"),
    ],
    ids=["syntax", "raises", "no-class", "near", "two", "no-base", "shared", "taken", "beside", "relative", "none", "annotated", "unknown", "type", "whole", "missing", "none-default"],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_one_message(here: Path, body: str, cc: Any, message: str) -> None:
    write(here, "", "beside.py")
    write(here, body)
    given = {"kind": "python", "source": "my_cc.py", **cc} if isinstance(cc, dict) else cc
    assert mistake(given) == message


def test_a_file_that_is_not_there_has_its_line(here: Path) -> None:
    (here / "own.toml").write_text(
        TINY.replace('{ kind = "aimd", increase = 1, remaining = 0.5 }', '"lost.py:X"')
    )
    found = cli("check", "own.toml", cwd=here)
    assert (found.code, found.stderr) == (
        2, "error: own.toml:16: flows.test.cc.source: lost.py: cannot be read: No such file or directory\n"
    )  # fmt: skip


def test_code_that_kills_its_process_as_it_is_read_is_a_mistake(here: Path) -> None:
    write(here, "import os\nos._exit(7)\n")
    assert mistake("my_cc.py") == "cc: my_cc.py: its process ended with exit code 7"


# ---- what goes wrong as they run ----


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("        self.cwnd += 1 / 0\n", ["on_ack: ZeroDivisionError: division by zero", "my_cc.py:5, in on_ack", "self.cwnd += 1 / 0"]),
        ("        self.cwnd = float('nan')\n", ["on_ack: ValueError: cwnd must be finite and not negative, not NaN", "my_cc.py:5"]),
        ("        self.cwnd = float('inf')\n", ["cwnd must be finite and not negative, not inf"]),
        ("        self.cwnd = -1\n", ["cwnd must be finite and not negative, not -1"]),
        ("        self.cwnd = 'ten'\n", ["on_ack: TypeError: cwnd must be a number, not str"]),
        ("        self.pacing_rate = 0\n", ["pacing_rate must be finite and at least 1 bit/s, or None, not 0"]),
        ("        self.ssthresh = -2\n", ["ssthresh must be a number that is not negative, not -2"]),
        ("        ack.delivery_rate\n", ["AttributeError", "write rate_samples = True in the class"]),
        ("        import sys; sys.exit('bye')\n", ["on_ack: SystemExit: bye"]),
        ("        import ctypes; ctypes.string_at(0)\n", ["my_cc.py: its process was ended by SIGSEGV in on_ack", "(seed 1, replicate 0)"]),
        ("        import os; os._exit(9)\n", ["my_cc.py: its process ended with exit code 9 in on_ack"]),
    ],
    ids=["raises", "nan", "inf", "negative", "text", "rate", "ssthresh", "no-samples", "sys-exit", "segv", "exit"],
)  # fmt: skip
def test_a_run_that_fails_names_event_time_and_line(here: Path, body: str, message: list[str]) -> None:
    write(here, BODY + "    def on_ack(self, ack):\n" + body)
    text = failure("my_cc.py")
    assert all(part in text for part in message), text
    assert re.search(r" at [\d.]+ (ms|s)\b", text) and "/foreign/" not in text, text


def test_a_window_that_grows_without_bound_is_named(here: Path) -> None:
    write(
        here,
        BODY
        + "    def on_ack(self, ack):\n        self.cwnd *= 2\n    def on_congestion(self, congestion):\n        pass\n",
    )
    assert "Its window grows without bound" in failure("my_cc.py")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("while True: pass", "on_ack: does not end\n  my_cc.py:5, in on_ack"),
        ("__import__('time').sleep(99)", "does not end"),
    ],
    ids=["loop", "sleep"],
)
def test_a_callback_that_takes_no_end_is_ended(
    here: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setenv("ACKCLOCK_CALLBACK_SECONDS", "0.5")
    # Workers that are kept have the time that they began with.
    from ackclock.foreign import process

    process.end_workers()
    write(here, BODY + f"    def on_ack(self, ack):\n        {body}\n")
    started = time.monotonic()
    assert message in failure("my_cc.py")
    assert time.monotonic() - started < 20
    process.end_workers()


def test_a_crash_costs_one_run_and_the_others_are_kept(here: Path) -> None:
    write(
        here,
        "import os\nimport ackclock\n\nclass MyCc(ackclock.CongestionControl):\n    def __init__(self, crash=False): self.crash = crash\n    def on_ack(self, ack):\n        if self.crash and ack.now > 1: os.abort()\n        super().on_ack(ack)\n",
    )
    scenario = Scenario.from_file("tiny.toml")
    good = scenario.with_sets(["flows.test.cc=my_cc.py"])
    bad = good.with_sets(["flows.test.cc.crash=true"])
    study = Study.of(good, replicates=2) + Study.of(bad) + Study.of(good, seed=5, replicates=2)
    with Store("kept") as store:
        with Threads(2) as threads, pytest.raises(RunError) as error:
            run_study(study, store, executor=threads)
        assert "its process was ended by SIGABRT in on_ack" in str(error.value)
        assert "finished runs are kept in kept" in str(error.value)
        stored = [store.get(job) is not None for job in study.jobs]
    assert stored == [True, True, False, True, True]


def test_ctrl_c_ends_runs_and_no_process_is_left(here: Path) -> None:
    with subprocess.Popen(endless(here), stderr=subprocess.PIPE, encoding="utf-8") as running:
        before = workers(running.pid, here)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told.strip()) == (130, "interrupted")
    assert gone(before)


def test_workers_end_with_a_parent_that_is_killed(here: Path) -> None:
    with subprocess.Popen(endless(here)) as running:
        before = workers(running.pid, here)
        running.kill()
    assert gone(before)


def endless(here: Path) -> list[str]:
    """Return a command whose worker comes to a callback without end, and writes the file `inside` there."""
    inside = f"open({str(here / 'inside')!r}, 'w').close()"
    write(here, BODY + f"    def on_ack(self, ack):\n        {inside}\n        while True: pass\n")
    return [sys.executable, "-m", "ackclock", "run", "tiny.toml", "--set", "flows.test.cc=my_cc.py"]


def workers(pid: int, here: Path) -> list[int]:
    """Return the processes of a process, once one is in its callback."""
    until = time.monotonic() + 60
    while not (here / "inside").exists():
        assert time.monotonic() < until, "no callback began"
        time.sleep(0.05)
    found = children(pid)
    assert found
    return found


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def gone(pids: list[int]) -> bool:
    """Whether processes end within some seconds; one that its new parent has not collected has ended, too."""
    for _ in range(100):
        left = [pid for pid in pids if Path(f"/proc/{pid}/stat").exists()]
        states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in left]
        if all(state == "Z" for state in states):
            return True
        time.sleep(0.1)
    return False


def test_what_a_class_prints_is_no_result(here: Path) -> None:
    write(here, BODY + "    def on_start(self):\n        print('begins')\n")
    found = cli("run", "tiny.toml", "--set", "flows.test.cc=my_cc.py", "--json", cwd=here)
    assert (json.loads(found.stdout)["flows"][0]["cc"], found.stderr) == ("my_cc", "begins\nbegins\n")


# ---- shared objects ----

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")
LIBRARY = '#include "ackclock_cc.h"\n#include <stdlib.h>\n'


def compile_c(folder: Path, text: str, name: str = "my_cc.so", compiler: str = "cc", *flags: str) -> str:
    source = folder / f"{name}.c"
    source.write_text(text)
    command = [
        compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags,
        "-shared",
        "-fPIC",
        "-I",
        ackclock.include_dir(),
    ]
    subprocess.run([*command, str(source), "-o", str(folder / name)], check=True)
    return f"./{name}"


def table(body: str = "", before: str = "") -> str:
    return (
        LIBRARY + before + "const ackclock_cc *ackclock_cc_get(void)\n{\n    static ackclock_cc table;\n"
        '    table.version = ACKCLOCK_CC_VERSION;\n    table.size = sizeof table;\n    table.name = "mine";\n'
        f"    {body}\n    return &table;\n}}\n"
    )


@needs_cc
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("cc", ["-std=c99", "-pedantic"]), ("c++", ["-x", "c++", "-std=c++11"])],
    ids=["c", "c++"],
)
def test_the_example_is_aimd(here: Path, compiler: str, flags: list[str]) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    path = compile_c(here, GENTLE.with_suffix(".c").read_text(), "gentle.so", compiler, *flags)
    found = document({"kind": "library", "path": path, "left": 0.5})
    assert found["flows"][0]["cc"] == "gentle"
    assert numbers(found) == numbers(document("aimd"))
    assert Candidate.parse(f"{path}(gain=2)").label == "gentle(gain=2)"


@needs_cc
def test_a_library_without_functions_is_reno_and_probes_are_sampled(here: Path) -> None:
    assert numbers(document(compile_c(here, table()))) == numbers(document("aimd"))
    probe = (
        "static void on_ack(void *state, ackclock_cc_window *window, const ackclock_cc_ack *ack)\n"
        "{ (void)window; *(double *)state += ack->acked; }\n"
        "static void probe(const void *state, double *values) { values[0] = *(const double *)state; }\n"
        'static const char *const names[] = {"acked"};\n'
    )
    body = "table.state_size = 8; table.on_ack = on_ack; table.probe = probe; table.probe_names = names; table.probe_count = 1;"
    path = compile_c(here, table(body, probe), "probe.so")
    samples = ackclock.run("tiny.toml", cc=path, sets=["sampling.interval=1 s"]).samples.flows
    assert samples.filter(samples["flow"] == "test.0")["cc.acked"].to_list()[-1] > 100


@needs_cc
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;\n", "exports no ackclock_cc_get; include ackclock_cc.h"),
        (table("table.version = 7;"), "has version 7 of the interface, and this ackclock version 1"),
        (table("table.size = 8;"), "has a table of 8 bytes instead of 136"),
        (table("table.parameter_count = 2;"), "has a table with parameters that is NULL, but a count of 2"),
        (table("table.name = 0;"), "has a table without a name"),
        (
            LIBRARY + "const ackclock_cc *ackclock_cc_get(void) { return 0; }\n",
            "ackclock_cc_get returns NULL",
        ),
        (
            LIBRARY + "const ackclock_cc *ackclock_cc_get(void) { abort(); }\n",
            "its process was ended by SIGABRT",
        ),
    ],
    ids=["symbol", "version", "size", "parameters", "name", "null", "abort"],
)
def test_a_library_that_cannot_be_used_is_one_message(here: Path, text: str, message: str) -> None:
    told = mistake(compile_c(here, text))
    assert message in told and told.startswith(f"cc: {here}/my_cc.so: ") and "\n" not in told, told


def test_a_file_that_is_no_library_is_one_message(here: Path) -> None:
    (here / "my_cc.so").write_text("no library")
    told = mistake("my_cc.so")
    assert told.startswith(f"cc: {here}/my_cc.so: cannot be loaded: ") and "\n" not in told
    # An ELF header for a machine that this is not.
    machine = 243 if os.uname().machine != "riscv64" else 62
    (here / "other.so").write_bytes(
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + (3).to_bytes(2, "little")
        + machine.to_bytes(2, "little")
        + bytes(44)
    )
    assert "cannot be loaded: " in mistake("other.so")
    assert mistake("lost.so") == f"cc: {here}/lost.so: cannot be read: No such file or directory"


@needs_cc
def test_a_library_takes_its_parameters_alone(here: Path) -> None:
    path = compile_c(here, GENTLE.with_suffix(".c").read_text(), "gentle.so")
    assert (
        mistake({"kind": "library", "path": path, "gian": 2})
        == "cc: gentle takes no parameter 'gian'; did you mean 'gain'?"
    )


ON_ACK = "static void on_ack(void *state, ackclock_cc_window *window, const ackclock_cc_ack *ack)\n{ (void)state; (void)ack; (void)window; BODY }\n"


@needs_cc
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("window->cwnd = -1;", "on_ack: cwnd must be finite and not negative, not -1"),
        (
            "window->cwnd = 0.0 / (window->cwnd - window->cwnd);",
            "cwnd must be finite and not negative, not NaN",
        ),
        ("window->pacing_rate = -5;", "pacing_rate must be finite and at least 1 bit/s, or 0, not -5"),
        ("*(volatile int *)0 = 1;", "my_cc.so: its process was ended by SIGSEGV in on_ack"),
        ("for (;;) ack = *(const ackclock_cc_ack *volatile *)&ack;", "my_cc.so: on_ack, "),
    ],
    ids=["negative", "nan", "rate", "segv", "loop"],
)
def test_a_library_that_fails_names_function_and_time(
    here: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setenv("ACKCLOCK_CALLBACK_SECONDS", "0.5")
    path = compile_c(
        here, table("table.on_ack = on_ack;", ON_ACK.replace("BODY", body)), "my_cc.so", "cc", "-O1"
    )
    told = failure(path)
    assert message in told and re.search(r" at [\d.]+ (ms|s)\b", told), told
