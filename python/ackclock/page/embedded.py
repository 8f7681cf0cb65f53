"""ackclock for browsers, to be put into pages that load nothing: its files, and what such a page may do."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ackclock.errors import InputError

#: The folder `web` of a checkout is a link in this package, and a folder of it in wheels.
_ROOT = Path(__file__).parents[1] / "web"
#: Built by `make web`.
MODULE = "module/ackclock_bg.wasm"
#: What is in it, with the modules.
_NEEDED = ("play/index.html", "ackclock.js", "module/ackclock.js", MODULE, "module/suites/index.json")
#: What modules of ours and of wasm-bindgen say at the beginnings of lines.
_IMPORT = re.compile(r'^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\} )?from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_POLICY = re.compile(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*(">)')
#: Scripts that a page runs, which are not its data.
_SCRIPT = re.compile(r'<script(?: (?:type="module"|nomodule))?>(.*?)</script>', re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_ANY_SCRIPT = re.compile(r"<script.*?</script>", re.DOTALL)
#: What ends a script of a page, or begins a comment in it.
_ENDS = re.compile(r"<(/script|!--)", re.IGNORECASE)


def web() -> Path:
    """Return the folder of the live page and of ackclock for JavaScript.

    Raises:
        InputError: if the module is not built.
    """
    if not all((_ROOT / name).is_file() for name in _NEEDED):
        raise InputError("the simulator for browsers is not built here; in a checkout of ackclock: make web")
    return _ROOT


def module() -> bytes:
    """Return the module, compressed by gzip. Raises `InputError` if it is not built."""
    return _packed_file(web() / MODULE)


def packed_file(name: str) -> str:
    """Return a file of the folder as pages carry it: base64 of gzip. Raises `InputError` if not built."""
    return base64.b64encode(_packed_file(web() / name)).decode()


def _packed_file(path: Path) -> bytes:
    return _packed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _packed(path: Path, changed_ns: int) -> bytes:
    """Return a file compressed: once, until it is written anew."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


def data(name: str, text: str) -> str:
    """Return an element of a page with a text, as of a worker, that the page itself does not run."""
    return f'<script type="text/plain" id="{name}">\n{_within(text)}\n</script>'


def script(text: str, attribute: str = "") -> str:
    """Return an element of a page that runs a script."""
    return f"<script{attribute}>\n{_within(text)}\n</script>"


def _within(text: str) -> str:
    """Return a script that means the same, and whose texts do not end the element in which it stands."""
    return _ENDS.sub(r"<\\\1", text)


def with_policy(page: str, *, has_styles: bool = False) -> str:
    """Return a page that says what it may do: run its own scripts, WebAssembly, and workers made of texts.

    It may ask for nothing. `has_styles`: its elements have styles of their own.
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
    """Return a module of JavaScript with all that it imports as one script, which loads nothing.

    What the module exports is in the constant `entry`. `ackclock` and `ackclock/...` are of the folder `web`.
    Raises `InputError` if that is not built.
    """
    found: dict[Path, str] = {}
    _take(entry.resolve(), web().resolve(), found, ())
    *others, last = found.values()
    parts = [f"const m{number} = {text}" for number, text in enumerate(others)]
    return "\n".join(['"use strict";', *parts, f"const entry = {last}"])


def _take(path: Path, root: Path, found: dict[Path, str], within: tuple[Path, ...]) -> None:
    """Add a module to those that are found, after what it imports."""
    if path in found:
        return
    assert path not in within, f"{path.name} imports itself, through {[each.name for each in within]}"
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
    # A script has no address of its own: what is beside it is given to it.
    body = body.replace("import.meta.url", "undefined")
    left = _LEFT.search(body)
    assert left is None, f"{path.name}: cannot be put into a script: {left and left[0]}"
    found[path] = f"(() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _pairs(names: str) -> Iterator[tuple[str, str]]:
    """Give the names of a list `a, b as c`, each with the one that it gets."""
    for name in filter(None, (part.strip() for part in names.split(","))):
        before, _, after = name.partition(" as ")
        yield before, after or before
