"""Study files: axes, points, and messages for what makes no sense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock import AckclockError
from ackclock.files.documents import as_toml
from ackclock.studies.grid import Grid

Writer = Callable[[str], Path]


@pytest.fixture
def study(tiny: Path, tmp_path: Path) -> Writer:
    """Writes a study of the tiny scenario with these keys."""

    def write(keys: str) -> Path:
        path = tmp_path / "study.toml"
        path.write_text(f'scenario = "{tiny.name}"\n{keys}\n')
        return path

    return write


def test_axes_are_crossed_in_the_order_of_the_file_the_last_one_fastest(study: Writer) -> None:
    grid = Grid.load(
        study(
            """
            [grid]
            "flows.test.cc" = ["aimd", { kind = "aimd", increase = 2 }]
            [grid.topology]
            delay = ["10 ms", "20 ms"]
            [[together]]
            "topology.rate" = ["1 Mbit/s", "2 Mbit/s"]
            "topology.queue.limit" = ["5 packets", "10 packets"]
            """
        )
    )
    assert grid.keys == ("flows.test.cc", "topology.delay", "topology.rate", "topology.queue.limit")
    assert [point.number for point in grid.points] == list(range(8))
    assert [point.settings["topology.queue.limit"] for point in grid.points[:3]] == [
        "5 packets",
        "10 packets",
        "5 packets",
    ]
    assert grid.points[-1].settings["flows.test.cc"] == {"kind": "aimd", "increase": 2}
    assert len({point.scenario_hash for point in grid.points}) == 8
    # What a point says is what its jobs run.
    (job,) = grid.jobs(grid.points[5])
    assert (
        job.scenario_hash
        == grid.scenario.with_sets(
            [f"{key}={as_toml(value)}" for key, value in grid.points[5].settings.items()]
        ).hash
    )


def test_what_a_file_leaves_open(study: Writer) -> None:
    grid = Grid.load(study(""))
    assert (grid.name, grid.seed, grid.samples, grid.until) == ("study", 1, "first", None)
    (point,) = grid.points
    assert point.most == 1
    assert [job.samples for job in grid.jobs(point)] == [True]


def test_a_point_with_nothing_random_has_one_replicate(study: Writer) -> None:
    grid = Grid.load(
        study('replicates = 7\n[grid]\n"flows.test.start" = ["0 s", { uniform = ["0 s", "1 s"] }]')
    )
    assert [point.most for point in grid.points] == [1, 7]


def test_a_rule_needs_its_first_replicates_from_an_option_too(study: Writer) -> None:
    with pytest.raises(AckclockError, match=r"^replicates: is 5, but must be at least 10, the number that"):
        Grid.load(study('until = "goodput +- 1 %"'), replicates=5)


def test_options_take_the_place_of_the_file(study: Writer) -> None:
    grid = Grid.load(study("replicates = 7"), replicates=2, samples="all")
    assert [job.samples for job in grid.jobs(grid.points[0])] == [True, True]


def test_a_scenario_may_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "inline.toml"
    flow = '[[scenario.flows]]\nname = "test"\ncc = "aimd"\n'
    link = '[scenario.topology]\nkind = "dumbbell"\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
    path.write_text(f'[scenario]\nschema = 1\nduration = "2 s"\n{link}{flow}')
    assert Grid.load(path).points[0].most == 1
    path.write_text(f'[scenario]\nschema = 1\ndurration = "2 s"\n{link}{flow}')
    with pytest.raises(AckclockError, match=r"inline\.toml: scenario.*durration"):
        Grid.load(path)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("replicate = 3", "replicate: is not a key of a study; did you mean 'replicates'?"),
        ('name = "../up"', "name: is '../up', but may hold letters"),
        ("replicates = 0", "replicates: is 0, but must be at least 1"),
        ("replicates = true", "replicates: is true, but must be a whole number"),
        (
            'until = "goodput +- 1 %"\nreplicates = 9',
            "must be at least 10, the number that `until` checks first",
        ),
        (
            'until = "godput +- 1 %"',
            "until: 'godput +- 1 %': no metric is called 'godput'; did you mean 'goodput'?",
        ),
        ('until = "goodput < 1 %"', "expected METRIC +- NUMBER UNIT"),
        ('until = "goodput +- 1 ms"', "the unit of goodput must be % of the mean, or Mbit/s"),
        ('samples = "some"', "samples: is 'some', but must be one of none, first, all"),
        ("seed = -1", "seed: is -1"),
        ("schema = 9", "schema: is 9; this version of ackclock reads 1"),
        ("set = [1]", 'set[0]: is 1, but must be a text "KEY=VALUE"'),
        ("[grid]\nduration = []", "grid.duration: is [], but must be a list of at least one value"),
        ('[grid]\nduration = "1 s"', 'grid.duration: is "1 s", but must be a list'),
        (
            '[grid]\n"flows.tset.cc" = ["aimd"]',
            'grid: flows.tset.cc="aimd": flows: no item "tset"; use one of test',
        ),
        ('[grid]\ndurration = ["1 s"]', "did you mean"),
        ('[grid]\nduration = ["8 s", "1 parsec"]', "1 parsec"),
        ('[grid]\nduration = ["8 s", "1 s"]', 'grid: with duration="1 s": '),
        (
            '[[together]]\nduration = ["1 s"]\nwarmup = ["0 s", "1 s"]',
            "together[0]: must have as many values for each key; there are: duration 1, warmup 2",
        ),
        (
            '[grid]\nduration = ["2 s"]\n[[together]]\nduration = ["3 s"]',
            "duration: varies twice; each key belongs to one axis",
        ),
        ("flows = []", "flows: is not a key of a study; there are: scenario, "),
        ("grid = [", "is not TOML"),
    ],
)
def test_mistakes_have_one_message_with_file_and_key(study: Writer, keys: str, message: str) -> None:
    with pytest.raises(AckclockError) as raised:
        Grid.load(study(keys))
    assert message in str(raised.value)
    assert "study.toml: " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_scenario_is_named(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("")
    with pytest.raises(AckclockError, match=r"study\.toml: scenario: is missing"):
        Grid.load(path)
    path.write_text('scenario = "nowhere.toml"')
    with pytest.raises(AckclockError, match=r"nowhere\.toml: cannot be read"):
        Grid.load(path)
    with pytest.raises(AckclockError, match=r"none\.toml: cannot be read"):
        Grid.load(tmp_path / "none.toml")
