//! Transfers: their completion times, and the slots of groups that they occupy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::measure::{FlowCounters, seconds};
use super::plan::ArrivalsPlan;
use super::result::TransferTimes;
use super::simulation::Simulation;
use super::source::{Application, Arrivals};
use crate::metric::percentile;
use crate::rng::RngStreams;
use crate::tcp::{Receiver, Sender};
use crate::units::Instant;

/// What is written down of transfers since the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct TransferLog {
    pub(super) started: u64,
    /// Payload of those that started.
    pub(super) started_bytes: u64,
    /// Found no slot.
    pub(super) refused: u64,
    /// How long each took that ended, nanoseconds.
    pub(super) times_ns: Vec<u64>,
}

impl TransferLog {
    pub(super) fn start(&mut self, bytes: u64) {
        self.started += 1;
        self.started_bytes += bytes;
    }

    /// Adds what another one has.
    pub(super) fn append(&mut self, other: &TransferLog) {
        self.started += other.started;
        self.started_bytes += other.started_bytes;
        self.refused += other.refused;
        self.times_ns.extend(&other.times_ns);
    }

    /// The times in figures.
    pub(super) fn times(&self) -> TransferTimes {
        let mut sorted = self.times_ns.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let sum: u128 = sorted.iter().map(|time| u128::from(*time)).sum();
        let at = |share| percentile(&sorted, share).map(|time| seconds(time as f64));
        TransferTimes {
            completed: count as u64,
            fct_mean_s: (count > 0).then(|| seconds(sum as f64 / count as f64)),
            fct_p50_s: at(0.5),
            fct_p95_s: at(0.95),
            fct_p99_s: at(0.99),
            fct_max_s: at(1.0),
        }
    }
}

/// The place of a flow in a group of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    group: u32,
    number: u32,
}

/// A group of arrivals in progress.
#[derive(Debug)]
pub(super) struct Group {
    arrivals: Arrivals,
    /// Which flow each slot is.
    flows: Vec<usize>,
    /// The lowest is on top.
    idle: BinaryHeap<Reverse<u32>>,
    pub(super) log: TransferLog,
    /// What was counted of transfers that ended.
    pub(super) ended: FlowCounters,
    active_since: Instant,
    /// Transfers in progress times nanoseconds.
    active_ns: u128,
}

impl Group {
    /// Before the first arrival; `first` is the number of its first slot among all TCP flows of the plan.
    pub(super) fn new(plan: &ArrivalsPlan, first: usize, flow_rank: &[usize], rngs: &RngStreams) -> Self {
        let count = plan.slots.len();
        Group {
            arrivals: Arrivals::new(plan, rngs),
            flows: flow_rank[first..first + count].to_vec(),
            idle: (0..count as u32).map(Reverse).collect(),
            log: TransferLog::default(),
            ended: FlowCounters::default(),
            active_since: Instant::ZERO,
            active_ns: 0,
        }
    }

    /// The slots by number, for flows that know their group.
    pub(super) fn slots(&self, group: usize) -> impl Iterator<Item = (usize, Slot)> {
        self.flows
            .iter()
            .enumerate()
            .map(move |(number, flow)| (*flow, Slot { group: group as u32, number: number as u32 }))
    }

    /// When the next transfer arrives.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.arrivals.next_deadline()
    }

    /// Transfers in progress.
    pub(super) fn active(&self) -> usize {
        self.flows.len() - self.idle.len()
    }

    /// Adds up the transfers in progress until `now`; returns transfers times nanoseconds.
    pub(super) fn active_ns(&mut self, now: Instant) -> u128 {
        self.active_ns += self.active() as u128 * u128::from(now.since(self.active_since).as_nanos());
        self.active_since = now;
        self.active_ns
    }

    /// The warm-up ends at `now`.
    pub(super) fn begin(&mut self, now: Instant) {
        self.active_ns(now);
        self.active_ns = 0;
        self.log = TransferLog::default();
    }

    /// The flows of transfers in progress.
    pub(super) fn flows(&self) -> &[usize] {
        &self.flows
    }
}

impl Simulation<'_> {
    /// A transfer arrives: the lowest idle slot takes it, or nobody does. The flow, if any.
    pub(super) fn arrive(&mut self, now: Instant, index: usize) -> Option<usize> {
        let group = &mut self.groups[index];
        let bytes = group.arrivals.arrive(now);
        group.active_ns(now);
        let Some(Reverse(number)) = group.idle.pop() else {
            group.log.refused += 1;
            return None;
        };
        group.log.start(bytes);
        let flow_index = group.flows[number as usize];
        let plan = &self.plan.arrivals[index].slots[number as usize];
        let flow = &mut self.flows[flow_index];
        // Segments of the last transfer that are still in flight have lower numbers, and are not taken for a part of this one.
        flow.base += flow.sender.sent_once() + 1;
        let most_outstanding = flow.sender.most_outstanding();
        flow.sender = Sender::new(plan.transport.clone(), (self.build_cc)(plan));
        flow.sender.set_most_outstanding(most_outstanding);
        flow.receiver = Receiver::new(&plan.transport);
        flow.started = now;
        flow.finished = None;
        flow.sender.open(now);
        flow.sender.write(now, bytes);
        Some(flow_index)
    }

    /// Everything that a flow has written is acknowledged.
    #[cold]
    pub(super) fn on_done(&mut self, now: Instant, index: usize) {
        let flow = &mut self.flows[index];
        if !flow.application.ends() {
            return;
        }
        flow.finished = Some((now, flow.sender.window_integral(now)));
        let Some(slot) = flow.slot else { return };
        let (counters, time) = (FlowCounters::read(flow, now), now.since(flow.started));
        let group = &mut self.groups[slot.group as usize];
        group.active_ns(now);
        group.ended += counters;
        group.log.times_ns.push(time.as_nanos());
        group.idle.push(Reverse(slot.number));
    }

    /// A request has come to its server.
    #[cold]
    pub(super) fn on_request(&mut self, now: Instant, index: usize, number: u64) {
        let flow = &mut self.flows[index];
        let Application::Web(web) = &mut flow.application else { return };
        let Some(bytes) = web.on_request(number) else { return };
        flow.awaited = flow.sender.sent_once() + bytes;
        flow.sender.write(now, bytes);
        self.send_all(now, index);
    }

    /// A whole answer has come to its client, or a keystroke to its receiver.
    #[cold]
    pub(super) fn on_response(&mut self, now: Instant, index: usize) {
        let flow = &mut self.flows[index];
        if let Application::Interactive(interactive) = &mut flow.application {
            interactive.on_delivered(now, flow.receiver.delivered());
            flow.await_keystroke();
            return;
        }
        flow.awaited = u64::MAX;
        let Application::Web(web) = &mut flow.application else { return };
        web.on_response(now);
        if let Some(next) = flow.application.next_deadline() {
            self.network.events.schedule(self.network.components.application(index), next);
        }
    }
}
