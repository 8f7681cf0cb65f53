//! Groups of transfers that arrive at random, each in an idle slot.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use typed_index_collections::TiSlice;

use super::counters::FlowCounters;
use super::flow::Flow;
use super::index::FlowRank;
use super::plan::ArrivalsPlan;
use super::source::Arrivals;
use super::transfer::{Slot, TransferLog};
use crate::rng::RngStreams;
use crate::units::{Duration, Instant};

/// A group of arrivals in progress.
#[derive(Debug)]
pub(super) struct Group {
    arrivals: Arrivals,
    /// The flow of each slot.
    flows: Vec<FlowRank>,
    /// The lowest is on top.
    idle: BinaryHeap<Reverse<u32>>,
    pub(super) log: TransferLog,
    /// The counters of completed transfers.
    ended: FlowCounters,
    active_since: Instant,
    /// Transfers in progress times nanoseconds.
    active_ns: u128,
}

impl Group {
    /// The state before the first arrival. `flows` are the flows of its slots.
    pub(super) fn new(plan: &ArrivalsPlan, flows: Vec<FlowRank>, rngs: &RngStreams) -> Self {
        Group {
            arrivals: Arrivals::new(plan, rngs),
            idle: (0..flows.len() as u32).map(Reverse).collect(),
            flows,
            log: TransferLog::default(),
            ended: FlowCounters::default(),
            active_since: Instant::ZERO,
            active_ns: 0,
        }
    }

    /// The slots by number, for flows that know their group.
    pub(super) fn slots(&self, group: usize) -> impl Iterator<Item = (FlowRank, Slot)> {
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

    /// Adds up the transfers in progress until `now`. Returns transfers times nanoseconds.
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

    /// The flows of all slots.
    pub(super) fn flows(&self) -> &[FlowRank] {
        &self.flows
    }

    /// A transfer arrives: the lowest idle slot takes it, or nobody does. The number of the slot and its bytes.
    pub(super) fn arrive(&mut self, now: Instant) -> Option<(u32, u64)> {
        let bytes = self.arrivals.arrive(now);
        self.active_ns(now);
        let Some(Reverse(number)) = self.idle.pop() else {
            self.log.refused += 1;
            return None;
        };
        self.log.start(bytes);
        Some((number, bytes))
    }

    /// The transfer of a slot ends after `time`.
    pub(super) fn depart(&mut self, now: Instant, slot: Slot, time: Duration, counters: FlowCounters) {
        self.active_ns(now);
        self.ended += counters;
        self.log.times_ns.push(time.as_nanos());
        self.idle.push(Reverse(slot.number));
    }

    /// The counters of all transfers, completed and in progress.
    pub(super) fn counters(&self, flows: &mut TiSlice<FlowRank, Flow>, now: Instant) -> FlowCounters {
        let mut sum = self.ended;
        for index in &self.flows {
            let flow = &mut flows[*index];
            if flow.finished.is_none() {
                sum += FlowCounters::read(flow, now);
            }
        }
        sum
    }
}
