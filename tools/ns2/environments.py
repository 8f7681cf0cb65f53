"""Runs environments with cross traffic of constant rate in ns-2 and in ackclock, and compares their scores.

    python tools/ns2/environments.py                    64 cases, 20 seeds each, half an hour
    python tools/ns2/environments.py sq-high red reno   cases with all of these words
    python tools/ns2/environments.py --write            renew the rows of docs/validation/ns2.md

Each row shows ns-2's value, the difference of ackclock with Welch's 95 % interval, and a verdict. It is
`inside` if the intervals of all judged measures are within their bounds. It is `outside` if one is beyond
its bound, and `undecided` otherwise. The exit code is 1 if a case is outside. These measures are judged:

    goodput fraction   goodput over the mean rate that cross traffic leaves, 0.02
    loss               drops over arrivals at the bottleneck, 25 %, where both have 100 drops or more
    queueing delay     mean at the bottleneck, 10 %

The table also shows goodput over the rest that cross traffic really left. A further column is the
unacknowledged part of the sent segments: losses, unnecessary retransmissions, and segments in flight.
"""

import sys

import ns2
import tables
from ackclock import _core
from cases import SCENARIO, cases
from comparable import NotComparable
from scenario import arguments, cross_traffic
from scores import DELAY, LOSS, Score
from sides import Measures


def scores(scenario: _core.Scenario) -> tuple[Score, ...]:
    """The compared measures of an environment."""
    words = arguments(scenario)
    since, until = (float(str(words[key])) for key in ("warmup", "duration"))
    rate, payload = float(str(words["rate"])), float(str(words["payload"]))
    left_bps = rate - cross_traffic(scenario).mean_bps(since, until)

    def fraction(run: Measures) -> float:
        return 8 * run["goodput_Bps"] / left_bps

    def fraction_of_rest(run: Measures) -> float:
        return 8 * run["goodput_Bps"] / (rate - 8 * run["cbr_Bps"])

    def unacknowledged(run: Measures) -> float:
        return 1 - run["goodput_Bps"] * (until - since) / payload / run["sent"]

    return (
        Score("goodput fraction", fraction, 0.02, relative=False),
        Score("of the rest", fraction_of_rest, None, relative=False),
        LOSS,
        Score("unacknowledged", unacknowledged, None, relative=False),
        DELAY,
    )


COLUMNS = ("environment", "queue", "recovery", "control")
ENVIRONMENTS = tables.Table("environments", COLUMNS, SCENARIO, tuple(cases()), scores)

if __name__ == "__main__":
    try:
        sys.exit(tables.main(ENVIRONMENTS, __doc__))
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"environments.py: {error}")
