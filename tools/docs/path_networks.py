"""The networks of a suite: chains of links, and groups of flows that use all of them or a part.

Environments with the same links, media and groups share one network. A link and its opposite belong to one
column of the chain. So do the links of stations that share a channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import path_texts
from ackclock.evaluation.subject import Subject
from ackclock.evaluation.suite import Suite
from path_scenarios import Paths, base, opposite


class Group(NamedTuple):
    """A group of flows."""

    name: str
    #: Its class in the style sheet: `candidate`, `flows` of a fixed algorithm, or `datagrams`.
    kind: str
    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    #: Whether it sends from the first column to the last, and the nodes where it enters and leaves the chain.
    forward: bool
    enters: int
    leaves: int


class Link(NamedTuple):
    """A link in one direction."""

    #: Its name, or nothing if the network has no other link.
    name: str
    rate: str
    delay: str
    queues: tuple[str, ...]
    #: Its medium, variations and impairments.
    traits: tuple[str, ...]
    #: The return path where it differs, and the access links.
    around: tuple[str, ...]
    is_wireless: bool


class Network(NamedTuple):
    """The paths of environments with the same structure."""

    environments: tuple[str, ...]
    groups: tuple[Group, ...]
    #: The number of links in the chain.
    columns: int
    #: Links by column and direction. True is forward.
    links: Mapping[tuple[int, bool], Link]
    #: Whether the queue of the bottleneck is under test.
    tests_queue: bool


def networks(suite: Suite) -> list[Network]:
    """Return the networks of a suite, in the order of their first environments.

    Raises:
        ValueError: if the links of an environment form no chain.
    """
    alike: dict[frozenset[tuple[Any, ...]], list[Paths]] = {}
    for paths in map(Paths.read, suite.environments):
        groups = ((name, "cc" in flow, paths.routes[name]) for name, flow in paths.flows.items())
        media = ((name, path_texts.medium(link)) for name, link in paths.links.items())
        alike.setdefault(frozenset((*groups, *media)), []).append(paths)
    return [_network(same, suite.subject) for same in alike.values()]


def _network(paths: Sequence[Paths], subject: Subject) -> Network:
    first = paths[0]
    directions = _directions(first.routes.values())
    columns = _columns(first, directions)
    groups = []
    for name, route in first.routes.items():
        is_candidate = name in subject.groups
        has_algorithm = "cc" in first.flows[name]
        at = sorted(columns[link] for link in route)
        group = Group(
            name=name,
            kind="candidate" if is_candidate else "flows" if has_algorithm else "datagrams",
            senders=path_texts.senders(paths, name, is_candidate),
            receivers=path_texts.receivers(paths, name),
            forward=directions[route[0]],
            enters=at[0],
            leaves=at[-1] + 1,
        )
        groups.append(group)
    count = max(columns.values()) + 1
    tests_queue = not subject.groups
    links = {
        (column, directions[name]): Link(
            name=base(name) if count > 1 else "",
            rate=path_texts.rates(paths, name),
            delay=path_texts.delays(paths, name),
            queues=path_texts.queues(paths, name, tests_queue),
            traits=path_texts.traits(paths, name),
            around=path_texts.around(paths, name),
            is_wireless=bool(path_texts.medium(first.links[name])),
        )
        for name, column in columns.items()
    }
    return Network(tuple(each.id for each in paths), tuple(groups), count, links, tests_queue)


def _directions(routes: Iterable[tuple[str, ...]]) -> dict[str, bool]:
    """Return whether each link leads forward. The first of the longest routes does."""
    found: dict[str, bool] = {}
    for route in sorted(routes, key=len, reverse=True):
        known = [found[link] for link in route if link in found]
        known += [not found[opposite(link)] for link in route if opposite(link) in found]
        found |= dict.fromkeys(route, known[0] if known else True)
    return found


def _columns(paths: Paths, directions: Mapping[str, bool]) -> dict[str, int]:
    """Return the column of each link."""
    segments = {link: paths.links[link].get("channel", base(link)) for link in sorted(directions)}
    ways = [
        [segments[link] for link in (route if directions[route[0]] else reversed(route))]
        for route in paths.routes.values()
    ]
    before: dict[str, set[str]] = {segment: set() for segment in segments.values()}
    for way in ways:
        for first, second in pairwise(way):
            before[second].add(first)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        order = []
    if not all(_is_part(way, order) for way in ways):
        raise ValueError(f"{paths.id}: its links form no chain; paths.py draws chains only")
    return {link: order.index(segment) for link, segment in segments.items()}


def _is_part(way: Sequence[str], order: Sequence[str]) -> bool:
    """Whether a path uses a part of the chain without a gap."""
    return way[0] in order and [*way] == [*order[order.index(way[0]) :][: len(way)]]
