"""`ackclock play`."""

from __future__ import annotations

import base64
import json
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click

from ackclock.cli.console import emit, talk
from ackclock.errors import InputError
from ackclock.files.documents import read_text
from ackclock.page.embedded import web

#: Characters of a fragment that the page reads.
_LONGEST = 100_000
#: The page asks for its own files and nothing else, and runs no script but these.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; "
    "worker-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@click.command("play")
@click.argument("file", required=False, type=click.Path())
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; a free one by default.")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
def command(file: str | None, port: int, no_open: bool) -> int:
    """Serve the live page on 127.0.0.1 until Ctrl-C, with the scenario FILE in it.

    Everything is computed in the page. What it shows is in its address, so that a link gives others the same
    run.
    """
    root = web()
    fragment = "" if file is None else "#" + opening(Path(file))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Files, directory=str(root)))
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}; leave it out to take a free one") from None
    with server:
        address = f"http://127.0.0.1:{server.server_address[1]}/play/{fragment}"
        emit(address)
        talk("Ctrl-C ends it")
        if not no_open:
            webbrowser.open(address)
        server.serve_forever()
    return 0


def opening(file: Path) -> str:
    """The fragment of an address that opens a scenario file, as `web/play/link.js` reads it.

    Raises:
        InputError: for a scenario that has mistakes or does not fit into an address.
    """
    from ackclock.scenario import Scenario

    Scenario.from_file(file)
    fragment = packed(read_text(file))
    if len(fragment) > _LONGEST:
        raise InputError(
            f"{file}: too long for the address of a page: {len(fragment)} characters of {_LONGEST}"
        )
    return fragment


def packed(text: str) -> str:
    """The fragment of an address that opens a scenario, whatever its length."""
    document = json.dumps({"text": text, "sets": [], "changes": []})
    return "1j." + base64.urlsafe_b64encode(document.encode()).decode().rstrip("=")


class _Files(SimpleHTTPRequestHandler):
    """Files of a folder, under a strict policy."""

    #: One connection for many files.
    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012 - as the base class has it
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".svg": "image/svg+xml",
    }

    def do_GET(self) -> None:
        """Send a file; the root is the page."""
        if self.path == "/":
            self.send_response(302)
            self.send_header("Location", "/play/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        super().do_GET()

    def end_headers(self) -> None:
        """Add what goes with every answer."""
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of what is asked for."""
