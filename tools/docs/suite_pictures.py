"""Draws each environment of the suite `core` with CUBIC: docs/images/core/ENVIRONMENT.svg.

    python tools/docs/suite_pictures.py [ENVIRONMENT ...]

A picture shows congestion windows and smoothed RTTs over some seconds of one simulated run. The same version
draws the same bytes.
"""

import argparse
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import polars

import ackclock
from ackclock.evaluation.subject import Subject
from ackclock.evaluation.suite import Environment, Suite

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "images" / "core"
ALGORITHM = "cubic"
SAMPLES = 300
#: Lines of one group. More of them hide each other.
FLOWS_OF_A_GROUP = 4

#: The seconds of a picture. Other environments show ten seconds from the end of the warm-up.
SECONDS = 10
WINDOWS = {
    **dict.fromkeys(("slow-1", "slow-2", "slow-5"), (0, 130)),
    **dict.fromkeys(("fast-1", "fast-2", "fast-3", "fast-5"), (5, 8)),
    **dict.fromkeys(("newcomer", "newcomer-far"), (50, 110)),
    "departures": (35, 75),
    "unequal-rtt": (10, 40),
    "with-standard": (10, 40),
    "with-bbr3-shallow": (15, 40),
    "with-bbr3-deep": (15, 40),
    "with-cubic-shallow": (15, 40),
    "with-cubic-deep": (15, 40),
}

WIDTH, LEFT, RIGHT = 380, 34, 8
#: Top and height of the panels.
WINDOW, RTT = (22, 92), (136, 44)
HEIGHT = 212
COLOURS = ("blue", "orange", "green")
STYLE = (
    "svg{--ink:#1c2127;--soft:#5a626d;--rule:#e2e1dc;--paper:#fff;--blue:#0072b2;--orange:#d55e00;"
    "--green:#009e73;font:10px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e7e9ec;--soft:#a0a8b3;--rule:#31373f;--paper:#1b1f25;"
    "--blue:#56b4e9;--orange:#ff8a3d;--green:#2ecc9b}}"
    "rect{fill:var(--paper)}text{fill:var(--soft)}line{stroke:var(--rule)}"
    "polyline{fill:none;stroke-width:1.2;stroke-linejoin:round}"
    + "".join(
        f".{name}{{stroke:var(--{name})}}text.{name}{{fill:var(--{name});stroke:none}}" for name in COLOURS
    )
)

Points = Sequence[tuple[float, float]]


class Picture(NamedTuple):
    """The curves of a run between two times."""

    title: str
    begin: float
    end: float
    #: Windows in segments and RTTs in milliseconds: the lines of each group of flows.
    windows: dict[str, list[Points]]
    rtts: dict[str, list[Points]]

    def svg(self) -> str:
        """Return the picture as SVG that stands alone."""
        names = list(self.windows)
        legend = "".join(
            f'<text class="{COLOURS[at]}" x="{WIDTH - RIGHT - 76 * (len(names) - 1 - at)}" y="12" '
            f'text-anchor="end">{escape(name)}</text>'
            for at, name in enumerate(names)
        )
        panels = self._panel(self.windows, *WINDOW) + self._panel(self.rtts, *RTT)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f'<style>{STYLE}</style><rect width="{WIDTH}" height="{HEIGHT}"/>'
            f'<text x="{LEFT}" y="12">window, segments</text>{legend}'
            f'<text x="{LEFT}" y="{RTT[0] - 6}">smoothed RTT, ms</text>{panels}{self._times()}</svg>\n'
        )

    def _x(self, time: float) -> int:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (time - self.begin) / (self.end - self.begin))

    def _panel(self, groups: dict[str, list[Points]], top: int, height: int) -> str:
        """Return the lines of all groups, the base line, and the labels of zero and of the highest value."""
        base = top + height
        highest = max(value for lines in groups.values() for line in lines for _, value in line)
        axis = (
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>'
            f'<text x="{LEFT - 4}" y="{base}" text-anchor="end">0</text>'
            f'<text x="{LEFT - 4}" y="{top + 8}" text-anchor="end">{highest:.0f}</text>'
        )
        return axis + "".join(
            f'<polyline class="{colour}" points="{self._points(line, base, height / highest)}"/>'
            for colour, lines in zip(COLOURS, groups.values(), strict=False)
            for line in lines
        )

    def _points(self, line: Points, base: int, scale: float) -> str:
        """Return a line in whole pixels, without the inner points of level parts."""
        points = [(self._x(time), round(base - scale * value)) for time, value in line]
        levels = [level for _, level in points]
        inner = [
            0 < at < len(points) - 1 and levels[at - 1] == levels[at] == levels[at + 1]
            for at in range(len(points))
        ]
        return " ".join(f"{x},{y}" for (x, y), drop in zip(points, inner, strict=True) if not drop)

    def _times(self) -> str:
        ends = ((self.begin, "start"), (self.end, "end"))
        return "".join(
            f'<text x="{self._x(time)}" y="{HEIGHT - 8}" text-anchor="{anchor}">{time:g} s</text>'
            for time, anchor in ends
        )


def lines(samples: polars.DataFrame, value: str, scale: float) -> dict[str, list[Points]]:
    """Return the positive values of each flow over time, by group."""
    groups: dict[str, list[Points]] = {}
    for (flow,), part in samples.group_by("flow", maintain_order=True):
        points = [(1e-9 * time, scale * count) for time, count in part.select("time_ns", value).iter_rows()]
        points = [point for point in points if point[1] > 0]
        # Flow 2 of the group `test` is called `test.2`.
        group = groups.setdefault(str(flow).partition(".")[0], [])
        if points and len(group) < FLOWS_OF_A_GROUP:
            group.append(points)
    return {name: group for name, group in groups.items() if group}


def picture(environment: Environment, subject: Subject) -> Picture:
    """Return the picture of a run of an environment."""
    document = json.loads(environment.base.resolved_json)
    warm_up = float(document["warmup"].removesuffix(" s"))
    begin, end = WINDOWS.get(environment.id, (warm_up, warm_up + SECONDS))
    interval = f"sampling.interval={1e6 * (end - begin) / SAMPLES:.0f} us"
    samples = ackclock.run(environment.scenario(ALGORITHM, subject, [interval])).samples.flows
    shown = samples.filter((polars.col("time_ns") >= 1e9 * begin) & (polars.col("time_ns") <= 1e9 * end))
    # A transfer ends after some round trips, which is too short for a line.
    finite = [flow["name"] for flow in document["flows"] if flow["traffic"]["kind"] == "transfer"]
    shown = shown.filter(~polars.col("flow").cast(polars.String).str.replace(r"\..*", "").is_in(finite))
    return Picture(
        f"Windows and RTTs of {ALGORITHM.upper()} in {environment.id}",
        begin,
        end,
        lines(shown, "cwnd_segments", 1),
        lines(shown, "srtt_ns", 1e-6),
    )


def main() -> None:
    """Draw the pictures."""
    suite = Suite.load("core")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    known = [environment.id for environment in suite.environments]
    parser.add_argument("environments", nargs="*", metavar="ENVIRONMENT", help="default: all environments")
    chosen = parser.parse_args().environments
    if unknown := sorted({*chosen} - {*known}):
        parser.error(f"no environment is called {', '.join(unknown)}; there are {', '.join(known)}")
    for environment in suite.environments:
        if not chosen or environment.id in chosen:
            text = picture(environment, suite.subject).svg()
            (PICTURES / f"{environment.id}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
