"""Makes the picture of the live page that the README shows: docs/images/play.png.

    python tools/docs/play_picture.py

Two flows of CUBIC and one of BBRv3 in FQ-CoDel, after some seconds in Chromium. It needs Node and `make web`.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import CHROMIUM, MISSING
from report_picture import small

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "play.png"
SCENARIO = ["--rate", "20Mbit/s", "--rtt", "40ms", "--queue", "fq-codel", "--flows", "cubic*2,bbr3"]
WIDTH, HEIGHT, SECONDS = 1280, 1000, 8


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    if CHROMIUM is None:
        print(MISSING, file=sys.stderr)
        return 1
    ackclock = str(Path(sys.executable).with_name("ackclock"))
    with tempfile.TemporaryDirectory() as name:
        scenario, picture = Path(name, "scenario.toml"), Path(name, "picture.png")
        subprocess.run(
            [ackclock, "run", *SCENARIO, "--save", scenario, "--json"], check=True, stdout=subprocess.DEVNULL
        )
        play = [ackclock, "play", "--no-open", str(scenario)]
        with subprocess.Popen(play, stdout=subprocess.PIPE, encoding="utf-8") as server:
            assert server.stdout is not None
            try:
                address = next(found for line in server.stdout if (found := re.search(r"http://\S+", line)))
                script = ROOT / "tools" / "docs" / "photograph.mjs"
                arguments = [CHROMIUM, address[0], str(WIDTH), str(HEIGHT), str(SECONDS), str(picture)]
                subprocess.run(["node", script, *arguments], check=True, timeout=120)
            finally:
                server.terminate()
        PICTURE.write_bytes(small(picture))
    print(f"{PICTURE.name}: {PICTURE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
