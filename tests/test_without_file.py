"""`ackclock run` and `ackclock study` without a file: what options stand for, and what `--save` writes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, TWO_FLOWS, cli, without_cpu_time

from ackclock.errors import InputError
from ackclock.files.documents import as_toml_file
from ackclock.scenario import Scenario
from ackclock.studies.grid import Grid
from ackclock.studies.vary import grid_of

SHORT = ("--duration", "2s")


def saved(tmp_path: Path, *options: str) -> dict[str, Any]:
    """Return the file that `--save` writes for a run."""
    path = tmp_path / "saved.toml"
    answer = cli("run", *SHORT, *options, "--save", path, "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    return tomllib.loads(path.read_text())


def test_options_are_the_scenario_that_a_file_has(tmp_path: Path) -> None:
    tree = saved(
        tmp_path,
        *("--rate", "8Mbit/s", "--rtt", "30ms", "--queue", "fq-codel", "--loss", ".1%"),
        *("--flows", "cubic*2, bbr3, grow = 1/max(w, 2); cut = 0.5 * w"),
    )
    assert tree["topology"] == {
        "kind": "dumbbell",
        "rate": "8Mbit/s",
        "delay": "15 ms",
        "queue": {"kind": "fq-codel"},
        "loss": {"kind": "bernoulli", "probability": 0.001},
    }
    assert [(flow["name"], flow.get("count", 1)) for flow in tree["flows"]] == [
        ("cubic", 2),
        ("bbr3", 1),
        ("rule", 1),
    ]
    assert tree["flows"][2]["cc"] == {"kind": "rule", "grow": "1/max(w, 2)", "cut": "0.5 * w"}
    assert (tree["duration"], tree["warmup"]) == ("2s", "0.2 s")


def test_defaults_are_those_of_the_page(tmp_path: Path) -> None:
    tree = saved(tmp_path)
    topology = {key: tree["topology"][key] for key in ("rate", "delay", "queue")}
    assert topology == {
        "rate": "20 Mbit/s",
        "delay": "20 ms",
        "queue": {"kind": "drop-tail", "limit": "1 BDP"},
    }
    assert tree["flows"] == [{"name": "cubic", "cc": "cubic"}]
    described = Scenario.from_file(tmp_path / "saved.toml").describe()
    assert described["flows"][0]["base_rtt_s"] == pytest.approx(0.04, rel=0.03)
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text()
    for option, value in (("--rate RATE", "20 Mbit/s"), ("--rtt TIME", "40 ms"), ("--duration TIME", "30 s")):
        row = next(line for line in page.splitlines() if line.startswith(f"| `{option}`"))
        assert value in row


def test_what_is_saved_is_what_ran(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for place in ("here.toml", "elsewhere/there.toml"):
        options = ("--flows", "own.py:Own,reno", "--set", "topology.rate=4 Mbit/s", *SHORT)
        (tmp_path / "own.py").write_text("import ackclock\nclass Own(ackclock.CongestionControl): pass\n")
        ran = cli("run", *options, "--json", "--save", place, cwd=tmp_path)
        again = cli("run", tmp_path / place, "--json")
        assert ran.code == again.code == 0, ran.stderr + again.stderr
        assert without_cpu_time(json.loads(ran.stdout)) == without_cpu_time(json.loads(again.stdout))


def test_a_file_may_be_saved_with_its_changes(tmp_path: Path) -> None:
    path = tmp_path / "changed.toml"
    answer = cli("run", TWO_FLOWS, "--set", "duration=6s", "--save", path, "--json")
    assert answer.code == 0, answer.stderr
    assert Scenario.from_file(path).hash == Scenario.from_file(TWO_FLOWS, ["duration=6s"]).hash


def test_a_trace_is_the_capacity(tmp_path: Path) -> None:
    (tmp_path / "slow.trace").write_text("".join(f"{time}\n" for time in range(6, 601, 6)))
    answer = cli("run", "--trace", "slow.trace", *SHORT, "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    # A packet of 1504 B each 6 ms.
    link = json.loads(answer.stdout)["links"][0]
    assert link["capacity_bps"] == pytest.approx(1504 * 8 / 0.006, rel=0.01)
    assert link["utilization"] > 0.9


def test_a_trace_that_begins_at_0_delivers_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "zero.trace").write_text("0\n1\n2\n")
    answer = cli("run", "--trace", "zero.trace", *SHORT, "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    # As in mahimahi, three packets of 1504 B in 2 ms, two of them in the same millisecond.
    assert json.loads(answer.stdout)["links"][0]["capacity_bps"] == pytest.approx(
        3 * 1504 * 8 / 0.002, rel=0.001
    )


def test_nothing_of_a_trace_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "bursts.trace").write_text("5\n5\n5\n10\n15\n20\n")
    tree = saved(tmp_path, "--trace", "bursts.trace", "--rtt", "100ms")
    # 3 opportunities in a millisecond; 6 in 20 ms, which are 30 within an RTT.
    assert tree["topology"]["rate"] == "36.096 Mbit/s"
    assert tree["topology"]["queue"] == {"kind": "drop-tail", "limit": "30 packets"}
    assert Scenario.from_file(tmp_path / "saved.toml").warnings == []


def test_a_file_of_toml_reads_back() -> None:
    tree = {
        "text": 'quo"tes\nand lines',
        "list": [1, 0.5, True],
        "none": {},
        "table": {"a b": 1, "inner": {"x": {"deep": "y"}, "z": [{"q": 1}]}, "last": 2},
        "many": [{"name": "a", "cc": {"kind": "b"}}, {"name": "c"}],
    }
    assert tomllib.loads(as_toml_file(tree)) == tree


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("k=.1..16BDP", [f"{value} BDP" for value in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 16)]),
        ("k=1..8", [1, 2, 4, 8]),
        ("k=10packets..100packets:3", ["10 packets", "32 packets", "100 packets"]),
        ("k=1..1000Mbit/s:4", ["1 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1000 Mbit/s"]),
        ("k=cubic, bbr3", ["cubic", "bbr3"]),
        ("k=.5,1,true", [0.5, 1, True]),
        ('k={ kind = "aimd", increase = 2 },reno', [{"kind": "aimd", "increase": 2}, "reno"]),
        ("k=10 ms,1 s", ["10 ms", "1 s"]),
    ],
)
def test_axes_in_one_line(text: str, values: list[Any]) -> None:
    assert grid_of([text]) == {"k": values}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["k"], "must be KEY=VALUES"),
        (["k="], "must be KEY=VALUES"),
        (["k=1", "k=2"], "varies twice"),
        (["k=0..3BDP"], "a range increases from a number above 0"),
        (["k=3..1"], "a range increases from a number above 0"),
        (["k=1ms..2s"], "both ends in one unit"),
        (["k=1..2..3"], "a range is LOW..HIGH"),
        (["k=1..2:1"], "must have 2 to"),
    ],
)
def test_mistakes_of_axes(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        grid_of(texts)


def test_a_study_of_options_is_the_one_that_is_saved(tmp_path: Path) -> None:
    options = (
        "--vary",
        "topology.queue.limit=.5..2BDP",
        "--flows",
        "reno",
        "--set",
        "topology.rate=2 Mbit/s",
    )
    answer = cli("study", *options, *SHORT, "--save", "s.toml", "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    points = json.loads(answer.stdout)["points"]
    assert [point["settings"]["topology.queue.limit_bdp"] for point in points] == [0.5, 1.0, 2.0]
    grid = Grid.load(tmp_path / "s.toml")
    assert grid.scenario.resolved["topology"]["rate"] == "2 Mbit/s"
    plan = cli("study", "s.toml", "--plan", "--json", cwd=tmp_path)
    assert (json.loads(plan.stdout)["points"], json.loads(plan.stdout)["stored_runs"]) == (3, 3)


def test_a_study_varies_a_scenario_file(tmp_path: Path) -> None:
    answer = cli("study", TWO_FLOWS, "--vary", "flows.test.count=1,2", "--plan", "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    assert json.loads(answer.stdout)["points"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run",), "needs a FILE, or options in its place"),
        (("run", TWO_FLOWS, "--rtt", "10ms"), "use --set topology.delay=VALUE"),
        (("run", TWO_FLOWS, "--flows", "test"), "to capture only some flows use --capture"),
        (("run", "--rate", "20Mbit"), 'error: --rate: unknown unit "Mbit" for a rate'),
        (("run", "--rtt", "40"), "error: --rtt: '40' is not a duration with a unit"),
        (("run", "--duration", "5"), "error: --duration: '5' is not a duration with a unit"),
        (("run", "--flows", "cubicc"), 'error: --flows: unknown algorithm "cubicc"; did you mean "cubic"?'),
        (("run", "--flows", "cubic,,reno"), "error: --flows: has an empty name"),
        (("run", "--flows", "no.py:No"), "error: --flows: no.py: cannot be read"),
        (("run", "--queue", "fq_codel"), 'error: --queue: unknown queue discipline "fq_codel"; did you mean'),
        (("run", "--queue", "{ kind ="), "error: --queue: '{ kind =' is not an inline table of TOML"),
        (("run", "--limit", "5"), 'error: --limit: "5" is not a queue limit'),
        (("run", "--loss", "some"), "error: --loss: 'some' is not a share of packets"),
        (("run", "--loss", "300%"), "error: --loss: 3 is out of range"),
        (("run", "--trace", "no.trace"), "no.trace: cannot be read"),
        (("run", "--rate", "1Mbit/s", "--save", "no/such.toml"), "error: --save no/such.toml: the folder"),
        (
            ("run", "--rate", "1Mbit/s", "--set", "flows.x.cc=a"),
            'error: --set flows.x.cc=a: flows: no item "x"',
        ),
        (("study",), "give a study FILE, or --vary KEY=VALUES"),
        (("study", "--rate", "1Mbit/s"), "give a study FILE, or --vary KEY=VALUES"),
        (("study", ROOT / "examples" / "buffer-study.toml", "--set", "seed=2"), "--set needs --vary"),
        (("study", ROOT / "examples" / "buffer-study.toml", "--vary", "seed=2"), "this is a study file"),
        (
            ("study", "--vary", "topology.limt=1,2"),
            "error: --vary: grid: topology.limt=1: topology.limt: unknown",
        ),
    ],
)
def test_mistakes_are_one_line(args: tuple[str | Path, ...], message: str, tmp_path: Path) -> None:
    answer = cli(*args, cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["run", "study"])
@pytest.mark.parametrize("key", ["topology.rate=5 Mbit/s", "topology={}"])
def test_an_option_that_a_setting_replaces_is_refused(command: str, key: str) -> None:
    varied = ("--vary", "seed=1,2") if command == "study" else ()
    refused = cli(command, "--rate", "10Mbit/s", "--set", key, *varied)
    assert refused.code == 2
    assert f"--rate reaches nothing: --set {key.partition('=')[0]} replaces it" in refused.stderr
