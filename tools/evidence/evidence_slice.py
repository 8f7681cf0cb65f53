"""Runs a slice of each row of the validation overview, so that a broken command fails the tests.

    python tools/evidence/evidence_slice.py
    python tools/evidence/evidence_slice.py --only compare-ns2 fuzz

A slice whose tests `make test-python` runs is not repeated. A row whose requirements are missing is skipped.
The last lines name the skipped rows with the reasons. The exit code is 1 if a row fails.
"""

import argparse
import sys
from collections.abc import Sequence

from rows import LOGS, Row, chosen, run

#: Lines of the output of a failed row that are printed.
LAST_LINES = 40


def run_slices(selected: Sequence[Row]) -> int:
    """Run the slices, print the results, and return the exit code."""
    skipped, failed, seconds = [], [], 0.0
    for row in selected:
        if row.slice is None:
            print(f"{row.name}: the tests run the whole row", flush=True)
            continue
        if row.slice.tested:
            print(f"{row.name}: the tests run the slice", flush=True)
            continue
        if missing := row.missing:
            skipped.append(f"{row.name}: {missing}")
            print(f"{row.name}: skipped", flush=True)
            continue
        outcome = run(row.slice, LOGS / f"{row.name}.slice.log")
        seconds += outcome.seconds
        said = f"FAILED, {outcome.failure}" if outcome.failure else outcome.figure
        print(f"{row.name}: {said} ({outcome.seconds:.0f} s)", flush=True)
        if outcome.failure:
            failed.append(row.name)
            print(f"  $ {row.slice.command}")
            print(*(f"  {line}" for line in outcome.output.splitlines()[-LAST_LINES:]), sep="\n", flush=True)
    print(f"evidence: {len(selected)} rows, {len(failed)} failed, {len(skipped)} skipped, {seconds:.0f} s")
    print(*(f"  skipped {line}" for line in skipped), sep="\n" if skipped else "", end="")
    return 1 if failed else 0


def main() -> int:
    """Run the chosen slices."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", nargs="+", metavar="ROW", help="default: all rows")
    options = parser.parse_args()
    try:
        selected = chosen(options.only)
    except ValueError as error:
        parser.error(f"--only: {error}")
    return run_slices(selected)


if __name__ == "__main__":
    sys.exit(main())
