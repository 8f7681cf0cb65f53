//! Updates at fixed times, performed when the queue is used next.

use crate::units::{Duration, Instant};

/// The multiples of a period on the clock of the run.
///
/// A queue does not change between two calls. So an update may happen later than due, as long as it comes before the
/// next arrival and departure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    next: Instant,
    period: Duration,
}

impl Ticks {
    /// The first tick is after a period, which is above zero.
    pub(super) fn new(period: Duration) -> Self {
        Ticks { next: Instant::ZERO + period, period }
    }

    /// Takes the next tick that is due.
    #[inline]
    pub(super) fn take(&mut self, now: Instant) -> Option<Instant> {
        if now < self.next {
            return None;
        }
        let tick = self.next;
        self.next = tick + self.period;
        Some(tick)
    }

    /// Takes all ticks that are due.
    pub(super) fn take_all(&mut self, now: Instant) {
        if self.next <= now {
            let ticks = now.since(self.next).as_nanos() / self.period.as_nanos() + 1;
            self.next += self.period * ticks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_multiples_of_the_period() {
        let ms = |millis: u64| Instant::from_nanos(1_000_000 * millis);
        let mut ticks = Ticks::new(Duration::from_millis(15));
        assert_eq!(ticks.take(ms(14)), None);
        assert_eq!([ticks.take(ms(31)), ticks.take(ms(31)), ticks.take(ms(31))], [Some(ms(15)), Some(ms(30)), None]);
        ticks.take_all(ms(44));
        assert_eq!(ticks.take(ms(45)), Some(ms(45)));
        ticks.take_all(ms(105));
        assert_eq!((ticks.take(ms(119)), ticks.take(ms(120))), (None, Some(ms(120))));
    }
}
