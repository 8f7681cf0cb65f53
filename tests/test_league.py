"""The league: all algorithms over suites, as a site and as data."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
from helpers import cli, require_kernel

import ackclock
from ackclock.errors import ArgumentError
from ackclock.evaluation.suite import Suite
from ackclock.leagues.roster import SUITES, TEN, everyone, shortened

BAD = """import ackclock


class Bad(ackclock.CongestionControl):
    def on_ack(self, ack):
        raise ValueError("no such state")
"""


def test_the_roster_has_every_algorithm_over_tcp() -> None:
    roster = everyone()
    assert set(TEN) <= set(roster) and len(TEN) == 10
    assert not {"scream", "gcc", "rule", "python"} & set(roster)


def test_a_quick_league_has_three_environments_of_each_suite_and_no_fast_links() -> None:
    for name in SUITES:
        suite = shortened(Suite.load(name))
        assert len(suite.environments) == 3
        # At the lower rate each scenario is valid.
        assert all(each.scenario("cubic", suite.subject).hash for each in suite.environments)
    rates = [each.base.resolved["topology"]["rate"] for each in shortened(Suite.load("shallow")).environments]
    assert rates == ["100 Mbit/s", "200 Mbit/s", "200 Mbit/s"] or set(rates) == {"100 Mbit/s"}


def test_scores_are_regrets_to_the_best_of_the_league(tiny_suite: Path, tmp_path: Path) -> None:
    found = ackclock.league(
        algorithms=["reno", "cubic", "vegas"], suites=[str(tiny_suite)], replicates=3, out=tmp_path / "out"
    )
    (suite,) = found.suites
    least: dict[tuple[str, str], float] = {}
    for row in found.rows():
        key = row["environment"], row["metric"]
        least[key] = min(least.get(key, 1e9), row["regret"])
    # Some algorithm is the best by each metric of each environment, and none is better.
    assert all(value == pytest.approx(0, abs=1e-9) for value in least.values())
    scores = [each.score.mean for each in found.algorithms if each.score is not None]
    assert scores == sorted(scores) and len(scores) == 3
    assert [entry.candidate.label for entry in suite.entries] == [each.label for each in found.algorithms]


def test_the_command_writes_a_site_and_a_candidate_joins_it(tiny_suite: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    words = (
        "league",
        "--algorithms",
        "reno,vegas",
        "--suites",
        tiny_suite,
        "--replicates",
        "2",
        "--no-coexistence",
        "--out",
        "out",
    )
    assert cli(*words, cwd=tmp_path).code == 0
    first = json.loads((tmp_path / "out/league.json").read_text())
    answer = cli(*words, "bad.py:Bad", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    document = json.loads((tmp_path / "out/league.json").read_text())
    assert [each["algorithm"] for each in document["algorithms"]][-1] == "Bad"
    last = document["algorithms"][-1]
    (entry,) = last["suites"].values()
    assert last["score"] is None and "no such state" in entry["failure"]
    # The failure changes no other score.
    assert document["algorithms"][:-1] == first["algorithms"]
    front = (tmp_path / "out/index.html").read_text()
    assert 'href="cc-vegas.html"' in front and "no such state" in front
    page = (tmp_path / "out/cc-vegas.html").read_text()
    # The rest of a page stands where an algorithm failed.
    bad = (tmp_path / "out/cc-bad.html").read_text()
    assert "7 of 7 points have no goodput, because a run failed" in bad and bad.count("No curves: ") == 3
    assert "because a run failed" in (tmp_path / "out/pair-bad-reno.html").read_text()
    assert "ackclock coexist reno vegas --replicates 2" in (tmp_path / "out/pair-reno-vegas.html").read_text()
    # Every page contains the command that writes the site.
    for name in ("index.html", "cc-vegas.html", "pair-reno-vegas.html", "tiny/report.html"):
        assert "ackclock league --algorithms reno,vegas" in (tmp_path / "out" / name).read_text()
    cell = f"{next(iter(document['algorithms'][0]['suites'].values()))['worst']}/vegas"
    assert f"ackclock run --from out/tiny {cell}" in page
    assert cli("run", "--from", "out/tiny", cell, cwd=tmp_path).code == 0
    table = polars.read_parquet(tmp_path / "out/league.parquet")
    assert {"suite", "environment", "algorithm", "metric", "mean", "scenario_hash"} <= set(table.columns)
    assert set(table["algorithm"]) >= {"reno", "vegas"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suites": ["cor"]}, "suites: contain 'cor'; did you mean 'core'"),
        ({"algorithms": ["reno", "reno"]}, "candidates: contain reno, which is in the league already"),
        ({"replicates": 0}, "replicates"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as error:
        ackclock.league(out=tmp_path / "out", **options)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_a_part_of_the_league_runs_in_the_kernel(tiny_suite: Path, tmp_path: Path) -> None:
    require_kernel()
    out = tmp_path / "out"
    words = (
        "--algorithms",
        "reno,cubic",
        "--suites",
        str(tiny_suite),
        "--replicates",
        "1",
        "--out",
        str(out),
    )
    answer = cli("league", *words, "--backend", "kernel", "--json")
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["backend"].startswith("kernel:")
    assert all(each["score"] for each in document["algorithms"])
    for page in ("index.html", "cc-reno.html"):
        assert ", Linux kernel in virtual time (" in (out / page).read_text()
    page = (out / "cc-reno.html").read_text()
    assert "--backend kernel" in page and "The response function needs the simulator" in page
    assert page.count('class="event"') > 0, "the kernel draws traces"
