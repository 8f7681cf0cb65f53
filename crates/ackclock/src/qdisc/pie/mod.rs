//! PIE: drops arrivals at random, with a probability that a proportional-integral controller of the queueing delay sets.
//!
//! Reference: Pan et al., RFC 8033, and White & Pan, RFC 8034 for the variant of DOCSIS cable modems. The variant
//! `linux` behaves as `net/sched/sch_pie.c` with its default latency from timestamps.
//!
//! ```text
//! every t_update   p <- p + s(p) (alpha (delay - target) + beta (delay - delay before)), within [0, 1]
//!                  s(p): 1/2048 below 1e-6, up to 1/2 below 0.1, and 1 above
//! at an arrival    dropped with probability p, unless a burst is permitted, the delay was below half of the target
//!                  and p < 0.2, or the backlog is two packets
//! ```
//!
//! A queue that becomes empty has no delay (RFC 8033 §4.3, Linux, ns-3). In the RFC's appendix A it keeps the last one.
//!
//! Deviations: updates happen at multiples of `t_update` of the run's clock. Linux rounds
//! probabilities to 2^-56 and times to 64 ns. This queue rounds times to nanoseconds. DOCSIS has a token bucket
//! for the maximum sustained rate. Here the latency is the backlog over the rate of the link.

mod controller;
mod keys;

pub(super) use controller::Controller;
pub(super) use keys::mark_ecnth;
pub use keys::{PieKeys, PieParameters, PieVariant};

use super::contract::{Verdict, all_queued_in};
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::Instant;

/// A FIFO with a limit that drops arrivals by the controller's probability.
#[derive(Clone, Debug)]
pub struct Pie<T> {
    queue: DropTail<T>,
    controller: Controller,
    parameters: PieParameters,
    stream: Rng,
}

impl<T: Queued> Pie<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: PieParameters, stream: Rng) -> Self {
        Pie { queue: DropTail::new(limit), controller: Controller::new(&parameters), parameters, stream }
    }

    /// The decision about an item that arrives now.
    fn judge(&mut self, now: Instant, item: &T) -> Verdict {
        let backlog = self.queue.backlog_bytes();
        self.controller.catch_up(&self.parameters, now, backlog);
        if !self.queue.fits(item) {
            self.controller.overflow(&self.parameters);
            return Verdict::Dropped(Reason::Full);
        }
        let is_short = self.queue.is_below_third();
        self.controller.judge(&self.parameters, item, (backlog, is_short), &mut self.stream)
    }
}

impl<T: Queued> Qdisc<T> for Pie<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(item) = self.judge(now, &item).carry_out(now, item, sink) {
            self.queue.push(now, item);
        }
    }

    fn dequeue(&mut self, now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.controller.catch_up(&self.parameters, now, self.queue.backlog_bytes());
        let (since, item) = self.queue.pop()?;
        self.controller.depart(&self.parameters, now, since, self.queue.backlog_bytes());
        Some((since, item))
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.controller.show(&self.parameters, see);
    }
}

#[cfg(test)]
mod tests;
