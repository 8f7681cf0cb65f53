"""The layers of the repository, documented modules, and nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from helpers import ROOT

PACKAGE = ROOT / "python/ackclock"
#: Each module and each room (a folder of modules) of the package with those that it imports.
#: `ARCHITECTURE.md` describes the same rooms. `_core` is the binding.
USES = {
    "_core": "",
    "errors": "_core",
    "text": "",
    "metrics": "_core",
    "statistics": "_core",
    "page": "_core errors text",
    "arguments": "errors",
    "files": "_core errors text",
    "foreign": "_core errors text files",
    "kernel": "_core errors text",
    "kernels": "errors text files",
    "scenario": "_core errors arguments files foreign",
    "running": "_core errors text page arguments files foreign kernel kernels scenario",
    "captures": "_core errors files scenario",
    "contract": "_core errors foreign scenario",
    "starters": "errors files",
    "results": "errors arguments metrics page scenario running",
    "synchronous": "_core errors metrics files scenario",
    "queues": "_core errors text metrics page arguments files scenario",
    "studies": "_core errors text metrics statistics page arguments files scenario running",
    "evaluation": "_core errors text metrics statistics page arguments files foreign scenario queues running",
    "responses": "errors text metrics page scenario running statistics evaluation studies",
    "coexistence": "_core errors text page arguments files running scenario statistics evaluation",
    "leagues": "_core errors text metrics page arguments files running scenario statistics evaluation "
    "responses coexistence",
    "evidence": "_core errors text page files running scenario statistics evaluation",
    "tuning": "_core errors text metrics statistics page arguments files foreign running evaluation",
    "attacks": "errors text metrics statistics page arguments files running scenario synchronous evaluation "
    "tuning",
    "hardening": "errors text page arguments files running evaluation tuning attacks",
    "gym": "_core errors text arguments scenario running",
    "reproduce": "_core errors text metrics statistics page arguments files scenario running synchronous "
    "evaluation",
    "cli": "_core errors text metrics statistics page files captures contract kernel kernels starters "
    "scenario running synchronous queues studies evaluation responses coexistence leagues evidence tuning "
    "attacks hardening reproduce",
    "__main__": "text cli",
}
TOOLS = ROOT / "tools"
#: Each room of tools with those that it imports. Any of them may import the package.
TOOL_USES = {
    "markdown": "",
    "mutants": "",
    "packetdrill": "",
    "linux": "",
    "ns2": "",
    "ns3": "ns2",
    "bench": "ns2 ns3",
    "kernel": "linux",
    "evidence": "markdown",
    "docs": "evidence kernel markdown",
    "web": "bench",
}
#: Each folder of JavaScript modules with those that it imports.
WEB_USES = {
    "web/module": "",
    "web": "web/module",
    "web/report": "",
    "web/play": "web web/report",
    "web/figures": "web web/play web/report",
    "web/tests": "web web/play",
    "python/ackclock/page/rerun": "web web/play",
    "tools/docs": "web/tests",
}
#: What `make web` builds.
BUILT = "web/module"
#: Names of JavaScript modules in `import` and `export` statements, and in `import()`.
IMPORTED = re.compile(r'^(?:import|export)\b[^;"]*"([^"]+)";|\bimport\("([^"]+)"\)', re.MULTILINE)
WIDEST = 120
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
    return found


def tool_imports(path: Path, tools: Iterable[str]) -> set[str]:
    """The modules of other tools that a file imports by their bare names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found.intersection(tools)


def imported_names(script: str) -> list[str]:
    return [match[1] or match[2] for match in IMPORTED.finditer(script)]


def web_imports(path: Path) -> set[str]:
    """The JavaScript modules that a file imports, as paths from the root. `ackclock` is the folder `web`."""
    found = set()
    for name in imported_names(path.read_text(encoding="utf-8")):
        if name.startswith("."):
            found.add((path.parent / name).resolve().relative_to(ROOT).as_posix())
        elif name.split("/")[0] == "ackclock":
            found.add(f"web/{name.removeprefix('ackclock').lstrip('/') or 'ackclock.js'}")
    return found


def web_modules() -> dict[str, Path]:
    """The JavaScript files that import or export."""
    files = [path for path in (*tracked(".js"), *tracked(".mjs")) if "vendor" not in path.parts]
    return {
        path.relative_to(ROOT).as_posix(): path
        for path in files
        if path.suffix == ".mjs" or web_imports(path)
    }


def circular(uses: Mapping[str, set[str]]) -> set[str]:
    """The modules on circles of imports, and those that import them."""
    left = {module: used - {module} for module, used in uses.items()}
    while free := {module for module, used in left.items() if not used & left.keys()}:
        left = {module: used for module, used in left.items() if module not in free}
    return set(left)


def assert_layers(uses: Mapping[str, str]) -> None:
    """Each room uses only rooms that stand above it."""
    above: set[str] = set()
    for room, used in uses.items():
        assert set(used.split()) <= above, room
        above.add(room)


def modules() -> dict[str, Path]:
    paths = [path for path in PACKAGE.rglob("*.py") if path.parent.parent != PACKAGE / STARTERS]
    names = {path: path.relative_to(PACKAGE).with_suffix("").parts for path in paths}
    return {".".join(("ackclock", *parts)).removesuffix(".__init__"): path for path, parts in names.items()}


def test_rooms_import_what_the_map_says_and_nothing_else() -> None:
    found: dict[str, set[str]] = {"_core": set()}
    for module, path in modules().items():
        room = module.partition(".")[2].split(".")[0]
        if room and room not in DATA:
            found.setdefault(room, set()).update(name.split(".")[1] for name in imports(path) if "." in name)
    assert {room: used - {room} for room, used in found.items()} == {
        room: set(used.split()) for room, used in USES.items()
    }


def test_rooms_of_tools_import_what_the_map_says_and_nothing_else() -> None:
    files = {path.stem: path for path in tracked(".py") if path.parent.parent == TOOLS}
    uses = {name: tool_imports(path, files) for name, path in files.items()}
    found: dict[str, set[str]] = {}
    for name, used in uses.items():
        room = files[name].parent.name
        found.setdefault(room, set()).update(files[other].parent.name for other in used)
    assert {room: used - {room} for room, used in found.items()} == {
        room: set(used.split()) for room, used in TOOL_USES.items()
    }
    assert circular(uses) == set()


def test_folders_of_javascript_import_what_the_map_says_and_nothing_else() -> None:
    files = web_modules()
    uses = {name: web_imports(path) for name, path in files.items()}
    found: dict[str, set[str]] = {BUILT: set()}
    for name, used in uses.items():
        room = found.setdefault(files[name].parent.relative_to(ROOT).as_posix(), set())
        room.update(other.rpartition("/")[0] for other in used)
    assert {room: used - {room} for room, used in found.items()} == {
        room: set(used.split()) for room, used in WEB_USES.items()
    }
    assert circular(uses) == set()
    assert [
        other
        for used in uses.values()
        for other in used
        if not (ROOT / other).is_file() and BUILT not in other
    ] == []


def test_the_maps_go_one_way() -> None:
    for uses in (USES, TOOL_USES, WEB_USES):
        assert_layers(uses)


def test_modules_import_in_no_circle() -> None:
    found = modules().items()
    assert circular({module: imports(path) for module, path in found if module != "ackclock"}) == set()


def test_a_circle_is_found() -> None:
    assert circular({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == {"a", "b", "c"}


def test_lines_of_javascript_fit_the_width() -> None:
    """The formatter breaks no strings and no comments."""
    files = [
        path for suffix in (".js", ".mjs", ".d.ts") for path in tracked(suffix) if "vendor" not in path.parts
    ]
    wide = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > WIDEST
    ]
    assert wide == []


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
        "ackclock._core",
        "ackclock.text.table",
        "ackclock.errors",
        "ackclock.running.store",
    }


def test_imports_of_javascript_are_found_and_comments_are_not() -> None:
    script = (
        '// import { no } from "./comment.js";\nimport a, { b } from "../files.js";\nimport "./page.js";\n'
        'import {\n  c,\n} from "ackclock";\nexport * from "./csv.js";\nconst d = await import("node:fs");\n'
    )
    assert imported_names(script) == ["../files.js", "./page.js", "ackclock", "./csv.js", "node:fs"]


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
