"""Changes the core in twelve places, one at a time, and checks that unit tests fail.

    python tools/mutants/dozen.py
    python tools/mutants/dozen.py --count 4     so many of them, evenly spaced

This is a slice of `make mutants`. `dozen.toml` lists the changes and the tests. The changes are made in a
copy in `target/dozen`. Without a change, all tests must pass there. The exit code is 1 if no test notices a
change, or if a change is impossible.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("dozen.toml")
FOLDER = ROOT / "target" / "dozen"
SOURCES = Path("crates/ackclock/src")
#: The sources of the unit tests.
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "examples", "tests/exchange")
#: Random tests draw the same for every mutant, and do not search for the smallest failing input. Dependencies
#: are used as `cargo test` has built them. Only the changed part of the core is compiled again.
ENVIRONMENT = {
    "CARGO_INCREMENTAL": "1",
    "CARGO_TARGET_DIR": str(ROOT / "target"),
    "PROPTEST_RNG_SEED": "1",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
}
CARGO = ("cargo", "test", "--package", "ackclock", "--locked", "--quiet")
#: Each mutant compiles the core again, and compiling takes most of the time.
UNOPTIMISED = (
    "--config=profile.test.package.ackclock.opt-level=0",
    "--config=profile.test.package.ackclock.debug=false",
)


class Unusable(Exception):
    """A change that cannot be made, or that proves nothing."""


@dataclass(frozen=True)
class Mutant:
    """A change: `instead` takes the place of `text`, and `tests` have to fail."""

    file: str
    text: str
    instead: str
    tests: str

    def applied(self, source: str) -> str:
        """The file with the change.

        Raises:
            Unusable: if the text is not there exactly once.
        """
        count = source.count(self.text)
        if count != 1:
            raise Unusable(f"{self.file}: {self.text!r} occurs {count} times; correct {LIST.name}")
        return source.replace(self.text, self.instead)


def mutants() -> list[Mutant]:
    """All of them."""
    return [Mutant(**each) for each in tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]]


def copy(folder: Path) -> None:
    """Copy the sources of the tests into a folder."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def cargo(folder: Path, *words: str, limit_s: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy.

    Raises:
        subprocess.TimeoutExpired: after `limit_s` seconds. Cargo and its tests are then killed.
    """
    command = [*CARGO, *UNOPTIMISED, *words]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=limit_s)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def passes(folder: Path, filters: Sequence[str]) -> bool:
    """Whether these tests pass.

    Raises:
        Unusable: if they do not compile, or if there are none.
    """
    built = cargo(folder, "--lib", "--no-run")
    if built.returncode != 0:
        raise Unusable(f"does not compile:\n{built.stderr}")
    done = cargo(folder, "--lib", "--", *filters)
    if "running 0 tests" in done.stdout:
        raise Unusable(f"no test is called {' or '.join(filters)}; mend {LIST.name}")
    return done.returncode == 0


def survivors(chosen: Sequence[Mutant], folder: Path) -> Iterator[Mutant]:
    """Make each change in a copy and undo it. Yield the changes that no test notices."""
    for mutant in chosen:
        path = folder / SOURCES / mutant.file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(source), encoding="utf-8")
        try:
            survived = passes(folder, [mutant.tests])
        finally:
            path.write_text(source, encoding="utf-8")
        print(
            f"{'SURVIVES' if survived else 'killed'}: {mutant.file}: {mutant.text} -> {mutant.instead}",
            flush=True,
        )
        if survived:
            yield mutant


def main() -> int:
    """Copy, try, and say by the exit code whether all were noticed."""
    every = mutants()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, choices=range(1, len(every) + 1), default=len(every), help="number of changes"
    )
    count = parser.parse_args().count
    chosen = [every[index * len(every) // count] for index in range(count)]
    copy(FOLDER)
    for file in {mutant.file for mutant in chosen}:
        # The restored file must be newer than the build of the changed one.
        (FOLDER / SOURCES / file).touch()
    if not passes(FOLDER, sorted({mutant.tests for mutant in chosen})):
        raise Unusable("the tests fail without any change")
    survived = list(survivors(chosen, FOLDER))
    print(f"{len(chosen)} mutants: {len(chosen) - len(survived)} killed, {len(survived)} survive")
    return 1 if survived else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, OSError) as error:
        sys.exit(f"dozen.py: {error}")
