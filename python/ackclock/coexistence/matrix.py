"""Runs every pair of algorithms in every network, and computes shares and harm."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ackclock import _core
from ackclock.arguments import texts, whole_number
from ackclock.coexistence.networks import FIRST, FULL, RATE_MBPS, SECOND, SIX, Network
from ackclock.coexistence.ware import bbr_share
from ackclock.errors import ArgumentValueError, RunError
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.running.backend import chosen, workers_for
from ackclock.running.cells import Cell, short
from ackclock.running.cost import Cost, cost_of
from ackclock.running.executor import Executor
from ackclock.running.job import SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.warned import Warned, gathered
from ackclock.running.work import Study, fill
from ackclock.scenario import Algorithm
from ackclock.statistics.estimates import Estimate, estimate
from ackclock.text.suggest import hint

#: The opponents of each given algorithm in the full grid.
OPPONENTS = ("reno", "cubic", "bbr1", "bbr3", "prague")
#: The sets of networks by name.
GRIDS = {"six": SIX, "full": FULL}
#: The smallest difference of harm that is named.
LEAST_EXCESS = 0.05
REPLICATES, QUICK_REPLICATES = 5, 2
#: Loss-based opponents, for which the model of Ware et al. holds.
LOSS_BASED = frozenset({"reno", "cubic"})
#: The keys of a scenario that leave the network as it is.
_TIMES = ("duration", "warmup")
#: Bytes of a full packet on the wire.
_PACKET = 1500

#: A run: the network, the label of the first algorithm (None if the second is alone), and of the second.
_Key = tuple[str, str | None, str]


class Measured(NamedTuple):
    """The performance of a group of flows in one run."""

    goodput_bps: float
    flows: int
    rtt_s: float | None
    loss_rate: float
    #: The mean completion time of transfers. None for bulk flows.
    completion_s: float | None

    @classmethod
    def of(cls, document: dict[str, Any], group: str) -> Measured | None:
        """Read a group from the document of a run. None if the run does not contain it."""
        flows = [row for row in document["flows"] if row["group"] == group]
        arrivals = [row for row in document.get("transfers", ()) if row["group"] == group]
        rows = flows or arrivals
        if not rows:
            return None
        rtts = [row["rtt_mean_s"] for row in flows if row["rtt_mean_s"] is not None]
        sent = sum(row["sent"] for row in rows)
        return cls(
            sum(row["delivered_bps"] for row in flows) or sum(row["goodput_bps"] for row in arrivals),
            len(flows),
            sum(rtts) / len(rtts) if rtts else None,
            sum(row["lost"] for row in rows) / sent if sent else 0.0,
            # Without a finished transfer, the run's duration is a lower bound.
            (arrivals[0]["fct_mean_s"] or document["duration_s"]) if arrivals else None,
        )

    def harm_from(self, alone: Measured) -> float:
        """Return the lost part of the performance that the flows achieve alone."""
        if self.completion_s is not None and alone.completion_s is not None:
            return 1 - alone.completion_s / self.completion_s
        return 1 - self.goodput_bps / alone.goodput_bps if alone.goodput_bps else 0.0

    def delay_harm_from(self, alone: Measured) -> float | None:
        """Return the part of the RTT that the flows do not see alone. None for transfers."""
        if self.rtt_s is None or alone.rtt_s is None:
            return None
        return 1 - alone.rtt_s / self.rtt_s


@dataclass(frozen=True)
class Pair:
    """The figures of a first and a second algorithm in a network."""

    network: Network
    first: str
    second: str
    #: The goodput of a flow of the first algorithm over the mean of all flows. None for transfers.
    share: Estimate | None
    #: The lost part of the goodput that the second algorithm achieves alone. For transfers, of the speed.
    harm: Estimate
    #: The same harm where the second algorithm takes the place of the first.
    own_harm: Estimate
    #: The difference of both, paired by replicate. Above zero, the first algorithm does more harm.
    excess: Estimate
    #: The part of the RTT that the second algorithm does not see alone. None for transfers.
    delay_harm: Estimate | None
    #: The loss rate of the second algorithm.
    loss_rate: Estimate
    #: The mean completion time of the second algorithm's transfers. None for bulk flows.
    completion_s: Estimate | None
    #: `more` or `less` harm than to itself. Empty if the difference is small or not significant.
    judgement: str
    #: The cell that `ackclock run --from` takes.
    cell: str


@dataclass(frozen=True)
class Failed:
    """A pair without figures, because a run failed."""

    network: Network
    first: str
    second: str
    message: str


@dataclass(frozen=True)
class Coexistence:
    """Shares and harm of pairs of algorithms."""

    algorithms: tuple[str, ...]
    networks: tuple[Network, ...]
    seed: int
    replicates: int
    #: The changes to every scenario.
    sets: tuple[str, ...]
    backend: str
    pairs: tuple[Pair, ...]
    failed: tuple[Failed, ...] = ()
    #: The distinct warnings of scenarios, each with the ids of its networks.
    warnings: tuple[Warned, ...] = ()
    cells: dict[str, Cell] = field(default_factory=dict, repr=False)

    def find(self, network: Network, first: str, second: str) -> Pair | None:
        """Return a pair in a network."""
        return self._by_names.get((network.id, first, second))

    def own_harm(self, network: Network, label: str) -> Estimate | None:
        """Return the harm of an algorithm to itself."""
        return self._own_harms.get((network.id, label))

    @cached_property
    def _by_names(self) -> dict[tuple[str, str, str], Pair]:
        return {(each.network.id, each.first, each.second): each for each in self.pairs}

    @cached_property
    def _own_harms(self) -> dict[tuple[str, str], Estimate]:
        return {(each.network.id, each.second): each.own_harm for each in self.pairs}

    @property
    def worst(self) -> list[Pair]:
        """The pairs by excess harm, the largest first."""
        return sorted(self.pairs, key=lambda each: -each.excess.mean)

    def model_share(self, each: Pair) -> float | None:
        """Return the share of BBRv1 by the model of Ware et al. None where it does not apply."""
        network = each.network
        one_rtt = network.rtts_ms[0] == network.rtts_ms[1]
        if each.first not in ("bbr1", "bbr") or each.second not in LOSS_BASED or not one_rtt:
            return None
        if _changes_networks(self.sets):
            return None
        if network.queue != "drop-tail" or network.size is not None or network.is_late:
            return None
        rtt_s = network.rtts_ms[0] / 1e3
        bdp = RATE_MBPS * 1e6 * rtt_s / 8 / _PACKET
        total = bbr_share(network.buffer_bdp, network.counts[0], bdp, rtt_s)
        if total is None:
            return None
        return total / network.counts[0] * sum(network.counts)


def coexist(
    *algorithms: Algorithm,
    grid: str = "six",
    networks: Sequence[str] = (),
    replicates: int = REPLICATES,
    seed: int = 1,
    sets: Iterable[str] = (),
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    backend: str = SIM,
    kernel: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    announce: Callable[[Cost], None] | None = None,
) -> Coexistence:
    """Run pairs of algorithms on a common bottleneck, and return shares and harm with intervals.

    - `algorithms`: names, labels or files, as for `evaluate`.
    - `grid`: `six` networks for all pairs of the algorithms, or the `full` grid. There each of them meets
      Reno, CUBIC, BBRv1, BBRv3 and Prague.
    - `networks`: ids of networks of the full grid, by default all of `grid`. `sets`: changes to every
      scenario.
    - `backend`, `kernel`, `out`, `executor`, `workers`: as for `evaluate`.
    - `announce`: gets the cost before the first run.

    A pair with a failed run has no figures, and `failed` contains the message. Raises `AckclockError`.
    """
    replicates, seed = whole_number("replicates", replicates, least=1), whole_number("seed", seed)
    sets = tuple(texts("sets", sets, "topology.rate=10 Mbit/s"))
    found = networks_of(grid, networks)
    given, pairs = _pairs(algorithms, grid)
    backend = chosen(backend, kernel)
    table = _Table(found, given, pairs, sets, (seed, replicates), backend)
    with Store(out) as store:
        workers = workers_for(backend, workers)
        if announce is not None:
            announce(cost_of(table.jobs, store, workers))
        table.run(store, executor, workers, progress)
    return Coexistence(
        tuple(each.label for each in given),
        found,
        seed,
        replicates,
        sets,
        backend,
        tuple(table.judged()),
        tuple(table.failed()),
        table.warnings,
        table.cells,
    )


def _changes_networks(sets: Iterable[str]) -> bool:
    """Whether changes reach more than the times of a scenario."""
    return any(not change.strip().startswith(_TIMES) for change in sets)


def networks_of(grid: str, wanted: Sequence[str]) -> tuple[Network, ...]:
    """Return the wanted networks, by default all of a grid. Raises `ArgumentValueError`."""
    if grid not in GRIDS:
        raise ArgumentValueError("grid", f"is {grid!r}; {hint(grid, GRIDS)}")
    known = {network.id: network for network in FULL}
    for name in wanted:
        if name not in known:
            raise ArgumentValueError("networks", f"contain {name!r}; {hint(name, known)}")
    return tuple(known[name] for name in wanted) if wanted else GRIDS[grid]


def _pairs(
    algorithms: Sequence[Algorithm], grid: str
) -> tuple[list[Candidate], list[tuple[Candidate, Candidate]]]:
    """Return all algorithms, and the pairs of a first and a second one."""
    named = distinct([Candidate.parse(each) for each in algorithms])
    for one, other in itertools.combinations(named, 2):
        if one.resolved == other.resolved:
            raise ArgumentValueError(
                "algorithms", f"name {one.label} twice. Every table contains its harm to itself"
            )
    if grid == "six":
        if len(named) < 2:
            raise ArgumentValueError(
                "algorithms",
                f"are {len(named)}, but a pair needs two. With one, use the full grid against "
                f"{', '.join(OPPONENTS)}",
            )
        return named, list(itertools.permutations(named, 2))
    if not named:
        raise ArgumentValueError("algorithms", "is empty. Name at least one, such as 'bbr3'")
    opponents = [Candidate.parse(each) for each in OPPONENTS]
    pairs = [
        pair
        for one in named
        for other in opponents
        if one.resolved != other.resolved
        for pair in ((one, other), (other, one))
    ]
    every = [*named, *(each for each in opponents if all(each.resolved != one.resolved for one in named))]
    # Two given algorithms may be opponents of each other.
    return every, list({(one.label, other.label): (one, other) for one, other in pairs}.values())


class _Table:
    """The runs of pairs in networks."""

    def __init__(
        self,
        networks: Sequence[Network],
        algorithms: Sequence[Candidate],
        pairs: Sequence[tuple[Candidate, Candidate]],
        sets: Sequence[str],
        runs: tuple[int, int],
        backend: str,
    ) -> None:
        self._networks, self._pairs, self._backend = networks, pairs, backend
        self._seed, self._replicates = runs
        #: Whether changes may make the groups differ. Algorithms that change places then share no run.
        self._has_own_changes = any(text.lstrip().startswith("flows") for text in sets)
        self._numbers = {each.label: number for number, each in enumerate(algorithms)}
        self._measured: dict[tuple[_Key, int], tuple[Measured | None, Measured | None]] = {}
        self._failures: dict[_Key, str] = {}
        self.cells: dict[str, Cell] = {}
        self._studies: dict[_Key, Study] = {}
        #: The warnings of each network, without those about its design unless changes reach it.
        self._warnings: dict[str, list[str]] = {}
        self._known = {
            network.id: frozenset() if _changes_networks(sets) else network.own_warnings
            for network in networks
        }
        for network in networks:
            for first, second in pairs:
                self._add(network, first, second, sets)
                self._add(network, second, second, sets)
                self._add(network, None, second, sets)
        #: The places of each run. Networks with the same scenario share their runs.
        self._places: dict[str, list[tuple[_Key, int]]] = {}
        for key, study in self._studies.items():
            for job in study.jobs:
                self._places.setdefault(job.key, []).append((key, job.replicate))

    def _add(self, network: Network, first: Candidate | None, second: Candidate, sets: Sequence[str]) -> None:
        key, is_swapped = self._key(network, None if first is None else first.label, second.label)
        if key in self._studies:
            return
        if is_swapped and first is not None:
            first, second = second, first
        scenario = network.scenario(first, second, sets)
        study = Study.of(
            scenario, seed=self._seed, replicates=self._replicates, samples=False, backend=self._backend
        )
        self._studies[key] = study
        found = self._warnings.setdefault(network.id, [])
        found += [text for text in scenario.warnings if text not in self._known[network.id]]
        self.cells[self._cell(key)] = Cell(scenario.name, scenario.hash, self._seed, len(study.jobs))

    def _key(self, network: Network, first: str | None, second: str) -> tuple[_Key, bool]:
        """Return the run of a pair, and whether both algorithms change places there."""
        is_symmetric = network.is_symmetric and not self._has_own_changes
        is_swapped = first is not None and is_symmetric and self._numbers[first] > self._numbers[second]
        return ((network.id, second, first or "") if is_swapped else (network.id, first, second)), is_swapped

    def _cell(self, key: _Key) -> str:
        network, *labels = key
        names = [short(label, self._numbers[label]) for label in labels if label is not None]
        return f"{network}/{'+'.join(names)}"

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of scenarios, each with the ids of its networks."""
        return gathered(self._warnings.items())

    @property
    def jobs(self) -> list[Job]:
        """All runs."""
        return [job for study in self._studies.values() for job in study.jobs]

    def run(
        self,
        store: Store,
        executor: Executor | None,
        workers: int | None,
        progress: Callable[[int, int], None],
    ) -> None:
        """Run the missing runs, and measure both groups of each run."""

        def keep(key: str, outcome: Outcome) -> None:
            document = json.loads(outcome.result_json)
            found = (Measured.of(document, FIRST), Measured.of(document, SECOND))
            self._measured.update(dict.fromkeys(self._places[key], found))

        def failed(job: Job, error: RunError) -> None:
            for key, _ in self._places[job.key]:
                self._failures.setdefault(key, str(error))

        fill(
            self.jobs, store, executor=executor, workers=workers, progress=progress, keep=keep, failed=failed
        )

    def _of(self, network: Network, first: str | None, second: str) -> list[tuple[Measured | None, Measured]]:
        """Return the first and the second group of each replicate."""
        key, is_swapped = self._key(network, first, second)
        rows = [self._measured[key, replicate] for replicate in range(len(self._studies[key].jobs))]
        ordered = [(theirs, ours) if is_swapped else (ours, theirs) for ours, theirs in rows]
        return [(ours, theirs) for ours, theirs in ordered if theirs is not None]

    def failed(self) -> Iterable[Failed]:
        """Return the pairs without figures."""
        for network in self._networks:
            for first, second in self._pairs:
                keys = (
                    self._key(network, name, second.label)[0] for name in (first.label, second.label, None)
                )
                message = next((self._failures[key] for key in keys if key in self._failures), None)
                if message is not None:
                    yield Failed(network, first.label, second.label, message)

    def judged(self) -> list[Pair]:
        """Return the figures of all pairs. Judgements are corrected for their number."""
        without = {(each.network.id, each.first, each.second) for each in self.failed()}
        found = [
            self._pair(network, first.label, second.label)
            for network in self._networks
            for first, second in self._pairs
            if (network.id, first.label, second.label) not in without
        ]
        # A single random replicate shows no significance.
        significant = [False] * len(found)
        if self._replicates > 1:
            significant = _core.that_count([(each.excess, LEAST_EXCESS) for each in found])
        return [
            replace(each, judgement="more" if each.excess.mean > 0 else "less") if is_significant else each
            for each, is_significant in zip(found, significant, strict=True)
        ]

    def _pair(self, network: Network, first: str, second: str) -> Pair:
        rows, own = self._of(network, first, second), self._of(network, second, second)
        alone = [theirs for _, theirs in self._of(network, None, second)]
        harm = [theirs.harm_from(solo) for (_, theirs), solo in zip(rows, alone, strict=True)]
        own_harm = [theirs.harm_from(solo) for (_, theirs), solo in zip(own, alone, strict=True)]
        delay_harm = [theirs.delay_harm_from(solo) for (_, theirs), solo in zip(rows, alone, strict=True)]
        shares = [_share(ours, theirs) for ours, theirs in rows]
        completions = [theirs.completion_s for _, theirs in rows]
        return Pair(
            network,
            first,
            second,
            _mean(shares),
            estimate(harm),
            estimate(own_harm),
            estimate([one - other for one, other in zip(harm, own_harm, strict=True)]),
            _mean(delay_harm),
            estimate([theirs.loss_rate for _, theirs in rows]),
            _mean(completions),
            "",
            self._cell(self._key(network, first, second)[0]),
        )


def _mean(values: Sequence[float | None]) -> Estimate | None:
    known = [value for value in values if value is not None]
    return estimate(known) if len(known) == len(values) else None


def _share(ours: Measured | None, theirs: Measured) -> float | None:
    """Return the goodput of a flow of the first group over the mean of all flows."""
    if ours is None or not ours.flows or not theirs.flows:
        return None
    mean = (ours.goodput_bps + theirs.goodput_bps) / (ours.flows + theirs.flows)
    return ours.goodput_bps / ours.flows / mean if mean else None
