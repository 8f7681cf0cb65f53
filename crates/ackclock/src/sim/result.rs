//! The result of a run: metrics, computed from counters, and samples.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::capture::Recording;
use crate::metric::{Better, Declared, Metric, Rows, Unit, rows};
use crate::probe::Samples;
use crate::qdisc::{Reason, Reasoned, disciplines};
use crate::units::NANOS_PER_SEC;

/// The result of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Metrics of the whole run.
    pub summary: Summary,
    /// Metrics of each flow with congestion control, in the order of declaration. Slots of arrivals have no row.
    pub flows: Vec<FlowResult>,
    /// Metrics of each group of transfers: first groups of flows in the order of declaration, then groups of arrivals.
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
    /// Samples of flows and links over time.
    pub samples: Samples,
    /// Captured packets, if the plan asks for them.
    pub recording: Option<Recording>,
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

rows! {
    /// Metrics over `[warmup, end)`. The module `metric` contains each formula. Flows are the rows of
    /// [`RunResult::flows`], without slots of arrivals and without datagrams.
    ///
    /// A metric that does not apply has no value: without flows, or with a denominator of zero.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Summary {
        /// C, the capacity of the bottleneck.
        capacity_bps: Option<f64> = Rate, Given, "capacity", none "no rate";
        /// Payload that came in order to the receivers x 8 / T, sum of all flows. A hole that closes within the window
        /// delivers at once the data after it.
        goodput_bps: Option<f64> = Rate, Higher, "goodput", none "no flows";
        /// Bytes that senders put on the wire x 8 / T: with headers, framing and retransmissions.
        throughput_bps: Option<f64> = Rate, Neither, "throughput", none "no flows";
        /// Bits of packets whose transmission began at the bottleneck, of any flow, / (C T).
        utilization: Option<f64> = Share, Higher, "utilization (bottleneck)" / "utilization", none "no rate";
        /// Goodput of the flows whose path crosses the bottleneck / C. Headers alone keep it below 1460/1500 by default.
        efficiency: Option<f64> = Share, Higher, "efficiency", none "no flow crosses a bottleneck with a rate";
        /// Payload that came in order / payload of all segments sent.
        delivery_ratio: Option<f64> = Share, Higher, "delivery ratio", none "nothing sent";
        /// Lost data packets of the flows / segments sent. Queues and meters of the path drop packets, and links lose
        /// them. Packets in flight at the end and corrupt arrivals do not count.
        loss_rate: Option<f64> = Share, Lower, "loss rate" / "loss", none "nothing sent";
        /// Segments retransmitted / segments sent.
        retransmit_rate: Option<f64> = Share, Lower, "retransmit rate" / "rtx", none "nothing sent";
        /// Packets that the queue of the bottleneck dropped / packets that came to it, of any flow.
        drop_rate: Option<f64> = Share, Lower, "drop rate (bottleneck)" / "drops", none "no arrivals";
        /// Packets that the queue of the bottleneck marked / packets that came to it, of any flow.
        mark_rate: Option<f64> = Share, Neither, "mark rate (bottleneck)" / "marks", none "no arrivals";
        /// `(sum x)^2 / (n sum x^2)` over the goodputs x of the n flows. It is 1 if all are 0.
        jain_index: Option<f64> = Number, Higher, "Jain index" / "Jain", none "no flows";
        /// `(max - min) / mean` of the goodputs. It is 0 if all are 0.
        spread: Option<f64> = Number, Lower, "spread", none "no flows";
        /// Queueing delay of the path, mean over data packets of all flows.
        queue_delay_mean_s: Option<f64> = Time, Lower, "queueing delay, mean" / "queue", none "no arrivals";
        /// 95th percentile of the same.
        queue_delay_p95_s: Option<f64> = Time, Lower, "queueing delay, 95 %" / "queue 95 %", none "no arrivals";
        /// Mean of the flows' delay scores, weighted by the packets that arrived. It is 1 without queueing.
        delay_score: Option<f64> = Share, Higher, "delay score", none "no arrivals";
        /// Queueing delay of ACKs on the reverse path, mean.
        reverse_queue_delay_mean_s: Option<f64>
            = Time, Lower, "queueing delay of ACKs, mean" / "ACK queue", none "no arrivals";
        /// 95th percentile of the same.
        reverse_queue_delay_p95_s: Option<f64>
            = Time, Lower, "queueing delay of ACKs, 95 %" / "ACK queue 95 %", none "no arrivals";
        /// Mean time in the queue of the bottleneck, of packets of any flow whose transmission began in the window.
        bottleneck_queue_delay_mean_s: Option<f64>
            = Time, Lower, "queueing delay (bottleneck), mean" / "bottleneck queue", none "no arrivals";
        /// 95th percentile of the same.
        bottleneck_queue_delay_p95_s: Option<f64>
            = Time, Lower, "queueing delay (bottleneck), 95 %" / "bottleneck queue 95 %", none "no arrivals";
        /// Median of the round-trip times that the senders of all flows measured. They include propagation, `delay_varies`,
        /// and the queues in both directions.
        rtt_p50_s: Option<f64> = Time, Lower, "round-trip time, 50 %" / "RTT 50 %", none "nothing measured";
        /// 95th percentile of the same.
        rtt_p95_s: Option<f64> = Time, Lower, "round-trip time, 95 %" / "RTT 95 %", none "nothing measured";
    }
}

rows! {
    /// Metrics of one flow over `[warmup, end)`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct FlowResult {
        /// Position in the scenario.
        id: usize;
        /// Its name.
        name: Arc<str>;
        /// Name of the group it belongs to.
        group: Arc<str>;
        /// Name of the algorithm.
        cc: Arc<str>;
        /// Name of the loss recovery.
        recovery: &'static str;
        /// Name of the ECN feedback.
        ecn: &'static str;
        /// Payload that came in order to the receiver x 8 / T (of a completed transfer, T is its duration).
        goodput_bps: f64 = Rate, Higher, "goodput";
        /// Bytes that the sender put on the wire x 8 / T, with the T of the goodput.
        throughput_bps: f64 = Rate, Neither, "throughput";
        /// Payload that came in order to the receiver x 8 / T, with the T of the run. It is the flow's part of the
        /// total goodput.
        delivered_bps: f64 = Rate, Higher, "delivered";
        /// `lost` / `sent`.
        loss_rate: Option<f64> = Share, Lower, "loss rate" / "loss", none "nothing sent";
        /// `retransmits` / `sent`.
        retransmit_rate: Option<f64> = Share, Lower, "retransmit rate" / "rtx", none "nothing sent";
        /// Data packets on the path just before the window began.
        in_flight_start: u64 = Count, Neither, "in flight at the start";
        /// Segments sent, retransmissions included.
        sent: u64 = Count, Neither, "sent";
        /// Copies of its data packets that links made.
        copies: u64 = Count, Neither, "copies";
        /// Data packets that came to the receiver uncorrupted, duplicates included.
        arrived: u64 = Count, Neither, "arrived";
        /// Data packets dropped by queues and meters or lost by links.
        lost: u64 = Count, Lower, "lost";
        /// Data packets that arrived with wrong bits, and were discarded by the host.
        corrupted: u64 = Count, Lower, "corrupted";
        /// Data packets on the path just before the window ended.
        in_flight_end: u64 = Count, Neither, "in flight at the end";
        /// ACKs dropped by queues or lost by links.
        acks_lost: u64 = Count, Lower, "ACKs lost";
        /// ACKs that arrived with wrong bits, and were discarded by the host.
        acks_corrupted: u64 = Count, Lower, "ACKs corrupted";
        /// Payload of the segments sent.
        sent_bytes: u64 = Bytes, Neither, "payload sent";
        /// Payload that was first sent in the window and acknowledged by its end.
        acknowledged_bytes: u64 = Bytes, Higher, "payload acknowledged";
        /// Segments sent whose first byte had been sent before.
        retransmits: u64 = Count, Lower, "retransmits" / "rtx";
        /// Expiries of the retransmission timer.
        timeouts: u64 = Count, Lower, "timeouts";
        /// Congestion events: fast recoveries, expiries of the retransmission timer, and cuts for marks. The algorithm
        /// responds to each of them once.
        congestion_events: u64 = Count, Neither, "congestion events" / "events";
        /// Data packets that came to the receiver with a mark. Repetitions of data that had come in order do not count
        /// (RFC 3168 §6.1.5). Flows without ECN count 0.
        marks: u64 = Count, Neither, "marks";
        /// Cuts for marks. There is at most one per window of data, so cuts are fewer than marks.
        ecn_events: u64 = Count, Neither, "cuts for marks";
        /// Packets of `lost` that the queue of the flow's access link dropped, before the first shared link.
        access_drops: u64 = Count, Lower, "drops at the access link";
        /// Queueing delay of its data packets, mean.
        queue_delay_mean_s: Option<f64> = Time, Lower, "queueing delay, mean" / "queue", none "no arrivals";
        /// 95th percentile of the same. Only the first 8 flows report it.
        queue_delay_p95_s: Option<f64>
            = Time, Lower, "queueing delay, 95 %" / "queue 95 %", none "no arrivals, or not among the first 8";
        /// `(b / (b + q50) + b / (b + q95)) / 2`, with the base RTT b and two percentiles of the queueing delay: the median
        /// q50 and the 95th q95. Flows after the first 8 share the percentiles of their group.
        delay_score: Option<f64> = Share, Higher, "delay score", none "no arrivals";
        /// Mean of the round-trip times measured. Each ACK of data that was sent once yields one. With timestamps, each
        /// ACK of new data does.
        rtt_mean_s: Option<f64> = Time, Lower, "round-trip time, mean" / "RTT", none "nothing measured";
        /// Median of the round-trip times measured. Only the first 8 flows report it.
        rtt_p50_s: Option<f64>
            = Time, Lower, "round-trip time, 50 %" / "RTT 50 %", none "nothing measured, or not among the first 8";
        /// 95th percentile of the same.
        rtt_p95_s: Option<f64>
            = Time, Lower, "round-trip time, 95 %" / "RTT 95 %", none "nothing measured, or not among the first 8";
        /// Smallest round-trip time measured since the start of the connection. Warm-up and handshake count.
        rtt_min_s: Option<f64> = Time, Lower, "round-trip time, min" / "min RTT", none "nothing measured";
        /// Mean of cwnd over the part of the window in which the flow was active, recovery included.
        cwnd_mean_segments: Option<f64> = Segments, Neither, "cwnd, mean" / "cwnd", none "not active";
        /// Propagation of the path and the reverse path, without transmission.
        base_rtt_s: f64 = Time, Given, "base RTT";
        /// Time from the start of the application to the last byte acknowledged, of a `transfer` that ended. Handshake
        /// and warm-up count.
        completion_time_s: Option<f64> = Time, Lower, "completion time", none "no transfer, or not ended";
        /// Times of the answers to one web client, or of keystrokes.
        #[serde(flatten)]
        times: Option<Box<TransferTimes>> => TransferTimes;
        /// Colours that its meter gave to its data. A flow without a meter has none.
        #[serde(flatten)]
        colours: Option<Box<ColourCounts>> => ColourCounts;
    }
}

rows! {
    /// Packets by the colour that a meter gave them in `[warmup, end)`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct ColourCounts {
        /// Packets that came to the meter in the window and were coloured green. Only flows with a meter report it.
        green: u64 = Count, Neither, "green" / "green packets";
        /// The same of yellow packets.
        yellow: u64 = Count, Neither, "yellow" / "yellow packets";
        /// The same of red packets.
        red: u64 = Count, Neither, "red" / "red packets";
        /// Red packets that the meter dropped.
        policed: u64 = Count, Lower, "policed" / "dropped";
    }
}

rows! {
    /// Times of transfers that ended in `[warmup, end)`. Without such a transfer there are none.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct TransferTimes {
        /// Transfers that ended in the window. For a flow: answers to a web client, keystrokes or frames.
        completed: u64 = Count, Higher, "completed" / "ended";
        /// Mean flow completion time of the transfers that ended in the window. It lasts from the arrival to the last
        /// byte acknowledged. For `page` it is the page load time, from the first request to the last byte of the last
        /// object. For `web` and `abr` it lasts from the first request to the last byte received. For `interactive` it
        /// lasts from the write of a keystroke to its last byte received in order. For `video` it lasts from the
        /// production of a frame to its last byte received.
        fct_mean_s: Option<f64> = Time, Lower, "completion time, mean" / "mean", none "none ended";
        /// Median of the same. Percentiles are nearest ranks.
        fct_p50_s: Option<f64> = Time, Lower, "completion time, 50 %" / "50 %", none "none ended";
        /// 95th percentile of the same.
        fct_p95_s: Option<f64> = Time, Lower, "completion time, 95 %" / "95 %", none "none ended";
        /// 99th percentile of the same.
        fct_p99_s: Option<f64> = Time, Lower, "completion time, 99 %" / "99 %", none "none ended";
        /// The longest of the same.
        fct_max_s: Option<f64> = Time, Lower, "completion time, longest" / "longest", none "none ended";
    }
}

rows! {
    /// Chunks and frames with deadlines, over `[warmup, end)`. Only `chunks` and `video` report it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct Lateness {
        /// Chunks that came after their deadline, or were due and had not come by the end. For `video`: frames that were
        /// not shown. Only `chunks` and `video` report it.
        late: u64 = Count, Lower, "late chunks or frames" / "late";
        /// `late` / chunks or frames that came or were due. Only `chunks` and `video` report it.
        late_rate: Option<f64> = Share, Lower, "late chunks or frames, share" / "late", none "none came or was due";
    }
}

rows! {
    /// Playback at clients that play chunks or frames, over `[warmup, end)`. Only `chunks`, `video` and `abr` report it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct Playing {
        /// Number of times that playback waited for a chunk. The first chunk is played a deadline after it was written,
        /// and each other one after its predecessor. For `video`: freezes. For `abr`: the times that the buffer ran empty
        /// after playback had begun. Only `chunks`, `video` and `abr` report it.
        stalls: u64 = Count, Lower, "stalls";
        /// Total time for which playback waited, of all flows. For `video`: the time of the frames that were not shown.
        /// Only `chunks`, `video` and `abr` report it.
        stalled_s: f64 = Time, Lower, "time stalled" / "stalled";
    }
}

rows! {
    /// Streamed media at clients of an adaptive bit rate, over `[warmup, end)`. Only `abr` reports it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct Streaming {
        /// Mean bit rate of the media that played, over its playing time. Only `abr` reports it.
        bit_rate_bps: Option<f64> = Rate, Higher, "played bit rate" / "bit rate", none "nothing played";
        /// Number of times that the bit rate of the played media changed. Only `abr` reports it.
        switches: u64 = Count, Lower, "switches of the bit rate" / "switches";
        /// Mean time from the first request of a client to the start of its playback. Warm-up counts. A client that has
        /// not begun counts with the time until the end. Only `abr` reports it.
        startup_s: Option<f64> = Time, Lower, "start-up delay" / "start-up", none "no client";
    }
}

rows! {
    /// Metrics of a group of transfers over `[warmup, end)`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct TransferResult {
        /// Name of the group.
        group: String;
        /// Name of the traffic.
        traffic: &'static str;
        /// Name of the algorithm.
        cc: Arc<str>;
        /// Name of the loss recovery.
        recovery: &'static str;
        /// Name of the ECN feedback.
        ecn: &'static str;
        /// Flows of the group, or slots of arrivals.
        flows: usize = Count, Given, "flows";
        /// Transfers that began in the window.
        started: u64 = Count, Neither, "started";
        /// Transfers that found no slot.
        refused: u64 = Count, Lower, "refused";
        /// Transfers that were in progress at the end of the window.
        unfinished: u64 = Count, Lower, "unfinished";
        /// Mean number of transfers in progress.
        active_mean: Option<f64> = Number, Neither, "active, mean", none "not of arrivals";
        /// Completion times.
        #[serde(flatten)]
        times: TransferTimes => TransferTimes;
        /// Chunks and frames with deadlines, over `[warmup, end)`.
        #[serde(flatten)]
        lateness: Option<Box<Lateness>> => Lateness;
        /// Playback at clients that play media, over `[warmup, end)`.
        #[serde(flatten)]
        playing: Option<Box<Playing>> => Playing;
        /// Streamed media, over `[warmup, end)`.
        #[serde(flatten)]
        streaming: Option<Box<Streaming>> => Streaming;
        /// Payload of the transfers that began in the window x 8 / T.
        offered_bps: f64 = Rate, Given, "offered";
        /// Payload that came in order to the receivers x 8 / T.
        goodput_bps: f64 = Rate, Higher, "goodput";
        /// Bytes that the senders put on the wire x 8 / T.
        throughput_bps: f64 = Rate, Neither, "throughput";
        /// Segments sent, retransmissions included.
        sent: u64 = Count, Neither, "sent";
        /// Data packets dropped by queues and meters or lost by links.
        lost: u64 = Count, Lower, "lost";
        /// `lost` / `sent`.
        loss_rate: Option<f64> = Share, Lower, "loss rate" / "loss", none "nothing sent";
        /// Segments sent whose first byte had been sent before.
        retransmits: u64 = Count, Lower, "retransmits" / "rtx";
        /// `retransmits` / `sent`.
        retransmit_rate: Option<f64> = Share, Lower, "retransmit rate" / "rtx", none "nothing sent";
        /// Expiries of the retransmission timers.
        timeouts: u64 = Count, Lower, "timeouts";
        /// Queueing delay of the group's data packets, mean.
        queue_delay_mean_s: Option<f64> = Time, Lower, "queueing delay, mean" / "queue", none "no arrivals";
        /// 95th percentile of the same. Only groups whose flows are all among the first 8 report it, and the first 8
        /// groups of arrivals.
        queue_delay_p95_s: Option<f64>
            = Time, Lower, "queueing delay, 95 %" / "queue 95 %", none "no arrivals, or not among the first 8";
    }
}

rows! {
    /// Metrics of datagrams over `[warmup, end)`: of one flow, or of a population. Bits and bytes are those on the wire.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct DatagramResult {
        /// Position among the datagrams of the scenario.
        id: usize;
        /// Its name.
        name: String;
        /// Name of the group it belongs to.
        group: String;
        /// Name of the traffic.
        traffic: &'static str;
        /// 1, or the size of the population.
        sources: usize = Count, Given, "sources";
        /// Bytes that left the source in the window x 8 / T.
        offered_bps: f64 = Rate, Given, "offered";
        /// Bytes that arrived in the window x 8 / T. A packet that arrives twice counts once.
        delivered_bps: f64 = Rate, Higher, "delivered";
        /// Mean of the rate to be left to others.
        leaves_bps: Option<f64> = Rate, Given, "leaves", none "without `leaves`";
        /// Packets that left in the window.
        sent: u64 = Count, Neither, "sent";
        /// Packets that arrived in the window, copies not counted.
        delivered: u64 = Count, Higher, "delivered";
        /// Packets dropped by queues and meters or lost by links.
        lost: u64 = Count, Lower, "lost";
        /// Packets that arrived with wrong bits, and were discarded by the host.
        corrupted: u64 = Count, Lower, "corrupted";
        /// `lost` / `sent`.
        loss_rate: Option<f64> = Share, Lower, "loss rate" / "loss", none "nothing sent";
        /// Mean one-way delay of packets that arrived in the window.
        delay_mean_s: Option<f64> = Time, Lower, "one-way delay, mean" / "delay", none "no arrivals";
        /// Median of the same. Percentiles are from a logarithmic histogram, within 1 %.
        delay_p50_s: Option<f64> = Time, Lower, "one-way delay, 50 %" / "50 %", none "no arrivals";
        /// 99th percentile of the same.
        delay_p99_s: Option<f64> = Time, Lower, "one-way delay, 99 %" / "99 %", none "no arrivals";
        /// Interarrival jitter by `J += (abs(D) - J) / 16` (RFC 3550 §6.4.1), mean over the packets that arrived in the
        /// window. D is the difference between the transit times of a packet and its predecessor.
        jitter_s: Option<f64> = Time, Lower, "jitter", none "no arrivals";
        /// Packets that arrived after the deadline / `sent`. Only `rtp` reports it.
        #[serde(skip_serializing_if = "Option::is_none")]
        late_rate: Option<f64> = Share, Lower, "late", none "no deadline";
        /// Packets lost, corrupted and late / `sent`. Only `rtp` reports it.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost_or_late_rate: Option<f64> = Share, Lower, "lost or late", none "no deadline";
        /// Colours that their meter gave them. Datagrams without a meter have none.
        #[serde(flatten)]
        colours: Option<ColourCounts> => ColourCounts;
    }
}

rows! {
    /// Metrics of a meter over `[warmup, end)`. Bits are those on the wire.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct MeterResult {
        /// Its name.
        name: String;
        /// Name of the link in front of whose queue it is.
        link: String;
        /// Packets by colour.
        #[serde(flatten)]
        colours: ColourCounts => ColourCounts;
        /// Bits on the wire of green packets / T.
        green_bps: f64 = Rate, Neither, "green";
        /// The same of yellow packets.
        yellow_bps: f64 = Rate, Neither, "yellow";
        /// The same of red packets.
        red_bps: f64 = Rate, Neither, "red";
    }
}

rows! {
    /// Metrics of one link direction over `[warmup, end)`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct LinkResult {
        /// Its name.
        name: String;
        /// Bits of packets whose transmission began / (capacity x T).
        utilization: Option<f64> = Share, Higher, "utilization", none "no rate";
        /// Mean of the available capacity over the window. Only links whose capacity varies report it.
        #[serde(skip_serializing_if = "Option::is_none")]
        capacity_bps: Option<f64> = Rate, Given, "capacity", none "does not vary";
        /// Packets that came to the queue.
        arrivals: u64 = Count, Neither, "arrivals";
        /// Packets whose transmission began.
        forwarded: u64 = Count, Neither, "packets";
        /// Packets that the queue dropped.
        drops: u64 = Count, Lower, "drops";
        /// Packets that the queue marked.
        marks: u64 = Count, Neither, "marks";
        /// Reasons for drops and marks. A queue that drops only when it is full has none.
        #[serde(flatten)]
        reasons: Reasons => Reasons;
        /// Drops of packets in profile. Only queues that know profiles report it.
        #[serde(skip_serializing_if = "Option::is_none")]
        in_profile_drops: Option<u64> = Count, Lower, "drops in profile", none "the queue knows no profiles";
        /// Packets lost in transit.
        losses: u64 = Count, Lower, "losses";
        /// The other impairments. A link without them has none.
        #[serde(flatten)]
        impairments: Option<ImpairmentCounts> => ImpairmentCounts;
        /// Transmissions. A link that is not a station of a channel has none.
        #[serde(flatten)]
        attempts: Option<Attempts> => Attempts;
        /// Mean time in the queue, of packets whose transmission began in the window.
        queue_delay_mean_s: Option<f64> = Time, Lower, "queueing delay, mean" / "queue delay", none "no arrivals";
        /// 95th percentile of the same.
        queue_delay_p95_s: Option<f64> = Time, Lower, "queueing delay, 95 %" / "queue delay 95 %", none "no arrivals";
        /// All of these sojourn times, which are not a metric.
        #[serde(skip)]
        queue_delays: Histogram;
    }
}

rows! {
    /// Transmissions of a station.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Attempts {
        /// Transmissions of frames. A frame may carry several packets. Only stations of a channel report it.
        attempts: u64 = Count, Neither, "attempts";
        /// Transmissions without an ACK: they collided, or arrived with wrong bits.
        failed_attempts: u64 = Count, Lower, "failed attempts" / "failed";
    }
}

rows! {
    /// Impairments of packets that arrived.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub struct ImpairmentCounts {
        /// Packets that arrive twice. Only links that can duplicate, corrupt or reorder packets report it.
        duplicates: u64 = Count, Neither, "duplicates";
        /// Packets that arrive with wrong bits.
        corruptions: u64 = Count, Lower, "corruptions";
        /// Packets that arrive before one that was sent earlier.
        reordered: u64 = Count, Neither, "reordered";
    }
}

/// Every metric of every list of the results, in their order.
pub fn metrics() -> Vec<Metric> {
    fn of<R: Rows>(list: &'static str) -> impl Iterator<Item = Metric> {
        let mut found = Vec::new();
        R::declare(&mut found);
        found.into_iter().map(move |declared| declared.in_list(list))
    }
    let lists = of::<Summary>("summary").chain(of::<FlowResult>("flows")).chain(of::<TransferResult>("transfers"));
    lists
        .chain(of::<DatagramResult>("datagrams"))
        .chain(of::<MeterResult>("meters"))
        .chain(of::<LinkResult>("links"))
        .collect()
}

/// A metric of the summary by its name, which it has.
pub fn summary_metric(name: &str) -> Metric {
    let mut found = Vec::new();
    Summary::declare(&mut found);
    let metrics = found.into_iter().map(|declared| declared.in_list("summary"));
    metrics.into_iter().find(|metric| metric.name == name).expect("the summary has this metric")
}

/// Why a queue dropped and marked packets: `early_drops`, `full_drops`, `early_marks` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// Drops, for each reason that the queue has.
    pub drops: Vec<(Reason, u64)>,
    /// Marks, for each reason that the queue has.
    pub marks: Vec<(Reason, u64)>,
}

impl Rows for Reasons {
    fn declare(found: &mut Vec<Declared>) {
        let of_drops = Reason::ALL.map(|reason| counted(reason, "drops", Better::Lower, |queue| queue.drops));
        let of_marks = Reason::ALL.map(|reason| counted(reason, "marks", Better::Neither, |queue| queue.marks));
        found.extend(of_drops.into_iter().chain(of_marks).flatten());
    }
}

/// Drops or marks for one reason, unless no queue has it.
fn counted(reason: Reason, of: &str, better: Better, has: fn(&Reasoned) -> &'static [Reason]) -> Option<Declared> {
    let queues = disciplines().filter(|(_, reasons)| has(reasons).contains(&reason)).map(|(name, _)| name);
    let queues: Vec<&str> = queues.collect();
    let label = format!("{} {of}", reason.name().replace('_', " "));
    (!queues.is_empty()).then(|| Declared {
        key: format!("{}_{of}", reason.name()),
        unit: Unit::Count,
        better,
        labels: (label.clone(), label),
        absent: None,
        definition: format!("`{of}` {}. Only {} count them.", reason.in_words(), queues.join(", ")),
    })
}

impl Serialize for Reasons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let drops = self.drops.iter().map(|(reason, count)| (format!("{}_drops", reason.name()), count));
        let marks = self.marks.iter().map(|(reason, count)| (format!("{}_marks", reason.name()), count));
        serializer.collect_map(drops.chain(marks))
    }
}

/// Number of packets in each class: the value is at most one edge, and above the edge before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Upper edges of the classes that are not empty, in nanoseconds, ascending. Each edge is within 1 % of its values.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_declares_a_metric_once() {
        let metrics = metrics();
        for (index, metric) in metrics.iter().enumerate() {
            let place = (metric.list, metric.key.as_str());
            assert!(!metrics[..index].iter().any(|other| (other.list, other.key.as_str()) == place), "{place:?} twice");
            assert!(metric.definition.ends_with('.'), "{place:?}: {}", metric.definition);
        }
        let reasons =
            metrics.iter().filter(|metric| metric.definition.ends_with("count them.")).map(|metric| &*metric.key);
        assert!(reasons.clone().any(|key| key == "oversize_drops"));
        assert!(!reasons.clone().any(|key| key == "oversize_marks"), "no queue marks what it cannot send");
    }
}
