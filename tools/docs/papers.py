"""Runs the papers under many interpretations, and stores the results for the pages of docs/papers.

    python tools/docs/papers.py [NAME...]
    python tools/docs/papers.py --slice [NAME...]    measure a slice again, and compare; write nothing

It writes tools/docs/papers/NAME.json: every claim with its verdicts, the tables, and a slice of few
replicates that tests measure again. `tools/docs/generate.py` makes the pages from NAME.md.jinja.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from ackclock.reproduce import Reproduction, reproduce
from ackclock.reproduce.paper import paper_names
from ackclock.reproduce.present import reproduction_json

FOLDER = Path(__file__).resolve().parent / "papers"
READINGS = 50
#: Papers whose interpretations run in the quick form.
QUICK = ("reddy-linear",)
#: The claims that tests measure again, in seconds.
SLICES = {
    "jasem-efficiency": ["total-goodput-1", "loss-1", "fc-plus-model"],
    "jasem-utilization": ["utilization-2"],
    "psaras-mr-aimd": ["goodput-*", "retransmissions-*", "twice-*"],
    "reddy-linear": ["aimd-not-perfectly-fair"],
}
SLICE_REPLICATES = 3


def command(name: str) -> str:
    """Return the command that produced the figures of a page."""
    return f"ackclock reproduce {name}{' --quick' if name in QUICK else ''} --interpretations {READINGS}"


def measured_again(name: str) -> dict[str, float | None]:
    """Return the slice of a paper."""
    made = reproduce(name, claims=SLICES[name], interpretations=1, replicates=SLICE_REPLICATES)
    return {verdict.claim.id: verdict.measured for verdict in made.verdicts}


def same_slice(name: str) -> bool:
    """Print whether the slice of a paper still gives the stored figures."""
    then = json.loads((FOLDER / f"{name}.json").read_text())["slice"]["measured"]
    now = measured_again(name)
    differs = [claim for claim in then.keys() | now.keys() if then.get(claim) != now.get(claim)]
    print(f"{name}: {len(now) - len(differs)} claims measured as kept", *sorted(differs), sep="\n  differs: ")
    return bool(now) and not differs


def in_full(name: str) -> dict[str, Any]:
    """Return the full-length results of a paper whose interpretations run in the quick form."""
    made = reproduce(name, interpretations=1, out=Path("ackclock-out") / f"papers-{name}-full")
    document = reproduction_json(made)
    keys = ("measured", "low", "high", "verdict")
    return {
        "command": f"ackclock reproduce {name} --interpretations 1",
        "replicates": document["replicates"],
        "summary": document["summary"],
        "claims": {each["id"]: {key: each[key] for key in keys} for each in document["claims"]},
    }


def kept(made: Reproduction, seconds: float, cpu_seconds: float) -> dict[str, Any]:
    """Return the stored part of a reproduction."""
    document = reproduction_json(made)
    singles = [each for each in document["interpretations"] if len(each["answers"]) == 1]
    return {
        "command": command(made.paper.name),
        "seconds": round(seconds),
        "cpu_seconds": round(cpu_seconds),
        **{key: document[key] for key in ("paper", "seed", "replicates", "summary")},
        "interpretations": 1 + len(document["interpretations"]),
        "reading_replicates": made.reading_replicates,
        "claims": [
            {key: value for key, value in each.items() if key not in ("parts", "reason")}
            for each in document["claims"]
        ],
        "tables": document["tables"],
        "alone": {
            name: {
                claim: {"verdict": each["verdicts"][claim], "measured": value}
                for claim, value in each["measured"].items()
            }
            for each in singles
            for name in each["answers"].values()
        },
        "skipped": document["skipped"],
        "full": in_full(made.paper.name) if made.paper.name in QUICK else None,
        "slice": {"replicates": SLICE_REPLICATES, "measured": measured_again(made.paper.name)},
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=paper_names(), metavar="NAME")
    parser.add_argument("--slice", action="store_true", help="compare a slice with what is kept")
    options = parser.parse_args()
    if options.slice:
        return 0 if all([same_slice(name) for name in options.names]) else 1
    for name in options.names:
        begin, before = time.monotonic(), os.times()
        made = reproduce(
            name, quick=name in QUICK, interpretations=READINGS, out=Path("ackclock-out") / f"papers-{name}"
        )
        after = os.times()
        cpu_seconds = after.user + after.system - before.user - before.system
        document = kept(made, time.monotonic() - begin, cpu_seconds)
        (FOLDER / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        print(f"{name}: {document['summary']} {document['seconds']} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
