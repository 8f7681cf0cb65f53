//! Token bucket filter: a queue that sends no more than a rate and a burst allow.
//!
//! Reference: Linux's `tbf` (`tc-tbf(8)`) and ns-3's `TbfQueueDisc`, each with one bucket. Shenker & Wroclawski, RFC
//! 2215, section 3.6, define the token bucket.
//!
//! ```text
//! tokens      rise at the rate, up to the burst; full at the start
//! departure   as soon as there are as many tokens as the item has bytes, which it takes
//! ```
//!
//! The queue is a FIFO, or any other one (`queue`). As in Linux, the next item is taken out when the link is free. It
//! then waits for its tokens.
//!
//! Deviations: tokens are counted without rounding, and an item leaves at the first whole nanosecond with enough
//! tokens. Linux counts them in whole nanoseconds at the rate, and ns-3 in whole bytes.

mod keys;
mod tokens;

pub(super) use keys::burst_at;
pub use keys::{TokenBucketKeys, TokenBucketParameters};
pub(super) use tokens::Tokens;

use super::contract::all_queued_in;
use super::nested::Ahead;
use super::{Limit, Qdisc, Queue, QueueSink, Queued, Reason};
use crate::units::{Duration, Instant, Rate};

/// A queue with a token bucket at its head.
#[derive(Clone, Debug)]
pub struct TokenBucket<T: Queued> {
    queue: Ahead<T>,
    burst: u32,
    tokens: Tokens,
    /// When the tokens suffice for the item ahead.
    ready_at: Instant,
}

impl<T: Queued> TokenBucket<T> {
    /// A full bucket before an empty queue.
    pub fn new(queue: Queue<T>, rate: Rate, burst: u32) -> Self {
        let tokens = Tokens::new(rate, burst);
        TokenBucket { queue: Ahead::new(queue), burst, tokens, ready_at: Instant::ZERO }
    }
}

impl<T: Queued> Qdisc<T> for TokenBucket<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if item.wire_len() > self.burst {
            sink.dropped(now, item, Reason::Oversize);
        } else {
            self.queue.enqueue(now, item, sink);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        if now < self.ready_at {
            return None;
        }
        let len = self.queue.first_len(now, sink)?;
        self.tokens.refill(now);
        if !self.tokens.suffice(len) {
            self.ready_at = self.tokens.enough_at(len);
            return None;
        }
        self.tokens.take(len);
        self.queue.dequeue(now, sink)
    }

    fn idled(&mut self, idle: Duration) {
        self.queue.idled(idle);
    }

    fn next_deadline(&self) -> Instant {
        self.ready_at.max(self.queue.next_deadline())
    }

    all_queued_in!(queue);

    fn order(&self, item: &T) -> u64 {
        self.queue.order(item)
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("tokens_bytes", self.tokens.bytes());
        self.queue.state(see);
    }
}

#[cfg(test)]
mod tests;
