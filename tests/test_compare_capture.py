"""Captures read back: our own, one of the running kernel, and files that are none."""

from __future__ import annotations

import gzip
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, cli

from ackclock.captures.observed import CaptureFile, remarks
from ackclock.errors import ArgumentError, InputError

#: Of the running kernel; `examples/captures/README.md` says how it was made.
KERNEL = ROOT / "examples/captures/linux-cubic.pcap"
#: A flow that fills a short queue, under the profile of the kernel.
SCENARIO = """\
schema = 1
name = "short-queue"
duration = "19 s"
warmup = "0 s"

[links.path]
rate = "5 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "20 packets" }

[[flows]]
name = "test"
cc = "cubic"
profile = "linux"
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    """A scenario, what its run captured, and the flow of its results."""
    folder = tmp_path_factory.mktemp("own")
    scenario, pcap = folder / "scenario.toml", folder / "own.pcapng"
    scenario.write_text(SCENARIO)
    answer = cli("run", scenario, "--pcap", pcap, "--json")
    assert answer.code == 0, answer.stderr
    return scenario, pcap, json.loads(answer.stdout)["flows"][0]


def compared(folder: Path, *args: str | Path) -> dict[str, Any]:
    answer = cli("compare-capture", *args, "--json", "--out", folder / "drawing.svg")
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


def by_metric(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in document["differences"]}


def test_a_run_read_back_has_the_counters_of_the_run(own: tuple[Path, Path, dict[str, Any]]) -> None:
    _, pcap, flow = own
    capture = CaptureFile.from_file(pcap)
    (connection,) = capture.connections
    assert (connection.sender, connection.receiver) == ("10.0.0.1:49152", "10.128.0.1:9")
    seen = capture.observe(connection)
    assert seen["place"]["vantage"] == "sender" and seen["mss"] == 1448
    assert seen["retransmissions"] == flow["retransmits"] > 20
    assert seen["timeouts"] == flow["timeouts"]
    # Every loss is seen but for those that the sender does not know of at the end.
    assert seen["spurious"] == 0 and seen["not_captured"] == 0
    assert 0 <= flow["retransmits"] - seen["lost"] <= 1
    assert seen["rtt_mean_s"] == pytest.approx(flow["rtt_mean_s"], rel=0.05)
    assert seen["goodput_bps"] == pytest.approx(flow["goodput_bps"], rel=0.02)
    assert len(seen["in_flight"]) <= 900 and len(seen["rtt"]) <= 900


def test_a_replay_of_the_same_scenario_is_the_same(
    own: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    scenario, pcap, _ = own
    document = compared(tmp_path, pcap, "--scenario", scenario)
    capture, replay = document["capture"], document["replay"]
    # By position: what was lost is lost, though a queue no longer drops it.
    assert replay["losses"] == capture["losses"] != []
    for metric in ("retransmissions", "recoveries", "timeouts"):
        assert capture[metric] == replay[metric], metric
    rows = by_metric(document)
    for metric, bound in (("goodput_bps", 0.01), ("in_flight_mean_bytes", 0.03), ("rtt_mean_s", 0.03)):
        assert abs(rows[metric]["relative"]) < bound, rows[metric]
    # With the losses of the scenario it is the run itself.
    free = by_metric(compared(tmp_path, pcap, "--scenario", scenario, "--losses", "scenario"))
    for metric in ("retransmissions", "recoveries", "rtt_min_s", "rtt_max_s"):
        assert free[metric]["difference"] == 0, free[metric]
    assert abs(free["segments"]["difference"]) < 60
    drawing = (tmp_path / "drawing.svg").read_text()
    assert len(drawing) < 200_000 and drawing.count('path class="replay') >= 2


def test_the_path_is_estimated_where_no_scenario_is_given(
    own: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    answer = cli("compare-capture", own[1], "--out", tmp_path / "drawing.svg")
    assert answer.code == 0, answer.stderr
    # 5 Mbit/s, 40 ms and a packet of 1500 bytes, 20 packets in the queue.
    assert "estimated from the capture: rate 5" in answer.stdout
    assert "captured at the sender" in answer.stdout
    assert "packets do not contain the window" in answer.stdout
    document = compared(tmp_path, own[1])
    link = document["scenario"]["links"]["path"]
    assert float(link["rate"].split()[0]) == pytest.approx(5, rel=0.01) or link["rate"].endswith(" bit/s")


@pytest.mark.parametrize("at", ["receiver", "path"])
def test_a_capture_elsewhere_shows_the_same_losses(
    at: str, own: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    scenario, sender, _ = own
    pcap = tmp_path / "there.pcapng"
    assert cli("run", scenario, "--pcap", pcap, "--at", at).code == 0
    there, here = (CaptureFile.from_file(path) for path in (pcap, sender))
    seen, at_sender = there.observe(there.choose(None)), here.observe(here.choose(None))
    assert seen["place"]["vantage"] == "receiver"
    assert seen["lost"] == pytest.approx(at_sender["lost"], abs=2)
    assert seen["retransmissions"] == pytest.approx(at_sender["retransmissions"], abs=2)
    # The queue is before the place: in flight is less by what waits there.
    assert 0.5 * at_sender["in_flight_mean_bytes"] < seen["in_flight_mean_bytes"]
    assert seen["in_flight_mean_bytes"] < 1.05 * at_sender["in_flight_mean_bytes"]


def test_the_running_kernel_and_its_profile(tmp_path: Path) -> None:
    document = compared(tmp_path, KERNEL)
    capture = document["capture"]
    assert capture["place"]["vantage"] == "sender" and capture["mss"] == 1448
    assert capture["lost"] == capture["retransmissions"] - capture["spurious"] > 0
    rows = by_metric(document)
    assert rows["retransmissions"]["difference"] == rows["recoveries"]["difference"] == 0
    bounds = {"goodput_bps": 0.01, "in_flight_mean_bytes": 0.03, "rtt_min_s": 0.01, "rtt_mean_s": 0.03}
    assert {name for name, bound in bounds.items() if abs(rows[name]["relative"]) > bound} == set()


# --- Files by hand ---


def frame(link: str, payload: int = 100, *, seq: int = 0, back: bool = False, protocol: int = 6) -> bytes:
    """A packet of this link type, as it begins."""
    ports = (80, 5000) if back else (5000, 80)
    tcp = struct.pack("!HHIIBBHHH", *ports, seq, 1, 0x50, 0x10, 1000, 0, 0)
    if "6" in link:
        ends = (bytes([*[0] * 15, side]) for side in ((2, 1) if back else (1, 2)))
        ip = struct.pack("!IHBB", 6 << 28, 20 + payload, protocol, 64) + b"".join(ends)
    else:
        ends = (bytes([10, 0, 0, side]) for side in ((2, 1) if back else (1, 2)))
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + payload, 0, 0, 64, protocol, 0) + b"".join(ends)
    ethertype = b"\x86\xdd" if "6" in link else b"\x08\x00"
    front = {
        "ethernet": bytes(12) + ethertype,
        "vlan": bytes(12) + b"\x81\x00\x00\x05" + ethertype,
        "sll": bytes(14) + ethertype,
        "sll2": ethertype + bytes(18),
        "raw": b"",
        "loop": b"\x02\x00\x00\x00",
    }[link.removesuffix("6")]
    return front + ip + tcp + bytes(payload)


LINKS = {"ethernet": 1, "vlan": 1, "sll": 113, "sll2": 276, "raw": 101, "loop": 0}


def pcap(link: int, packets: list[bytes], *, snaplen: int = 65535, order: str = "<") -> bytes:
    text = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snaplen, link)
    for number, packet in enumerate(packets):
        kept = packet[:snaplen]
        text += struct.pack(f"{order}IIII", 1, 40_000 * number, len(kept), len(packet)) + kept
    return text


def exchange(link: str) -> list[bytes]:
    """A segment of 1000 bytes, its ACK, and another one."""
    first, second = frame(link, 1000), frame(link, 1000, seq=1000)
    ack = bytearray(frame(link, 0, back=True))
    at = len(ack) - 20
    ack[at + 8 : at + 12] = struct.pack("!I", 1000)
    return [first, bytes(ack), second]


def read(folder: Path, content: bytes) -> CaptureFile:
    path = folder / "made.pcap"
    path.write_bytes(content)
    return CaptureFile.from_file(path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("link", [*LINKS, *(f"{name}6" for name in LINKS)])
def test_every_link_type_is_read(link: str, order: str, tmp_path: Path) -> None:
    # Payloads are cut, and counted whole.
    cut = pcap(LINKS[link.removesuffix("6")], exchange(link), snaplen=96, order=order)
    capture = read(tmp_path, cut)
    (connection,) = capture.connections
    assert (connection.packets, connection.bytes, connection.ipv6) == (3, 2000, "6" in link)
    assert capture.left_out == []
    seen = capture.observe(connection)
    assert (seen["acked_bytes"], seen["rtt_min_s"], seen["segments"]) == (1000, 0.04, 2)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    ethernet = exchange("ethernet")
    others = [
        bytes(12) + b"\x08\x06" + bytes(28),
        frame("ethernet", protocol=17),
        frame("ethernet", protocol=1),
    ]
    capture = read(tmp_path, pcap(1, [*ethernet, *others, ethernet[0][:40]]) + b"\x01\x02")
    (connection,) = capture.connections
    assert connection.packets == 3
    (left, end) = capture.left_out
    assert left == (
        "left out: 1 of 7 packets not of IP, 1 of 7 packets of UDP, 1 of 7 packets of neither TCP nor UDP, "
        "1 of 7 packets whose TCP header is cut; capture at least 128 bytes of each packet"
    )
    assert end == "it ends in the middle of a packet"


def test_one_of_thousands_of_connections(tmp_path: Path) -> None:
    packets = []
    for number in range(3000):
        packet = bytearray(frame("raw", 10 + number % 7))
        packet[20:22] = struct.pack("!H", 10_000 + number)
        packets.append(bytes(packet))
    capture = read(tmp_path, pcap(101, [*packets, *exchange("raw")]))
    assert len(capture.connections) == 3001
    assert capture.choose(None).sender == "10.0.0.1:5000"
    assert capture.choose("10.0.0.1:10042").number == 43
    with pytest.raises(
        ArgumentError, match=r"flow: names no connection: 'x'; there are 3001 .10.0.0.1:5000 >"
    ):
        capture.choose("x")
    with pytest.raises(ArgumentError, match=r"flow: names 3001 connections: '10.0.0.2:80'.*and 2993 more"):
        capture.choose("10.0.0.2:80")
    with pytest.raises(InputError, match=r"10.0.0.1:10000 > 10.0.0.2:80 has no ACKs of its data"):
        capture.observe(capture.choose("1"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "made.pcap: is empty"),
        (b"no capture at all, but text\n" * 9, "made.pcap: is neither pcap nor pcapng"),
        (b"\xd4\xc3\xb2\xa1", "made.pcap: is shorter than a header of pcap, 24 bytes"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "made.pcap: is compressed by zstd, and only gzip is supported"),
        (gzip.compress(b"", mtime=0), "made.pcap: is empty"),
        (pcap(1, []), "made.pcap: has no TCP connection: it has no packets"),
        (pcap(101, [frame("raw", protocol=17)] * 2), "no TCP connection: left out: 2 of 2 packets of UDP"),
        (pcap(147, [b"abc"]), "left out: 1 of 1 packets of link type 147, which is not read"),
        (pcap(101, [frame("raw")]), "10.0.0.1:5000 > 10.0.0.2:80 has no ACKs of its data; capture both"),
        (pcap(101, exchange("raw")), "the capture is too short to estimate the path: it has 2 segments"),
    ],
)
def test_files_that_are_no_capture(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "made.pcap").write_bytes(content)
    answer = cli("compare-capture", "made.pcap", cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr
    # What is left out may stand before it.
    assert answer.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["made.pcap"]


def flow_of(
    start: int, count: int, *, seq: int = 0, ident: int = 1, seconds: float = 0.0
) -> list[tuple[float, bytes]]:
    """Segments of 1000 bytes and their ACKs, 10 ms apart, with IP identifications."""
    packets = []
    for number in range(start, start + count):
        data = bytearray(frame("ethernet", 1000, seq=seq + 1000 * number))
        ack = bytearray(frame("ethernet", 0, back=True))
        ack[-12:-8] = struct.pack("!I", seq + 1000 * (number + 1) & 0xFFFFFFFF)
        for packet, later in ((data, 0.0), (ack, 0.005)):
            packet[18:20] = struct.pack("!H", (ident + 2 * number + (later > 0)) % 65536)
            packets.append((seconds + number * 0.01 + later, bytes(packet)))
    return packets


def timed(packets: list[tuple[float, bytes]], link: int = 1) -> bytes:
    text = pcap(link, [])
    for seconds, packet in packets:
        whole = int(seconds)
        text += struct.pack("<IIII", whole, round((seconds - whole) * 1e6), len(packet), len(packet)) + packet
    return text


def test_a_wrong_sequence_number_takes_no_memory_and_is_told(tmp_path: Path) -> None:
    packets = flow_of(0, 24)
    time, wrong = packets[24]
    jump = bytearray(wrong)
    jump[38:42] = struct.pack("!I", 12_000 ^ 1 << 30)
    packets[24] = (time, bytes(jump))
    path = tmp_path / "jump.pcap"
    path.write_bytes(timed(packets))
    # The limit is for the process alone.
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from pathlib import Path\nfrom ackclock.captures.observed import CaptureFile\n"
        "capture = CaptureFile.from_file(Path(%r))\nseen = capture.observe(capture.choose(None))\n"
        "print(capture.left_out, seen['acked_bytes'], seen['retransmissions'], seen['not_captured'])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program % str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    told = "left out: 1 of 48 packets with sequence numbers far from the range of their connection"
    assert found.stdout.strip() == f"{[told]!r} 24000 0 1"


def test_a_real_gap_is_counted_in_segments(tmp_path: Path) -> None:
    # 1 GB between two parts of a connection is missing.
    gap = 1_000_000
    capture = read(tmp_path, timed([*flow_of(0, 20), *flow_of(gap, 20, seconds=-9_999.0)]))
    seen = capture.observe(capture.choose(None))
    # The first segment after the gap is not confirmed yet.
    assert seen["not_captured"] == gap - 20 + 1
    assert seen["acked_bytes"] == 1000 * (gap + 20)


def test_a_connection_reused_without_its_syn_is_two(tmp_path: Path) -> None:
    again = [
        (
            time,
            packet[:42] + struct.pack("!I", 7 << 28) + packet[46:]
            if len(packet) > 100
            else packet[:38] + struct.pack("!I", 7 << 28) + packet[42:],
        )
        for time, packet in flow_of(0, 20, seq=3 << 30, ident=500, seconds=5.0)
    ]
    capture = read(tmp_path, timed([*flow_of(0, 20), *again]))
    assert [connection.packets for connection in capture.connections] == [40, 39]
    seen = [capture.observe(connection)["acked_bytes"] for connection in capture.connections]
    assert seen == [20_000, 19_000]


def test_each_packet_twice_is_read_once_and_told(tmp_path: Path) -> None:
    once = flow_of(0, 30)
    twice = [copy for time, packet in once for copy in ((time, packet), (time + 5e-6, packet))]
    first, both = read(tmp_path, timed(once)), read(tmp_path, timed(twice))
    assert both.left_out == [
        "left out: 60 of 120 packets captured again, as on a second interface; the first copy counts"
    ]
    assert both.observe(both.choose(None)) == first.observe(first.choose(None))
    # A router between the interfaces holds packets, and counts their hops down.
    later = [(time + 0.2, packet[:22] + b"\x3f" + packet[23:]) for time, packet in once]
    routed = read(tmp_path, timed(sorted([*once, *later])))
    assert routed.observe(routed.choose(None)) == first.observe(first.choose(None))


def test_link_types_with_the_length_of_the_fcs_are_read(tmp_path: Path) -> None:
    # 4 bits: 2 units of 16 bits. Bit 26: they count. Bits of the link type: 16.
    packets = [packet + b"fcs!" for packet in exchange("ethernet")]
    capture = read(tmp_path, pcap(1 | 1 << 26 | 2 << 28, packets))
    assert capture.left_out == []
    assert capture.choose(None).bytes == 2000
    # Segments that are yet to be cut have no length of their own.
    whole = bytearray(packets[0])
    whole[16:18] = b"\0\0"
    capture = read(tmp_path, pcap(1 | 1 << 26 | 2 << 28, [bytes(whole), *packets[1:]]))
    assert capture.choose(None).bytes == 2000


def test_a_compressed_capture_is_read_and_a_cut_one_up_to_there(tmp_path: Path) -> None:
    content = timed(flow_of(0, 200))
    whole, packed = read(tmp_path, content), gzip.compress(content)
    assert read(tmp_path, packed).connections == whole.connections
    # Two members, one after the other, as gzip allows.
    assert read(tmp_path, gzip.compress(content[:500]) + gzip.compress(content[500:])).left_out == []
    cut = read(tmp_path, packed[: len(packed) // 2])
    assert cut.left_out == ["the file is damaged after the last packet read"]
    assert 20 < cut.choose(None).packets < 400


@pytest.mark.parametrize(
    ("before", "after", "step"), [(-1.7e9, 0.0, 1.7e9), (0.0, 3600.0, 3600.0), (3600.0, 0.0, -3600.0)]
)
def test_a_clock_that_is_set_is_told(before: float, after: float, step: float, tmp_path: Path) -> None:
    start = 1.75e9
    early = flow_of(0, 40, seconds=start + before)[:-1]
    late = flow_of(40, 80, seconds=start + after)
    capture = read(tmp_path, timed([*early, *late]))
    seen = capture.observe(capture.choose(None))
    assert seen["acked_bytes"] == 80_000 and seen["duration_s"] < 1
    (told,) = (line for line in remarks(seen) if "clock" in line)
    found = re.match(
        r"the clock was set by ([-+.e\d]+) s during the capture. The comparison uses 160 of 239 packets", told
    )
    assert found is not None and float(found[1]) == pytest.approx(step, rel=1e-4)


def test_a_replay_that_would_take_years_is_refused(tmp_path: Path) -> None:
    # Nothing is in flight over the pause, so that it may be one.
    early, late = flow_of(0, 400), flow_of(400, 400, seconds=3e8)
    (tmp_path / "made.pcap").write_bytes(timed([*early, *late]))
    answer = cli("compare-capture", "made.pcap", cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: a replay of 3e+08 s at 0.8")
    assert "cut it: editcap -A START -B END" in answer.stderr


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a regular file, and a capture is read twice"):
        CaptureFile.from_file(Path("/dev/zero"))


def test_junk_after_whole_packets_is_left_out(own: tuple[Path, Path, dict[str, Any]], tmp_path: Path) -> None:
    whole = own[1].read_bytes()
    for damage in (whole[: len(whole) // 2], whole[: len(whole) // 2 // 4 * 4] + b"\xff" * 5000):
        capture = read(tmp_path, damage)
        assert capture.left_out in (
            ["it ends in the middle of a packet"],
            ["the file is damaged after the last packet read"],
        )
        assert capture.observe(capture.choose(None))["segments"] > 100


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("missing.pcap",), "missing.pcap: cannot be read: No such file"),
        (
            ("own.pcapng", "--scenario", "two.toml"),
            "a replay takes a scenario with one TCP flow, but this has test x 2",
        ),
        (("own.pcapng", "--cc", "cubik"), 'did you mean "cubic"'),
        (("own.pcapng", "--out", "missing/x.svg"), "the folder missing does not exist"),
        (("own.pcapng", "--flow", "7"), "--flow names no connection: '7'; there are 1 (10.0.0.1:49152 >"),
    ],
)
def test_comparisons_that_cannot_be(
    args: tuple[str, ...], message: str, own: tuple[Path, Path, dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "own.pcapng").write_bytes(own[1].read_bytes())
    (tmp_path / "two.toml").write_text(SCENARIO + "count = 2\n")
    answer = cli("compare-capture", *args, cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr, answer.stderr
    assert not (tmp_path / "capture.svg").exists()
