"""Measures the share of BBR against CUBIC, and its goodput under random loss.

    python tools/evidence/bbr_figures.py             buffers of 0.1 to 16 BDP, and 1 Gbit/s, a minute
    python tools/evidence/bbr_figures.py --buffers 1 --loss-rate "100 Mbit/s"

One flow of BBR and one of CUBIC share 10 Mbit/s over 40 ms for 200 s. The first
20 s do not count. The queue is
drop-tail with buffers of several BDP. The table shows the shares of
BBRv1 and BBRv3. Losses are detected by RFC 6675 (`shares`) and by the profile of Linux (`linux`).

Then one flow sends alone over 100 ms with a buffer of 1 BDP, under the profile of Linux. The figures are
goodput over the rate at 1 % random loss, for BBRv3 and CUBIC. BBRv3 also runs at 2 %.

At 1 % BBRv3 must achieve 0.75 of the rate and 50 times CUBIC's goodput. Otherwise the exit code is 1.
Shares are reported, and not judged. The tests check the shares of BBRv1.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from ackclock import _core

BUFFERS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
PROFILES = ("rfc", "linux")
LEAST_OF_RATE = 0.75
LEAST_OF_CUBIC = 50.0


def run(
    topology: dict[str, Any], kinds: Sequence[str], profile: str, duration_s: int, warmup_s: int
) -> list[float]:
    """Goodputs in bit/s of one flow of each kind."""
    tree = {
        "schema": 1,
        "duration": f"{duration_s} s",
        "warmup": f"{warmup_s} s",
        "topology": {"kind": "dumbbell", **topology},
        "sampling": {"interval": "none"},
        "flows": [
            {"name": f"{kind}-{number}", "cc": kind, "recovery": "sack", "profile": profile}
            for number, kind in enumerate(kinds)
        ],
    }
    result = json.loads(_core.Scenario.from_json(json.dumps(tree)).run().to_json())
    return [flow["goodput_bps"] for flow in result["flows"]]


def share(kind: str, buffer: float, profile: str) -> float:
    """The share of BBR in the goodput, in competition with CUBIC."""
    queue = {"kind": "drop-tail", "limit": f"{buffer} BDP"}
    topology = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": queue}
    mine, other = run(topology, (kind, "cubic"), profile, 200, 20)
    return mine / (mine + other)


def under_loss(kind: str, rate: str, probability: float) -> float:
    """The part of the rate that a flow has alone, under random loss and the profile of Linux."""
    topology = {
        "rate": rate,
        "delay": "50 ms",
        "queue": {"kind": "drop-tail", "limit": "1 BDP"},
        "loss": {"kind": "bernoulli", "probability": probability},
    }
    (goodput,) = run(topology, (kind,), "linux", 60, 20)
    number, unit = rate.split()
    return goodput / (float(number) * {"Mbit/s": 1e6, "Gbit/s": 1e9}[unit])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Return 1 if a figure under loss misses its bound."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--buffers", type=float, nargs="*", default=BUFFERS, help="in products")
    parser.add_argument("--loss-rate", default="1 Gbit/s", help="of the link with losses (%(default)s)")
    options = parser.parse_args(arguments)
    print("| buffer | BBRv1, rfc | BBRv1, linux | BBRv3, rfc | BBRv3, linux |", "|---" * 5 + "|", sep="\n")
    for buffer in options.buffers:
        shares = [share(kind, buffer, profile) for kind in ("bbr1", "bbr3") for profile in PROFILES]
        print(f"| {buffer:g} BDP |", " | ".join(f"{each:.2f}" for each in shares), "|", flush=True)
    bbr3, cubic = (under_loss(kind, options.loss_rate, 0.01) for kind in ("bbr3", "cubic"))
    print(
        f"2 % of random loss at {options.loss_rate}: BBRv3 {under_loss('bbr3', options.loss_rate, 0.02):.3f}"
    )
    print(
        f"1 % of random loss at {options.loss_rate}: BBRv3 {bbr3:.3f} of the rate, CUBIC {cubic:.5f},"
        f" {bbr3 / cubic:.0f} times as much"
    )
    return 0 if bbr3 >= LEAST_OF_RATE and bbr3 >= LEAST_OF_CUBIC * cubic else 1


if __name__ == "__main__":
    sys.exit(main())
