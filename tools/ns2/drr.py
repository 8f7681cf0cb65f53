"""Runs flows behind DRR in ns-2 and in ackclock, and compares the throughput of each flow.

    python tools/ns2/drr.py                     12 cases, 20 seeds each, ten minutes
    python tools/ns2/drr.py "5 flows" reno      cases with all of these words
    python tools/ns2/drr.py --write             renew the rows of docs/validation/ns2.md

Rows and verdicts are as in `environments.py`. The competing source sends nine tenths of the link's rate, in
packets half as long. These measures are judged:

    goodput fraction   goodput of all flows over the rate of the link, 0.02
    least, most        least and most goodput of a flow over a fair share of the link, 0.05
    source             throughput of the source over a fair share, 0.02
    loss               drops over arrivals at the bottleneck, 25 %, where both have 100 drops or more
    queueing delay     mean at the bottleneck, 10 %
"""

import dataclasses
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import ns2
import tables
from ackclock import _core
from comparable import NotComparable
from scenario import arguments, cross_traffic
from scores import DELAY, LOSS, Score
from sides import Measures

SCENARIO = Path(__file__).with_name("scenarios") / "drr.toml"
FLOWS = {"1 flow": 1, "2 flows": 2, "5 flows": 5}
# What the source leaves of the link.
SOURCES = {"alone": "10 Mbit/s", "and a source": "1 Mbit/s"}
RECOVERIES = ("reno", "sack")


@dataclasses.dataclass(frozen=True)
class Case:
    """Flows, competing traffic, and the recovery from losses."""

    flows: str
    beside: str
    recovery: str

    @property
    def words(self) -> tuple[str, str, str]:
        """The three names."""
        return self.flows, self.beside, self.recovery

    def sets(self) -> list[str]:
        """The changes of the scenario, as for `--set`."""
        return [
            f"flows.test.count={FLOWS[self.flows]}",
            f"flows.test.recovery={self.recovery}",
            f"flows.cross.traffic.leaves.high={SOURCES[self.beside]}",
            f"flows.cross.traffic.leaves.low={SOURCES[self.beside]}",
        ]


def cases() -> Iterator[Case]:
    """All of them."""
    return (Case(*words) for words in itertools.product(FLOWS, SOURCES, RECOVERIES))


def scores(scenario: _core.Scenario) -> tuple[Score, ...]:
    """The compared measures."""
    words = arguments(scenario)
    rate, duration = float(str(words["rate"])), float(str(words["duration"]))
    shares = int(str(words["flows"])) + (cross_traffic(scenario).mean_bps(0.0, duration) > 0)

    def share(key: str, bound: float) -> Score:
        name = key.removesuffix("_Bps").replace("cbr", "source")
        return Score(name, lambda run: 8 * run[key] * shares / rate, bound, relative=False)

    def fraction(run: Measures) -> float:
        return 8 * run["goodput_Bps"] / rate

    return (
        Score("goodput fraction", fraction, 0.02, relative=False),
        share("least_Bps", 0.05),
        share("most_Bps", 0.05),
        share("cbr_Bps", 0.02),
        LOSS,
        DELAY,
    )


DRR = tables.Table("drr", ("flows", "traffic", "recovery"), SCENARIO, tuple(cases()), scores)

if __name__ == "__main__":
    try:
        sys.exit(tables.main(DRR, __doc__))
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"drr.py: {error}")
