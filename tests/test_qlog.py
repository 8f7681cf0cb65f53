"""Files of qlog: held to the CDDL of their drafts, and to what the run counts."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cbor2
import pytest
from helpers import cli
from pycddl import Schema, ValidationError
from test_traces import LOSSY, MIXED, OVER_QUIC, written

SCHEMAS = Path(__file__).parent / "qlog"


@dataclass(frozen=True)
class Version:
    """A version of qlog: the drafts with its schema, and the type of each event's data there."""

    drafts: tuple[str, str]
    events: dict[str, str]


VERSIONS = {
    "0.3": Version(
        ("main-schema-02", "quic-events-01"),
        {
            "transport:packet_sent": "TransportPacketSent",
            "transport:packet_received": "TransportPacketReceived",
            "recovery:packet_lost": "RecoveryPacketLost",
            "recovery:metrics_updated": "RecoveryMetricsUpdated",
            "recovery:congestion_state_updated": "RecoveryCongestionStateUpdated",
        },
    ),
    "draft": Version(
        ("main-schema-14", "quic-events-13"),
        {
            "quic:packet_sent": "QUICPacketSent",
            "quic:packet_received": "QUICPacketReceived",
            "quic:packet_lost": "QUICPacketLost",
            "quic:recovery_metrics_updated": "QUICRecoveryMetricsUpdated",
            "quic:congestion_state_updated": "QUICCongestionStateUpdated",
        },
    ),
}
FRAMES = {"stream": "StreamFrame", "ack": "AckFrame"}
#: Events of one sort that are checked at once: so many are in a message.
AT_ONCE = 50


@cache
def schema(version: str, kind: str) -> Schema:
    """A type of a version's CDDL, as pycddl 0.6 reads it.

    It takes a key without quotes for a type where the prelude has one of that name (`time`, `uri`): keys are
    quoted, the same by RFC 8610 section 3.5.1. It does not unwrap groups (`~`): the one is written out.
    """
    drafts = (SCHEMAS / f"draft-ietf-quic-qlog-{draft}.cddl" for draft in VERSIONS[version].drafts)
    text = "\n".join(draft.read_text(encoding="utf-8") for draft in drafts)
    group = re.search(r"^LogFile = \{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    text = text.replace("~LogFile", group[1]) if group else text
    text = re.sub(r"^(\s*(?:\? )?)([a-z]\w*):", r'\1"\2":', text, flags=re.MULTILINE)
    return Schema(f"start = {kind}\n{text}")


def check(version: str, kind: str, value: Any) -> None:
    schema(version, kind).validate_cbor(cbor2.dumps(value))


def parts(version: str, document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a document, each with its type: the file, and the data and frames of all events.

    The main schema allows any data, and pycddl 0.6 fails on the choice of frames inside a list: data of
    events and frames are checked by themselves.
    """
    yield "QlogFile", {**document, "traces": [{**trace, "events": []} for trace in document["traces"]]}
    for trace in document["traces"]:
        for event in trace["events"]:
            yield "Event", {**event, "data": {}}
            yield (
                VERSIONS[version].events[event["name"]],
                {key: [] if key == "frames" else data for key, data in event["data"].items()},
            )
            yield from ((FRAMES[frame["frame_type"]], frame) for frame in event["data"].get("frames", []))


def check_document(version: str, document: dict[str, Any]) -> None:
    """Hold a whole file to the drafts."""
    by_type: dict[str, list[Any]] = {}
    for kind, value in parts(version, document):
        by_type.setdefault(kind, []).append(value)
    for kind, values in by_type.items():
        for start in range(0, len(values), AT_ONCE):
            check(version, f"[* {kind}]", values[start : start + AT_ONCE])


def events(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [event for event in trace["events"] if event["name"].partition(":")[2].endswith(name)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("QlogFile", {"qlog_version": None, "file_schema": None}),
        ("QlogFile", {"tracks": []}),
        ("QlogFile", {"traces": [{"events": [{"time": 1.0, "name": "x"}], "event_schemas": ["x"]}]}),
        ("Event", {"time": "1 ms"}),
        ("PacketSent", {"header": {"packet_number": 3}}),
        ("PacketSent", {"heeder": 1}),
        ("MetricsUpdated", {"congestion_window": 1.5}),
        ("MetricsUpdated", {"cwnd": 14480}),
        ("CongestionStateUpdated", {"new": None}),
        ("StreamFrame", {"stream_id": None}),
        ("AckFrame", {"acked_ranges": [[1, 2, 3]]}),
        ("AckFrame", {"acked_ranges": []}),
    ],
)
def test_the_schema_is_one(version: str, kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    """What is changed so breaks it: a value, or none where one must be."""
    kinds = {
        name.removeprefix("Transport").removeprefix("QUIC").removeprefix("Recovery"): name
        for name in ("QlogFile", "Event", *FRAMES.values(), *VERSIONS[version].events.values())
    }
    qlog = tmp_path / "out.qlog"
    cli("run", written(tmp_path, LOSSY), "--qlog", qlog, "--qlog-version", version, "--set", "duration=1s")
    sound = next(value for name, value in parts(version, json.loads(qlog.read_text())) if name == kinds[kind])
    check(version, kinds[kind], sound)
    broken = {key: value for key, value in {**sound, **change}.items() if value is not None}
    with pytest.raises(ValidationError):
        check(version, kinds[kind], broken)


@pytest.mark.parametrize("version", VERSIONS)
def test_qlog_keeps_its_schema(version: str, tmp_path: Path) -> None:
    qlog = tmp_path / "out.qlog"
    answer = cli(
        "run",
        written(tmp_path, MIXED),
        "--qlog",
        qlog,
        "--qlog-version",
        version,
        "--capture",
        "accurate,mice",
    )
    assert (answer.code, answer.stderr.splitlines()[-1]) == (0, f"events of senders in {qlog}")
    document = json.loads(qlog.read_text())
    check_document(version, document)
    titles = [trace["title"] for trace in document["traces"]]
    assert {"accurate", "mice.0", "mice.0, connection 2"} <= set(titles)
    for trace in document["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)


@pytest.mark.parametrize("version", VERSIONS)
def test_qlog_of_quic_has_the_numbers_of_the_run(version: str, tmp_path: Path) -> None:
    qlog = tmp_path / "out.qlog"
    answer = cli("run", written(tmp_path, OVER_QUIC), "--qlog", qlog, "--qlog-version", version, "--json")
    (flow,) = json.loads(answer.stdout)["flows"]
    assert flow["recovery"] == "quic" and flow["retransmits"] > 20
    document = json.loads(qlog.read_text())
    check_document(version, document)
    (trace,) = document["traces"]
    times = [event["time"] for event in trace["events"]]
    assert times == sorted(times)
    sent, lost = events(trace, "packet_sent"), events(trace, "packet_lost")
    numbers = [event["data"]["header"]["packet_number"] for event in sent]
    assert numbers == list(range(len(sent)))
    assert len(lost) >= flow["retransmits"]
    ranges = [event["data"]["frames"][0]["acked_ranges"] for event in events(trace, "packet_received")]
    assert max(map(len, ranges)) > 3, "no ACK has more ranges than three SACK blocks"
    acked = {
        number for each in ranges for first, *last in each for number in range(first, max([first, *last]) + 1)
    }
    lost_numbers = {event["data"]["header"]["packet_number"] for event in lost}
    assert not acked & lost_numbers and acked | lost_numbers <= set(numbers)


@pytest.mark.parametrize("option", ["--qlog", "--pcap"])
def test_a_file_that_is_there_is_replaced_once_the_new_one_is_whole(option: str, tmp_path: Path) -> None:
    scenario, target = written(tmp_path, LOSSY), tmp_path / "out"
    target.write_text("of an earlier run")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))

    full = cli("run", scenario, option, target, before=small_files)
    assert (full.code, full.stderr.splitlines()[-1]) == (
        1,
        f"error: {target}: cannot be written: File too large",
    )
    assert "goodput" in full.stdout and "Traceback" not in full.stderr
    assert target.read_text() == "of an earlier run"
    assert cli("run", scenario, option, target).code == 0
    assert target.stat().st_size > 8_192
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "scenario.toml"]


def test_qlog_tells_what_the_run_counts(tmp_path: Path) -> None:
    qlog, pcap = tmp_path / "out.qlog", tmp_path / "out.pcapng"
    answer = cli("run", written(tmp_path, LOSSY), "--qlog", qlog, "--pcap", pcap, "--json")
    (flow,) = json.loads(answer.stdout)["flows"]
    (trace,) = json.loads(qlog.read_text())["traces"]
    sent, lost = events(trace, "packet_sent"), events(trace, "packet_lost")
    numbers = [event["data"]["header"]["packet_number"] for event in sent]
    assert numbers == list(range(len(sent)))
    offsets = [event["data"]["frames"][0]["offset"] for event in sent]
    assert len(offsets) - len(set(offsets)) == flow["retransmits"] == len(lost)
    # Each number is acknowledged or lost once, but for those in flight at the end.
    acked = [
        number
        for event in events(trace, "packet_received")
        for first, *last in event["data"]["frames"][0].get("acked_ranges", [])
        for number in range(first, (last or [first])[0] + 1)
    ]
    gone = [event["data"]["header"]["packet_number"] for event in lost]
    assert len(set(acked)) == len(acked) and not set(acked) & set(gone)
    left = len(set(numbers) - set(acked) - set(gone))
    assert left < 60
    # A loss is told when it is declared; of a burst, all at once and before most are repaired.
    lost_at = {event["data"]["header"]["packet_number"]: event["time"] for event in lost}
    sent_at: dict[int, tuple[float, int]] = {}
    waited = []
    for event in sent:
        offset, number = event["data"]["frames"][0]["offset"], event["data"]["header"]["packet_number"]
        if offset in sent_at:
            before, last = sent_at[offset]
            assert before < lost_at[last] <= event["time"]
            waited.append(event["time"] - lost_at[last])
        sent_at[offset] = event["time"], number
    assert min(waited) == 0 and max(waited) > 10
    states = [event["data"]["new"] for event in events(trace, "congestion_state_updated")]
    assert states[:3] == ["slow_start", "recovery", "congestion_avoidance"]
    # Fast recovery ends at ssthresh.
    metrics = events(trace, "metrics_updated")
    least = min(event["data"]["min_rtt"] for event in metrics if "min_rtt" in event["data"])
    # 2 x 20 ms, and a packet of 1500 bytes at 5 Mbit/s and twice at 100 Mbit/s, an ACK of 40 likewise.
    assert least == pytest.approx(40 + 1540 * 8 / 5e3 + 2 * 1540 * 8 / 1e5, abs=1e-3)
    assert any("ssthresh" in event["data"] for event in metrics)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--qlog", "x", "--at", "bottleneck"), "--qlog records senders, but --at is bottleneck"),
        (("--qlog", "x", "--pcap", "./x"), "--qlog x: is also the file of --pcap; name two files"),
        (("--qlog-version", "draft"), "--qlog-version needs --qlog FILE"),
        (("--qlog", "x", "--qlog-version", "0.4"), "invalid value for '--qlog-version'"),
        (("--qlog", "missing/x"), "error: --qlog missing/x: the folder missing does not exist"),
        (("--capture", "test"), "--capture needs --pcap FILE or --qlog FILE"),
    ],
)
def test_qlogs_that_cannot_be(args: tuple[str, ...], message: str, tmp_path: Path) -> None:
    answer = cli("run", written(tmp_path, LOSSY), *args, cwd=tmp_path)
    assert (answer.code, answer.stdout) == (2, "")
    assert message in answer.stderr
