//! # H-TCP: an increase that grows with the time since the last congestion
//!
//! `cc = "htcp"`
//!
//! H-TCP raises its increase with the time since the last congestion event. Short cycles behave as
//! in Reno, and long cycles fill large windows quickly. The decrease adapts to the queue, so that a
//! loss does not empty the link.
//!
//! ## Reference
//!
//! D. Leith and R. Shorten (2004), PFLDnet: H-TCP: TCP for High-speed and Long-distance Networks.
//! draft-leith-tcp-htcp-06 (2008) specifies it. Linux contains it as `tcp_htcp`.
//!
//! ## Equations
//!
//! Here Δ is the time since the last congestion event in seconds. B is the delivery rate of a round
//! trip. RTT_min and RTT_max are the extremes of the round-trip time.
//!
//! | quantity | equation |
//! |---|---|
//! | increase | `α = 1` if Δ <= 1, else `α = 1 + 10 (Δ - 1) + ((Δ - 1)/2)^2` |
//! | with `use_rtt_scaling` | α is divided by `0.1 / RTT_min`, which is clamped to 0.5 to 10 |
//! | AIMD-friendly increase | `α <- 2 (1 - β) α`, and at least 1 if that gives 0 |
//! | ACK in congestion avoidance | `w <- w + α/w` |
//! | decrease | `w <- β w` |
//! | β | `RTT_min / RTT_max`, clamped to 0.5 to 0.8 |
//! | β with `use_bandwidth_switch` | 0.5 if the largest B changed by more than a fifth since the last event |
//!
//! B is a moving average with weights 3/4 and 1/4. At each event, RTT_max
//! moves towards RTT_min by a twentieth of the distance. It therefore follows changes of the route.
//! While RTT_min is at most 10 ms, β is 0.5.
//!
//! ## Parameters
//!
//! Under `profile = "linux"` the numbers are Linux's. Times are whole milliseconds, α and β are in
//! units of 1/128, and the factor of α is whole. The window grows by at most a segment per ACK.
//! The ACK that grows it counts for no further growth.
//!
//! ## Constants
//!
//! The paper gives the polynomial, the low-speed time of 1 s, the bounds of β and the threshold. RTT scaling makes the share of a flow independent of its RTT, with 100 ms as the
//! reference.
//!
//! ## Deviations
//!
//! - Times count from the end of recovery, as in Linux. The paper counts from the loss.
//! - A timeout uses the same β, as in Linux.
//! - The synchronous model has no clock, and therefore no H-TCP.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. `python tools/kernel/algorithms.py htcp` compares
//! whole flows with Linux 6.12 in virtual time. On ten paths, goodput differs by at most 0.2 % and the mean
//! window by at most 0.4 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::window::Window;
use super::{Ack, CaState, CcContext, CcMistake, CcParameters, Congestion};
use crate::units::{Duration, Instant};

/// The bounds of β.
const LEAST_REMAINING: f64 = 0.5;
const MOST_REMAINING: f64 = 0.8;
/// Up to this time since the last congestion event, the increase is Reno's.
const LOW_SPEED_MS: f64 = 1000.0;
/// The round-trip time at which scaling has no effect, and the bounds of the scale.
const REFERENCE_RTT_MS: f64 = 100.0;
const LEAST_SCALE: f64 = 0.5;
const MOST_SCALE: f64 = 10.0;
/// A smaller round-trip time does not adapt β.
const SHORT_RTT_MS: f64 = 10.0;
/// A larger step of the round-trip time does not raise RTT_max.
const LARGEST_RTT_STEP_MS: f64 = 20.0;
/// The part of RTT_max - RTT_min that an event keeps.
const KEPT_RANGE: f64 = 0.95;
/// Round trips after an event in which B is not averaged.
const FIRST_ROUND_TRIPS: f64 = 3.0;
/// Units of α and β in Linux.
const UNIT: f64 = 128.0;

/// H-TCP: grows faster with time since congestion. Leith & Shorten 2004.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Htcp {
    /// Whether the increase is proportional to the round-trip time.
    pub use_rtt_scaling: bool,
    /// Whether half of the window remains if the throughput changed by more than a fifth.
    pub use_bandwidth_switch: bool,
}

impl Default for Htcp {
    fn default() -> Self {
        Htcp { use_rtt_scaling: true, use_bandwidth_switch: true }
    }
}

impl CcParameters for Htcp {
    type Controller = AvoidanceController<HtcpAvoidance>;
    const REFERENCE: &'static str = "Leith & Shorten 2004, H-TCP: TCP for High-Speed and Long-Distance Networks";

    fn check(&self) -> Result<(), CcMistake> {
        Ok(())
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = HtcpAvoidance {
            parameters: self.clone(),
            numbers: Numbers::of(&context),
            alpha: 1.0,
            beta: LEAST_REMAINING,
            adapts: false,
            rtt: None,
            throughput: Throughput::default(),
            last_event: None,
            now: Instant::ZERO,
            returns_to_open: false,
            acked: 0.0,
            before: None,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The extremes of the round-trip time in milliseconds.
#[derive(Clone, Copy, Debug)]
struct RttRange {
    min_ms: f64,
    max_ms: f64,
}

/// The achieved throughput, in segments per millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    average: f64,
    min: f64,
    max: f64,
    /// The largest average before the last event.
    old_max: f64,
    /// Segments of the measurement, and its start.
    segments: f64,
    start: Option<Instant>,
}

/// H-TCP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct HtcpAvoidance {
    parameters: Htcp,
    numbers: Numbers,
    alpha: f64,
    beta: f64,
    /// β adapts from the second event with stable throughput on.
    adapts: bool,
    rtt: Option<RttRange>,
    throughput: Throughput,
    last_event: Option<Instant>,
    now: Instant,
    /// The end of recovery restarts the time since the last event.
    returns_to_open: bool,
    /// Segments acknowledged since the last growth. Only whole numbers need them.
    acked: f64,
    /// The state before the last event.
    before: Option<Box<HtcpAvoidance>>,
}

impl HtcpAvoidance {
    /// Milliseconds since the last event.
    fn elapsed_ms(&self) -> f64 {
        self.last_event.map_or(0.0, |last| self.numbers.millis(self.now.since(last)))
    }

    fn update_alpha(&mut self) {
        let beyond = ((self.elapsed_ms() - LOW_SPEED_MS) / LOW_SPEED_MS).max(0.0);
        let mut factor = self.numbers.down(1.0 + 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0));
        if let (true, Some(RttRange { min_ms, .. })) = (self.parameters.use_rtt_scaling, self.rtt) {
            /// Units of the scale in Linux.
            const EIGHTHS: f64 = 8.0;
            let scale = REFERENCE_RTT_MS / min_ms.max(1e-6);
            factor = if self.numbers.are_whole() {
                let scale = (EIGHTHS * scale).floor().clamp(EIGHTHS * LEAST_SCALE, EIGHTHS * MOST_SCALE);
                (EIGHTHS * factor / scale).floor().max(1.0)
            } else {
                factor / scale.clamp(LEAST_SCALE, MOST_SCALE)
            };
        }
        self.alpha = 2.0 * factor * (1.0 - self.beta);
    }

    fn update_beta(&mut self) {
        let old = std::mem::replace(&mut self.throughput.old_max, self.throughput.max);
        let changed = 5.0 * self.throughput.max < 4.0 * old || 5.0 * self.throughput.max > 6.0 * old;
        if self.parameters.use_bandwidth_switch && changed {
            (self.beta, self.adapts) = (LEAST_REMAINING, false);
            return;
        }
        let was_adapting = std::mem::replace(&mut self.adapts, true);
        self.beta = match self.rtt {
            Some(RttRange { min_ms, max_ms }) if was_adapting && min_ms > SHORT_RTT_MS && max_ms > 0.0 => {
                let ratio = self.numbers.down(UNIT * min_ms / max_ms) / UNIT;
                ratio.clamp(LEAST_REMAINING, self.numbers.down(UNIT * MOST_REMAINING) / UNIT)
            }
            _ => LEAST_REMAINING,
        };
    }

    fn measure_rtt(&mut self, rtt: Duration, is_open: bool) {
        let rtt_ms = self.numbers.millis(rtt);
        let range = self.rtt.get_or_insert(RttRange { min_ms: rtt_ms, max_ms: 0.0 });
        range.min_ms = range.min_ms.min(rtt_ms);
        if is_open {
            range.max_ms = range.max_ms.max(range.min_ms);
            if rtt_ms <= range.max_ms + LARGEST_RTT_STEP_MS {
                range.max_ms = range.max_ms.max(rtt_ms);
            }
        }
    }

    fn measure_throughput(&mut self, cwnd: f64, delivered: f64, is_open: bool) {
        let elapsed_ms = self.elapsed_ms();
        let (numbers, now, alpha) = (self.numbers, self.now, self.alpha);
        let throughput = &mut self.throughput;
        let Some(RttRange { min_ms, .. }) = self.rtt.filter(|_| is_open) else {
            (throughput.segments, throughput.start) = (0.0, Some(now));
            return;
        };
        throughput.segments += delivered;
        let millis = numbers.millis(now.since(*throughput.start.get_or_insert(now)));
        let step = numbers.down(alpha).max(1.0);
        if throughput.segments < cwnd - step || millis < min_ms || millis <= 0.0 || min_ms <= 0.0 {
            return;
        }
        let current = numbers.down(1000.0 * throughput.segments / millis) / 1000.0;
        if (elapsed_ms / min_ms).floor() <= FIRST_ROUND_TRIPS {
            (throughput.average, throughput.min, throughput.max) = (current, current, current);
        } else {
            throughput.average = (3.0 * throughput.average + current) / 4.0;
            throughput.max = throughput.max.max(throughput.average);
            throughput.min = throughput.min.min(throughput.max);
        }
        (throughput.segments, throughput.start) = (0.0, Some(now));
    }
}

impl Avoidance for HtcpAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        self.now = ack.now;
        self.last_event.get_or_insert(ack.now);
        if self.returns_to_open && ack.state == CaState::Open {
            (self.returns_to_open, self.last_event) = (false, Some(ack.now));
        }
        if !ack.path.latest_rtt.is_zero() {
            self.measure_rtt(ack.path.latest_rtt, ack.state == CaState::Open);
        }
        if self.parameters.use_bandwidth_switch {
            let is_open = matches!(ack.state, CaState::Open | CaState::Disorder);
            self.measure_throughput(window.cwnd(), f64::from(ack.newly_delivered), is_open);
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if !self.numbers.are_whole() {
            self.update_alpha();
            return cwnd + ack.acked * self.alpha / cwnd;
        }
        if (self.acked * self.alpha).floor() < cwnd {
            self.acked += ack.acked;
            return cwnd;
        }
        self.acked = 0.0;
        self.update_alpha();
        cwnd + 1.0
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        self.before = None;
        self.before = Some(Box::new(self.clone()));
        self.now = congestion.now;
        self.update_beta();
        self.update_alpha();
        if let Some(RttRange { min_ms, max_ms }) = &mut self.rtt
            && *max_ms > *min_ms
        {
            *max_ms = *min_ms + self.numbers.down(KEPT_RANGE * (*max_ms - *min_ms));
        }
        (self.last_event, self.returns_to_open) = (Some(congestion.now), true);
        self.acked = 0.0;
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window * self.beta
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            (self.last_event, self.rtt, self.returns_to_open) = (before.last_event, before.rtt, false);
            self.throughput.old_max = before.throughput.old_max;
        }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
        report("beta", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{congestion, linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::{CongestionControl, CongestionKind, PathView};

    /// An ACK of a segment at a time, with a round-trip time.
    fn ack(now_ms: u64, rtt_ms: u64) -> Ack {
        let path = PathView { latest_rtt: Duration::from_millis(rtt_ms), ..PathView::default() };
        Ack { now: Instant::ZERO + Duration::from_millis(now_ms), path, ..Ack::of(1.0) }
    }

    /// The increase at a time after the start, without RTT scaling.
    fn alpha(elapsed_ms: u64, context: CcContext) -> f64 {
        let mut cc = Htcp { use_rtt_scaling: false, ..Htcp::default() }.controller(context);
        cc.on_ack(&ack(0, 100));
        cc.avoidance.now = Instant::ZERO + Duration::from_millis(elapsed_ms);
        cc.avoidance.update_alpha();
        cc.avoidance.alpha
    }

    #[test]
    fn the_increase_is_a_polynomial_of_the_time_since_the_last_event() {
        assert_eq!((alpha(500, real(10.0)), alpha(1000, real(10.0))), (1.0, 1.0));
        // 1 + 10 * 2 + 1.
        assert_eq!((alpha(3000, real(10.0)), alpha(3000, linux(10.0))), (22.0, 22.0));
        // 1 + 10 * 0.15 + 0.075^2 = 2.505625, of which Linux has the whole part.
        assert!((alpha(1150, real(10.0)) - 2.505_625).abs() < 1e-9);
        assert_eq!(alpha(1150, linux(10.0)), 2.0);
    }

    #[test]
    fn the_increase_is_proportional_to_the_round_trip_time() {
        let scaled = |rtt_ms, context| {
            let mut cc = Htcp::default().controller(context);
            cc.on_ack(&ack(0, rtt_ms));
            cc.avoidance.now = Instant::ZERO + Duration::from_millis(3000);
            cc.avoidance.update_alpha();
            cc.avoidance.alpha
        };
        assert!((scaled(50, real(10.0)) - 11.0).abs() < 1e-9);
        // Twice at most, and a tenth at least.
        assert!((scaled(400, real(10.0)) - 44.0).abs() < 1e-9 && (scaled(5, real(10.0)) - 2.2).abs() < 1e-9);
        // 22 * 8 / floor(800 / 30) = 6.77.
        assert_eq!(scaled(30, linux(10.0)), 6.0);
    }

    #[test]
    fn the_decrease_follows_the_queue_once_the_throughput_is_stable() {
        let mut cc = Htcp { use_bandwidth_switch: false, ..Htcp::default() }.controller(real(100.0));
        cc.on_ack(&ack(0, 40));
        cc.on_ack(&ack(10, 50));
        let before = cc.cwnd();
        assert_eq!(lose(&mut cc), before / 2.0, "the first event");
        let (before, left) = (cc.cwnd(), lose(&mut cc));
        // 40/49.5: RTT_max lost a twentieth of its 10 ms.
        assert!((left / before - 0.8).abs() < 1e-9, "{left}");
        let mut long = Htcp { use_bandwidth_switch: false, ..Htcp::default() }.controller(real(100.0));
        (0..5).for_each(|step| long.on_ack(&ack(step, 40 + 10 * step)));
        lose(&mut long);
        let (before, left) = (long.cwnd(), lose(&mut long));
        // 40 / (40 + 0.95 * 40).
        assert!((left / before - 40.0 / 78.0).abs() < 1e-9, "{left}");
    }

    #[test]
    fn a_step_of_the_round_trip_time_is_no_queue() {
        let mut cc = Htcp::default().controller(real(100.0));
        [40, 100, 59, 75].into_iter().for_each(|rtt| cc.on_ack(&ack(0, rtt)));
        assert_eq!(cc.avoidance.rtt.unwrap().max_ms, 75.0);
    }

    #[test]
    fn a_change_of_the_throughput_halves_the_window() {
        let mut cc = Htcp::default().controller(real(100.0));
        cc.on_ack(&ack(0, 40));
        for (max, beta) in [(10.0, 0.5), (11.0, 0.5), (11.0, 0.8), (14.0, 0.5), (13.9, 0.5), (11.0, 0.5)] {
            cc.avoidance.throughput.max = max;
            cc.avoidance.update_beta();
            assert_eq!(cc.avoidance.beta, beta, "{max}");
        }
    }

    #[test]
    fn the_throughput_is_the_delivered_window_of_a_round_trip() {
        let mut cc = Htcp::default().controller(real(10.0));
        // Two segments in each 10 ms.
        (0..100).for_each(|step| cc.on_ack(&Ack { newly_delivered: 2, cwnd_limited: false, ..ack(10 * step, 50) }));
        let Throughput { average, max, .. } = cc.avoidance.throughput;
        assert!((average - 0.2).abs() < 0.03 && max >= average, "{average} {max}");
    }

    #[test]
    fn linux_grows_by_a_segment_with_the_ack_after_a_window() {
        let mut cc = Htcp { use_rtt_scaling: false, ..Htcp::default() }.controller(linux(10.0));
        (0..9).for_each(|_| cc.on_ack(&ack(0, 100)));
        assert_eq!(cc.cwnd(), 10.0);
        (0..2).for_each(|_| cc.on_ack(&ack(0, 100)));
        assert_eq!(cc.cwnd(), 11.0);
    }

    #[test]
    fn the_time_counts_from_the_end_of_recovery_and_an_undo_restores_it() {
        let mut cc = Htcp::default().controller(real(100.0));
        cc.on_ack(&ack(0, 40));
        let before = cc.avoidance.last_event;
        cc.on_congestion(&congestion(CongestionKind::Loss));
        cc.on_ack(&Ack { state: CaState::Recovery, in_recovery: true, ..ack(50, 40) });
        cc.on_ack(&ack(90, 40));
        assert_eq!(cc.avoidance.last_event, Some(Instant::ZERO + Duration::from_millis(90)));
        cc.avoidance.on_undo();
        assert_eq!(cc.avoidance.last_event, before);
    }

    #[test]
    fn slow_start_floors_and_undo() {
        respects_slow_start_and_floors(&Htcp::default(), 20.0);
    }
}
