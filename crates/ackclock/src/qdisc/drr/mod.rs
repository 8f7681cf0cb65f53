//! DRR: flows take turns, and each sends as many bytes a round as the others.
//!
//! Reference: Shreedhar & Varghese 1995, Efficient Fair Queuing using Deficit Round Robin, figure 3. Drops of a full
//! queue follow ns-2 2.35 (`queue/drr.cc`).
//!
//! ```text
//! a flow's turn    deficit <- deficit + quantum
//!                  while its first item fits: send it, deficit <- deficit - its bytes
//! then             empty: deficit <- 0; else the turn is the next flow's, and the deficit is kept
//! full             the first item of the flow with the most bytes is dropped, until the rest fits
//! ```
//!
//! While two flows are backlogged, their service differs by at most a quantum and twice the largest item (lemma 2).
//!
//! Deviations: a flow that becomes active takes its turn after all others, as in the paper. In ns-2 those others do
//! not include the flow that has just spent its deficit.

mod keys;

pub use keys::DrrKeys;
pub(super) use keys::{quantum_at, turns_in_words};

use std::collections::VecDeque;

use super::flow_queues::{FlowQueue, FlowQueues};
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::{Duration, Instant};

/// The parameters of DRR, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrrParameters {
    /// The bytes that a flow may send in a round, at least 1.
    pub quantum: u32,
    /// How many queues there are at the most, at least 1: flows share one by their hashes. Without it each flow has its own.
    pub buckets: Option<u32>,
}

/// A queue for each flow, and a limit for all of them.
#[derive(Clone, Debug)]
pub struct Drr<T> {
    limit: Limit,
    parameters: DrrParameters,
    queues: FlowQueues<T, Deficit>,
    /// Non-empty queues, in the order of their turns.
    active: VecDeque<usize>,
    /// Whether the first of them has got its quantum.
    has_begun: bool,
}

/// Bytes that a queue may still send in its turn.
type Deficit = u64;

impl<T: Queued> FlowQueue<T, Deficit> {
    fn pop(&mut self) -> Option<(Instant, T)> {
        let first = self.fifo.pop();
        if self.fifo.is_empty() {
            self.state = 0;
        }
        first
    }

    /// Whether the first item may leave in this turn.
    fn may_send(&self) -> bool {
        self.fifo.first_len().is_some_and(|len| len <= self.state)
    }
}

impl<T: Queued> Drr<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: DrrParameters) -> Self {
        let queues = FlowQueues::new(parameters.buckets, Deficit::default());
        Drr { limit, parameters, queues, active: VecDeque::new(), has_begun: false }
    }

    /// Rehashes flows: queued items move to their new queues, and every flow keeps its order.
    pub(super) fn shuffle(&mut self, salt: u64) {
        let turns = std::mem::take(&mut self.active);
        let waiting = turns.into_iter().flat_map(|place| self.queues.take(place, |queue| queue.fifo.drain()));
        let waiting: Vec<_> = waiting.collect();
        self.queues.salt(salt);
        self.has_begun = false;
        for (since, item) in waiting {
            self.push(since, item);
        }
    }

    fn push(&mut self, since: Instant, item: T) {
        let place = self.queues.push(since, item);
        if self.queues.at(place).fifo.packets() == 1 {
            self.active.push_back(place);
        }
    }

    /// Takes the first item of the queue at this position in the order of turns.
    fn take(&mut self, turn: usize) -> Option<(Instant, T)> {
        let place = *self.active.get(turn)?;
        let first = self.queues.take(place, FlowQueue::pop)?;
        if self.queues.at(place).fifo.is_empty() {
            self.active.remove(turn);
            self.has_begun &= turn > 0;
        }
        Some(first)
    }

    fn end_turn(&mut self) {
        if let Some(place) = self.active.pop_front() {
            self.active.push_back(place);
        }
        self.has_begun = false;
    }
}

impl<T: Queued> Qdisc<T> for Drr<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if !self.limit.fits(0, 0, item.wire_len()) {
            sink.dropped(now, item, Reason::Full);
            return;
        }
        self.push(now, item);
        while !self.queues.keep(self.limit) {
            let longest = self.queues.longest(self.active.iter().copied());
            let Some((_, item)) = self.take(longest) else { break };
            sink.dropped(now, item, Reason::Full);
        }
    }

    /// A flow that sends all that it has keeps no deficit, so nothing is left of it.
    fn bypass(&mut self, now: Instant, _idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        if self.limit.fits(0, 0, item.wire_len()) {
            return Some(item);
        }
        sink.dropped(now, item, Reason::Full);
        None
    }

    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        loop {
            let queue = self.queues.at(*self.active.front()?);
            if !self.has_begun {
                self.has_begun = true;
                queue.state += u64::from(self.parameters.quantum);
            }
            if !queue.may_send() {
                self.end_turn();
                continue;
            }
            queue.state -= queue.fifo.first_len().unwrap_or_default();
            let sent = self.take(0);
            if self.has_begun
                && let Some(place) = self.active.front()
                && !self.queues.at(*place).may_send()
            {
                self.end_turn();
            }
            return sent;
        }
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.queues.packets()
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.queues.bytes()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.queues.visit(see);
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("active_flows", self.active.len() as f64);
    }
}

#[cfg(test)]
mod tests;
