"""The colours of flows on the live page and in reports, as people see them who are colour-blind."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from helpers import ROOT

from ackclock.page import STYLE
from ackclock.page.plots import COLOURS

CHARTS = (ROOT / "web" / "play" / "charts.js").read_text(encoding="utf-8")
#: Of reports, studies and pictures in notebooks.
PAGES = re.findall(r"--c\d: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLE)
PLACES = ("live page", "reports")
#: Linear RGB as it looks to people without one kind of cones: Machado, Oliveira & Fernandes 2009, A
#: physiologically-based model for simulation of color vision deficiency.
SIGHT = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ.sum(axis=1)
#: The figures' background, and the distance that colours have at the least; 2.3 can just be noticed.
PAPER = {"light": "#ffffff", "dark": "#1a2127"}
LEAST = 15.0


def colours(place: str, theme: str) -> list[str]:
    if place == "reports":
        return [pair[theme == "dark"] for pair in PAGES]
    found = re.search(rf"^  {theme}: (\[.*\]),$", CHARTS, re.MULTILINE)
    assert found is not None
    return re.findall(r"#[0-9a-f]{6}", found[1])


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: str) -> np.ndarray:
    seen = np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1)
    x, y, z = (np.cbrt(part) if part > 0.008856 else 7.787 * part + 16 / 116 for part in XYZ @ seen / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", PAPER)
@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("place", PLACES)
def test_no_two_flows_look_alike(place: str, theme: str, sight: str) -> None:
    assert len(colours(place, theme)) >= 6
    for one, other in itertools.combinations(colours(place, theme), 2):
        distance = np.linalg.norm(lab(one, sight) - lab(other, sight))
        assert distance >= LEAST, f"{one} and {other}: {distance:.1f}"


@pytest.mark.parametrize("theme", PAPER)
@pytest.mark.parametrize("place", PLACES)
def test_lines_stand_out_from_the_paper(place: str, theme: str) -> None:
    light = {colour: XYZ[1] @ linear(colour) for colour in (*colours(place, theme), PAPER[theme])}
    for colour in colours(place, theme):
        low, high = sorted((light[colour], light[PAPER[theme]]))
        # WCAG 2.2, 1.4.11: 3:1 for graphical objects.
        assert (high + 0.05) / (low + 0.05) >= 3, colour


def test_figures_of_matplotlib_have_the_same() -> None:
    assert list(COLOURS) == colours("reports", "light")
