//! CUBIC's growth in the arithmetic of Linux.
//!
//! Segments are whole and times are in jiffies. The window grows by one for `cnt` acknowledged segments.
//!
//! Facts are from descriptions of `tcp_cubic` and its behaviour. One point deviates. Linux takes the
//! cube root from a table with one improvement and a mean error of 0.2 %. Here it is exact and
//! rounded down.

use super::{Arithmetic, Cubic};
use crate::cc::Ack;
use crate::units::{Duration, Instant};

/// Time is counted in 1/1024 s.
const TIME_BITS: u32 = 10;
/// The scale of the decrease.
const BETA_SCALE: u64 = 1024;
/// Bits that are shifted out of `c` and a cubed time.
const CUBE_BITS: u32 = 10 + 3 * TIME_BITS;
/// Segments to acknowledge per segment of growth, where the curve does not grow.
const SLOWEST: u64 = 100;
/// Before the first loss, the window grows by a segment at least per this many acknowledged segments.
const UNKNOWN_MOST: u64 = 20;

/// The state of `struct bictcp` between two losses, and across them.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) hz: u64,
    /// 1024/10 of C: `bic_scale`, times 10.
    cube_rtt_scale: u64,
    /// The remaining part of the window, times 1024.
    beta: u64,
    /// Eight times the segments for which Reno with this decrease gains one, over the window.
    beta_scale: u64,
    fast_convergence: bool,
    pub(super) reno_friendly: bool,
    /// Jiffies count from then: from the first ACK, under Linux 2.6 from the first segment.
    pub(super) origin: Option<Instant>,
    /// 0 for none.
    last_max_cwnd: u64,
    pub(super) last_cwnd: u64,
    pub(super) last_time: u64,
    /// Start of the curve, or none before the first ACK after a cut.
    pub(super) epoch_start: Option<u64>,
    bic_origin_point: u64,
    pub(super) bic_k: u64,
    pub(super) cnt: u64,
    pub(super) ack_cnt: u64,
    tcp_cwnd: u64,
    pub(super) snd_cwnd_cnt: u64,
    /// State of Linux 2.6.22, if selected.
    pub(super) old: Option<Old>,
}

/// Additional state of Linux 2.6.22, whose arithmetic is in `linux_2_6`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Old {
    /// The smallest RTT in eighths of a jiffy, or 0 for none.
    pub(super) delay_min: u64,
    /// Segments per ACK, in sixteenths.
    pub(super) delayed_ack: u64,
    pub(super) has_lost: bool,
}

impl Kernel {
    pub(super) fn new(parameters: &Cubic) -> Self {
        let old = (parameters.arithmetic == Arithmetic::Linux26).then(Old::default);
        let beta = (BETA_SCALE as f64 * parameters.remaining).round().clamp(1.0, BETA_SCALE as f64 - 1.0) as u64;
        Kernel {
            hz: u64::from(parameters.hz),
            cube_rtt_scale: 10 * ((BETA_SCALE as f64 * parameters.c / 10.0).round() as u64).max(1),
            beta,
            beta_scale: (8 * (BETA_SCALE + beta) / 3 / (BETA_SCALE - beta)).max(1),
            fast_convergence: parameters.fast_convergence,
            reno_friendly: parameters.reno_friendly,
            origin: None,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch_start: None,
            bic_origin_point: 0,
            bic_k: 0,
            cnt: 0,
            ack_cnt: 0,
            tcp_cwnd: 0,
            snd_cwnd_cnt: 0,
            old,
        }
    }

    pub(super) fn jiffies(&mut self, now: Instant) -> u64 {
        let since = now.since(*self.origin.get_or_insert(now));
        self.in_jiffies(since)
    }

    fn in_jiffies(&self, time: Duration) -> u64 {
        (u128::from(time.as_nanos()) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// A segment is sent. The time since the last departure does not count if nothing else was in flight.
    pub(super) fn on_sent(&mut self, now: Instant, idle_for: Option<Duration>) {
        if self.old.is_some() {
            self.origin.get_or_insert(now);
        } else if let Some(idle_for) = idle_for {
            let pause = self.in_jiffies(idle_for);
            let jiffies = self.jiffies(now);
            self.epoch_start = self.epoch_start.map(|start| (start + pause).min(jiffies));
        }
    }

    /// The window after a cut.
    pub(super) fn cut(&self, cwnd: f64) -> f64 {
        (cwnd as u64 * self.beta / BETA_SCALE) as f64
    }

    /// A loss at this window.
    pub(super) fn on_loss(&mut self, cwnd: f64) {
        let cwnd = cwnd as u64;
        let converges = self.fast_convergence && cwnd < self.last_max_cwnd;
        self.epoch_start = None;
        self.snd_cwnd_cnt = 0;
        if let Some(old) = &mut self.old {
            old.has_lost = true;
        }
        self.last_max_cwnd = if converges { cwnd * (BETA_SCALE + self.beta) / (2 * BETA_SCALE) } else { cwnd };
    }

    /// A timeout: everything is forgotten.
    pub(super) fn on_timeout(&mut self) {
        self.epoch_start = None;
        (self.last_max_cwnd, self.last_cwnd, self.last_time) = (0, 0, 0);
        (self.bic_origin_point, self.bic_k, self.cnt, self.ack_cnt, self.tcp_cwnd) = (0, 0, 0, 0, 0);
        self.snd_cwnd_cnt = 0;
        if let Some(old) = &mut self.old {
            *old = Old::default();
        }
    }

    /// An ACK of any kind.
    #[inline]
    pub(super) fn observe(&mut self, ack: &Ack) {
        if self.old.is_some() {
            self.observe_2_6(ack);
        }
    }

    /// The window after an ACK that may grow it, with the smallest RTT so far.
    pub(super) fn grow(&mut self, now: Instant, cwnd: f64, acked: f64, delay_min: Duration) -> f64 {
        let (cwnd, acked) = ((cwnd as u64).max(1), acked as u64);
        if self.old.is_some() {
            return self.grow_2_6(now, cwnd);
        }
        self.update(now, cwnd, acked, delay_min);
        (cwnd + self.advance(acked)) as f64
    }

    /// A segment more for each `cnt` that are acknowledged: `tcp_cong_avoid_ai`.
    fn advance(&mut self, acked: u64) -> u64 {
        let mut more = 0;
        if self.snd_cwnd_cnt >= self.cnt {
            self.snd_cwnd_cnt = 0;
            more += 1;
        }
        self.snd_cwnd_cnt += acked;
        more += self.snd_cwnd_cnt / self.cnt;
        self.snd_cwnd_cnt %= self.cnt;
        more
    }

    /// `bictcp_update`.
    fn update(&mut self, now: Instant, cwnd: u64, acked: u64, delay_min: Duration) {
        let jiffies = self.jiffies(now);
        self.ack_cnt += acked;
        if self.cnt > 0 && self.last_cwnd == cwnd && jiffies - self.last_time <= self.hz / 32 {
            return;
        }
        // The curve is looked at once in a jiffy.
        if self.epoch_start.is_none() || jiffies != self.last_time {
            let t = self.look(jiffies, cwnd, acked, self.in_jiffies(delay_min));
            let cnt = self.on_curve(t, cwnd);
            self.cnt = if self.last_max_cwnd == 0 { cnt.min(UNKNOWN_MOST) } else { cnt };
        }
        if self.reno_friendly {
            self.keep_up_with_reno(cwnd);
        }
        self.cnt = self.cnt.max(2);
    }

    /// The time at which the curve is evaluated, `ahead` of now.
    pub(super) fn look(&mut self, jiffies: u64, cwnd: u64, acked: u64, ahead: u64) -> u64 {
        self.last_cwnd = cwnd;
        self.last_time = jiffies;
        let start = self.epoch_start.unwrap_or_else(|| self.begin_epoch(jiffies, cwnd, acked));
        ((jiffies - start + ahead) << TIME_BITS) / self.hz
    }

    fn begin_epoch(&mut self, jiffies: u64, cwnd: u64, acked: u64) -> u64 {
        self.epoch_start = Some(jiffies);
        self.ack_cnt = acked;
        self.tcp_cwnd = cwnd;
        (self.bic_k, self.bic_origin_point) = if self.last_max_cwnd <= cwnd {
            (0, cwnd)
        } else {
            let cube_factor = (1u128 << CUBE_BITS) / u128::from(self.cube_rtt_scale);
            (cube_root(cube_factor * u128::from(self.last_max_cwnd - cwnd)), self.last_max_cwnd)
        };
        jiffies
    }

    /// Segments to be acknowledged for one more, by the curve at the time `t`.
    pub(super) fn on_curve(&self, t: u64, cwnd: u64) -> u64 {
        let offset = u128::from(t.abs_diff(self.bic_k));
        let delta = (u128::from(self.cube_rtt_scale) * offset * offset * offset) >> CUBE_BITS;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX / 2);
        let target = if t < self.bic_k {
            self.bic_origin_point.saturating_sub(delta)
        } else {
            self.bic_origin_point.saturating_add(delta)
        };
        if target > cwnd { cwnd / (target - cwnd) } else { SLOWEST * cwnd }
    }

    pub(super) fn keep_up_with_reno(&mut self, cwnd: u64) {
        let for_one = ((cwnd * self.beta_scale) >> 3).max(1);
        let steps = self.ack_cnt.saturating_sub(1) / for_one;
        self.ack_cnt -= steps * for_one;
        self.tcp_cwnd += steps;
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }

    /// The plateau, Reno's window, and the time to the plateau in seconds.
    pub(super) fn reported(&self) -> Option<(f64, f64, f64)> {
        self.epoch_start?;
        let k = self.bic_k as f64 / f64::from(1u32 << TIME_BITS);
        Some((self.bic_origin_point as f64, self.tcp_cwnd as f64, k))
    }
}

/// The cube root, rounded down.
fn cube_root(value: u128) -> u64 {
    let mut root = libm::cbrt(value as f64) as u64;
    let cube = |root: u64| u128::from(root) * u128::from(root) * u128::from(root);
    while cube(root) > value {
        root -= 1;
    }
    while cube(root + 1) <= value {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Arithmetic, CcContext, CcParameters, CongestionControl};

    fn linux() -> Cubic {
        Cubic { arithmetic: Arithmetic::Linux, ..Cubic::default() }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_constants_are_those_of_the_kernel() {
        // 41/1024 for C of 0.4 over 10, 717/1024 for 0.7, and 15/8 of a window for one of Reno's segments.
        let kernel = Kernel::new(&linux());
        assert_eq!((kernel.cube_rtt_scale, kernel.beta, kernel.beta_scale, kernel.hz), (410, 717, 15, 1000));
        assert_eq!((kernel.cut(100.0), kernel.cut(10.0)), (70.0, 7.0));
    }

    #[test]
    fn cube_roots_are_rounded_down() {
        for (value, root) in
            [(0, 0), (7, 1), (8, 2), (26, 2), (27, 3), (999_999_999_999, 9999), (1_000_000_000_000, 10_000)]
        {
            assert_eq!(cube_root(value), root);
        }
    }

    #[test]
    fn the_curve_by_hand() {
        let mut kernel = Kernel::new(&linux());
        let start = Instant::ZERO + ms(5000);
        kernel.on_loss(100.0);
        assert_eq!(kernel.grow(start, 70.0, 1.0, ms(100)), 70.0);
        // 2^40 / 410 = 2 681 735 677, times 30: 4316^3 is the cube below.
        assert_eq!((kernel.bic_k, kernel.bic_origin_point), (4316, 100));
        // 100 jiffies ahead are 102/1024 s: 410 * 4214^3 / 2^40 = 27.9, and 73 is the target: 70 / 3.
        assert_eq!(kernel.cnt, 23);
        // 2 s later 2150/1024 s: 410 * 2166^3 / 2^40 = 3.8, and 97 is the target: 70 / 27 = 2.6, and 2 is the least.
        kernel.grow(start + ms(2000), 70.0, 1.0, ms(100));
        assert_eq!(kernel.cnt, 2);
        // At 99: 8000 + 100 jiffies, 8294/1024 s: 410 * 3978^3 / 2^40 = 23.5 beyond: 99 / 24.
        kernel.grow(start + ms(8000), 99.0, 1.0, ms(100));
        assert_eq!(kernel.cnt, 4);
    }

    #[test]
    fn the_curve_is_looked_at_once_in_a_jiffy_and_not_for_a_32nd_of_a_second_at_one_window() {
        let mut kernel = Kernel::new(&Cubic { reno_friendly: false, ..linux() });
        let start = Instant::ZERO + ms(5000);
        kernel.on_loss(100.0);
        kernel.grow(start, 70.0, 1.0, ms(100));
        let first = kernel.cnt;
        kernel.grow(start + ms(31), 70.0, 1.0, ms(3000));
        assert_eq!(kernel.cnt, first, "31 jiffies are 1/32 s");
        kernel.grow(start + ms(32), 70.0, 1.0, ms(3000));
        let second = kernel.cnt;
        assert!(second < first);
        kernel.grow(start + ms(32), 71.0, 1.0, ms(100));
        assert_eq!(kernel.cnt, second, "the same jiffy");
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_a_twentieth_or_more() {
        let mut kernel = Kernel::new(&linux());
        kernel.grow(Instant::ZERO, 100.0, 1.0, ms(1));
        assert_eq!(kernel.cnt, 20);
        kernel.on_loss(100.0);
        kernel.on_timeout();
        kernel.grow(Instant::ZERO + ms(1000), 100.0, 1.0, ms(1));
        assert_eq!((kernel.bic_k, kernel.cnt), (0, 20));
    }

    #[test]
    fn a_loss_and_a_timeout_forget_what_was_acknowledged_towards_the_next_segment() {
        let forgets: [fn(&mut Kernel); 2] = [|kernel| kernel.on_loss(4.0), Kernel::on_timeout];
        for forget in forgets {
            let mut kernel = Kernel::new(&linux());
            kernel.on_loss(6.0);
            assert_eq!(kernel.grow(Instant::ZERO + ms(1000), 4.0, 1.0, ms(30)), 4.0);
            assert_eq!(kernel.snd_cwnd_cnt, 1);
            forget(&mut kernel);
            assert_eq!(kernel.snd_cwnd_cnt, 0);
        }
    }

    #[test]
    fn fast_convergence_in_whole_numbers() {
        let mut kernel = Kernel::new(&linux());
        kernel.on_loss(100.0);
        kernel.on_loss(90.0);
        // 90 * 1741 / 2048 = 76.5.
        assert_eq!(kernel.last_max_cwnd, 76);
    }

    #[test]
    fn idle_times_do_not_count() {
        let mut kernel = Kernel::new(&linux());
        let start = Instant::ZERO + ms(5000);
        kernel.on_loss(100.0);
        kernel.grow(start, 70.0, 1.0, ms(100));
        kernel.on_sent(start + ms(10_000), Some(ms(10_000)));
        assert_eq!(kernel.epoch_start, Some(10_000));
    }

    /// The time from a cut to one segment above the old window, by the equation and by the kernel. A full buffer
    /// overflows there. The kernel rounds the curve up, and the segments to wait for down. At 20 ms a cycle of a
    /// running kernel is also 7 to 11 % shorter.
    #[test]
    fn cycles_are_shorter_than_those_of_the_equation() {
        let cycle = |arithmetic, hz, rtt: Duration| {
            let parameters = Cubic { arithmetic, hz, reno_friendly: false, ..Cubic::default() };
            let mut cc = parameters.controller(CcContext { initial_ssthresh: 1.0, ..CcContext::new(300.0) });
            let start = Instant::ZERO + ms(1000);
            let mut now = start;
            let path = crate::cc::PathView { srtt: rtt, latest_rtt: rtt, min_rtt: rtt, ..Default::default() };
            let restart = crate::cc::Restart::Reduced;
            let kind = crate::cc::CongestionKind::Loss;
            cc.on_congestion(&crate::cc::Congestion { now, kind, restart, flight_size: 300, path });
            assert_eq!(cc.cwnd(), 210.0);
            while cc.cwnd() < 301.0 {
                now += Duration::from_nanos(rtt.as_nanos() / cc.cwnd() as u64);
                cc.on_ack(&crate::cc::Ack { now, path, ..crate::cc::Ack::of(1.0) });
            }
            now.since(start).as_secs_f64()
        };
        for (rtt, least, most) in [(ms(20), 0.89, 0.93), (ms(100), 0.97, 1.0)] {
            let exact = cycle(Arithmetic::Exact, 1000, rtt);
            let parts = [1000, 250].map(|hz| cycle(Arithmetic::Linux, hz, rtt) / exact);
            assert!(parts.iter().all(|part| (least..most).contains(part)), "{rtt}: {exact} s, {parts:?} of it");
        }
    }
}
