"""The pages of algorithms and pairs in a league."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers import TINY, cli

import ackclock
from ackclock.coexistence.matrix import Coexistence, coexist
from ackclock.leagues import profiles as behaviour
from ackclock.leagues.names import Names
from ackclock.leagues.pair_page import verdict
from ackclock.leagues.pairs import boards, corrected, difference_of, environments, pairs
from ackclock.leagues.profiles import Profiles, profiles
from ackclock.leagues.scores import League
from ackclock.leagues.site import write_site
from ackclock.leagues.texts import difference_text, signed
from ackclock.leagues.traces import KINDS, SECOND_S
from ackclock.page.over_time import QUEUE, RTT, WINDOW
from ackclock.statistics.estimates import Estimate

LABELS = ("reno", "cubic", "vegas")
LINK = re.compile(r'href="(?!data:|#)([^"#]+)"')


class Site(NamedTuple):
    league: League
    profiles: Profiles
    folder: Path
    #: The runs of the second league, by the name of the part: those that were stored, and all.
    second: dict[str, tuple[int, int]]

    def page(self, name: str) -> str:
        return (self.folder / name).read_text()


def short_coexist(*algorithms: str, **others: object) -> Coexistence:
    networks = ["0.25-bdp-40-ms", "1-to-10-1-bdp-40-ms"]
    sets = ["duration=20 s", "warmup=5 s"]
    return coexist(*algorithms, networks=networks, sets=sets, **others)  # type: ignore[arg-type]


def suite(folder: Path) -> Path:
    """Write a suite of two environments: a random and a deterministic one."""
    folder.mkdir()
    (folder / "alone.toml").write_text(TINY)
    head = 'name = "tiny"\nversion = 3\ntitle = "Two"\nreplicates = 2\ntest = ["test"]\npanel = ["aimd"]\n'
    environment = (
        '[[environments]]\nid = "{}"\nscenario = "alone.toml"\ntitle = "{}"\nquestion = "Why?"\n{}\n'
    )
    fixed = "set = ['flows.test.start=0 s', 'replicates.rtt=0', 'replicates.rate=0']"
    (folder / "suite.toml").write_text(
        head + environment.format("random", "At random", "") + environment.format("fixed", "Fixed", fixed)
    )
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("league")
    folder, own = root / "out", suite(root / "suite")
    told: dict[str, tuple[int, int]] = {}

    @contextmanager
    def progress(name: str) -> Iterator[Callable[[int, int], None]]:
        def tell(done: int, total: int) -> None:
            # The first report counts the stored runs.
            told.setdefault(name, (done, total))

        yield tell

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(behaviour, "coexist", short_coexist)
        for _ in range(2):
            told.clear()
            league = ackclock.league(
                algorithms=LABELS, suites=[str(own)], replicates=3, out=folder, progress=progress
            )
            found = profiles(league, folder, progress=progress)
    write_site(league, found, folder, command="ackclock league")
    yield Site(league, found, folder, dict(told))


def test_a_second_league_runs_nothing_new(site: Site) -> None:
    assert set(site.second) == {"tiny", "traces", "response functions", "pairs of algorithms"}
    assert site.second["response functions"] == (63, 63)
    for name in ("tiny", "pairs of algorithms"):
        done, total = site.second[name]
        assert done == total > 0
    assert site.second["traces"][0] == len(LABELS), "the first scenario with all algorithms"


def test_every_pair_has_a_page_and_all_links_resolve(site: Site) -> None:
    pages = {path.name for path in site.folder.glob("*.html")}
    assert {"pair-cubic-reno.html", "pair-cubic-vegas.html", "pair-reno-vegas.html"} <= pages
    assert {"cc-reno.html", "cc-cubic.html", "cc-vegas.html", "index.html"} <= pages and len(pages) == 7
    for name in pages:
        for link in LINK.findall(site.page(name)):
            assert (site.folder / link).is_file(), f"{name}: {link}"
    assert len(site.page("index.html")) < 1_000_000
    assert all(len(site.page(name)) < 100_000 for name in pages if name.startswith("pair-"))


def test_differences_are_paired_by_replicate(site: Site) -> None:
    document = json.loads((site.folder / "league.json").read_text())
    assert [(each["first"], each["second"]) for each in document["pairs"]] == [
        ("cubic", "reno"),
        ("cubic", "vegas"),
        ("reno", "vegas"),
    ]
    scores = {each["algorithm"]: each["score"]["mean"] for each in document["algorithms"]}
    for pair, told in zip(pairs(site.league), document["pairs"], strict=True):
        assert pair.difference is not None
        difference = told["difference"]["mean"]
        assert difference == pytest.approx(scores[told["first"]] - scores[told["second"]])
        (only,) = pair.suites
        assert only.first.score is not None and only.second.score is not None and only.difference is not None
        values = zip(only.first.score.values, only.second.score.values, strict=True)
        assert only.difference.value.mean == pytest.approx(sum(one - other for one, other in values) / 3)
        assert told["suites"]["tiny"]["difference"]["low"] == only.difference.value.low
        page = site.page(f"pair-{told['first']}-{told['second']}.html")
        assert difference_text(only.difference) in page and difference_text(pair.difference) in page


def test_environments_add_up_to_the_score_of_the_suite(site: Site) -> None:
    (suite,) = site.league.suites
    every = boards(site.league)
    for entry in suite.entries:
        assert entry.score is not None
        label = entry.candidate.label
        mean = sum(each.score(label) for each in every) / len(every)
        assert mean == pytest.approx(entry.score.value.mean)
    # The differences of replicates have the mean that the scores have.
    for row in environments(every, "cubic", "vegas"):
        assert row.difference.value.mean == pytest.approx(row.first - row.second, abs=1e-9)
        assert row.parts and abs(row.parts[0].difference) >= abs(row.parts[-1].difference)
    fixed = next(each for each in every if each.environment.id == "fixed")
    assert all(fixed.is_exact(label) and len(fixed.values[label]) == 1 for label in LABELS)
    page = site.page("pair-cubic-vegas.html")
    assert "ackclock run --from" in page and "At random" in page


def test_a_quick_league_calls_nothing_significant(site: Site) -> None:
    """Cubic and Vegas differ significantly in these suites with three replicates."""
    assert any(each.difference and each.difference.is_significant for each in pairs(site.league))
    quick = replace(site.league, is_quick=True)
    for pair in pairs(quick):
        every = [pair.difference, *(each.difference for each in pair.suites)]
        assert all(each is not None and not each.is_significant for each in every)
        told = verdict(pair, quick)
        assert told[0].startswith("A quick league does not test ") and "significant" not in " ".join(told)


def test_significance_needs_replicates_and_is_corrected() -> None:
    def significant(*found: tuple[Estimate, bool] | None) -> list[bool | None]:
        return [None if each is None else each.is_significant for each in corrected(found)]

    single = difference_of([1.0], [2.0], exact=False)
    assert single[0].mean == -1.0 and single[0].low is None
    assert significant(single, difference_of([1.0], [2.0], exact=True)) == [False, True]
    # Alone the difference is significant, but not as one of twenty.
    weak = difference_of([1.0, 1.1, 1.3], [0.0, 0.0, 0.0], exact=False)
    assert significant(weak, None) == [True, None]
    assert significant(*[weak] * 20) == [False] * 20


def test_the_front_page_has_a_matrix_of_pairs(site: Site) -> None:
    front = site.page("index.html")
    for pair in pairs(site.league):
        assert pair.difference is not None
        mean = pair.difference.value.mean
        for value in (mean, -mean):
            assert f">{signed(value, 1)}" in front
    assert front.count('href="pair-reno-vegas.html"') == 2


def test_an_algorithm_has_traces_a_response_function_and_extremes(site: Site) -> None:
    for label in LABELS:
        profile = site.profiles.by_label[label]
        assert profile.response is not None and len(profile.response.points) == 7 and not profile.failures
        assert [trace.kind for trace in profile.traces] == list(KINDS)
        for trace in profile.traces:
            assert [panel.title for panel in trace.panels] == [WINDOW, RTT, QUEUE]
            assert all(curve for panel in trace.panels for curve in panel.curves.values())
        second = profile.traces[1].panels[0].curves
        assert second["first"][0][0] < 1 and second["second"][0][0] >= SECOND_S
        page = site.page(f"cc-{label}.html")
        # The response function and three traces.
        assert page.count('<svg class="lines"') == 4
        assert f"ackclock response {label} --replicates 3" in page
        assert "Best environment: " in page and "Worst environment: " in page
        assert page.count(f"ackclock run --from {site.folder}/profiles ") == 3


def test_the_command_of_a_trace_draws_it(site: Site, tmp_path: Path) -> None:
    answer = cli(
        "run",
        "--from",
        str(site.folder / "profiles"),
        "capacity-step/reno",
        "--plot",
        "step.svg",
        cwd=tmp_path,
    )
    assert answer.code == 0, answer.stderr
    assert (tmp_path / "step.svg").stat().st_size > 1000


def test_a_pair_has_shares_and_harm(site: Site) -> None:
    found = site.profiles.coexistence
    assert found is not None and len(found.networks) == 2
    page = site.page("pair-reno-vegas.html")
    for network in found.networks:
        each = found.find(network, "reno", "vegas")
        assert each is not None and each.share is not None
        assert network.title in page
        assert f"{each.share.mean:.2f} ± " in page and f"{each.harm.mean:.2f} ± " in page
    assert "coexistence/coexist.html" in page


def test_pages_of_different_algorithms_have_different_names() -> None:
    names = Names(["aimd(increase=2)", "aimd(increase-2)", "b", "a"])
    files = [names.algorithm(label) for label in ("aimd(increase=2)", "aimd(increase-2)")]
    assert sorted(files) == ["cc-aimd-increase-2-2.html", "cc-aimd-increase-2.html"]
    assert names.pair("b", "a") == names.pair("a", "b") == "pair-a-b.html"
    assert names.pair("a", "aimd(increase=2)") != names.pair("a", "aimd(increase-2)")


def test_one_algorithm_has_no_pairs(tmp_path: Path) -> None:
    own = suite(tmp_path / "suite")
    league = ackclock.league(algorithms=["reno"], suites=[str(own)], replicates=1, out=tmp_path / "out")
    assert pairs(league) == ()
    write_site(league, profiles(league, tmp_path / "out"), tmp_path / "out", command="ackclock league")
    assert "Differences of pairs" not in (tmp_path / "out/index.html").read_text()
