"""Networks of a search, their runs, and the regret of an algorithm in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ackclock.attacks.families import DURATION_S, UNDER_TEST, Family, Tree, Values, ordered, tree_of
from ackclock.attacks.objectives import MOST, Objective, costs_of, environment_of
from ackclock.errors import ArgumentValueError, BackendError, RunError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.subject import Algorithms
from ackclock.evaluation.suite import Environment
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, fill
from ackclock.scenario import Scenario

_SUBJECT = Algorithms(UNDER_TEST)


@dataclass(frozen=True)
class Network:
    """Settings of some families, and the duration of the run."""

    families: tuple[Family, ...]
    #: By name, in the order of the families.
    settings: tuple[tuple[str, float], ...]
    duration_s: float = DURATION_S
    #: Changes to every scenario of the attack, as `KEY=VALUE`.
    sets: tuple[str, ...] = ()

    @classmethod
    def of(cls, families: Sequence[Family], values: Values, sets: Sequence[str] = ()) -> Network:
        """Take the settings of some families."""
        order = [setting.name for family in families for setting in family.settings]
        settings = tuple((name, values[name]) for name in order if name in values)
        return cls(tuple(families), settings, sets=tuple(sets))

    @property
    def values(self) -> dict[str, float]:
        """The settings that are present."""
        return dict(self.settings)

    def without(self, name: str) -> Network:
        """Return the network without a setting."""
        return replace(self, settings=tuple(pair for pair in self.settings if pair[0] != name))

    def with_value(self, name: str, value: float) -> Network:
        """Return the network with another value of a setting."""
        changed = ((each, value if each == name else old) for each, old in self.settings)
        return replace(self, settings=tuple(changed))

    @cached_property
    def base(self) -> Scenario:
        """The scenario, with CUBIC instead of the algorithm under test.

        Raises `ScenarioError`, or `ArgumentValueError` if `sets` change the algorithm.
        """
        return _SUBJECT.changed(Scenario.from_dict(self._own_tree), self.sets)

    @cached_property
    def tree(self) -> Tree:
        """The tree of `base`. Raises `ScenarioError`."""
        return self.base.written if self.sets else self._own_tree

    @property
    def _own_tree(self) -> Tree:
        """The tree before the changes to every scenario."""
        return tree_of(self.families, self.values, duration_s=self.duration_s)

    @cached_property
    def environment(self) -> Environment:
        """The environment, as a suite has it."""
        return environment_of(self.tree)

    @property
    def text(self) -> str:
        """The settings in words, with the defaults of those that are absent."""
        parts = []
        for family in self.families:
            filled = family.filled(self.values)
            parts += [each.text(filled[each.name]) for each in family.settings if each.name in filled]
        if not parts:
            return "no change"
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)

    def scenario(self, candidate: Candidate) -> Scenario:
        """Return the scenario with an algorithm. Raises `ScenarioError`."""
        return _SUBJECT.scenario(self.base, candidate.text)


def require_searchable(families: Sequence[Family], context: Sequence[Family], sets: Sequence[str]) -> None:
    """Raise `ArgumentValueError` if changes undo the duration or a setting, which the search varies.

    Every network needs the families of `context`.
    """
    if not sets:
        return
    first = Network.of(context, {})
    pairs = [("the duration", first, replace(first, duration_s=2 * DURATION_S))]
    for family in families:
        first = Network.of(
            ordered((*context, family)), {each.name: each.axis.low for each in family.settings}
        )
        for each in family.settings:
            other = first.with_value(each.name, each.axis.high)
            pairs.append((f"{each.name} of the family {family.name}", first, other))
    for what, one, other in pairs:
        if _differ(one, other, ()) and not _differ(one, other, sets):
            raise ArgumentValueError("sets", f"undo {what}, which the search varies", option="--set")


def _differ(one: Network, other: Network, sets: Sequence[str]) -> bool:
    """Whether two networks differ with these changes."""
    plans = {replace(each, sets=tuple(sets)).base.fingerprint for each in (one, other)}
    return len(plans) > 1


@dataclass(frozen=True)
class Behaviour:
    """The behaviour of the flows under test in a run."""

    timeouts: int
    congestion_events: int
    #: Lost segments over sent segments.
    loss: float
    #: Goodput of all flows over the capacity that datagrams leave.
    efficiency: float
    queue_delay_s: float
    base_rtt_s: float
    #: Their part of the goodput of all flows, relative to their number.
    share: float

    @classmethod
    def of(cls, document: str) -> Behaviour:
        """Read the document of a run."""
        run = json.loads(document)
        flows = [flow for flow in run["flows"] if flow["group"] in UNDER_TEST]
        every = sum(flow["delivered_bps"] for flow in run["flows"])
        total = every / len(run["flows"])
        taken = sum(row["offered_bps"] for row in run.get("datagrams", ()))
        own = sum(flow["delivered_bps"] for flow in flows) / len(flows)
        return cls(
            sum(flow["timeouts"] for flow in flows),
            sum(flow["congestion_events"] for flow in flows),
            sum(flow["lost"] for flow in flows) / max(1, sum(flow["sent"] for flow in flows)),
            every / (run["summary"]["capacity_bps"] - taken),
            run["summary"]["queue_delay_mean_s"] or 0.0,
            max(flow["base_rtt_s"] for flow in flows),
            own / total if total else 1.0,
        )


@dataclass(frozen=True)
class Trial:
    """A network with the costs of the algorithm and of its references."""

    network: Network
    #: The cost of the algorithm by replicate, in percent. Empty if a run failed.
    costs: tuple[float, ...]
    #: The costs of each reference without a failed run, by label.
    references: Mapping[str, tuple[float, ...]]
    #: The regret of each replicate against the reference with the least mean cost.
    regrets: tuple[float, ...]
    #: The behaviour of the algorithm in the first replicate. None if it failed.
    behaviour: Behaviour | None
    #: The message of the failed run, or an empty text.
    failure: str = ""

    @property
    def regret(self) -> float:
        """The mean regret in percent. Negative if the algorithm is the best."""
        return sum(self.regrets) / len(self.regrets)

    @property
    def best(self) -> str:
        """The reference with the least mean cost, or an empty text if the runs of all failed."""
        return min(self.references, key=lambda label: sum(self.references[label]), default="")


class Range:
    """Runs an algorithm and its references in networks, all with the same random draws."""

    def __init__(
        self,
        candidate: Candidate,
        references: Sequence[Candidate],
        objective: Objective,
        store: Store,
        executor: Executor | None,
        workers: int | None,
        progress: Callable[[int, int], None],
    ) -> None:
        self.candidate, self.references, self.objective = candidate, tuple(references), objective
        self._store, self._executor, self._workers, self._progress = store, executor, workers, progress
        #: The runs so far, stored ones included, and the number that is expected.
        self.runs = self.expected = 0

    def cost_of(self, networks: int, replicates: int = 1) -> int:
        """Return the number of runs of so many networks."""
        return networks * replicates * (1 + len(self.references))

    def run(
        self,
        networks: Sequence[Network],
        seed: int,
        replicates: int = 1,
        references: Sequence[Candidate] | None = None,
    ) -> list[Trial]:
        """Run networks, and return their trials in the same order. `references`: by default all.

        Raises `ScenarioError` for a network that cannot be a scenario.
        """
        against = self.references if references is None else tuple(references)
        rows = [
            [
                Study.of(network.scenario(each), seed=seed, replicates=replicates, samples=False).jobs
                for each in (self.candidate, *against)
            ]
            for network in networks
        ]
        outcomes, failures = self._fill([job for row in rows for jobs in row for job in jobs])
        found = []
        for network, (own, *others) in zip(networks, rows, strict=True):
            costs = self._costs(network, own, outcomes)
            references_costs = {
                each.label: values
                for each, jobs in zip(against, others, strict=True)
                if (values := self._costs(network, jobs, outcomes)) is not None
            }
            failure = next((failures[job.key] for job in own if job.key in failures), "")
            behaviour = None if costs is None else Behaviour.of(outcomes[own[0].key].result_json)
            found.append(_trial(network, costs, references_costs, behaviour, failure, self.objective))
        return found

    def there(self, network: Network, seed: int, backend: str) -> Trial:
        """Run a network once in another backend. References that it does not support are left out.

        The failure of the trial contains the reason if it does not support the algorithm.
        """
        own, behaviour, failure = self._once_there(network, self.candidate, seed, backend)
        costs: dict[str, tuple[float, ...]] = {}
        if own is not None:
            for each in self.references:
                found, _, _ = self._once_there(network, each, seed, backend)
                if found is not None:
                    costs[each.label] = found
        return _trial(network, own, costs, behaviour, failure, self.objective)

    def _once_there(
        self, network: Network, candidate: Candidate, seed: int, backend: str
    ) -> tuple[tuple[float, ...] | None, Behaviour | None, str]:
        """Return cost and behaviour of an algorithm in another backend, or the message of its failure."""
        jobs = Study.of(network.scenario(candidate), seed=seed, samples=False, backend=backend).jobs
        try:
            outcomes, failures = self._fill(jobs)
        except BackendError as error:
            return None, None, str(error)
        costs = self._costs(network, jobs, outcomes)
        if costs is None:
            return None, None, failures[jobs[0].key]
        return costs, Behaviour.of(outcomes[jobs[0].key].result_json), ""

    def sampled(self, network: Network, candidate: Candidate, seed: int) -> Outcome | None:
        """Run a network once with samples over time. None if the run fails."""
        jobs = Study.of(network.scenario(candidate), seed=seed, samples=True).jobs
        outcomes, _ = self._fill(jobs)
        return outcomes.get(jobs[0].key)

    def _fill(self, jobs: Sequence[Job]) -> tuple[dict[str, Outcome], dict[str, str]]:
        before, outcomes, failures = self.runs, dict[str, Outcome](), dict[str, str]()

        def failed(job: Job, error: RunError) -> None:
            failures[job.key] = str(error)

        fill(
            jobs,
            self._store,
            executor=self._executor,
            workers=self._workers,
            progress=lambda done, total: self._progress(before + done, max(before + total, self.expected)),
            keep=outcomes.__setitem__,
            failed=failed,
        )
        self.runs += len(jobs)
        return outcomes, failures

    def _costs(
        self, network: Network, jobs: Sequence[Job], outcomes: Mapping[str, Outcome]
    ) -> tuple[float, ...] | None:
        if any(job.key not in outcomes for job in jobs):
            return None
        documents = (outcomes[job.key].result_json for job in jobs)
        return tuple(self.objective.cost(costs_of(network.environment, each)) for each in documents)


def _trial(
    network: Network,
    costs: tuple[float, ...] | None,
    references: Mapping[str, tuple[float, ...]],
    behaviour: Behaviour | None,
    failure: str,
    objective: Objective,
) -> Trial:
    if costs is None:
        return Trial(network, (), references, (MOST,), None, failure)
    if not references:
        return Trial(network, costs, references, (0.0,), behaviour)
    best = min(references.values(), key=sum)
    pairs = zip(costs, best, strict=True)
    return Trial(
        network, costs, references, tuple(objective.regret(own, [other]) for own, other in pairs), behaviour
    )
