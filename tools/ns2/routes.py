"""The ways of the flows over ns-2's links, and what the links are called in a scenario."""

import collections
import dataclasses

from setups import Sender, Setup

Ends = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Route:
    """The links that a sender's data cross, or its ACKs, in order."""

    flow: int
    links: tuple[Ends, ...]
    backward: bool = False

    def turned(self) -> "Route":
        """The other direction."""
        links = tuple((to, since) for since, to in reversed(self.links))
        return Route(self.flow, links, not self.backward)

    def names(self) -> list[str]:
        """What the links are called in the order of the data, with those in front of each end."""
        ends = f"source-{self.flow}", f"sink-{self.flow}"
        return [ends[0], *(name_of(link, self.backward) for link in self.links), ends[1]]

    def name_before(self, link: Ends) -> str:
        """The name of the link in front of `link`; in front of a flow's first link is one of no length."""
        place = self.links.index(link)
        if place > 0:
            return name_of(self.links[place - 1], self.backward)
        return f"sink-{self.flow}.reverse" if self.backward else f"source-{self.flow}"


def name_of(link: Ends, backward: bool) -> str:
    """What a link of ns-2 is called, by the direction of the data."""
    since, to = link
    return f"{to}-{since}.reverse" if backward else f"{since}-{to}"


def route(setup: Setup, sender: Sender) -> Route:
    """The only way from a sender to its sink."""
    ways: dict[int, tuple[Ends, ...]] = {sender.source: ()}
    reached = collections.deque([sender.source])
    while reached:
        node = reached.popleft()
        for since, to in setup.links:
            if since == node and to not in ways:
                ways[to] = (*ways[node], (since, to))
                reached.append(to)
    return Route(sender.flow, ways[sender.destination])
