"""Runs the rows of the validation overview at full length, and writes docs/validation/README.md.

    python tools/evidence/evidence_full.py                          all of them, some six hours
    python tools/evidence/evidence_full.py --only verify-ns2 model  these; the others keep their figures
    python tools/evidence/evidence_full.py --page                   run nothing, write the page again

Each row is stored as soon as it has run, with its date and the commit of the sources; its output is in
target/evidence. A row is skipped if what it needs is missing, and keeps the figure it had. Exit code 1
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
    """The commit of the sources, with `-dirty` if they have changes other than in what this writes."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)

    name = git("rev-parse", "--short", "HEAD").stdout.strip()
    if not name:
        return "unknown"
    written = [f":(exclude){path.relative_to(ROOT)}" for path in (evidence_page.PAGE, evidence_page.RESULTS)]
    changed = git("diff", "--quiet", "HEAD", "--", ".", *written).returncode != 0
    return f"{name}-dirty" if changed else name


def result(row: Row, before: Result | None, sources: str) -> Result:
    """Run a row; if it cannot run, what came of it before, with the reason."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    if missing := row.missing:
        skipped = f"skipped on {today}: {missing}"
        if before is not None:
            return dataclasses.replace(before, skipped=skipped)
        return Result(row.full.command, "", "", "", "", 0, skipped)
    outcome = run(row.full, LOGS / f"{row.name}.log")
    return Result(
        row.full.command, outcome.figure or "", outcome.failure, today, sources, round(outcome.seconds)
    )


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", nargs="+", metavar="ROW", help="default: all of them")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    try:
        selected = [] if options.page else chosen(options.only)
    except ValueError as error:
        parser.error(f"--only: {error}")
    results = evidence_page.stored()
    sources = commit()
    failed = False
    for row in selected:
        print(
            f"{row.name}: about {row.full.takes}; output in {LOGS / row.name}.log",
            flush=True,
        )
        made = results[row.name] = result(row, results.get(row.name), sources)
        failed |= bool(made.failure)
        print(f"  {made.skipped or made.failure or made.figure} ({made.seconds} s)", flush=True)
        evidence_page.store(results, rows())
    evidence_page.store(results, rows())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
