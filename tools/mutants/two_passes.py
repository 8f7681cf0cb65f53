"""Mutates the core, and runs the tests on each mutant in two passes.

    python tools/mutants/two_passes.py --shard 0/40 -- FAST   every fortieth mutant
    python tools/mutants/two_passes.py --shard 3/40 -- FAST   others: those whose number is 3 modulo 40
    python tools/mutants/two_passes.py --shard 0/1 -- FAST    all mutants

The first pass runs the unit tests that the arguments FAST of `cargo test` select. The second pass runs
contract suites, small networks and exchange scripts on the survivors. The results are in
`target/mutants.first` and `target/mutants.second`, and `table.py` counts them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Random tests draw the same values for every mutant, and do not minimise failing inputs.
ENVIRONMENT = {
    "PROPTEST_RNG_SEED": "1",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
}
#: The filters of the second pass.
SLOW = ["contract", "network", "exchange", "ecn", "queues", "stepping", "traces"]
#: Exit codes of cargo-mutants: all mutants detected, some missed, some timed out.
FINISHED = (0, 2, 3)


def run(output: str, options: Sequence[str], tests: Sequence[str], variables: Mapping[str, str]) -> None:
    """Run cargo-mutants with these tests, and store its results in `target/OUTPUT`."""
    folder = ROOT / "target" / output
    shutil.rmtree(folder, ignore_errors=True)
    words = ["cargo", "mutants", f"--output={folder}", *options, "--", "--", *tests]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **ENVIRONMENT, **variables}, check=False)
    if done.returncode not in FINISHED:
        sys.exit(f"two_passes.py: cargo mutants failed with exit code {done.returncode}")


def survivors() -> list[str]:
    """Return the mutants that the first pass misses."""
    missed = ROOT / "target" / "mutants.first" / "mutants.out" / "missed.txt"
    return missed.read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Run both passes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--shard", default="0/40", metavar="I/N", help="mutants with number I modulo N")
    parser.add_argument(
        "fast", nargs="*", metavar="FAST", help="arguments of the first pass for `cargo test`"
    )
    options = parser.parse_args()
    sample = ["--sharding=round-robin", f"--shard={options.shard}", "--cargo-arg=--lib"]
    run("mutants.first", sample, options.fast, {})
    shutil.rmtree(ROOT / "target" / "mutants.second", ignore_errors=True)
    if missed := survivors():
        chosen = [f"--re=^{re.escape(name)}$" for name in missed]
        slow = [*chosen, "--minimum-test-timeout=240", "--cargo-arg=--test=integration"]
        run("mutants.second", slow, SLOW, {"CARGO_PROFILE_MUTANTS_OPT_LEVEL": "1"})


if __name__ == "__main__":
    main()
