"""Compares the outputs on the pages with the outputs of the commands above them.

    python tools/docs/outputs.py PAGE ...            print each shown line that differs (exit code 1)
    python tools/docs/outputs.py --write PAGE ...    replace these lines

A block ```text belongs to the block ```console right above it. All commands of a page run in one temporary
folder, in the order of the page. A scenario of the page is a file if the sentence above it names the file.
A shown line is compared with the next printed line that begins with the same word. Speeds may differ.
"""

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The name of a file in the text before a block.
NAME = re.compile(r"as\s+`([\w.-]+)`[^`]*:\s*$")
#: Lines that show times or mark an omission.
LOOSE = re.compile(r"^\.\.\.$|about .* workers|CPU second|^time ")
#: The longest gap between the blocks of a command and of its output, in characters.
GAP = 80


def renewed(text: str, folder: Path) -> str:
    """Return the page with present outputs."""
    parts: list[str] = []
    printed: list[str] = []
    done, command_end = 0, -GAP
    for block in BLOCK.finditer(text):
        language, body = block[1], block[3]
        named = NAME.search(text[: block.start()])
        if named:
            (folder / named[1]).write_text(body, encoding="utf-8")
        elif language == "console":
            printed, command_end = outputs(body, folder), block.end()
        elif language == "text" and block.start() - command_end < GAP:
            parts += [text[done : block.start(3)], present(body, printed)]
            done = block.end(3)
    return "".join([*parts, text[done:]])


def outputs(block: str, folder: Path) -> list[str]:
    """Run the commands of a block, and return the lines that they print."""
    environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
    # Without a width, tables contain all columns.
    environment.pop("COLUMNS", None)
    printed = list[str]()
    for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        printed += done.stdout.splitlines()
    return printed


def present(shown: str, printed: list[str]) -> str:
    """Return the shown lines as they are printed. A line without a printed counterpart stays."""
    lines, at = [], 0
    for line in shown.splitlines():
        same = (index for index in range(at, len(printed)) if begins(printed[index]) == begins(line))
        found = None if LOOSE.search(line) else next(same, None)
        lines.append(line if found is None else printed[found].rstrip())
        at = at if found is None else found + 1
    return "".join(f"{line}\n" for line in lines)


def begins(line: str) -> tuple[str, bool]:
    """Return the first word of a line, and whether it is the only one. The word of a rule is empty."""
    words = line.replace("─", "").split()
    return (words[0] if words else "", len(words) > 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="Replace the lines that differ.")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    differs = False
    for page in arguments.pages:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            text = page.read_text(encoding="utf-8")
            new = renewed(text, Path(folder))
        for old, line in zip(text.splitlines(), new.splitlines(), strict=True):
            if old != line:
                print(f"{page}: {old}\n{' ' * len(str(page))}  {line}")
                differs = True
        if arguments.write:
            page.write_text(new, encoding="utf-8")
    return 1 if differs and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
