"""Runs the scenarios of ns-2's validation suites, and compares packet by packet with ns-2's outputs.

    python tools/ns2/verify.py                   every case
    python tools/ns2/verify.py onedrop_sack      one case, or a suite such as rfc2581
    python tools/ns2/verify.py --write           renew the table of docs/validation/ns2-packets.md

ns-2 runs a case, and reports its configuration and the events of every packet. The run must give the output
of Debian's package `ns2-examples`. `translate` makes a scenario of the configuration. The case matches if
the same packets and ACKs arrive at every link and both ends in the same order. No time may differ by
more than one transmission at the slowest link. If the output lists the window, its values must agree within
0.001 at the same times. The exit code is 1 if a case does not match.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

import ns2
import reference
import setups
from comparison import clocks_of
from outcomes import Outcome, outcome, table
from suites import SUITES, Suite
from translate import translate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "ns2-packets.md"
TABLE = ("<!-- verified -->", "<!-- end of verified -->")


class UnknownCase(Exception):
    """A name without a case or a suite."""


def chosen_cases(chosen: Sequence[str]) -> Iterable[tuple[Suite, str]]:
    """Every case, or the cases with these names or suites.

    Raises:
        UnknownCase: if no case and no suite has a name.
    """
    cases = [(suite, name) for suite in SUITES for name in reference.names(suite.name)]
    known = {word for suite, name in cases for word in (suite.name, name)}
    if unknown := [word for word in chosen if word not in known]:
        suites = ", ".join(suite.name for suite in SUITES)
        raise UnknownCase(f"no case and no suite is called {', '.join(unknown)}; suites: {suites}")
    return [(suite, name) for suite, name in cases if not chosen or {suite.name, name} & set(chosen)]


def show(chosen: Sequence[str]) -> None:
    """Print the scenarios of the cases as JSON."""
    for suite, name in chosen_cases(chosen):
        setup = setups.run(suite.script, name)
        print(json.dumps(translate(setup, clocks_of(setup)).scenario, indent=2))


def outcomes(chosen: Sequence[str]) -> Iterable[Outcome]:
    """Every case, or those chosen."""
    cases = list(chosen_cases(chosen))
    console = Console(stderr=True)
    for suite, name in track(
        cases, "cases", console=console, transient=True, disable=not console.is_terminal
    ):
        yield outcome(suite, name)


def main() -> int:
    """Compares, prints, and says by the exit code whether all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help="names of cases or suites; all by default")
    parser.add_argument(
        "--write", action="store_true", help="renew the table of docs/validation/ns2-packets.md"
    )
    parser.add_argument("--show", action="store_true", help="print the scenarios of the cases instead")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args()
    try:
        if options.show:
            show(options.cases)
            return 0
        results = list(outcomes(options.cases))
    except (reference.ReferenceMissing, ns2.Ns2Error, UnknownCase) as missing:
        print(missing, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps([dataclasses.asdict(result) for result in results], indent=2))
    else:
        print(table(results))
    if options.write:
        before, _, rest = PAGE.read_text().partition(TABLE[0])
        after = rest.partition(TABLE[1])[2]
        PAGE.write_text(f"{before}{TABLE[0]}\n\n{table(results)}\n\n{TABLE[1]}{after}")
    return 1 if any(result.verdict == "not matched" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
