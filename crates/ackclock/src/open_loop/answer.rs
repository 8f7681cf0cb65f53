//! The answer about a queue alone: counts, sojourn times and samples.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Request;
use super::server::{Arrival, Event, Outcome, Server};
use crate::qdisc::{Qdisc, QueuePlan, Reason};
use crate::rng::RngStreams;
use crate::units::Instant;

/// The behaviour of a queue alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Name, limit and parameters of the queue in words.
    pub queue: String,
    /// All packets.
    pub total: Source,
    /// The packets of each source. The last one is the record, if there is one.
    pub sources: Vec<Source>,
    /// Drops by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Marks by reason.
    pub marks: BTreeMap<&'static str, u64>,
    /// Share of the rate that transmissions used.
    pub utilization: f64,
    /// The state at equal intervals.
    pub samples: Samples,
    /// The outcome of each packet, if it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<Packet>,
}

/// Counts of packets. `arrived = sent + dropped + queued`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Source {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets whose transmission began.
    pub sent: u64,
    /// Bytes of these packets.
    pub sent_bytes: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked.
    pub marked: u64,
    /// Packets in the queue at the end.
    pub queued: u64,
    /// Sojourn times of the sent packets.
    pub sojourn: Option<Sojourn>,
}

/// Sojourn times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sojourn {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// Columns of equal length, one entry a sample. Counts are of the interval before the sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Samples {
    /// Time.
    pub time_ns: Vec<u64>,
    /// Packets in the queue.
    pub backlog_packets: Vec<u32>,
    /// Bytes in the queue.
    pub backlog_bytes: Vec<u64>,
    /// Largest sojourn time of the packets sent in the interval, or none if none was sent.
    pub sojourn_ns: Vec<Option<u64>>,
    /// Bytes that arrived.
    pub arrived_bytes: Vec<u64>,
    /// Bytes that were sent.
    pub sent_bytes: Vec<u64>,
    /// Dropped packets.
    pub dropped: Vec<u64>,
    /// Marked packets.
    pub marked: Vec<u64>,
    /// The variables of the queue by name, or none where it has no such variable.
    pub state: BTreeMap<String, Vec<Option<f64>>>,
}

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Packet {
    /// Arrival time.
    pub arrived_ns: u64,
    /// Place of its source.
    pub source: usize,
    /// Flow.
    pub flow: u64,
    /// Bytes on the wire.
    pub bytes: u32,
    /// `sent`, `dropped`, or `queued` at the end.
    pub outcome: &'static str,
    /// Begin of the transmission, or time of the drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_ns: Option<u64>,
    /// Why it was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<&'static str>,
    /// Why it was marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<&'static str>,
}

/// Runs a planned queue. `sources` has the place of the source of each arrival.
pub(super) fn answer(
    request: &Request,
    plan: &QueuePlan,
    streams: &RngStreams,
    arrivals: &[Arrival],
    sources: &[usize],
) -> Answer {
    let mut server = Server::new(plan.build(&|purpose| streams.stream("link", purpose)), request.rate);
    let mut samples = Samples::default();
    let (interval, end) = (request.interval.as_nanos(), request.duration.as_nanos());
    let mut due = interval;
    let (mut seen, mut first) = (0, 0);
    for (number, arrival) in arrivals.iter().enumerate() {
        while due <= arrival.at_ns {
            server.advance(Instant::from_nanos(due));
            samples.add(due, &server, &arrivals[..number], &mut seen, &mut first);
            due += interval;
        }
        server.offer(*arrival);
    }
    while due <= end {
        server.advance(Instant::from_nanos(due));
        samples.add(due, &server, arrivals, &mut seen, &mut first);
        due += interval;
    }
    server.advance(Instant::from_nanos(end));
    let packets = outcomes(arrivals, sources, server.events());
    let mut reasons: [BTreeMap<&'static str, u64>; 2] = Default::default();
    for event in server.events() {
        match event.outcome {
            Outcome::Sent => {}
            Outcome::Dropped(reason) => *reasons[0].entry(reason.name()).or_default() += 1,
            Outcome::Marked(reason) => *reasons[1].entry(reason.name()).or_default() += 1,
        }
    }
    let [drops, marks] = reasons;
    let count = request.arrivals.len() + usize::from(!request.trace.is_empty());
    let total = count_of(packets.iter());
    Answer {
        queue: plan.in_words(),
        utilization: total.sent_bytes as f64 * 8.0 / request.rate.as_bps() as f64 / request.duration.as_secs_f64(),
        total,
        sources: (0..count).map(|at| count_of(packets.iter().filter(|packet| packet.source == at))).collect(),
        drops,
        marks,
        samples,
        packets: if request.packets { packets } else { Vec::new() },
    }
}

impl Samples {
    /// Adds a sample. `seen` and `first` are the events and the arrivals before the interval.
    fn add(&mut self, at_ns: u64, server: &Server, arrivals: &[Arrival], seen: &mut usize, first: &mut usize) {
        let events = &server.events()[*seen..];
        *seen += events.len();
        let sent = |event: &&Event| event.outcome == Outcome::Sent;
        let sojourns = events.iter().filter(sent).map(|event| event.at_ns - arrivals[event.arrival].at_ns);
        let count = |wanted: fn(Outcome) -> bool| events.iter().filter(|event| wanted(event.outcome)).count() as u64;
        self.time_ns.push(at_ns);
        self.backlog_packets.push(server.queue().backlog_packets());
        self.backlog_bytes.push(server.queue().backlog_bytes());
        self.sojourn_ns.push(sojourns.max());
        let bytes = |arrival: &Arrival| u64::from(arrival.bytes);
        self.arrived_bytes.push(arrivals[*first..].iter().map(bytes).sum());
        *first = arrivals.len();
        self.sent_bytes.push(events.iter().filter(sent).map(|event| bytes(&arrivals[event.arrival])).sum());
        self.dropped.push(count(|outcome| matches!(outcome, Outcome::Dropped(_))));
        self.marked.push(count(|outcome| matches!(outcome, Outcome::Marked(_))));
        let count = self.time_ns.len();
        server.queue().state(&mut |name, value| {
            let column = self.state.entry(name.to_owned()).or_default();
            column.resize(count - 1, None);
            column.push(Some(value));
        });
        self.state.values_mut().for_each(|column| column.resize(count, None));
    }
}

fn outcomes(arrivals: &[Arrival], sources: &[usize], events: &[Event]) -> Vec<Packet> {
    let queued = |(arrival, source): (&Arrival, &usize)| Packet {
        arrived_ns: arrival.at_ns,
        source: *source,
        flow: arrival.flow,
        bytes: arrival.bytes,
        outcome: "queued",
        left_ns: None,
        dropped: None,
        marked: None,
    };
    let mut packets: Vec<Packet> = arrivals.iter().zip(sources).map(queued).collect();
    for event in events {
        let packet = &mut packets[event.arrival];
        let mut leave = |outcome, dropped: Option<Reason>| {
            packet.outcome = outcome;
            packet.left_ns = Some(event.at_ns);
            packet.dropped = dropped.map(Reason::name);
        };
        match event.outcome {
            Outcome::Sent => leave("sent", None),
            Outcome::Dropped(reason) => leave("dropped", Some(reason)),
            Outcome::Marked(reason) => packet.marked = Some(reason.name()),
        }
    }
    packets
}

fn count_of<'a>(packets: impl Iterator<Item = &'a Packet>) -> Source {
    let mut found = Source::default();
    let mut sojourns = Vec::new();
    for packet in packets {
        found.arrived += 1;
        found.marked += u64::from(packet.marked.is_some());
        match packet.outcome {
            "sent" => {
                found.sent += 1;
                found.sent_bytes += u64::from(packet.bytes);
                sojourns.extend(packet.left_ns.map(|left_ns| left_ns - packet.arrived_ns));
            }
            "dropped" => found.dropped += 1,
            _ => found.queued += 1,
        }
    }
    sojourns.sort_unstable();
    found.sojourn = Sojourn::of(&sojourns);
    found
}

impl Sojourn {
    /// Takes times in ascending order. A percentile is the least time that this share does not exceed.
    fn of(sorted: &[u64]) -> Option<Self> {
        let percentile = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1];
        let max_ns = *sorted.last()?;
        Some(Sojourn {
            mean_ns: sorted.iter().map(|ns| *ns as f64).sum::<f64>() / sorted.len() as f64,
            p50_ns: percentile(50),
            p95_ns: percentile(95),
            p99_ns: percentile(99),
            max_ns,
        })
    }
}
