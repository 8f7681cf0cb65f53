//! Policer: drops arrivals that exceed a rate and a burst, and delays none for it.
//!
//! Reference: the token bucket of RFC 2215, section 3.6, as in Linux's `police` action with `conform-exceed drop`.
//!
//! ```text
//! tokens    rise at the rate, up to the burst; full at the start
//! arrival   takes as many tokens as it has bytes, or is dropped if there are fewer
//! ```
//!
//! Packets within the rate join a FIFO, which the rate of the link empties. Deviations: tokens are counted without
//! rounding.

mod keys;

pub use keys::{PolicerKeys, PolicerParameters};

use super::contract::all_queued_in;
use super::token_bucket::Tokens;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::Instant;

/// A FIFO behind a token bucket.
#[derive(Clone, Debug)]
pub struct Policer<T> {
    queue: DropTail<T>,
    tokens: Tokens,
}

impl<T: Queued> Policer<T> {
    /// An empty queue with a full bucket.
    pub fn new(limit: Limit, parameters: PolicerParameters) -> Self {
        Policer { queue: DropTail::new(limit), tokens: Tokens::new(parameters.rate, parameters.burst) }
    }
}

impl<T: Queued> Qdisc<T> for Policer<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        self.tokens.refill(now);
        if !self.tokens.suffice(item.wire_len()) {
            sink.dropped(now, item, Reason::Excess);
        } else {
            // An arrival at a full queue has passed the meter.
            self.tokens.take(item.wire_len());
            self.queue.enqueue(now, item, sink);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.queue.pop()
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("tokens_bytes", self.tokens.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};
    use crate::units::Rate;

    #[test]
    fn what_exceeds_the_burst_is_dropped_and_the_rate_refills_it() {
        // 8 Mbit/s are 1000 B a millisecond.
        let parameters = PolicerParameters { rate: Rate::from_bps(8_000_000).unwrap(), burst: 2000 };
        let mut queue = Policer::new(Limit::Packets(10), parameters);
        let mut told = Told::default();
        for (number, micros) in
            [(0, 0), (1, 0), (2, 0), (3, 999), (4, 1000), (5, 1000), (6, 9000), (7, 9000), (8, 9000)]
        {
            let item = Item { number, bytes: 1000, ..Item::default() };
            queue.enqueue(Instant::from_nanos(1000 * micros), item, &mut told);
        }
        let excess: Vec<_> = told.dropped.iter().map(|(item, reason)| (item.number, *reason)).collect();
        assert_eq!(excess, [2, 3, 5, 8].map(|number| (number, Reason::Excess)));
        assert_eq!(queue.backlog_packets(), 5);
    }
}
