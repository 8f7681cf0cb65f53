"""`ackclock tune`: what is searched, what is found, the same again wherever it was stopped."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import cli

from ackclock.errors import InputError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.suite import Suite
from ackclock.running.store import Store
from ackclock.studies.queries import runs
from ackclock.tuning import tune
from ackclock.tuning.objective import Objective
from ackclock.tuning.present import sentence
from ackclock.tuning.search import Search
from ackclock.tuning.space import Axis, Space


@pytest.fixture
def suite(tiny_suite: Path) -> Path:
    """The suite of two environments, with the stored scores of its panel."""
    answer = cli("panel", "--suite", tiny_suite)
    assert answer.code == 0, answer.stderr
    return tiny_suite


def rows(folder: Path) -> dict[str, str]:
    index = sqlite3.connect(folder / "runs.sqlite")
    try:
        return dict(index.execute("SELECT key, result_json FROM runs"))
    finally:
        index.close()


def axes(cc: str, *over: str) -> dict[str, tuple[float, float]]:
    return {axis.name: (axis.low, axis.high) for axis in Space.of(cc, over).axes}


def test_ranges_follow_from_defaults_and_from_what_the_algorithm_takes() -> None:
    assert axes("aimd") == {"increase": (0.1, 10.0), "remaining": (0.05, 0.95)}
    assert axes("aiad") == {"increase": (0.1, 10.0), "removed": (0.3, 30.0)}
    assert axes("aimd(increase=1)") == {"remaining": (0.05, 0.95)}
    assert axes("cubic") == {"c": (0.04, 4.0), "remaining": (0.05, 0.95), "beta_ecn": (0.05, 0.95)}
    # Defaults of 0, and factors that cannot be below 1, have no range of their own.
    assert axes("linear") == {"decrease_mul": (0.05, 0.95), "increase_add": (0.1, 10.0)}
    assert axes("linear", "increase_mul=1..1.2") == {"increase_mul": (1.0, 1.2)}
    assert axes("aimd", "increase = 0.5 .. 3") == {"increase": (0.5, 3.0)}


def test_steps_are_factors_where_a_range_spans_ten() -> None:
    axis = Axis("increase", 0.1, 10.0)
    assert (axis.value(0.0), axis.value(0.5), axis.value(1.0)) == (0.1, 1.0, 10.0)
    assert axis.place(1.0) == pytest.approx(0.5)
    flat = Axis("remaining", 0.2, 0.8)
    assert flat.value(0.5) == 0.5 and flat.place(0.35) == pytest.approx(0.25)
    # Three digits, and never outside.
    assert Axis("x", 1.0, 2.0).value(1 / 3) == 1.33
    assert Axis("x", 0.12345, 0.2).value(0.0) == 0.12345


@pytest.mark.parametrize(
    ("cc", "over", "message"),
    [
        ("aimd", "increas=1..2", "did you mean 'increase'?"),
        ("aimd", "increase", "expected PARAM=lo..hi"),
        ("aimd", "increase=2..1", "the lower end must be below the upper one"),
        ("aimd", "increase=a..b", "the ends of a range are numbers"),
        ("aimd", "remaining=0.5..1.5", "aimd does not take 1.5"),
        ("aimd(increase=1)", "increase=1..2", "increase is fixed"),
        ("cubic", "reno_friendly=0..1", "no parameter 'reno_friendly' that is a number"),
    ],
)
def test_a_range_that_makes_no_sense_is_one_message(cc: str, over: str, message: str) -> None:
    answer = cli("tune", cc, "--over", over, "--budget", "1")
    assert answer.code == 2
    assert message in answer.stderr and "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("aimd", "--budget", "soon"), "expected a number of runs, or a time such as '10 min'"),
        (("aimd", "--budget", "1.5"), "a number of runs is an integer"),
        (("aimd", "--over", "increase=1..2", "--over", "increase=1..3"), "--over increase: is given twice"),
        (("aimd", "--suite", "nowhere"), "no suite is called 'nowhere'"),
        (("aimd", "--metric", "speed"), "speed"),
        (("cubic", "--constraints", "reddy"), "cubic is not a linear control"),
        (("aimdd",), "aimdd"),
        (("aimd(increase=1, remaining=0.5)",), "has no parameter whose range is known"),
    ],
)
def test_what_cannot_be_searched_is_one_message(options: tuple[str, ...], message: str) -> None:
    answer = cli("tune", *options)
    assert answer.code == 2
    assert message in answer.stderr and "Traceback" not in answer.stderr


def test_a_suite_without_stored_scores_is_refused(tiny_suite: Path, tmp_path: Path) -> None:
    answer = cli("tune", "aimd", "--suite", tiny_suite, "--out", tmp_path / "out")
    assert answer.code == 2
    assert "the suite has no panel.json" in answer.stderr and "ackclock panel --suite" in answer.stderr


def test_budgets() -> None:
    assert Budget.parse("2000").runs == 2000 and Budget.parse("20 runs").runs == 20
    assert (Budget.parse("1.5h").time_s, Budget.parse("10 min").time_s) == (5400.0, 600.0)
    assert Budget.parse("10").allows(10, 1e9) and not Budget.parse("10").allows(11, 0.0)
    assert Budget.parse("9 s").allows(10**9, 8.0) and not Budget.parse("9 s").allows(0, 9.0)


def minimum(cost: Callable[[float, float], tuple[float, float]], space: Space, seed: int = 1) -> list[float]:
    """What the search finds of a function with a known answer, in place of a suite."""
    search, best = Search(space, seed), (float("inf"), float("inf"))
    found: list[float] = []
    for _ in range(40):
        asked = search.ask()
        answers = [cost(*values.values()) if space.allows(values) else None for values in asked]
        for values, answer in zip(asked, answers, strict=True):
            if answer is not None and answer < best:
                best, found = answer, list(values.values())
        search.tell(answers)
    return found


def test_the_search_finds_a_minimum_with_a_kink() -> None:
    # Worst of two "environments": 2 at (3, 0.6), where they are equally bad.
    def cost(increase: float, remaining: float) -> tuple[float, float]:
        return max(increase - 1, 5 - increase) + 20 * abs(remaining - 0.6), 0.0

    increase, remaining = minimum(cost, Space.of("aimd"))
    assert increase == pytest.approx(3, abs=0.1) and remaining == pytest.approx(0.6, abs=0.01)


def test_d_decides_where_c_is_equal() -> None:
    def cost(increase: float, remaining: float) -> tuple[float, float]:
        return 7.0, abs(increase - 2) + abs(remaining - 0.3)

    increase, remaining = minimum(cost, Space.of("aimd"))
    assert increase == pytest.approx(2, abs=0.2) and remaining == pytest.approx(0.3, abs=0.05)


def test_constraints_hold_for_every_setting_that_is_asked() -> None:
    space = Space.of("aimd", constrained=True)
    search = Search(space, 3)
    for _ in range(5):
        asked = search.ask()
        assert all(values["increase"] <= 3 and values["remaining"] < 0.9 for values in asked)
        # The further away the better, if one could.
        search.tell([(-values["increase"], 0.0) for values in asked])


def test_a_seed_gives_the_same_settings_again() -> None:
    space = Space.of("aimd")
    assert Search(space, 5).ask() == Search(space, 5).ask() != Search(space, 6).ask()


def test_a_search_leaves_tables_page_and_data(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("tune", "aimd", "--suite", suite, "--budget", "96", "--out", out, "--constraints", "reddy")
    assert answer.code == 0, answer.stderr
    assert max(map(len, answer.stdout.splitlines()[1:-1])) <= 80
    assert "default" in answer.stdout and "queueing delay ms" in answer.stdout
    document = json.loads((out / "tuning.json").read_text())
    # The default, then generations of six: 4 runs each.
    assert document["runs"] <= 80 and 13 <= len(document["trials"]) <= 20
    assert document["trials"][0]["values"] == {"increase": 1.0, "remaining": 0.5}
    assert [each["is_default"] for each in document["finalists"]].count(True) == 1
    for finalist in document["finalists"]:
        worst_case = finalist["metrics"]["efficiency"]["worst_case"]
        assert worst_case["low"] <= worst_case["mean"] <= worst_case["high"]
        assert all(each["holds"] for each in finalist["constraints"] if each["printed"])
    with (out / "trials.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(document["trials"])
    assert table[0]["worst_case_shares_percent"] and table[0]["total_shares_high_percent"]
    front = [int(row["trial"]) for row in table if row["on_front"] == "true"]
    assert sorted(front) == sorted(document["front"]) != []
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 3 and "AI &lt;= 3" in page
    assert not re.search(r"(?:src|href)=\"https?:", page)


def test_the_front_is_what_nothing_beats_in_both(suite: Path) -> None:
    found = tune("aimd", suite=str(suite), budget="76", replicates=1)
    pairs = [trial.rank for trial in found.trials]
    front = {trial.rank for trial in found.front}
    for c, d in pairs:
        beaten = any(other != (c, d) and other[0] <= c and other[1] <= d for other in pairs)
        assert ((c, d) in front) != beaten


def test_regret_is_that_of_evaluate(suite: Path, tmp_path: Path) -> None:
    found = tune("aimd", suite=str(suite), budget="44", out=tmp_path / "tune")
    answer = cli(
        "evaluate", "aimd", "--suite", suite, "--seed", "2", "--json", "--out", tmp_path / "evaluate"
    )
    document = json.loads(answer.stdout)
    shares, *others = found.default.regrets
    assert shares.scale.name == "shares"
    # No environment is capped, so the score is the mean over environments.
    assert shares.mean == pytest.approx(document["ranking"][0]["score"])
    regrets = document["regrets"][0]["metrics"]
    for regret in others:
        assert regret.worst_case.mean == regrets[regret.scale.name]["worst_case"]["mean"]
        assert regret.total.high == regrets[regret.scale.name]["total"]["high"]
    assert {each.scale.name for each in others} == set(regrets)


def test_goodput_is_measured_as_a_share_of_the_best(suite: Path) -> None:
    found = tune("aimd", suite=str(suite), budget=44, metric="goodput")
    loaded = Suite.load(str(suite))
    stored = json.loads((suite / "panel.json").read_text())["environments"]["alone"]["metrics"]["goodput"]
    distance = found.trials[0].regret.by_environment["alone"]
    costs = stored["costs"]["aimd"][: loaded.replicates]
    mean = -sum(costs) / len(costs)
    best = stored["best"]["mean"]
    # The panel has the same seed, and aimd in it. Its scores have nine digits.
    assert distance == pytest.approx((best - mean) / best, abs=1e-8)
    assert Objective.of(loaded, "goodput", {}).scale.heading == "goodput, share"


def test_a_search_that_was_stopped_goes_on_and_repeats_nothing(suite: Path, tmp_path: Path) -> None:
    whole = tune("aimd", suite=str(suite), budget="76", replicates=1, out=tmp_path / "whole", workers=1)

    def stop(done: int, total: int) -> None:
        if done == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune("aimd", suite=str(suite), budget="76", replicates=1, out=tmp_path / "out", progress=stop)
    kept = rows(tmp_path / "out")
    assert 0 < len(kept) < len(rows(tmp_path / "whole"))
    again = tune("aimd", suite=str(suite), budget="76", replicates=1, out=tmp_path / "out", workers=2)
    assert kept.items() <= rows(tmp_path / "out").items()
    assert rows(tmp_path / "out").keys() == rows(tmp_path / "whole").keys()
    assert [trial.values for trial in again.trials] == [trial.values for trial in whole.trials]
    assert (
        again.best.values == whole.best.values
        and again.best.regret.worst_case == whole.best.regret.worst_case
    )


def test_progress_ends_where_it_said_it_would(suite: Path) -> None:
    told: list[tuple[int, int]] = []
    tune("aimd", suite=str(suite), budget="46", progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_time_is_a_budget_too(suite: Path) -> None:
    found = tune("aimd", suite=str(suite), budget="6 s", replicates=1)
    assert len(found.trials) > 1 and found.budget.time_s == 6.0


def test_a_budget_includes_the_check(suite: Path) -> None:
    for budget in (44, 60, 76):
        found = tune("aimd", suite=str(suite), budget=budget)
        assert found.check_runs in (12, 16)
        assert found.runs + found.check_runs <= budget


def test_relations_hold_for_every_setting_that_is_tried(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "gap.py").write_text(
        "from dataclasses import dataclass, field\n\nimport ackclock\n\n\n@dataclass\n"
        "class Gap(ackclock.CongestionControl):\n"
        '    low: float = field(default=2.0, metadata={"range": (1.0, 5.0)})\n'
        '    high: float = field(default=4.0, metadata={"range": (1.0, 9.0)})\n'
    )
    cc = f"{tmp_path / 'gap.py'}:Gap"
    found = tune(cc, suite=str(suite), budget=44, keep=["low + 1 < high"])
    assert all(trial.values["low"] + 1 < trial.values["high"] for trial in found.trials)
    free = tune(cc, suite=str(suite), budget=44)
    assert not all(trial.values["low"] + 1 < trial.values["high"] for trial in free.trials)
    words = ("--budget", "44", "--constraint", "low + 1 < high", "--out", tmp_path / "out")
    answer = cli("tune", cc, "--suite", suite, *words)
    # A class has its own name, and not the name of its language.
    assert " settings of Gap, including the default" in answer.stdout and "python" not in answer.stdout
    assert json.loads((tmp_path / "out" / "tuning.json").read_text())["relations"] == ["low + 1 < high"]


def test_parameters_of_a_relation_are_searched() -> None:
    """Vegas needs an alpha of at most beta, so the ends of their ranges go with other parameters only."""
    assert [axis.name for axis in Space.of("vegas").axes] == ["gamma"]
    space = Space.of("vegas", keep=["alpha < beta"])
    assert [(axis.name, axis.low, axis.high) for axis in space.axes] == [
        ("alpha", 0.2, 20),
        ("beta", 0.4, 40),
        ("gamma", 0.1, 10),
    ]
    assert space.allows({"alpha": 10, "beta": 20, "gamma": 1})
    assert not space.allows({"alpha": 20, "beta": 10, "gamma": 1})


@pytest.mark.parametrize(
    ("words", "searched"),
    [
        (("vegas", "--over", "gamma=1..2", "--constraint", "alpha < beta"), "gamma"),
        (("vegas(alpha=1,beta=3)", "--constraint", "alpha < beta"), "gamma"),
        (("aimd", "--constraint", "1 < 2"), "increase, remaining"),
    ],
)
def test_a_relation_without_a_searched_parameter_is_an_error(words: tuple[str, ...], searched: str) -> None:
    answer = cli("tune", *words)
    assert answer.code == 2 and answer.stderr.count("\n") == 1
    assert f"reaches nothing, as the search covers only {searched}; name one of its" in answer.stderr


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("increase", "expected a comparison of parameters, such as 'alpha < beta'"),
        ("increase <", "expected a comparison"),
        ("increase == 1", "expected a comparison"),
        ("incrase < 1", "there is no parameter 'incrase' that is a number; did you mean"),
        ("increase < abs(1)", "only names, numbers and + - * / may be compared"),
        ("increase < 1e999", "a number is not finite"),
    ],
)
def test_a_relation_that_makes_no_sense_is_one_message(relation: str, message: str) -> None:
    answer = cli("tune", "aimd", "--constraint", relation)
    assert answer.code == 2 and len(answer.stderr.splitlines()) == 1
    assert f"--constraint {relation!r}: " in answer.stderr and message in answer.stderr


def test_fixed_parameters_and_numbers_count_in_relations() -> None:
    space = Space.of("aimd(increase=2)", ["remaining=0.1..0.9"], keep=["0.2 < remaining <= increase / 4"])
    assert [space.allows({"remaining": value}) for value in (0.1, 0.3, 0.5, 0.6)] == [
        False,
        True,
        True,
        False,
    ]


def test_a_budget_that_searches_nothing_is_refused(suite: Path, tmp_path: Path) -> None:
    """Two environments, two replicates, the default and a generation of six, and a check of four: 44 runs."""
    out = tmp_path / "out"
    answer = cli("tune", "aimd", "--suite", suite, "--budget", "43", "--out", out)
    assert answer.code == 2 and answer.stdout == "" and len(answer.stderr.splitlines()) == 1
    assert answer.stderr.startswith("error: --budget '43': is too small; use 44 or more. ")
    assert "takes 4 runs per setting" in answer.stderr
    assert not out.exists()
    answer = cli("tune", "aimd", "--suite", suite, "--budget", "0.000001 s", "--out", out)
    assert answer.code == 2 and answer.stdout == "" and len(answer.stderr.splitlines()) == 1
    assert "is too small: the default alone took" in answer.stderr


def test_what_was_searched_is_said_first_and_no_more_than_it_shows(suite: Path, tmp_path: Path) -> None:
    over = ("--over", "remaining=0.5..0.9", "--replicates", "1", "--check-replicates", "1")
    answer = cli("tune", "aimd", "--suite", suite, "--budget", "18", *over, "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    first, last = answer.stdout.splitlines()[0], answer.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"Searched 5 settings of aimd, including the default, over suite tiny: remaining 0\.5 to 0\.\d+ of "
        r"0\.5 to 0\.9\. The search used 1[68] runs of a budget of 18, [68] of them for the check\. "
        r"It did not converge in 1 generation\.",
        first,
    )
    assert last.endswith(
        "The search is too small to exclude a better setting. That needs 34 runs, or a search that converges."
    )
    assert "none" not in last and "intervals overlap" not in last
    document = json.loads((tmp_path / "out" / "tuning.json").read_text())
    assert next(iter(document)) == "searched" and document["sentence"] == f"{first} {last}"
    assert (document["searched"]["settings"], document["searched"]["is_telling"]) == (5, False)
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.index("Searched 5 settings") < page.index("<main>")


def test_none_is_better_only_after_a_search_that_could_tell(suite: Path) -> None:
    """Larger increases lose more: the default, at the end of the range, is the best there is."""
    for budget, is_telling in (("26", False), ("42", True)):
        found = tune(
            "aimd", suite=str(suite), budget=budget, over=["increase=1..9"], metric="loss_rate", replicates=1
        )
        assert found.best.is_default and found.is_telling is is_telling
        assert bool(re.search(r"none of the \d best settings is better", sentence(found))) is is_telling
        assert ("too small to exclude" in sentence(found)) is not is_telling


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": ["increase=4..8"], "constrained": True}, "none of the settings drawn is allowed"),
        ({"over": ["remaining=0.5..0.5001"]}, "contains only the default"),
        ({"replicates": 0}, "replicates: is 0, but must be a whole number, at least 1"),
        ({"check_replicates": 0}, "check_replicates: is 0, but must be a whole number, at least 1"),
        ({"metric": "godput"}, "no metric is called 'godput'; did you mean 'goodput'?"),
    ],
)
def test_a_search_of_nothing_is_refused(suite: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        tune("aimd", suite=str(suite), budget=200, **{"replicates": 1, **options})


def test_stored_runs_can_be_asked_by_their_parameters(suite: Path, tmp_path: Path) -> None:
    tune("aimd", suite=str(suite), budget="46", out=tmp_path / "out")
    with Store(tmp_path / "out") as store:
        found = runs(store)
    assert {"environment", "increase", "remaining"} <= set(found.columns)
    assert set(found["environment"].unique()) == {"alone", "company"}


def test_without_cmaes_the_message_says_what_to_install(suite: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CMAES, str(suite)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=suite,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and "python -m pip install cmaes" in done.stderr


WITHOUT_CMAES = """\
import sys
sys.modules["cmaes"] = None
sys.argv = ["ackclock", "tune", "aimd", "--suite", sys.argv[1]]
from ackclock.__main__ import main
main()
"""


def test_an_objective_needs_its_metric(suite: Path) -> None:
    text = (suite / "suite.toml").read_text()
    (suite / "suite.toml").write_text(re.sub(r"\nwatch = .*", "", text))
    assert cli("panel", "--suite", suite).code == 0
    with pytest.raises(InputError, match="no environment has the metric watch"):
        Objective.of(Suite.load(str(suite)), "watch", {})
