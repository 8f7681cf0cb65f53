//! # Copa: a target rate from the queueing delay
//!
//! `cc = "copa"`
//!
//! Copa sends at a rate that is inversely proportional to its queueing delay. Flows converge to equal
//! rates, and the queue empties every few round trips. A queue that never empties shows a buffer-filling
//! competitor. Copa then competes by AIMD on 1/δ.
//!
//! ## Reference
//!
//! V. Arun and H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI
//! 2018.
//!
//! ## Equations
//!
//! Here w is the window, λ the rate and v the velocity.
//!
//! | section | quantity or event | equation |
//! |---|---|---|
//! | 2.1 | RTTstanding | smallest RTT of the last srtt/2 |
//! | 2.1 | RTTmin | smallest RTT of the last 10 s |
//! | 2.1 | queueing delay | `d = RTTstanding - RTTmin` |
//! | 2.1 | target rate | `1 / (δ d)` |
//! | 2.1 | rate | `λ = w / RTTstanding` |
//! | 2.1 | delivered segment, λ at most the target | `w <- w + v / (δ w)` |
//! | 2.1 | delivered segment, λ above the target | `w <- w - v / (δ w)`, at least 2 |
//! | 2.1 | slow start | w doubles in a round trip until λ exceeds the target |
//! | 2.1 | pacing rate | `2 w / RTTstanding` |
//! | 2.2 | nearly empty queue | `d <= (RTTmax - RTTmin) / 10`, where RTTmax is the largest RTT of the last four round trips |
//! | 2.2 | default mode, loss | no change |
//! | 2.2 | competitive mode, round trip without a loss | `1/δ <- 1/δ + 1` |
//! | 2.2 | competitive mode, loss | `1/δ <- 1/(2δ)`, where δ is at most 0.5 or `delta`, whichever is larger |
//!
//! ## Equilibrium
//!
//! A change of the window shows in the RTT one round trip later. RTTstanding shows a longer queue half a
//! round trip later still. The queue of a flow alone is therefore a triangle over five round trips
//! (section 3). It has 0 to 2.5/δ packets, and 1.25/δ on average. n flows have n times as many.
//!
//! ## Velocity
//!
//! Once in a round trip, the window is compared with the window a round trip before. Another direction
//! resets v to 1. After three round trips in one direction, v doubles every `doubling` round trips. v/δ is
//! at most the window.
//!
//! ## States
//!
//! ```text
//!   default mode, δ = delta  ── five round trips without a nearly empty queue ──▶  competitive mode,
//!                            ◀──────────── a nearly empty queue ────────────────   AIMD on 1/δ
//! ```
//!
//! ## Parameters
//!
//! ## Constants
//!
//! δ is 0.5 in the paper's default mode, and the velocity doubles in each round trip. The thresholds of the
//! mode, the memory of RTTmin and the pacing rate are the paper's.
//!
//! ## Limits
//!
//! The effect of a window shows after 1 to 1.5 round trips. A velocity that doubles in each round trip
//! overshoots by more than the distance that it covered. Small distances need no velocity, so the queue is
//! usually steady. Some paths oscillate for good: at 10 Mbit/s and 31 ms, a flow alone uses 54 % of the
//! link. With `doubling = 2` it uses 99 %.
//!
//! λ compares the present window with the RTT of an earlier window. With 1/δ above about half of the BDP,
//! the window turns before the queue is empty. The competitive mode raises 1/δ until a loss. Alone behind a
//! deep buffer, a flow with a small BDP can therefore enter this mode, and remain there. The table shows the
//! mean queueing delay of a flow alone. The BDP of 10 Mbit/s and 40 ms is 33 packets. Give such a flow
//! `competitive = false`.
//!
//! | buffer | default parameters | `competitive = false` |
//! |---|---|---|
//! | 33 packets | 5.2 ms | 3.2 ms |
//! | 66 packets | 23 ms | 3.2 ms |
//! | 133 packets | 42 ms | 3.2 ms |
//! | 1000 packets | 371 ms | 3.2 ms |
//!
//! ## Deviations
//!
//! - A delay of exactly a tenth also counts as a nearly empty queue. Otherwise a path without any queue
//!   would lead to the competitive mode.
//! - The bound of v, the steps of the AIMD and the least window come from the authors' code, genericCC.
//! - With a `delta` below 0.5, losses in the competitive mode raise δ to 0.5. The paper has no such default.
//! - A mark halves the window, as RFC 3168 requires. The paper does not mention marks.
//! - A timeout leaves the transport's least window, and slow start follows.
//! - The window has fractions under each profile. A step is at most one segment per delivered segment.
//! - A window that the flow does not use does not grow.
//! - The filter of RTTmin keeps three values, as BBR's.
//!
//! ## Validation
//!
//! Linux has no Copa. Tests compare the formulas with hand-computed values. Packet tests compare the queue
//! of a flow alone with the triangle of section 3. They cover 1/δ of 2, 4 and 10. The six paths have 10 to
//! 100 Mbit/s and 20 to 100 ms. Mean and peak are within 20 % and one packet in the default mode.
//!
//! | quantity | paper, section 3 | measured, 100 Mbit/s and 100 ms |
//! |---|---|---|
//! | mean queue, 1/δ = 2 | 2.5 packets | 3.0 packets |
//! | mean queue, 1/δ = 4 | 5 packets | 5.5 packets |
//! | mean queue, 1/δ = 10 | 12.5 packets | 12.9 packets |
//! | peak, 1/δ = 10 | 25 packets | 25 packets |
//!
//! `cargo test -p ackclock --test integration -- delay_based` runs several flows. At 10 Mbit/s and 40
//! ms, a second flow that starts 10 s later gets 50 % of the goodput. A flow that competes with Reno
//! behind a buffer of one BDP gets 51 %. It gets 42 % behind two BDPs. Without the competitive mode, it
//! gets 11 and 7 %. After the end of Reno, it spends 12 and 28 % of the time in the competitive mode.

use std::cmp::Ordering;
use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::max_filter::MaxFilter;
use super::round_trip::{RoundTrip, sample_us};
use super::window::Window;
use super::{
    Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Departures, Recovery,
    SlowStart,
};
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

/// The time for which the smallest RTT counts (section 2.1).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips for which the largest RTT counts (section 2.2).
const MAX_RTT_TRIPS: usize = 4;
/// Round trips without a nearly empty queue that show a buffer-filling flow (section 2.2).
const COMPETITION: u32 = 5;
/// Part of the RTT's range below which the queue is nearly empty (section 2.2).
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips for which the direction remains the same before the velocity doubles (section 2.1).
const STEADY: u32 = 3;
/// The longest time between two doublings of the velocity, in round trips.
const LONGEST_DOUBLING: u32 = 100;
/// The pacing rate, in windows per RTTstanding (section 2.1).
const PACING_GAIN: f64 = 2.0;
/// The least window of congestion avoidance.
const LEAST: f64 = 2.0;
/// The largest δ of the competitive mode, unless `delta` is larger (section 2.2).
const MOST_COMPETITIVE: f64 = 0.5;
/// Bounds of δ.
const DELTAS: std::ops::RangeInclusive<f64> = 0.001..=10.0;

/// Copa (Arun & Balakrishnan 2018): a rate from the delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Copa {
    /// The paper's δ in the default mode: a flow aims at 1/δ packets in the queue. At least 0.001 and at most 10.
    pub delta: f64,
    /// Whether a buffer-filling competitor leads to the competitive mode. Without it, the flow always keeps `delta`.
    pub competitive: bool,
    /// Round trips between two doublings of the velocity, at least 1 and at most 100.
    pub doubling: u32,
}

impl Default for Copa {
    fn default() -> Self {
        // Section 2.2 gives δ of the default mode.
        Copa { delta: 0.5, competitive: true, doubling: 1 }
    }
}

impl CcParameters for Copa {
    type Controller = CopaController;
    const REFERENCE: &'static str =
        "Arun & Balakrishnan 2018, Copa: Practical Delay-Based Congestion Control for the Internet";

    fn check(&self) -> Result<(), CcMistake> {
        let is_delta = DELTAS.contains(&self.delta);
        require("delta", self.delta, is_delta, "at least 0.001 and at most 10")?;
        let is_doubling = (1..=LONGEST_DOUBLING).contains(&self.doubling);
        Ok(require("doubling", f64::from(self.doubling), is_doubling, "at least 1 and at most 100")?)
    }

    fn controller(&self, context: CcContext) -> CopaController {
        CopaController {
            parameters: self.clone(),
            window: Window::new(CcContext { slow_start: SlowStart::Standard, whole_window: false, ..context }),
            packet_bytes: context.packet_bytes,
            delays: Delays::default(),
            trip: RoundTrip::default(),
            full_trips: 0,
            was_empty: false,
            has_lost: false,
            delta: self.delta,
            velocity: Velocity::default(),
        }
    }
}

/// The velocity parameter v, which speeds up convergence.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    /// The window at the start of the round trip.
    cwnd: f64,
    direction: Ordering,
    /// Round trips for which the direction has remained the same.
    steady: u32,
}

impl Default for Velocity {
    fn default() -> Self {
        Velocity { value: 1.0, cwnd: 0.0, direction: Ordering::Equal, steady: 0 }
    }
}

impl Velocity {
    fn at(cwnd: f64) -> Self {
        Velocity { cwnd, ..Velocity::default() }
    }

    /// A round trip ends at this window.
    fn end_round(&mut self, cwnd: f64, Copa { doubling, .. }: &Copa, delta: f64) {
        // Section 2.1, step 4: the window when the latest acknowledged packet was sent gives the direction.
        let direction = cwnd.total_cmp(&self.cwnd);
        self.cwnd = cwnd;
        if direction != self.direction || direction == Ordering::Equal {
            (self.value, self.direction, self.steady) = (1.0, direction, 0);
            return;
        }
        self.steady = self.steady.saturating_add(1);
        let is_due = self.steady >= STEADY && (self.steady - STEADY).is_multiple_of(*doubling);
        // A change of v/δ per round trip is at most the window.
        if is_due && self.value < delta * cwnd {
            self.value *= 2.0;
        }
    }
}

/// The exact minimum of recent samples.
#[derive(Clone, Debug, Default)]
struct RecentMin {
    /// Samples with their times, each smaller than all later ones.
    samples: VecDeque<(Instant, f64)>,
}

impl RecentMin {
    /// Adds a sample. Returns the smallest of the last `window`.
    fn update(&mut self, window: Duration, now: Instant, value: f64) -> f64 {
        while self.samples.back().is_some_and(|(_, last)| *last >= value) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > window) {
            self.samples.pop_front();
        }
        self.samples.front().map_or(value, |(_, least)| *least)
    }
}

/// RTTstanding, RTTmin and RTTmax, in microseconds.
#[derive(Clone, Debug, Default)]
struct Delays {
    /// The first sample.
    started_at: Option<Instant>,
    recent: RecentMin,
    standing: f64,
    /// A filter of negative RTTs.
    min: MaxFilter,
    /// The largest RTT of each of the last round trips, the current one last.
    largest: [f64; MAX_RTT_TRIPS],
}

impl Delays {
    fn measure(&mut self, ack: &Ack, rtt: f64) {
        let start = *self.started_at.get_or_insert(ack.now);
        let now = ack.now.since(start).as_nanos();
        if now == 0 {
            self.min.reset(now, -rtt);
        }
        self.min.update(MIN_RTT_WINDOW.as_nanos(), now, -rtt);
        self.standing = self.recent.update(ack.path.srtt / 2, ack.now, rtt);
        let current = &mut self.largest[MAX_RTT_TRIPS - 1];
        *current = current.max(rtt);
    }

    fn end_round(&mut self) {
        self.largest.rotate_left(1);
        self.largest[MAX_RTT_TRIPS - 1] = 0.0;
    }

    fn has_samples(&self) -> bool {
        self.started_at.is_some()
    }

    /// Section 2.1: RTTstanding minus RTTmin.
    fn queueing(&self) -> f64 {
        self.standing + self.min.get()
    }

    fn is_nearly_empty(&self) -> bool {
        // Section 2.2: a tenth of RTTmax minus RTTmin. A path without a queue has neither.
        let largest = self.largest.iter().copied().fold(0.0, f64::max);
        self.queueing() <= NEARLY_EMPTY * (largest + self.min.get())
    }
}

/// Copa with its state.
#[derive(Clone, Debug)]
pub struct CopaController {
    parameters: Copa,
    window: Window,
    packet_bytes: u32,
    delays: Delays,
    trip: RoundTrip,
    /// Round trips since the queue was nearly empty.
    full_trips: u32,
    /// The queue was nearly empty in this round trip.
    was_empty: bool,
    /// A loss came in this round trip.
    has_lost: bool,
    delta: f64,
    velocity: Velocity,
}

impl CopaController {
    fn is_competitive(&self) -> bool {
        self.parameters.competitive && self.full_trips >= COMPETITION
    }

    fn end_round(&mut self, ack: &Ack) {
        self.trip.begin(ack.path.in_flight);
        self.delays.end_round();
        self.full_trips = if self.was_empty { 0 } else { self.full_trips.saturating_add(1) };
        // Section 2.2: AIMD on 1/δ, and the default δ in the default mode.
        if !self.is_competitive() {
            self.delta = self.parameters.delta;
        } else if !self.has_lost {
            self.delta = (1.0 / (1.0 / self.delta + 1.0)).max(*DELTAS.start());
        }
        (self.was_empty, self.has_lost) = (false, false);
        self.velocity.end_round(self.window.cwnd(), &self.parameters, self.delta);
    }

    /// Whether the rate is at most the target rate: `w / RTTstanding <= 1 / (δ d_q)`.
    fn is_slow(&self) -> bool {
        self.window.cwnd() * self.delta * self.delays.queueing() <= self.delays.standing
    }

    fn step(&mut self, ack: &Ack) {
        let (cwnd, is_slow) = (self.window.cwnd(), self.is_slow());
        if self.window.in_slow_start() {
            // Section 2.1: slow start ends when the rate exceeds the target rate.
            if is_slow {
                if Window::grows_by(ack) {
                    self.window.slow_start(ack);
                }
                return;
            }
            self.window.exit_slow_start();
            self.velocity = Velocity::at(cwnd);
        }
        // Section 2.1, step 3: a change of v / (δ cwnd) per packet, so of v/δ per round trip.
        let segments = f64::from(ack.newly_delivered);
        let change = segments * (self.velocity.value / (self.delta * cwnd)).min(1.0);
        if !is_slow {
            self.window.avoid((cwnd - change).max(LEAST.min(cwnd)));
            self.window.keep_avoiding();
        } else if ack.cwnd_limited {
            self.window.avoid(cwnd + change);
        }
    }
}

impl CongestionControl for CopaController {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let packets = PACING_GAIN * self.window.cwnd() * 1e6 / self.delays.standing;
        packets.is_finite().then(|| Rate::from_bps((packets * f64::from(self.packet_bytes) * 8.0) as u64)).flatten()
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = sample_us(ack) {
            self.delays.measure(ack, rtt);
            self.was_empty |= self.delays.is_nearly_empty();
        }
        if self.delays.has_samples() && ack.newly_delivered > 0 {
            self.step(ack);
        }
        if self.trip.advance(ack) {
            self.end_round(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if !std::mem::replace(&mut self.has_lost, true) && self.is_competitive() {
            self.delta = (2.0 * self.delta).min(self.parameters.delta.max(MOST_COMPETITIVE));
        }
        let halves = congestion.kind != CongestionKind::Loss;
        self.window.cut(congestion, |window| if halves { window / 2.0 } else { window });
        if halves {
            self.velocity = Velocity::at(self.window.cwnd());
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.window.leave_recovery(recovery);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.window.undo(recovery);
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }

    fn on_limit(&mut self, segments: f64) {
        self.window.limit(segments);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("delta", self.delta);
        report("velocity", self.velocity.value);
        report("queueing_delay_us", if self.delays.has_samples() { self.delays.queueing() } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CcSpec;
    use crate::cc::avoidance::testing::{congestion, real};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{MSS, Path, mbit, ms};

    fn at(millis: u64, rtt_ms: f64, in_flight: u32) -> Ack {
        Ack { now: Instant::ZERO + ms(millis), ..ack(rtt_ms, in_flight) }
    }

    fn unused(ack: Ack) -> Ack {
        Ack { cwnd_limited: false, ..ack }
    }

    #[test]
    fn the_window_follows_the_target_rate() {
        // 10 ms of delay: the target is 200 segments per second, which are 22 in 110 ms.
        for (window, change) in [(20.0, 0.1), (22.0, 1.0 / 11.0), (24.0, -1.0 / 12.0)] {
            let mut cc = Copa::default().controller(real(window));
            cc.on_ack(&unused(at(0, 100.0, 100)));
            cc.on_ack(&at(1000, 110.0, 100));
            assert!((cc.cwnd() - window - change).abs() < 1e-9, "{window}: {}", cc.cwnd());
        }
        // A segment for each of two segments at most, and a window of two at least.
        let mut fast = Copa { delta: 0.01, ..Copa::default() }.controller(real(5.0));
        fast.on_ack(&unused(at(0, 100.0, 100)));
        fast.on_ack(&Ack { newly_delivered: 2, ..at(1000, 100.0, 100) });
        assert_eq!(fast.cwnd(), 7.0);
        let mut small = Copa::default().controller(real(2.5));
        small.on_ack(&unused(at(0, 1.0, 100)));
        small.on_ack(&at(1000, 1000.0, 100));
        assert_eq!(small.cwnd(), 2.0);
    }

    #[test]
    fn the_pacing_rate_is_two_windows_per_standing_rtt() {
        let mut cc = Copa::default().controller(real(20.0));
        assert_eq!(cc.pacing_rate(), None);
        cc.on_ack(&unused(at(0, 100.0, 100)));
        // 400 packets of 1500 bytes per second.
        assert_eq!(cc.pacing_rate(), Rate::from_bps(4_800_000));
    }

    #[test]
    fn the_standing_rtt_is_the_smallest_of_half_a_round_trip() {
        let mut recent = RecentMin::default();
        let mut after = |millis, value| recent.update(ms(50), Instant::ZERO + ms(millis), value);
        assert_eq!([after(0, 100.0), after(20, 120.0), after(30, 110.0), after(50, 130.0)], [100.0; 4]);
        // Of 120 and 110 only 110 remains.
        assert_eq!([after(51, 140.0), after(80, 150.0), after(81, 160.0)], [110.0, 110.0, 130.0]);
    }

    #[test]
    fn the_velocity_doubles_after_three_round_trips_in_a_direction() {
        let values = |doubling: u32, windows: &[f64]| {
            let mut velocity = Velocity::at(windows[0]);
            let copa = Copa { doubling, ..Copa::default() };
            let after = |cwnd: &f64| {
                velocity.end_round(*cwnd, &copa, 0.5);
                velocity.value
            };
            windows[1..].iter().map(after).collect::<Vec<_>>()
        };
        let rising = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0];
        assert_eq!(values(2, &rising), [1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]);
        // 8 / 0.5 is the window of 16.
        assert_eq!(values(1, &rising), [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(values(1, &[16.0, 15.0, 14.0, 13.0, 12.0, 13.0, 12.0, 12.0]), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn slow_start_ends_at_the_target_rate() {
        let mut cc = Copa::default().controller(CcContext::new(20.0));
        cc.on_ack(&at(0, 100.0, 100));
        cc.on_ack(&at(1000, 110.0, 100));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (22.0, f64::INFINITY));
        // 20 ms of delay: the target is 100 segments per second, or 12 in 120 ms.
        cc.on_ack(&at(1200, 120.0, 100));
        assert!(cc.ssthresh() < 22.0 && cc.cwnd() == cc.ssthresh());
    }

    #[test]
    fn a_queue_that_never_empties_leads_to_the_competitive_mode() {
        let mut cc = Copa::default().controller(real(20.0));
        cc.on_ack(&at(0, 100.0, 0));
        let inverse: Vec<_> = (1..=8)
            .map(|number| {
                cc.on_ack(&at(200 * number, 150.0, 0));
                (1.0 / cc.delta).round()
            })
            .collect();
        assert_eq!(inverse, [2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        cc.on_congestion(&congestion(CongestionKind::Loss));
        assert!((1.0 / cc.delta - 3.0).abs() < 1e-9, "{}", 1.0 / cc.delta);
        // A second loss in the round trip counts no more, and the round trip does not raise 1/δ.
        cc.on_congestion(&congestion(CongestionKind::Loss));
        cc.on_ack(&at(1800, 150.0, 0));
        assert!((1.0 / cc.delta - 3.0).abs() < 1e-9, "{}", 1.0 / cc.delta);
        // 4.9 of 50 ms.
        cc.on_ack(&at(2000, 104.9, 0));
        assert_eq!(cc.delta, 0.5);
        let mut fixed = Copa { competitive: false, ..Copa::default() }.controller(real(20.0));
        (0..9).for_each(|number| fixed.on_ack(&at(200 * number, 100.0 + number as f64, 0)));
        assert_eq!(fixed.delta, 0.5);
    }

    #[test]
    fn losses_in_the_competitive_mode_raise_a_delta_to_the_largest_one() {
        let after_losses = |delta| {
            let mut cc = Copa { delta, ..Copa::default() }.controller(real(20.0));
            cc.on_ack(&at(0, 100.0, 0));
            for number in 1..=10 {
                cc.on_ack(&at(200 * number, 150.0, 0));
                cc.on_congestion(&congestion(CongestionKind::Loss));
            }
            cc.delta
        };
        assert_eq!([0.1, 0.5, 2.0].map(after_losses), [0.5, 0.5, 2.0]);
    }

    #[test]
    fn a_loss_changes_no_window_and_a_timeout_leaves_a_segment() {
        let mut cc = Copa::default().controller(real(20.0));
        cc.on_congestion(&congestion(CongestionKind::Loss));
        assert_eq!((cc.cwnd(), cc.delta), (20.0, 0.5));
        cc.on_congestion(&congestion(CongestionKind::Ecn));
        assert_eq!(cc.cwnd(), 10.0);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1.0, 5.0));
    }

    /// The smallest, mean and largest queue of a flow alone over 15 s, and its utilisation of the link. The packet in
    /// transmission does not count.
    fn queue_alone(copa: Copa, (rate, delay): (f64, u64)) -> (f64, f64, f64, f64) {
        let mut path = Path::with(CcSpec::Copa(copa), mbit(rate), ms(delay), 100_000, |transport| transport);
        path.run_for(ms(20_000));
        let (mut sum, mut least, mut most, count) = (0, usize::MAX, 0, 30_000);
        for _ in 0..count {
            path.run_for(Duration::from_micros(500));
            let queue = path.backlog().saturating_sub(1);
            (sum, least, most) = (sum + queue, least.min(queue), most.max(queue));
        }
        let utilisation = path.goodput_over(ms(5_000)) / (rate * 1e6) * 1500.0 / MSS as f64;
        (least as f64, sum as f64 / f64::from(count), most as f64, utilisation)
    }

    const PATHS: [(f64, u64); 6] = [(10.0, 40), (10.0, 100), (50.0, 20), (50.0, 60), (100.0, 30), (100.0, 100)];

    /// Section 3: the queue is a triangle of 0 to 2.5/δ packets. Its mean is 1.25/δ. Packets are whole, so a packet is
    /// allowed in addition to 20 %.
    #[test]
    fn the_queue_of_a_flow_alone_is_a_triangle() {
        for path in PATHS {
            for inverse in [2.0, 4.0, 10.0] {
                let copa = Copa { delta: 1.0 / inverse, competitive: false, ..Copa::default() };
                let (least, mean, most, utilisation) = queue_alone(copa, path);
                let is_near = |value: f64, expected: f64| (value - expected).abs() <= 0.2 * expected + 1.0;
                let is_triangle = is_near(mean, 1.25 * inverse) && is_near(most, 2.5 * inverse);
                let is_emptied = least <= 0.2 * inverse + 1.0;
                assert!(is_triangle && is_emptied, "{path:?} {inverse}: {least}, {mean}, {most}");
                assert!(utilisation > 0.99, "{path:?} {inverse}: {utilisation}");
            }
        }
    }

    /// On this path, a velocity that doubles in each round trip oscillates for good.
    #[test]
    fn a_velocity_that_doubles_every_second_round_trip_does_not_oscillate() {
        let utilisation = |doubling| {
            let copa = Copa { doubling, competitive: false, ..Copa::default() };
            queue_alone(copa, (10.0, 31)).3
        };
        let (paper, slower) = (utilisation(1), utilisation(2));
        assert!(paper < 0.6 && slower > 0.99, "{paper}, {slower}");
    }

    /// The competitive mode does not disturb a flow alone whose BDP is many packets.
    #[test]
    fn a_flow_alone_keeps_the_default_mode() {
        for path in [(10.0, 100), (50.0, 20), (50.0, 67), (100.0, 100)] {
            let (_, mean, _, utilisation) = queue_alone(Copa::default(), path);
            assert!((1.0..4.0).contains(&mean) && utilisation > 0.99, "{path:?}: {mean}, {utilisation}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        for (wrong, key) in
            [(Copa { delta: 0.0, ..Copa::default() }, "delta"), (Copa { doubling: 0, ..Copa::default() }, "doubling")]
        {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
