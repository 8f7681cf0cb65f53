"""Queues of a kernel in simulated paths. They need a kernel that `make kernel` has built."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from helpers import ROOT, cli, require_kernel

EXAMPLE = ROOT / "examples" / "kernel-queue.toml"
PAGE = ROOT / "docs" / "queues" / "kernel.md"
PATH = ("--rate", "10 Mbit/s", "--rtt", "40 ms", "--duration", "20 s")
#: A random scenario uses the seed of the run with either queue.
RANDOM = ("--set", "transport.send_jitter=1 packet")


@pytest.fixture(autouse=True)
def _built() -> None:
    require_kernel()


def run(*arguments: str) -> dict[str, Any]:
    """Return the result of a run with the kernel."""
    answer = cli("run", *map(str, arguments), "--backend", "kernel", "--json")
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ('{ kind = "drop-tail", limit = "30 packets" }', "pfifo limit 30"),
        ('{ kind = "codel", control_law = "newton", limit = "1000 packets" }', "codel limit 1000 noecn"),
        (
            '{ kind = "fq-codel", variant = "linux", limit = "1000 packets", ecn = false }',
            "fq_codel limit 1000 noecn",
        ),
    ],
)
@pytest.mark.parametrize("flows", ["cubic*2,reno", "bbr"])
def test_tcp_loses_the_same_packets_in_both_queues(ours: str, theirs: str, flows: str) -> None:
    here, there = (
        run("--flows", flows, *PATH, *RANDOM, "--queue", queue)
        for queue in (ours, f'{{ kind = "kernel", tc = "{theirs}" }}')
    )
    assert here["flows"] == there["flows"]
    assert here["links"][0]["drops"] == there["links"][0]["drops"] == there["links"][0]["kernel_drops"]


def test_simulated_flows_cross_a_queue_of_the_kernel() -> None:
    mixed = run(str(EXAMPLE), "--set", "duration=10 s")
    assert mixed["links"][0]["kernel_drops"] == mixed["links"][0]["drops"] > 0
    assert all(flow["goodput_bps"] > 7e6 for flow in mixed["flows"])
    simulated = ("--set", "duration=10 s", "--set", "flows.kernel.stack=simulated")
    first, second = (run(str(EXAMPLE), *simulated) for _ in range(2))
    assert first["links"][0]["kernel_drops"] > 0
    assert first["flows"] == second["flows"] != mixed["flows"]


def test_a_queue_of_the_kernel_marks() -> None:
    marks = ("--set", "transport.ecn=classic", "--set", 'topology.queue.tc="fq_codel limit 1000 ecn"')
    found = run(str(EXAMPLE), "--set", "duration=10 s", "--set", "flows.simulated.cc=cubic", *marks)
    link = found["links"][0]
    assert link["kernel_marks"] == link["marks"] > 5 and link["drops"] == 0


def test_a_shaper_of_the_kernel_sets_the_rate() -> None:
    queue = '{ kind = "kernel", tc = "tbf rate 8mbit burst 15kb limit 60kb" }'
    found = run("--flows", "cubic", *PATH, "--queue", queue)
    assert 7.8e6 < found["flows"][0]["throughput_bps"] < 8.01e6


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--backend", "sim"], "queue of link bottleneck: the simulation has no queues of the kernel"),
        (
            ["--backend", "linux", "--set", "flows.simulated.stack=backend"],
            "queue of link bottleneck: a queue of the kernel needs --backend kernel",
        ),
        (
            ["--backend", "kernel", "--set", 'topology.queue.tc="fq_codl"'],
            "queue of link bottleneck: unknown discipline fq_codl; there are pfifo,",
        ),
        (
            ["--backend", "kernel", "--set", 'topology.queue.tc="pie target 15parsecs"'],
            "target 15parsecs: expected a time such as 15ms",
        ),
        (
            ["--backend", "kernel", "--set", 'topology.queue.tc="fq_codel flows 100000"'],
            'queue of link bottleneck: the kernel denies "fq_codel flows 100000": Invalid argument',
        ),
        (
            ["--set", 'topology.queue={kind="prio",class=[{queue={kind="kernel",tc="pfifo"}}]}'],
            "topology.queue.class: 0.queue.kind: a queue of the kernel cannot be inside another queue",
        ),
    ],
)
def test_a_wrong_queue_is_one_message(arguments: list[str], told: str) -> None:
    answer = cli("run", str(EXAMPLE), *arguments)
    assert answer.code == 2 and told in answer.stderr, answer.stderr


def test_every_command_line_of_the_page_runs() -> None:
    rows = re.findall(r"^\| `.*`.* \| `(.*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 9
    for line in rows:
        queue = f'topology.queue={{ kind = "kernel", tc = "{line}" }}'
        found = run(str(EXAMPLE), "--set", "duration=6 s", "--set", queue)
        assert found["summary"]["goodput_bps"] > 3e6, line


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("queue", "runs in a scenario with --backend kernel, not alone"),
        ("evaluate-queue", "an evaluation of queues is simulated, without queues of the kernel"),
    ],
)
def test_commands_for_simulated_queues_refuse_the_kernels(command: str, told: str) -> None:
    answer = cli(command, '{ kind = "kernel", tc = "pfifo" }')
    assert answer.code == 2 and told in answer.stderr
