"""The environments of Reddy et al. in which cross traffic of constant rate leaves a known rate to others.

A case is an environment, a queue, a loss recovery and a control. It changes `scenarios/environment.toml`.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path

SCENARIO = Path(__file__).with_name("scenarios") / "environment.toml"
# The two rates that take turns, per flow, of ten flows that together may have all of the link.
FLOWS = 10
ENVIRONMENTS_MBIT_S = {"cons-low": (1, 1), "cons-high": (10, 10), "sq-low": (10, 5), "sq-high": (10, 1)}
# RED: what ns-2 chooses itself for this link, in packets.
QUEUES = {
    "drop-tail": "{ kind = 'drop-tail', limit = '1201 packets' }",
    "red": (
        "{ kind = 'red', limit = '1201 packets', mode = 'packets', min = '31 packets', max = '94 packets',"
        " max_p = 0.1, weight = 6.2e-5, mean_packet = '1000 B', drop_by_size = false }"
    ),
}
RECOVERIES = ("reno", "sack")
CONTROLS = {
    "aimd(1, 0.5)": "{ kind = 'aimd', increase = 1, remaining = 0.5 }",
    "aimd(1, 0.8)": "{ kind = 'aimd', increase = 1, remaining = 0.8 }",
    "aiad(1, 3)": "{ kind = 'aiad', increase = 1, removed = 3 }",
    "mimd(0.1, 0.5)": "{ kind = 'mimd', increase = 0.1, remaining = 0.5 }",
}


@dataclasses.dataclass(frozen=True)
class Case:
    """An environment, a queue, a loss recovery and a control."""

    environment: str
    queue: str
    recovery: str
    control: str

    @property
    def words(self) -> tuple[str, str, str, str]:
        """The four names."""
        return self.environment, self.queue, self.recovery, self.control

    def sets(self) -> list[str]:
        """The changes of the scenario, as for `--set`."""
        high, low = (FLOWS * rate for rate in ENVIRONMENTS_MBIT_S[self.environment])
        return [
            f"topology.queue={QUEUES[self.queue]}",
            f"flows.test.count={FLOWS}",
            f"flows.test.recovery={self.recovery}",
            f"flows.test.cc={CONTROLS[self.control]}",
            f"flows.cross.traffic.leaves.high={high} Mbit/s",
            f"flows.cross.traffic.leaves.low={low} Mbit/s",
        ]


def cases() -> Iterator[Case]:
    """All of them."""
    for words in itertools.product(ENVIRONMENTS_MBIT_S, QUEUES, RECOVERIES, CONTROLS):
        yield Case(*words)
