"""Runs environments with cross traffic of constant rate in ns-2 and in ackclock, and compares their scores.

    python tools/ns2/environments.py                    64 cases, 20 seeds each, half an hour
    python tools/ns2/environments.py sq-high red reno   those that have all of these words
    python tools/ns2/environments.py --write            renew the rows of docs/validation/ns2.md

For each case it prints what ns-2 measures and the difference of ackclock, with Welch's 95 % interval, and a
verdict: `inside` if the intervals of all judged measures lie within their bounds, `outside` if one lies
without, else `undecided`. The exit code is 1 if anything is outside. Judged are

    goodput fraction   goodput over the mean rate that cross traffic leaves, .02
    loss               drops over arrivals at the bottleneck, 25 %, where both have 100 drops or more
    queueing delay     mean at the bottleneck, 10 %

and shown beside them goodput over the rest that cross traffic really left, and the part of what the test
flows sent that was not acknowledged: their losses, what they sent again in vain, and what is under way.
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
    """What is compared in an environment."""
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
