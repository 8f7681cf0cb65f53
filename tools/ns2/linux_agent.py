"""Runs one flow with the rules of Linux 2.6.22 in ns-2 (Agent/TCP/Linux) and in ackclock.

    python tools/ns2/linux_agent.py                    12 cases, 20 seeds each, ten minutes
    python tools/ns2/linux_agent.py reno "50 Mbit/s"   cases with all of these words
    python tools/ns2/linux_agent.py --write            renew the rows of docs/validation/ns2.md

Rows and verdicts are as in `environments.py`. The first 40 s, with the overshoot of slow start, do not count.
These measures are judged:

    goodput    acknowledged payload, 2 %
    cwnd       mean over time, 5 %

The table also shows retransmissions and the queueing delay.
"""

import dataclasses
import itertools
import sys
from pathlib import Path

import ns2
import tables
from ackclock import _core
from comparable import NotComparable
from controls import LINUX
from scores import DELAY, Score

SCENARIO = Path(__file__).with_name("scenarios") / "linux-agent.toml"
PACKET_BITS = 8 * 1050


@dataclasses.dataclass(frozen=True)
class Bottleneck:
    """Its rate in Mbit/s, the round trip in milliseconds, and the buffer in round trips of the rate."""

    rate: int
    rtt: int
    buffer: float
    loss: float = 0.0
    delayed_ack: bool = False

    @property
    def words(self) -> tuple[str, str, str, str]:
        """As the table has them."""
        extras = [f"loss {self.loss * 100:g} %"] * (self.loss > 0) + ["delayed ACKs"] * self.delayed_ack
        return f"{self.rate} Mbit/s", f"{self.rtt} ms", f"{self.buffer:g} BDP", ", ".join(extras)

    def sets(self) -> list[str]:
        """The changes of the scenario, as for `--set`."""
        packets = round(self.buffer * self.rate * 1e3 * self.rtt / PACKET_BITS)
        return [
            f"topology.rate={self.rate} Mbit/s",
            f"topology.delay={self.rtt / 2:g} ms",
            f"topology.queue.limit={packets} packets",
            f"topology.loss={{ kind = 'bernoulli', probability = {self.loss} }}",
            f"transport.delayed_ack={'true' if self.delayed_ack else 'false'}",
            # Random losses take long to average.
            f"duration={'1240 s' if self.loss else '140 s'}",
        ]


BOTTLENECKS = (
    Bottleneck(2, 60, 1),
    Bottleneck(10, 20, 2, delayed_ack=True),
    Bottleneck(10, 60, 0.5),
    Bottleneck(10, 120, 1),
    Bottleneck(10, 60, 1, loss=0.005),
    Bottleneck(50, 60, 1, delayed_ack=True),
)


@dataclasses.dataclass(frozen=True)
class Case:
    """A bottleneck and an algorithm."""

    bottleneck: Bottleneck
    algorithm: str

    @property
    def words(self) -> tuple[str, ...]:
        """The names."""
        return (*self.bottleneck.words, self.algorithm)

    def sets(self) -> list[str]:
        """The changes of the scenario, as for `--set`."""
        return [*self.bottleneck.sets(), f"flows.test.cc={self.algorithm}"]


def scores(_scenario: _core.Scenario) -> tuple[Score, ...]:
    """The compared measures."""
    return (
        Score("goodput, kB/s", lambda run: run["goodput_Bps"] / 1e3, 0.02),
        Score("cwnd", lambda run: run["cwnd_segments"], 0.05),
        Score("retransmissions", lambda run: run["retransmits"], None),
        dataclasses.replace(DELAY, bound=None),
    )


LINUX_AGENT = tables.Table(
    "linux-agent",
    ("rate", "round trip", "buffer", "with", "algorithm"),
    SCENARIO,
    tuple(Case(*words) for words in itertools.product(BOTTLENECKS, LINUX)),
    scores,
)

if __name__ == "__main__":
    try:
        sys.exit(tables.main(LINUX_AGENT, __doc__))
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"linux_agent.py: {error}")
