//! The result of a run: metrics, computed from counters, and samples.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::probe::Samples;
use crate::qdisc::Reason;
use crate::units::NANOS_PER_SEC;

/// The result of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Metrics of the whole run.
    pub summary: Summary,
    /// Metrics of each flow with congestion control, in the order of declaration; slots of arrivals are not among them.
    pub flows: Vec<FlowResult>,
    /// Metrics of each group of transfers: those of flows in the order of declaration, then groups of arrivals.
    pub transfers: Vec<TransferResult>,
    /// Metrics of datagrams, in the order of declaration.
    pub datagrams: Vec<DatagramResult>,
    /// Metrics of the meters, by name.
    pub meters: Vec<MeterResult>,
    /// Metrics of the shared links, in the order of declaration.
    pub links: Vec<LinkResult>,
    /// Queueing delays of the data packets of all flows.
    pub queue_delays: Histogram,
    /// Data packets that the bottleneck forwarded over the whole run, warm-up included.
    pub packets_forwarded: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// Where everything is that was sent over the whole run.
    pub totals: Totals,
    /// Samples over time.
    pub samples: Samples,
}

/// Where the packets of a run are at its end, data and acknowledgements, warm-up included:
/// `sent + duplicated = delivered + corrupted + policed + dropped + lost + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Entered the network.
    pub sent: Volume,
    /// Came into being on links, as second copies.
    pub duplicated: Volume,
    /// Came to the end of their route unharmed.
    pub delivered: Volume,
    /// Came to the end of their route with wrong bits, and were discarded there.
    pub corrupted: Volume,
    /// Dropped by meters.
    pub policed: Volume,
    /// Dropped by queues.
    pub dropped: Volume,
    /// Lost in transit.
    pub lost: Volume,
    /// Queued or in flight.
    pub in_flight: Volume,
}

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Volume {
    #[inline]
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

impl AddAssign for Volume {
    fn add_assign(&mut self, other: Volume) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Metrics over `[warmup, end)`; `metric` holds each formula. Flows are those of [`RunResult::flows`]: not slots of
/// arrivals, and not datagrams.
///
/// A metric is none if it does not apply: without flows, or with a denominator of zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Capacity of the bottleneck, its mean if it varies, bits per second; none for a pure delay.
    pub capacity_bps: Option<f64>,
    /// Payload received in order, all flows, bits per second.
    pub goodput_bps: Option<f64>,
    /// Throughput of the senders on the wire, retransmissions, headers and framing included, bits per second.
    pub throughput_bps: Option<f64>,
    /// Bits that the bottleneck transmitted over its capacity.
    pub utilization: Option<f64>,
    /// Goodput of the flows over the bottleneck, over its capacity.
    pub efficiency: Option<f64>,
    /// Goodput over the payload sent, retransmissions included.
    pub delivery_ratio: Option<f64>,
    /// Segments lost, dropped by a queue of their path or lost by a link, over segments sent, all flows.
    pub loss_rate: Option<f64>,
    /// Segments retransmitted over segments sent, all flows.
    pub retransmit_rate: Option<f64>,
    /// Drops over arrivals at the bottleneck queue.
    pub drop_rate: Option<f64>,
    /// Marks over arrivals at the bottleneck queue.
    pub mark_rate: Option<f64>,
    /// Jain's index of the flows' goodputs.
    pub jain_index: Option<f64>,
    /// (max - min) / mean of the flows' goodputs.
    pub spread: Option<f64>,
    /// Mean queueing delay of the data packets of the flows along their path, seconds.
    pub queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %, seconds.
    pub queue_delay_p95_s: Option<f64>,
    /// Mean queueing delay of their ACKs, seconds.
    pub reverse_queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %, seconds.
    pub reverse_queue_delay_p95_s: Option<f64>,
    /// Mean sojourn time of forwarded packets in the bottleneck queue, transmission excluded, seconds.
    pub bottleneck_queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %, seconds.
    pub bottleneck_queue_delay_p95_s: Option<f64>,
}

/// Metrics of one flow over `[warmup, end)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowResult {
    /// Position in the scenario.
    pub id: usize,
    /// Its name.
    pub name: Arc<str>,
    /// Name of the group it belongs to.
    pub group: Arc<str>,
    /// Name of the algorithm.
    pub cc: Arc<str>,
    /// Name of the loss recovery.
    pub recovery: &'static str,
    /// Name of the ECN feedback.
    pub ecn: &'static str,
    /// Payload received in order, bits per second.
    pub goodput_bps: f64,
    /// Throughput of the sender on the wire, bits per second.
    pub throughput_bps: f64,
    /// Segments lost over segments sent; none where none was sent.
    pub loss_rate: Option<f64>,
    /// Segments retransmitted over segments sent; none where none was sent.
    pub retransmit_rate: Option<f64>,
    /// Data packets in flight at the beginning of the window.
    pub in_flight_start: u64,
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Copies of data packets that links made.
    pub copies: u64,
    /// Data packets that came to the receiver, duplicates included.
    pub arrived: u64,
    /// Data packets dropped by queues and meters or lost by links.
    pub lost: u64,
    /// Data packets that arrived with wrong bits, and were discarded by the host.
    pub corrupted: u64,
    /// Data packets in flight at the end.
    pub in_flight_end: u64,
    /// ACKs dropped by queues or lost by links.
    pub acks_lost: u64,
    /// ACKs that arrived with wrong bits, and were discarded by the host.
    pub acks_corrupted: u64,
    /// Payload of the segments sent.
    pub sent_bytes: u64,
    /// Payload first sent in the window and acknowledged by its end.
    pub acknowledged_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Data packets that came to the receiver with a mark.
    pub marks: u64,
    /// Congestion events for marks.
    pub ecn_events: u64,
    /// Of the packets lost, those dropped before the first shared link: by the queue of the access link.
    pub access_drops: u64,
    /// Mean queueing delay of data packets along their path, seconds; none where none arrived.
    pub queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %; none where none arrived, and beyond the first 8 flows.
    pub queue_delay_p95_s: Option<f64>,
    /// Mean of the RTT measurements; none where nothing was measured.
    pub rtt_mean_s: Option<f64>,
    /// Mean of cwnd over the time the flow was active, recovery included; none where it was not.
    pub cwnd_mean_segments: Option<f64>,
    /// Propagation of the path and the reverse path.
    pub base_rtt_s: f64,
    /// Time from start to the last byte acknowledged, for a transfer that ended.
    pub completion_time_s: Option<f64>,
    /// How long the answers took of a flow that has many.
    #[serde(flatten)]
    pub times: Option<Box<TransferTimes>>,
    /// Colours that its meter gave to its data; none for a flow without a meter.
    #[serde(flatten)]
    pub colours: Option<Box<ColourCounts>>,
}

/// Packets by the colour that a meter gave them in `[warmup, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColourCounts {
    /// Green packets.
    pub green: u64,
    /// Yellow packets.
    pub yellow: u64,
    /// Red packets.
    pub red: u64,
    /// Of the red ones, those that the meter dropped.
    pub policed: u64,
}

/// How long transfers took that ended in `[warmup, end)`; none where there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TransferTimes {
    /// Transfers that ended.
    pub completed: u64,
    /// Mean of their times.
    pub fct_mean_s: Option<f64>,
    /// Half of them took no longer.
    pub fct_p50_s: Option<f64>,
    /// 95 % of them took no longer.
    pub fct_p95_s: Option<f64>,
    /// 99 % of them took no longer.
    pub fct_p99_s: Option<f64>,
    /// The longest.
    pub fct_max_s: Option<f64>,
}

/// Metrics of a group of transfers over `[warmup, end)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferResult {
    /// Name of the group.
    pub group: String,
    /// Name of the traffic.
    pub traffic: &'static str,
    /// Name of the algorithm.
    pub cc: Arc<str>,
    /// Name of the loss recovery.
    pub recovery: &'static str,
    /// Name of the ECN feedback.
    pub ecn: &'static str,
    /// Flows, or slots of arrivals.
    pub flows: usize,
    /// Transfers that started.
    pub started: u64,
    /// Transfers that found no slot.
    pub refused: u64,
    /// Transfers in progress at the end.
    pub unfinished: u64,
    /// Transfers in progress, on average; only of arrivals.
    pub active_mean: Option<f64>,
    /// How long they took.
    #[serde(flatten)]
    pub times: TransferTimes,
    /// Payload of the transfers that started, bits per second.
    pub offered_bps: f64,
    /// Payload received in order, bits per second.
    pub goodput_bps: f64,
    /// Throughput of the senders on the wire, bits per second.
    pub throughput_bps: f64,
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Data packets dropped by queues or lost by links.
    pub lost: u64,
    /// Segments lost over segments sent; none where none was sent.
    pub loss_rate: Option<f64>,
    /// Segments sent again.
    pub retransmits: u64,
    /// Segments retransmitted over segments sent; none where none was sent.
    pub retransmit_rate: Option<f64>,
    /// Expiries of the retransmission timers.
    pub timeouts: u64,
    /// Mean queueing delay of data packets along their path, seconds; none where none arrived.
    pub queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %; none where none arrived, and beyond the first 8 flows or groups of
    /// arrivals.
    pub queue_delay_p95_s: Option<f64>,
}

/// Metrics of datagrams over `[warmup, end)`: of one flow, or of a population. Bits and bytes are those on the wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatagramResult {
    /// Position among the datagrams of the scenario.
    pub id: usize,
    /// Its name.
    pub name: String,
    /// Name of the group it belongs to.
    pub group: String,
    /// Name of the traffic.
    pub traffic: &'static str,
    /// How many sources there are.
    pub sources: usize,
    /// Sent, bits per second.
    pub offered_bps: f64,
    /// Arrived, bits per second.
    pub delivered_bps: f64,
    /// The rate that it was to leave to others, mean, bits per second; none where it leaves a fixed one.
    pub leaves_bps: Option<f64>,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived, copies not counted.
    pub delivered: u64,
    /// Packets dropped by queues or lost by links.
    pub lost: u64,
    /// Packets that arrived with wrong bits, and were discarded by the host.
    pub corrupted: u64,
    /// Packets lost over packets sent; none where none was sent.
    pub loss_rate: Option<f64>,
    /// Mean of the one-way delays of packets that arrived; none where none did.
    pub delay_mean_s: Option<f64>,
    /// Half of them took no longer, within 1 %.
    pub delay_p50_s: Option<f64>,
    /// 99 % of them took no longer, within 1 %.
    pub delay_p99_s: Option<f64>,
    /// Mean of the interarrival jitter of RFC 3550.
    pub jitter_s: Option<f64>,
    /// Packets that arrived after their deadline over packets sent; none without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_rate: Option<f64>,
    /// Packets lost, discarded as corrupt, or late, over packets sent; none without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_or_late_rate: Option<f64>,
    /// Colours that their meter gave them; none for datagrams without a meter.
    #[serde(flatten)]
    pub colours: Option<ColourCounts>,
}

/// Metrics of a meter over `[warmup, end)`. Bits are those on the wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeterResult {
    /// Its name.
    pub name: String,
    /// Name of the link in front of whose queue it is.
    pub link: String,
    /// Packets by colour.
    #[serde(flatten)]
    pub colours: ColourCounts,
    /// Green, bits per second.
    pub green_bps: f64,
    /// Yellow, bits per second.
    pub yellow_bps: f64,
    /// Red, bits per second.
    pub red_bps: f64,
}

/// Metrics of one link direction over `[warmup, end)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkResult {
    /// Its name.
    pub name: String,
    /// Bits transmitted over capacity; none for a pure delay.
    pub utilization: Option<f64>,
    /// Mean of the available capacity; none for a link that does not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bps: Option<f64>,
    /// Packets that came to the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter.
    pub forwarded: u64,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the queue marked.
    pub marks: u64,
    /// Why it dropped and marked; nothing for a queue that drops only when it is full.
    #[serde(flatten)]
    pub reasons: Reasons,
    /// Of the drops, those of packets in profile; none for a queue that does not look at profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_profile_drops: Option<u64>,
    /// Packets lost in transit.
    pub losses: u64,
    /// The other impairments; none for a link without any.
    #[serde(flatten)]
    pub impairments: Option<ImpairmentCounts>,
    /// Transmissions; none for a link that is not a station of a channel.
    #[serde(flatten)]
    pub attempts: Option<Attempts>,
    /// Mean sojourn time of forwarded packets in the queue, transmission excluded.
    pub queue_delay_mean_s: Option<f64>,
    /// 95th percentile of that time, within 1 %.
    pub queue_delay_p95_s: Option<f64>,
    /// All of these sojourn times. They are not among the metrics.
    #[serde(skip)]
    pub queue_delays: Histogram,
}

/// Transmissions of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// All of them.
    pub attempts: u64,
    /// Those without an ACK: they collided, or arrived with wrong bits.
    pub failed_attempts: u64,
}

/// Impairments of packets that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ImpairmentCounts {
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// Packets that arrived with wrong bits.
    pub corruptions: u64,
    /// Packets that overtook another one.
    pub reordered: u64,
}

/// Why a queue dropped and marked packets: `early_drops`, `full_drops`, `early_marks` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Drops, for each reason that the queue has.
    pub drops: Vec<(Reason, u64)>,
    /// Marks, for each reason that the queue has.
    pub marks: Vec<(Reason, u64)>,
}

impl Serialize for Reasons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let drops = self.drops.iter().map(|(reason, count)| (format!("{}_drops", reason.name()), count));
        let marks = self.marks.iter().map(|(reason, count)| (format!("{}_marks", reason.name()), count));
        serializer.collect_map(drops.chain(marks))
    }
}

/// How many packets had a value of at most an edge and above the edge before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Upper edges of the classes that are not empty, nanoseconds, ascending; each within 1 % of its values.
    pub up_to_ns: Vec<u64>,
    /// Packets in each class.
    pub packets: Vec<u64>,
}

impl From<hdrhistogram::Histogram<u64>> for Histogram {
    fn from(values: hdrhistogram::Histogram<u64>) -> Self {
        let (up_to_ns, packets) = values
            .iter_recorded()
            .map(|class| (values.highest_equivalent(class.value_iterated_to()), class.count_at_value()))
            .unzip();
        Histogram { up_to_ns, packets }
    }
}

/// Nanoseconds as seconds.
pub(super) fn seconds(nanos: f64) -> f64 {
    nanos / NANOS_PER_SEC as f64
}
