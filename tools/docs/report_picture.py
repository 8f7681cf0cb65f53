"""Makes the picture of a report that the README shows: docs/images/report.png.

    python tools/docs/report_picture.py

Evaluates CUBIC against BBRv3 and Reno on the core suite and takes a picture of the report in Chromium.
The picture omits the scoreboard, the wins and the regret tables.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from ackclock.evaluation import evaluate
from ackclock.evaluation.report import write_report
from browser import CHROMIUM, MISSING, photograph

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1280, 2105
#: A README is loaded over the network.
MAX_BYTES = 300_000
COLOURS = 96
HIDDEN = "nav, #theme"
LEFT_OUT = f"<style>{HIDDEN} {{ display: none }} #worst h2 {{ margin-top: 1.5rem }}</style></head>"


def small(picture: Path) -> bytes:
    """The same picture in few colours."""
    file = io.BytesIO()
    image = Image.open(picture).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    if CHROMIUM is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluation = evaluate("cubic", against=["bbr3", "reno"], out=folder)
        report = write_report(evaluation, folder, command="ackclock evaluate cubic --against bbr3,reno")
        page = folder / "pictured.html"
        page.write_text(report.read_text().replace("</head>", LEFT_OUT, 1))
        photograph(page, WIDTH, HEIGHT, folder / "picture.png")
        picture = small(folder / "picture.png")
    if len(picture) > MAX_BYTES:
        print(f"the picture has {len(picture)} bytes, more than {MAX_BYTES}", file=sys.stderr)
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(picture)
    print(f"{PICTURE.name}: {len(picture)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
