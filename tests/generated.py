"""Generates inputs of one kind and gives them to commands, in a process with a limit on memory.

    python tests/generated.py KIND SEED SECONDS

Prints how many inputs there were. A traceback, another exit code and a crash end it.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from helpers import ROOT, TINY

from ackclock.cli import run_command_line

#: Bytes of address space, and seconds of one input.
_MEMORY, _LONGEST = 4_000_000_000, 20.0
_NUMBERS = [0, 1, 127, 128, 255, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1]
_TOKENS = [*'[]{}"=.\n\x00é', "'''", "1e999", "-1", "inf", "nan", "\x1b[2J", "9" * 40]
_STUDY = """\
scenario = "tiny.toml"
replicates = 2

[grid]
"topology.queue.limit" = ["5 packets", "9 packets"]
"""
_QUERIES = ["FROM runs", "FROM flows", "FROM links", "FROM histograms", "SELECT count(*) FROM runs"]
_WORDS = "SELECT FROM runs flows WHERE AND OR NOT ( ) , * + - / = < 'a' 1 2 goodput_bps GROUP BY ORDER sum"


def changed(content: bytes, luck: random.Random) -> bytes:
    """Return bytes of which some are changed, doubled, left out or cut off."""
    found = bytearray(content)
    for _ in range(luck.choice([1, 1, 2, 4, 16])):
        at, size = luck.randrange(len(found) + 1), luck.choice([1, 2, 4, 8])
        match luck.randrange(6):
            case 0:
                found[at : at + 1] = luck.randbytes(1)
            case 1:
                number = luck.choice(_NUMBERS) & (1 << 8 * size) - 1
                found[at : at + size] = number.to_bytes(size, luck.choice(["little", "big"]))
            case 2:
                found[at:at] = found[at : at + luck.choice([1, 16, 100])]
            case 3:
                del found[at : at + luck.choice([1, 4, 50])]
            case 4:
                found[at:at] = luck.choice(_TOKENS).encode()
            case _ if luck.random() < 0.2:
                del found[at:]
    return bytes(found)


def documents(folder: Path, luck: random.Random) -> list[str]:
    """A scenario or a study, whose text is changed."""
    (folder / "tiny.toml").write_text(TINY)
    kind, text = luck.choice([("check", TINY), ("check", TINY), ("study", _STUDY)])
    path = folder / "input.toml"
    path.write_bytes(changed(text.encode(), luck))
    more = ["--plan", "--out", str(folder / "out")] if kind == "study" else []
    return [kind, str(path), *more]


def captures(folder: Path, luck: random.Random) -> list[str]:
    """A capture of a run, whose bytes are changed."""
    path = folder / "input.pcap"
    path.write_bytes(changed(_of_a_run(".pcapng").read_bytes(), luck))
    return ["compare-capture", str(path)]


def qlogs(folder: Path, luck: random.Random) -> list[str]:
    """A qlog of a run, whose text is changed."""
    path = folder / "input.sqlog"
    path.write_bytes(changed(_of_a_run(".sqlog").read_bytes(), luck))
    return ["compare-capture", str(path)]


def stores(folder: Path, luck: random.Random) -> list[str]:
    """A store, in whose bytes or rows something is changed."""
    index = folder / "out" / "runs.sqlite"
    if not index.exists():
        _command("run", str(_scenario(folder)), "--out", str(folder / "out"))
        index.with_suffix(".kept").write_bytes(index.read_bytes())
    for leftover in index.parent.glob("runs.sqlite-*"):
        leftover.unlink()
    kept = index.with_suffix(".kept").read_bytes()
    if luck.random() < 0.5:
        index.write_bytes(changed(kept, luck))
    else:
        index.write_bytes(kept)
        _change_a_row(index, luck)
    store = str(index.parent)
    return luck.choice([["query", luck.choice(_QUERIES), "--store", store], ["plot", store, "--run", "1"]])


def queries(folder: Path, luck: random.Random) -> list[str]:
    """A query made of words of SQL."""
    if not (folder / "out").exists():
        _command("run", str(_scenario(folder)), "--out", str(folder / "out"))
    sql = " ".join(luck.choice(_WORDS.split()) for _ in range(luck.choice([3, 10, 40, 300])))
    return ["query", f"SELECT {sql}", "--store", str(folder / "out")]


_KINDS: dict[str, Callable[[Path, random.Random], list[str]]] = {
    "documents": documents,
    "captures": captures,
    "qlogs": qlogs,
    "stores": stores,
    "queries": queries,
}
_FILES: dict[str, Path] = {}


def _of_a_run(suffix: str) -> Path:
    """A file of packets of a short run."""
    if not _FILES:
        folder = Path(tempfile.mkdtemp(prefix="ackclock-generated-"))
        scenario = _scenario(folder)
        for name, option in ((".pcapng", "--pcap"), (".sqlog", "--qlog")):
            _FILES[name] = folder / f"run{name}"
            code, said = _command("run", str(scenario), "--set", "duration=1 s", option, str(_FILES[name]))
            assert code == 0, said
    return _FILES[suffix]


def _scenario(folder: Path) -> Path:
    path = folder / "tiny.toml"
    path.write_text(TINY.replace('"8 s"', '"2 s"').replace('"1 s"', '"0 s"'))
    return path


def _change_a_row(index: Path, luck: random.Random) -> None:
    db = sqlite3.connect(index)
    table = luck.choice(["runs", "scenarios"])
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    column = luck.choice(columns)
    (value,) = db.execute(f"SELECT {column} FROM {table}").fetchone()
    text = changed(str(value).encode(), luck).decode("utf-8", "replace")
    with contextlib.suppress(sqlite3.Error), db:
        db.execute(f"UPDATE {table} SET {column} = ?", (text,))
    db.close()


def _command(*arguments: str) -> tuple[int, str]:
    """Run a command in this process; return its exit code and all that it prints."""
    sys.argv = ["ackclock", *arguments]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run_command_line()
    return code, said.getvalue()


def main(kind: str, seed: int, seconds: float) -> None:
    """Generate inputs until the time is over."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    luck = random.Random(seed)
    inputs, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="ackclock-generated-") as name, contextlib.chdir(name):
        while time.monotonic() < end:
            arguments = _KINDS[kind](Path(name), luck)
            start = time.monotonic()
            code, said = _command(*arguments)
            took = time.monotonic() - start
            assert code in (0, 2) and "Traceback" not in said, f"{arguments}: {code}: {said}"
            assert took < _LONGEST, f"{arguments}: {took:.1f} s"
            inputs += 1
    print(json.dumps({"inputs": inputs}))


if __name__ == "__main__":
    assert ROOT.is_dir()
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
