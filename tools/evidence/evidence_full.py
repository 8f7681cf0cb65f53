"""Runs the rows of the validation overview in full, and writes docs/validation/README.md.

    python tools/evidence/evidence_full.py                          all rows, about 17 hours
    python tools/evidence/evidence_full.py --only verify-ns2 model  these rows. The others keep their figures
    python tools/evidence/evidence_full.py --page                   run nothing, and write the tables again
    python tools/evidence/evidence_full.py --check                  fail for figures of earlier versions
    python tools/evidence/evidence_full.py --withdraw bench         remove the figures of rows

Each row is stored after its run, with date, version and commit of the sources. Its output is in
target/evidence. A row whose requirements are missing is skipped and keeps its figure. The exit code is 1
if a row fails.
"""

import argparse
import dataclasses
import datetime
import subprocess
import sys

import evidence_page
from evidence_page import Result
from rows import LOGS, ROOT, Row, chosen, rows, run


def commit() -> str:
    """The commit of the sources, with `-dirty` for changes in files that this tool does not write."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)

    name = git("rev-parse", "--short", "HEAD").stdout.strip()
    if not name:
        return "unknown"
    files = (evidence_page.PAGE, evidence_page.SLICES_PAGE, evidence_page.RESULTS)
    written = [f":(exclude){path.relative_to(ROOT)}" for path in files]
    changed = git("diff", "--quiet", "HEAD", "--", ".", *written).returncode != 0
    return f"{name}-dirty" if changed else name


def result(row: Row, before: Result | None, sources: str) -> Result:
    """Run a row. A row that cannot run keeps its earlier result, with the reason."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    if missing := row.missing:
        skipped = f"Skipped on {today}: {missing}"
        if before is not None:
            return dataclasses.replace(before, skipped=skipped)
        return Result(row.full.command, "", "", "", "", 0, skipped)
    outcome = run(row.full, LOGS / f"{row.name}.log")
    return Result(
        row.full.command,
        outcome.figure or "",
        outcome.failure,
        today,
        sources,
        round(outcome.seconds),
        version=evidence_page.current_version(),
    )


def check() -> int:
    """Print the rows whose figures are older than the version, and return the exit code."""
    found = evidence_page.outdated(
        evidence_page.known(rows(), evidence_page.stored()), evidence_page.current_version()
    )
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def main() -> int:
    """Run the chosen rows, or check, write or withdraw without a run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", nargs="+", metavar="ROW", help="default: all rows")
    parser.add_argument("--page", action="store_true", help="run nothing, and write the tables")
    parser.add_argument(
        "--check", action="store_true", help="run nothing, and find figures of earlier versions"
    )
    parser.add_argument("--withdraw", nargs="+", metavar="ROW", help="run nothing, and remove figures")
    options = parser.parse_args()
    if options.check:
        return check()
    try:
        selected = [] if options.page or options.withdraw else chosen(options.only)
        withdrawn = [row.name for row in chosen(options.withdraw)] if options.withdraw else []
    except ValueError as error:
        parser.error(f"{'--withdraw' if options.withdraw else '--only'}: {error}")
    results = {name: found for name, found in evidence_page.stored().items() if name not in withdrawn}
    evidence_page.store(results, rows())
    sources = commit()
    failed = False
    for row in selected:
        print(
            f"{row.name}: about {row.full.takes}; output in {LOGS / row.name}.log",
            flush=True,
        )
        made = result(row, evidence_page.stored().get(row.name), sources)
        failed |= bool(made.failure)
        print(f"  {made.skipped or made.failure or made.figure} ({made.seconds} s)", flush=True)
        # Another process may have stored other rows meanwhile.
        evidence_page.store({**evidence_page.stored(), row.name: made}, rows())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
