"""Compares the share of BBRv1 against CUBIC over the buffer: closed form, simulator, Linux in virtual time.

    python tools/linux/bbr_buffers.py                    five buffers, a few minutes
    python tools/linux/bbr_buffers.py --buffers 4 --replicates 1

One flow of each algorithm shares 10 Mbit/s and 40 ms. A run takes 200 s, without its first 30 s. The queue is
drop-tail. The closed form is by Ware et al. (IMC 2019). It assumes that CUBIC keeps the queue full.

The table is reported and not judged. The exit code is 77 where the kernel cannot run.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from ackclock.coexistence.matrix import Measured
from ackclock.coexistence.networks import DEPTHS, FIRST, FULL, SECOND
from ackclock.coexistence.ware import bbr_share
from ackclock.errors import AckclockError
from ackclock.evaluation.candidate import Candidate
from ackclock.running.backend import chosen
from ackclock.running.job import KERNEL, SIM
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.statistics.estimates import Estimate, estimate

RATE_MBPS, RTT_MS, PACKET = 10.0, 40.0, 1500
#: The closed form needs a buffer of one BDP.
BUFFERS = tuple(depth for depth in DEPTHS if depth >= 1)
SETS = (f"topology.rate={RATE_MBPS:g} Mbit/s", "duration=200 s")


def measured(buffer: float, backend: str, replicates: int) -> Estimate:
    """Return BBRv1's part of both goodputs."""
    network = next(each for each in FULL if each.id == f"{buffer:g}-bdp-{RTT_MS:g}-ms")
    scenario = network.scenario(Candidate.parse("bbr1"), Candidate.parse("cubic"), SETS)
    study = Study.of(scenario, replicates=replicates, samples=False, backend=backend)
    shares = []
    with Store(None) as store:
        for outcome in run_study(study, store):
            document = json.loads(outcome.result_json)
            first, second = Measured.of(document, FIRST), Measured.of(document, SECOND)
            assert first is not None and second is not None, "both groups have flows"
            shares.append(first.goodput_bps / (first.goodput_bps + second.goodput_bps))
    return estimate(shares)


def text(share: Estimate) -> str:
    """Return a share with the half of its interval."""
    half = share.half_width
    return f"{share.mean:.2f}" if half is None else f"{share.mean:.2f} ± {half:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--buffers", type=float, nargs="+", default=BUFFERS, help="in BDP")
    parser.add_argument("--replicates", type=int, default=3, help="of each backend (%(default)s)")
    options = parser.parse_args(arguments)
    bdp = RATE_MBPS * 1e6 * RTT_MS / 1e3 / 8 / PACKET
    print("| buffer | closed form | simulator | Linux 6.12 |", "|---" * 4 + "|", sep="\n")
    backends = (SIM, chosen(KERNEL, None))
    for buffer in options.buffers:
        told = bbr_share(buffer, 1, bdp, RTT_MS / 1e3)
        row = [f"{buffer:g} BDP", "-" if told is None else f"{told:.2f}"]
        try:
            row += [text(measured(buffer, backend, options.replicates)) for backend in backends]
        except AckclockError as error:
            print(error, file=sys.stderr)
            return 77
        print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
