"""`ackclock query`: SQL over what studies and other commands stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import cli

STUDY = """\
scenario = "tiny.toml"
replicates = 2

[grid]
"topology.queue.limit" = ["5 packets", "10 packets"]
"flows.test.cc.increase" = [1, 2]
"""


@pytest.fixture
def out(tiny: Path, tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    folder = tmp_path / "ackclock-out" / "study"
    answer = cli("study", tmp_path / "study.toml", "--out", folder)
    assert answer.code == 0, answer.stderr
    return folder


def test_settings_and_metrics_are_columns(out: Path) -> None:
    sql = (
        'SELECT "topology.queue.limit" AS buffer, "flows.test.cc.increase" AS increase, '
        "count(*) AS runs, avg(goodput_bps) AS goodput_bps FROM runs GROUP BY 1, 2 ORDER BY 1, 2"
    )
    answer = cli("query", sql, "--store", out, "--json")
    assert answer.code == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert [(row["buffer"], row["increase"], row["runs"]) for row in found] == [
        ("10 packets", 1, 2),
        ("10 packets", 2, 2),
        ("5 packets", 1, 2),
        ("5 packets", 2, 2),
    ]
    by_csv = cli("query", sql, "--store", out, "--csv").stdout.splitlines()
    assert by_csv[0] == "buffer,increase,runs,goodput_bps"
    assert float(by_csv[1].split(",")[3]) == found[0]["goodput_bps"]
    shown = cli("query", sql, "--store", out).stdout
    assert "goodput_bps" in shown and max(map(len, shown.splitlines())) <= 80


def test_quantities_carry_numbers_that_can_be_sorted_by(out: Path) -> None:
    sql = 'SELECT DISTINCT "topology.queue.limit", "topology.queue.limit_packets" FROM runs ORDER BY 2'
    rows = json.loads(cli("query", sql, "--store", out, "--json").stdout)
    assert [tuple(row.values()) for row in rows] == [("5 packets", 5), ("10 packets", 10)]
    assert cli("query", sql, "--store", out, "--csv").stdout.splitlines() == [
        "topology.queue.limit,topology.queue.limit_packets",
        "5 packets,5.0",
        "10 packets,10.0",
    ]
    header, first, *_ = (out / "summary.csv").read_text().splitlines()
    assert header.startswith("point,topology.queue.limit,topology.queue.limit_packets,flows.test.cc.increase")
    assert first.startswith("0,5 packets,5.0,1")


def test_all_columns_of_a_run_can_be_read(out: Path) -> None:
    shown = cli("query", "SELECT * FROM runs WHERE replicate = 0 AND point < 2", "--store", out).stdout
    lines = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line}
    assert lines["point"] == ["0", "1"] and lines["topology.queue.limit_packets"] == ["5", "5"]
    assert lines["flows.test.cc.increase"] == ["1", "2"]


def test_histograms_hold_every_packet_that_was_forwarded(out: Path) -> None:
    sql = (
        "SELECT h.packets, l.forwarded FROM "
        "(SELECT point, replicate, link, sum(packets) AS packets FROM histograms GROUP BY 1, 2, 3) h "
        "JOIN links l ON h.point = l.point AND h.replicate = l.replicate AND h.link = l.link"
    )
    rows = json.loads(cli("query", sql, "--store", out, "--json").stdout)
    # Four points, two replicates, two directions.
    assert len(rows) == 16
    assert all(row["packets"] == row["forwarded"] > 0 for row in rows)


def test_the_store_that_was_filled_last_is_the_default(out: Path) -> None:
    answer = cli("query", "SELECT count(*) AS runs FROM runs", "--json", cwd=out.parents[1])
    assert json.loads(answer.stdout) == [{"runs": 8}]
    assert "from ackclock-out/study" in answer.stderr


def test_results_of_other_commands_have_no_settings(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert cli("run", tiny, "--out", folder).code == 0
    (row,) = json.loads(cli("query", "SELECT * FROM flows LIMIT 1", "--store", folder, "--json").stdout)
    assert row["flow"] == "test.0" and row["study"] is None


def test_tables_are_listed_with_their_columns(out: Path) -> None:
    listed = json.loads(cli("query", "--tables", "--store", out, "--json").stdout)
    assert set(listed) == {"runs", "flows", "transfers", "datagrams", "links", "histograms"}
    assert {"topology.queue.limit", "goodput_bps", "replicate"} <= set(listed["runs"])
    assert "links: study, point" in cli("query", "--tables", "--store", out).stdout


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", "sql parser error"),
        ("SELECT * FROM run", "tables are runs, flows, transfers, datagrams, links"),
        ("SELECT topology.rate FROM runs", 'goes in quotes: "topology.rate"'),
        ("SELECT nothing FROM runs", "nothing"),
    ],
)
def test_mistakes_in_sql_have_one_message(out: Path, sql: str, message: str) -> None:
    answer = cli("query", sql, "--store", out)
    assert answer.code == 2
    assert message in answer.stderr and len(answer.stderr.strip().splitlines()) == 1


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    answer = cli("query", "SELECT 1", "--store", tmp_path / "none")
    assert answer.code == 2 and "is no store" in answer.stderr
    assert not (tmp_path / "none").exists()
    answer = cli("query", "SELECT 1", cwd=tmp_path)
    assert answer.code == 2 and "holds no results" in answer.stderr
    assert cli("query").code == 2
