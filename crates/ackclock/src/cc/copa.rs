//! # Copa: a target rate from the queueing delay
//!
//! `cc = "copa"`
//!
//! Copa sends at a rate that is inversely proportional to its queueing delay. Flows converge to equal
//! rates, and the queue empties regularly. A queue that never empties shows competing loss-based
//! flows. Copa then behaves like AIMD.
//!
//! ## Reference
//!
//! V. Arun and H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI
//! 2018.
//!
//! ## Equations
//!
//! | section | quantity | equation |
//! |---|---|---|
//! | 2.1 | RTTstanding | smallest RTT of the last srtt/2 |
//! | 2.1 | RTTmin | smallest RTT of the last 10 s |
//! | 2.1 | queueing delay | `d = RTTstanding - RTTmin` |
//! | 2.1 | target rate | `1 / (δ d)` |
//! | 2.1 | rate | `w / RTTstanding` |
//! | 2.1 | ACK, rate at most the target | `w <- w + v / (δ w)` |
//! | 2.1 | ACK, rate above the target | `w <- w - v / (δ w)` |
//! | 2.1 | slow start | w doubles in a round trip until the rate exceeds the target |
//! | 2.1 | pacing rate | `2 w / RTTstanding` |
//! | 2.2 | the queue is nearly empty | `d <= (RTTmax - RTTmin) / 10`, where RTTmax is the largest RTT of the last four round trips |
//! | 2.2 | competitive mode, round trip without a loss | `1/δ <- 1/δ + 1` |
//! | 2.2 | competitive mode, loss | `1/δ <- 1/(2δ)`, at least the default |
//!
//! In equilibrium n flows share a link of C packets per second. Each has the rate `1 / (δ d)`, and d is
//! `n / (δ C)`.
//!
//! ## Velocity
//!
//! The velocity v changes once per round trip. It doubles while the window moves in one direction, from
//! the third such round trip on. Another direction resets it to 1.
//!
//! ## States
//!
//! | mode | begins with | δ |
//! |---|---|---|
//! | default | a queue that was nearly empty in the last five round trips | `delta` |
//! | competitive | no nearly empty queue in five round trips | AIMD, at most `delta` |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! δ is 0.5 in the paper. A flow alone then has about two packets in the queue.
//!
//! ## Deviations
//!
//! - A loss does not change the window, as in the paper. A timeout leaves one segment.
//! - A mark halves the window, as RFC 3168 requires. The paper does not mention marks.
//! - The window has fractions under each profile.
//! - The filters of the smallest and largest RTT keep three values each, as BBR's.
//! - A step is at most half of the window. A window that the flow does not use does not grow.
//!
//! ## Validation
//!
//! Linux has no Copa. Tests compare the formulas with hand-computed values. In packets, a flow alone
//! loses none. It has 1/(2δ) to 2/δ packets in the queue on average, and uses 95 % of the link or more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::max_filter::MaxFilter;
use super::round_trip::{RoundTrip, sample_us};
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Recovery};
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

/// The time for which the smallest RTT counts.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips for which the largest RTT counts.
const MAX_RTT_TRIPS: u64 = 4;
/// Round trips without a nearly empty queue that show competing flows.
const COMPETITION: u32 = 5;
/// Part of the largest queueing delay below which the queue is nearly empty.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips in one direction from which the velocity doubles.
const STEADY: u32 = 3;
/// The largest velocity, far beyond any path.
const FASTEST: f64 = 65_536.0;
/// The pacing rate, in windows per RTT.
const PACING_GAIN: f64 = 2.0;
/// The least window of congestion avoidance.
const LEAST: f64 = 2.0;
/// Bounds of δ in a scenario.
const DELTAS: std::ops::RangeInclusive<f64> = 0.001..=10.0;

/// Copa: rate in inverse proportion to the queueing delay. Arun & Balakrishnan 2018.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Copa {
    /// The paper's default δ: the inverse of a flow's packets in the queue, at least 0.001 and at most 10.
    pub delta: f64,
    /// Whether the flow competes with loss-based flows by a smaller δ. Without it, it always keeps `delta`.
    pub competitive: bool,
}

impl Default for Copa {
    fn default() -> Self {
        // Arun & Balakrishnan, section 2.
        Copa { delta: 0.5, competitive: true }
    }
}

impl CcParameters for Copa {
    type Controller = CopaController;
    const REFERENCE: &'static str =
        "Arun & Balakrishnan 2018, Copa: Practical Delay-Based Congestion Control for the Internet";

    fn check(&self) -> Result<(), CcMistake> {
        let is_delta = DELTAS.contains(&self.delta);
        Ok(require("delta", self.delta, is_delta, "at least 0.001 and at most 10")?)
    }

    fn controller(&self, context: CcContext) -> CopaController {
        let slow_start = context.slow_start.of_a_rule();
        CopaController {
            parameters: self.clone(),
            window: Window::new(CcContext { slow_start, whole_window: false, ..context }),
            packet_bytes: context.packet_bytes,
            standing: 0.0,
            min: MaxFilter::default(),
            latest: MaxFilter::default(),
            max: MaxFilter::default(),
            started_at: None,
            trip: RoundTrip::default(),
            trips: 0,
            full_trips: 0,
            was_empty: false,
            has_lost: false,
            delta: self.delta,
            velocity: Velocity::default(),
        }
    }
}

/// The velocity, and the movement of the window.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    /// The window at the begin of the round trip.
    cwnd: f64,
    rises: bool,
    /// Round trips in this direction.
    steady: u32,
}

impl Default for Velocity {
    fn default() -> Self {
        Velocity { value: 1.0, cwnd: 0.0, rises: true, steady: 0 }
    }
}

impl Velocity {
    /// A round trip ends at this window.
    fn end_round(&mut self, cwnd: f64) {
        let rises = cwnd > self.cwnd;
        if rises == self.rises {
            self.steady = self.steady.saturating_add(1);
        } else {
            (self.value, self.steady) = (1.0, 0);
        }
        if self.steady >= STEADY {
            self.value = (2.0 * self.value).min(FASTEST);
        }
        (self.cwnd, self.rises) = (cwnd, rises);
    }
}

/// Copa with its state. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct CopaController {
    parameters: Copa,
    window: Window,
    packet_bytes: u32,
    /// RTTstanding, or 0 before the first sample.
    standing: f64,
    /// Filters of the largest value, which hold negative RTTs for the smallest RTT.
    min: MaxFilter,
    latest: MaxFilter,
    max: MaxFilter,
    /// The first sample.
    started_at: Option<Instant>,
    trip: RoundTrip,
    trips: u64,
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
    fn queueing(&self) -> f64 {
        self.standing + self.min.get()
    }

    fn measure(&mut self, ack: &Ack, rtt: f64) {
        let is_first = self.started_at.is_none();
        let now = ack.now.since(*self.started_at.get_or_insert(ack.now)).as_nanos();
        if is_first {
            self.min.reset(now, -rtt);
            self.latest.reset(now, -rtt);
            self.max.reset(self.trips, rtt);
        }
        self.min.update(MIN_RTT_WINDOW.as_nanos(), now, -rtt);
        self.standing = -self.latest.update(ack.path.srtt.as_nanos() / 2, now, -rtt);
        self.max.update(MAX_RTT_TRIPS, self.trips, rtt);
        self.was_empty |= self.queueing() <= NEARLY_EMPTY * (self.max.get() + self.min.get());
    }

    fn end_round(&mut self, ack: &Ack) {
        self.trip.begin(ack.path.in_flight);
        self.trips += 1;
        self.full_trips = if self.was_empty { 0 } else { self.full_trips.saturating_add(1) };
        if !self.parameters.competitive || self.full_trips < COMPETITION {
            self.delta = self.parameters.delta;
        } else if !self.has_lost {
            self.delta = (1.0 / (1.0 / self.delta + 1.0)).max(*DELTAS.start());
        }
        (self.was_empty, self.has_lost) = (false, false);
        self.velocity.end_round(self.window.cwnd());
    }

    /// Whether the rate is at most the target rate.
    fn is_slow(&self) -> bool {
        self.window.cwnd() * self.delta * self.queueing() <= self.standing
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
        let packets = PACING_GAIN * self.window.cwnd() * 1e6 / self.standing;
        packets.is_finite().then(|| Rate::from_bps((packets * f64::from(self.packet_bytes) * 8.0) as u64)).flatten()
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn needs_on_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = sample_us(ack) {
            self.measure(ack, rtt);
        }
        let cwnd = self.window.cwnd();
        if self.window.in_slow_start() && !self.is_slow() {
            self.window.exit_slow_start();
            self.velocity = Velocity { cwnd, ..Velocity::default() };
        }
        if ack.acked > 0.0 && !ack.in_recovery && self.standing > 0.0 {
            if self.window.in_slow_start() {
                self.window.slow_start(ack);
            } else {
                let change = self.velocity.value * ack.acked / (self.delta * cwnd);
                // A step is at most half of the window.
                let change = change.min(cwnd / 2.0);
                if !self.is_slow() {
                    self.window.avoid((cwnd - change).max(LEAST.min(cwnd)));
                    self.window.keep_avoiding();
                } else if ack.cwnd_limited {
                    self.window.avoid(cwnd + change);
                }
            }
        }
        if self.trip.advance(ack) {
            self.end_round(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if !std::mem::replace(&mut self.has_lost, true) && self.full_trips >= COMPETITION {
            self.delta = (2.0 * self.delta).min(self.parameters.delta);
        }
        let halves = congestion.kind != CongestionKind::Loss;
        self.window.cut(congestion, |window| if halves { window / 2.0 } else { window });
        self.velocity = Velocity { cwnd: self.window.cwnd(), ..Velocity::default() };
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
        report("queueing_delay_us", if self.standing > 0.0 { self.queueing() } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{congestion, real};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{MSS, Path, mbit, ms};

    fn at(millis: u64, rtt_ms: f64, in_flight: u32) -> Ack {
        Ack { now: Instant::ZERO + ms(millis), ..ack(rtt_ms, in_flight) }
    }

    #[test]
    fn the_window_follows_the_target_rate() {
        // 10 ms of delay: the target is 200 segments per second, which are 22 in 110 ms.
        for (window, change) in [(20.0, 0.1), (24.0, -1.0 / 12.0)] {
            let mut cc = Copa::default().controller(real(window));
            cc.on_ack(&Ack { acked: 0.0, ..at(0, 100.0, 100) });
            cc.on_ack(&at(1000, 110.0, 100));
            assert!((cc.cwnd() - window - change).abs() < 1e-9, "{window}: {}", cc.cwnd());
        }
    }

    #[test]
    fn the_pacing_rate_is_two_windows_per_rtt() {
        let mut cc = Copa::default().controller(real(20.0));
        assert_eq!(cc.pacing_rate(), None);
        cc.on_ack(&Ack { acked: 0.0, ..at(0, 100.0, 100) });
        // 400 packets of 1500 bytes per second.
        assert_eq!(cc.pacing_rate(), Rate::from_bps(4_800_000));
    }

    #[test]
    fn the_velocity_doubles_from_the_third_round_trip_in_a_direction() {
        let mut velocity = Velocity { cwnd: 10.0, ..Velocity::default() };
        let mut after = |cwnd| {
            velocity.end_round(cwnd);
            velocity.value
        };
        assert_eq!([11.0, 12.0, 13.0, 14.0].map(&mut after), [1.0, 1.0, 2.0, 4.0]);
        assert_eq!([13.0, 12.0, 11.0, 10.0].map(&mut after), [1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn slow_start_ends_at_the_target_rate() {
        let mut cc = Copa::default().controller(CcContext::new(20.0));
        cc.on_ack(&at(0, 100.0, 100));
        cc.on_ack(&at(1000, 110.0, 100));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (22.0, f64::INFINITY));
        cc.on_ack(&at(1200, 120.0, 100));
        assert_eq!(cc.ssthresh(), 22.0);
        assert!(cc.cwnd() < 22.0);
    }

    #[test]
    fn a_queue_that_never_empties_leads_to_competitive_mode() {
        let mut cc = Copa::default().controller(real(20.0));
        cc.on_ack(&at(0, 100.0, 0));
        let inverse: Vec<_> = (1..=7)
            .map(|number| {
                cc.on_ack(&at(200 * number, 150.0, 0));
                (1.0 / cc.delta).round()
            })
            .collect();
        assert_eq!(inverse, [2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0]);
        cc.on_congestion(&congestion(CongestionKind::Loss));
        assert!((cc.delta - 0.4).abs() < 1e-9);
        cc.on_ack(&at(1800, 100.0, 0));
        assert_eq!(cc.delta, 0.5);
        let mut fixed = Copa { competitive: false, ..Copa::default() }.controller(real(20.0));
        (0..9).for_each(|number| fixed.on_ack(&at(200 * number, 100.0 + number as f64, 0)));
        assert_eq!(fixed.delta, 0.5);
    }

    #[test]
    fn a_loss_changes_nothing_and_a_timeout_leaves_a_segment() {
        let mut cc = Copa::default().controller(real(20.0));
        cc.on_congestion(&congestion(CongestionKind::Loss));
        assert_eq!(cc.cwnd(), 20.0);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1.0, 10.0));
    }

    /// The equilibrium rate is 1/(delta d), so the queue has 1/delta packets.
    #[test]
    fn a_flow_alone_has_few_packets_in_the_queue() {
        for delta in [0.5, 0.25] {
            let copa = crate::cc::CcSpec::Copa(Copa { delta, ..Copa::default() });
            let mut path = Path::with(copa, mbit(10.0), ms(40), 1000, |transport| transport);
            path.run_for(ms(10_000));
            let (mut sum, count) = (0, 20_000);
            for _ in 0..count {
                path.step();
                sum += path.backlog();
            }
            // Without the packet in transmission.
            let mean = sum as f64 / f64::from(count) - 1.0;
            let utilisation = path.goodput_over(ms(10_000)) / 10e6 * 1500.0 / MSS as f64;
            assert!((0.5 / delta..2.0 / delta).contains(&mean), "{delta}: {mean}");
            assert!(utilisation > 0.95 && path.lost == 0, "{delta}: {utilisation}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert_eq!(Copa { delta: 0.0, ..Copa::default() }.check().unwrap_err().key(), "delta");
    }
}
