//! The values of a flow that an agent may observe after a step.

use ackclock::sim::{FlowPlan, FlowView, LinkView};

/// Below this a logarithm of the goodput says nothing.
const LEAST_GOODPUT: f64 = 1e-3;

/// Name, unit, meaning, and the bounds to which values are clipped.
pub type Term = (&'static str, &'static str, &'static str, f64, f64);

/// The terms that observations and rewards may be made of, in the order of [`Observed::values`].
pub const TERMS: [Term; 22] = [
    ("cwnd", "BDP", "window", 0.0, 64.0),
    ("in_flight", "BDP", "segments in flight: neither acknowledged nor taken for lost", 0.0, 64.0),
    ("srtt", "base RTT", "smoothed RTT, 0 before the first measurement", 0.0, 1000.0),
    ("min_rtt", "base RTT", "smallest RTT so far, 0 before the first measurement", 0.0, 1000.0),
    ("rttvar", "base RTT", "variation of the RTT", 0.0, 1000.0),
    ("queue_delay", "base RTT", "smoothed RTT less the smallest one", 0.0, 1000.0),
    ("send_rate", "of the bottleneck's rate", "payload sent in the step", 0.0, 100.0),
    ("goodput", "of the bottleneck's rate", "payload received in order in the step", 0.0, 100.0),
    ("log_goodput", "ln", "natural logarithm of `goodput`, of at least 0.001", -7.0, 5.0),
    ("retransmits", "of the segments sent", "segments sent again in the step", 0.0, 1.0),
    ("congestion", "events", "congestion events in the step", 0.0, 1000.0),
    ("timeouts", "events", "retransmission timeouts in the step", 0.0, 1000.0),
    ("marks", "events", "congestion events for ECN marks in the step", 0.0, 1000.0),
    ("rtt_ratio", "ratio", "smoothed RTT by the smallest one, 1 before the first measurement", 0.0, 1000.0),
    ("rtt_gradient", "s/s", "change of the smoothed RTT in the step, by its length", -1000.0, 1000.0),
    ("send_ratio", "ratio", "payload sent by payload received in order in the step, 1 without either", 0.0, 100.0),
    ("cwnd_segments", "segments", "window", 0.0, 1e9),
    ("srtt_s", "s", "smoothed RTT, 0 before the first measurement", 0.0, 1e6),
    ("send_mbps", "Mbit/s", "payload sent in the step", 0.0, 1e9),
    ("goodput_mbps", "Mbit/s", "payload received in order in the step", 0.0, 1e9),
    ("backlog", "BDP", "queue of the bottleneck, which no sender knows", 0.0, 1000.0),
    ("time", "of the duration", "time of the run, which no sender knows", 0.0, 1.0),
];

/// The scale that makes a flow's numbers dimensionless.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Rate of the bottleneck, bit/s.
    pub rate_bps: f64,
    /// Base RTT of the flow, s.
    pub base_rtt_s: f64,
    /// A segment on the wire, bytes.
    pub packet_bytes: f64,
}

impl Scale {
    /// The scale of a flow behind a bottleneck of this rate.
    pub fn of(flow: &FlowPlan, rate_bps: f64) -> Self {
        let base_rtt_s = flow.base_rtt.as_secs_f64().max(1e-9);
        Scale { rate_bps, base_rtt_s, packet_bytes: f64::from(flow.cc_context.packet_bytes) }
    }

    /// Bandwidth-delay product in segments.
    pub fn bdp(&self) -> f64 {
        self.rate_bps * self.base_rtt_s / 8.0 / self.packet_bytes
    }
}

/// A flow at the beginning of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    payload_bytes: u64,
    delivered_bytes: u64,
    segments: u64,
    retransmits: u64,
    congestion_events: u64,
    timeouts: u64,
    ecn_events: u64,
    srtt_s: f64,
}

impl Before {
    /// The counters of a flow.
    pub fn of(flow: &FlowView) -> Self {
        let counters = &flow.counters;
        Before {
            payload_bytes: counters.payload_bytes,
            delivered_bytes: flow.delivered_bytes,
            segments: counters.segments,
            retransmits: counters.retransmits,
            congestion_events: counters.congestion_events,
            timeouts: counters.timeouts,
            ecn_events: counters.ecn_events,
            srtt_s: flow.sender.srtt.as_secs_f64(),
        }
    }
}

/// A flow and its bottleneck after a step.
pub struct Observed<'a> {
    pub flow: &'a FlowView,
    pub link: &'a LinkView,
    pub before: Before,
    pub scale: Scale,
    /// Length of the step, s, 0 for a reset.
    pub step_s: f64,
    /// Time of the run as a part of its duration.
    pub time: f64,
}

impl Observed<'_> {
    /// The values of [`TERMS`], within their bounds.
    pub fn values(&self) -> [f64; TERMS.len()] {
        let mut values = self.unbounded();
        for (value, (.., low, high)) in values.iter_mut().zip(TERMS) {
            *value = value.clamp(low, high);
        }
        values
    }

    fn unbounded(&self) -> [f64; TERMS.len()] {
        let Observed { flow, before, scale, .. } = self;
        let (sender, now) = (&flow.sender, Before::of(flow));
        let bdp = scale.bdp();
        let rtts = |seconds: f64| seconds / scale.base_rtt_s;
        let per_second = |amount: f64| if self.step_s > 0.0 { amount / self.step_s } else { 0.0 };
        let sent = (now.payload_bytes - before.payload_bytes) as f64;
        let delivered = (now.delivered_bytes - before.delivered_bytes) as f64;
        let (send_bps, goodput_bps) = (per_second(8.0 * sent), per_second(8.0 * delivered));
        let goodput = goodput_bps / scale.rate_bps;
        let (srtt, min_rtt) = (now.srtt_s, sender.min_rtt.as_secs_f64());
        let [unacked, sacked, lost, again] =
            [sender.unacked, sender.sacked, sender.lost, sender.retransmitted].map(f64::from);
        let in_flight = unacked - sacked - lost + again;
        let segments = (now.segments - before.segments).max(1) as f64;
        [
            sender.cwnd / bdp,
            in_flight / bdp,
            rtts(srtt),
            rtts(min_rtt),
            rtts(sender.rttvar.as_secs_f64()),
            rtts((srtt - min_rtt).max(0.0)),
            send_bps / scale.rate_bps,
            goodput,
            libm::log(goodput.max(LEAST_GOODPUT)),
            (now.retransmits - before.retransmits) as f64 / segments,
            (now.congestion_events - before.congestion_events) as f64,
            (now.timeouts - before.timeouts) as f64,
            (now.ecn_events - before.ecn_events) as f64,
            if min_rtt > 0.0 { srtt / min_rtt } else { 1.0 },
            // The first measurement is no change.
            if before.srtt_s > 0.0 { per_second(srtt - before.srtt_s) } else { 0.0 },
            if sent == delivered { 1.0 } else { sent / delivered },
            sender.cwnd,
            srtt,
            send_bps / 1e6,
            goodput_bps / 1e6,
            self.link.backlog_bytes as f64 / (bdp * scale.packet_bytes),
            self.time,
        ]
    }
}
