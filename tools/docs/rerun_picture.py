"""Makes the picture of a cell that is run again in its report: docs/images/rerun.png.

    python tools/docs/rerun_picture.py

Three flows of New-AIMD at 100 Mbit/s, and of CUBIC, in a report of one replicate, in Chromium. It needs
Node and `make web`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ackclock.evaluation import evaluate
from ackclock.evaluation.report import write_report
from browser import CHROMIUM, MISSING
from report_picture import small

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "rerun.png"
CELL = "fast-3/new-aimd"


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    if CHROMIUM is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluation = evaluate("new-aimd", replicates=1, out=folder)
        report = write_report(evaluation, folder, command="ackclock evaluate new-aimd", is_interactive=True)
        picture = folder / "picture.png"
        card = f"#{CELL.partition('/')[0]}"
        presses = json.dumps(
            [f'.heat a[href="{card}"]', f"{card} .parameters summary", f'[data-rerun="{CELL}"]']
        )
        program = ROOT / "web" / "tests" / "rerun.mjs"
        arguments = [CHROMIUM, report.as_uri(), presses, "once", str(picture)]
        subprocess.run(["node", program, *arguments], check=True, timeout=300, stdout=subprocess.DEVNULL)
        PICTURE.write_bytes(small(picture))
    print(f"{PICTURE.name}: {PICTURE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
