"""The pictures of the environments of `core`."""

from __future__ import annotations

import re

import pytest

import suite_pictures
from ackclock.evaluation.suite import Suite

CORE = Suite.load("core")
MOST_BYTES = 600_000


def test_every_environment_has_a_picture_and_no_picture_is_left_over() -> None:
    files = {file.stem: file.stat().st_size for file in suite_pictures.PICTURES.glob("*.svg")}
    assert files.keys() == {environment.id for environment in CORE.environments}
    assert sum(files.values()) < MOST_BYTES


@pytest.mark.parametrize("name", ["fast-1", "newcomer", "short-flows"])
def test_a_picture_is_that_of_its_run(name: str) -> None:
    """A short picture, one with a newcomer, and one whose finite flows are left out."""
    (environment,) = (one for one in CORE.environments if one.id == name)
    drawn = suite_pictures.picture(environment, CORE.subject).svg()
    assert drawn == (suite_pictures.PICTURES / f"{name}.svg").read_text(encoding="utf-8")


def test_curves_stay_within_the_picture() -> None:
    for file in suite_pictures.PICTURES.glob("*.svg"):
        points = re.findall(r"(\d+),(\d+)(?=[ \"])", file.read_text(encoding="utf-8"))
        assert points
        assert all(int(x) <= suite_pictures.WIDTH and int(y) <= suite_pictures.HEIGHT for x, y in points)
