"""What the repository holds: documented modules, and nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT

PACKAGE = ROOT / "python/ackclock"
#: Each module and each room (a folder of modules) of the package with those that it imports.
#: `ARCHITECTURE.md` describes the same rooms.
USES = {
    "errors": "",
    "text": "",
    "metrics": "",
    "statistics": "",
    "page": "errors statistics text",
    "arguments": "errors",
    "files": "errors text",
    "foreign": "errors text files",
    "kernel": "errors text",
    "kernels": "errors text files",
    "scenario": "errors arguments files foreign",
    "running": "errors text page arguments files foreign kernel kernels scenario",
    "captures": "errors files scenario",
    "contract": "errors foreign scenario",
    "starters": "errors files",
    "results": "errors arguments metrics page scenario running",
    "synchronous": "errors metrics files scenario",
    "studies": "errors text metrics statistics page arguments files scenario running",
    "evaluation": "errors text metrics statistics page arguments files foreign scenario running",
    "evidence": "errors text page files running scenario statistics evaluation",
    "tuning": "errors text metrics statistics page arguments files foreign running evaluation",
    "gym": "errors text arguments scenario running",
    "reproduce": "errors text metrics statistics page arguments files scenario running synchronous "
    "evaluation",
    "cli": "errors text metrics page files captures contract kernel kernels starters scenario running "
    "synchronous studies evaluation evidence tuning reproduce",
    "__main__": "text cli",
}
#: Data, which are opened and not imported.
DATA = {"papers", "suites"}
#: Files that become those of users.
STARTERS = "starters"
#: Folders that exist on some machines only.
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|root|home)/")


def tracked(suffix: str = "") -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone of the repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    names = [name for name in listed.stdout.split("\0") if name.endswith(suffix) and name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_file_mentions_a_machine() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if MACHINE.search(line) and path != Path(__file__)
        ]
    assert found == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def module_file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    files = (path / "__init__.py", path.with_suffix(".py"), path.with_suffix(".pyi"))
    return next((file for file in files if file.is_file()), None)


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports: at its top, in functions, or for types only."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "ackclock":
            names = [f"{node.module}.{name.name}" for name in node.names]
            found |= {name if module_file(name) else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] == "ackclock"}
    return found - {"ackclock._core"}


def modules() -> dict[str, Path]:
    paths = [path for path in PACKAGE.rglob("*.py") if path.parent.parent != PACKAGE / STARTERS]
    names = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in paths}
    return {".".join(("ackclock", *parts)).removesuffix(".__init__"): path for path, parts in names.items()}


def test_rooms_import_what_the_map_says_and_nothing_else() -> None:
    found: dict[str, set[str]] = {}
    for module, path in modules().items():
        room = module.partition(".")[2].split(".")[0]
        if room and room not in DATA:
            found.setdefault(room, set()).update(name.split(".")[1] for name in imports(path) if "." in name)
    assert {room: used - {room} for room, used in found.items()} == {
        room: set(used.split()) for room, used in USES.items()
    }


def test_the_map_goes_one_way() -> None:
    """Each room uses only rooms that stand above it."""
    above: set[str] = set()
    for room, used in USES.items():
        assert set(used.split()) <= above, room
        above.add(room)


def test_modules_import_in_no_circle() -> None:
    uses = {module: imports(path) - {module} for module, path in modules().items() if module != "ackclock"}
    while free := {module for module, used in uses.items() if not used & uses.keys()}:
        uses = {module: used for module, used in uses.items() if module not in free}
    assert uses == {}


def test_no_module_imports_the_public_names() -> None:
    """They are for users; inside, a name is imported from where it is defined."""
    assert [module for module, path in modules().items() if "ackclock" in imports(path)] == []


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "from ackclock import _core\nfrom ackclock import run\nfrom ackclock.text import table\n"
        "import ackclock.errors\ndef f():\n    from ackclock.running.store import Store\n"
    )
    assert imports(file) == {
        "ackclock",
        "ackclock.text.table",
        "ackclock.errors",
        "ackclock.running.store",
    }


def test_only_the_console_prints() -> None:
    """It alone keeps from the terminal what files must not tell it."""
    printing = re.compile(r"\b(?:click\.s?echo|print|sys\.std(?:out|err)\.write)\(")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if path.is_relative_to(ROOT / "python") and printing.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["python/ackclock/cli/console.py"]


def test_the_pattern_finds_what_it_should() -> None:
    assert MACHINE.search('path = "/work/x"') and MACHINE.search("see /root/notes")
    assert not MACHINE.search("a network/work/x") and not MACHINE.search("https://example.org/work/x")
