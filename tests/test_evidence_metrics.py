"""Metrics of random scenarios are those that an independent reader finds in a trace, and it can disagree."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any

import pytest

from ackclock.metrics.declared import METRICS
from metrics_evidence import NOT_READ, Comparison, answers_of, compare, document_of, lines, scenario_of
from random_scenarios import Tree
from reader import Answer, Found, LeftOut, Place

SEEDS = range(1, 13)


@cache
def tree(seed: int) -> Tree:
    return scenario_of(seed)


@cache
def answers(seed: int) -> dict[Place, Answer]:
    return answers_of(tree(seed))


@cache
def document(seed: int) -> dict[str, Any]:
    return document_of(tree(seed))


def differences(seed: int, changed: dict[str, Any]) -> list[str]:
    return [str(one) for one in compare(seed, changed, answers(seed)) if one.differs]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_metric_is_what_the_trace_says(seed: int) -> None:
    assert differences(seed, document(seed)) == []


def test_most_is_compared() -> None:
    table = lines(one for seed in SEEDS for one in compare(seed, document(seed), answers(seed)))
    compared = sum(line.compared for line in table.values())
    assert compared > 10 * sum(line.left_out.total() for line in table.values())
    assert min(table[f"flows {count}"].nonzero for count in ("lost", "copies", "corrupted", "acks_lost")) > 0


def test_every_metric_is_read_or_said_not_to_be() -> None:
    read = {(place[0], place[2]) for seed in SEEDS for place in answers(seed)}
    for of, metrics in METRICS.items():
        left_out = re.compile(NOT_READ.get(of, "(?!)"))
        for metric in metrics:
            assert ((of, metric) in read) != bool(left_out.fullmatch(metric)), f"{of} {metric}"


@pytest.mark.parametrize("count", ["sent", "arrived", "lost", "copies", "in_flight_start", "in_flight_end"])
def test_one_packet_more_is_noticed(count: str) -> None:
    changed = copy.deepcopy(document(1))
    changed["flows"][0][count] += 1
    name = changed["flows"][0]["name"]
    found = differences(1, changed)
    assert any(text.startswith(f"seed 1: flows {name} {count}: ") for text in found)
    assert any(text.startswith(f"seed 1: flows {name} conservation: ") for text in found)


def test_one_packet_more_is_noticed_in_the_summary() -> None:
    changed = copy.deepcopy(document(1))
    sent = sum(flow["sent"] for flow in changed["flows"])
    changed["summary"]["loss_rate"] += 1 / sent
    changed["summary"]["queue_delay_mean_s"] += 1e-6
    assert [text.split(":")[1] for text in differences(1, changed)] == [
        " summary loss_rate",
        " summary queue_delay_mean_s",
    ]


def test_a_value_on_one_side_only_is_a_difference() -> None:
    place = ("summary", "", "loss_rate")
    assert Comparison(1, place, None, Found(0.0)).differs
    assert Comparison(1, place, 0.0, Found(None)).differs
    assert not Comparison(1, place, None, Found(None)).differs
    assert not Comparison(1, place, 1.0, LeftOut("not seen")).differs
