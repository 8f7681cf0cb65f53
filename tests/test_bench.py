"""The tools that measure speed, on figures of which the answer is known."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from helpers import ROOT, cli

import backends
import commands
import instructions
import process
import speed_plot
import speed_tables
import statements
from backends import Measurement
from measured import Report, Row, Single, digits, ratio, spread
from workloads import TOPOLOGIES, WORKLOADS, Workload


def run(speed: float, **changes: float) -> Measurement:
    """A second of CPU time."""
    figures = {"simulated_s": 100, "packets": speed, "cpu_s": 1, "setup_cpu_s": 0.024, "wall_s": 1.2}
    return Measurement(**{**figures, "peak_mib": 1234, **changes})


@pytest.fixture
def report() -> Report:
    """As wide as a report gets."""
    rows = []
    for workload in WORKLOADS:
        for topology in TOPOLOGIES:
            row = Row(workload.name, topology)
            row.runs["ackclock"] = [run(speed, events=2.1 * speed) for speed in (10.7e6, 11.6e6, 12.5e6)]
            if workload.name == "S100000":
                row.runs["ackclock"] = [run(speed, events=3e5) for speed in (54e3, 55e3, 56e3)]
                row.not_run = {"ns-2": "> 60 s", "ns-3": "> 60 s"}
            elif workload.has_rivals:
                row.runs["ns-2"] = [run(speed, setup_cpu_s=26.18) for speed in (1.1e6, 1.2e6, 1.3e6)]
                row.runs["ns-3"] = [run(speed, simulated_s=1.5) for speed in (31e3, 33e3, 35e3)]
            rows.append(row)
    return Report("a machine", 3, rows, [Single("start of the command", "s", {"ackclock": [0.1, 0.12]})])


def test_a_cell_has_the_median_and_the_range() -> None:
    assert spread([7.7, 7.5, 7.6]) == "7.60 (7.50-7.70)"
    assert spread([0.0123]) == "0.012"
    assert spread([]) == "-"
    assert (digits(0.0), digits(1234.5), digits(31.4, 2)) == ("0", "1234", "31")


def test_a_ratio_is_of_medians_and_its_range_of_rounds() -> None:
    # Rounds: 8/2, 9/3, 4/1. Medians: 8 and 2.
    assert ratio([8, 9, 4], [2, 3, 1]) == "4.0 (3.0-4.0)"
    assert ratio([8, 9, 4], []) == "-"


def test_tables_fit_a_terminal(report: Report) -> None:
    assert all(table.for_terminal().fits(100) for table in speed_tables.tables(report))


def test_other_senders_have_a_table_of_their_own(report: Report) -> None:
    rows = {row[0]: row[1:] for row in speed_tables.senders(report).rows}
    assert rows["W1"] == ("11.6 (10.7-12.5)",) * 4 and "W1-BBRv3" not in rows
    assert all("linux" not in row[0] for row in speed_tables.speeds(report).rows)


def test_what_was_not_run_says_why(report: Report) -> None:
    shown = {row[0]: row for row in speed_tables.speeds(report).rows}
    assert shown["S100000 hosts"][2:] == ("> 60 s", "-", "> 60 s", "-")
    assert shown["W6"][2:] == ("-", "-", "-", "-")


def test_a_rival_that_fails_once_is_left_out() -> None:
    row = Row("W1", "routers")
    row.runs = {"ackclock": [run(2e6)], "ns-3": [run(1e6)]}
    row.leave_out("ns-3", "fails")
    assert speed_tables.speeds(Report("a machine", 1, [row], [])).rows[0][-2:] == ("fails", "-")


def test_a_report_can_be_read_back(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report


def test_the_page_is_renewed_between_its_marks(report: Report, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- speed -->\nold\n<!-- end of speed -->\nafter\n")
    for _ in range(2):
        speed_tables.write(page, report)
        text = page.read_text()
        assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
        assert text.count("| W1 | 11.6 (10.7-12.5) | 1.20 (1.10-1.30) |") == 1


def test_the_plot_is_the_same_for_the_same_report(report: Report, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        speed_plot.draw(report, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_workloads_have_a_round_trip_of_40_ms(workload: Workload) -> None:
    for topology in TOPOLOGIES:
        # The paths are those of few flows, too.
        small = workload.scenario(topology).with_sets(["flows.test.count=10"])
        flows = json.loads(small.describe_json())["flows"]
        assert {flow["base_rtt_s"] for flow in flows} == {0.04}


def test_a_process_within_its_budget() -> None:
    usage = process.measure([sys.executable, "-c", "print(sum(range(10**6)))"], 60)
    assert usage.stdout == "499999500000\n"
    assert 0 < usage.cpu_s < 60 and usage.wall_s > 0 and usage.peak_mib > 5


def test_a_process_that_uses_up_its_budget() -> None:
    with pytest.raises(process.OverBudget, match="more than 1 s of CPU time"):
        process.measure([sys.executable, "-c", "while True: pass"], 1)


def test_a_process_that_fails_says_its_last_words() -> None:
    with pytest.raises(process.Failed, match="status 3: no more"):
        process.measure(["sh", "-c", "echo no more >&2; exit 3"])


def test_the_history_knows_the_last_count_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [",".join(instructions.COLUMNS), "a,W1,2000.0,1", "a,W2,3000.0,1", "b,W1,1000.0,2"]
    (tmp_path / "history.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(instructions, "HISTORY", tmp_path / "history.csv")
    assert instructions.history() == {"W1": 1000.0, "W2": 3000.0}
    assert instructions.Count("W1", 900.0, 1000.0).change == "-10.0 %"
    assert instructions.Count("W1", 900.0, None).change == "-"


def test_without_valgrind_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["instructions.py"])
    instructions.main()
    assert capsys.readouterr().out.count("\n") == 1


def test_rivals_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    ready, missing = backends.available()
    assert list(ready) == ["ackclock"]
    assert [line.split(" is left out")[0] for line in missing] == ["ns-2", "ns-3"]


def test_the_committed_history_can_be_read() -> None:
    assert instructions.HISTORY == ROOT / "bench" / "history.csv"
    assert set(instructions.history()) <= set(instructions.TIMES)


def test_costs_of_the_engine_are_those_of_no_call_and_no_other_library() -> None:
    profile = """
positions: instr line
events: Ir
ob=(1) /lib/libc.so.6
fn=(1) malloc
0x10 5 7
ob=(2) /somewhere/_core.abi3.so
fl=(3) mod.rs
fn=(2) on_ack
0x10 5 4
+4 5 3
cob=(1)
cfn=(1)
calls=1 0x10
* 5 7
-4 6 1
ob=(1)
fn=(1)
* 5 7
"""
    assert statements.costs(profile.splitlines()) == {0x10: 5, 0x14: 3}


def test_the_engine_of_a_command_is_the_sum_over_its_runs(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f'scenario = "{tiny.name}"\nreplicates = 3\n')
    assert cli("study", file, "--out", tmp_path / "out").code == 0
    runs, engine_s = commands.stored(tmp_path)
    assert runs == 3 and engine_s > 0
    assert commands.Command("study", runs, 1.0, 4 * engine_s, engine_s).outside == 0.75


def test_the_page_about_memory_has_the_sizes_of_the_code() -> None:
    page = (ROOT / "docs" / "project" / "packet-memory.md").read_text(encoding="utf-8")
    code = (ROOT / "crates" / "ackclock" / "src" / "sim" / "sizes.rs").read_text(encoding="utf-8")
    sizes = re.findall(r'\("(\w+)", size_of.*, (\d+)\),', code)
    assert len(sizes) > 9
    assert re.findall(r"`(\w+)` \| (\d+) \|", page) == sizes
