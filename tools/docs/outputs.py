"""Compares the outputs on pages with the outputs of the commands above them.

    python tools/docs/outputs.py PAGE ...            print each shown line that differs (exit code 1)
    python tools/docs/outputs.py --write PAGE ...    replace these lines

A block ```text belongs to the block ```console right above it. All commands of a page run in one temporary
folder, in the order of the page. The folder contains the files of the blocks `file=NAME`. A shown line is
compared with the next printed line that begins with the same word. Speeds may differ. A command that fails is
a difference, and so is a shown line without a printed one.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "markdown"))

from fences import blocks, commands, run

ROOT = Path(__file__).resolve().parents[2]
#: Lines that show times or mark an omission.
LOOSE = re.compile(r"^\.\.\.$|about .* workers|CPU second|^time ")
#: The longest gap between the blocks of a command and of its output, in characters.
GAP = 80


def renewed(page: str, folder: Path) -> str:
    """Return the page with present outputs.

    Raises `ValueError` if a command fails, or if a shown line has no printed counterpart.
    """
    parts: list[str] = []
    printed: list[str] = []
    done, command_end = 0, -GAP
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            printed, command_end = outputs(block.text, folder), block.end
        elif block.language == "text" and block.start - command_end < GAP:
            parts += [page[done : block.text_start], present(block.text, printed)]
            done = block.text_end
    return "".join([*parts, page[done:]])


def outputs(block: str, folder: Path) -> list[str]:
    """Run the commands of a block, and return the lines that they print."""
    printed: list[str] = []
    for command in commands(block):
        answer = run(folder, "sh", "-c", command)
        if answer.returncode != 0:
            raise ValueError(f"{command}\n{answer.stderr.rstrip()}")
        printed += answer.stdout.splitlines()
    return printed


def present(shown: str, printed: list[str]) -> str:
    """Return the shown lines as they are printed."""
    lines, at = [], 0
    for line in shown.splitlines():
        if LOOSE.search(line):
            lines.append(line)
            continue
        begun = (index for index in range(at, len(printed)) if begins(printed[index]) == begins(line))
        if (found := next(begun, None)) is None:
            raise ValueError(f"no printed line begins as: {line}")
        lines.append(printed[found].rstrip())
        at = found + 1
    return "".join(f"{line}\n" for line in lines)


def begins(line: str) -> tuple[str, bool]:
    """Return the first word of a line, and whether more words follow. The word of a rule is empty."""
    words = line.replace("─", "").split()
    return (words[0] if words else "", len(words) > 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="Replace the lines that differ.")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    differs = False
    for page in arguments.pages:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            try:
                new = renewed(text, Path(folder))
            except ValueError as error:
                print(f"{page}: {error}")
                differs = True
                continue
        for old, line in zip(text.splitlines(), new.splitlines(), strict=True):
            if old != line:
                print(f"{page}: {old}\n{' ' * len(str(page))}  {line}")
                differs |= not arguments.write
        if arguments.write:
            page.write_text(new, encoding="utf-8")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
