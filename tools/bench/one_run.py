"""Reads and runs a scenario in this process, to measure setup and memory.

    python tools/bench/one_run.py SCENARIO [KEY=VALUE]...

Prints the CPU seconds of reading and running, without the start of Python and without the result.
"""

import sys
import time
from pathlib import Path

from ackclock import _core


def main() -> None:
    file, *sets = sys.argv[1:]
    started = time.process_time()
    _core.Scenario.from_toml(Path(file).read_text(), file, sets).run()
    print(time.process_time() - started)


if __name__ == "__main__":
    main()
