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

use super::codel::Controller;
use super::fair_queue::{FairQueue, FlowAqm};
use super::fifo::Fifo;
use super::{CoDelParameters, QueueSink, Queued};
use crate::rng::Rng;
use crate::units::Instant;

/// CoDel in each of many queues, and a limit for all of them.
pub type FqCoDel<T> = FairQueue<T, CoDelOfFlow>;

/// CoDel in one of the queues.
#[derive(Clone, Debug)]
pub struct CoDelOfFlow(Controller);

impl FlowAqm for CoDelOfFlow {
    type Parameters = CoDelParameters;

    const DROPS_ARRIVALS: bool = false;

    fn new(_parameters: &CoDelParameters) -> Self {
        CoDelOfFlow(Controller::default())
    }

    #[inline]
    fn admit<T: Queued>(
        &mut self,
        _parameters: &CoDelParameters,
        _now: Instant,
        item: T,
        _backlog: u64,
        _stream: &mut Rng,
        _sink: &mut dyn QueueSink<T>,
    ) -> Option<T> {
        Some(item)
    }

    fn show(&self, parameters: &CoDelParameters, see: &mut dyn FnMut(&str, f64)) {
        self.0.show(parameters, see);
    }

    #[inline]
    fn next<T: Queued>(
        &mut self,
        parameters: &CoDelParameters,
        now: Instant,
        (fifo, others): (&mut Fifo<T>, u64),
        _stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        self.0.dequeue(parameters, now, (fifo, others), sink)
    }
}

#[cfg(test)]
mod tests;
