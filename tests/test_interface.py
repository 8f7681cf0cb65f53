"""What a notebook uses: processes, studies, queries, messages that name arguments, what is shown."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import polars
import pytest
from helpers import cli, without_cpu_time

import ackclock
from ackclock.metrics.quantities import number_of, with_numbers

STUDY: dict[str, Any] = {
    "name": "small",
    "replicates": 2,
    "grid": {
        "topology.queue.limit": ["5 packets", "10 packets", "25 packets", "100 packets"],
        "topology.rate": ["900 kbit/s", "2 Mbit/s"],
    },
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[ackclock.StudyResult, Path]:
    from helpers import TINY

    folder = tmp_path_factory.mktemp("study")
    (folder / "tiny.toml").write_text(TINY)
    table = {**STUDY, "scenario": str(folder / "tiny.toml")}
    return ackclock.study(table, out=folder / "out", workers=2), folder / "out"


# --- Processes ---


def test_results_can_be_sent_between_processes(tiny: Path) -> None:
    result = ackclock.run(tiny)
    again = pickle.loads(pickle.dumps(result))
    assert again.document == result.document
    assert again.scenario.hash == result.scenario.hash and again.scenario.name == "tiny"
    assert again.samples.flows.equals(result.samples.flows)
    assert again.scenario.with_sets(["flows.test.count=3"]).describe()["flows"][2]["name"] == "test.2"


def test_scenarios_can_be_run_by_a_pool_of_processes(tiny: Path) -> None:
    scenarios = [ackclock.Scenario.from_file(tiny, [f"flows.test.count={count}"]) for count in (1, 2)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        results = list(pool.map(ackclock.run, scenarios))
        failed = pool.submit(ackclock.run, tiny, sets=["flows.test.count=none"])
        with pytest.raises(ackclock.ScenarioError, match=r"^sets: flows\.test\.count=none"):
            failed.result()
        refused = pool.submit(ackclock.run, tiny, seed=-1)
        with pytest.raises(ackclock.ArgumentError, match=r"^seed: is -1"):
            refused.result()
    assert [len(result.flows) for result in results] == [1, 2]
    here = ackclock.run(scenarios[1])
    assert without_cpu_time(results[1].document) == without_cpu_time(here.document)


# --- Studies and queries ---


def test_a_study_gives_frames_with_units(study: tuple[ackclock.StudyResult, Path]) -> None:
    result, folder = study
    assert (result.name, result.seed, result.folder) == ("small", 1, folder)
    assert result.summary.height == 8 and result.runs.height == 16
    assert result.summary["topology.rate_bps"].unique().sort().to_list() == [9e5, 2e6]
    assert result.summary.sort("topology.queue.limit_packets")["topology.queue.limit"].to_list()[::2] == [
        "5 packets",
        "10 packets",
        "25 packets",
        "100 packets",
    ]
    assert {"goodput_bps", "goodput_bps_low", "goodput_bps_high"} <= set(result.summary.columns)
    assert {"replicate", "goodput_bps", "topology.rate_bps"} <= set(result.runs.columns)
    assert repr(result).startswith("StudyResult('small', 8 points, 16 runs, folder=")
    assert "goodput_bps" in result._repr_html_()
    assert pickle.loads(pickle.dumps(result)).summary.equals(result.summary)


def test_a_study_is_the_same_without_a_folder_and_with_one_worker(
    study: tuple[ackclock.StudyResult, Path], tiny: Path
) -> None:
    told: list[tuple[int, int]] = []
    made = ackclock.study(
        {**STUDY, "scenario": str(tiny)}, workers=1, progress=lambda *count: told.append(count)
    )
    assert made.folder is None and told[-1] == (16, 16)
    assert made.summary.equals(study[0].summary)


def test_a_study_file_is_that_of_the_command(tiny: Path, tmp_path: Path) -> None:
    file = tiny.with_name("study.toml")
    file.write_text('scenario = "tiny.toml"\n[grid]\n"topology.queue.limit" = ["5 packets", "20 kB"]\n')
    made = ackclock.study(file, replicates=2, samples="none")
    answer = cli("study", file, "--replicates", "2", "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    written = polars.read_parquet(tmp_path / "out" / "summary.parquet")
    assert written.equals(made.summary)
    assert written["topology.queue.limit_packets"].to_list() == [5, None]
    assert written["topology.queue.limit_bytes"].to_list() == [None, 20_000]


def test_sql_sorts_settings_by_their_numbers(study: tuple[ackclock.StudyResult, Path]) -> None:
    sql = (
        'SELECT "topology.queue.limit" AS buffer, count(*) AS runs FROM runs '
        'GROUP BY 1, "topology.queue.limit_packets" ORDER BY "topology.queue.limit_packets"'
    )
    found = ackclock.query(sql, study[1])
    assert found["buffer"].to_list() == ["5 packets", "10 packets", "25 packets", "100 packets"]
    assert found["runs"].to_list() == [4] * 4


def test_the_store_that_was_filled_last_is_asked(
    study: tuple[ackclock.StudyResult, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ackclock.AckclockError, match="has no results"):
        ackclock.query("SELECT 1")
    (tmp_path / "ackclock-out").mkdir()
    (tmp_path / "ackclock-out" / "study").symlink_to(study[1])
    assert ackclock.query("SELECT count(*) AS runs FROM runs").item() == 16


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10 packets", ("packets", 10)),
        ("64kB", ("bytes", 64_000)),
        ("1 KiB", ("bytes", 1024)),
        ("0.1 BDP", ("bdp", 0.1)),
        ("0.25 limit", ("limits", 0.25)),
        ("5.1 Mbit/s", ("bps", 5_100_000)),
        ("30 ms", ("s", 0.03)),
        ("1e3 us", ("s", 0.001)),
        ("2 h", ("s", 7200)),
        ("aimd", None),
        ("10", None),
        ("10 apples", None),
        (10, None),
    ],
)
def test_quantities_have_numbers(text: Any, number: tuple[str, float] | None) -> None:
    assert number_of(text) == number
    expected = ["key"] if number is None else ["key", f"key_{number[0]}"]
    assert list(with_numbers({"key": text})) == expected


# --- Messages ---


#: What Python does not check before it runs.
untyped: Any = ackclock


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda tiny: untyped.run(tiny, seed=-1), ValueError, "seed: is -1, but must be a whole number"),
        (lambda tiny: untyped.run(tiny, seed=2**63), ValueError, "seed: is 9223372036854775808"),
        (lambda tiny: untyped.run(tiny, seed=1.5), TypeError, "seed: is 1.5"),
        (lambda tiny: untyped.run(tiny, seed="1"), TypeError, "seed: is '1'"),
        (lambda tiny: untyped.run(tiny, seed=True), TypeError, "seed: is True"),
        (lambda tiny: untyped.run(tiny, replicate=-1), ValueError, "replicate: is -1"),
        (lambda tiny: untyped.run(tiny, sets="seed=2"), TypeError, "sets: is 'seed=2', but must be a list"),
        (lambda tiny: untyped.run(tiny, sets=[2]), TypeError, "sets: has 2, but must be a list of texts"),
        (lambda tiny: untyped.run(tiny, out=3), TypeError, "out: is 3, but must be the path"),
        (lambda tiny: untyped.run(3), TypeError, "scenario: is of type int"),
        (lambda tiny: untyped.Scenario.from_file(None), TypeError, "path: is None"),
        (lambda tiny: untyped.Scenario.from_dict([]), TypeError, "tree: is of type list"),
        (lambda tiny: untyped.study(3), TypeError, "file: is of type int"),
        (lambda tiny: untyped.study({}, replicates=0), ValueError, "replicates: is 0"),
        (lambda tiny: untyped.study({"scenario": str(tiny)}, workers=0), ValueError, "workers: is 0"),
        (lambda tiny: untyped.query(3), TypeError, "sql: is of type int"),
        (lambda tiny: untyped.query("SELECT 1", 3), TypeError, "store: is 3"),
        (lambda tiny: untyped.evaluate("aimd", seed=-1), ValueError, "seed: is -1"),
        (lambda tiny: untyped.evaluate("aimd", replicates=0), ValueError, "replicates: is 0"),
        (lambda tiny: untyped.evaluate("aimd", against="cubic"), TypeError, "against: is 'cubic'"),
        (lambda tiny: untyped.tune("aimd", seed=-1), ValueError, "seed: is -1"),
        (lambda tiny: untyped.tune("aimd", over="increase=1..2"), TypeError, "over: is 'increase=1..2'"),
        (lambda tiny: untyped.tune("aimd", over=["increase"]), ValueError, "over: 'increase': expected"),
        (lambda tiny: untyped.tune("aimd", budget="soon"), ValueError, "budget: 'soon': expected"),
        (lambda tiny: untyped.tune("cubic", constrained=True), ValueError, "constrained: cubic is no"),
    ],
)
def test_a_mistake_names_the_argument(
    tiny: Path, call: Callable[[Any], object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(ackclock.ArgumentError) as raised:
        call(tiny)
    assert isinstance(raised.value, kind)
    assert str(raised.value).startswith(message) and "--" not in str(raised.value)


def test_changes_are_called_by_the_name_of_their_argument(tiny: Path) -> None:
    for call in (
        lambda sets: ackclock.run(tiny, sets=sets),
        lambda sets: ackclock.Scenario.from_file(tiny, sets),
        lambda sets: ackclock.Scenario.from_file(tiny).with_sets(sets),
        lambda sets: ackclock.evaluate("aimd", sets=sets),
    ):
        with pytest.raises(ackclock.ScenarioError) as raised:
            call(["topolgy.rate=1 Mbit/s"])
        assert "sets: topolgy.rate=1 Mbit/s: " in str(raised.value) and "--set" not in str(raised.value)
    assert cli("run", tiny, "--set", "topolgy.rate=1").stderr.startswith("error: --set topolgy.rate=1: ")


def test_numbers_of_numpy_are_numbers(tiny: Path) -> None:
    numpy = pytest.importorskip("numpy")
    assert ackclock.run(tiny, seed=numpy.int64(3)).seed == 3
    scenario = ackclock.Scenario(
        duration="1 s",
        topology={"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
        flows=[{"name": "test", "cc": "aimd", "count": numpy.int64(2)}],
    )
    assert len(scenario.describe()["flows"]) == 2


# --- What is shown ---


def test_samples_say_what_they_hold(tiny: Path) -> None:
    result = ackclock.run(tiny)
    flows, links = result.samples.flows, result.samples.links
    assert repr(result.samples) == (
        f"Samples(flows: {flows.height} rows, {flows.width} columns; "
        f"links: {links.height} rows, {links.width} columns; 0 s to 8 s)"
    )


def test_numbers_in_a_notebook_have_units(tiny: Path) -> None:
    result = ackclock.run(tiny)
    html = result._repr_html_()
    goodput = f"{1e-6 * result.document['summary']['goodput_bps']:.4f}"
    assert f"<td>goodput</td><td>{goodput}</td><td>Mbit/s</td>" in html
    document = {**result.document, "summary": {**result.summary, "jain_index": None}}
    undefined = ackclock.RunResult(result.scenario, document, result.samples)
    assert "<td>Jain index</td><td>-</td><td>no flows</td>" in undefined._repr_html_()
