"""A sparse flow behind FQ-CoDel: who shares its queue is read from a trace, and it waits there."""

import pytest

import sparse_flow
from sparse_flow import BOUND_MS, BULK, Waited, report, scenario, waited


def test_alone_it_hardly_waits() -> None:
    found = waited(scenario(), 0)
    assert found.beside == ()
    assert 0 < found.p50_ms < found.p99_ms < BOUND_MS


def test_beside_a_bulk_flow_it_waits_as_that_does() -> None:
    # The first replicate in which two flows collide.
    found = waited(scenario(), 122)
    assert found.beside == ("bulk.7",)
    assert found.p99_ms > found.p50_ms > 10 * BOUND_MS


def test_where_there_is_one_queue_all_share_it() -> None:
    assert waited(scenario(queues=1), 0).beside == tuple(f"bulk.{number}" for number in range(BULK))


def test_the_bound_is_of_those_that_are_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {0: Waited(0, (), 0.1, 0.2), 1: Waited(1, ("bulk.2",), 9.0, 30.0), 2: Waited(2, (), 0.1, 0.5)}
    monkeypatch.setattr(sparse_flow, "waited", lambda made, replicate: runs[replicate])
    assert (sparse_flow.main(["--count", "2"]), sparse_flow.main(["--count", "3"])) == (0, 1)
    assert "99th percentile at most 0.200 ms" in capsys.readouterr().out
    expected = "in the queue of a bulk flow: 1 of 1 replicates, 0.0 expected, 99th percentile 30.0 to 30.0 ms"
    assert report([runs[1]])[-1] == expected
