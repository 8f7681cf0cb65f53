"""`ackclock exchange`: the scripts in tests/exchange, exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import cli

SCRIPTS = sorted(str(path) for path in (Path(__file__).parent / "exchange").glob("*.pkt"))

BROKEN = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 connect(3, ..., ...) = -1 EINPROGRESS
+0 > S 1:1(0) <...>
"""


def test_every_script_passes() -> None:
    result = cli("exchange", *SCRIPTS)
    assert result.code == 0, result.stdout
    assert result.stdout.splitlines()[-1] == f"{len(SCRIPTS)} passed, 0 failed"
    assert result.stderr == ""


def test_a_mismatch_names_the_line_and_both_sides(tmp_path: Path) -> None:
    script = tmp_path / "broken.pkt"
    script.write_text(BROKEN)
    result = cli("exchange", SCRIPTS[0], str(script))
    assert result.code == 1
    assert f"{script}:3: expected > S 1:1(0) <...> at 0 s" in result.stdout
    assert "seen > S 0:0(0) <mss 1460,sackOK" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"


def test_a_script_that_cannot_be_read_has_its_own_exit_code(tmp_path: Path) -> None:
    script = tmp_path / "unreadable.pkt"
    script.write_text("\n+0 < S 0:1(0)\n")
    result = cli("exchange", str(script), "--json")
    assert result.code == 2
    report = json.loads(result.stdout)["reports"][0]
    assert (report["status"], report["line"]) == ("unreadable", 2)
    assert cli("exchange", str(tmp_path / "missing.pkt")).code == 2


def test_shell_commands_are_noted_and_never_run(tmp_path: Path) -> None:
    script, trace = tmp_path / "shell.pkt", tmp_path / "trace"
    script.write_text(f"`touch {trace}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    result = cli("exchange", str(script))
    assert result.code == 0
    assert "never run" in result.stderr
    assert not trace.exists()
