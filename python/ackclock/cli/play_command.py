"""`ackclock play`."""

from __future__ import annotations

import base64
import json
import sys
import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import click

from ackclock.cli.console import emit, talk
from ackclock.errors import InputError
from ackclock.files.documents import read_text
from ackclock.files.writing import write_target
from ackclock.page import live

#: Characters of a fragment that the page reads.
_LONGEST = 100_000


@click.command("play")
@click.argument("file", required=False, type=click.Path())
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="WHERE",
    help="Write the page and exit. NAME.html is the live page in one file. Any other name is a folder with "
    "the live page and the pages of evaluations and of a queue alone.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port. Default: a free one.")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
def command(file: str | None, save: Path | None, port: int, no_open: bool) -> int:
    """Serve the live page on 127.0.0.1 until Ctrl-C, with the scenario FILE in it.

    The page computes everything itself. Its address contains the scenario, so a link shows others the same
    run. With --save it is a file that any browser opens from disk.
    """
    fragment = "" if file is None else opening(Path(file))
    if save is not None:
        write(save, fragment)
        return 0
    # A missing module is reported before a browser opens. The compressed page is kept.
    live.live_page()
    try:
        server = _Server(("127.0.0.1", port), _Pages)
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}; leave it out to take a free one") from None
    with server:
        address = f"http://127.0.0.1:{server.server_address[1]}/" + (f"#{fragment}" if fragment else "")
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
    """The fragment of an address that opens a scenario of any length."""
    document = json.dumps({"text": text, "sets": [], "changes": []})
    return "1j." + base64.urlsafe_b64encode(document.encode()).decode().rstrip("=")


def write(where: Path, fragment: str) -> None:
    """Write the live page to a file, or all pages into a folder, and print which files there are.

    Raises:
        InputError: if the modules are not built, or a file cannot be written.
    """
    if where.suffix.lower() in (".html", ".htm"):
        pages = {where: live.live_page(fragment, is_alone=True)}
    else:
        pages = {
            where / live.LIVE: live.live_page(fragment),
            where / live.EVALUATION: live.evaluation_page(),
            where / live.QUEUE: live.queue_page(),
        }
    try:
        for path, page in pages.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_target(path, page.encode())
            emit(str(path))
    except OSError as error:
        raise InputError(f"--save {where}: {error.strerror}") from None


class _Server(ThreadingHTTPServer):
    """A server that ignores clients which leave early."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a connection that was closed or reset, and report any other fault."""
        if not isinstance(sys.exception(), OSError):
            talk(f"error: a request was not answered: {sys.exception()!r}")


class _Pages(BaseHTTPRequestHandler):
    """The pages, made of their sources at each request."""

    #: Seconds that a client may wait with its request.
    timeout = 10

    pages: dict[str, Callable[[], str]] = {  # noqa: RUF012 - never changed
        "/": live.live_page,
        f"/{live.LIVE}": live.live_page,
        f"/{live.EVALUATION}": live.evaluation_page,
        f"/{live.QUEUE}": live.queue_page,
    }

    def do_GET(self) -> None:
        """Send a page."""
        try:
            make = self.pages.get(urlsplit(self.path).path)
        except ValueError:
            self.send_error(400)
            return
        if make is None:
            self.send_error(404)
            return
        page = make().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        # The page contains the rest of its policy. A page cannot forbid frames itself.
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing about requests."""
