"""Captures as tshark reads them, and what the command says where there can be none."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import polars
import pytest
from helpers import ROOT, cli

from ackclock import _core
from ackclock.captures.observed import CaptureFile

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is missing; as root: apt-get install tshark"
)
#: One flow that fills a short queue: losses in recoveries, and no warm-up, so that everything counts.
LOSSY = """\
schema = 1
name = "lossy"
duration = "10 s"
warmup = "0 s"

[topology]
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "18 ms"
queue = { kind = "drop-tail", limit = "20 packets" }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flows]]
name = "test"
cc = "aimd"
recovery = "sack"
"""
#: Every kind of packet that there is.
MIXED = """\
schema = 1
name = "mixed"
duration = "6 s"
warmup = "0 s"

[topology]
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "18 ms"
queue = { kind = "red", limit = "60 packets", ecn = true }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flows]]
name = "accurate"
cc = "aimd"
ecn = "accecn"
timestamps = true

[[flows]]
name = "classic"
cc = "aimd"
ecn = "classic"
start = "1 s"

[[flows]]
name = "linux"
cc = "cubic"
profile = "linux"
start = "1 s"

[[flows]]
name = "web"
cc = "aimd"
traffic = { kind = "web", response = "30 kB", think = "200 ms" }

[[flows]]
name = "mice"
cc = "aimd"
count = 3
traffic = { kind = "arrivals", every = "100 ms", size = "20 kB" }
handshake = true

[[flows]]
name = "noise"
traffic = { kind = "cbr", rate = "200 kbit/s" }
"""
#: What tshark tells of congestion, in its own words, and of the set-up and end of connections.
CONGESTION = (
    "Duplicate ACK",
    "This frame is a (suspected) fast retransmission",
    "This frame is a (suspected) retransmission",
    "This frame is a (suspected) spurious retransmission",
    "This frame is a (suspected) out-of-order segment",
    "D-SACK Sequence",
    "Connection establish",
    "Connection finish (FIN)",
    "This frame initiates the connection closing",
)
#: Behind a queue, packets that it dropped are missing.
MISSING = "Previous segment(s) not captured"


def tshark(path: Path, *args: str) -> list[str]:
    checks = [word for layer in ("ip", "tcp", "udp") for word in ("-o", f"{layer}.check_checksum:TRUE")]
    done = subprocess.run(
        ["tshark", "-r", path, *checks, *args], check=True, capture_output=True, encoding="utf-8"
    )
    assert [line for line in done.stderr.splitlines() if "Running as user" not in line] == []
    return done.stdout.splitlines()


def fields(path: Path, which: str, *names: str) -> list[list[str]]:
    shown = [word for name in names for word in ("-e", name)]
    return [line.split("\t") for line in tshark(path, "-Y", which, "-T", "fields", *shown)]


def remarks(path: Path) -> Counter[str]:
    """How often tshark makes each remark, first words of the other ones."""
    found: Counter[str] = Counter()
    for (messages,) in fields(path, "_ws.expert", "_ws.expert.message"):
        for message in messages.split(","):
            found[
                next((known for known in (*CONGESTION, MISSING) if message.startswith(known)), message)
            ] += 1
    return found


def written(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


@needs_tshark
def test_tshark_counts_what_the_run_counts(tmp_path: Path) -> None:
    scenario, pcap = written(tmp_path, LOSSY), tmp_path / "out.pcapng"
    answer = cli("run", scenario, "--pcap", pcap, "--json", "--set", "sampling.packets=true")
    assert (answer.code, answer.stderr) == (0, f"captured packets in {pcap}\n")
    (flow,) = json.loads(answer.stdout)["flows"]
    assert flow["retransmits"] > 20
    # At the sender nothing can be out of order: tshark calls a few of the fast retransmissions so.
    resent = fields(pcap, "tcp.analysis.retransmission || tcp.analysis.out_of_order", "tcp.seq")
    assert len(resent) == flow["retransmits"]
    # The same connection in the trace of the run, which has no headers.
    run = _core.Scenario.from_toml(LOSSY + "[sampling]\npackets = true\n").run()
    acks = polars.DataFrame(run.packets).filter(event="leave", link="test.source.reverse")["seq"]
    assert len(fields(pcap, "tcp.analysis.duplicate_ack", "tcp.ack")) == (acks.diff() == 0).sum() > 100
    # The definition of the metric differs a little: it has one sample a round, tshark one an ACK of new data.
    rtts = [
        float(rtt) for (rtt,) in fields(pcap, "tcp.analysis.ack_rtt && tcp.len == 0", "tcp.analysis.ack_rtt")
    ]
    assert sum(rtts) / len(rtts) == pytest.approx(flow["rtt_mean_s"], rel=0.05)
    assert min(rtts) >= flow["base_rtt_s"] if "base_rtt_s" in flow else min(rtts) > 0.04


#: What differs from `LOSSY` in each profile and on each path, and whether packets overtake others.
VARIANTS = {
    "linux paced": (('profile = "linux"\ncc = "cubic"', 'pacing = "linux"'), "", False),
    "bbr": (('profile = "linux"\ncc = "bbr3"',), "", False),
    "newreno": (('cc = "aimd"\nrecovery = "newreno"',), "", False),
    "random loss": (
        ('profile = "linux"\ncc = "cubic"',),
        'loss = { kind = "bernoulli", probability = 0.02 }',
        False,
    ),
    "timeouts": (('cc = "aimd"',), 'loss = { kind = "bernoulli", probability = 0.1 }', False),
    "reordering": (
        ('profile = "linux"\ncc = "cubic"',),
        'reordering = { probability = 0.01, delay = "30 ms" }',
        True,
    ),
    "several": (('profile = "linux"\ncc = "cubic"\ncount = 3',), "", False),
}


@needs_tshark
@pytest.mark.parametrize("variant", VARIANTS)
def test_tshark_and_our_reader_count_the_same(variant: str, tmp_path: Path) -> None:
    keys, path, reorders = VARIANTS[variant]
    text = LOSSY.replace('cc = "aimd"\nrecovery = "sack"', "\n".join(keys))
    text = text.replace('delay = "18 ms"', f'delay = "18 ms"\n{path}').replace('"10 s"', '"4 s"')
    pcap = tmp_path / "out.pcapng"
    answer = cli("run", written(tmp_path, text), "--pcap", pcap, "--json")
    assert answer.code == 0, answer.stderr
    flows = json.loads(answer.stdout)["flows"]
    names = ("retransmission", "out_of_order", "spurious_retransmission", "duplicate_ack", "ack_rtt")
    shown = [f"tcp.analysis.{name}" for name in names]
    rows = fields(pcap, "tcp", "tcp.stream", "tcp.len", "tcp.flags.syn", *shown, "_ws.expert.message")
    told = {message for *_, messages in rows for message in messages.split(",") if message}
    assert {message for message in told if not message.startswith(CONGESTION)} == set()
    capture = CaptureFile.from_file(pcap)
    assert len(capture.connections) == len(flows)
    for number, connection in enumerate(capture.connections):
        # 10.0.0.n is the sender of flow n.
        flow = flows[int(connection.sender.partition(":")[0].rpartition(".")[2]) - 1]
        seen = capture.observe(connection)
        own = [row for row in rows if row[0] == str(number)]
        again = sum(any(row[3:6]) for row in own if row[1] != "0")
        assert again == seen["retransmissions"] == flow["retransmits"] > 0, variant
        assert sum(bool(row[6]) for row in own) == seen["duplicate_acks"], variant
        assert seen["timeouts"] <= flow["timeouts"]
        assert seen["reordered"] == seen["not_captured"] == 0
        rtts = [float(row[7]) for row in own if row[7] and row[1] == "0" and row[2] in ("0", "False")]
        assert min(rtts) == pytest.approx(seen["rtt_min_s"], rel=0.02)
        if not reorders:
            assert seen["rtt_mean_s"] == pytest.approx(flow["rtt_mean_s"], rel=0.1)


@needs_tshark
@pytest.mark.parametrize("at", ["sender", "receiver", "bottleneck", "bottleneck.reverse", "web.source"])
def test_tshark_remarks_on_congestion_alone(at: str, tmp_path: Path) -> None:
    pcap = tmp_path / "out.pcapng"
    answer = cli("run", written(tmp_path, MIXED), "--pcap", pcap, "--at", at, "--snaplen", "0")
    assert answer.code == 0, answer.stderr
    found = remarks(pcap)
    # Behind the queue of the bottleneck there is less than before it.
    allowed = {*CONGESTION, MISSING} if at in ("receiver", "bottleneck") else {*CONGESTION}
    assert set(found) - allowed == set(), found
    assert not tshark(pcap, "-Y", "_ws.malformed || ip.checksum.status != 1 || tcp.checksum.status == 0")
    assert not tshark(pcap, "-Y", "udp.checksum.status == 0")
    if at == "sender":
        assert tshark(pcap, "-Y", "tcp.flags.ece == 1 && tcp.flags.syn == 0 && ip.addr == 10.0.0.2")
        assert tshark(pcap, "-Y", "tcp.flags.cwr == 1 && tcp.flags.syn == 0 && ip.addr == 10.0.0.2")
        assert tshark(pcap, "-Y", "tcp.options.sack.count > 0")
        assert tshark(pcap, "-Y", "udp.length == 980")
        # The web client's requests are acknowledged.
        assert max(int(ack) for (ack,) in fields(pcap, "ip.src == 10.0.0.4 && tcp.len > 0", "tcp.ack")) > 300
        # Transfers are connections of their own, with SYN and FIN that the run has.
        assert len(fields(pcap, "tcp.flags.fin == 1", "tcp.stream")) > 20
        assert len(fields(pcap, "tcp.flags.syn == 1 && tcp.flags.ack == 0", "tcp.stream")) > 20
    if at == "receiver":
        assert tshark(pcap, "-Y", "ip.dsfield.ecn == 3 && ip.addr == 10.0.0.1")
    if at == "web.source":
        assert {*fields(pcap, "tcp", "ip.src")[0], *fields(pcap, "tcp.ack", "ip.dst")[0]} <= {
            "10.0.0.4",
            "10.128.0.4",
        }


@needs_tshark
def test_lengths_are_those_that_the_run_counts(tmp_path: Path) -> None:
    pcap = tmp_path / "out.pcapng"
    answer = cli("run", written(tmp_path, MIXED), "--pcap", pcap, "--capture", "accurate,linux,noise")
    assert answer.code == 0, answer.stderr
    # Handshakes are the only packets that the run has not.
    differ = fields(pcap, "frame.len != ip.len && tcp.flags.syn == 0", "frame.len", "ip.len")
    assert differ == []
    # A run that counts more has it behind the packets of IP.
    framed = cli(
        "run",
        tmp_path / "scenario.toml",
        "--pcap",
        pcap,
        "--capture",
        "web",
        "--set",
        "flows.web.framing=18 B",
    )
    assert framed.code == 0, framed.stderr
    lens = fields(pcap, "tcp.len > 0", "frame.len", "ip.len", "frame.cap_len")
    assert {int(frame) - int(ip) for frame, ip, _ in lens} == {18}
    assert max(int(kept) for *_, kept in lens) == 96


@needs_tshark
def test_sequence_numbers_wrap(tmp_path: Path) -> None:
    """The first number of this flow is a little below 2^32."""
    pcap = tmp_path / "out.pcapng"
    text = LOSSY.replace('"test"', f'"{_WRAPS}"')
    assert cli("run", written(tmp_path, text), "--pcap", pcap).code == 0
    raw = [int(seq) for (seq,) in fields(pcap, "tcp.len > 0", "tcp.seq_raw")]
    assert raw[0] > 2**32 - 2_000_000
    assert min(raw) < 2_000_000
    assert set(remarks(pcap)) <= {*CONGESTION}


#: Found by trying names.
_WRAPS = "wrap600"


def test_a_file_that_is_there_is_replaced(tmp_path: Path) -> None:
    pcap = tmp_path / "out.pcapng"
    pcap.write_bytes(b"old")
    scenario = written(tmp_path, LOSSY)
    assert cli("run", scenario, "--pcap", pcap).code == 0
    first = pcap.read_bytes()
    assert first[:4] == bytes.fromhex("0a0d0d0a")
    assert cli("run", scenario, "--pcap", pcap).code == 0
    assert pcap.read_bytes() == first, "the same run gives the same bytes"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.pcapng", "scenario.toml"]


def test_a_capture_changes_no_result(tmp_path: Path) -> None:
    scenario = written(tmp_path, MIXED)
    plain = json.loads(cli("run", scenario, "--json").stdout)
    captured = json.loads(cli("run", scenario, "--json", "--pcap", tmp_path / "out.pcapng").stdout)
    for document in (plain, captured):
        del document["engine_cpu_s"], document["events"]
    assert captured == plain


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--pcap", "x.pcapng", "--at", "botleneck"),
            "error: --at names no link: 'botleneck'; did you mean 'bottleneck'?",
        ),
        (
            ("--pcap", "x.pcapng", "--capture", "tset"),
            "error: --capture names no flow: 'tset'; did you mean 'test'?",
        ),
        (("--pcap", "x.pcapng", "--capture", "test,"), "error: --capture has an empty name in 'test,'"),
        (("--pcap", "missing/x.pcapng"), "error: --pcap missing/x.pcapng: the folder missing does not exist"),
        (("--pcap", "."), "error: --pcap .: is a folder"),
        (("--at", "bottleneck"), "error: --at and --snaplen need --pcap FILE"),
        (("--pcap", "x.pcapng", "--snaplen", "-1"), "invalid value for '--snaplen'"),
    ],
)
def test_captures_that_cannot_be(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    answer = cli("run", written(tmp_path, LOSSY), *args, cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


def test_a_link_that_the_flows_do_not_pass(tmp_path: Path) -> None:
    answer = cli(
        "run", written(tmp_path, MIXED), "--pcap", tmp_path / "x", "--at", "web.source", "--capture", "linux"
    )
    assert (answer.code, answer.stdout) == (2, "")
    assert "--at is a link that none of these flows passes: 'web.source'" in answer.stderr


def test_results_are_not_lost_with_a_full_disk(tmp_path: Path) -> None:
    scenario = written(tmp_path, LOSSY)
    answer = cli("run", scenario, "--pcap", "/dev/full")
    assert answer.code == 1
    assert "goodput" in answer.stdout
    assert answer.stderr.splitlines()[-1] == "error: /dev/full: cannot be written: No space left on device"

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))

    answer = cli("run", scenario, "--pcap", tmp_path / "x.pcapng", before=small_files)
    assert answer.code == 1
    assert "x.pcapng: cannot be written: File too large" in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


#: Over QUIC, with losses and reordering on the way back, so that ACKs have several ranges.
OVER_QUIC = LOSSY.replace('recovery = "sack"', 'profile = "quic"\necn = "counts"')


@needs_tshark
def test_packets_of_quic_are_datagrams_for_tshark(tmp_path: Path) -> None:
    pcap = tmp_path / "out.pcapng"
    answer = cli("run", written(tmp_path, OVER_QUIC), "--pcap", pcap, "--json")
    (flow,) = json.loads(answer.stdout)["flows"]
    assert tshark(pcap, "-Y", "_ws.expert") == []
    sent = fields(pcap, "ip.src == 10.0.0.1", "udp.length", "ip.dsfield.ecn", "udp.payload")
    assert len(sent) == flow["sent"]
    assert {(length, ecn) for length, ecn, _ in sent} == {("1480", "2")}
    assert [int(payload[18:26], 16) for _, _, payload in sent] == list(range(len(sent)))
    assert {payload[:2] for _, _, payload in sent} == {"43"}


# --- Time-sequence plots ---


def strokes(drawing: str, name: str) -> int:
    """How many strokes the lines of a class have, the legend's left out."""
    paths = re.findall(rf'<path class="{name}" d="([^"]*)"/>', drawing)
    return sum(str(path).count("M") for path in paths) - 1


def test_a_plot_has_what_the_run_counts(tmp_path: Path) -> None:
    svg = tmp_path / "plot.svg"
    scenario = written(tmp_path, LOSSY)
    answer = cli("sequence", scenario, "--out", svg, "--to", "10")
    assert (answer.code, answer.stderr) == (0, f"time-sequence plot in {svg}\n")
    drawing = svg.read_text()
    assert ElementTree.fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"
    (flow,) = json.loads(cli("run", scenario, "--json").stdout)["flows"]
    # What falls on the same pixels is drawn once.
    assert 0.9 * flow["retransmits"] <= strokes(drawing, "resent") <= flow["retransmits"]
    assert strokes(drawing, "lost") > 10
    assert strokes(drawing, "sack") > 50
    part = cli(
        "sequence", scenario, "--out", svg, "--from", "2", "--to", "2.5", "--set", "flows.test.count=9"
    )
    assert part.code == 0 and "the first 8 of 9 connections are drawn" in part.stderr
    assert svg.read_text().count('class="title"') == 8


def test_a_capture_has_the_plot_of_its_run(tmp_path: Path) -> None:
    scenario, pcap = written(tmp_path, LOSSY), tmp_path / "run.pcapng"
    assert cli("run", scenario, "--pcap", pcap).code == 0
    drawings = []
    for file in (scenario, pcap):
        svg = tmp_path / f"{file.suffix}.svg"
        answer = cli("sequence", file, "--out", svg, "--to", "10")
        assert answer.code == 0, answer.stderr
        drawings.append(svg.read_text())
    # The capture begins with the first packet, some microseconds after the run.
    for name in ("data", "resent", "sack"):
        own, captured = (strokes(drawing, name) for drawing in drawings)
        assert own > 10 and captured == pytest.approx(own, rel=0.02), name
    assert strokes(drawings[1], "lost") == 0
    assert "--seed and --set apply to scenarios only" in cli("sequence", pcap, "--seed", "1").stderr
    assert "names no connection: '7'" in cli("sequence", pcap, "--flows", "7").stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--flows", "tset"), "error: --flows names no flow: 'tset'; did you mean 'test'?"),
        (("--from", "-1"), "error: --from must be a time from 0 on, not -1"),
        (("--from", "nan"), "error: --from must be a time from 0 on, not nan"),
        (("--from", "3", "--to", "2"), "error: --to must be a time after --from, not 2"),
        (("--from", "100"), "error: these flows sent nothing in this time"),
        (("--out", "missing/x.svg"), "error: --out missing/x.svg: the folder missing does not exist"),
        (("--out", "/dev/full"), "error: /dev/full: cannot be written: No space left on device"),
    ],
)
def test_plots_that_cannot_be(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    answer = cli("sequence", written(tmp_path, LOSSY), *args, cwd=tmp_path)
    assert answer.code == (1 if "/dev/full" in args else 2)
    assert message in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


@needs_tshark
def test_packets_and_feedback_of_rtp_are_those_of_a_call_for_tshark(tmp_path: Path) -> None:
    pcap = tmp_path / "call.pcapng"
    answer = cli("run", ROOT / "examples/call.toml", "--pcap", pcap, "--json", "--set", "duration=12 s")
    assert (answer.code, answer.stderr) == (0, f"captured packets in {pcap}\n")
    shown = ["-T", "fields", "-e", "rtp.seq", "-e", "rtp.marker"]
    lines = tshark(pcap, "-d", "udp.port==9,rtp", "-Y", "ip.src == 10.0.0.1", *shown)
    data = [line.split("\t") for line in lines]
    numbers = [int(number) for number, _ in data]
    assert numbers == list(range(len(numbers)))
    # A frame has one marker: 30 frames per second.
    assert sum(marker in ("1", "True") for _, marker in data) == pytest.approx(360, abs=20)
    sound = "rtcp.length_check == 1 && rtcp.pt == 205 && rtcp.rtpfb.fmt == 11"
    rtcp = tshark(pcap, "-d", "udp.port==9,rtcp", "-Y", sound)
    assert len(rtcp) == len(tshark(pcap, "-Y", "ip.src == 10.128.0.1")) > 300
