//! From bytes to time along a rate that varies.

use super::Variation;
use crate::units::{Instant, NANOS_PER_SEC};

/// Turns bytes into time along a variation, without accumulated rounding while it is busy.
///
/// Along a rate that does not change it gives the times that [`Rate::transmission`](crate::units::Rate::transmission)
/// gives.
#[derive(Clone, Debug)]
pub struct VariableRateSerializer {
    variation: Variation,
    free_at: Instant,
    /// The bits sent beyond the whole nanosecond `free_at`, in billionths of a bit.
    ahead: u64,
}

impl VariableRateSerializer {
    /// From the start of the run on.
    pub fn new(variation: Variation) -> Self {
        VariableRateSerializer { variation, free_at: Instant::ZERO, ahead: 0 }
    }

    /// Sends `bytes` from `start`, which is not before the end of the previous packet. Returns the time at which the
    /// last bit has left, rounded down. If the rate stays zero, that time is beyond the end of any run.
    pub fn send(&mut self, start: Instant, bytes: u32) -> Instant {
        if start > self.free_at {
            self.ahead = 0;
        }
        let mut missing = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC) + u128::from(self.ahead);
        let mut at = start;
        loop {
            let piece = self.variation.seek(at);
            let rate = u128::from(piece.rate_bps);
            let passes = rate * u128::from(piece.until.since(at).as_nanos());
            if missing <= passes && rate > 0 {
                self.free_at = Instant::from_nanos(at.as_nanos() + (missing / rate) as u64);
                self.ahead = (missing % rate) as u64;
                return self.free_at;
            }
            missing -= passes;
            at = piece.until;
            if at == super::FAR {
                self.free_at = at;
                self.ahead = 0;
                return at;
            }
        }
    }

    /// The time at which the last bit has left.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }
}
