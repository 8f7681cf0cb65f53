"""Embeds ackclock for browsers in pages that load nothing: its files, and the policy of such pages."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ackclock.errors import InputError

#: The folder `web`, which is a link in a checkout and a folder in wheels.
_ROOT = Path(__file__).parents[1] / "web"
#: The module that renders the parts of an evaluation's report. It needs no other files than its imports.
RENDERER = _ROOT / "report/report.js"
#: `make web` builds these modules: the simulator and the scores.
MODULE, SCORES = "module/ackclock_bg.wasm", "module/score_bg.wasm"
#: The required files of the folder.
_NEEDED = (
    "play/index.html",
    "ackclock.js",
    "module/ackclock.js",
    f"{MODULE}.gz",
    f"{SCORES}.gz",
    "module/suites/index.json",
)
#: The import and export statements of our modules and of wasm-bindgen.
_IMPORT = re.compile(r'^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\} )?from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*(">)')
#: The scripts that a page runs, without its data elements.
_SCRIPT = re.compile(r'<script(?: (?:type="module"|nomodule))?>(.*?)</script>', re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_ANY_SCRIPT = re.compile(r"<script.*?</script>", re.DOTALL)
#: The texts that end a script element, or begin a comment in it.
_ENDS = re.compile(r"<(/script|!--)", re.IGNORECASE)


def web() -> Path:
    """Return the folder of the live page and of ackclock for JavaScript.

    Raises:
        InputError: if the module is not built.
    """
    if not all((_ROOT / name).is_file() for name in _NEEDED):
        raise InputError("the simulator for browsers is not built here; in a checkout of ackclock: make web")
    return _ROOT


def module(name: str = MODULE) -> bytes:
    """Return a module, compressed by gzip. Raises `InputError` if it is not built."""
    return (web() / f"{name}.gz").read_bytes()


def packed_module(name: str = MODULE) -> str:
    """Return a module as base64 of gzip, for pages. Raises `InputError` if it is not built."""
    return base64.b64encode(module(name)).decode()


def packed_file(name: str) -> str:
    """Return another file as base64 of gzip, for pages. Raises `InputError` if the modules are not built."""
    path = web() / name
    return base64.b64encode(_packed(path, path.stat().st_mtime_ns)).decode()


@lru_cache(maxsize=64)
def _packed(path: Path, changed_ns: int) -> bytes:
    """Return a compressed file. The cache holds it until the file changes."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


def data(name: str, text: str) -> str:
    """Return an element with a text that the page itself does not run, such as a worker."""
    return f'<script type="text/plain" id="{name}">\n{_within(text)}\n</script>'


def script(text: str, attribute: str = "") -> str:
    """Return an element of a page that runs a script."""
    return f"<script{attribute}>\n{_within(text)}\n</script>"


def _within(text: str) -> str:
    """Return an equivalent script whose texts cannot end its element."""
    return _ENDS.sub(r"<\\\1", text)


def with_policy(page: str, *, has_styles: bool = False) -> str:
    """Return a page with a policy that permits its own scripts, WebAssembly, and workers from its texts.

    The policy forbids network requests. `has_styles`: its elements contain style attributes.
    """
    styles = "'unsafe-inline'" if has_styles else _hashes(_STYLE.findall(_ANY_SCRIPT.sub("", page)))
    scripts = _hashes(_SCRIPT.findall(page))
    policy = (
        f"default-src 'none'; style-src {styles}; script-src {scripts} 'wasm-unsafe-eval'; worker-src blob:; "
        "connect-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return _POLICY.sub(rf"\g<1>{policy}\g<2>", page, count=1)


def _hashes(texts: list[str]) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def bundle(entry: Path) -> str:
    """Return a module of JavaScript and its imports as one script, which loads nothing.

    The constant `entry` contains the exports of the module. `ackclock` and `ackclock/...` refer to the folder
    `web`. Raises `InputError` if it is not built.
    """
    found: dict[Path, str] = {}
    _take(entry.resolve(), _ROOT.resolve(), found, ())
    *others, last = found.values()
    parts = [f"const m{number} = {text}" for number, text in enumerate(others)]
    return "\n".join(['"use strict";', *parts, f"const entry = {last}"])


def _take(path: Path, root: Path, found: dict[Path, str], within: tuple[Path, ...]) -> None:
    """Add a module after its imports."""
    if path in found:
        return
    assert path not in within, f"{path.name} imports itself, through {[each.name for each in within]}"
    if not path.is_file():
        web()
    text = path.read_text(encoding="utf-8")
    imports = {}
    for match in _IMPORT.finditer(text):
        of_package = match[3].startswith("ackclock")
        name = match[3].removeprefix("ackclock").lstrip("/") or "ackclock.js"
        imports[match[0]] = ((root / name) if of_package else (path.parent / match[3])).resolve()
        _take(imports[match[0]], root, found, (*within, path))
    numbers = {each: number for number, each in enumerate(found)}

    def constants(match: re.Match[str]) -> str:
        default = [f"default: {match[1]}"] if match[1] else []
        names = [" : ".join(pair) for pair in _pairs(match[2] or "")]
        return f"const {{ {', '.join([*default, *names])} }} = m{numbers[imports[match[0]]]};\n"

    exported = [match[1] for match in _EXPORT.finditer(text)]
    exported += [
        f"{outside}: {inside}" for names in _EXPORTS.findall(text) for inside, outside in _pairs(names)
    ]
    body = _EXPORTS.sub("", _EXPORT.sub("", _IMPORT.sub(constants, text)))
    # A script has no address, so the page passes its files to it.
    body = body.replace("import.meta.url", "undefined")
    left = _LEFT.search(body)
    assert left is None, f"{path.name}: cannot be put into a script: {left and left[0]}"
    found[path] = f"(() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _pairs(names: str) -> Iterator[tuple[str, str]]:
    """Yield the names of a list `a, b as c`, each with its alias."""
    for name in filter(None, (part.strip() for part in names.split(","))):
        before, _, after = name.partition(" as ")
        yield before, after or before
