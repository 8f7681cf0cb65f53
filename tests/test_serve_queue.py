"""A queue alone: `_core.serve_queue`, which comparisons with ns-3 use."""

import json

import pytest

from ackclock import _core

ARRIVALS = [(5, 1000, 1, False), (6, 1000, 1, False), (7, 1000, 1, False)]


def test_every_arrival_is_sent_or_dropped_at_its_time() -> None:
    queue = json.dumps({"kind": "drop-tail", "limit": "1 packet"})
    rows = _core.serve_queue(queue, 8_000_000, 1, ARRIVALS)
    assert rows == [(5, 0, "sent", ""), (7, 2, "dropped", "full"), (1_000_005, 1, "sent", "")]


def test_marks_say_why() -> None:
    queue = json.dumps({"kind": "codel", "ce_threshold": "1 us"})
    capable = [(at_ns, bytes_, flow, True) for at_ns, bytes_, flow, _ in ARRIVALS]
    rows = _core.serve_queue(queue, 8_000_000, 1, capable)
    assert [row[1:] for row in rows if row[2] == "marked"] == [
        (1, "marked", "ce_threshold"),
        (2, "marked", "ce_threshold"),
    ]


@pytest.mark.parametrize(
    ("queue", "rate_bps", "arrivals", "words"),
    [
        ({"kind": "codl"}, 8_000_000, ARRIVALS, "codl"),
        ({"kind": "codel", "interval": "1 us"}, 8_000_000, ARRIVALS, "interval: 1 us is out of range"),
        ({"kind": "codel"}, 0, ARRIVALS, "a rate is above zero"),
        ({"kind": "codel"}, 8_000_000, ARRIVALS[::-1], "in the order of their times"),
    ],
)
def test_what_cannot_be_served_is_a_value_error(
    queue: dict[str, str], rate_bps: int, arrivals: list[tuple[int, int, int, bool]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        _core.serve_queue(json.dumps(queue), rate_bps, 1, arrivals)
