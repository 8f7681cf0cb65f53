"""Compares environments of suites with Linux in virtual time.

    python tools/linux/suite_cells.py                                two environments, a minute
    python tools/linux/suite_cells.py wireless/handover=bbr1 --replicates 1

A case is SUITE/ENVIRONMENT=CC, with an algorithm that Linux contains. Both sides receive the same draws.
AccECN becomes the feedback of DCTCP, because Linux 6.12 has no AccECN. Goodput and mean queueing delay must
agree within 5 %.

The exit code is 1 where they do not, and 77 where the kernel cannot run.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence

from ackclock.errors import AckclockError, InputError
from ackclock.evaluation.suite import Suite
from ackclock.running.backend import chosen
from ackclock.running.job import KERNEL, SIM
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

CASES = ("wireless/5g-mid-band=cubic", "datacentre/rack-10g=dctcp")
#: The largest difference, as a part of the value of Linux.
BOUND = 0.05
#: Rows of the table: summary key, heading, factor to the printed unit, whether it is judged.
ROWS = (
    ("goodput_bps", "goodput Mbit/s", 1e-6, True),
    ("queue_delay_mean_s", "queue ms", 1e3, True),
    ("loss_rate", "loss %", 1e2, False),
)


def scenario_of(place: str, cc: str) -> Scenario:
    """Return the scenario of SUITE/ENVIRONMENT, with feedback that Linux can give. Raises `AckclockError`."""
    name, _, wanted = place.partition("/")
    suite = Suite.load(name)
    environments = {each.id: each for each in suite.environments}
    if wanted not in environments:
        raise InputError(f"suite {name}: no environment is called {wanted!r}; {hint(wanted, environments)}")
    scenario = environments[wanted].scenario(cc, suite.subject)
    groups = [flow["name"] for flow in scenario.resolved["flows"] if flow.get("ecn") == "accecn"]
    return scenario.with_sets([f"flows.{group}.ecn=dctcp" for group in groups])


def summaries(scenario: Scenario, backend: str, replicates: int) -> list[dict[str, float]]:
    """Return the summary of each replicate."""
    study = Study.of(scenario, replicates=replicates, samples=False, backend=backend)
    with Store(None) as store:
        return [json.loads(outcome.result_json)["summary"] for outcome in run_study(study, store)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("cases", nargs="*", default=CASES, metavar="SUITE/ENVIRONMENT=CC")
    parser.add_argument("--replicates", type=int, default=5, help="of each side (%(default)s)")
    options = parser.parse_args(arguments)
    try:
        cases = [
            (place, cc, scenario_of(place, cc))
            for place, _, cc in (case.partition("=") for case in options.cases)
        ]
    except AckclockError as error:
        parser.error(str(error))
    is_inside = True
    print(
        "| environment | algorithm | metric | simulator | Linux 6.12 | difference |",
        "|---" * 6 + "|",
        sep="\n",
    )
    for place, cc, scenario in cases:
        try:
            ours, theirs = (
                summaries(scenario, backend, options.replicates) for backend in (SIM, chosen(KERNEL, None))
            )
        except AckclockError as error:
            print(error, file=sys.stderr)
            return 77
        for key, heading, factor, is_judged in ROWS:
            sim, linux = (factor * statistics.fmean(row[key] for row in rows) for rows in (ours, theirs))
            part = sim / linux - 1 if linux else 0.0
            is_inside &= not is_judged or abs(part) <= BOUND
            values = f"{sim:.4g} | {linux:.4g} | {100 * part:+.1f} %"
            print(f"| {place} | {cc} | {heading} | {values} |", flush=True)
    return 0 if is_inside else 1


if __name__ == "__main__":
    sys.exit(main())
