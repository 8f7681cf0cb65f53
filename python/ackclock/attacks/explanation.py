"""Explains a find: both algorithms over time, the moment that matters, and the effect of each number."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import polars
from polars import col

from ackclock.attacks.families import UNDER_TEST, WARMUP_S, Setting
from ackclock.attacks.finds import Find, described
from ackclock.attacks.nearest import Nearest, nearest
from ackclock.attacks.networks import Network, Range
from ackclock.errors import ScenarioError
from ackclock.evaluation.candidate import Candidate
from ackclock.metrics.frames import samples_frame
from ackclock.page.over_time import Drawing, over_time
from ackclock.running.job import Outcome

#: The largest and the smallest number of values of a curve of sensitivity.
_VALUES, _FEWEST = 9, 3
#: The parts of a run in which goodputs are compared.
_PARTS = 60
#: A stretch in which less than this part of the reference's bytes is lost has no moment.
_LEAST_LOSS = 0.01
#: A change of phase counts as the cause if it is so recent, in seconds.
_RECENT_S = 1.0


@dataclass(frozen=True)
class Sensitivity:
    """The regret over one setting, while all others keep their values."""

    setting: Setting
    value: float
    values: tuple[float, ...]
    regrets: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """A find with its pictures."""

    find: Find
    #: Window, RTT, goodput and queue of the algorithm and of the best reference. None if a run fails.
    drawing: Drawing | None
    #: The time from which the algorithm falls behind most, in seconds.
    moment_s: float | None
    #: The behaviour of the algorithm and its time, in one or two sentences.
    text: str
    sensitivity: tuple[Sensitivity, ...]
    nearest: Nearest


def explained(find: Find, field: Range, seed: int, most: int) -> Explanation:
    """Run a find again with samples, and vary each of its settings. The curves take at most `most` runs."""
    network, candidate = find.shrunk.network, field.candidate
    of_label = {each.label: each for each in field.references}
    # If all references fail, none of them is the best.
    best = of_label.get(find.checked.best, field.references[0])
    ours, theirs = (field.sampled(network, each, seed) for each in (candidate, best))
    moment_s, drawing, phases = None, None, ""
    if ours is not None and theirs is not None:
        flows = polars.concat([_flows(ours, candidate.label), _flows(theirs, best.label)], how="diagonal")
        links = polars.concat([_links(ours, candidate.label), _links(theirs, best.label)])
        moment_s = moment_of(flows, candidate.label, best.label, network.duration_s)
        title = f"{candidate.label} and {best.label}"
        drawing = over_time(flows, links, network.duration_s, title)._replace(mark=moment_s)
        phases = "" if moment_s is None else _phases(flows, candidate.label, moment_s)
    return Explanation(
        find,
        drawing,
        moment_s,
        _text(find, candidate, best, moment_s, phases),
        tuple(_sensitivities(find, field, best, seed, most)),
        nearest(network),
    )


def _flows(outcome: Outcome, label: str) -> polars.DataFrame:
    """Return the samples of the first flow under test, named after its algorithm."""
    assert outcome.flow_samples is not None, "the run has samples"
    frame = samples_frame(outcome.flow_samples).with_columns(col("flow").cast(polars.String))
    names = [
        name for name in frame["flow"].unique(maintain_order=True) if name.partition(".")[0] in UNDER_TEST
    ]
    return frame.filter(col("flow") == names[0]).with_columns(polars.lit(label).alias("flow"))


def _links(outcome: Outcome, label: str) -> polars.DataFrame:
    """Return the samples of the bottleneck, named after the algorithm."""
    assert outcome.link_samples is not None, "the run has samples"
    frame = samples_frame(outcome.link_samples).with_columns(col("link").cast(polars.String))
    name = frame["link"].unique(maintain_order=True)[0]
    return frame.filter(col("link") == name).with_columns(polars.lit(label).alias("link"))


def moment_of(flows: polars.DataFrame, ours: str, theirs: str, duration_s: float) -> float | None:
    """Return the start of the stretch in which the algorithm loses most bytes to the reference."""
    parts = [duration_s * part / _PARTS for part in range(_PARTS + 1)]
    gained = [
        [float(now - before) for before, now in itertools.pairwise(bytes_at)]
        for bytes_at in (_delivered(flows, label, parts) for label in (ours, theirs))
    ]
    behind = [reference - own for own, reference in zip(*gained, strict=True)]
    first = int(_PARTS * min(WARMUP_S, duration_s / 4) / duration_s)
    # Single parts vary with the bursts of a sender.
    smooth = [sum(behind[at - 1 : at + 2]) for at in range(max(1, first), _PARTS - 1)]
    lost, start, worst, moment = 0.0, 0, 0.0, None
    for number, each in enumerate(smooth):
        if each <= 0:
            lost, start = 0.0, number + 1
            continue
        lost += each
        if lost > worst:
            worst, moment = lost, start
    if moment is None or worst < _LEAST_LOSS * sum(gained[1]):
        return None
    return parts[max(1, first) + moment]


def _delivered(flows: polars.DataFrame, label: str, times: Sequence[float]) -> list[int]:
    """Return the bytes that were received in order up to each time."""
    frame = flows.filter(col("flow") == label)
    pairs = list(zip(frame["time_ns"], frame["delivered_bytes"], strict=True))
    found, at, last = [], 0, 0
    for time_s in times:
        while at < len(pairs) and pairs[at][0] <= 1e9 * time_s:
            last = pairs[at][1]
            at += 1
        found.append(last)
    return found


def _phases(flows: polars.DataFrame, label: str, moment_s: float) -> str:
    """Return the phase of the algorithm at a time, and the last one if it ended just before."""
    frame = flows.filter(col("flow") == label)
    known = [
        (ns / 1e9, str(phase))
        for ns, phase in zip(frame["time_ns"], frame["phase"], strict=True)
        if phase is not None and ns / 1e9 <= moment_s
    ]
    if not known:
        return ""
    phase = known[-1][1]
    before = [each for time_s, each in known if time_s >= moment_s - _RECENT_S and each != phase]
    return f"its phase is {phase}, after {before[-1]}" if before else f"its phase is {phase}"


def _text(find: Find, candidate: Candidate, best: Candidate, moment_s: float | None, phases: str) -> str:
    if find.found.failure:
        return f"{candidate.label}: {find.found.failure.partition(chr(10))[0]}"
    first = f"{candidate.label}: {described(find.shrunk.behaviour)}."
    if moment_s is None:
        return first
    at = f"From {moment_s:.3g} s on, it falls furthest behind {best.label}"
    return f"{first} {at}{f', and {phases}' if phases else ''}."


def _sensitivities(find: Find, field: Range, best: Candidate, seed: int, most: int) -> list[Sensitivity]:
    """Run the network with other values of each setting. No curve has fewer than `_FEWEST` values."""
    network = find.shrunk.network
    count = min(_VALUES, most // (2 * max(1, len(network.settings))) - 1)
    if count < _FEWEST:
        return []
    known = {setting.name: setting for family in network.families for setting in family.settings}
    rows: list[tuple[Setting, float, list[float]]] = []
    for name, value in network.settings:
        axis = known[name].axis
        values = sorted({axis.value(place / (count - 1)) for place in range(count)} | {value})
        possible = [each for each in values if _is_possible(network.with_value(name, each), field.candidate)]
        rows.append((known[name], value, possible))
    networks: list[Network] = [
        network.with_value(setting.name, each) for setting, _, values in rows for each in values
    ]
    trials = iter(field.run(networks, seed, references=[best]))
    return [
        Sensitivity(setting, value, tuple(values), tuple(next(trials).regret for _ in values))
        for setting, value, values in rows
    ]


def _is_possible(network: Network, candidate: Candidate) -> bool:
    """Whether a network is a scenario. A flow may start after the end of a short run."""
    try:
        network.scenario(candidate)
    except ScenarioError:
        return False
    return True
