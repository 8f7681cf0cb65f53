"""The routes of the flows over ns-2's links, and the names of these links in a scenario."""

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
        """The names of the links in the order of the data, with the links before each end."""
        ends = f"source-{self.flow}", f"sink-{self.flow}"
        return [ends[0], *(name_of(link, self.backward) for link in self.links), ends[1]]

    def name_before(self, link: Ends) -> str:
        """The name of the link before `link`. A link of zero length precedes a flow's first link."""
        place = self.links.index(link)
        if place > 0:
            return name_of(self.links[place - 1], self.backward)
        return f"sink-{self.flow}.reverse" if self.backward else f"source-{self.flow}"


def name_of(link: Ends, backward: bool) -> str:
    """The name of a link of ns-2, by the direction of the data."""
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
