"""`ackclock query`: SQL over what studies and other commands stored."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from helpers import cli

from ackclock.running.rows import prepare

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
    assert set(listed) == {"runs", "flows", "transfers", "datagrams", "meters", "links", "histograms"}
    assert {"topology.queue.limit", "goodput_bps", "replicate"} <= set(listed["runs"])
    assert "links: study, point" in cli("query", "--tables", "--store", out).stdout


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELEC 1", "it begins with SELECT, WITH, FROM, VALUES, SHOW, not with SELEC"),
        ("SELECT 1 FROM", "sql parser error"),
        ("", "give a query"),
        (" -- nothing", "it begins with SELECT"),
        ("SELECT * FROM run", "tables are runs, flows, transfers, datagrams, meters"),
        ("SELECT topology.rate FROM runs", 'quote column names that contain a dot: "topology.rate"'),
        ("SELECT nothing FROM runs", "nothing"),
    ],
)
def test_mistakes_in_sql_have_one_message(out: Path, sql: str, message: str) -> None:
    answer = cli("query", sql, "--store", out)
    assert answer.code == 2
    assert message in answer.stderr and "Traceback" not in answer.stderr
    assert answer.stderr.startswith("Usage") or len(answer.stderr.strip().splitlines()) == 1


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    answer = cli("query", "SELECT 1", "--store", tmp_path / "none")
    assert (answer.code, answer.stderr) == (2, f"error: {tmp_path / 'none'}: no such folder\n")
    assert not (tmp_path / "none").exists()
    answer = cli("query", "SELECT 1", "--store", tmp_path)
    assert answer.code == 2 and "is not a store: it contains no runs.sqlite" in answer.stderr
    answer = cli("query", "SELECT 1", cwd=tmp_path)
    assert answer.code == 2 and "has no results" in answer.stderr
    assert cli("query").code == 2


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE runs",
        "delete from runs where replicate = 1",
        "TRUNCATE TABLE runs",
        "INSERT INTO runs VALUES (1)",
        "UPDATE runs SET seed = 2",
        "CREATE TABLE more AS SELECT * FROM runs",
        "EXPLAIN SELECT * FROM runs",
        "/* only */ -- a look\nDROP TABLE runs",
        "WITH x AS (SELECT * FROM runs) DELETE FROM x",
    ],
)
def test_a_query_changes_nothing_and_says_so(out: Path, sql: str) -> None:
    answer = cli("query", sql, "--store", out)
    assert answer.code == 2 and answer.stdout == "" and "Traceback" not in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    if not sql.startswith("WITH"):
        assert "a query cannot change the store" in answer.stderr


@pytest.mark.parametrize(
    "source",
    [
        "read_csv('{path}')",
        "READ_CSV('{path}')",
        "\"read_csv\"('{path}')",
        "`read_csv`('{path}')",
        "read_csv /* ( */ ('{path}')",
        "read_csv -- (\n('{path}')",
        "read_parquet('{path}')",
        "read_ipc('{path}')",
        "read_json('{path}')",
        "read_ndjson('{path}')",
        "scan_csv('{path}')",
        "read_csv('none.csv')",
        "runs, read_csv('{path}')",
        "runs JOIN read_csv('{path}') r ON r.a = runs.seed",
        "(SELECT * FROM read_csv('{path}')) x",
    ],
)
def test_a_query_reads_no_file(out: Path, tmp_path: Path, source: str) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,secret\n")
    for sql in (f"SELECT * FROM {source}", f"FROM {source}", f"WITH x AS (SELECT * FROM {source}) FROM x"):
        answer = cli("query", sql.format(path=path), "--store", out)
        assert answer.code == 2 and answer.stdout == "", sql
        assert "a query reads no file, only the tables of the store" in answer.stderr
        assert len(answer.stderr.replace("\\n", "").strip().splitlines()) == 1


@pytest.mark.parametrize("source", ["'{path}'", '"{path}"', "scan('{path}')", "'{path}' x"])
def test_the_name_of_a_file_is_no_table(out: Path, tmp_path: Path, source: str) -> None:
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,secret\n")
    answer = cli("query", f"SELECT * FROM {source}".format(path=path), "--store", out)
    assert answer.code == 2 and answer.stdout == "" and "Traceback" not in answer.stderr


def test_texts_may_look_like_anything(out: Path) -> None:
    sql = "SELECT 'DROP TABLE runs; FROM read' AS x, count(*) AS runs FROM runs -- DELETE"
    (row,) = json.loads(cli("query", sql, "--store", out, "--json").stdout)
    assert row == {"x": "DROP TABLE runs; FROM read", "runs": 8}


def change(folder: Path, sql: str, *values: object) -> None:
    """Change the index behind the back of ackclock."""
    index = sqlite3.connect(folder / "runs.sqlite")
    with index:
        assert index.execute(sql, values).rowcount != 0
    index.close()


def change_signed(folder: Path, sql: str) -> None:
    """Change runs and their checksums, as another version of ackclock would have written them."""
    change(folder, sql)
    index = sqlite3.connect(folder / "runs.sqlite")
    prepare(index)
    columns = [row[1] for row in index.execute("PRAGMA table_info(runs)") if row[1] != "checksum"]
    with index:
        index.execute(f"UPDATE runs SET checksum = row_checksum({', '.join(columns)})")
    index.close()


COUNT = "SELECT count(*) AS runs FROM runs"


def test_runs_of_other_versions_are_left_out_unless_asked_for(out: Path) -> None:
    change_signed(out, "UPDATE runs SET version = '0.0.9+old' WHERE replicate = 1")
    answer = cli("query", COUNT, "--store", out, "--json")
    assert json.loads(answer.stdout) == [{"runs": 4}]
    assert answer.stderr == (
        "note: left out 4 of 8 runs of other versions of ackclock (0.0.9+old); --all-versions includes them\n"
    )
    for table in ("flows", "links", "histograms"):
        sql = f"SELECT count(DISTINCT version) AS versions FROM {table}"
        for more, versions in (((), 1), (("--all-versions",), 2)):
            found = json.loads(cli("query", sql, "--store", out, "--json", *more).stdout)
            assert found == [{"versions": versions}]
    answer = cli("query", COUNT, "--store", out, "--json", "--all-versions")
    assert json.loads(answer.stdout) == [{"runs": 8}] and answer.stderr == ""


def test_a_store_of_other_versions_alone_gives_no_empty_answer(out: Path) -> None:
    change_signed(out, "UPDATE runs SET version = '0.0.' || replicate")
    answer = cli("query", COUNT, "--store", out)
    assert answer.code == 2 and answer.stdout == ""
    assert "has no run of this version of ackclock" in answer.stderr
    assert "8 of others (0.0.0, 0.0.1); --all-versions includes them" in answer.stderr


@pytest.mark.parametrize(
    "damage",
    [
        "result_json = substr(result_json, 1, 100)",
        "result_json = ''",
        "result_json = 'null'",
        "result_json = '{}'",
        'result_json = \'{"summary": [], "flows": {}, "links": 1}\'',
        "histograms_json = '[{'",
    ],
)
def test_a_damaged_row_is_left_out_and_run_again(out: Path, damage: str) -> None:
    change(out, f"UPDATE runs SET {damage} WHERE rowid = (SELECT min(rowid) FROM runs)")
    for table in ("runs", "flows", "histograms"):
        sql = f"SELECT count(*) AS runs FROM (SELECT DISTINCT point, replicate FROM {table})"
        answer = cli("query", sql, "--store", out, "--json")
        assert json.loads(answer.stdout) == [{"runs": 7}]
        assert answer.stderr.startswith("note: left out 1 of 8 runs, whose rows are damaged (")
    study = out.parents[1] / "study.toml"
    assert "7 of them stored" in cli("study", study, "--out", out, "--plan").stdout
    assert cli("study", study, "--out", out).code == 0
    answer = cli("query", COUNT, "--store", out, "--json")
    assert json.loads(answer.stdout) == [{"runs": 8}] and answer.stderr == ""


def test_damaged_settings_are_named(out: Path) -> None:
    change(out, "UPDATE points SET settings_json = '{' WHERE point = 2")
    answer = cli("query", COUNT, "--store", out)
    assert answer.code == 2 and "the settings of point 2 of study study are damaged" in answer.stderr


def test_samples_that_are_cut_off_are_noticed(out: Path) -> None:
    path = sorted((out / "samples").glob("*-flows.parquet"))[0]
    whole = path.read_bytes()
    for size in (0, 3, 11, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        answer = cli("query", COUNT, "--store", out, "--json")
        assert json.loads(answer.stdout) == [{"runs": 8}]
        assert (
            answer.stderr.startswith("note: files of samples are missing or truncated")
            and path.name in answer.stderr
        )
    assert cli("study", out.parents[1] / "study.toml", "--out", out).code == 0
    assert path.read_bytes()[-4:] == b"PAR1" and cli("query", COUNT, "--store", out).stderr == ""
