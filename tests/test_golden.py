"""A faster engine gives the same results: hashes of a set of runs against those of the repository."""

from __future__ import annotations

import golden


def test_runs_give_the_results_that_they_gave() -> None:
    changed = golden.differences(golden.committed(), golden.measured())
    assert changed == [], "other results than before; if they are meant to differ: make golden\n" + "\n".join(
        changed
    )


def test_a_difference_is_named() -> None:
    old, new = {"same": "1", "other": "2", "gone": "3"}, {"same": "1", "other": "4", "more": "5"}
    assert golden.differences(old, new) == [
        "other: another result",
        "gone: no such run any more",
        "more: a new run",
    ]


def test_the_hash_is_of_results_and_not_of_names() -> None:
    (_, scenario), *_ = golden.scenarios()
    short = scenario.with_sets(["duration=2 s", "warmup=0 s"])
    assert golden.digest(short) == golden.digest(short.with_sets(["name=another"]))
    assert golden.digest(short) != golden.digest(short.with_sets(["duration=2001 ms"]))
