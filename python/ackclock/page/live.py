"""Builds the live page and the pages of evaluations and queues, each as one file that loads nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from ackclock.page.embedded import (
    MODULE,
    SCORES,
    bundle,
    data,
    packed_file,
    packed_module,
    script,
    web,
    with_policy,
)

#: The file names by which the pages link to each other.
LIVE, EVALUATION, QUEUE = "index.html", "evaluate.html", "queue.html"
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_ICON = re.compile(r'(?<=<link rel="icon" href=")([^"]+)(?=" type="([^"]+)">)')
_SCRIPT = re.compile(r'<script( type="module"| nomodule) src="([^"]+)"></script>')


def live_page(opening: str = "", *, is_alone: bool = False) -> str:
    """Return the live page.

    `opening`: the address fragment for a page that is opened without one. `is_alone`: whether the other
    pages are missing. Raises `InputError` if the module for browsers is not built.
    """
    begins = {"opening": opening} if opening else {}
    page = _whole(LIVE, begins | engine() | _packed("play/lessons", "*"))
    return page.replace("<html", "<html data-alone", 1) if is_alone else page


def evaluation_page() -> str:
    """Return the page of evaluations, with all suites. Raises `InputError` if the modules are not built."""
    modules = {name: packed_module(name) for name in (MODULE, SCORES)}
    worker = {"evaluator.js": bundle(web() / "evaluator.js")}
    return _whole(EVALUATION, worker | modules | _packed("module/suites", "*.json"))


def queue_page() -> str:
    """Return the page of a queue alone. Raises `InputError` if the module is not built."""
    return _whole(QUEUE, {MODULE: packed_module()})


def engine() -> dict[str, str]:
    """Return the worker of the live page and the module, by name, for pages that simulate."""
    return {"play/worker.js": bundle(web() / "play/worker.js"), MODULE: packed_module()}


def _packed(folder: str, pattern: str) -> dict[str, str]:
    names = (f"{folder}/{path.name}" for path in sorted((web() / folder).glob(pattern)))
    return {name: packed_file(name) for name in names}


def _whole(name: str, carried: Mapping[str, str]) -> str:
    """Return a page of the folder `play` with its styles, scripts and data embedded."""
    folder = web() / "play"

    def style(match: re.Match[str]) -> str:
        return f"<style>\n{(folder / match[1]).read_text(encoding='utf-8')}</style>"

    def run(match: re.Match[str]) -> str:
        path = folder / match[2]
        text = path.read_text(encoding="utf-8") if match[1] == " nomodule" else bundle(path)
        return script(text, match[1])

    def icon(match: re.Match[str]) -> str:
        return f"data:{match[2]};base64,{base64.b64encode((folder / match[1]).read_bytes()).decode()}"

    page = _ICON.sub(icon, _STYLE.sub(style, (folder / name).read_text(encoding="utf-8")))
    before, body, after = _SCRIPT.sub(run, page).rpartition("</body>")
    return with_policy(before + "\n".join([*(data(*each) for each in carried.items()), body]) + after)
