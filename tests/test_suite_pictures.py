"""The pictures of suites: the paths of each, and the windows of the environments of `core`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from xml.etree import ElementTree

import pytest
from helpers import ROOT

import described
import paths
import suite_pictures
from ackclock.evaluation.suite import Suite
from path_networks import networks
from spans import Quantity, span

CORE = Suite.load("core")
MOST_BYTES = 600_000
PATHS = ROOT / "docs/images/paths"
SVG = "{http://www.w3.org/2000/svg}"
#: Texts that are further apart do not touch.
LINE = 15


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


def test_every_suite_has_a_picture_of_its_paths_and_none_is_left_over() -> None:
    suites = {folder.parent.name for folder in (ROOT / "python/ackclock/suites").glob("*/suite.toml")}
    assert {file.stem for file in PATHS.glob("*.svg")} == suites == described.SUITES.keys()


@pytest.mark.parametrize(("name", "page"), described.SUITES.items())
def test_a_page_shows_the_paths_of_its_suite(name: str, page: str) -> None:
    text = (ROOT / f"docs/reference/suites/{page}.md").read_text(encoding="utf-8")
    shown = re.findall(rf"^!\[(.+)\]\(\.\./\.\./images/paths/{name}\.svg\)$", text, re.MULTILINE)
    assert len(shown) == 1
    assert shown[0].startswith(f"Paths of the suite {name},")


@pytest.mark.parametrize("name", described.SUITES)
def test_paths_contain_each_group_and_environment(name: str) -> None:
    suite = Suite.load(name)
    drawn = networks(suite)
    shown = [text for text, _ in texts(name)]
    ids = [environment for network in drawn for environment in network.environments]
    assert sorted(ids) == sorted(environment.id for environment in suite.environments)
    for network in drawn:
        assert {group.name for group in network.groups} <= set(shown)
        assert any(text.startswith(network.environments[0]) for text in shown)
    groups = [group for network in drawn for group in network.groups]
    assert {group.name for group in groups if group.kind == "candidate"} <= {*suite.subject.groups}


@pytest.mark.parametrize("name", described.SUITES)
def test_texts_of_paths_are_within_the_picture_and_do_not_touch(name: str) -> None:
    root = ElementTree.parse(PATHS / f"{name}.svg").getroot()
    places = [place for _, place in texts(name)]
    for left, right, y in places:
        assert 0 <= left < right <= paths.WIDTH and 12 <= y < float(root.attrib["height"])
    for (left, right, y), (other_left, other_right, other_y) in combinations(places, 2):
        assert abs(y - other_y) >= LINE or right <= other_left or other_right <= left, (left, y)


def texts(name: str) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """The texts of a picture of paths, each with its left and right end and its base line."""
    for element in ElementTree.parse(PATHS / f"{name}.svg").getroot().iter(f"{SVG}text"):
        text, x = element.text or "", float(element.attrib["x"])
        wide = paths.width(text, is_bold="bold" in element.attrib.get("class", ""))
        left = x - {"middle": wide / 2, "end": wide}.get(element.attrib.get("text-anchor", ""), 0)
        yield text, (left, left + wide, float(element.attrib["y"]))


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["20 Mbit/s"], "20 Mbit/s"),
        (["1 ms", "500 us"], "500 us or 1 ms"),
        (["1 BDP", "4 BDP", "0.25 BDP"], "0.25, 1 or 4 BDP"),
        (["1 BDP", "2 BDP", "8 BDP", "4 BDP"], "1 to 8 BDP"),
        (["0 s", "300 ms"], "0 or 300 ms"),
        (["0 bit/s"], "0 bit/s"),
        (["10000 packets", "0.5 BDP", "1 BDP"], "10000 packets, or 0.5 or 1 BDP"),
        (["999.99 kbit/s"], "1 Mbit/s"),
    ],
)
def test_values_that_differ_are_a_list_or_a_range(values: list[str], shown: str) -> None:
    assert span(map(Quantity.read, values)).replace("\u00a0", " ") == shown


def test_bounds_are_a_range() -> None:
    assert span(map(Quantity.read, ["8 ms", "204 ms"]), is_range=True).replace("\u00a0", " ") == "8 to 204 ms"
