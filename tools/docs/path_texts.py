"""The texts of a picture of paths, for links and groups of all environments with the same structure.

A text shows values that differ between environments as a list or range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from path_scenarios import Paths, Table, opposite
from spans import JOIN, Quantity, listed, span

_DOCS = Path(__file__).resolve().parents[2] / "docs"

#: Media that a varying rate stands for.
_MEDIA = {"lte": "LTE", "leo": "low-orbit satellite", "wifi": "Wi-Fi"}
#: Words for traffic. Another kind is its own word.
_TRAFFIC = {
    "rate-limited": "at most",
    "transfer": "transfer of",
    "arrivals": "flow arrivals",
    "page": "page loads",
    "abr": "streaming",
    "video": "video call",
    "rtp": "datagrams at",
    "cbr": "datagrams at",
    "on-off": "bursts at",
    "population": "varying in number",
}
#: The traffic whose word is followed by the value of a key.
_VALUE = {"rate-limited": "rate", "transfer": "size", "rtp": "rate", "cbr": "rate", "on-off": "rate"}


class Trait(NamedTuple):
    """A property of a link or of traffic: a word, which values may follow."""

    word: str
    values: tuple[Quantity, ...] = ()
    is_range: bool = False


@cache
def _title(folder: str, name: str) -> str:
    """Return the name of an algorithm or queue as the heading of its page writes it."""
    page = _DOCS / folder / f"{name}.md"
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    return next((line[2:].partition(":")[0] for line in lines if line.startswith("# ")), name)


def _merged(traits: Sequence[Sequence[Trait]]) -> tuple[str, ...]:
    """Return the traits of all environments as texts. A trait of some environments carries their number."""
    found: dict[str, list[Trait]] = {}
    for trait in (trait for each in traits for trait in each):
        found.setdefault(trait.word, []).append(trait)
    texts = []
    for word, same in sorted(found.items(), key=lambda item: -len(item[1])):
        values = span((value for trait in same for value in trait.values), is_range=same[0].is_range)
        texts.append(f"{word} {values}".strip() + _some(len(same), len(traits)))
    return tuple(texts)


def _some(part: int, number: int) -> str:
    """Return how many environments a text describes, or nothing if it describes all."""
    return f" ({part}{JOIN}of{JOIN}{number})" if part < number else ""


# Links


def medium(link: Table) -> str:
    """Return the medium of a wireless link, or nothing."""
    return "shared Wi-Fi" if "channel" in link else _MEDIA.get(link.get("varies", {}).get("kind", ""), "")


def _variation(varies: Mapping[str, Any], rate: Quantity) -> Iterator[Trait]:
    """Yield the pattern of a rate, with its bounds where it has them."""
    rates = [varies[key] for key in ("low", "high", "min") if key in varies] + varies.get("rates", [])
    bounds = [*map(Quantity.read, rates), *([rate] if "min" in varies else [])]
    # A pattern with one rate is a constant rate.
    if len(varies.get("rates", "..")) > 1:
        yield Trait("varying rate", tuple(bounds), True)


def _impairments(link: Table, rate: Quantity) -> Iterator[Trait]:
    """Yield the medium, variations and impairments of a link."""
    if found := medium(link):
        yield Trait(found)
    elif "varies" in link:
        yield from _variation(link["varies"], rate)
    if "delay_varies" in link:
        yield Trait("varying delay", tuple(map(Quantity.read, link["delay_varies"]["delays"])), True)
    probabilities = {
        "random loss": link["loss"].get("probability", 0.0),
        "reordering": link.get("reordering", {}).get("probability", 0.0),
        "duplication": link["duplication"],
        "corruption": link["corruption"],
    }
    for word, probability in probabilities.items():
        if probability:
            yield Trait(word, (Quantity("percent", 100 * probability),))
    if link["loss"]["kind"] not in ("none", "bernoulli"):
        yield Trait("burst loss")
    if "outages" in link:
        yield Trait("outages of", (Quantity.read(link["outages"]["length"]),))
    if (jitter := Quantity.read(link["jitter"])).value:
        yield Trait("jitter", (jitter,))
    if "bleaching" in link:
        yield Trait("ECN bleaching")


def traits(paths: Sequence[Paths], link: str) -> tuple[str, ...]:
    """Return the medium, variations and impairments of a link."""
    return _merged([[*_impairments(each.links[link], each.rate(link))] for each in paths])


def _return_path(paths: Paths, link: str) -> Iterator[Trait]:
    """Yield the differences of a return path that carries ACKs only."""
    back = opposite(link)
    if not paths.carries_data(back) and "channel" not in paths.links[link]:
        rate = paths.rate(back)
        if "rate" in paths.links[link].get("reverse", ()) and rate != paths.rate(link):
            yield Trait("ACKs return at", (rate,))
        yield from (
            trait._replace(word=f"ACKs: {trait.word}") for trait in _impairments(paths.links[back], rate)
        )


def around(paths: Sequence[Paths], link: str) -> tuple[str, ...]:
    """Return the texts of a return path with differences, and of the access links of a dumbbell."""
    texts = _merged([[*_return_path(each, link)] for each in paths])
    access = [each.links[link]["access"] for each in paths if "access" in each.links[link]]
    if access:
        rates = span(Quantity.read(one["rate"]) for one in access)
        words = ", ".join(filter(None, (rates, _delays(access))))
        texts += (f"access links: {words}" + _some(len(access), len(paths)),)
        found = [
            [*_impairments(each.links[link]["access"], each.rate(link))]
            if "access" in each.links[link]
            else []
            for each in paths
        ]
        texts += tuple(f"access links: {text}" for text in _merged(found))
    return texts


def queues(paths: Sequence[Paths], link: str, is_tested: bool) -> tuple[str, ...]:
    """Return the queue disciplines of a link with their limits, or with the rates that they enforce."""
    found: dict[str, list[Quantity]] = {}
    for queue in (each.links[link]["queue"] for each in paths):
        name = _title("queues", queue["kind"]) + (f"{JOIN}with{JOIN}ECN" if queue.get("ecn") else "")
        limit = queue.get("rate", queue.get("limit"))
        values = found.setdefault("Queue under test, limit" if is_tested else name, [])
        values += [Quantity.read(limit)] if limit else []
    return tuple(f"{name} {span(limits)}".strip() for name, limits in found.items())


def rates(paths: Sequence[Paths], link: str) -> str:
    """Return the rates of a link."""
    return span(each.rate(link) for each in paths)


def delays(paths: Sequence[Paths], link: str) -> str:
    """Return the one-way delays of a link, or nothing if there is none."""
    return _delays([each.links[link] for each in paths])


def _delays(links: Sequence[Table]) -> str:
    found = [Quantity.read(link["delay"]) for link in links]
    return f"delay {span(found)}" if any(delay.value for delay in found) else ""


# Groups of flows


def _traffic(traffic: Mapping[str, Any]) -> Trait:
    kind = traffic["kind"]
    if kind == "cbr" and "leaves" in traffic:
        return Trait("datagrams at a varying rate")
    values = (Quantity.read(traffic[_VALUE[kind]]),) if kind in _VALUE else ()
    return Trait(_TRAFFIC.get(kind, kind), values)


def senders(paths: Sequence[Paths], group: str, is_candidate: bool) -> tuple[str, ...]:
    """Return the number of flows of a group, their algorithms and their traffic."""
    flows = [each.flows[group] for each in paths]
    algorithms = dict.fromkeys(_title("algorithms", flow["cc"]["kind"]) for flow in flows if "cc" in flow)
    count = span(Quantity("count", flow["count"]) for flow in flows)
    if algorithms:
        count = f"{count} \u00d7 ".replace(" ", JOIN, count.count(" ") + 1)
        count += "candidate" if is_candidate else listed([*algorithms])
    else:
        count += f"{JOIN}source{'' if count == '1' else 's'}"
        count = f"up to {count}" if flows[0]["traffic"]["kind"] == "population" else count
    traffic: dict[str, list[Trait]] = {}
    for trait in (_traffic(flow["traffic"]) for flow in flows):
        traffic.setdefault(trait.word, []).append(trait)
    return count, listed([text for same in traffic.values() for text in _merged([[one] for one in same])])


def receivers(paths: Sequence[Paths], group: str) -> tuple[str, ...]:
    """Return the texts of the receivers of a group: one or several, and RTTs without queueing."""
    is_one = all(each.flows[group]["count"] == 1 for each in paths)
    is_range = any(each.has_drawn_rtts(group) for each in paths)
    rtts = span((rtt for each in paths for rtt in each.rtts(group)), is_range=is_range)
    return ("receiver" if is_one else "receivers", *([f"RTT {rtts}"] if rtts else []))
