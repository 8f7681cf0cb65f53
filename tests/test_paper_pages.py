"""Pages about papers say what was measured: results that are kept, and pages made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

from ackclock.reproduce import reproduce
from ackclock.reproduce.claims import claims_of
from ackclock.reproduce.paper import Paper, paper_names

FOLDER = ROOT / "tools" / "docs" / "papers"


def kept(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


@pytest.mark.parametrize("name", paper_names())
def test_every_paper_has_results_of_its_claims_as_they_are(name: str) -> None:
    """Where claims, tolerances or what is printed changed since, `make papers` has to be run."""
    document, paper = kept(name), Paper.load(name)
    now = {
        claim.id: (claim.statement, claim.printed, claim.region.text)
        for claim in claims_of(paper)
        if not any(grid.extended for grid in map(paper.grid, {grid for grid, _ in claim.cells(paper)}))
    }
    then = {each["id"]: (each["statement"], each["printed"], each["expected"]) for each in document["claims"]}
    assert now == then
    assert document["interpretations"] >= 50 or document["skipped"]


@pytest.mark.parametrize("name", paper_names())
def test_a_slice_is_measured_as_it_was(name: str, tmp_path: Path) -> None:
    """The same seed gives the same figures, to the last digit, on any machine."""
    then = kept(name)["slice"]
    assert then["measured"]
    made = reproduce(
        name, claims=list(then["measured"]), interpretations=1, replicates=then["replicates"], out=tmp_path
    )
    assert {each.claim.id: each.measured for each in made.verdicts} == then["measured"]
