//! From counters to metrics: the counts at the end less the counts at the end of the warm-up.

use super::counters::FlowCounters;
use super::delays::{DelayPercentiles, QueueingDelay};
use super::ends::Ends;
use typed_index_collections::{TiSlice, TiVec};

use super::index::{FlowId, FlowRank, LinkId, LinkRank};
use super::ledger::{Colours, Fates};
use super::measures::{FlowMeasures, LinkMeasures, SummaryMeasures, p95_s};
use super::network::{Network, Packets};
use super::plan::{FlowPlan, Plan};
use super::result::{
    DatagramResult, FlowResult, Histogram, LinkResult, MeterResult, RunResult, Summary, TransferResult, seconds,
};
use super::traffic::Traffic;
use super::transfer::TransferLog;
use crate::link::LinkCounters;
use crate::metric::ratio;
use crate::probe::Samples;
use crate::rng::RngStreams;
use crate::units::{Duration, Instant};

/// A run at its end.
pub(super) struct Run<'a, 'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) ends: &'a mut Ends<'plan>,
    pub(super) network: &'a Network,
}

/// Counters at the beginning of the window of measurement.
#[derive(Debug, Default)]
pub(super) struct Measurement {
    since: Instant,
    flows: TiVec<FlowRank, FlowCounters>,
    groups: Vec<FlowCounters>,
    links: TiVec<LinkRank, LinkCounters>,
    /// Data packets in flight.
    in_flight: TiVec<FlowRank, u64>,
}

/// A group of transfers, added up.
struct Transfers<'plan> {
    plan: &'plan FlowPlan,
    flows: usize,
    before: FlowCounters,
    after: FlowCounters,
    log: TransferLog,
    unfinished: u64,
    active_mean: Option<f64>,
    lost: u64,
    queueing_delay: QueueingDelay,
    delays: Option<hdrhistogram::Histogram<u64>>,
}

impl<'plan> Transfers<'plan> {
    /// One flow without measurements.
    fn of(plan: &'plan FlowPlan) -> Self {
        let (before, after, log) = (FlowCounters::default(), FlowCounters::default(), TransferLog::default());
        let queueing_delay = QueueingDelay::default();
        Transfers {
            plan,
            flows: 1,
            before,
            after,
            log,
            unfinished: 0,
            active_mean: None,
            lost: 0,
            queueing_delay,
            delays: None,
        }
    }

    fn add(&mut self, other: &Transfers) {
        self.flows += other.flows;
        self.before += other.before;
        self.after += other.after;
        self.log.append(&other.log);
        self.unfinished += other.unfinished;
        self.lost += other.lost;
        self.queueing_delay.add(other.queueing_delay);
    }

    fn result(&self, group: &str, secs: f64) -> TransferResult {
        let Transfers { plan, flows, before, after, log, unfinished, active_mean, lost, queueing_delay, delays } = self;
        let sent = after.sender.segments - before.sender.segments;
        let retransmits = after.sender.retransmits - before.sender.retransmits;
        let rate = |bytes: u64| 8.0 * bytes as f64 / secs;
        TransferResult {
            group: group.to_owned(),
            traffic: plan.traffic.transfers().unwrap_or_default(),
            cc: plan.cc.name().clone(),
            recovery: plan.transport.recovery_name(),
            ecn: plan.transport.ecn.name(),
            flows: *flows,
            started: log.started,
            refused: log.refused,
            unfinished: *unfinished,
            active_mean: *active_mean,
            times: log.times(),
            lateness: plan.traffic.has_deadlines().then(|| Box::new(log.lateness())),
            playing: plan.traffic.is_played().then(|| Box::new(log.playing())),
            streaming: matches!(plan.traffic, Traffic::Abr(_)).then(|| Box::new(log.stream.streaming())),
            offered_bps: rate(log.started_bytes),
            goodput_bps: rate(after.delivered - before.delivered),
            throughput_bps: rate(after.wire_bytes - before.wire_bytes),
            sent,
            lost: *lost,
            loss_rate: ratio(*lost as f64, sent as f64),
            retransmits,
            retransmit_rate: ratio(retransmits as f64, sent as f64),
            timeouts: after.sender.timeouts - before.sender.timeouts,
            queue_delay_mean_s: queueing_delay.mean_ns().map(seconds),
            queue_delay_p95_s: delays.as_ref().and_then(p95_s),
        }
    }
}

impl Measurement {
    /// The warm-up ends at `now`.
    pub(super) fn begin(ends: &mut Ends, network: &mut Network, now: Instant) -> Self {
        let Ends { flows, groups, rows, delays, .. } = ends;
        delays.begin();
        flows.iter_mut().for_each(|flow| flow.queueing_delay = QueueingDelay::default());
        network.links.iter_mut().for_each(Packets::clear_sojourn_times);
        rows.iter_mut().for_each(|row| row.begin(now));
        groups.iter_mut().for_each(|group| group.begin(now));
        flows.iter_mut().for_each(|flow| flow.begin_log(now));
        Measurement {
            since: now,
            flows: flows.iter_mut().map(|flow| FlowCounters::read(flow, now)).collect(),
            groups: groups.iter().map(|group| group.counters(flows, now)).collect(),
            links: network.links.iter().map(Packets::counters).collect(),
            in_flight: network.ledger.in_flight(network.ledger.window().start),
        }
    }

    /// The run has ended.
    pub(super) fn finish(self, mut run: Run, events: u64, samples: Samples) -> RunResult {
        let plan = run.plan;
        let end = Instant::ZERO + plan.duration;
        let in_flight = run.network.ledger.in_flight(end);
        let begun: Vec<_> = plan.flow_ids().filter(|index| run.ends.flow(*index).has_begun()).collect();
        let delays = run.ends.delays.percentiles();
        let row = |index: FlowId| {
            let delays = delays[run.ends.flows[run.ends.flow_rank[index]].place as usize];
            self.flow(&mut run, index, delays, &in_flight, end)
        };
        let flows: Vec<_> = begun.into_iter().map(row).collect();
        let shared = plan.link_ids().filter(|index| plan.reports(*index));
        let links = shared.map(|index| self.link(&run, index, end)).collect();
        let bottleneck = run.network.link_rank[plan.bottleneck];
        RunResult {
            summary: self.summary(&run, &flows, end),
            flows,
            transfers: self.transfers(&mut run, end),
            datagrams: datagram_results(&run),
            meters: self.meters(&run, end),
            queue_delays: Histogram::from(run.ends.delays.all_flows()),
            links,
            packets_forwarded: run.network.links[bottleneck].counters().forwarded,
            events,
            totals: run.network.totals(),
            samples,
            recording: None,
        }
    }

    /// A row for each group of flows that transfer, and for each group of arrivals.
    fn transfers(&self, run: &mut Run, end: Instant) -> Vec<TransferResult> {
        let mut rows: Vec<(&str, Transfers, Vec<FlowId>)> = Vec::new();
        let plan = run.plan;
        for (index, flow_plan) in
            plan.flow_ids().zip(&plan.flows).filter(|(_, flow)| flow.traffic.transfers().is_some())
        {
            if !run.ends.flow(index).has_begun() {
                continue;
            }
            let rank = run.ends.flow_rank[index];
            let flow = &mut run.ends.flows[rank];
            let mut one = Transfers::of(flow_plan);
            one.before = self.flows[rank];
            one.after = FlowCounters::read(flow, end);
            one.log = flow.transfer_log_at(end);
            one.unfinished = flow.pending();
            one.lost = run.network.ledger.fates(rank).lost;
            one.queueing_delay = flow.queueing_delay;
            if let Traffic::Transfer { bytes } = flow_plan.traffic {
                let is_measured = |at: Instant| at >= self.since && at < end;
                let ended = flow.finished.map(|(at, _)| at);
                if is_measured(flow.started) {
                    one.log.start(bytes);
                }
                one.unfinished = u64::from(ended.is_none() && flow.started < end);
                one.log
                    .times_ns
                    .extend(ended.filter(|at| is_measured(*at)).map(|at| at.since(flow.started).as_nanos()));
            }
            match rows.iter_mut().find(|(group, ..)| **group == *flow_plan.group) {
                Some((_, sum, members)) => {
                    sum.add(&one);
                    members.push(index);
                }
                None => rows.push((&flow_plan.group, one, vec![index])),
            }
        }
        for (_, sum, members) in &mut rows {
            sum.delays = run.ends.delays.flows(members);
        }
        let secs = end.since(self.since).as_secs_f64();
        for (index, arrivals) in plan.arrivals.iter().enumerate() {
            let Some(slot) = arrivals.slots.first() else { continue };
            let mut sum = Transfers::of(slot);
            let group = &mut run.ends.groups[index];
            sum.flows = arrivals.slots.len();
            sum.before = self.groups[index];
            sum.active_mean = Some(group.active_ns(end) as f64 / end.since(self.since).as_nanos() as f64);
            sum.unfinished = group.active() as u64;
            sum.log = group.log.clone();
            sum.after = run.ends.groups[index].counters(&mut run.ends.flows, end);
            for flow in run.ends.groups[index].flows() {
                sum.lost += run.network.ledger.fates(*flow).lost;
                sum.queueing_delay.add(run.ends.flows[*flow].queueing_delay);
            }
            sum.delays = run.ends.delays.group(index);
            rows.push((&arrivals.name, sum, Vec::new()));
        }
        rows.into_iter().map(|(group, transfers, _)| transfers.result(group, secs)).collect()
    }

    fn flow(
        &self,
        run: &mut Run,
        index: FlowId,
        delays: Option<DelayPercentiles>,
        in_flight: &TiSlice<FlowRank, u64>,
        end: Instant,
    ) -> FlowResult {
        let flow_plan = &run.plan.flows[index];
        let rank = run.ends.flow_rank[index];
        let fates = run.network.ledger.fates(rank);
        let colours = flow_plan.meter.map(|_| Box::new(run.network.ledger.colours(rank).counts()));
        let before = &self.flows[rank];
        let flow = &mut run.ends.flows[rank];
        let (queueing_delay, started, after) = (flow.queueing_delay, flow.started, FlowCounters::read(flow, end));
        if let Some(outside) = &flow.outside {
            let measures = FlowMeasures {
                queue_delays: delays,
                rtts: run.ends.delays.rtts(index),
                colours,
                ..outside.measures.clone()
            };
            return measures.result(index, flow_plan, flow_plan.cc.name().clone(), end.since(self.since));
        }
        let finished_at = flow.finished.map(|(at, _)| at);
        let active_since = self.since.max(started);
        let active_until = finished_at.unwrap_or(end);
        let active_ns = active_until.as_nanos().saturating_sub(active_since.as_nanos());
        let measures = FlowMeasures {
            delivered: after.delivered - before.delivered,
            wire_bytes: after.wire_bytes - before.wire_bytes,
            in_flight_start: self.in_flight[rank],
            in_flight_end: in_flight[rank],
            sent: after.sender.segments - before.sender.segments,
            sent_bytes: after.sender.payload_bytes - before.sender.payload_bytes,
            retransmits: after.sender.retransmits - before.sender.retransmits,
            acknowledged_bytes: after.acknowledged.saturating_sub(before.sent_once),
            timeouts: after.sender.timeouts - before.sender.timeouts,
            copies: fates.copies,
            lost: fates.lost,
            access_drops: fates.access_drops,
            corrupted: fates.corrupted,
            acks_lost: fates.acks_lost,
            acks_corrupted: fates.acks_corrupted,
            marks: u64::from(after.marks - before.marks),
            congestion_events: after.sender.congestion_events - before.sender.congestion_events,
            ecn_events: after.sender.ecn_events - before.sender.ecn_events,
            queueing_delay,
            queue_delays: delays,
            rtt_ns: after.rtt_ns - before.rtt_ns,
            rtt_count: after.rtt_count - before.rtt_count,
            rtts: run.ends.delays.rtts(index),
            rtt_min: (after.rtt_count > 0).then(|| flow.sender.rtt().min()),
            window_integral: after.window_integral - before.window_integral,
            active: Duration::from_nanos(active_ns),
            completion: finished_at.map(|at| at.since(started)),
            times: flow.transfer_log().map(|log| Box::new(log.times())),
            colours,
        };
        measures.result(index, flow_plan, flow_plan.cc.name().clone(), end.since(self.since))
    }

    fn link(&self, run: &Run, index: LinkId, end: Instant) -> LinkResult {
        let rank = run.network.link_rank[index];
        let (plan, link) = (run.plan, &run.network.links[rank]);
        let later = run.network.queues.iter().filter(|(link, _)| *link == index).map(|(_, queue)| queue);
        let measures = LinkMeasures {
            plan: &plan.links[index],
            queues: [&plan.links[index].queue].into_iter().chain(later).collect(),
            before: self.links[rank],
            after: link.counters(),
            capacity_bps: self.capacity_bps(run, index, end),
            is_changed: run.network.rates.knows(index),
            sojourn_times: link.sojourn_times(),
            window: end.since(self.since),
        };
        measures.result()
    }

    /// The mean of the available capacity, or none for a pure delay.
    fn capacity_bps(&self, run: &Run, link: LinkId, end: Instant) -> Option<f64> {
        let plan = run.plan;
        if let Some(mean) = run.network.rates.mean_bps(link, self.since, end) {
            return Some(mean);
        }
        plan.links[link].capacity_bps(RngStreams::from_root(plan.seed), self.since..end)
    }

    fn summary(&self, run: &Run, flows: &[FlowResult], end: Instant) -> Summary {
        let plan = run.plan;
        let mut queueing_delay = QueueingDelay::default();
        let volumes: Vec<_> = flows
            .iter()
            .map(|flow| {
                let rank = run.ends.flow_rank[FlowId::new(flow.id)];
                let (state, before) = (&run.ends.flows[rank], &self.flows[rank]);
                queueing_delay.add(state.queueing_delay);
                let (delivered, wire_bytes) = state.volume();
                (delivered - before.delivered, wire_bytes - before.wire_bytes)
            })
            .collect();
        let measures = SummaryMeasures {
            plan,
            flows,
            volumes: &volumes,
            bottleneck: &self.link(run, plan.bottleneck, end),
            capacity_bps: self.capacity_bps(run, plan.bottleneck, end),
            queueing_delay,
            queue_delays: run.ends.delays.all_flows(),
            ack_delay_mean_ns: run.ends.delays.acks_mean_ns(),
            ack_delays: run.ends.delays.acks(),
            rtts: run.ends.delays.all_rtts(),
            window: end.since(self.since),
        };
        measures.summary()
    }

    /// A row for each meter: the sum over those that point to it.
    fn meters(&self, run: &Run, end: Instant) -> Vec<MeterResult> {
        let mut sums = vec![Colours::default(); run.plan.meters.len()];
        let ledger = &run.network.ledger;
        for (flow, rank) in run.plan.tcp_flows().zip(&run.ends.flow_rank) {
            if let Some(meter) = flow.meter {
                sums[meter] += ledger.colours(*rank);
            }
        }
        for (rank, stream) in run.ends.ranked_streams() {
            if let Some(meter) = run.plan.datagrams[stream.row()].meter {
                sums[meter] += ledger.colours(rank);
            }
        }
        let rows = run.plan.meters.iter().zip(sums);
        rows.map(|(meter, sum)| {
            let secs = end.since(self.since).as_secs_f64();
            let [green_bps, yellow_bps, red_bps] = sum.of.map(|volume| 8.0 * volume.bytes as f64 / secs);
            MeterResult {
                name: meter.name.clone(),
                link: run.plan.links[meter.link].name.clone(),
                colours: sum.counts(),
                green_bps,
                yellow_bps,
                red_bps,
            }
        })
        .collect()
    }
}

/// A row for each row of datagrams: the sum over its sources.
fn datagram_results(run: &Run) -> Vec<DatagramResult> {
    let Run { plan, ends, network } = run;
    let mut sums = vec![(Fates::default(), Colours::default()); ends.rows.len()];
    for (rank, stream) in ends.ranked_streams() {
        let (fates, colours) = &mut sums[stream.row()];
        *fates += network.ledger.fates(rank);
        *colours += network.ledger.colours(rank);
    }
    let rows = ends.rows.iter().zip(&sums).enumerate();
    rows.map(|(id, (row, (fates, colours)))| row.result(id, plan, fates, colours)).collect()
}
