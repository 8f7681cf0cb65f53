"""Reads and runs a scenario in this process, and says nothing of the result: set-up and memory.

    python tools/bench/one_run.py SCENARIO [KEY=VALUE]...

Prints the CPU seconds that it took, without the start of Python.
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
