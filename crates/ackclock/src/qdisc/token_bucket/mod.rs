//! Token bucket filter: a FIFO that sends no more than a rate and a burst allow.
//!
//! Reference: Linux's `tbf` (`tc-tbf(8)`) and ns-3's `TbfQueueDisc`, each with one bucket. Shenker & Wroclawski, RFC
//! 2215, section 3.6, define the token bucket.
//!
//! ```text
//! tokens      rise at the rate, up to the burst; full at the start
//! departure   as soon as there are as many tokens as the item has bytes, which it takes
//! ```
//!
//! Deviations: tokens are counted without rounding, and an item leaves at the first whole nanosecond with enough
//! tokens. Linux counts them in whole nanoseconds at the rate, and ns-3 in whole bytes.

mod keys;
mod tokens;

pub(super) use keys::burst_at;
pub use keys::{TokenBucketKeys, TokenBucketParameters};
pub(super) use tokens::Tokens;

use super::contract::all_queued_in;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::Instant;

/// A FIFO with a token bucket at its head.
#[derive(Clone, Debug)]
pub struct TokenBucket<T> {
    queue: DropTail<T>,
    parameters: TokenBucketParameters,
    tokens: Tokens,
    /// When the tokens suffice for the first item.
    ready_at: Instant,
}

impl<T: Queued> TokenBucket<T> {
    /// An empty queue with a full bucket.
    pub fn new(limit: Limit, parameters: TokenBucketParameters) -> Self {
        let tokens = Tokens::new(parameters.rate, parameters.burst);
        TokenBucket { queue: DropTail::new(limit), parameters, tokens, ready_at: Instant::ZERO }
    }

    /// Records the time at which the first item may leave. The tokens have just been counted.
    fn look_ahead(&mut self) {
        if let Some(len) = self.queue.fifo().first_len() {
            self.ready_at = self.tokens.enough_at(len as u32);
        }
    }
}

impl<T: Queued> Qdisc<T> for TokenBucket<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if item.wire_len() > self.parameters.burst {
            sink.dropped(now, item, Reason::Oversize);
        } else if !self.queue.fits(&item) {
            sink.dropped(now, item, Reason::Full);
        } else {
            self.queue.push(now, item);
            if self.queue.backlog_packets() == 1 {
                self.tokens.refill(now);
                self.look_ahead();
            }
        }
    }

    fn dequeue(&mut self, now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        if now < self.ready_at {
            return None;
        }
        let (since, item) = self.queue.pop()?;
        self.tokens.refill(now);
        self.tokens.take(item.wire_len());
        self.look_ahead();
        Some((since, item))
    }

    fn next_deadline(&self) -> Instant {
        self.ready_at
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        see("tokens_bytes", self.tokens.bytes());
    }
}

#[cfg(test)]
mod tests;
