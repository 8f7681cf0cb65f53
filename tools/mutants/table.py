"""Prints how many mutants of each module the tests notice, and those they miss: what `make mutants` left.

    python tools/mutants/table.py [FOLDER]

FOLDER holds `mutants.out` and `mutants.out.old`, by default `target`.
"""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = "crates/ackclock/src/"


def names(folder: Path, *outcomes: str) -> set[str]:
    """The mutants with one of these outcomes: `FILE:LINE:COLUMN: what was changed`."""
    paths = [folder / f"{outcome}.txt" for outcome in outcomes]
    return {line for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines()}


def module(name: str) -> str:
    """The module that a mutant is in."""
    path = name.split(":")[0].removeprefix(SOURCES).removesuffix(".rs").removesuffix("/mod")
    return path.replace("/", "::")


def row(title: str, killed: int, viable: int) -> str:
    return f"| {title} | {viable} | {killed} | {killed / viable:.1%} |"


def main() -> None:
    """Print the table and the list."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target"
    # The second pass tries again what survived the first one.
    first, second = folder / "mutants.out.old", folder / "mutants.out"
    noticed = names(second, "caught", "timeout", "previously_caught") - names(first, "unviable")
    missed = names(second, "missed")
    killed, survived = Counter(map(module, noticed)), Counter(map(module, missed))
    print("| module | viable | killed | share |\n|---|---|---|---|")
    for title in sorted(killed | survived):
        print(row(f"`{title}`", killed[title], killed[title] + survived[title]))
    print(row("all", len(noticed), len(noticed) + len(missed)), end="\n\n")
    print(*sorted(missed), sep="\n")


if __name__ == "__main__":
    main()
