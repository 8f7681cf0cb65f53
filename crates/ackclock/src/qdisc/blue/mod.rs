//! BLUE: drops, or marks, with a probability that losses raise and idle times lower.
//!
//! Reference: Feng, Kandlur, Saha & Shin 2002, The BLUE active queue management algorithms, section 3.
//!
//! ```text
//! loss, or backlog > threshold   p <- p + increment, unless p changed within freeze_time
//! link idle                      p <- p - decrement, unless p changed within freeze_time
//! at each arrival                dropped, or marked, with probability p
//! ```
//!
//! Deviations: none from the paper. An idle link lowers p once for each `freeze_time` that it lasts.

mod keys;

pub use keys::{BlueKeys, BlueParameters};

use super::contract::{Verdict, all_queued_in};
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct Blue<T> {
    queue: DropTail<T>,
    parameters: BlueParameters,
    probability: f64,
    /// When the probability may change again.
    frozen_until: Instant,
    /// For how long the link was idle before the arrival that comes.
    idle: Duration,
    stream: Rng,
}

impl<T: Queued> Blue<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: BlueParameters, stream: Rng) -> Self {
        Blue {
            queue: DropTail::new(limit),
            parameters,
            probability: 0.0,
            frozen_until: Instant::ZERO,
            idle: Duration::ZERO,
            stream,
        }
    }

    fn raise(&mut self, now: Instant) {
        if now >= self.frozen_until {
            self.probability = (self.probability + self.parameters.increment).min(1.0);
            self.frozen_until = now + self.parameters.freeze_time;
        }
    }

    /// The link has been idle until now.
    fn end_idle(&mut self, now: Instant) {
        let since = Instant::from_nanos(now.as_nanos() - std::mem::take(&mut self.idle).as_nanos());
        let first = self.frozen_until.max(since);
        if first >= now || self.probability == 0.0 {
            return;
        }
        // The first decrement is at once, and each other one after a time without changes.
        let freeze = self.parameters.freeze_time.as_nanos();
        let possible = (now.since(first).as_nanos() - 1) / freeze + 1;
        let needed = (self.probability / self.parameters.decrement).ceil() as u64;
        let times = possible.min(needed);
        self.probability = (self.probability - times as f64 * self.parameters.decrement).max(0.0);
        self.frozen_until = first + Duration::from_nanos(times * freeze);
    }

    fn judge(&mut self, now: Instant, item: &T) -> Verdict {
        self.end_idle(now);
        let is_above = self
            .parameters
            .threshold
            .is_some_and(|threshold| !threshold.holds(self.queue.backlog_packets(), self.queue.backlog_bytes()));
        if is_above || !self.queue.fits(item) {
            self.raise(now);
        }
        let is_chosen = self.stream.next_f64() < self.probability;
        match (is_chosen, self.parameters.ecn && item.ecn().is_capable()) {
            (true, false) => Verdict::Dropped(Reason::Early),
            _ if !self.queue.fits(item) => Verdict::Dropped(Reason::Full),
            (true, true) => Verdict::Marked(Reason::Early),
            (false, _) => Verdict::Queued,
        }
    }
}

impl<T: Queued> Qdisc<T> for Blue<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(item) = self.judge(now, &item).carry_out(now, item, sink) {
            self.queue.push(now, item);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.queue.pop()
    }

    fn idled(&mut self, idle: Duration) {
        self.idle = idle;
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("probability", self.probability);
    }
}

#[cfg(test)]
mod tests;
