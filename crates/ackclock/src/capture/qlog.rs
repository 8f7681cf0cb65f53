//! Writes a recording of senders as qlog version 0.3 (draft-ietf-quic-qlog-main-schema-02 and -quic-events-01) or as
//! the current drafts (-14 and -13).
//!
//! qlog has no events for TCP, so TCP segments become packets of QUIC. Each transmission has its own number, and data
//! are frames of stream 0. An ACK has ranges of the newly acknowledged transmissions. Packets of QUIC and RTP keep
//! their numbers and ranges, and are lost when their sender declares them lost.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::recording::{Connection, Packet, Recording, Segment, SenderState};
use crate::cc::Phase;
use crate::rtp;
use crate::tcp::AckSegment;
use crate::transport::Protocol;
use crate::units::{Duration, Instant};

/// Which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QlogVersion {
    /// 0.3, the newest that qvis opens.
    V03,
    /// The version of the current drafts.
    Draft,
}

/// The names of events.
struct Names {
    sent: &'static str,
    received: &'static str,
    lost: &'static str,
    metrics: &'static str,
    state: &'static str,
}

impl QlogVersion {
    /// Their names.
    pub const ALL: [(&'static str, QlogVersion); 2] = [("0.3", QlogVersion::V03), ("draft", QlogVersion::Draft)];

    fn names(self) -> Names {
        match self {
            QlogVersion::V03 => Names {
                sent: "transport:packet_sent",
                received: "transport:packet_received",
                lost: "recovery:packet_lost",
                metrics: "recovery:metrics_updated",
                state: "recovery:congestion_state_updated",
            },
            QlogVersion::Draft => Names {
                sent: "quic:packet_sent",
                received: "quic:packet_received",
                lost: "quic:packet_lost",
                metrics: "quic:recovery_metrics_updated",
                state: "quic:congestion_state_updated",
            },
        }
    }

    /// The beginning of a file, up to the list of traces.
    fn file(self) -> Value {
        match self {
            QlogVersion::V03 => json!({ "qlog_version": "0.3", "qlog_format": "JSON" }),
            QlogVersion::Draft => json!({
                "file_schema": "urn:ietf:params:qlog:file:contained",
                "serialization_format": "application/qlog+json",
            }),
        }
    }

    /// The beginning of a trace, up to the list of events.
    fn trace(self, connection: &Connection) -> Value {
        let title = match connection.successor {
            0 => connection.flow.to_string(),
            successor => format!("{}, connection {}", connection.flow, successor + 1),
        };
        let vantage_point = json!({ "name": "sender", "type": "client" });
        match self {
            QlogVersion::V03 => json!({
                "title": title,
                "vantage_point": vantage_point,
                "common_fields": { "protocol_type": [connection.protocol().unwrap_or_default().name().to_uppercase()], "time_format": "relative", "reference_time": 0.0 },
            }),
            QlogVersion::Draft => json!({
                "title": title,
                "vantage_point": vantage_point,
                "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
            }),
        }
    }
}

/// The text of the file: a trace for each connection of a capture at the senders, with their states. Times are milliseconds from
/// the start of the run.
pub fn qlog(recording: &Recording, version: QlogVersion, title: &str, description: &str) -> String {
    let mut traces: Vec<Trace> =
        recording.connections.iter().map(|connection| Trace::new(connection, version)).collect();
    let mut states = recording.senders.iter().peekable();
    let mut declared = recording.declared.iter().peekable();
    for place in 0..=recording.packets.len() {
        while let Some(state) = states.next_if(|state| state.place <= place) {
            while let Some(lost) = declared.next_if(|lost| lost.time <= state.time) {
                traces[lost.connection as usize].declare_lost(lost.time, lost.seq);
            }
            traces[state.connection as usize].update(state);
        }
        while let Some(lost) = declared.next_if(|lost| lost.place <= place) {
            traces[lost.connection as usize].declare_lost(lost.time, lost.seq);
        }
        if let Some(packet) = recording.packets.get(place) {
            traces[packet.connection as usize].add(packet, &recording.ranges);
        }
    }
    let with_events = traces.iter().filter(|trace| trace.connection.transport.is_some());
    let texts: Vec<String> = with_events
        .map(|trace| with_list(version.trace(trace.connection), "events", &trace.events.join(",\n")))
        .collect();
    let mut file = version.file();
    file["title"] = title.into();
    file["description"] = description.into();
    with_list(file, "traces", &texts.join(",\n")) + "\n"
}

/// An object with a list more, whose values are text already.
fn with_list(object: Value, name: &str, values: &str) -> String {
    let mut text = object.to_string();
    text.truncate(text.len() - 1);
    text + &format!(",\"{name}\":[\n{values}\n]}}")
}

/// A segment that is not acknowledged.
#[derive(Clone, Copy)]
struct Outstanding {
    end: u64,
    /// The number of its last transmission, and whether that was declared lost.
    number: u64,
    is_lost: bool,
}

/// The trace of a connection in the making.
struct Trace<'recording> {
    connection: &'recording Connection,
    version: QlogVersion,
    names: Names,
    events: Vec<String>,
    /// Packets sent and received so far.
    sent: u64,
    received: u64,
    /// Unacknowledged data by their first bytes.
    outstanding: BTreeMap<u64, Outstanding>,
    /// QUIC: lost packets with numbers below this one have been reported.
    lost_below: u64,
    /// The last written metrics.
    metrics: Map<String, Value>,
    in_flight: u64,
    phase: Option<Phase>,
}

impl<'recording> Trace<'recording> {
    fn new(connection: &'recording Connection, version: QlogVersion) -> Self {
        Trace {
            connection,
            version,
            names: version.names(),
            events: Vec::new(),
            sent: 0,
            received: 0,
            outstanding: BTreeMap::new(),
            lost_below: 0,
            metrics: Map::new(),
            in_flight: 0,
            phase: None,
        }
    }

    fn event(&mut self, at: Instant, name: &str, data: &Value) {
        let time = at.since(Instant::ZERO);
        self.events.push(json!({ "time": millis(time), "name": name, "data": data }).to_string());
    }

    fn add(&mut self, packet: &Packet, ranges: &[(u64, u64)]) {
        match &packet.segment {
            Segment::Data { seq, len, .. } => self.send(packet, *seq, *len),
            Segment::Ack { ack, .. } => self.receive(packet, ack.as_ref()),
            Segment::QuicData { number, offset, len, .. } | Segment::RtpData { number, offset, len, .. } => {
                self.send_frame(packet, *number, *offset, *len);
            }
            Segment::RtpFeedback { list: (first, end) } => {
                let reported = rtp::reported(&ranges[*first as usize..*end as usize]);
                let ranges = reported.into_iter().rev().map(|(start, end)| range(start, end - 1)).collect();
                let number = self.received;
                self.received += 1;
                self.receive_ack(packet, number, ranges);
            }
            Segment::QuicAck { number, ranges: (first, end), .. } => {
                let ranges = &ranges[*first as usize..*end as usize];
                let ranges = ranges.iter().rev().map(|(start, end)| range(*start, end - 1)).collect();
                self.receive_ack(packet, *number, ranges);
            }
            Segment::QuicRequest { .. } | Segment::Datagram { .. } => {}
        }
    }

    /// The sender declares a segment lost, or a packet of QUIC, which it declares once.
    fn declare_lost(&mut self, at: Instant, position: u64) {
        if self.connection.protocol() == Some(Protocol::Tcp) {
            self.lose(at, position);
        } else if position >= self.lost_below {
            self.lost_below = position + 1;
            self.event(at, self.names.lost, &json!({ "header": header(position) }));
        }
    }

    fn send(&mut self, packet: &Packet, seq: u64, len: u32) {
        let number = self.sent;
        self.sent += 1;
        if len > 0 {
            // Sent again on suspicion, as a probe: the packet before it has no other end.
            self.lose(packet.time, seq);
            self.outstanding.insert(seq, Outstanding { end: seq + u64::from(len), number, is_lost: false });
        }
        self.send_frame(packet, number, seq, len);
    }

    fn send_frame(&mut self, packet: &Packet, number: u64, seq: u64, len: u32) {
        let raw = json!({ "length": packet.wire_len, "payload_length": len });
        if len == 0 {
            // SYN, FIN, an ACK, or a PING.
            self.event(packet.time, self.names.sent, &json!({ "header": header(number), "raw": raw }));
            return;
        }
        let mut frame = json!({ "frame_type": "stream", "stream_id": 0, "offset": seq });
        match self.version {
            QlogVersion::V03 => frame["length"] = len.into(),
            QlogVersion::Draft => frame["raw"] = json!({ "payload_length": len }),
        }
        let data = json!({ "header": header(number), "frames": [frame], "raw": raw });
        self.event(packet.time, self.names.sent, &data);
        self.in_flight += u64::from(len);
        self.say(packet.time, [("bytes_in_flight", Some(self.in_flight.into()))]);
    }

    /// The last transmission of a segment is declared lost, if it was not before.
    fn lose(&mut self, at: Instant, seq: u64) {
        if let Some(segment) = self.outstanding.get_mut(&seq).filter(|segment| !segment.is_lost) {
            segment.is_lost = true;
            let number = segment.number;
            self.event(at, self.names.lost, &json!({ "header": header(number) }));
        }
    }

    fn receive(&mut self, packet: &Packet, ack: Option<&AckSegment>) {
        let number = self.received;
        self.received += 1;
        let ranges = ack.map_or_else(Vec::new, |ack| self.acknowledge(ack));
        self.receive_ack(packet, number, ranges);
    }

    fn receive_ack(&mut self, packet: &Packet, number: u64, ranges: Vec<Value>) {
        let mut frame = json!({ "frame_type": "ack" });
        if !ranges.is_empty() {
            frame["acked_ranges"] = ranges.into();
        }
        let raw = json!({ "length": packet.wire_len });
        let data = json!({ "header": header(number), "frames": [frame], "raw": raw });
        self.event(packet.time, self.names.received, &data);
    }

    /// The numbers of packets that an ACK newly acknowledges, as ranges.
    fn acknowledge(&mut self, ack: &AckSegment) -> Vec<Value> {
        let mut numbers = Vec::new();
        let blocks = std::iter::once((0, ack.ack)).chain(ack.sack.iter(ack.ack));
        for (start, end) in blocks {
            let within = self.outstanding.range(start..end.max(start)).filter(|(_, segment)| segment.end <= end);
            let covered: Vec<(u64, u64)> = within.map(|(seq, segment)| (*seq, segment.number)).collect();
            for (seq, number) in covered {
                self.outstanding.remove(&seq);
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        numbers.chunk_by(|one, next| one + 1 == *next).map(|run| range(run[0], run[run.len() - 1])).collect()
    }

    fn update(&mut self, state: &SenderState) {
        if self.phase != Some(state.phase) {
            let mut data = json!({ "new": state_name(state.phase) });
            if let Some(old) = self.phase {
                data["old"] = state_name(old).into();
            }
            // Both kinds of recovery have one name.
            if data.get("old") != data.get("new") {
                self.event(state.time, self.names.state, &data);
            }
            self.phase = Some(state.phase);
        }
        let mss = u64::from(self.connection.transport.as_ref().map_or(0, |transport| transport.mss));
        let bytes = |segments: f64| Value::from((segments * mss as f64) as u64);
        self.in_flight = u64::from(state.in_flight) * mss;
        let rtt = |rtt: Duration| (!rtt.is_zero()).then(|| Value::from(millis(rtt)));
        self.say(
            state.time,
            [
                ("congestion_window", Some(bytes(state.cwnd))),
                ("ssthresh", state.ssthresh.is_finite().then(|| bytes(state.ssthresh))),
                ("bytes_in_flight", Some(self.in_flight.into())),
                ("smoothed_rtt", rtt(state.srtt)),
                ("rtt_variance", rtt(state.rttvar)),
                ("min_rtt", rtt(state.min_rtt)),
            ],
        );
    }

    /// Says those metrics that have changed.
    fn say<const COUNT: usize>(&mut self, at: Instant, metrics: [(&str, Option<Value>); COUNT]) {
        let mut changed = Map::new();
        for (name, value) in metrics {
            let Some(value) = value.filter(|value| self.metrics.get(name) != Some(value)) else { continue };
            self.metrics.insert(name.to_owned(), value.clone());
            changed.insert(name.to_owned(), value);
        }
        if !changed.is_empty() {
            self.event(at, self.names.metrics, &changed.into());
        }
    }
}

fn range(first: u64, last: u64) -> Value {
    if first == last { json!([first]) } else { json!([first, last]) }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

fn millis(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

/// The state's name in RFC 9002 §7.3.
fn state_name(phase: Phase) -> &'static str {
    match phase {
        Phase::SlowStart => "slow_start",
        Phase::CongestionAvoidance => "congestion_avoidance",
        Phase::FastRecovery | Phase::RtoRecovery => "recovery",
    }
}
