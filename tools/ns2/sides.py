"""Runs a scenario in ns-2 and in ackclock, and gives their measures the same names."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ns2
from ackclock import _core
from scenario import arguments

Measures = dict[str, float]
# Runs at a time.
WORKERS = 2


def both(scenario: _core.Scenario, seeds: int, pool: ThreadPoolExecutor) -> tuple[list[Measures], ...]:
    """The measures of ns-2 and of ackclock, run by run."""
    return in_ns2(scenario, seeds, pool), in_ackclock(scenario, seeds, pool)


def in_ns2(scenario: _core.Scenario, seeds: int, pool: ThreadPoolExecutor) -> list[Measures]:
    """The measures of ns-2, run by run."""
    common = arguments(scenario)
    seeded = ({**common, "seed": ns2.seed(replicate)} for replicate in range(seeds))
    return list(pool.map(ns2.run, seeded))


def in_ackclock(scenario: _core.Scenario, seeds: int, pool: ThreadPoolExecutor) -> list[Measures]:
    """The measures of ackclock, run by run."""

    def run(replicate: int) -> Measures:
        return measures(json.loads(scenario.run(replicate=replicate).to_json()))

    return list(pool.map(run, range(seeds)))


def measures(run: dict[str, Any]) -> Measures:
    """The results of `ackclock run --json`, under the names of `dumbbell.tcl`."""
    bottleneck = next(link for link in run["links"] if link["name"] == "bottleneck")
    datagrams = run.get("datagrams", ())

    def total(key: str) -> float:
        return float(sum(flow[key] for flow in run["flows"]))

    return {
        "goodput_Bps": run["summary"]["goodput_bps"] / 8,
        "arrivals": bottleneck["arrivals"],
        "departures": bottleneck["forwarded"],
        "drops": bottleneck["drops"],
        "marks": bottleneck["marks"],
        "access_drops": total("access_drops"),
        "sent": total("sent"),
        "retransmits": total("retransmits"),
        "timeouts": total("timeouts"),
        "cbr_sent": float(sum(source["sent"] for source in datagrams)),
        "cbr_Bps": sum(source["delivered_bps"] for source in datagrams) / 8,
        "queue_delay_s": bottleneck["queue_delay_mean_s"],
        "utilization": bottleneck["utilization"],
        "cwnd_segments": total("cwnd_mean_segments") / len(run["flows"]),
        "jain": run["summary"]["jain_index"],
        "least_Bps": min(flow["goodput_bps"] for flow in run["flows"]) / 8,
        "most_Bps": max(flow["goodput_bps"] for flow in run["flows"]) / 8,
    }
