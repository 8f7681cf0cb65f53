"""Files that take memory, time or the process: one line, exit code 2, under a limit on memory."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import ROOT, TINY, cli
from test_bad_input import check_refused

from ackclock.errors import InputError
from ackclock.files import reading
from ackclock.files.documents import read_json, read_toml, toml_of

#: Bytes of address space that a command may have.
_MEMORY = 4_000_000_000


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _huge(path: Path) -> Path:
    """A file without content, and larger than any limit but that of captures."""
    with path.open("wb") as file:
        file.truncate(3 << 30)
    return path


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


_ODD: dict[str, Callable[[Path], Path]] = {"huge": _huge, "pipe": _pipe, "device": lambda path: path}
_COMMANDS = {
    "run": ("run", "{}"),
    "check": ("check", "{}"),
    "json": ("run", "{}"),
    "study": ("study", "{}"),
    "exchange": ("exchange", "{}"),
    "play": ("play", "--no-open", "{}"),
    "python": ("check-cc", "{}"),
    "library": ("check-cc", "{}"),
    "object": ("check-cc", "{}"),
    "trace": ("run", "--trace", "{}", "--rtt", "40 ms", "--flows", "aimd"),
    "rule": ("run", "--flows", "{}"),
    "suite": ("evaluate", "aimd", "--suite", "{}"),
    "capture": ("compare-capture", "{}"),
}
_NAMES = {
    "json": "a.json",
    "python": "a.py",
    "library": "a.so",
    "object": "a.bpf.o",
    "exchange": "a.pkt",
    "rule": "a.rule",
    "suite": "suite.toml",
}


@pytest.mark.parametrize("kind", _ODD)
@pytest.mark.parametrize("command", _COMMANDS)
def test_only_regular_files_within_the_limit_are_read(command: str, kind: str, tmp_path: Path) -> None:
    if (command, kind) == ("capture", "huge"):
        pytest.skip("captures may be as large, and are read packet by packet")
    path = tmp_path / _NAMES.get(command, "a.toml")
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        _ODD[kind](path)
    given = tmp_path if command == "suite" else path
    arguments = [argument.format(given) for argument in _COMMANDS[command]]
    answer = cli(*arguments, before=_limited)
    expected = "it is larger than" if kind == "huge" else "is not a regular file"
    if command == "suite" and kind != "huge":
        expected = "no folder of that name has a suite.toml"
    check_refused(answer, expected, lines=3)


def test_limits_of_python_are_those_of_rust() -> None:
    source = (ROOT / "crates" / "ackclock-input" / "src" / "lib.rs").read_text()
    found = {name: eval(value) for name, value in re.findall(r"pub const (\w+): u64 = ([\d <]+);", source)}
    assert found == {name: getattr(reading, name) for name in ("TEXT", "OBJECT", "CAPTURE")}


_BRACKETS = "[" * 3000 + "]" * 3000
_DOTTED = ".".join("a" * 20_000) + " = 1\n"


@pytest.mark.parametrize(
    "text", [f"a = {_BRACKETS}\n", _DOTTED, f"[{_DOTTED[:-5]}]\n", "a = " + '{"b"=' * 3000]
)
@pytest.mark.parametrize("command", ["run", "study"])
def test_what_is_nested_deeply_is_one_line(command: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    check_refused(cli(command, path, before=_limited), "64", lines=2)


def test_nesting_is_counted_outside_of_strings_and_comments(tmp_path: Path) -> None:
    text = f"a = \"{'[' * 99}\\\"{'[' * 99}\" # {'{' * 99}\nb = '''\n{'[' * 99}'''\nc = '{'a.' * 99}'\n"
    assert toml_of(text)["c"] == "a." * 99
    assert reading.too_deep('"' * 3 + "[" * 99) == "" != reading.too_deep("[" * 99)
    deep = tmp_path / "deep.json"
    deep.write_text(_BRACKETS)
    with pytest.raises(InputError, match="is nested too deeply"):
        read_json(deep)
    deep.write_text("a." * 64 + "b = 1")
    with pytest.raises(InputError, match="is not TOML: a key has more than 64 dotted parts"):
        read_toml(deep)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--set", f"flows.test.cc={_BRACKETS}"),
        ("--set", f"flows.test.cc={{ kind = 'rule', grow = '{'(' * 3000}1{')' * 3000}', cut = 'w/2' }}"),
        ("--set", f"flows.test.cc={{ kind = 'rule', grow = '{'-' * 9000}1', cut = 'w/2' }}"),
        ("--set", f"flows.test.cc={{ kind = 'rule', grow = '{'+'.join('1' * 9000)}', cut = 'w/2' }}"),
        ("--set", f"{'a.' * 20_000}b=1"),
    ],
)
def test_deep_values_and_rules_are_refused(arguments: tuple[str, ...], tiny: Path) -> None:
    check_refused(cli("run", tiny, *arguments, before=_limited), lines=6)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT {'+'.join('1' * 8000)} FROM runs", "at most 2000 words and signs"),
        (f"SELECT '{'a' * 30_000}' FROM runs", "at most 20000 characters"),
        (f"SELECT {'(' * 80}1{')' * 80} FROM runs", "more than 64 brackets are nested in a query"),
    ],
)
def test_a_query_is_bounded(sql: str, expected: str, tiny: Path, tmp_path: Path) -> None:
    assert cli("run", tiny, "--out", tmp_path / "out").code == 0
    check_refused(cli("query", sql, "--store", tmp_path / "out", before=_limited), expected)


@pytest.mark.parametrize(
    ("error", "said"), [(RecursionError, "nested too deeply"), (MemoryError, "too large")]
)
def test_errors_of_depth_and_memory_are_one_line(error: type, said: str) -> None:
    program = (
        "from ackclock.cli import query_command, run_command_line\n"
        f"def answer(*_, **__): raise {error.__name__}\n"
        "query_command.Store.reading = answer\n"
        "import sys; sys.argv = ['ackclock', 'query', 'FROM runs', '--store', '.']\n"
        "sys.exit(run_command_line())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1 and said in done.stderr


@pytest.mark.parametrize(
    "request_",
    [
        b"GET http://[ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\xff\r\n\r\n",
        b"GET /" + b"a" * 70_000,
        b"",
    ],
)
def test_the_server_of_the_live_page_says_nothing_of_odd_clients(request_: bytes, tmp_path: Path) -> None:
    scenario = tmp_path / "tiny.toml"
    scenario.write_text(TINY)
    program = (
        "import sys\n"
        "from ackclock.page import live\n"
        "live.live_page = live.evaluation_page = lambda *_, **__: 'a page' * 99999\n"
        "from ackclock.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", program, "play", "--no-open", str(scenario)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stderr is not None
        port = int(re.findall(r":(\d+)/", server.stdout.readline())[0])
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port), 10) as client:
                # Closed with a reset as soon as it has sent, before an answer is read.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
                client.sendall(request_)
        with socket.create_connection(("127.0.0.1", port), 10) as client:
            client.sendall(b"GET http://[ HTTP/1.0\r\n\r\n")
            assert client.recv(99).startswith(b"HTTP/1.0 400")
        server.terminate()
        assert server.stderr.read() == "Ctrl-C ends it\n"


def test_a_client_that_waits_is_left_after_ten_seconds() -> None:
    from ackclock.cli import play_command

    assert play_command._Pages.timeout == 10
