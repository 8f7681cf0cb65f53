//! Two rates in turn, for random times.

use super::{Step, Steps};
use crate::rng::Rng;
use crate::units::Duration;

/// A Markov chain of two rates: each holds for an exponential time. It begins in its stationary state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    /// Bits per second.
    pub high_bps: u64,
    /// Bits per second.
    pub low_bps: u64,
    /// How long the high rate holds on average.
    pub mean_high: Duration,
    /// How long the low rate holds on average.
    pub mean_low: Duration,
}

impl OnOff {
    pub(super) fn begin(self, mut stream: Rng) -> Course {
        let (high, low) = (self.mean_high.as_secs_f64(), self.mean_low.as_secs_f64());
        let is_high = stream.next_f64() * (high + low) < high;
        Course { on_off: self, is_high, stream }
    }
}

/// The state of the chain.
#[derive(Clone, Debug)]
pub(super) struct Course {
    on_off: OnOff,
    /// The state that comes next.
    is_high: bool,
    stream: Rng,
}

impl Steps for Course {
    fn next_step(&mut self) -> Option<Step> {
        let OnOff { high_bps, low_bps, mean_high, mean_low } = self.on_off;
        let (rate, mean) = if self.is_high { (high_bps, mean_high) } else { (low_bps, mean_low) };
        self.is_high = !self.is_high;
        let length = mean.mul_f64_floor(exponential(&mut self.stream));
        Some((rate, length.max(Duration::from_nanos(1))))
    }
}

/// Exponential with a mean of 1.
pub(super) fn exponential(stream: &mut Rng) -> f64 {
    -libm::log1p(-stream.next_f64())
}
