//! The tokens of a bucket, counted without rounding.

use crate::units::{Instant, NANOS_PER_SEC, Rate};

/// A bucket of tokens for bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::qdisc) struct Tokens {
    rate: Rate,
    burst: u32,
    /// In bits times nanoseconds per second, so that each nanosecond adds the rate in bit/s.
    tokens: u128,
    /// The time of this count.
    counted_at: Instant,
}

/// The token cost of an item.
fn cost(bytes: u32) -> u128 {
    u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC)
}

impl Tokens {
    /// A full bucket of `burst` bytes.
    pub(in crate::qdisc) fn new(rate: Rate, burst: u32) -> Self {
        Tokens { rate, burst, tokens: cost(burst), counted_at: Instant::ZERO }
    }

    /// Counts the tokens at `now`.
    pub(in crate::qdisc) fn refill(&mut self, now: Instant) {
        let gained = u128::from(now.since(self.counted_at).as_nanos()) * u128::from(self.rate.as_bps());
        self.tokens = (self.tokens + gained).min(cost(self.burst));
        self.counted_at = now;
    }

    /// The tokens when they were counted last.
    pub(in crate::qdisc) fn bytes(&self) -> f64 {
        self.tokens as f64 / cost(1) as f64
    }

    /// Whether there are enough for an item.
    pub(in crate::qdisc) fn suffice(&self, bytes: u32) -> bool {
        self.tokens >= cost(bytes)
    }

    /// Takes the tokens for an item. They suffice.
    pub(in crate::qdisc) fn take(&mut self, bytes: u32) {
        self.tokens -= cost(bytes);
    }

    /// The time at which they suffice for an item. They have just been counted.
    pub(in crate::qdisc) fn enough_at(&self, bytes: u32) -> Instant {
        let missing = cost(bytes).saturating_sub(self.tokens);
        let nanos = missing.div_ceil(u128::from(self.rate.as_bps()));
        Instant::from_nanos(self.counted_at.as_nanos() + nanos as u64)
    }
}
