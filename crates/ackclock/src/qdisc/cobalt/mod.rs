//! COBALT: CoDel whose count falls step by step, and BLUE against flows that do not respond.
//!
//! Reference: Hoiland-Jorgensen, Taht & Morton 2018, Piece of CAKE, section III.B, where each queue has it. ns-3 has it
//! as `CobaltQueueDisc`.
//!
//! ```text
//! sojourn > target          a signal whenever one is due: count <- count + 1, next <- next + interval / sqrt(count)
//! else, when one is due     count <- count - 1, next <- next + interval / sqrt(count), until none is due
//! signal                    a mark, or a drop
//! queue full                p <- p + increment, a signal is due; at most once in a target
//! queue empty               p <- p - decrement; at most once in a target
//! at each departure         dropped with probability p, whether it is ECN-capable or not
//! ```
//!
//! Deviations: the gaps are computed in floating point. Linux and ns-3 use Newton's method in 32 bits. ns-3 also raises
//! p above a sojourn time (`blue_threshold`), which is off by default here.

mod controller;
mod keys;

pub(super) use controller::Controller;
pub use keys::{CobaltKeys, CobaltParameters};
pub(super) use keys::{decrement, increment};

use super::contract::all_queued_in;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct Cobalt<T> {
    queue: DropTail<T>,
    controller: Controller,
    parameters: CobaltParameters,
    /// For how long the link was idle before the arrival that comes.
    idle: Duration,
    stream: Rng,
}

impl<T: Queued> Cobalt<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: CobaltParameters, stream: Rng) -> Self {
        let controller = Controller::default();
        Cobalt { queue: DropTail::new(limit), controller, parameters, idle: Duration::ZERO, stream }
    }
}

impl<T: Queued> Qdisc<T> for Cobalt<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        let idle = std::mem::take(&mut self.idle);
        if !idle.is_zero() {
            let since = Instant::from_nanos(now.as_nanos() - idle.as_nanos());
            self.controller.run_dry(&self.parameters, since);
        }
        if self.queue.fits(&item) {
            self.queue.push(now, item);
        } else {
            self.controller.overflow(&self.parameters, now);
            sink.dropped(now, item, Reason::Full);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let (parameters, queue) = (&self.parameters, self.queue.fifo());
        self.controller.dequeue(parameters, now, Duration::ZERO, queue, &mut self.stream, sink)
    }

    fn idled(&mut self, idle: Duration) {
        self.idle = idle;
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.controller.show(&self.parameters, see);
    }
}

#[cfg(test)]
mod tests;
