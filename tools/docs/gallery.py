"""Runs a notebook in IPython and prints the resulting page as Markdown.

    python tools/docs/gallery.py NOTEBOOK.ipynb

A failing cell ends the run: the traceback goes to stderr, and the exit code is 1. Each notebook runs in a
process of its own, in a temporary folder.
"""

from __future__ import annotations

import base64
import html
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: A wide table scrolls and does not widen the page.
_SHOWN = '<div style="overflow-x: auto">\n{}\n</div>'


class NotebookError(Exception):
    """A cell failed, with its traceback as the text."""


def run(notebook: Path) -> str:
    """Return the page of a notebook, which runs in a new process. Raises `NotebookError`."""
    done = subprocess.run(
        [sys.executable, __file__, str(notebook)], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise NotebookError(f"{notebook.name}: {done.stderr}")
    return done.stdout


def page(notebook: Path) -> str:
    """Run a notebook here, and return its page."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    shell = InteractiveShell.instance(config=config, ipython_dir=str(Path.cwd()))
    parts = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        with capture_output() as captured:
            # What the last line is shown by, which would print it.
            shell.display_trap.hook = sys.displayhook
            result = shell.run_cell(source, store_history=True)
        if not result.success:
            raise NotebookError(captured.stdout + captured.stderr)
        parts.append(f"```python\n{source}\n```")
        if printed := captured.stdout + captured.stderr:
            parts.append(f"```text\n{printed.rstrip()}\n```")
        parts += [_shown(output.data) for output in captured.outputs]
    parts.append(f'<a href="{notebook.name}" download>This notebook for Jupyter</a>')
    return "\n\n".join(parts) + "\n"


def _shown(bundle: dict[str, Any]) -> str:
    """Return the richest form of a cell's output."""
    if "text/html" in bundle:
        return _SHOWN.format(bundle["text/html"])
    if "image/png" in bundle:
        # Bytes of an object that draws itself, text of the inline backend.
        value = bundle["image/png"]
        data = value if isinstance(value, str) else base64.b64encode(value).decode()
        return _SHOWN.format(f'<img alt="" style="max-width: 100%" src="data:image/png;base64,{data}">')
    return _SHOWN.format(f"<pre>{html.escape(bundle['text/plain'])}</pre>")


if __name__ == "__main__":
    path = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            text = page(path)
        except NotebookError as error:
            sys.exit(str(error))
        finally:
            os.chdir(path.parent)
    print(text, end="")
