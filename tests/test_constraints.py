"""Constraints of Reddy et al., section 3.2, on any control."""

from __future__ import annotations

from typing import Any

import pytest

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.constraints import Linear, constraints, meets_printed


def failing(cc: dict[str, Any], **windows: float) -> set[str]:
    return {constraint.text for constraint in constraints(cc, **windows) if not constraint.holds}


def test_the_choice_of_the_paper_meets_what_it_prints_and_not_its_ten_per_cent() -> None:
    aimd = {"kind": "aimd", "increase": 1, "remaining": 0.8}
    aiad = {"kind": "aiad", "increase": 1, "removed": 3}
    assert meets_printed(aimd) and failing(aimd) == set()
    # 3 of 20 segments are 15 %.
    assert meets_printed(aiad) and failing(aiad) == {"AD <= 10 % of 20 segments"}
    # 3 of 12 segments are 25 %, of 30 they are 10 %.
    wide = {"kind": "aimd", "increase": 3, "remaining": 0.8}
    assert meets_printed(wide) and failing(wide) == {"AI <= 10 % of 12 segments"}
    assert failing(wide, increase_window=30) == set()


@pytest.mark.parametrize(
    ("cc", "expected"),
    [
        ({"kind": "aimd", "increase": 3.1, "remaining": 0.5}, {"AI <= 3", "AI <= 10 % of 12 segments"}),
        ({"kind": "aimd", "increase": 1, "remaining": 0.9}, {"MD < 0.9"}),
        ({"kind": "aiad", "increase": 1, "removed": 4}, {"AD <= 3", "AD <= 10 % of 20 segments"}),
        ({"kind": "mimd", "increase": 0.1, "remaining": 0.5}, {"MI > 0.1"}),
        ({"kind": "mimd", "increase": 0.11, "remaining": 0.5}, set()),
        ({"kind": "miad", "increase": 0.05, "removed": 1}, {"MI > 0.1"}),
    ],
)
def test_each_limit_fails_on_its_own(cc: dict[str, Any], expected: set[str]) -> None:
    assert failing(cc) == expected


def test_a_control_with_all_four_parts_has_all_constraints() -> None:
    cc = {
        "kind": "linear",
        "increase_add": 1.2,
        "increase_mul": 1.2,
        "decrease_add": -1.0,
        "decrease_mul": 0.8,
    }
    found = {constraint.text: constraint.value for constraint in constraints(cc)}
    assert found == pytest.approx(
        {
            "AI <= 3": 1.2,
            "AI <= 10 % of 12 segments": 0.1,
            "MI > 0.1": 0.2,
            "AD <= 3": 1.0,
            "AD <= 10 % of 20 segments": 0.05,
            "MD < 0.9": 0.8,
        }
    )


@pytest.mark.parametrize("name", ["aimd", "aiad", "mimd", "miad", "linear"])
def test_every_linear_control_of_the_library_is_known(name: str) -> None:
    assert Linear.of(Candidate.parse(name).resolved) is not None
    assert constraints(Candidate.parse(name).resolved)


def test_what_is_not_linear_has_none() -> None:
    assert constraints(Candidate.parse("cubic").resolved) == ()
