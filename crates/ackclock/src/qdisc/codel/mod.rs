//! CoDel: drops at the head of the queue once sojourn times have been above a target for an interval.
//!
//! Reference: RFC 8289, Controlled Delay Active Queue Management, sections 4 and 5. Marks and `ce_threshold` follow
//! Linux (`include/net/codel_impl.h`) and section 5.2.7 of RFC 8290.
//!
//! ```text
//! at each departure     sojourn < target, or bytes left <= mtu: not above
//! first above           first_above_time <- now + interval
//! first_above_time      enter the drop state: drop, count <- 1 (or count - lastcount, if the last state ended a short
//!                       time ago), lastcount <- count, drop_next <- now + interval / sqrt(count)
//! drop_next             drop, count <- count + 1, drop_next <- drop_next + interval / sqrt(count), until it is not above
//! ```
//!
//! Deviations: none from the RFC's pseudocode, which does not specify marking. An ECN-capable item at the head is
//! marked instead of dropped, and leaves. The control law `newton` follows Linux and ns-3 in three points. Times are
//! counted in units of 1.024 us. The interval must be exceeded. 1/sqrt(count) is one step of Newton's method in 16
//! bits.

mod control;
mod keys;

pub(super) use control::Controller;
pub use keys::{CoDelKeys, CoDelParameters, ControlLaw};
pub(super) use keys::{interval, parameters_in_words, target};

use super::contract::all_queued_in;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::Instant;

/// A FIFO with a limit that drops items whose sojourn time is too long.
#[derive(Clone, Debug)]
pub struct CoDel<T> {
    queue: DropTail<T>,
    controller: Controller,
    parameters: CoDelParameters,
}

impl<T: Queued> CoDel<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: CoDelParameters) -> Self {
        CoDel { queue: DropTail::new(limit), controller: Controller::default(), parameters }
    }
}

impl<T: Queued> Qdisc<T> for CoDel<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if self.queue.fits(&item) {
            self.queue.push(now, item);
        } else {
            sink.dropped(now, item, Reason::Full);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.controller.dequeue(&self.parameters, now, (self.queue.fifo(), 0), sink)
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.controller.show(&self.parameters, see);
    }
}

#[cfg(test)]
mod tests;
