"""Generated scenarios, captures, qlogs, stores and queries, in processes with limits of memory and time.

`GENERATED_SECONDS` is the time of each kind; `make fuzz` sets it, and then inputs differ each time.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from helpers import ROOT

_SECONDS = float(os.environ.get("GENERATED_SECONDS", "8"))
_SEED = random.randrange(2**32) if "GENERATED_SECONDS" in os.environ else 1
#: Times as long as it generates that a process may take, and seconds to start in.
_PATIENCE, _START = 4, 120


@pytest.mark.parametrize("kind", ["documents", "captures", "qlogs", "stores", "queries"])
def test_generated_inputs_leave_the_process_alive(kind: str) -> None:
    command = [sys.executable, str(ROOT / "tests" / "generated.py"), kind, str(_SEED), str(_SECONDS)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_PATIENCE * _SECONDS + _START, check=False
    )
    assert done.returncode == 0, f"{kind}, seed {_SEED}: {done.returncode}\n{done.stderr[-4000:]}"
    assert json.loads(done.stdout)["inputs"] >= 5
