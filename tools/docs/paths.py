"""Draws the paths of each suite: docs/images/paths/SUITE.svg, with a row for each network.

Groups of flows are on the left, links in the middle and receivers on the right. Traffic in the opposite
direction is drawn from right to left. `generate.py` writes the pictures, and pages of suites show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape

from ackclock.evaluation.suite import Suite
from path_networks import Group, Link, Network, networks

WIDTH, MARGIN = 760, 16
#: The widths of the columns of sources and receivers, by the number of links and of directions.
COLUMNS = {(1, 1): (200, 150), (1, 2): (184, 184), (2, 1): (190, 140), (2, 2): (152, 152)}
#: The same for longer chains.
LONG_CHAIN = (160, 96)
#: The space between a group or receiver and the outer link.
FAN = 40
FONT, LINE, GAP, PADDING = 12.5, 16, 10, 10
#: The height of the texts above a link, and the distance of the texts below it.
ABOVE, BELOW = 14, 24
#: The width of a queue, and of the space next to it.
QUEUE, BESIDE = 28, 6
LEGEND = {
    "candidate": "runs the candidate",
    "flows": "runs a fixed algorithm",
    "datagrams": "sends datagrams",
}
COLOURS = {"candidate": "blue", "flows": "orange", "datagrams": "green"}
#: Widths of characters in parts of the font size. Others have 0.64 of it.
_WIDTHS = {
    "ijlI'": 0.29,
    " \u00a0.,:/|": 0.34,
    "-frt()": 0.41,
    "csxzvykF": 0.58,
    "ABCDGHKNOQRTUVX": 0.78,
    "mwMW%+\u00d7\u2026": 0.98,
}
STYLE = (
    "svg{--ink:#1c2127;--soft:#5a626d;--rule:#e2e1dc;--paper:#fff;--wire:#8b939e;--blue:#0072b2;"
    "--orange:#b84f00;--green:#007a59;--red:#b3261e;font:12.5px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e7e9ec;--soft:#a0a8b3;--rule:#31373f;--paper:#1b1f25;"
    "--wire:#737c88;--blue:#56b4e9;--orange:#ff8a3d;--green:#2ecc9b;--red:#ff8078}}"
    "text{fill:var(--ink)}.soft{fill:var(--soft)}.bold{font-weight:600}.trait{fill:var(--red)}"
    ".paper{fill:var(--paper)}.rule{stroke:var(--rule)}.node{fill:var(--paper);stroke:var(--ink);stroke-width:1.5}"
    ".wire{stroke:var(--wire);stroke-width:8;fill:none}.air{stroke-dasharray:9 5}"
    ".head{fill:var(--wire)}.queue{fill:none;stroke:var(--ink)}.packets{fill:var(--ink)}"
    ".tested{stroke:var(--blue)}.tested.packets{fill:var(--blue)}"
    + "".join(
        f".{kind} rect{{fill:var(--{colour});fill-opacity:.12;stroke:var(--{colour});stroke-width:1.5}}"
        f".{kind} path{{fill:none;stroke:var(--{colour});stroke-width:2}}"
        f".{kind} circle{{fill:var(--paper);stroke:var(--{colour});stroke-width:2}}"
        for kind, colour in COLOURS.items()
    )
)


def width(text: str, *, is_bold: bool = False) -> float:
    """Return the width of a text in pixels, in a font that is wider than most."""
    wide = sum(next((size for names, size in _WIDTHS.items() if one in names), 0.64) for one in text)
    return FONT * wide * (1.11 if is_bold else 1)


def wrapped(items: Sequence[str], room: float, first: float = 0, *, is_bold: bool = False) -> list[str]:
    """Return texts as lines with commas between them, the first line with less room by `first` pixels.

    A text that fits a line is not broken.
    """
    words = [
        word
        for item in [*(f"{item}," for item in items[:-1]), *items[-1:]]
        for word in ([item] if width(item, is_bold=is_bold) <= room - first else item.split(" "))
    ]
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} {word}" if lines else ""
        most = room - (first if len(lines) == 1 else 0)
        if longer and width(longer, is_bold=is_bold) <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _text(x: float, y: float, text: str, anchor: str = "start", style: str = "") -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.0f}" y="{y:.0f}"{place}>{escape(text)}</text>'


class Block:
    """The groups and links of one direction of a network, below a height.

    Places assume traffic from left to right. The opposite direction is the mirror image.
    """

    def __init__(self, network: Network, forward: bool, top: float, columns: tuple[int, int]) -> None:
        self.forward = forward
        self.columns = ends = network.columns
        self.anchor = "start" if forward else "end"
        self.tests_queue = network.tests_queue
        self.left, self.right = columns
        self.spacing = (WIDTH - 2 * MARGIN - self.left - self.right - 2 * FAN) / ends
        own = [group for group in network.groups if group.forward is forward]
        self.through = [group for group in own if (group.enters, group.leaves) == (0, ends)]
        self.partial = [group for group in own if group not in self.through]
        self.partial.sort(key=lambda group: (group.enters, group.leaves))
        self.links = [
            network.links.get((column if forward else ends - 1 - column, forward)) for column in range(ends)
        ]
        above = max(len(self._above(link)) for link in self.links if link)
        below = max(len(self._below(link)) for link in self.links if link)
        stack = sum(map(self._height, self.through)) + GAP * max(len(self.through) - 1, 0)
        #: The height of the links.
        self.level = top + max(stack / 2, LINE * above + ABOVE - 6)
        self.stack_top = self.level - stack / 2
        self.lanes_top = GAP + max(self.level + stack / 2, self.level + BELOW + LINE * (below - 1) + 4)
        self.bottom = self.lanes_top + sum(self._height(group) + GAP for group in self.partial) - GAP

    # Places

    def _node(self, at: int) -> float:
        """Return the place of a node. The first and the last one are the ends of the chain."""
        return MARGIN + self.left + FAN + at * self.spacing

    def _x(self, x: float) -> float:
        return x if self.forward else WIDTH - x

    def nodes(self) -> list[float]:
        """Return the places of the nodes from left to right."""
        return sorted(self._x(self._node(at)) for at in range(self.columns + 1))

    # Texts

    def _senders(self, group: Group) -> list[str]:
        return wrapped(group.senders, self.left - 2 * PADDING)

    def _receivers(self, group: Group) -> list[str]:
        room = self.right if group.leaves == self.columns else self.spacing - FAN
        return [line for text in group.receivers for line in wrapped([text], room - 16)]

    def _height(self, group: Group) -> float:
        return LINE * max(1 + len(self._senders(group)), len(self._receivers(group))) + 10

    def _above(self, link: Link) -> list[str]:
        """Return the lines above a link. The name is the first one, if it has one."""
        room = self.spacing - 20
        texts = [text for text in (link.rate, link.delay) if text]
        if width(", ".join(texts), is_bold=True) <= room:
            texts = [", ".join(texts)]
        names = [link.name] if link.name else []
        return names + [line for text in texts for line in wrapped([text], room, is_bold=True)]

    def _below(self, link: Link) -> list[tuple[str, str]]:
        """Return the lines below a link with their styles. The first one stands next to a queue."""
        room = self.spacing - 26
        queue = [(line, "") for line in wrapped(link.queues, room, QUEUE + BESIDE)]
        traits = [(line, "trait") for text in link.traits for line in wrapped([text], room)]
        around = [line for text in link.around for line in wrapped(text.split(", "), room)]
        return queue + traits + [(line, "soft") for line in around]

    # Drawing

    def svg(self) -> Iterator[str]:
        """Yield the parts of the drawing."""
        y = self.stack_top
        for group in self.through:
            height = self._height(group)
            middle = y + height / 2
            yield self._ends(group, middle, MARGIN, self._node(self.columns) + FAN)
            y += height + GAP
        y = self.lanes_top
        for group in self.partial:
            yield self._lane(group, y + self._height(group) / 2)
            y += self._height(group) + GAP
        for at, link in enumerate(self.links):
            if link:
                yield from self._link(link, at)

    def _curve(self, x: float, y: float, to_x: float, to_y: float) -> str:
        """Return a curve that starts and ends level."""
        points = ((x + FAN / 2, y), (to_x - FAN / 2, to_y), (to_x, to_y))
        return f"M{self._x(x):.0f} {y:.0f}C" + " ".join(f"{self._x(at):.0f} {up:.0f}" for at, up in points)

    def _ends(self, group: Group, middle: float, source: float, sink: float, paths: str = "") -> str:
        """Return the source and the receivers of a group, joined to the chain by curves or by `paths`."""
        first, last = self._node(group.enters), self._node(group.leaves)
        x, out = self._x, source + self.left
        paths = paths or (
            self._curve(out, middle, first, self.level) + self._curve(last, self.level, sink, middle)
        )
        senders, receivers = self._senders(group), self._receivers(group)
        height = LINE * (1 + len(senders)) + 10
        left = source if self.forward else WIDTH - source - self.left
        top = middle - height / 2
        parts = [
            f'<g class="{group.kind}"><path d="{paths}"/>',
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{self.left}" height="{height:.0f}" rx="9"/>',
            f'<circle cx="{x(sink):.0f}" cy="{middle:.0f}" r="5"/></g>',
            _text(left + PADDING, top + 17, group.name, style="bold"),
        ]
        parts += [_text(left + PADDING, top + 17 + LINE * line, text) for line, text in enumerate(senders, 1)]
        first_line = middle - LINE * (len(receivers) - 1) / 2 + 4
        parts += [
            _text(x(sink + 12), first_line + LINE * line, text, self.anchor, "soft")
            for line, text in enumerate(receivers)
        ]
        return "".join(parts)

    def _lane(self, group: Group, middle: float) -> str:
        """Return a group that uses a part of the chain, in a lane below it."""
        first, last = self._node(group.enters) - 4, self._node(group.leaves) + 4
        source = MARGIN if group.enters == 0 else self._node(group.enters) - FAN / 2 - self.left
        sink = self._node(group.leaves) + FAN / (1 if group.leaves == self.columns else 2)
        x = self._x
        paths = (
            f"M{x(source + self.left):.0f} {middle:.0f}H{x(first):.0f}V{self.level:.0f}"
            f"M{x(last):.0f} {self.level:.0f}V{middle:.0f}H{x(sink):.0f}"
        )
        return self._ends(group, middle, source, sink, paths)

    def _link(self, link: Link, at: int) -> Iterator[str]:
        start, end, x, level = self._node(at), self._node(at + 1), self._x, self.level
        air = " air" if link.is_wireless else ""
        yield f'<path class="wire{air}" d="M{x(start):.0f} {level:.0f}H{x(end - 18):.0f}"/>'
        yield (
            f'<path class="head" d="M{x(end - 20):.0f} {level - 9:.0f}L{x(end - 6):.0f} {level:.0f}'
            f'L{x(end - 20):.0f} {level + 9:.0f}z"/>'
        )
        above = self._above(link)
        for line, text in enumerate(reversed(above)):
            style = "soft" if link.name and line == len(above) - 1 else "bold"
            yield _text(x((start + end) / 2), level - ABOVE - LINE * line, text, "middle", style)
        for line, (text, style) in enumerate(self._below(link)):
            indent = 14 if line else 14 + QUEUE + BESIDE
            yield _text(x(start + indent), level + BELOW + LINE * line, text, self.anchor, style)
        yield self._queue_glyph(x(start + 14), level + BELOW - 11)

    def _queue_glyph(self, x: float, y: float) -> str:
        """Return a queue with two packets at its front."""
        left = x if self.forward else x - QUEUE
        full = (14, 21) if self.forward else (0, 7)
        tested = " tested" if self.tests_queue else ""
        slots = "".join(f"M{left + at:.0f} {y:.0f}v12" for at in (7, 14, 21))
        packets = "".join(f"M{left + at + 1.5:.1f} {y + 1.5:.1f}h4v9h-4z" for at in full)
        return (
            f'<path class="queue{tested}" d="M{left:.0f} {y:.0f}h28v12h-28z{slots}"/>'
            f'<path class="packets{tested}" d="{packets}"/>'
        )


def _heading(environments: Sequence[str]) -> str:
    """Return all ids, or the first, the last and their number where there is no space for all."""
    all_of_them = ", ".join(environments)
    if width(all_of_them, is_bold=True) <= WIDTH - 2 * MARGIN:
        return all_of_them
    return f"{environments[0]} \u2026 {environments[-1]} ({len(environments)} environments)"


def _row(network: Network, top: float) -> tuple[str, float]:
    """Return the drawing of a network, and its lower end."""
    parts = [_text(MARGIN, top + LINE, _heading(network.environments), style="bold soft")]
    directions = sorted({group.forward for group in network.groups}, reverse=True)
    columns = COLUMNS.get((network.columns, len(directions)), LONG_CHAIN)
    bottom, blocks = top + LINE + 4, []
    for forward in directions:
        block = Block(network, forward, bottom + GAP, columns if forward else columns[::-1])
        blocks.append(block)
        bottom = block.bottom
    for block in blocks:
        parts += block.svg()
    first, last = blocks[0].level - 9, blocks[-1].level + 9
    parts += [
        f'<rect class="node" x="{x - 6:.0f}" y="{first:.0f}" width="12" height="{last - first:.0f}" rx="3"/>'
        for x in blocks[0].nodes()
    ]
    return "".join(parts), bottom


def _legend(drawn: Sequence[Network], y: float) -> str:
    """Return the meaning of colours and lines, as far as they occur."""
    kinds = {group.kind for network in drawn for group in network.groups}
    links = [link for network in drawn for link in network.links.values()]
    x, parts = float(MARGIN), []

    def entry(glyph: str, text: str, wide: int) -> None:
        nonlocal x
        parts.append(f"{glyph}{_text(x + wide + 6, y, text, style='soft')}")
        x += wide + 6 + width(text) + 16

    for kind, text in LEGEND.items():
        if kind in kinds:
            box = f'<g class="{kind}"><rect x="{x:.0f}" y="{y - 10:.0f}" width="20" height="12" rx="4"/></g>'
            entry(box, text, 20)
    if any(link.is_wireless for link in links):
        entry(f'<path class="wire air" d="M{x:.0f} {y - 4:.0f}h37"/>', "wireless link", 37)
    return "".join(parts)


@cache
def _drawn(suite: str) -> list[Network]:
    return networks(Suite.load(suite))


def picture(suite: str) -> str:
    """Return the picture of a suite as SVG that stands alone."""
    drawn, bottom = _drawn(suite), 0.0
    parts: list[str] = []
    for network in drawn:
        if parts:
            parts.append(f'<path class="rule" d="M{MARGIN} {bottom + 14:.0f}H{WIDTH - MARGIN}"/>')
        row, bottom = _row(network, bottom + (16 if parts else 4))
        parts.append(row)
    height = round(bottom + 40)
    parts.append(_legend(drawn, bottom + 26))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(alt(suite))}">'
        f'<style>{STYLE}</style><rect class="paper" width="{WIDTH}" height="{height}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def alt(suite: str) -> str:
    """Return the alternative text of the picture of a suite."""
    groups = [group for network in _drawn(suite) for group in network.groups]
    names = ", ".join(dict.fromkeys(group.name for group in groups))
    links = max(network.columns for network in _drawn(suite))
    over = "one link" if links == 1 else f"up to {links} links"
    return f"Paths of the suite {suite}, over {over}, with the groups of flows {names}"


def markdown(suite: str) -> str:
    """Return the line of a page of suites that shows the picture."""
    return f"![{alt(suite)}](../../images/paths/{suite}.svg)"
