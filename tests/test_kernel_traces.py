"""Packets of transfers in the simulator and in a kernel in virtual time, without random delays."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import cli, require_kernel

FIELDS = (
    "frame.time_relative",
    "ip.src",
    "tcp.seq",
    "tcp.ack",
    "tcp.flags",
    "tcp.len",
    "tcp.options.sack_re",
)
#: SYN's timer and RACK's timer have the phase of the kernel's ticks.
TOLERANCE_S = 0.003
SCENARIO = """
schema = 2
duration = "5 s"
[topology]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "20 ms"
queue = {{ kind = "drop-tail", limit = "{limit} packets" }}
loss = {{ kind = "scripted", packets = {lost} }}
[[flows]]
name = "test"
cc = "{cc}"
traffic = {{ kind = "transfer", size = "{size} B" }}
"""
_PSH, _FIN = 0x8, 0x1


@pytest.fixture(autouse=True)
def _tools() -> None:
    require_kernel()
    if shutil.which("tshark") is None:
        pytest.skip("tshark is missing; as root: apt-get install tshark")


def packets(scenario: Path, backend: str) -> list[tuple[float, tuple[Any, ...]]]:
    """Return time and content of each packet, up to the receiver's FIN, which the simulator does not send."""
    capture = scenario.with_suffix(f".{backend}.pcap")
    answer = cli("run", str(scenario), "--backend", backend, "--pcap", str(capture))
    assert answer.code == 0, answer.stderr
    fields = [word for field in FIELDS for word in ("-e", field)]
    read = ["tshark", "-r", str(capture), "-T", "fields", *fields]
    found = []
    for line in subprocess.run(read, capture_output=True, text=True, check=True).stdout.splitlines():
        at, source, seq, ack, flags, length, blocks = line.split("\t")
        is_sender = source == "10.0.0.1"
        if not is_sender and int(flags, 16) & _FIN:
            break
        found.append((float(at), (is_sender, seq, ack, int(flags, 16) & ~_PSH, length, blocks)))
    return found


@pytest.mark.parametrize(
    ("cc", "segments", "lost", "limit"),
    [
        ("cubic", 10, [12], 1000),
        ("reno", 40, [12, 13], 1000),
        ("cubic", 60, [5, 25], 1000),
        ("reno", 60, [8, 9, 30], 1000),
        ("cubic", 60, [15, 16, 17, 18, 19, 20], 1000),
        ("cubic", 10, list(range(3, 13)), 1000),
        ("reno", 300, [1_000_000], 20),
    ],
)
def test_a_transfer_has_the_packets_of_the_kernel(
    tmp_path: Path, cc: str, segments: int, lost: list[int], limit: int
) -> None:
    scenario = tmp_path / "transfer.toml"
    scenario.write_text(SCENARIO.format(cc=cc, size=segments * 1448, lost=lost, limit=limit))
    here, there = packets(scenario, "sim"), packets(scenario, "kernel")
    assert len(here) > segments
    for (at, packet), (at_there, packet_there) in zip(here, there, strict=False):
        assert packet == packet_there
        assert at == pytest.approx(at_there, abs=TOLERANCE_S)
    # The kernel's last ACK is its FIN.
    assert len(here) - len(there) in (0, 1)
