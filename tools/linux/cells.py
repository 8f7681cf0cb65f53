"""Configurations of bulk data in the steady state, in which `validate.py` compares simulator and kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import emulations
from ackclock.scenario import Scenario
from emulations import AIMD

SAMPLES = "10 ms"
TAIL, SHORT = {"kind": "drop-tail", "limit": "1 BDP"}, {"kind": "drop-tail", "limit": "0.25 BDP"}
DEEP = {"kind": "drop-tail", "limit": "2 BDP"}
RED = {"kind": "red", "limit": "4 BDP", "min": "0.25 limit", "max": "0.75 limit", "max_p": 0.05}
CODEL = {"kind": "codel"}


@dataclass(frozen=True)
class Cell:
    """A configuration of link and flow."""

    algorithm: str
    cc: str | Mapping[str, Any]
    mbit: int
    rtt_ms: int
    queue_name: str
    queue: Mapping[str, Any]
    loss: float = 0.0
    is_judged: bool = True

    @property
    def name(self) -> str:
        """The name that `--only` searches."""
        lossy = f", {100 * self.loss:g} % loss" if self.loss else ""
        return f"{self.algorithm}, {self.mbit} Mbit/s, {self.rtt_ms} ms, {self.queue_name}{lossy}"

    def scenario(self, warmup_s: float, duration_s: float) -> Scenario:
        """Return it with these times."""
        loss = {"kind": "bernoulli", "probability": self.loss} if self.loss else "none"
        topology = {
            "kind": "dumbbell",
            "rate": f"{self.mbit} Mbit/s",
            "delay": f"{self.rtt_ms / 2:g} ms",
            "queue": dict(self.queue),
            "loss": loss,
        }
        return Scenario.from_dict(
            {
                "schema": 2,
                "name": self.name,
                "duration": f"{duration_s:.3f} s",
                "warmup": f"{warmup_s:.3f} s",
                "topology": topology,
                "transport": emulations.TRANSPORT,
                "sampling": {"interval": SAMPLES},
                "flows": [emulations.flow("test", self.cc)],
            }
        )


CELLS = (
    Cell("reno", "reno", 10, 20, "drop-tail 1 BDP", TAIL),
    Cell("reno", "reno", 10, 40, "drop-tail 1 BDP", TAIL),
    Cell("reno", "reno", 10, 40, "drop-tail 0.25 BDP", SHORT),
    Cell("reno", "reno", 50, 20, "drop-tail 1 BDP", TAIL),
    Cell("reno", "reno", 10, 40, "RED", RED),
    Cell("reno", "reno", 10, 40, "CoDel", CODEL),
    Cell("reno", "reno", 10, 100, "drop-tail 1 BDP", TAIL, loss=0.002),
    Cell("cubic", "cubic", 10, 20, "drop-tail 1 BDP", TAIL),
    Cell("cubic", "cubic", 10, 40, "drop-tail 1 BDP", TAIL),
    Cell("cubic", "cubic", 50, 20, "drop-tail 1 BDP", TAIL),
    Cell("cubic", "cubic", 10, 40, "drop-tail 0.25 BDP", SHORT),
    Cell("cubic", "cubic", 10, 40, "CoDel", CODEL),
    Cell("cubic", "cubic", 10, 100, "drop-tail 1 BDP", TAIL, loss=0.002),
    Cell("AIMD(2, 0.8)", AIMD, 10, 40, "drop-tail 1 BDP", TAIL),
    Cell("AIMD(2, 0.8)", AIMD, 50, 40, "drop-tail 1 BDP", TAIL),
    Cell("AIMD(2, 0.8)", AIMD, 10, 40, "CoDel", CODEL),
    Cell("New-AIMD", "new-aimd", 10, 40, "drop-tail 1 BDP", TAIL),
    Cell("New-AIMD", "new-aimd", 50, 20, "drop-tail 1 BDP", TAIL),
    Cell("BBR", "bbr1", 10, 40, "drop-tail 2 BDP", DEEP, is_judged=False),
)
#: Those that take longer than two minutes a run.
LONG = (
    Cell("reno", "reno", 50, 40, "drop-tail 1 BDP", TAIL),
    Cell("cubic", "cubic", 50, 40, "drop-tail 1 BDP", TAIL),
    Cell("reno", "reno", 100, 100, "drop-tail 1 BDP", TAIL),
)
