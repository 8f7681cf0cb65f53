"""Comparisons with the kernel: slow start of Linux in virtual time, and what the tools judge by."""

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "linux"
sys.path.append(str(TOOLS))

from helpers import require_kernel  # noqa: E402

import bbr_buffers  # noqa: E402
import emulations  # noqa: E402
import episodes  # noqa: E402
import fidelity  # noqa: E402
import shares  # noqa: E402
import slow_start  # noqa: E402
import suite_cells  # noqa: E402
from cells import CELLS, LONG  # noqa: E402

KNOWN, EXPLAINED = slow_start.known(), slow_start.explanations()
#: An explanation goes once the cell is inside.
CELLS_OF_SLOW_START = [
    pytest.param(
        cell,
        id=cell.name,
        marks=[pytest.mark.xfail(reason=EXPLAINED[cell], strict=True)] if cell in EXPLAINED else [],
    )
    for cell in KNOWN
]


@pytest.mark.parametrize("cell", CELLS_OF_SLOW_START)
def test_slow_start_is_that_of_linux(cell: slow_start.Cell) -> None:
    simulator, kernel = slow_start.measured(cell), KNOWN[cell]
    assert slow_start.outside(simulator, kernel) == [], f"{simulator}, Linux {kernel}"


def test_figures_of_slow_start_have_bounds() -> None:
    kernel = slow_start.Figures("hystart", 100.0, 40, 1.0)
    assert slow_start.outside(slow_start.Figures("hystart", 91.0, 49, 1.02), kernel) == []
    found = slow_start.outside(slow_start.Figures("loss", 89.0, 51, None), kernel)
    assert found == ["end", "ssthresh", "retransmits", "megabyte"]


@pytest.mark.parametrize(
    ("simulated", "linux", "verdict"),
    [
        ([100.0, 100.0], [102.0, 102.0], "inside"),
        ([100.0, 100.0], [104.0, 104.0], "outside"),
        ([100.0, 100.0], [98.0, 110.0], "undecided"),
        ([100.0], [110.0], "undecided"),
    ],
)
def test_a_measure_of_an_episode(simulated: list[float], linux: list[float], verdict: str) -> None:
    def runs(values: list[float]) -> list[episodes.Run]:
        return [episodes.Run({episodes.GOODPUT.name: value}, ()) for value in values]

    assert episodes.judge(episodes.GOODPUT, runs(simulated), runs(linux))["verdict"] == verdict


def test_a_figure_of_one_side_alone_is_outside() -> None:
    without, with_one = [episodes.Run({}, ())], [episodes.Run({episodes.EXIT.name: 20.0}, ())]
    assert episodes.judge(episodes.EXIT, without, with_one)["verdict"] == "outside"
    assert episodes.judge(episodes.EXIT, without, without)["verdict"] == "inside"


def test_rows_that_nobody_has_made_are_named(tmp_path: Path) -> None:
    names = [episode.title for episode in episodes.EPISODES]
    emulations.write(tmp_path / "found.json", "Linux", [], "cell", names, episodes.table)
    text = (tmp_path / "found.json").read_text(encoding="utf-8")
    assert text.count("not measured yet |") == len(names) == len(set(names))


def test_what_is_compared_is_what_runs_by_default() -> None:
    """AIMD(2, 0.8) is none of Linux's; the others are named, without parameters."""
    compared = [*(cell.cc for cell in (*CELLS, *LONG)), *(episode.cc for episode in episodes.EPISODES)]
    compared += [cc for pair in shares.PAIRS for cc in (pair.first, pair.second)]
    assert {str(cc) for cc in compared if cc != emulations.AIMD} == {"reno", "cubic", "new-aimd", "bbr1"}


@pytest.mark.parametrize("episode", episodes.EPISODES, ids=lambda episode: episode.title)
def test_episodes_are_scenarios(episode: episodes.Episode) -> None:
    assert episode.scenario().resolved["flows"][0]["cc"]["kind"] == episode.cc


def test_runs_in_virtual_time_all_count() -> None:
    """In real time, a third of the possible runs has to be valid."""
    virtual, real = emulations.Backend("kernel:6.12", ""), emulations.Backend("linux", "")
    assert (virtual.is_virtual, real.is_virtual) == (True, False)
    assert (virtual.wanted(3), real.wanted(3)) == (9, 3)
    assert len(virtual.jobs(fidelity.CELLS[0].scenario(), 3)) == 9


@pytest.mark.parametrize(
    ("off", "scatter", "verdict"), [(-0.9, 0.0, "inside"), (1.5, 0.6, "undecided"), (-1.5, 0.4, "outside")]
)
def test_a_verdict_allows_for_scatter(off: float, scatter: float, verdict: str) -> None:
    assert emulations.verdict(off, 1.0, scatter) == verdict


def test_fidelity_has_ten_cells_with_narrow_bounds() -> None:
    assert len({each.title for each in fidelity.CELLS}) == 10
    bounds = {measure.name: measure.bound for measure in fidelity.MEASURES}
    assert bounds == {"goodput, Mbit/s": 0.005, "mean cwnd, segments": 0.02, "recoveries": 0.1}


def test_shares_of_bbr1_over_the_buffer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require_kernel()
    short = ("topology.rate=10 Mbit/s", "duration=40 s", "warmup=10 s")
    monkeypatch.setattr(bbr_buffers, "SETS", short)
    assert bbr_buffers.main(["--buffers", "1", "--replicates", "1"]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    buffer, closed_form, *shares_of = (cell.strip() for cell in row.strip("|").split("|"))
    assert (buffer, closed_form) == ("1 BDP", "0.97")
    # BBRv1 takes most of a shallow buffer, in the simulator and in Linux.
    assert len(shares_of) == 2 and all(0.6 < float(share) < 1 for share in shares_of)


def test_environments_of_suites_agree_with_linux(capsys: pytest.CaptureFixture[str]) -> None:
    require_kernel()
    assert suite_cells.main(["wireless/handover=cubic", "--replicates", "1"]) == 0
    rows = [row.strip("|").split("|") for row in capsys.readouterr().out.splitlines()[2:]]
    assert [row[2].strip() for row in rows] == ["goodput Mbit/s", "queue ms", "loss %"]
    assert all(float(row[3]) > 0 and float(row[4]) > 0 for row in rows[:2])


def test_linux_gets_the_feedback_that_it_has() -> None:
    scenario = suite_cells.scenario_of("datacentre/short-beside-long", "dctcp")
    assert {flow["ecn"] for flow in scenario.resolved["flows"]} == {"dctcp"}


def test_a_missing_environment_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        suite_cells.main(["wireless/handovr=cubic"])
    assert ended.value.code == 2
    assert "no environment is called 'handovr'; did you mean 'handover'?" in capsys.readouterr().err
