"""Reads the document of an evaluation, which the core makes, as objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.race import Race, Runner
from ackclock.evaluation.ranking import Difference, Entry, Failure, Objective, Ranking, Round, Scored
from ackclock.evaluation.regret import NoiseFloor, Regret, RegretBaseline, Scale
from ackclock.evaluation.rivals import Beside, Competitor
from ackclock.evaluation.score import Metric, Result, Score, Scoreboard, scales_of
from ackclock.evaluation.suite import Environment, Neighbours, Suite
from ackclock.statistics.estimates import Estimate

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Reader:
    """The document and the overview of an evaluation, with the suite and the algorithms that they name."""

    document: Document
    overview: Document
    suite: Suite
    baseline: RegretBaseline
    runners: Mapping[str, Runner]

    @classmethod
    def of(cls, made: Document, race: Race, baseline: RegretBaseline) -> Reader:
        """Take the result of a race."""
        runners = {runner.candidate.label: runner for runner in race.runners}
        told = made["document"]["regret_baseline"]
        baseline = replace(baseline, algorithms=tuple(told["algorithms"]))
        return cls(made["document"], made["overview"], race.track.suite, baseline, runners)

    def board(self) -> Scoreboard:
        """Return the scoreboard."""
        document = self.document
        labels = [each["label"] for each in document["candidates"]]
        return Scoreboard(
            self.suite,
            document["seed"],
            tuple(self.runners[label].candidate for label in labels),
            labels.index(document["reference"]),
            tuple(
                map(self._result, self.suite.environments, document["environments"], self.overview["metrics"])
            ),
            tuple(document["sets"]),
            self.baseline,
            tuple(self._regrets(row["metrics"]) for row in document["regrets"]),
        )

    def _result(self, environment: Environment, told: Document, metrics: list[Document]) -> Result:
        known = tuple(Metric(**metric) for metric in metrics)
        rows = tuple(
            tuple(_score(metric, row["metrics"][metric.name]) for metric in known) for row in told["scores"]
        )
        return Result(environment, known, rows, told["fixed"])

    def _regrets(self, told: Document) -> tuple[Regret, ...]:
        return tuple(
            _regret(scale, told[scale.name], self.suite)
            for scale in scales_of(self.suite.environments)
            if scale.name in told
        )

    def ranking(self) -> Ranking:
        """Return the candidates by score, the panel and the rounds."""
        score = self.document["score"]
        return Ranking(
            Objective(score["metric"], score["heading"], self.overview["digits"]),
            tuple(map(self._entry, self.document["ranking"])),
            tuple(map(self._entry, self.document["panel"])),
            tuple(_round(each) for each in self.document["rounds"]),
            score["alpha"],
            score["budget"],
            score["ended"],
        )

    def _entry(self, told: Document) -> Entry:
        runner, difference, failure = self.runners[told["candidate"]], told["difference"], told["failure"]
        ids = [environment.id for environment in self.suite.environments]
        rows = {name: told["environments"][name] for name in ids if name in told["environments"]}
        return Entry(
            told["index"],
            runner.candidate,
            told["standing"],
            told["rank"],
            told["replicates"],
            None if told["score"] is None else _scored(told, rows),
            None
            if difference is None
            else Difference(difference["mean"], difference["low"], difference["to"]),
            told["round"],
            None if failure is None else Failure(**failure),
            means={
                name: {key: each["mean"] for key, each in row["metrics"].items()}
                for name, row in rows.items()
            },
            regrets={
                name: {key: each["regret"] for key, each in row["metrics"].items()}
                for name, row in rows.items()
            },
            exact=frozenset(name for name, random in zip(ids, runner.random, strict=True) if not random),
            hashes=dict(zip(ids, (scenario.hash for scenario in runner.scenarios), strict=True)),
        )

    def competitors(self) -> tuple[Competitor, ...]:
        """Return the comparison of the best candidate with each competing algorithm."""
        met = {
            environment.id: (environment, neighbours)
            for environment in self.suite.environments
            if (neighbours := environment.neighbours(self.suite.subject, self.document["sets"])) is not None
        }
        return tuple(self._competitor(told, met) for told in self.document["competitors"])

    def _competitor(self, told: Document, met: Mapping[str, tuple[Environment, Neighbours]]) -> Competitor:
        count = max(len(entry["values"]) for entry in (*self.document["ranking"], *self.document["panel"]))
        beside = tuple(
            Beside(
                *met[each["environment"]],
                _estimate(each["share"], count),
                _estimate(each["candidate_share"], count),
                each["band"],
                each["harm"],
            )
            for each in told["beside"]
        )
        return Competitor(
            self._algorithm(told, beside),
            None if told["difference"] is None else _estimate(told["difference"], count),
            told["delay_ratio"],
            beside,
            told["starved"] or "",
            told["starves_candidate"] or "",
        )

    def _algorithm(self, told: Document, beside: tuple[Beside, ...]) -> Candidate:
        runner = self.runners.get(told["competitor"])
        return beside[0].neighbours.rival if runner is None else runner.candidate


def _estimate(told: Document, count: int) -> Estimate:
    return Estimate(told["mean"], told["low"], told["high"], count)


def _score(metric: Metric, told: Document) -> Score:
    values, difference = tuple(told["values"]), told["cost_difference"]
    return Score(
        metric,
        values,
        _estimate(told, len(values)),
        None if difference is None else _estimate(difference, len(values)),
    )


def _regret(scale: Scale, told: Document, suite: Suite) -> Regret:
    by_environment = told["by_environment"]
    count = 1 if told["worst_case"]["low"] is None else 2
    return Regret(
        scale,
        _estimate(told["worst_case"], count),
        _estimate(told["total"], count),
        told["worst"],
        {each.id: by_environment[each.id] for each in suite.environments if each.id in by_environment},
        None if told["noise_floor"] is None else NoiseFloor(**told["noise_floor"]),
    )


def _scored(told: Document, rows: Document) -> Scored:
    values = tuple(told["values"])
    value = Estimate(told["score"], told["low"], told["high"], len(values))
    return Scored(values, value, {name: row["score"] for name, row in rows.items()}, told["worst"])


def _round(told: Document) -> Round:
    return Round(
        told["replicates"],
        told["candidates"],
        told["alpha"],
        told["work"],
        tuple(told["dropped"]),
        tuple(told["failed"]),
    )
