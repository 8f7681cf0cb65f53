"""Stores the results of experiments with the TCP of a kernel in virtual time, for docs/papers/linux.md.

    ackclock reproduce jasem-efficiency --quick --backend kernel --workers 2 --out out/jasem-efficiency
    python tools/kernel/paper_runs.py out/jasem-efficiency
    python tools/docs/generate.py

The page names the time that each paper takes. Claims that follow from the model alone are left out, because
no TCP runs for them.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.kernels import store

RESULTS = Path(__file__).with_name("papers.json")
#: Stored fields of both sides of a claim.
KEPT = ("measured", "low", "high", "verdict")


def claim(document: Mapping[str, Any]) -> dict[str, Any]:
    """The printed value of a claim, the simulated one, and the one of the kernel's TCP."""
    return {
        "id": document["id"],
        "statement": document["statement"],
        "unit": document["unit"],
        "printed": document["printed"],
        "simulated": {key: document[key] for key in KEPT},
        "kernel": {key: document["kernel"][key] for key in KEPT},
    }


def is_run(document: Mapping[str, Any]) -> bool:
    """Whether runs of TCP are behind a claim: their figures differ."""
    here, there = document["measured"], document.get("kernel", {}).get("measured")
    return there is not None and here != there


def kept(folder: Path) -> dict[str, Any]:
    """Return the stored part of a reproduction."""
    document = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))
    if "kernel" not in document:
        raise SystemExit(f"{folder}: was made without --backend kernel")
    return {
        "made": f"{store.find().title}, {time.strftime('%Y-%m-%d', time.gmtime())}",
        **{key: document["kernel"][key] for key in ("replicates", "runs", "invalid", "changed")},
        "claims": [claim(each) for each in document["claims"] if is_run(each)],
    }


def main() -> int:
    """Add the folders to the stored results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, help="folders that `ackclock reproduce` wrote")
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for folder in given.folders:
        name = json.loads((folder / "reproduction.json").read_text(encoding="utf-8"))["paper"]["name"]
        known[name] = kept(folder)
    RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
