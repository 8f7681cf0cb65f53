"""The criteria of a document as data: quotes, measurements, and questions for a human."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.errors import InputError
from ackclock.evaluation.score import metrics_of
from ackclock.evaluation.suite import Environment, Suite
from ackclock.files.declaration import ListOf, Place, Table, Text, require_once
from ackclock.files.documents import read_toml
from ackclock.text.suggest import hint

#: The file in the folder of `suite.toml`, whose environments it names.
FILE = "criteria.toml"
MEASURED, IN_PART, HUMAN = "measured", "measured in part", "needs a human"
#: The extent to which measurements answer a criterion. None of them says that it is met.
VERDICTS = (MEASURED, IN_PART, HUMAN)

_MEASURE = Table("a measure", {"environment": Text(), "metrics": ListOf(Text(), 1)})
_CRITERION = Table(
    "a criterion",
    {
        "section": Text(),
        "title": Text(),
        "quote": Text(),
        "verdict": Text(VERDICTS),
    },
    {
        "level": Text(),
        "published": Text(),
        "interpretation": Text(),
        "human": Text(),
        "measures": ListOf(_MEASURE, 1),
    },
)
_CRITERIA = Table(
    "criteria",
    {
        "name": Text(),
        "title": Text(),
        "document": Text(),
        "quoted": Text(),
        "differences": ListOf(Text()),
        "criteria": ListOf(_CRITERION, 1),
    },
)


@dataclass(frozen=True)
class Measure:
    """Metrics of an environment."""

    environment: Environment
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Criterion:
    """A section with its measurements."""

    section: str
    title: str
    quote: str
    verdict: str
    #: The requirement level, such as MUST, or an empty text.
    level: str = ""
    #: The published sentence, if it is known to differ.
    published: str = ""
    #: The interpretation of the figures.
    interpretation: str = ""
    #: The questions that no simulation can answer, with reasons.
    human: str = ""
    measures: tuple[Measure, ...] = ()


@dataclass(frozen=True)
class Criteria:
    """A document, section by section, and the suite that its environments come from."""

    title: str
    document: str
    #: The quoted text.
    quoted: str
    #: The differences between the quoted and the published text.
    differences: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    suite: Suite

    @classmethod
    def load(cls, name: str) -> Criteria:
        """Load the criteria of a suite, by its name or folder. Raises `InputError` with file and key."""
        suite = Suite.load(name)
        assert suite.folder is not None, "a suite that was loaded has a folder"
        path = suite.folder / FILE
        if not path.is_file():
            raise InputError(f"{path}: does not exist, as suite {suite.name!r} has no criteria; use rfc9743")
        place, tree = Place(str(path)), read_toml(path)
        _CRITERIA.check(tree, place)
        require_once([entry["section"] for entry in tree["criteria"]], place.at("criteria"))
        found = [
            _criterion(entry, suite, Place(place.file, f"criteria[{entry['section']}]"))
            for entry in tree["criteria"]
        ]
        return cls(
            title=tree["title"],
            document=tree["document"],
            quoted=tree["quoted"],
            differences=tuple(tree["differences"]),
            criteria=tuple(found),
            suite=suite,
        )

    def chosen(self, sections: Sequence[str]) -> tuple[Criterion, ...]:
        """Return the criteria of some sections and their subsections, by default all. Raises `InputError`."""
        for section in sections:
            if not any(_within(each.section, section) for each in self.criteria):
                known = [each.section for each in self.criteria]
                raise InputError(f"--only {section}: no criterion has this section; {hint(section, known)}")
        return tuple(
            each
            for each in self.criteria
            if not sections or any(_within(each.section, section) for section in sections)
        )


def _within(section: str, wanted: str) -> bool:
    return section == wanted or section.startswith(f"{wanted}.")


def _criterion(entry: dict[str, Any], suite: Suite, place: Place) -> Criterion:
    measures = tuple(
        _measure(measure, suite, place.at(f"measures[{index}]"))
        for index, measure in enumerate(entry.get("measures", ()))
    )
    verdict = entry["verdict"]
    if (verdict == HUMAN) == bool(measures):
        place.at("verdict").fail(f"is {verdict!r}, but there are {len(measures)} measures")
    if (verdict == MEASURED) == ("human" in entry):
        place.at("human").fail(f"is required unless the verdict is {MEASURED!r}, and only then")
    return Criterion(**{**entry, "measures": measures})


def _measure(entry: dict[str, Any], suite: Suite, place: Place) -> Measure:
    environments = {environment.id: environment for environment in suite.environments}
    place.at("environment").require(entry["environment"], environments, "environment")
    environment = environments[entry["environment"]]
    known = [metric.name for metric in metrics_of(environment)]
    for name in entry["metrics"]:
        place.at("metrics").require(name, known, f"metric of {environment.id!r}")
    return Measure(environment, tuple(entry["metrics"]))
