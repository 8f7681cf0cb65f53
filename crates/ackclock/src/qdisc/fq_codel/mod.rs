//! FQ-CoDel: flows are hashed into queues with CoDel. Queues take turns, and newly active ones go first.
//!
//! Reference: RFC 8290, The Flow Queue CoDel Packet Scheduler and Active Queue Management Algorithm, section 4. Linux
//! (`net/sched/sch_fq_codel.c`) decides where the RFC refers to it.
//!
//! ```text
//! arrival to an idle queue   the queue joins the new ones, with a quantum of credits
//! departure                  the first new queue, or else the first old one; without credits it gets a quantum and
//!                            becomes the last old one; CoDel gives its item, which costs as many credits as it has bytes
//! nothing left in it         a new queue becomes the last old one, an old one idle
//! full                       half of the longest queue, at most 64 items, is dropped from its head
//! ```
//!
//! Deviations: the limit may also be in bytes. The hash is the run's, salted once. A queue without credits left has
//! had its turn, as in Linux. In the RFC it has "a negative number of credits" or "has already dequeued at least a
//! quantum of bytes". The two differ for zero credits.

mod keys;

pub use keys::{FqCoDelKeys, FqCoDelParameters};

use std::collections::VecDeque;

use super::codel::Controller;
use super::flow_queues::FlowQueues;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::Instant;

/// So many items are dropped at once at the most.
const BATCH: u32 = 64;

/// CoDel in each of many queues, and a limit for all of them.
#[derive(Clone, Debug)]
pub struct FqCoDel<T> {
    limit: Limit,
    parameters: FqCoDelParameters,
    queues: FlowQueues<T, FlowState>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

#[derive(Clone, Debug, Default)]
struct FlowState {
    is_active: bool,
    /// Bytes that it may send in its turn.
    credits: i64,
    codel: Controller,
}

impl<T: Queued> FqCoDel<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: FqCoDelParameters, mut stream: Rng) -> Self {
        let mut queues = FlowQueues::new(Some(parameters.flows));
        queues.salt(stream.next_u64());
        FqCoDel { limit, parameters, queues, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// Makes room: drops from the head of the longest queue.
    fn shrink(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) {
        let active = || self.new.iter().chain(&self.old).copied();
        let Some(place) = active().nth(self.queues.longest(active())) else { return };
        self.queues.take(place, |queue| {
            let batch = (queue.fifo.packets() / 2).clamp(1, BATCH);
            for _ in 0..batch {
                if let Some((_, item)) = queue.fifo.pop() {
                    sink.dropped(now, item, Reason::Full);
                }
            }
        });
    }
}

impl<T: Queued> Qdisc<T> for FqCoDel<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        let place = self.queues.push(now, item);
        let quantum = i64::from(self.parameters.quantum);
        let state = &mut self.queues.at(place).state;
        if !state.is_active {
            state.is_active = true;
            state.credits = quantum;
            self.new.push_back(place);
        }
        while !self.queues.keep(self.limit) {
            self.shrink(now, sink);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let state = &mut self.queues.at(place).state;
            if state.credits <= 0 {
                state.credits += i64::from(self.parameters.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let codel = &self.parameters.codel;
            let sent = self.queues.take(place, |queue| queue.state.codel.dequeue(codel, now, &mut queue.fifo, sink));
            let Some((since, item)) = sent else {
                list.pop_front();
                if is_new {
                    self.old.push_back(place);
                } else {
                    self.queues.at(place).state.is_active = false;
                }
                continue;
            };
            self.queues.at(place).state.credits -= i64::from(item.wire_len());
            return Some((since, item));
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
}

#[cfg(test)]
mod tests;
