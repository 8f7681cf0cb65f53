//! Converts the counters of a run to results.

use std::ops::Range;

use ackclock::link::SojournTimes;
use ackclock::metric::ratio;
use ackclock::probe::Samples;
use ackclock::rng::RngStreams;
use ackclock::sim::{
    DatagramResult, DelayPercentiles, FlowId, FlowMeasures, FlowPlan, FlowResult, Histogram, LinkId, LinkMeasures,
    LinkResult, OutsideFlow, Plan, QueueingDelay, RunResult, SummaryMeasures, Totals,
};
use ackclock::units::{Duration, Instant, NANOS_PER_SEC};

use crate::account::{Account, Counters};
use crate::network::Network;
use crate::reading::{Reading, Readings};
use crate::watch::Watched;

/// The first flows have their own percentiles, as in the simulation. This bounds memory with many flows.
const OWN_PERCENTILES: usize = 8;

/// A run at its end.
pub struct Ended<'a> {
    /// Its plan.
    pub plan: &'a Plan,
    /// Its network.
    pub network: Network,
    /// The observations of its network.
    pub watched: Watched,
    /// The states of its connections.
    pub readings: Readings,
    /// The group in whose place a program was.
    pub programs_group: Option<&'a str>,
}

impl Ended<'_> {
    fn window(&self) -> Duration {
        self.watched.after.at.since(self.watched.before.at)
    }

    fn accounts(&self) -> &[Account] {
        &self.network.flows.accounts
    }

    /// Indices of the flows that the emulator ran itself.
    fn own_flows(&self) -> Vec<usize> {
        let is_own = |index: &usize| self.programs_group != Some(&*self.plan.flows[*index].group);
        (0..self.plan.flows.len()).filter(is_own).collect()
    }

    /// The results.
    pub fn into_result(mut self) -> RunResult {
        let plan = self.plan;
        let links: Vec<_> = plan.link_ids().map(|id| self.link(id)).collect();
        let own = self.own_flows();
        let flows: Vec<_> = own.iter().map(|index| self.flow(*index)).collect();
        let all_delays = self.delays(&own);
        let summary = self.summary(&flows, &own, &links[plan.bottleneck.number()], &all_delays);
        let samples = Samples {
            flow_names: plan.flows[..plan.sampled_flows()].iter().map(|flow| flow.name.to_string()).collect(),
            link_names: plan.links.iter().filter(|link| !link.private).map(|link| link.name.clone()).collect(),
            flows: std::mem::take(&mut self.readings.samples),
            links: std::mem::take(&mut self.watched.samples),
            ..Samples::default()
        };
        let packets_forwarded = self.watched.after.links[plan.bottleneck.number()].forwarded;
        RunResult {
            summary,
            flows,
            transfers: Vec::new(),
            datagrams: self.programs().into_iter().collect(),
            meters: Vec::new(),
            links: links
                .into_iter()
                .zip(plan.link_ids())
                .filter(|(_, id)| plan.reports(*id))
                .map(|(link, _)| link)
                .collect(),
            queue_delays: Histogram::from(all_delays.histogram()),
            packets_forwarded,
            events: 0,
            totals: Totals::default(),
            samples,
            recording: None,
        }
    }

    fn delays(&self, flows: &[usize]) -> SojournTimes {
        let mut all = SojournTimes::default();
        flows.iter().for_each(|flow| all.add(&self.accounts()[*flow].data_delays));
        all
    }

    fn capacity_bps(&self, link: LinkId) -> Option<f64> {
        let rngs = RngStreams::from_root(self.plan.seed);
        self.plan.links[link].capacity_bps(rngs, self.watched.before.at..self.watched.after.at)
    }

    fn link(&mut self, id: LinkId) -> LinkResult {
        let measures = LinkMeasures {
            plan: &self.plan.links[id],
            queues: vec![&self.plan.links[id].queue],
            before: self.watched.before.links[id.number()],
            after: self.watched.after.links[id.number()],
            capacity_bps: self.capacity_bps(id),
            is_changed: false,
            window: self.window(),
            sojourn_times: self.network.link(self.watched.after.at, id).sojourn_times(),
        };
        measures.result()
    }

    fn flow(&self, index: usize) -> FlowResult {
        let account = &self.accounts()[index];
        let flow = FlowWindow {
            plan: &self.plan.flows[index],
            account,
            before: self.watched.before.flows[index],
            after: self.watched.after.flows[index],
            first: &self.readings.before[index],
            last: &self.readings.after[index],
            window: self.watched.before.at..self.watched.after.at,
        };
        let measures = FlowMeasures {
            queue_delays: DelayPercentiles::new(&account.data_delays.histogram(), index >= OWN_PERCENTILES),
            rtts: (index < OWN_PERCENTILES).then(|| account.rtts.histogram()),
            ..flow.measures()
        };
        measures.result(FlowId::new(index), flow.plan, flow.plan.cc.name().clone(), self.window())
    }

    fn summary(
        &self,
        flows: &[FlowResult],
        own: &[usize],
        bottleneck: &LinkResult,
        delays: &SojournTimes,
    ) -> ackclock::sim::Summary {
        let (mut data, mut acks) = (QueueingDelay::default(), QueueingDelay::default());
        let volume = |index: &usize| {
            let received = |readings: &[Reading]| readings[*index].received;
            let wire_bytes = |flows: &[Counters]| flows[*index].wire_bytes;
            let Watched { before, after, .. } = &self.watched;
            (
                received(&self.readings.after) - received(&self.readings.before),
                wire_bytes(&after.flows) - wire_bytes(&before.flows),
            )
        };
        let volumes: Vec<_> = own.iter().map(volume).collect();
        let (mut ack_delays, mut rtts) = (SojournTimes::default(), SojournTimes::default());
        for index in own {
            data.add(self.accounts()[*index].data_delay);
            acks.add(self.accounts()[*index].ack_delay);
            ack_delays.add(&self.accounts()[*index].ack_delays);
            rtts.add(&self.accounts()[*index].rtts);
        }
        let measures = SummaryMeasures {
            plan: self.plan,
            flows,
            volumes: &volumes,
            bottleneck,
            capacity_bps: self.capacity_bps(self.plan.bottleneck),
            queueing_delay: data,
            queue_delays: delays.histogram(),
            ack_delay_mean_ns: acks.mean_ns(),
            ack_delays: ack_delays.histogram(),
            rtts: rtts.histogram(),
            window: self.window(),
        };
        measures.summary()
    }

    /// The row of datagrams that a program sent to the host of the receivers.
    fn programs(&self) -> Option<DatagramResult> {
        let group = self.programs_group?;
        let index = self.plan.flows.iter().position(|flow| &*flow.group == group)?;
        let account = &self.accounts()[index];
        let (before, after) = (&self.watched.before.flows[index], &self.watched.after.flows[index]);
        let secs = self.window().as_secs_f64();
        let base = self.plan.flows[index].forward.iter().map(|link| self.plan.links[*link].delay);
        let base_s = base.map(Duration::as_secs_f64).sum::<f64>();
        let queueing = account.data_delays.histogram();
        let later = |quantile: f64| base_s + queueing.value_at_quantile(quantile) as f64 / NANOS_PER_SEC as f64;
        let (sent, lost) = (after.sent - before.sent, after.lost - before.lost);
        let rate = |bytes: u64| 8.0 * bytes as f64 / secs;
        Some(DatagramResult {
            id: 0,
            name: group.to_owned(),
            group: group.to_owned(),
            traffic: "program",
            sources: 1,
            offered_bps: rate(after.wire_bytes - before.wire_bytes),
            delivered_bps: rate(after.delivered_wire_bytes - before.delivered_wire_bytes),
            leaves_bps: None,
            sent,
            delivered: account.data_delay.packets,
            lost,
            corrupted: after.corrupted - before.corrupted,
            loss_rate: ratio(lost as f64, sent as f64),
            delay_mean_s: account.data_delay.mean_ns().map(|nanos| base_s + nanos / NANOS_PER_SEC as f64),
            delay_p50_s: (!queueing.is_empty()).then(|| later(0.5)),
            delay_p99_s: (!queueing.is_empty()).then(|| later(0.99)),
            jitter_s: None,
            late_rate: None,
            lost_or_late_rate: None,
            colours: None,
        })
    }
}

/// A flow within the window of measurement.
pub struct FlowWindow<'a> {
    /// Its plan.
    pub plan: &'a FlowPlan,
    /// Its account at the end of the window.
    pub account: &'a Account,
    /// Its counters when the window began.
    pub before: Counters,
    /// Its counters when the window ended.
    pub after: Counters,
    /// The state of its connection when the window began.
    pub first: &'a Reading,
    /// The state of its connection when the window ended.
    pub last: &'a Reading,
    /// The window.
    pub window: Range<Instant>,
}

impl FlowWindow<'_> {
    /// The measures of the flow, percentiles not included.
    pub fn measures(&self) -> FlowMeasures {
        let FlowWindow { plan, account, before, after, first, last, window } = self;
        let active_until = account.finished.unwrap_or(window.end);
        let active_ns = active_until.as_nanos().saturating_sub(window.start.max(plan.start).as_nanos());
        FlowMeasures {
            delivered: last.received - first.received,
            wire_bytes: after.wire_bytes - before.wire_bytes,
            in_flight_start: before.in_flight,
            in_flight_end: after.in_flight,
            sent: after.sent - before.sent,
            sent_bytes: after.sent_bytes - before.sent_bytes,
            retransmits: after.retransmits - before.retransmits,
            acknowledged_bytes: after.acknowledged.saturating_sub(before.sent_once),
            timeouts: u64::from(last.sender.timeouts() - first.sender.timeouts()),
            copies: after.copies - before.copies,
            lost: after.lost - before.lost,
            access_drops: after.access_drops - before.access_drops,
            corrupted: after.corrupted - before.corrupted,
            acks_lost: after.acks_lost - before.acks_lost,
            acks_corrupted: after.acks_corrupted - before.acks_corrupted,
            marks: after.marks - before.marks,
            congestion_events: last.congestion_events - first.congestion_events,
            ecn_events: last.ecn_events - first.ecn_events,
            queueing_delay: account.data_delay,
            queue_delays: None,
            rtt_ns: after.rtt_ns - before.rtt_ns,
            rtt_count: after.rtt_count - before.rtt_count,
            rtts: None,
            rtt_min: last.sender.min_rtt_us().map(|us| Duration::from_micros(u64::from(us))),
            window_integral: last.integral - first.integral,
            active: Duration::from_nanos(active_ns),
            completion: account.finished.map(|at| at.since(plan.start.min(at))),
            times: None,
            colours: None,
        }
    }

    /// The measures of the flow with this index for a simulation with the other flows.
    pub fn outside(&self, flow: usize) -> OutsideFlow {
        let Account { data_delays, ack_delay, ack_delays, rtts, .. } = self.account;
        OutsideFlow {
            flow: FlowId::new(flow),
            measures: self.measures(),
            data_delays: data_delays.clone(),
            ack_delay: *ack_delay,
            ack_delays: ack_delays.clone(),
            rtts: rtts.clone(),
        }
    }
}

/// The worst share of its busy time in which hosts held a flow back.
pub fn host_limited_share(plan: &Plan, readings: &[Reading], end: Instant) -> f64 {
    let share = |(flow, reading): (&ackclock::sim::FlowPlan, &Reading)| {
        let is_bulk = flow.traffic == ackclock::sim::Traffic::Bulk && flow.start < end;
        let limited = reading.sender.host_limited_us() as f64;
        if is_bulk { ratio(limited, reading.sender.busy_us() as f64).unwrap_or(0.0) } else { 0.0 }
    };
    plan.flows.iter().zip(readings).map(share).fold(0.0, f64::max)
}
