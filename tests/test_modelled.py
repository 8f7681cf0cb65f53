"""`ackclock run --backend model`: the synchronous model of a scenario, beside other backends."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import cli

import ackclock
from ackclock.synchronous.modelled import modelled

SCENARIO: dict[str, Any] = {
    "schema": 1,
    "name": "cell",
    "duration": "60 s",
    "warmup": "10 s",
    "topology": {
        "kind": "dumbbell",
        "rate": "12 Mbit/s",
        "delay": "20 ms",
        "queue": {"kind": "drop-tail", "limit": "40 packets"},
    },
    # 1500 B on the wire, 1 ms each: 40 packets are on the path.
    "transport": {"mss": "1460 B", "byte_counting": "uncapped"},
    "flows": [{"name": "test", "cc": "aimd"}],
}


def scenario(*sets: str, **keys: Any) -> ackclock.Scenario:
    return ackclock.Scenario.from_dict({**SCENARIO, **keys}, sets)


def test_a_flow_of_aimd_has_the_cycles_of_the_algebra() -> None:
    model = modelled(scenario())
    assert model.document["model"]["x_goal_segments"] == pytest.approx(80)
    assert model.document["model"]["left_out"] == ["slow start, loss recovery and timeouts"]
    (flow,) = model.document["flows"]
    # The window that passes 80 is 81, then 80.5, 80.25 ..., so that cycles come to be from 40 to 80; a
    # window of w lasts w ms, and the cut takes no step of its own.
    windows = [40 + step for step in range(41)]
    assert flow["congestion_events"] == pytest.approx(50 / (sum(windows) / 1000), abs=1)
    # The mean of w over time is that of w^2 over w.
    assert flow["cwnd_mean_segments"] == pytest.approx(sum(w * w for w in windows) / sum(windows), rel=0.01)
    assert flow["goodput_bps"] == pytest.approx(12e6 * 1460 / 1500, rel=1e-6)
    assert model.document["summary"]["utilization"] == pytest.approx(1)
    assert flow["rtt_min_s"] == pytest.approx(0.040, rel=1e-3)


def test_the_simulation_agrees_where_nothing_is_left_out() -> None:
    model, run = modelled(scenario()).document, ackclock.run(scenario()).document
    assert list(model["summary"]) == list(run["summary"])
    assert set(run["flows"][0]) - {"recovery", "ecn"} <= set(model["flows"][0])
    for key, within in (("goodput_bps", 0.01), ("cwnd_mean_segments", 0.05), ("rtt_mean_s", 0.05)):
        assert model["flows"][0][key] == pytest.approx(run["flows"][0][key], rel=within), key
    assert model["flows"][0]["congestion_events"] == pytest.approx(
        run["flows"][0]["congestion_events"], abs=3
    )


def test_flows_begin_and_end_at_their_times() -> None:
    flows = [
        {"name": "test", "cc": "aimd"},
        {"name": "late", "cc": "aimd", "start": "7 s", "stop": "31 s"},
        {"name": "later", "cc": "aimd", "start": "20 s"},
    ]
    model = modelled(scenario(flows=flows))
    late, later = model.windows["late"], model.windows["later"]
    rtt_s = 0.081
    assert 7 <= late[0][0] < 7 + rtt_s and 31 - rtt_s <= late[-1][0] < 31
    assert 20 <= later[0][0] < 20 + rtt_s and later[-1][0] > 60 - rtt_s
    # Until it comes, all is as if it never did.
    alone = modelled(scenario()).windows["test"]
    shared = model.windows["test"]
    until = [point for point in alone if point[0] < 7]
    assert shared[: len(until)] == until and shared[len(until) + 5] != alone[len(until) + 5]


def test_what_the_model_has_not_is_named() -> None:
    flows = [
        {"name": "test", "cc": "aimd"},
        {"name": "far", "cc": "aimd", "rtt": "80 ms"},
        {"name": "short", "cc": "aimd", "traffic": {"kind": "transfer", "size": "1 MB"}},
        {"name": "cbr", "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}},
    ]
    topology = {
        **SCENARIO["topology"],
        "queue": "codel",
        "loss": {"kind": "bernoulli", "probability": 0.001},
    }
    left_out = modelled(scenario(flows=flows, topology=topology)).document["model"]["left_out"]
    starts = [
        "slow start",
        "the queue (codel",
        "RTTs of 40 to 80 ms",
        "cbr: without",
        "the traffic of short",
        "impairments of bottleneck",
    ]
    assert len(left_out) == len(starts), left_out
    for start in starts:
        assert any(text.startswith(start) for text in left_out), (start, left_out)


def test_it_is_beside_others_in_one_table_and_one_drawing(tmp_path: Path) -> None:
    file, drawn = tmp_path / "cell.json", tmp_path / "windows.svg"
    file.write_text(json.dumps(SCENARIO), encoding="utf-8")
    options = ("--backend", "model", "--backend", "sim", "--set", "duration=20 s")
    answer = cli("run", file, *options, "--json", "--plot", drawn)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert [run["backend"] for run in document["runs"]] == ["model", "sim"] and document["valid"]
    rows = {(row["flow"], row["metric"]): row for row in document["differences"]}
    for key in ("cwnd_p05_segments", "cwnd_p95_segments", "congestion_events", "rtt_mean_s"):
        assert all(value is not None for value in rows["test", key]["values"].values()), key
    low, high = (rows["test", f"cwnd_p{part}_segments"]["values"]["model"] for part in ("05", "95"))
    assert 40 < low < 45 and 76 < high < 81
    assert "the model leaves out: slow start" in answer.stderr
    curves = re.findall(r'<path class="curve c\d" d="M([^"]*)"', drawn.read_text(encoding="utf-8"))
    # Two of the legend, two of windows.
    assert len(curves) == 4 and sum(curve.count("L") > 100 for curve in curves) == 2
    table = cli("run", file, *options, columns=80)
    assert "cwnd, 95 %" in table.stdout and max(map(len, table.stdout.splitlines())) <= 80
    alone = cli("run", file, "--backend", "model")
    assert alone.code == 0 and "goodput" in alone.stdout and "nothing sent" not in alone.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "flows.test.cc=cubic"), 'error: flows.test.cc: "cubic" is more than a window rule'),
        (("--pcap", "x.pcapng"), "error: the model has no packets"),
        (("--plot", "/nowhere/x.svg"), "error: --plot /nowhere/x.svg: the folder /nowhere does not exist"),
    ],
)
def test_what_the_model_cannot_is_one_line(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    file = tmp_path / "cell.json"
    file.write_text(json.dumps(SCENARIO), encoding="utf-8")
    answer = cli("run", file, "--backend", "model", *options, cwd=tmp_path)
    assert answer.code == 2 and answer.stderr.startswith(message) and answer.stderr.count("\n") == 1
