"""The compiled half of ackclock: scenarios, runs, the synchronous model."""

from collections.abc import Sequence
from typing import Any, final

__all__ = [
    "BUILD",
    "VERSION",
    "Cancel",
    "Interrupted",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Table",
    "exchange_json",
    "keys_json",
    "list_json",
    "metrics_json",
    "model_json",
    "rule_json",
    "schema_json",
    "serve_queue",
]

VERSION: str
"""The version of the product."""

BUILD: str
"""The version and a fingerprint of the sources, part of every stored result."""

class ScenarioError(ValueError):
    """A scenario that cannot be used; the message has the place."""

    mistakes_json: str
    """Its `mistakes`, each with `file`, `line`, `set`, `key` and `message`, and how many `more` there are."""

class Interrupted(Exception):
    """A run was cancelled."""

class RunError(Exception):
    """A run that would take too much memory; the message has the flow and the time."""

@final
class Cancel:
    """A switch that stops runs: pass it to `Scenario.run`, call `set()` from any thread."""

    def __new__(cls) -> Cancel: ...
    def set(self) -> None:
        """Stops every run that was given this object, now or later."""

    def is_set(self) -> bool:
        """True after `set()`."""

@final
class Scenario:
    """A checked scenario."""

    @staticmethod
    def from_toml(text: str, source: str = "<string>", sets: Sequence[str] = ...) -> Scenario:
        """Reads TOML; `source` is the file's name in messages, `sets` are `KEY=VALUE` texts as of `--set`."""

    @staticmethod
    def from_json(text: str, source: str = "<string>", sets: Sequence[str] = ...) -> Scenario:
        """Reads the same tree from JSON."""

    def with_sets(self, sets: Sequence[str]) -> Scenario:
        """This scenario with some keys changed."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def hash(self) -> str:
        """The canonical hash: equal for scenarios that give equal results; name and seed do not count."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def is_random(self) -> bool:
        """True if replicates differ."""

    @property
    def warnings(self) -> list[str]:
        """Warnings: properties to check before trusting a result."""

    def resolved_json(self) -> str:
        """The resolved scenario as JSON that reads back as the same scenario."""

    def describe_json(self, most: int | None = None) -> str:
        """Links, flows and random inputs in full, as JSON; of `most` flows a group, or all."""

    def run(
        self,
        seed: int | None = None,
        replicate: int = 0,
        cancel: Cancel | None = None,
        *,
        samples: bool = True,
    ) -> Run:
        """Runs one replicate, without holding the GIL. Ctrl-C in the main thread ends it.

        Without `samples` nothing is sampled over time, whatever the scenario says; the other results are the
        same.
        """

@final
class Run:
    """The result of one run."""

    def to_json(self) -> str:
        """Everything but the samples and histograms, as JSON."""

    def histograms_json(self) -> str:
        """How long packets waited: a JSON list of `link`, `up_to_ns`, `packets`.

        One for each shared link, and one with `link` null for the data of all flows on their paths.
        """

    @property
    def flow_samples(self) -> Table:
        """Samples of flows over time, a table of Arrow."""

    @property
    def link_samples(self) -> Table:
        """Samples of links over time, a table of Arrow."""

    @property
    def packets(self) -> Table:
        """Every packet at every link, every window that changes and timer that goes off, a table of Arrow.

        Empty unless `sampling.packets` is on.
        """

@final
class Table:
    """A table that any library of Arrow can read: `polars.DataFrame(table)`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The Arrow C stream of the table."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""

    def __len__(self) -> int: ...

def list_json(kind: str) -> str:
    """The entries of the list `kind` (cc, recovery, queue, loss, traffic, topology) as JSON."""

def schema_json() -> str:
    """The JSON Schema of a scenario."""

def keys_json() -> str:
    """Every key of a scenario with type, default and help, as JSON."""

def metrics_json() -> str:
    """Every metric of the results with unit, label and definition, as JSON."""

def rule_json(line: str) -> str:
    """The algorithm that a rule on one line is, as JSON of the table `cc`.

    Raises:
        ScenarioError: The rule has a mistake.
    """

def model_json(request: str) -> str:
    """Answers a request to the model, without holding the GIL; `ackclock::model::json` defines both sides."""

def exchange_json(text: str, name: str) -> str:
    """Runs the exchange script `text`, called `name` in messages, without holding the GIL; the report as
    JSON.
    """

def serve_queue(
    queue: str, rate_bps: int, seed: int, arrivals: Sequence[tuple[int, int, int, bool]]
) -> list[tuple[int, int, str, str]]:
    """Puts arrivals (time, bytes, flow, ECN-capable) through a queue in front of a transmitter.

    `queue` is the queue of a scenario as JSON. `arrivals` are in the order of their times, in ns, with
    bytes on the wire. What happened to each comes back, in order: rows are (time in ns, place among the
    arrivals, "sent", "dropped" or "marked", the reason). Raises ValueError for a queue that cannot stand
    there.
    """
