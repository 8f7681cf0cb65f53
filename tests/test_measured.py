"""Measurements by other tools: iperf3, ss, Flent and the qlog of QUIC stacks, read and replayed."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, cli

from ackclock.captures import formats, proposal
from ackclock.captures.measured import Measured
from ackclock.captures.ranges import Ranges
from ackclock.errors import ArgumentError, InputError
from ackclock.scenario import Scenario

MEASURED = ROOT / "tests/measured"


def read(path: Path, flow: str | None = None) -> Measured:
    assert formats.is_measurement(path)
    return formats.read(path, flow).measured


def written(folder: Path, content: Any, name: str = "made.json") -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


# --- Figures of the tools themselves ---

#: Goodput in bit/s by the stack's own count of bytes and clock, and packets that it declared lost.
#: The last figure is its least RTT in seconds, if it prints one.
STACKS: dict[str, tuple[int, int, float | None]] = {
    "quic-go-0.sqlog.gz": (2262847, 0, None),
    "quic-go-40.sqlog.gz": (2210860, 7, None),
    "quic-go-12.sqlog.gz": (2268827, 25, None),
    "aioquic-0.qlog.gz": (1991616, 0, None),
    "aioquic-40.qlog.gz": (1968332, 15, None),
    "aioquic-12.qlog.gz": (2012995, 28, None),
    "ngtcp2-0.sqlog.gz": (1871345, 0, 0.012360),
    "ngtcp2-40.sqlog.gz": (1864802, 20, 0.006388),
    "ngtcp2-12.sqlog.gz": (1851852, 69, 0.006758),
    "picoquic-0.qlog.gz": (1898451, 0, 0.009868),
    "picoquic-40.qlog.gz": (1897351, 19, 0.008677),
    "picoquic-12.qlog.gz": (1896454, 68, 0.006375),
    "quiche-0.sqlog.gz": (906050, 0, 0.017012),
    "quiche-40.sqlog.gz": (853020, 15, 0.012082),
    "quiche-12.sqlog.gz": (907381, 30, 0.006113),
    "neqo-0.sqlog.gz": (1894775, 0, None),
    "neqo-40.sqlog.gz": (1848025, 22, None),
    "neqo-12.sqlog.gz": (1558975, 75, None),
}


@pytest.mark.parametrize("name", STACKS)
def test_a_qlog_has_the_figures_of_its_stack(name: str) -> None:
    goodput, lost, least = STACKS[name]
    measured = read(MEASURED / name)
    assert measured.goodput_bps == pytest.approx(goodput, rel=0.01)
    assert measured.retransmissions == lost
    figures = measured.figures()
    assert figures["rtt_min_s"] and figures["rtt_min_s"] < 0.02
    # The qlog of ngtcp2 contains whole milliseconds.
    assert least is None or figures["rtt_min_s"] == pytest.approx(least, rel=0.01, abs=0.001)
    assert measured.quic and figures["window_max_bytes"]


@pytest.mark.parametrize(("name", "largest"), [("0", 0.178), ("40", 0.103), ("12", 0.072)])
def test_the_initial_rtt_is_no_measurement(name: str, largest: float) -> None:
    """ngtcp2 logs 333 ms before its first sample. `largest` is from its text log."""
    assert read(MEASURED / f"ngtcp2-{name}.sqlog.gz").figures()["rtt_max_s"] == pytest.approx(largest)


@pytest.mark.parametrize("name", ["quiche-40", "quiche-12", "ngtcp2-40", "ngtcp2-12", "neqo-12"])
def test_losses_that_a_qlog_does_not_name_are_counted_by_acks(name: str, tmp_path: Path) -> None:
    """quiche 0.24 logs no loss at all, and quiche 0.30 only a counter."""
    text = gzip.decompress((MEASURED / f"{name}.sqlog.gz").read_bytes()).decode()
    kept = [line for line in text.split("\n") if ":packet_lost" not in line]
    unnamed = "\n".join(kept).replace("cf_lost_packets", "cf_other")
    measured = read(written(tmp_path, unnamed, "unnamed.sqlog"))
    assert measured.retransmissions == STACKS[f"{name}.sqlog.gz"][1]
    assert any("never acknowledged" in remark for remark in measured.remarks)


#: Bytes that arrived, seconds, retransmissions and congestion control in the `end` of each document.
IPERF3 = {
    "iperf3-cubic.json": (7212488, 6.073722, 13, "cubic"),
    "iperf3-bbr.json": (14278728, 6.054971, 226, "bbr"),
    "iperf3-reno.json": (2177792, 6.077876, 77, "reno"),
    "iperf3-omit.json": (4980736, 2.000089, 0, "reno"),
    "iperf3-reverse.json": (5111808, 2.000323, 0, "bbr"),
}


@pytest.mark.parametrize("name", IPERF3)
def test_iperf3_has_its_own_figures(name: str) -> None:
    moved, seconds, again, cc = IPERF3[name]
    measured = read(MEASURED / name)
    assert measured.goodput_bps == pytest.approx(8 * moved / seconds, rel=0.01)
    assert (measured.retransmissions, measured.cc) == (again, cc)


def test_one_of_parallel_streams_is_chosen() -> None:
    path = MEASURED / "iperf3-parallel.json"
    names = formats.read(path).names
    assert len(names) == 3
    assert read(path, "2").name == names[1] and read(path, names[2].split(" > ")[0]).name == names[2]
    with pytest.raises(ArgumentError, match="flow: names no transfer: '4'; there are 1"):
        read(path, "4")


@pytest.mark.parametrize(("cc", "again"), [("cubic", 13), ("bbr", 224), ("reno", 77)])
def test_ss_agrees_with_iperf3_of_the_same_transfer(cc: str, again: int) -> None:
    seen, told = read(MEASURED / f"ss-{cc}.txt.gz"), read(MEASURED / f"iperf3-{cc}.json")
    assert (seen.cc, seen.retransmissions, seen.mss) == (cc, again, 1448)
    # Samples begin after the transfer and end before it.
    assert seen.goodput_bps == pytest.approx(told.goodput_bps, rel=0.05)
    assert seen.figures()["rtt_max_s"] == pytest.approx(told.figures()["rtt_max_s"], rel=0.1)
    assert seen.figures()["window_max_bytes"] == pytest.approx(told.figures()["window_max_bytes"], rel=1)


# --- Shapes of the formats ---

_METRICS = {"smoothed_rtt": 50.0, "min_rtt": 40.0, "latest_rtt": 60.0, "congestion_window": 30000}


def sent(packet: int, offset: int, *, length: str = "length", id_of: str = "stream_id") -> dict[str, Any]:
    frame = {"frame_type": "stream", id_of: 4, "offset": offset, length: 1000}
    header = {"packet_type": "1RTT", "packet_number": packet}
    return {"header": header, "raw": {"length": 1040}, "frames": [{"frame_type": "ping"}, frame]}


def acked(*ranges: list[int]) -> dict[str, Any]:
    return {
        "header": {"packet_type": "1RTT"},
        "frames": [{"frame_type": "ack", "acked_ranges": list(ranges)}],
    }


LOST = {"header": {"packet_type": "1RTT", "packet_number": 1}, "trigger": "time_threshold"}


def events(
    prefix: str = "transport:", recovery: str = "recovery:", **shape: str
) -> list[tuple[float, str, Any]]:
    """Three segments, of which the second is lost and sent again: 3 kB in 100 ms."""
    return [
        (1000.0, f"{prefix}packet_sent", sent(0, 0, **shape)),
        (1001.0, f"{prefix}packet_sent", sent(1, 1000, **shape)),
        (1002.0, f"{prefix}packet_sent", sent(2, 2000, **shape)),
        (1050.0, f"{prefix}packet_received", acked([0], [2])),
        (1050.0, f"{recovery}metrics_updated", _METRICS),
        (1050.5, f"{recovery}packet_lost", LOST),
        (1051.0, f"{prefix}packet_sent", sent(3, 1000, **shape)),
        # The copy, and the original, which was late: counted once.
        (1100.0, f"{prefix}packet_received", acked([0, 3])),
    ]


def records(head: dict[str, Any], every: list[tuple[float, str, Any]], separator: str) -> str:
    texts = [head, *({"time": time, "name": name, "data": data} for time, name, data in every)]
    return "".join(f"{separator}{json.dumps(text)}\n" for text in texts)


def seq(*, time_format: str = "relative", **head: Any) -> dict[str, Any]:
    trace = {"vantage_point": {"type": "server"}, "common_fields": {"time_format": time_format}}
    return {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", **head, "trace": trace}


def arrays(every: list[tuple[float, str, Any]], unit: str, names: list[str], *, text: bool = False) -> Any:
    factor = {"us": 1000, "ms": 1}[unit]
    rows = []
    for time, name, data in every:
        stamp: Any = str(int(time * factor)) if text else int(time * factor)
        category, event = name.split(":")
        fields = {"relative_time": stamp, "path_id": 0, "category": category, "event": event, "data": data}
        rows.append([fields[key] for key in names])
    trace = {"configuration": {"time_units": unit}, "event_fields": names, "events": rows}
    return {"qlog_version": "draft-00", "traces": [trace]}


def in_us(every: list[tuple[float, str, Any]], **renamed: str) -> list[tuple[float, str, Any]]:
    """RTTs in microseconds, and other names of metrics, as picoquic and mvfst write them."""
    micro = {renamed.get(key, key): value * (1000 if "rtt" in key else 1) for key, value in _METRICS.items()}
    return [(time, name, micro if data is _METRICS else data) for time, name, data in every]


def delta(every: list[tuple[float, str, Any]]) -> list[tuple[float, str, Any]]:
    times = [0.0, *(time for time, _, _ in every)]
    return [(time - before, name, data) for before, (time, name, data) in zip(times, every, strict=False)]


def mvfst() -> Any:
    named = {"metrics_updated": "congestion_metric_update", "packet_lost": "packets_lost"}
    every = [
        (time, ":".join(named.get(part, part) for part in name.split(":")), data)
        for time, name, data in in_us(events(length="len", id_of="id"), congestion_window="current_cwnd")
    ]
    every = [
        (time, name, {"lost_packets": 1, "lost_bytes": 1040} if data is LOST else data)
        for time, name, data in every
    ]
    return arrays(every, "us", ["relative_time", "category", "event", "data"], text=True)


SHAPES: dict[str, Any] = {
    # JSON-SEQ of draft 0.3.
    "quiche": records(seq(title="quiche"), events(), ""),
    "neqo": records(seq(), events(), "\x1e"),
    # The name of a namespace in later drafts, in which frames have the length of their raw bytes.
    "drafts": records(
        {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {}},
        events("quic:", "quic:recovery_"),
        "\x1e",
    )
    .replace('"length": 1000', '"raw": {"payload_length": 1000}')
    .replace("recovery_packet", "packet"),
    "ngtcp2": records(seq(time_format="delta"), delta(events()), "\x1e"),
    "contained": {
        "qlog_version": "0.3",
        "traces": [{"events": [{"time": t, "name": n, "data": d} for t, n, d in events()]}],
    },
    "picoquic": arrays(
        in_us(events(), congestion_window="cwnd"),
        "us",
        ["relative_time", "path_id", "category", "event", "data"],
    ),
    "mvfst": mvfst(),
}


@pytest.mark.parametrize("stack", SHAPES)
def test_every_shape_of_qlog_gives_the_same_figures(stack: str, tmp_path: Path) -> None:
    measured = read(written(tmp_path, SHAPES[stack], "made.qlog"))
    assert measured.goodput_bps == pytest.approx(8 * 3000 / 0.1)
    assert (measured.retransmissions, measured.segments, measured.mss) == (1, 4, 1000)
    figures = measured.figures()
    assert figures["rtt_mean_s"] == pytest.approx(0.05) and figures["rtt_min_s"] == pytest.approx(0.04)
    assert figures["window_max_bytes"] == 30000


def test_a_qlog_of_the_receiver_has_goodput_alone(tmp_path: Path) -> None:
    every = [
        (time, "transport:packet_received", data)
        for time, name, data in events()
        if name.endswith("packet_sent")
    ]
    measured = read(written(tmp_path, records(seq(), every, "\x1e"), "made.sqlog"))
    assert measured.goodput_bps == pytest.approx(8 * 3000 / 0.051)
    assert measured.retransmissions is None and "this end received" in measured.remarks[0]


def test_our_own_qlog_is_read(tmp_path: Path) -> None:
    args = (
        "--rate",
        "10Mbit/s",
        "--rtt",
        "40ms",
        "--flows",
        "cubic",
        "--duration",
        "4s",
        "--set",
        "warmup=0 s",
        "--json",
    )
    answer = cli("run", *args, "--qlog", tmp_path / "own.qlog")
    assert answer.code == 0, answer.stderr
    measured = read(tmp_path / "own.qlog")
    own = json.loads(answer.stdout)["flows"][0]
    assert not measured.quic and measured.retransmissions == pytest.approx(own["retransmits"], abs=1)
    assert measured.figures()["rtt_min_s"] == pytest.approx(0.0401, rel=0.01)


def test_flent_has_the_mean_that_it_prints(tmp_path: Path) -> None:
    name = "TCP upload"
    raw = [{"t": 1000 + 0.2 * at, "dur": 0.2, "val": 9.0 + at % 2} for at in range(50)]
    socket = [{"t": 1000 + 0.2 * at, "tcp_cwnd": 40, "tcp_rtt": 45.5} for at in range(50)]
    document = {
        "version": 4,
        "x_values": [0.0, 1.0],
        "results": {name: [9.0, 10.0], f"{name}::tcp_cwnd": [40, 40], "TCP upload sum": [9, 9]},
        "raw_values": {name: raw, f"{name}::tcp_cwnd": [], "Ping (ms) ICMP": [{"t": 1000.1, "val": 41.0}]},
        "metadata": {
            "SERIES_META": {
                name: {
                    "MEAN_VALUE": 9.45,
                    "TCP_RETRANSMIT": "12",
                    "CONG_CONTROL": "cubic,cubic",
                    "TCP_MSS": 1400,
                    "ELAPSED_TIME": 10.0,
                    "UNITS": "Mbits/s",
                }
            }
        },
    }
    document["results"]["Ping (ms) ICMP"] = [41.0, 41.0]  # type: ignore[index]
    document["raw_values"][name] = raw + socket  # type: ignore[index]
    path = written(tmp_path, gzip.compress(json.dumps(document).encode()), "made.flent.gz")
    assert formats.read(path).names == [name]
    measured = read(path)
    assert (measured.goodput_bps, measured.retransmissions, measured.cc) == (9.45e6, 12, "cubic")
    assert measured.segments == round(9.45e6 * 10 / 8 / 1400) + 12
    figures = measured.figures()
    # The least RTT is that of pings; the others are those of the stream's socket.
    assert figures["rtt_min_s"] == pytest.approx(0.041) and figures["rtt_mean_s"] == pytest.approx(0.0455)
    assert figures["window_mean_bytes"] == 40 * 1400
    document["raw_values"][name] = raw  # type: ignore[index]
    measured = read(written(tmp_path, document, "without-socket-stats.flent"))
    assert measured.figures()["rtt_mean_s"] == pytest.approx(0.041) and "pings" in measured.remarks[0]


def test_ranges_count_every_byte_once() -> None:
    ranges, bytes_of = Ranges(), set[int]()
    for start, end in [(10, 20), (30, 40), (15, 35), (0, 5), (5, 10), (3, 3), (38, 50), (0, 60), (70, 80)]:
        new = len(set(range(start, end)) - bytes_of)
        bytes_of |= set(range(start, end))
        assert (ranges.add(start, end), ranges.length) == (new, len(bytes_of))


# --- Files that are wrong ---

HUGE = '{"qlog_version": "0.3", "traces": [{"events": [{"time": 1e999, "name": "x", "data": {}}]}]}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is neither a capture nor a measurement: not JSON"),
        ("{}", "is JSON, but not from iperf3 --json, Flent or qlog"),
        ("[" * 100_000, "neither pcap nor pcapng"),
        ('{"a": ' * 100_000, "is JSON that is nested too deeply"),
        ('{"qlog_version": ' + "9" * 5000 + "}", "not JSON"),
        (b'{"\xff": 1}', "is neither a capture nor UTF-8 text"),
        (
            {"start": {}, "intervals": [], "error": "unable to\nconnect"},
            "iperf3 reports an error: unable to connect",
        ),
        ({"start": {"test_start": {"protocol": "UDP"}}, "end": {}}, "iperf3 measured UDP"),
        ({"start": 7, "end": []}, "the iperf3 file contains no stream"),
        (
            {"start": {"connected": [{}]}, "end": {}, "intervals": [{"streams": 3}]},
            "the iperf3 file contains no interval",
        ),
        (
            {"metadata": {}, "results": {"Ping (ms)": []}, "x_values": []},
            "the Flent file contains no TCP stream, but Ping",
        ),
        (
            {"metadata": 1, "results": 2, "x_values": 3, "version": 9},
            "version '9' of Flent's format is not read",
        ),
        ({"qlog_version": "0.3", "traces": []}, "the qlog file contains no traces"),
        ({"qlog_version": "0.3", "traces": [{"events": 3}]}, "the qlog file contains no events"),
        (HUGE, "qlog trace 1 has no data of streams"),
        (records(seq(), [], "\x1e"), "the qlog file contains no events"),
        ("\x1e{\n\x1e{", "record 1 of qlog is not JSON"),
        (
            "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic rtt:1/1 mss:1448 cwnd:10\n",
            "ss has no time before its first",
        ),
        (
            "1700000000.5\nESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n\t cubic rtt:1/1 mss:1448 cwnd:10\n",
            "ss has no connection with two samples",
        ),
        (gzip.compress(b'{"a": 1}', mtime=0)[:-6], "neither pcap"),
    ],
)
def test_files_that_are_no_measurement(content: Any, message: str, tmp_path: Path) -> None:
    written(tmp_path, content)
    answer = cli("compare-capture", "made.json", cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, ""), answer.stderr
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: made.json: ") and message in line


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    bomb = gzip.compress(b'{"a": "' + b"a" * (formats.MOST_BYTES + 10) + b'"}')
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match=r"bomb: has more than 64 MiB; give a shorter measurement"):
        formats.read(written(tmp_path, bomb, "bomb"))
    line = b'{"qlog_version": "0.3"}\n' + b"b" * (5 << 20)
    with pytest.raises(InputError, match="has a record of more than 4 MiB"):
        formats.read(written(tmp_path, line, "record"))


def test_wrong_types_anywhere_are_tolerated(tmp_path: Path) -> None:
    document = json.loads((MEASURED / "iperf3-cubic.json").read_text())
    wrong: Any
    for wrong in (None, 7, "x", [], {}, float("nan"), -1):
        for key in ("intervals", "end"):
            read(written(tmp_path, {**document, key: wrong}))
        damaged = json.loads(json.dumps(document))
        for each in damaged["intervals"]:
            each["streams"][0] |= {"rtt": wrong, "snd_cwnd": wrong, "retransmits": wrong}
        assert read(written(tmp_path, damaged)).goodput_bps
    for wrong in (None, 7, "x", [], [[]], [["a", 1]], {}):
        every = [*events(), (1060.0, "transport:packet_received", {"frames": wrong, "header": wrong})]
        every.append(
            (1061.0, "transport:packet_received", {"frames": [{"frame_type": "ack", "acked_ranges": wrong}]})
        )
        every.append((1062.0, "recovery:metrics_updated", wrong))
        assert read(written(tmp_path, records(seq(), every, "\x1e"))).retransmissions == 1


# --- Proposals ---


@pytest.mark.parametrize(
    ("name", "rate", "rtt", "loss"), [("cubic", 10e6, 0.04, 0.0), ("bbr", 20e6, 0.02, 0.01)]
)
def test_a_path_is_estimated(name: str, rate: float, rtt: float, loss: float) -> None:
    path = proposal.estimate(read(MEASURED / f"ss-{name}.txt.gz"))
    assert path.rate_bps == pytest.approx(rate, rel=0.05)
    assert path.propagation_s == pytest.approx(rtt, rel=0.06)
    assert path.loss == pytest.approx(loss, abs=0.015)
    # The queue has 33 packets; smoothed RTTs do not show all of it.
    assert name != "cubic" or 20 <= path.packets <= 40


def test_a_measurement_is_replayed_and_proposed(tmp_path: Path) -> None:
    file, made = MEASURED / "ss-cubic.txt.gz", tmp_path / "made.toml"
    args = ("--propose", made, "--out", tmp_path / "drawing.svg", "--json")
    answer = cli("compare-capture", file, *args)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    rows = {row["metric"]: row for row in document["differences"]}
    assert abs(rows["goodput_bps"]["relative"]) < 0.05 and abs(rows["rtt_mean_s"]["relative"]) < 0.15
    assert document["scenario"]["flows"][0]["cc"]["kind"] == "cubic"
    text = made.read_text()
    assert "# rate " in text and "# error of the proposal" in text and "goodput_bps" in text
    link = tomllib.loads(text)["links"]["path"]
    assert float(link["rate"].split()[0]) == pytest.approx(10e6, rel=0.05)
    assert cli("run", made, "--json").code == 0
    assert "Congestion window, kB" in (tmp_path / "drawing.svg").read_text()
    # A scenario of one's own takes its place.
    own = cli(
        "compare-capture", file, "--scenario", made, "--cc", "reno", "--json", "--out", tmp_path / "d.svg"
    )
    assert own.code == 0, own.stderr
    assert json.loads(own.stdout)["scenario"]["flows"][0]["cc"]["kind"] == "reno"
    both = cli("compare-capture", file, "--scenario", made, "--propose", made)
    assert both.code == 2 and "leave --scenario out" in both.stderr


def test_a_proposal_contains_the_settings_and_options_of_its_replay(tmp_path: Path) -> None:
    made = tmp_path / "made.toml"
    options = ("--set", "links.path.queue.limit=5 packets", "--cc", "reno", "--profile", "rfc")
    out = ("--propose", made, "--out", tmp_path / "drawing.svg", "--json")
    answer = cli("compare-capture", MEASURED / "ss-cubic.txt.gz", *options, *out)
    assert answer.code == 0, answer.stderr
    assert Scenario.from_file(made).resolved == json.loads(answer.stdout)["scenario"]
    (flow,) = tomllib.loads(made.read_text())["flows"]
    assert flow["profile"] == "rfc" and flow["cc"]["kind"] == "reno"


def test_a_capture_is_proposed(tmp_path: Path) -> None:
    made = tmp_path / "made.toml"
    args = ("--propose", made, "--out", tmp_path / "drawing.svg")
    answer = cli("compare-capture", ROOT / "examples/captures/linux-cubic.pcap", *args)
    assert answer.code == 0, answer.stderr
    assert "# error of the proposal" in made.read_text()
    assert cli("run", made, "--json").code == 0


def test_a_file_without_rtt_is_not_proposed(tmp_path: Path) -> None:
    answer = cli("compare-capture", MEASURED / "iperf3-reverse.json", "--out", tmp_path / "x.svg")
    assert answer.code == 2
    assert "the path cannot be estimated: the file has no RTT; give --scenario" in answer.stderr
