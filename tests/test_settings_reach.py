"""Settings that reach nothing, points that are the same run, and warnings of many scenarios."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import click
import pytest
from helpers import ROOT, cli

import ackclock
from ackclock import AckclockError, Scenario
from ackclock.cli import cli as commands
from ackclock.running.warned import gathered, merged
from ackclock.studies.grid import Grid

#: A flow with ECN through RED that does not mark.
RED = """schema = 2
duration = "2 s"
[topology]
kind = "dumbbell"
rate = "2 Mbit/s"
delay = "5 ms"
queue = { kind = "red", ecn = false }
[[flows]]
name = "test"
cc = "reno"
ecn = "classic"
"""
NO_MARKS = 'test is ECN-capable (ecn = "classic"), but no queue on its path marks packets: bottleneck'


@pytest.fixture
def red(tmp_path: Path) -> Path:
    path = tmp_path / "red.toml"
    path.write_text(RED)
    return path


def _suite(folder: Path, environments: list[tuple[str, str]]) -> None:
    """Write a suite of environments with RED. Each has an id and further keys."""
    folder.mkdir()
    (folder / "red.toml").write_text(RED)
    tables = (
        f'[[environments]]\nid = "{name}"\ntitle = "{name}"\nquestion = "?"\nscenario = "red.toml"\n{keys}\n'
        for name, keys in environments
    )
    head = 'name = "s"\nversion = 1\ntitle = "s"\nreplicates = 1\ntest = ["test"]\npanel = ["reno"]\n'
    (folder / "suite.toml").write_text(head + "".join(tables))


def hashes(document: dict[str, object]) -> list[dict[str, object]]:
    points = document["points"]
    assert isinstance(points, list)
    return [point["metrics"] for point in points]


@pytest.mark.parametrize("has_file", [True, False])
def test_a_key_of_the_transport_varies_what_runs(tiny: Path, tmp_path: Path, has_file: bool) -> None:
    options = [tiny] if has_file else ["--rate", "2 Mbit/s", "--rtt", "20 ms", "--duration", "2 s"]
    vary = "transport.mss=500 B,1000 B"
    answer = cli("study", *options, "--vary", vary, "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.stderr
    small, large = hashes(json.loads(answer.stdout))
    assert small["goodput_bps"] != large["goodput_bps"]
    one = cli("run", *options, "--set", "transport.mss=500 B", "--json")
    mean = small["goodput_bps"]
    assert isinstance(mean, dict) and mean["mean"] == json.loads(one.stdout)["summary"]["goodput_bps"]


#: A setting that reaches nothing, as every flow has its own ECN, and its message.
ECN = ("transport.ecn=off", "transport.ecn: reaches nothing: every flow has its own ecn")
#: A setting that another part of the command replaces, and its message.
REPLACED = ("topology.rate=5 Mbit/s", "topology.rate: reaches nothing: the grid replaces it at every point")
SEED = ("seed=7", "seed: reaches nothing: all runs have the seed of --seed")
GIVEN_SEED = ("seed=7", "--set seed reaches nothing: --seed gives the seed")
CAPTURE = ROOT / "examples/captures/linux-cubic.pcap"
MEASUREMENT = ROOT / "tests/measured/ss-cubic.txt.gz"
REPLAYED = "reaches nothing: the replay or an option replaces it"
#: Each command that takes settings, with one that reaches nothing, and the message.
UNREACHED = [
    (("run", "red.toml"), *ECN),
    (("run", "red.toml", "--seed", "8"), *GIVEN_SEED),
    (("check", "red.toml"), *ECN),
    (("sequence", "red.toml"), *ECN),
    (("sequence", "red.toml", "--seed", "8"), *GIVEN_SEED),
    (("study", "red.toml", "--vary", "topology.delay=5 ms,9 ms"), *ECN),
    (("study", "red.toml", "--vary", "topology.rate=2 Mbit/s,3 Mbit/s"), *REPLACED),
    (("study", "--rtt", "20 ms", "--vary", "topology.rate=2 Mbit/s,3 Mbit/s"), *REPLACED),
    (("evaluate", "cubic", "--suite", "suite"), *ECN),
    (("evaluate", "cubic", "--suite", "suite"), *SEED),
    (("evaluate-queue", "codel"), *SEED),
    (("evidence", "cubic"), *SEED),
    (("coexist", "reno", "cubic"), *ECN),
    (("coexist", "reno", "cubic"), *SEED),
    (("attack", "cubic"), *SEED),
    (("attack", "cubic"), "duration=9 s", "--set undo the duration, which the search varies"),
    (("compare-capture", CAPTURE, "--scenario", "red.toml"), *ECN),
    (("compare-capture", CAPTURE, "--seed", "8"), *GIVEN_SEED),
    (("compare-capture", CAPTURE), "links.path.queue.limit=5 packets", REPLAYED),
    (("compare-capture", CAPTURE, "--cc", "cubic"), "flows.test.cc=reno", REPLAYED),
    (("compare-capture", MEASUREMENT, "--scenario", "red.toml"), "duration=9 s", REPLAYED),
    (("compare-capture", MEASUREMENT, "--cc", "cubic"), "flows.test.cc=reno", REPLAYED),
]


@pytest.mark.parametrize(("words", "setting", "message"), UNREACHED)
def test_a_setting_that_reaches_nothing_is_an_error(
    words: tuple[str | Path, ...], setting: str, message: str, red: Path
) -> None:
    _suite(red.parent / "suite", [("e", "")])
    answer = cli(*words, "--set", setting, cwd=red.parent)
    assert answer.code == 2 and message in answer.stderr and "Traceback" not in answer.stderr, answer.stderr
    assert answer.stderr.count("error: ") == 1
    assert not (red.parent / "ackclock-out").exists()


def test_every_command_with_settings_is_tested() -> None:
    context = click.Context(commands)
    found = {name: commands.get_command(context, name) for name in commands.list_commands(context)}
    with_settings = {
        name
        for name, command in found.items()
        if command is not None and "--set" in {text for option in command.params for text in option.opts}
    }
    assert with_settings == {str(words[0]) for words, _, _ in UNREACHED}


def test_a_setting_that_reaches_nothing_is_an_error_in_files_and_python(red: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    for text, message in (
        ('[grid]\n"transport.ecn" = ["off", "accecn"]\n', ECN[1]),
        ('set = ["topology.rate=5 Mbit/s"]\n[grid]\n"topology.rate" = ["2 Mbit/s"]\n', REPLACED[1]),
    ):
        study.write_text(f'scenario = "red.toml"\n{text}')
        answer = cli("study", study, "--plan")
        assert answer.code == 2 and message in answer.stderr and answer.stderr.count("\n") == 1, answer.stderr
    with pytest.raises(AckclockError, match="reaches nothing"):
        ackclock.run(red, sets=[ECN[0]])
    with pytest.raises(AckclockError, match="reaches nothing"):
        Scenario.from_dict(Scenario.from_file(red).resolved, ["transport.mss=500 B"])
    with pytest.raises(AckclockError, match="reaches nothing"):
        ackclock.study({"scenario": str(red), "grid": {"transport.ecn": ["off"]}})


def test_a_setting_in_a_suite_reaches_something(tiny_suite: Path) -> None:
    path = tiny_suite / "suite.toml"
    text = path.read_text()
    first = text.index("scenario =")
    path.write_text(f'{text[:first]}set = ["transport.mss=1000 B", "transport.mss=500 B"]\n{text[first:]}')
    answer = cli("evaluate", "cubic", "--suite", tiny_suite)
    assert answer.code == 2 and "reaches nothing: a later setting replaces it" in answer.stderr


def test_the_seed_of_a_study_and_of_an_evaluation_has_an_option(red: Path, tiny_suite: Path) -> None:
    answer = cli("study", red, "--vary", "seed=1,2")
    assert answer.code == 2 and "seed: reaches nothing: every point has the seed" in answer.stderr
    answer = cli("study", red, "--vary", "name=a,b")
    assert answer.code == 2 and "name: reaches nothing: runs do not depend on it" in answer.stderr
    answer = cli("evaluate", "cubic", "--suite", tiny_suite, "--set", "seed=7")
    assert answer.code == 2 and "seed: reaches nothing: all runs have the seed of --seed" in answer.stderr


def test_a_value_that_is_the_present_one_is_a_point(red: Path) -> None:
    grid = Grid.of({"scenario": str(red), "grid": {"flows.test.ecn": ["classic", "off"]}}, source="x.toml")
    assert len({point.scenario_hash for point in grid.points}) == 2


def test_points_that_are_the_same_run_are_named(red: Path, tmp_path: Path) -> None:
    vary = ("--vary", "topology.delay=5 ms,10 ms,0.005 s")
    answer = cli("study", red, *vary, "--out", tmp_path / "out", "--json")
    told = "these points are the same run, as their compiled plans are equal"
    places = 'topology.delay="5 ms"; topology.delay="0.005 s"'
    assert f"warning: {told} (points: {places})" in answer.stderr
    warnings = json.loads(answer.stdout)["warnings"]
    assert {"warning": told, "points": places.split("; ")} in warnings


def test_a_scenario_that_was_sent_away_is_as_it_was_written(tiny: Path) -> None:
    scenario = Scenario.from_file(tiny)
    again = pickle.loads(pickle.dumps(scenario))
    assert again.resolved == scenario.resolved and again.name == scenario.name
    set_ = ["transport.mss=500 B"]
    assert again.with_sets(set_).hash == scenario.with_sets(set_).hash != scenario.hash


def test_warnings_of_points_are_told_once_with_the_points(red: Path, tmp_path: Path) -> None:
    assert NO_MARKS in cli("run", red).stderr
    vary = ("--vary", "topology.rate=2 Mbit/s,3 Mbit/s", "--vary", "topology.queue.ecn=true,false")
    answer = cli("study", red, *vary, "--out", tmp_path / "out", "--json")
    places = [f'topology.rate="{rate} Mbit/s", topology.queue.ecn=false' for rate in (2, 3)]
    assert answer.stderr.count(NO_MARKS) == 1
    assert f"warning: {NO_MARKS} (points: {'; '.join(places)})" in answer.stderr
    assert json.loads(answer.stdout)["warnings"] == [{"warning": NO_MARKS, "points": places}]
    found = ackclock.study({"scenario": str(red)})
    assert [warned.text for warned in found.warnings] == [NO_MARKS]


def test_warnings_of_environments_are_told_once(red: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    _suite(suite, [("a", ""), ("b", 'set = ["flows.test.ecn=off"]'), ("c", "")])
    answer = cli("evaluate", "cubic", "--suite", suite, "--within-table", "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.stderr
    assert f"warning: {NO_MARKS} (environments: a; c)" in answer.stderr
    assert answer.stderr.count(NO_MARKS) == 1
    assert json.loads(answer.stdout)["warnings"] == [{"warning": NO_MARKS, "environments": ["a", "c"]}]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (("tune", "aimd", "--suite", "suite", "--over", "increase=0.5..2", "--budget", "30"), ["a"]),
        (("league", "cubic", "--algorithms", "reno", "--suites", "suite", "--no-coexistence"), ["s/a"]),
        (
            ("evidence", "cubic", "--only", "5.1.1", "--set", "transport.ecn=classic"),
            ["overload", "feedback-lost", "path-dead"],
        ),
        (("attack", "cubic", "--family", "losses", "--set", "transport.ecn=classic"), ["no change"]),
    ],
)
def test_commands_of_many_scenarios_tell_each_warning_once(
    words: tuple[str, ...], places: list[str], red: Path
) -> None:
    _suite(red.parent / "suite", [("a", ""), ("b", 'set = ["flows.test.ecn=off"]')])
    stored = cli("panel", "--suite", "suite", cwd=red.parent)
    assert stored.code == 0 and f"warning: {NO_MARKS} (environments: a)" in stored.stderr
    few = {"attack": ("--budget", "60", "--checks", "2", "--against", "vegas")}
    rest = few.get(words[0], ("--replicates", "1"))
    answer = cli(*words, *rest, "--json", cwd=red.parent)
    assert answer.code == 0, answer.stderr
    assert answer.stderr.count(NO_MARKS) == 1
    (warned,) = (each for each in json.loads(answer.stdout)["warnings"] if each["warning"] == NO_MARKS)
    assert warned["networks" if words[0] == "attack" else "environments"] == places


def test_coexist_tells_the_warnings_that_changes_and_algorithms_cause(tmp_path: Path) -> None:
    """A queue that marks nothing is a part of some networks, unless a change causes it."""
    words = (
        "--networks",
        "0.25-bdp-40-ms,dualpi2-40-ms",
        "--replicates",
        "1",
        "--set",
        "duration=40 s",
        "--json",
    )
    assert "warning: " not in cli("coexist", "reno", "cubic", *words, cwd=tmp_path).stderr
    silent = cli("coexist", "reno", "bbr3", *words, cwd=tmp_path)
    told = "first is ECN-capable, but bbr3 does not respond to the marks of bottleneck"
    assert silent.stderr.count(told) == 1 and "no queue on its path" not in silent.stderr
    red = cli("coexist", "reno", "cubic", *words, "--set", 'topology.queue={ kind = "red" }', cwd=tmp_path)
    told = NO_MARKS.replace("test is", "first is")
    assert red.stderr.count(told) == 1
    warnings = json.loads(red.stdout)["warnings"]
    assert {"warning": told, "networks": ["0.25-bdp-40-ms", "dualpi2-40-ms"]} in warnings


def test_a_response_has_the_warnings_of_its_points() -> None:
    found = ackclock.response("prague", values=["1%"], replicates=1, duration="3 s")
    assert [warned.text.partition(",")[0] for warned in found.warnings] == [
        'test is ECN-capable (ecn = "accecn")'
    ]


def test_many_places_are_counted() -> None:
    (warned,) = gathered([(f"p{number}", ["w"] if number else []) for number in range(8)])
    assert warned.line("points") == "w (points: p1; p2; p3; p4 and 3 more)"
    (everywhere,) = gathered([("a", ["w"]), ("b", ["w", "w"])])
    assert everywhere.line("points") == "w" and everywhere.places == ("a", "b")
    (both,) = merged([[everywhere.within("s")], [everywhere]])
    assert both.line("points") == "w (points: s/a; s/b; a; b)"
