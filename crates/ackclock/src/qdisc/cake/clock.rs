//! The clock of a shaper without bursts.

use crate::units::{Instant, NANOS_PER_SEC, Rate};

/// When a rate permits the next packet, without rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    rate: Rate,
    at: Instant,
    /// Part of a nanosecond beyond it, in units of 1 / rate.
    rest: u64,
}

impl Clock {
    /// It permits a packet at once.
    pub(super) fn new(rate: Rate) -> Self {
        Clock { rate, at: Instant::ZERO, rest: 0 }
    }

    /// When it permits the next packet.
    #[inline]
    pub(super) fn next(self) -> Instant {
        if self.rest == 0 { self.at } else { Instant::from_nanos(self.at.as_nanos() + 1) }
    }

    /// The queue was empty until now, and its rate unused.
    pub(super) fn start(&mut self, now: Instant) {
        if self.next() < now {
            (self.at, self.rest) = (now, 0);
        }
    }

    /// A packet of these bytes leaves.
    pub(super) fn send(&mut self, bytes: u32) {
        let rate = u128::from(self.rate.as_bps());
        let total = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC) + u128::from(self.rest);
        self.at = Instant::from_nanos(self.at.as_nanos() + (total / rate) as u64);
        self.rest = (total % rate) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_follow_at_the_rate_without_rounding() {
        let mut clock = Clock::new(Rate::from_bps(3).unwrap());
        // 8 bits take 2.667 s each.
        let times: Vec<u64> = std::iter::repeat_with(|| {
            clock.send(1);
            clock.next().as_nanos()
        })
        .take(3)
        .collect();
        assert_eq!(times, [2_666_666_667, 5_333_333_334, 8_000_000_000]);
        clock.start(Instant::from_nanos(7));
        assert_eq!(clock.next().as_nanos(), 8_000_000_000);
        clock.start(Instant::from_nanos(9_000_000_000));
        assert_eq!(clock.next().as_nanos(), 9_000_000_000);
    }
}
