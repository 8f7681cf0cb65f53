//! Stochastic Fair BLUE: BLUE in the bins of a Bloom filter, and a penalty rate for unresponsive flows.
//!
//! Reference: Feng, Kandlur, Saha & Shin 2001, Stochastic Fair Blue: a queue management algorithm for enforcing fairness.
//! The defaults, the penalty and the second filter follow Linux's `sch_sfb`.
//!
//! ```text
//! a flow has one bin at each level     bins count their packets
//! arrival at a bin                     p <- p + increment with at least `bin_size` packets, p - decrement with none
//! probability of the flow              the smallest p of its bins
//! it reaches 1                         the flow does not respond: it may send `penalty_rate` packets a second
//! ```
//!
//! A filter with new hashes replaces the old one every `rehash`. It learns during `warmup` before.
//!
//! Deviations: hashes are the run's. A bin holds at most `max` packets, as in Linux. ECN-capable packets are dropped
//! above a probability of 0.5 as well, as in Linux.

mod filter;
mod keys;

use filter::Filter;
pub use keys::{SfbKeys, SfbParameters};

use super::contract::{Verdict, all_queued_in};
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::Instant;

/// A FIFO with a limit and two filters.
#[derive(Clone, Debug)]
pub struct Sfb<T> {
    queue: DropTail<T>,
    parameters: SfbParameters,
    /// The filter in use, and its successor.
    filters: [Filter; 2],
    renewed_at: Instant,
    /// Packets that flows which do not respond may still send.
    penalty_tokens: f64,
    penalty_counted_at: Instant,
    stream: Rng,
}

impl<T: Queued> Sfb<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: SfbParameters, mut stream: Rng) -> Self {
        let filters = [Filter::new(stream.next_u64()), Filter::new(stream.next_u64())];
        Sfb {
            queue: DropTail::new(limit),
            parameters,
            filters,
            renewed_at: Instant::ZERO,
            penalty_tokens: f64::from(parameters.penalty_burst),
            penalty_counted_at: Instant::ZERO,
            stream,
        }
    }

    /// Lets the second filter succeed the first one when its time has come.
    fn renew(&mut self, now: Instant) {
        let Some(rehash) = self.parameters.rehash else { return };
        if now >= self.renewed_at + rehash {
            self.filters.swap(0, 1);
            self.filters[1] = Filter::new(self.stream.next_u64());
            // Queued items count in the filters.
            let filters = &mut self.filters;
            self.queue.visit(&mut |_, item| filters[1].add(item.flow_hash()));
            self.renewed_at = now;
        }
    }

    /// Whether the second filter learns.
    fn is_warming_up(&self, now: Instant) -> bool {
        let SfbParameters { rehash, warmup, .. } = self.parameters;
        rehash.is_some_and(|rehash| now.since(self.renewed_at) + warmup > rehash)
    }

    /// Whether a flow that does not respond may send a packet.
    fn pays_penalty(&mut self, now: Instant) -> bool {
        let SfbParameters { penalty_rate, penalty_burst, .. } = self.parameters;
        let gained = now.since(self.penalty_counted_at).as_secs_f64() * penalty_rate;
        self.penalty_tokens = (self.penalty_tokens + gained).min(f64::from(penalty_burst));
        self.penalty_counted_at = now;
        let may_send = self.penalty_tokens >= 1.0;
        self.penalty_tokens -= f64::from(may_send);
        may_send
    }

    fn judge(&mut self, now: Instant, item: &T) -> Verdict {
        self.renew(now);
        let hash = item.flow_hash();
        let (probability, packets) = self.filters[0].arrive(hash, &self.parameters);
        if self.is_warming_up(now) {
            self.filters[1].arrive(hash, &self.parameters);
        }
        if !self.queue.fits(item) {
            return Verdict::Dropped(Reason::Full);
        }
        if packets >= self.parameters.max {
            return Verdict::Dropped(Reason::Bin);
        }
        if probability >= 1.0 && !self.pays_penalty(now) {
            return Verdict::Dropped(Reason::Penalty);
        }
        if probability >= 1.0 || self.stream.next_f64() >= probability {
            return Verdict::Queued;
        }
        // Above 0.5 the part of packets that are dropped rises from none to all.
        let drops = probability > 0.5 && self.stream.next_f64() < 2.0 * (probability - 0.5);
        if self.parameters.ecn && item.ecn().is_capable() && !drops {
            Verdict::Marked(Reason::Early)
        } else {
            Verdict::Dropped(Reason::Early)
        }
    }
}

impl<T: Queued> Qdisc<T> for Sfb<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(item) = self.judge(now, &item).carry_out(now, item, sink) {
            self.filters.iter_mut().for_each(|filter| filter.add(item.flow_hash()));
            self.queue.push(now, item);
        }
    }

    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let (since, item) = self.queue.pop()?;
        self.filters.iter_mut().for_each(|filter| filter.remove(item.flow_hash()));
        Some((since, item))
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("largest_probability", self.filters[0].largest_probability());
        see("penalty_packets", self.penalty_tokens);
    }
}

#[cfg(test)]
mod tests;
