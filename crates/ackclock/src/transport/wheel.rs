//! The timer wheel of Linux: timers go off at ticks.

use crate::units::{Duration, Instant};

/// When a timer goes off that starts now. It is exact without ticks.
///
/// Timeouts are whole ticks, counted from the last tick. A timer never goes off early, so the wheel adds one step. A
/// step is a tick below 63 ticks, and eight times longer for each eight times longer timeout.
#[inline]
pub(crate) fn expiry(now: Instant, timeout: Duration, tick: Duration) -> Instant {
    if tick.is_zero() { now + timeout } else { on_wheel(now, timeout, tick.as_nanos()) }
}

fn on_wheel(now: Instant, timeout: Duration, tick_ns: u64) -> Instant {
    /// The ticks from which the second level is needed, and the power of two between steps of levels.
    const FIRST_LEVEL: u64 = 63;
    const LEVEL_SHIFT: u32 = 3;
    let ticks = timeout.as_nanos().div_ceil(tick_ns);
    let end = now.as_nanos() / tick_ns + ticks;
    let mut shift = 0;
    while ticks >= FIRST_LEVEL << shift {
        shift += LEVEL_SHIFT;
    }
    Instant::from_nanos((((end >> shift) + 1) << shift) * tick_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_on_the_wheel_goes_off_a_step_late() {
        let us = |us: u64| Instant::from_nanos(1_000 * us);
        let expiry = |now, timeout| expiry(us(now), Duration::from_micros(timeout), Duration::from_millis(1));
        // The tick is 14 at first. 29.4 ms are 30 ticks, and a step is one tick.
        assert_eq!(expiry(14_685, 29_400), us(45_000));
        assert_eq!(expiry(14_000, 62_000), us(77_000));
        // Steps of 8 ticks from 63 ticks, and of 64 from 504.
        assert_eq!(
            [expiry(0, 63_000), expiry(1_000, 63_000), expiry(3_999, 215_000)],
            [us(64_000), us(72_000), us(224_000)]
        );
        assert_eq!(
            [expiry(0, 503_000), expiry(0, 504_000), expiry(8_000, 504_000)],
            [us(504_000), us(512_000), us(576_000)]
        );
    }
}
