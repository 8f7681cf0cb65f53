//! The arithmetic of CUBIC 2.1 in Linux 2.6.22.
//!
//! Facts are from its description and its behaviour in ns-2's `Agent/TCP/Linux`. Deviations: the window has no clamp.

use super::linux::{Kernel, Old};
use crate::cc::{Ack, CaState};
use crate::units::Instant;

/// Sixteenths of a segment.
const RATIO_BITS: u32 = 4;
/// Segments for which one comes before the first loss.
const UNKNOWN: u64 = 50;
/// The largest growth beyond the plateau, in segments per tenth of a second: `max_increment`.
const MAX_INCREMENT: u64 = 16;

impl Default for Old {
    fn default() -> Self {
        Old { delay_min: 0, delayed_ack: 2 << RATIO_BITS, has_lost: false }
    }
}

impl Old {
    /// Counts the segments of an ACK outside of recovery.
    ///
    /// The average is in whole sixteenths. From two segments or more, an ACK of one lowers it by one.
    /// It stays constant from there.
    fn count(&mut self, segments: u64) {
        self.delayed_ack = self.delayed_ack + segments - (self.delayed_ack >> RATIO_BITS);
    }

    /// Segments to be acknowledged for one more, at least, at this window and time.
    fn least(&self, cwnd: u64, hz: u64, is_beyond: bool) -> u64 {
        if self.delay_min == 0 || !is_beyond { 0 } else { cwnd * hz * 8 / (10 * MAX_INCREMENT * self.delay_min) }
    }
}

impl Kernel {
    #[cold]
    pub(super) fn observe_2_6(&mut self, ack: &Ack) {
        if ack.acked <= 0.0 || ack.in_recovery || ack.state == CaState::Loss {
            return;
        }
        let jiffies = self.jiffies(ack.now);
        let echo = ack.now.as_nanos().saturating_sub(ack.path.latest_rtt.as_nanos());
        let first = self.origin.map_or(ack.now, |origin| origin.max(Instant::from_nanos(echo)));
        let sent = self.jiffies(first);
        let is_settled = jiffies - self.epoch_start.unwrap_or(0) >= self.hz && !ack.path.latest_rtt.is_zero();
        let Some(old) = &mut self.old else { return };
        old.count(u64::from(ack.newly_delivered));
        if is_settled {
            let delay = ((jiffies - sent) << 3).max(1);
            old.delay_min = if old.delay_min == 0 { delay } else { old.delay_min.min(delay) };
        }
    }

    /// The window after an ACK that may grow it. Each ACK counts once, for any number of segments.
    #[cold]
    pub(super) fn grow_2_6(&mut self, now: Instant, cwnd: u64) -> f64 {
        let Some(old) = self.old else { return cwnd as f64 };
        let jiffies = self.jiffies(now);
        self.ack_cnt += 1;
        if self.last_cwnd != cwnd || jiffies - self.last_time > self.hz / 32 {
            let t = self.look(jiffies, cwnd, 1, old.delay_min >> 3);
            let cnt = self.on_curve(t, cwnd).max(old.least(cwnd, self.hz, t >= self.bic_k));
            self.cnt = if old.has_lost { cnt } else { UNKNOWN };
            if self.reno_friendly {
                self.keep_up_with_reno(cwnd);
            }
            self.cnt = ((self.cnt << RATIO_BITS) / old.delayed_ack).max(1);
        }
        if self.snd_cwnd_cnt >= self.cnt {
            self.snd_cwnd_cnt = 0;
            return (cwnd + 1) as f64;
        }
        self.snd_cwnd_cnt += 1;
        cwnd as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arithmetic, Cubic};
    use super::*;
    use crate::cc::PathView;
    use crate::units::Duration;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn kernel() -> Kernel {
        let mut kernel =
            Kernel::new(&Cubic { arithmetic: Arithmetic::Linux26, remaining: 819.0 / 1024.0, ..Cubic::default() });
        kernel.on_sent(Instant::ZERO, None);
        kernel
    }

    fn ack(now: Instant, rtt: Duration, segments: u32) -> Ack {
        let path = PathView { latest_rtt: rtt, ..PathView::default() };
        Ack { now, newly_delivered: segments, path, ..Ack::of(1.0) }
    }

    #[test]
    fn what_remains_is_819_of_1024() {
        let mut kernel = kernel();
        assert_eq!(kernel.cut(100.0), 79.0);
        kernel.on_loss(100.0);
        kernel.grow(Instant::ZERO + ms(5000), 79.0, 1.0, ms(100));
        // 2^40 / 410 = 2 681 735 677, times 21: 3833^3 is the cube below.
        assert_eq!(kernel.bic_k, 3833);
    }

    #[test]
    fn the_average_of_segments_per_ack_stays_at_31_sixteenths() {
        let mut old = Old::default();
        (0..100).for_each(|_| old.count(1));
        assert_eq!(old.delayed_ack, 31);
        let mut delayed = Old::default();
        (0..100).for_each(|_| delayed.count(2));
        assert_eq!(delayed.delayed_ack, 32);
        // 32 + 40 - 2 = 70, and 70 - 4 + 2.
        delayed.count(40);
        delayed.count(2);
        assert_eq!(delayed.delayed_ack, 68);
    }

    #[test]
    fn before_a_loss_and_after_a_timeout_a_segment_comes_for_25() {
        // 50 * 16 / 32; one more ACK than that is needed.
        let mut kernel = kernel();
        let mut grown = Vec::new();
        let mut cwnd = 100.0;
        for millis in 0..54 {
            cwnd = kernel.grow(Instant::ZERO + ms(2000 + millis), cwnd, 1.0, ms(100));
            grown.push(cwnd);
        }
        assert_eq!((grown[24], grown[25], grown[50], grown[51]), (100.0, 101.0, 101.0, 102.0));
        kernel.on_loss(100.0);
        assert!(kernel.old.unwrap().has_lost);
        kernel.on_timeout();
        kernel.grow(Instant::ZERO + ms(9000), 100.0, 1.0, ms(100));
        assert_eq!(kernel.cnt, 25);
    }

    #[test]
    fn the_smallest_rtt_counts_a_second_after_a_decrease() {
        let mut kernel = kernel();
        kernel.observe(&ack(Instant::ZERO + ms(999), ms(50), 2));
        assert_eq!(kernel.old.unwrap().delay_min, 0);
        kernel.observe(&ack(Instant::ZERO + ms(1000), ms(50), 2));
        assert_eq!(kernel.old.unwrap().delay_min, 8 * 50);
        kernel.on_loss(100.0);
        kernel.grow(Instant::ZERO + ms(2000), 79.0, 1.0, ms(100));
        kernel.observe(&ack(Instant::ZERO + ms(2999), ms(40), 2));
        assert_eq!(kernel.old.unwrap().delay_min, 8 * 50);
        kernel.observe(&ack(Instant::ZERO + ms(3000), ms(40), 2));
        kernel.observe(&ack(Instant::ZERO + ms(3001), ms(60), 2));
        assert_eq!(kernel.old.unwrap().delay_min, 8 * 40);
        // Duplicates, recovery and the repair of a timeout tell nothing.
        for other in [
            Ack { acked: 0.0, ..ack(Instant::ZERO + ms(4000), ms(1), 2) },
            Ack { in_recovery: true, ..ack(Instant::ZERO + ms(4000), ms(1), 2) },
            Ack { state: CaState::Loss, ..ack(Instant::ZERO + ms(4000), ms(1), 2) },
        ] {
            kernel.observe(&other);
        }
        assert_eq!(kernel.old.unwrap().delay_min, 8 * 40);
    }

    #[test]
    fn beyond_the_plateau_160_segments_come_in_a_second_at_most() {
        let mut kernel = kernel();
        kernel.observe(&ack(Instant::ZERO + ms(1000), ms(50), 2));
        kernel.on_loss(100.0);
        kernel.grow(Instant::ZERO + ms(2000), 100.0, 1.0, ms(100));
        // 30 s beyond the plateau the curve would have 10 000 more: 101 * 1000 / (160 * 50) = 12, times 16/32. 8 segments a round trip of
        // 50 ms are 160 in a second.
        kernel.grow(Instant::ZERO + ms(32_000), 101.0, 1.0, ms(100));
        assert_eq!(kernel.cnt, 6);
    }
}
