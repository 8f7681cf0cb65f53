"""`ackclock exchange`: the scripts in tests/exchange, exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import cli

SCRIPTS = sorted(str(path) for path in (Path(__file__).parent / "exchange").glob("*.pkt"))

FOR_KERNELS = Path(__file__).parent / "packetdrill"

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


def test_a_folder_of_scripts_for_kernels_passes() -> None:
    result = cli("exchange", str(FOR_KERNELS))
    assert result.code == 0, result.stdout
    assert result.stdout.splitlines()[-1] == f"{len(list(FOR_KERNELS.glob('*.pkt')))} passed, 0 failed"
    assert result.stderr == ""


def test_a_profile_is_what_scripts_begin_with(tmp_path: Path) -> None:
    text = (FOR_KERNELS / "window-probe.pkt").read_text()
    script = tmp_path / "script.pkt"
    script.write_text(text.replace("../common/defaults.sh", "sysctl net.ipv4.tcp_slow_start_after_idle=0"))
    assert cli("exchange", str(script)).code == 1
    assert cli("exchange", "--profile", "linux", str(script)).code == 0
    result = cli("exchange", "--profile", "linus", str(script))
    assert result.code == 2
    assert "unknown profile `linus`; there are rfc, ns-2, ns-2-linux, linux, quic" in result.stderr


def test_what_is_not_about_a_sender_is_named_and_skipped(tmp_path: Path) -> None:
    start = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
    for name, line in (
        ("wait", "+0 epoll_wait(4, {...}, 1, 0) = 0"),
        ("fast-open", "+0 sendto(3, ..., 10, MSG_FASTOPEN, ..., ...) = 10"),
        ("cookie", "+0 > S 0:0(0) <mss 1460,FO 1234>"),
        ("icmp", "+0 < icmp unreachable frag_needed mtu 1200 [1:1(0)]"),
    ):
        folder = tmp_path / "scripts" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.pkt").write_text(start + line + "\n")
    result = cli("exchange", str(tmp_path / "scripts"))
    assert result.code == 0
    assert result.stdout.splitlines()[-1] == "0 passed, 0 failed, 4 skipped"
    for named in ("wait.pkt:2: the call epoll_wait", "MSG_FASTOPEN", "the TCP option `FO`", "icmp"):
        assert named in result.stdout
    (tmp_path / "scripts" / "wrong.pkt").write_text(start + "+0 frobnicate(3) = 0\n")
    result = cli("exchange", str(tmp_path / "scripts"))
    assert result.code == 2
    assert "wrong.pkt:2: the call frobnicate is not supported" in result.stdout


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    result = cli("exchange", str(tmp_path))
    assert result.code == 2
    assert f"{tmp_path}: no script in this folder" in result.stderr
