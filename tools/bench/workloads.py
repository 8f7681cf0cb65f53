"""The workloads of `speed.py`: scenario files of `bench/`, on routers or between hosts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _core

FOLDER = Path(__file__).resolve().parents[2] / "bench"
#: Where the ends of flows are. On the two routers a packet crosses one link and its ACK another one, the best
#: case of every simulator. With links to and from hosts a packet and its ACK cross six.
TOPOLOGIES = ("routers", "hosts")
#: A link of a host is faster than the bottleneck by this, and takes its delay off the bottleneck's.
ACCESS_FACTOR = 10
ACCESS_DELAY_S = 0.001


@dataclass(frozen=True)
class Workload:
    """A scenario, with the other simulators that can run it."""

    name: str
    file: str
    sets: tuple[str, ...] = ()
    #: Simulated seconds of ns-3, which is slow.
    ns3_s: float | None = None
    has_rivals: bool = True

    @property
    def path(self) -> Path:
        """The scenario file."""
        return FOLDER / self.file

    def under(self, sender: str) -> "Workload":
        """The workload with another sender, a name of `SENDERS`."""
        return Workload(f"{self.name}-{sender}", self.file, (*self.sets, *SENDERS[sender]), has_rivals=False)

    def settings(self, topology: str, backend: str = "ackclock") -> tuple[str, ...]:
        """The `--set` texts of the workload on this topology, in this backend."""
        sets = list(self.sets)
        if topology == "hosts":
            # Of the file alone: describing a hundred thousand flows takes longer than running some of them.
            resolved: dict[str, Any] = json.loads(
                _core.Scenario.from_toml(self.path.read_text(), str(self.path)).describe_json()
            )
            bottleneck = next(link for link in resolved["links"] if link["name"] == "bottleneck")
            rate_bps, delay_s = bottleneck["rate_bps"], bottleneck["delay_s"]
            access = f"rate = '{ACCESS_FACTOR * rate_bps} bit/s', delay = '{ACCESS_DELAY_S * 1e3:g} ms'"
            sets.append(f"topology.delay={(delay_s - 2 * ACCESS_DELAY_S) * 1e3:g} ms")
            sets.append(f"topology.access={{ {access} }}")
        if backend == "ns-3" and self.ns3_s is not None:
            sets.append(f"duration={round(self.ns3_s * 1e3)} ms")
        return tuple(sets)

    def scenario(self, topology: str, backend: str = "ackclock") -> _core.Scenario:
        """The workload on this topology, in this backend."""
        return _core.Scenario.from_toml(
            self.path.read_text(), str(self.path), self.settings(topology, backend)
        )


#: Numbers of flows of the series that shows how the cost per packet grows.
SERIES = (10, 100, 1_000, 10_000, 100_000)

#: The senders that people run by default, under which each workload runs as well.
SENDERS = {
    "linux-CUBIC": ("transport.profile=linux", "flows.test.cc=cubic"),
    "linux-BBRv3": ("transport.profile=linux", "flows.test.cc=bbr3"),
    "QUIC": ("transport.profile=quic", "flows.test.cc=cubic"),
}

#: The senders of RFC 5681 with AIMD, which ns-2 and ns-3 can run too.
STANDARD = (
    Workload("W1", "w1.toml", ns3_s=10),
    Workload("W2", "w2.toml", ns3_s=2),
    Workload("W3", "w3.toml", ns3_s=2),
    Workload("W4", "w4.toml", ns3_s=1.5),
    Workload("W6", "w6.toml", has_rivals=False),
    *(Workload(f"S{flows}", "s.toml", (f"flows.test.count={flows}",), ns3_s=2) for flows in SERIES),
)

WORKLOADS = (
    *STANDARD,
    Workload("W1-BBRv3", "w1.toml", ("flows.test.cc=bbr3",), has_rivals=False),
    *(workload.under(sender) for sender in SENDERS for workload in STANDARD),
)


def parts(name: str) -> tuple[str, str | None]:
    """Split the name of a workload into its standard workload and its sender, if that is another one."""
    for sender in SENDERS:
        if name.endswith(f"-{sender}"):
            return name.removesuffix(f"-{sender}"), sender
    return name, None


#: The workloads of `--quick`.
QUICK = ("W1", "W1-linux-CUBIC", "W1-linux-BBRv3", "S10", "S10000")
