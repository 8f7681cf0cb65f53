//! Queueing delays of packets on their paths, and round-trip times.

use hdrhistogram::Histogram;
use typed_index_collections::TiVec;

use super::index::FlowId;
use super::plan::Plan;
use super::result::seconds;
use crate::link::SojournTimes;
use crate::metric::delay_score;
use crate::units::Duration;

/// The number of flows, and of groups of arrivals, with their own histogram. More histograms do not fit into the
/// caches.
const OWN: usize = 8;

/// Packets that came to the end of their path, and the sum of their queueing delays.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueingDelay {
    /// Packets.
    pub packets: u64,
    sum_ns: u64,
}

impl QueueingDelay {
    /// Adds a packet.
    #[inline]
    pub fn note(&mut self, delay: Duration) {
        self.packets += 1;
        self.sum_ns += delay.as_nanos();
    }

    /// Adds another count.
    pub fn add(&mut self, other: QueueingDelay) {
        self.packets += other.packets;
        self.sum_ns += other.sum_ns;
    }

    /// The mean in nanoseconds, or none without packets.
    pub fn mean_ns(self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum_ns as f64 / self.packets as f64)
    }
}

/// Percentiles of the queueing delays of a flow's data packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayPercentiles {
    /// The median in seconds.
    pub p50_s: f64,
    /// The 95th percentile in seconds.
    pub p95_s: f64,
    /// Whether they cover the data of several flows.
    pub is_shared: bool,
}

impl DelayPercentiles {
    /// Takes them from a histogram in nanoseconds. None without packets.
    pub fn new(delays: &Histogram<u64>, is_shared: bool) -> Option<Self> {
        let at = |quantile: f64| seconds(delays.value_at_quantile(quantile) as f64);
        (!delays.is_empty()).then(|| DelayPercentiles { p50_s: at(0.5), p95_s: at(0.95), is_shared })
    }

    /// The delay score of a path with this base RTT, or none without propagation.
    pub fn score(self, base_rtt: Duration) -> Option<f64> {
        delay_score(base_rtt.as_secs_f64(), self.p50_s, self.p95_s)
    }
}

/// Queueing delays of packets since the window of measurement began.
#[derive(Debug)]
pub(super) struct PathDelays {
    /// Delays of ACKs to flows of the plan.
    acks: QueueingDelay,
    /// The histogram of delayed ACKs.
    ack_histogram: SojournTimes,
    /// Histograms of the first flows, of the first groups of the other flows, and of the remaining flows together. Then
    /// histograms of arrivals: of the first groups, and of the other groups together.
    histograms: Vec<SojournTimes>,
    /// How many of them are of flows.
    of_flows: usize,
    /// Round-trip times that senders measured, in the order of the flows' histograms.
    rtts: Vec<SojournTimes>,
}

impl PathDelays {
    pub(super) fn new(plan: &Plan) -> Self {
        let of_flows = flow_places(plan).max().map_or(0, |last| last + 1);
        let of_groups = plan.arrivals.len().min(OWN + 1);
        PathDelays {
            acks: QueueingDelay::default(),
            ack_histogram: SojournTimes::default(),
            histograms: (0..of_flows + of_groups).map(|_| SojournTimes::default()).collect(),
            of_flows,
            rtts: (0..of_flows).map(|_| SojournTimes::default()).collect(),
        }
    }

    /// The histogram of each TCP flow of a plan, in its order.
    pub(super) fn places(plan: &Plan) -> TiVec<FlowId, u32> {
        let of_flows = flow_places(plan).max().map_or(0, |last| last + 1);
        let slots = plan
            .arrivals
            .iter()
            .enumerate()
            .flat_map(|(group, arrivals)| std::iter::repeat_n(of_flows + group.min(OWN), arrivals.slots.len()));
        flow_places(plan).chain(slots).map(|place| place as u32).collect()
    }

    /// Adds the delay of data of a flow whose histogram is at `place`.
    #[inline]
    pub(super) fn note_data(&mut self, place: u32, delay: Duration) {
        self.histograms[place as usize].record(delay);
    }

    /// Adds the delay of an ACK to a flow whose histogram is at `place`.
    #[inline]
    pub(super) fn note_ack(&mut self, place: u32, delay: Duration) {
        if (place as usize) < self.of_flows {
            self.acks.packets += 1;
            // Mostly there is none.
            if !delay.is_zero() {
                self.acks.sum_ns += delay.as_nanos();
                self.ack_histogram.record(delay);
            }
        }
    }

    /// Adds a round-trip time that the sender of a flow measured to the histogram at `place`.
    #[inline]
    pub(super) fn note_rtt(&mut self, place: u32, rtt: Duration) {
        if let Some(rtts) = self.rtts.get_mut(place as usize) {
            rtts.record(rtt);
        }
    }

    /// Adds the delays of data and ACKs, and the round-trip times, of a flow whose histogram is at `place`.
    pub(super) fn add(
        &mut self,
        place: u32,
        data: &SojournTimes,
        (acks, ack_histogram): (QueueingDelay, &SojournTimes),
        rtts: &SojournTimes,
    ) {
        self.histograms[place as usize].add(data);
        self.acks.add(acks);
        self.ack_histogram.add(ack_histogram);
        self.rtts[place as usize].add(rtts);
    }

    /// The window of measurement begins.
    pub(super) fn begin(&mut self) {
        self.acks = QueueingDelay::default();
        let kept = self.histograms.iter_mut().chain(&mut self.rtts).chain([&mut self.ack_histogram]);
        kept.for_each(SojournTimes::clear);
    }

    /// The round-trip times of all flows of the plan.
    pub(super) fn all_rtts(&self) -> Histogram<u64> {
        sum(&self.rtts)
    }

    /// The round-trip times of a flow of the plan, or none if the flow shares its histogram.
    pub(super) fn rtts(&self, flow: FlowId) -> Option<Histogram<u64>> {
        (flow.number() < OWN).then(|| self.rtts[flow.number()].histogram())
    }

    /// The histogram of the data of all flows of the plan.
    pub(super) fn all_flows(&self) -> Histogram<u64> {
        sum(&self.histograms[..self.of_flows])
    }

    /// The histogram of the data of these flows, or none if one of them has no histogram of its own.
    pub(super) fn flows(&self, flows: &[FlowId]) -> Option<Histogram<u64>> {
        let is_own = flows.iter().all(|flow| flow.number() < OWN);
        is_own.then(|| sum(flows.iter().map(|flow| &self.histograms[flow.number()])))
    }

    /// The percentiles of the data of each flow's histogram, in the order of the histograms.
    pub(super) fn percentiles(&self) -> Vec<Option<DelayPercentiles>> {
        let parts = self.histograms[..self.of_flows].iter().enumerate();
        parts.map(|(place, part)| DelayPercentiles::new(&part.histogram(), place >= OWN)).collect()
    }

    /// The histogram of the data of a group of arrivals, or none if it has no histogram of its own.
    pub(super) fn group(&self, index: usize) -> Option<Histogram<u64>> {
        (index < OWN).then(|| self.histograms[self.of_flows + index].histogram())
    }

    /// The mean queueing delay of the ACKs of all flows in nanoseconds, or none without ACKs.
    pub(super) fn acks_mean_ns(&self) -> Option<f64> {
        self.acks.mean_ns()
    }

    /// The histogram of the ACKs to all flows.
    pub(super) fn acks(&self) -> Histogram<u64> {
        let mut delays = self.ack_histogram.histogram();
        delays.saturating_record_n(0, self.acks.packets - delays.len());
        delays
    }
}

/// The place of each flow's histogram. Each of the first flows has one. The others share one by group, and flows of later groups
/// share the last.
fn flow_places(plan: &Plan) -> impl Iterator<Item = usize> {
    let mut groups: Vec<&str> = Vec::new();
    plan.flows.iter().enumerate().map(move |(flow, flow_plan)| {
        if flow < OWN {
            return flow;
        }
        let known = groups.iter().position(|group| *group == &*flow_plan.group);
        OWN + known.unwrap_or_else(|| {
            if groups.len() < OWN {
                groups.push(&flow_plan.group);
                return groups.len() - 1;
            }
            OWN
        })
    })
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a SojournTimes>) -> Histogram<u64> {
    let mut all = SojournTimes::default();
    parts.into_iter().for_each(|part| all.add(part));
    all.histogram()
}
