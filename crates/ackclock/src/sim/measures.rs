//! From counters to rows of results, for the simulation and for the emulator.

use std::sync::Arc;

use hdrhistogram::Histogram as Recorded;

use super::delays::{DelayPercentiles, QueueingDelay};
use super::index::FlowId;
use super::plan::{FlowPlan, LinkPlan, Plan};
use super::result::{
    Attempts, ColourCounts, FlowResult, Histogram, ImpairmentCounts, LinkResult, Reasons, Summary, TransferTimes,
    seconds,
};
use super::traffic::Traffic;
use crate::link::{LinkCounters, SojournTimes};
use crate::metric::{jain_index, ratio, spread};
use crate::qdisc::{QueuePlan, Reason};
use crate::units::{Duration, NANOS_PER_SEC};

/// The counters of a link.
#[derive(Clone, Debug)]
pub struct LinkMeasures<'a> {
    /// The link.
    pub plan: &'a LinkPlan,
    /// The queues that it had, one after the other.
    pub queues: Vec<&'a QueuePlan>,
    /// Its counters when the window began, and when it ended.
    pub before: LinkCounters,
    /// The same at its end.
    pub after: LinkCounters,
    /// The mean of the available capacity, or none for a pure delay.
    pub capacity_bps: Option<f64>,
    /// Whether it was changed from outside.
    pub is_changed: bool,
    /// Sojourn times within the window.
    pub sojourn_times: Option<Recorded<u64>>,
    /// Length of the window.
    pub window: Duration,
}

impl LinkMeasures<'_> {
    /// The row.
    pub fn result(self) -> LinkResult {
        let LinkMeasures { plan, queues, before, after, capacity_bps, is_changed, sojourn_times, window } = self;
        let forwarded = after.forwarded - before.forwarded;
        let bits = 8.0 * (after.forwarded_bytes - before.forwarded_bytes) as f64;
        LinkResult {
            name: plan.name.clone(),
            utilization: capacity_bps.and_then(|capacity| ratio(bits, capacity * window.as_secs_f64())),
            capacity_bps: capacity_bps.filter(|_| is_changed || plan.varies.is_some()),
            arrivals: after.arrivals - before.arrivals,
            forwarded,
            drops: after.drops - before.drops,
            marks: after.marks - before.marks,
            reasons: reasons(&queues, &before, &after),
            in_profile_drops: queues
                .iter()
                .any(|queue| queue.reads_profiles())
                .then(|| after.in_profile_drops - before.in_profile_drops),
            losses: after.losses - before.losses,
            impairments: plan.impairments.may_alter_arrivals().then(|| impairments(&before, &after)),
            attempts: plan.channel.map(|_| Attempts {
                attempts: after.attempts - before.attempts,
                failed_attempts: after.failed_attempts - before.failed_attempts,
            }),
            queue_delay_mean_s: ratio(
                (after.sojourn_ns - before.sojourn_ns) as f64 / NANOS_PER_SEC as f64,
                forwarded as f64,
            ),
            queue_delay_p95_s: sojourn_times.as_ref().and_then(p95_s),
            queue_delays: sojourn_times.map(Histogram::from).unwrap_or_default(),
        }
    }
}

/// Drops and marks for each reason that one of the queues has.
fn reasons(queues: &[&QueuePlan], before: &LinkCounters, after: &LinkCounters) -> Reasons {
    let counted = |which: fn(&QueuePlan) -> Vec<Reason>, before: &[u64], after: &[u64]| {
        let mut counted: Vec<(Reason, u64)> = Vec::new();
        for reason in queues.iter().flat_map(|queue| which(queue)) {
            if counted.iter().all(|(known, _)| *known != reason) {
                counted.push((reason, after[reason as usize] - before[reason as usize]));
            }
        }
        counted
    };
    Reasons {
        drops: counted(QueuePlan::drops, &before.drops_by, &after.drops_by),
        marks: counted(QueuePlan::marks, &before.marks_by, &after.marks_by),
    }
}

fn impairments(before: &LinkCounters, after: &LinkCounters) -> ImpairmentCounts {
    ImpairmentCounts {
        duplicates: after.duplicates - before.duplicates,
        corruptions: after.corruptions - before.corruptions,
        reordered: after.reordered - before.reordered,
    }
}

/// The mean delay score of flows, weighted by the packets that arrived. It does not depend on their order.
fn delay_score(flows: &[FlowResult]) -> Option<f64> {
    let scored = || flows.iter().filter_map(|flow| Some((flow.arrived, flow.delay_score?)));
    let mut parts: Vec<f64> = scored().map(|(arrived, score)| arrived as f64 * score).collect();
    parts.sort_unstable_by(f64::total_cmp);
    ratio(parts.iter().sum(), scored().map(|(arrived, _)| arrived).sum::<u64>() as f64)
}

/// The 95th percentile of times in seconds, or none without values.
pub(super) fn p95_s(times: &Recorded<u64>) -> Option<f64> {
    quantile_s(times, 0.95)
}

fn quantile_s(times: &Recorded<u64>, quantile: f64) -> Option<f64> {
    (!times.is_empty()).then(|| seconds(times.value_at_quantile(quantile) as f64))
}

/// The counters of a flow within the window. [`FlowResult`] defines each under the metric of its name.
#[derive(Clone, Debug, Default)]
pub struct FlowMeasures {
    /// Payload that came in order to the receiver.
    pub delivered: u64,
    /// Bytes that the sender put on the wire.
    pub wire_bytes: u64,
    /// Data packets on the path just before the window began.
    pub in_flight_start: u64,
    /// Data packets on the path just before the window ended.
    pub in_flight_end: u64,
    /// Segments sent.
    pub sent: u64,
    /// Payload of the segments sent.
    pub sent_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Payload that was first sent in the window and acknowledged by its end.
    pub acknowledged_bytes: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Copies of data packets that links made.
    pub copies: u64,
    /// Data packets lost.
    pub lost: u64,
    /// Lost data packets that the queue of the access link dropped.
    pub access_drops: u64,
    /// Data packets that arrived with wrong bits.
    pub corrupted: u64,
    /// ACKs lost.
    pub acks_lost: u64,
    /// ACKs that arrived with wrong bits.
    pub acks_corrupted: u64,
    /// Data packets that came to the receiver with a mark.
    pub marks: u64,
    /// Congestion events.
    pub congestion_events: u64,
    /// Cuts for marks.
    pub ecn_events: u64,
    /// Data packets that arrived, and their queueing delays.
    pub queueing_delay: QueueingDelay,
    /// Percentiles of them, or none without packets.
    pub queue_delays: Option<DelayPercentiles>,
    /// Sum of the round-trip times measured, nanoseconds.
    pub rtt_ns: u64,
    /// How many there are.
    pub rtt_count: u64,
    /// The round-trip times, or none without a histogram of the flow.
    pub rtts: Option<Recorded<u64>>,
    /// The smallest since the start of the connection.
    pub rtt_min: Option<Duration>,
    /// Integral of cwnd over time, in segments and nanoseconds.
    pub window_integral: f64,
    /// The time for which the flow was active.
    pub active: Duration,
    /// From the start to the last byte acknowledged.
    pub completion: Option<Duration>,
    /// How long transfers took.
    pub times: Option<Box<TransferTimes>>,
    /// Colours that a meter gave.
    pub colours: Option<Box<ColourCounts>>,
}

impl FlowMeasures {
    /// The row of this flow, for this algorithm and this length of the window.
    pub fn result(self, id: FlowId, plan: &FlowPlan, cc: Arc<str>, window: Duration) -> FlowResult {
        let rate = |bytes: u64, time: Duration| ratio(8.0 * bytes as f64, time.as_secs_f64()).unwrap_or(0.0);
        let is_complete = matches!(plan.traffic, Traffic::Transfer { .. }) && self.completion.is_some();
        let own = if is_complete { self.active } else { window };
        let (sent, measurements) = (self.sent, self.rtt_count);
        FlowResult {
            id: id.number(),
            name: plan.name.clone(),
            group: plan.group.clone(),
            cc,
            recovery: plan.transport.recovery_name(),
            ecn: plan.transport.ecn.name(),
            goodput_bps: rate(self.delivered, own),
            throughput_bps: rate(self.wire_bytes, own),
            delivered_bps: rate(self.delivered, window),
            loss_rate: ratio(self.lost as f64, sent as f64),
            retransmit_rate: ratio(self.retransmits as f64, sent as f64),
            in_flight_start: self.in_flight_start,
            sent,
            copies: self.copies,
            arrived: self.queueing_delay.packets,
            lost: self.lost,
            corrupted: self.corrupted,
            in_flight_end: self.in_flight_end,
            acks_lost: self.acks_lost,
            acks_corrupted: self.acks_corrupted,
            sent_bytes: self.sent_bytes,
            acknowledged_bytes: self.acknowledged_bytes,
            retransmits: self.retransmits,
            timeouts: self.timeouts,
            congestion_events: self.congestion_events,
            marks: self.marks,
            ecn_events: self.ecn_events,
            access_drops: self.access_drops,
            queue_delay_mean_s: self.queueing_delay.mean_ns().map(seconds),
            queue_delay_p95_s: self.queue_delays.filter(|delays| !delays.is_shared).map(|delays| delays.p95_s),
            delay_score: self.queue_delays.and_then(|delays| delays.score(plan.base_rtt)),
            rtt_mean_s: (measurements > 0).then(|| self.rtt_ns as f64 / measurements as f64 / NANOS_PER_SEC as f64),
            rtt_p50_s: self.rtts.as_ref().and_then(|rtts| quantile_s(rtts, 0.5)),
            rtt_p95_s: self.rtts.as_ref().and_then(p95_s),
            rtt_min_s: self.rtt_min.map(Duration::as_secs_f64),
            cwnd_mean_segments: ratio(self.window_integral, self.active.as_nanos() as f64),
            base_rtt_s: plan.base_rtt.as_secs_f64(),
            completion_time_s: self.completion.map(Duration::as_secs_f64),
            times: self.times,
            colours: self.colours,
        }
    }
}

/// The measures of a flow whose ends are outside of the simulation, within the window.
#[derive(Clone, Debug, Default)]
pub struct OutsideFlow {
    /// The flow.
    pub flow: FlowId,
    /// The counters. The histograms below replace its percentiles.
    pub measures: FlowMeasures,
    /// Queueing delays of data.
    pub data_delays: SojournTimes,
    /// Queueing delays of ACKs, as a count and a sum.
    pub ack_delay: QueueingDelay,
    /// The same as a histogram.
    pub ack_delays: SojournTimes,
    /// Round-trip times.
    pub rtts: SojournTimes,
}

/// The inputs of the summary other than the rows of flows and of the bottleneck.
#[derive(Clone, Debug)]
pub struct SummaryMeasures<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The rows of its flows.
    pub flows: &'a [FlowResult],
    /// Payload delivered and bytes on the wire, by row.
    pub volumes: &'a [(u64, u64)],
    /// The row of the bottleneck.
    pub bottleneck: &'a LinkResult,
    /// The mean of its capacity.
    pub capacity_bps: Option<f64>,
    /// Queueing delays of the data of all flows.
    pub queueing_delay: QueueingDelay,
    /// The same as a histogram.
    pub queue_delays: Recorded<u64>,
    /// Mean queueing delay of ACKs, nanoseconds.
    pub ack_delay_mean_ns: Option<f64>,
    /// Queueing delays of ACKs.
    pub ack_delays: Recorded<u64>,
    /// Round-trip times of all flows.
    pub rtts: Recorded<u64>,
    /// Length of the window.
    pub window: Duration,
}

impl SummaryMeasures<'_> {
    /// The summary.
    pub fn summary(&self) -> Summary {
        let SummaryMeasures { plan, flows, volumes, bottleneck, capacity_bps, window, .. } = *self;
        let goodputs: Vec<_> = flows.iter().map(|flow| flow.goodput_bps).collect();
        let sum = |count: fn(&FlowResult) -> u64| flows.iter().map(count).sum::<u64>();
        let (sent, lost) = (sum(|flow| flow.sent), sum(|flow| flow.lost));
        let delivered: u64 = volumes.iter().map(|(delivered, _)| delivered).sum();
        let wire_bytes: u64 = volumes.iter().map(|(_, wire_bytes)| wire_bytes).sum();
        let crosses = |flow: &FlowResult| plan.flows[flow.id].forward.contains(&plan.bottleneck);
        let over_bottleneck = flows.iter().zip(volumes).filter(|(flow, _)| crosses(flow));
        let delivered_over_bottleneck =
            over_bottleneck.fold(None, |sum, (_, (delivered, _))| Some(sum.unwrap_or(0) + delivered));
        let has_flows = !flows.is_empty();
        let rate = |bytes: u64| 8.0 * bytes as f64 / window.as_secs_f64();
        Summary {
            capacity_bps,
            goodput_bps: has_flows.then(|| rate(delivered)),
            throughput_bps: has_flows.then(|| rate(wire_bytes)),
            utilization: bottleneck.utilization,
            efficiency: delivered_over_bottleneck
                .and_then(|delivered| ratio(rate(delivered), capacity_bps.unwrap_or(0.0))),
            delivery_ratio: ratio(delivered as f64, sum(|flow| flow.sent_bytes) as f64),
            loss_rate: ratio(lost as f64, sent as f64),
            retransmit_rate: ratio(sum(|flow| flow.retransmits) as f64, sent as f64),
            drop_rate: ratio(bottleneck.drops as f64, bottleneck.arrivals as f64),
            mark_rate: ratio(bottleneck.marks as f64, bottleneck.arrivals as f64),
            jain_index: has_flows.then(|| jain_index(&goodputs)),
            spread: has_flows.then(|| spread(&goodputs)),
            queue_delay_mean_s: self.queueing_delay.mean_ns().map(seconds),
            queue_delay_p95_s: p95_s(&self.queue_delays),
            delay_score: delay_score(flows),
            reverse_queue_delay_mean_s: self.ack_delay_mean_ns.map(seconds),
            reverse_queue_delay_p95_s: p95_s(&self.ack_delays),
            bottleneck_queue_delay_mean_s: bottleneck.queue_delay_mean_s,
            bottleneck_queue_delay_p95_s: bottleneck.queue_delay_p95_s,
            rtt_p50_s: quantile_s(&self.rtts, 0.5),
            rtt_p95_s: p95_s(&self.rtts),
        }
    }
}
