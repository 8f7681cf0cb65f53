"""The order of flows in a file, and flows that do nothing yet, are nobody's luck."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import polars
from helpers import cli

import ackclock

HEAD = """\
schema = 1
duration = "10 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
rate = "4 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "15 packets" }
loss = { kind = "bernoulli", probability = 1e-3 }
access = { rate = "20 Mbit/s", delay = "1 ms" }
[transport]
send_jitter = "1 packet"
"""
GROUPS = (
    'name = "a"\ncount = 2\ncc = "aimd"\nstart = { uniform = ["0 s", "1 s"] }\n',
    'name = "b"\ncc = "new-aimd"\nstart = { uniform = ["0 s", "1 s"] }\nrecovery = "newreno"\n',
    'name = "c"\ncount = 2\ncc = "aimd-fc+"\nrtt = { uniform = ["25 ms", "60 ms"] }\n',
)


def scenario_text(groups: tuple[str, ...]) -> str:
    return HEAD + "".join(f"[[flows]]\n{group}" for group in groups)


def flows_by_name(document: dict[str, Any]) -> dict[str, str]:
    """Return what each flow got, as the bytes that are printed; `id` is the position in the file."""
    return {
        flow["name"]: json.dumps({key: value for key, value in flow.items() if key != "id"})
        for flow in document["flows"]
    }


def test_permuted_flows_get_the_same_bytes(tmp_path: Path) -> None:
    seen = []
    for number, groups in enumerate(permutations(GROUPS)):
        path = tmp_path / f"{number}.toml"
        path.write_text(scenario_text(groups))
        answer = cli("run", path, "--json")
        assert answer.code == 0, answer.stderr
        seen.append(json.loads(answer.stdout))
    first = seen[0]
    assert len(flows_by_name(first)) == 5
    assert [flow["name"] for flow in seen[-1]["flows"]] == ["c.0", "c.1", "b", "a.0", "a.1"]
    for document in seen[1:]:
        assert flows_by_name(document) == flows_by_name(first)
        assert document["links"] == first["links"]
        assert document["summary"] == first["summary"]
        assert (document["events"], document["packets_forwarded"]) == (
            first["events"],
            first["packets_forwarded"],
        )


def test_a_flow_that_comes_late_changes_nothing_before(tmp_path: Path) -> None:
    late = 'name = "late"\ncc = "aimd"\nstart = "8 s"\n'
    alone, joined = (
        ackclock.run(_written(tmp_path / f"{len(groups)}.toml", groups)).samples.flows
        for groups in (GROUPS, (late, *GROUPS))
    )
    columns = ["time_ns", "flow", "cwnd_segments", "in_flight_segments", "phase"]
    assert set(columns) <= set(alone.columns), alone.columns

    def before(frame: polars.DataFrame) -> list[tuple[Any, ...]]:
        chosen = frame.filter((polars.col("time_ns") <= 8_000_000_000) & (polars.col("flow") != "late"))
        text = chosen.with_columns(polars.col("flow", "phase").cast(polars.String))
        return text.select(columns).sort("time_ns", "flow").rows()

    assert len(before(alone)) > 5 * 700
    assert before(joined) == before(alone)


def test_a_flow_without_data_changes_nothing_at_all(tmp_path: Path) -> None:
    # One packet, in the last millisecond: it cannot arrive.
    idle = 'name = "idle"\ncc = "aimd"\nstart = "9999 ms"\ntraffic = { kind = "transfer", size = "1 B" }\n'
    alone, joined = (
        flows_by_name(ackclock.run(_written(tmp_path / f"{len(groups)}.toml", groups)).document)
        for groups in (GROUPS, (idle, *GROUPS))
    )
    assert joined.pop("idle")
    assert joined == alone


def _written(path: Path, groups: tuple[str, ...]) -> Path:
    path.write_text(scenario_text(groups))
    return path
