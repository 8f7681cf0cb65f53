//! # LEDBAT: background transfers
//!
//! `cc = "ledbat"`
//!
//! LEDBAT uses the capacity that other flows leave. It adds at most `target` of queueing delay, and
//! yields as soon as other flows queue more. Its increase is at most Reno's. Software updates and
//! BitTorrent (uTP) use it.
//!
//! ## Reference
//!
//! RFC 6817 (S. Shalunov, G. Hazel, J. Iyengar and M. Kuehlewind, 2012), Low Extra Delay Background
//! Transport (LEDBAT), section 2.4.2.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | delay sample | base delay: the smallest of the last `base_history` minutes |
//! | the same | current delay: the smallest of the last `current_filter` samples, none older than an RTT |
//! | the same | `off = (target - (current - base)) / target` |
//! | ACK above ssthresh | `w <- w + gain off / w` |
//! | the same | w is at most the flight before the ACK plus `allowed_increase`, and at least 2 |
//! | queueing delay of `target` in slow start | slow start ends |
//! | loss or mark | `w <- w/2`, at least 2 |
//! | timeout | ssthresh is `w/2`, and w is 1 |
//!
//! A flow alone therefore keeps `target` of delay in the queue.
//!
//! ## Delay
//!
//! The RFC measures one-way delays by timestamps of the receiver. Here a delay is an RTT on the
//! sender's clock. A queue on the return path therefore also slows LEDBAT down. Clocks need no
//! synchronisation.
//!
//! ## Newcomer advantage
//!
//! A flow that starts behind a standing queue takes its delay for the base delay. It adds another
//! `target` of delay, and earlier flows yield to it. Section 4.4 of the RFC describes this unfairness.
//! To see it, run
//!
//! ```console no-test
//! $ ackclock run --rate 10Mbit/s --rtt 40ms --queue 'drop-tail(limit="1000 packets")' --flows 'ledbat*2' --duration 60s
//! ```
//!
//! with a later `start` for one flow. `ledbat++` removes this advantage.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The RFC requires a target of at most 100 ms and a gain of at most 1. It recommends ten minutes for
//! the base delay, and at least four samples for the current delay. The recommended allowed increase
//! is 1.
//!
//! ## Deviations
//!
//! - Delays are RTTs.
//! - Minutes of the base delay count from the first sample.
//! - The flow has slow start, which section 2.2 permits. It ends at a queueing delay of `target`, or
//!   with a loss.
//! - The window begins with the transport's initial window. The RFC has two segments.
//!
//! ## Validation
//!
//! Linux has no LEDBAT. Tests compare the formulas with hand-computed values. In packets, a flow alone
//! keeps its target within 5 % at 10 Mbit/s and 40 ms. A test of the controller shows the newcomer
//! advantage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController};
use super::queueing_delay::{QueueingDelay, check_lengths, check_target};
use super::round_trip::sample_us;
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::{MOST_SEGMENTS, require};
use crate::units::Duration;

/// RFC 6817's MIN_CWND in segments.
const LEAST: f64 = 2.0;

/// LEDBAT (RFC 6817), for transfers in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ledbat {
    /// RFC 6817's TARGET: queueing delay that the flow adds, above 0 and at most 100 ms.
    pub target: Duration,
    /// RFC 6817's GAIN: segments per round trip without a queue, above 0 and at most 1.
    pub gain: f64,
    /// RFC 6817's ALLOWED_INCREASE: segments by which the window may exceed the flight, above 0 and at most 16777216.
    pub allowed_increase: f64,
    /// RFC 6817's BASE_HISTORY: minutes for which a base delay counts, at least 1 and at most 1000.
    pub base_history: u32,
    /// RFC 6817's CURRENT_FILTER: delay samples whose smallest is the current delay, at least 1 and at most 1000.
    pub current_filter: u32,
}

impl Default for Ledbat {
    fn default() -> Self {
        // RFC 6817 §2.5.
        let target = Duration::from_millis(100);
        Ledbat { target, gain: 1.0, allowed_increase: 1.0, base_history: 10, current_filter: 4 }
    }
}

impl CcParameters for Ledbat {
    type Controller = AvoidanceController<LedbatAvoidance>;
    const REFERENCE: &'static str =
        "RFC 6817 (Shalunov, Hazel, Iyengar & Kuehlewind 2012), Low Extra Delay Background Transport (LEDBAT)";

    fn check(&self) -> Result<(), CcMistake> {
        let Ledbat { gain, allowed_increase, base_history, current_filter, .. } = *self;
        check_target(self.target)?;
        require("gain", gain, gain > 0.0 && gain <= 1.0, "above 0 and at most 1")?;
        let is_increase = allowed_increase > 0.0 && allowed_increase <= MOST_SEGMENTS;
        require("allowed_increase", allowed_increase, is_increase, "above 0 and at most 16777216")?;
        Ok(check_lengths(base_history, current_filter)?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let delays = QueueingDelay::new(self.base_history, self.current_filter);
        let avoidance = LedbatAvoidance { parameters: self.clone(), delays, off_target: 1.0 };
        AvoidanceController::new(avoidance, context)
    }
}

/// LEDBAT's congestion avoidance. Delays are in microseconds.
#[derive(Clone, Debug)]
pub struct LedbatAvoidance {
    parameters: Ledbat,
    delays: QueueingDelay,
    /// The distance of the queueing delay to the target, in parts of the target.
    off_target: f64,
}

impl LedbatAvoidance {
    fn measure(&mut self, ack: &Ack, delay: f64) {
        let queueing = self.delays.measure(ack.now, delay, ack.path.srtt);
        let target = self.parameters.target.as_secs_f64() * 1e6;
        self.off_target = (target - queueing) / target;
    }

    /// RFC 6817 §2.4.2: "cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd".
    fn step(&self, cwnd: f64, acked: f64) -> f64 {
        (cwnd + self.parameters.gain * self.off_target * acked / cwnd).max(LEAST.min(cwnd))
    }
}

impl Avoidance for LedbatAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(delay) = sample_us(ack) {
            self.measure(ack, delay);
        }
        if window.in_slow_start() {
            if self.off_target <= 0.0 {
                window.exit_slow_start();
            }
            return;
        }
        if ack.acked == 0.0 || ack.in_recovery {
            return;
        }
        if self.off_target < 0.0 {
            window.approach(self.step(window.cwnd(), ack.acked));
            window.keep_avoiding();
        }
        // RFC 6817 §2.4.2: "max_allowed_cwnd = flightsize + ALLOWED_INCREASE * MSS".
        let flight = f64::from(ack.path.in_flight) + f64::from(ack.newly_delivered);
        let allowed = (flight + self.parameters.allowed_increase).floor().max(LEAST);
        if allowed < window.cwnd() {
            window.avoid(allowed);
            window.keep_avoiding();
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.off_target > 0.0 { self.step(cwnd, ack.acked) } else { cwnd }
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window / 2.0
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("off_target", self.off_target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{Path, mbit, ms};

    /// LEDBAT at 10 segments, after a sample of 50 ms and four of `rtt_ms`.
    fn after(rtt_ms: f64) -> AvoidanceController<LedbatAvoidance> {
        let mut cc = Ledbat::default().controller(real(10.0));
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(50.0, 9) });
        (0..4).for_each(|_| cc.avoidance.measure(&ack(rtt_ms, 9), rtt_ms * 1000.0));
        cc
    }

    #[test]
    fn growth_is_proportional_to_the_distance_to_the_target() {
        for (rtt_ms, change) in [(50.0, 0.1), (100.0, 0.05), (150.0, 0.0), (250.0, -0.1)] {
            let mut cc = after(rtt_ms);
            cc.on_ack(&ack(rtt_ms, 9));
            assert!((cc.cwnd() - 10.0 - change).abs() < 1e-9, "{rtt_ms}: {}", cc.cwnd());
        }
        // 1000 ms: off by -8.5, which would leave 1.15 of two segments.
        let mut cc = after(1000.0);
        cc.window.avoid(2.0);
        cc.on_ack(&ack(1000.0, 1));
        assert_eq!(cc.cwnd(), 2.0);
    }

    #[test]
    fn the_window_exceeds_the_flight_by_a_segment_at_most() {
        let mut cc = after(50.0);
        cc.on_ack(&Ack { cwnd_limited: false, ..ack(50.0, 4) });
        assert_eq!(cc.cwnd(), 6.0);
    }

    /// Both have a queueing delay of 100 ms. The one that started behind it does not see it.
    #[test]
    fn a_newcomer_takes_a_standing_queue_for_the_base_delay() {
        let mut late = Ledbat::default().controller(real(10.0));
        late.on_ack(&ack(150.0, 9));
        assert!((late.cwnd() - 10.1).abs() < 1e-9);
        let mut first = after(150.0);
        first.on_ack(&ack(150.0, 9));
        assert_eq!(first.cwnd(), 10.0);
    }

    #[test]
    fn a_flow_alone_keeps_its_target() {
        let mut path = Path::new("ledbat", mbit(10.0), ms(40), 1000);
        path.run_for(ms(60_000));
        // 100 ms at 10 Mbit/s are 83.3 packets.
        let backlog = path.backlog() as f64;
        assert!((backlog - 83.3).abs() < 4.2 && path.lost == 0, "{backlog}");
    }

    #[test]
    fn losses_halve_the_window_and_slow_start_ends_at_the_target() {
        respects_slow_start_and_floors(&Ledbat::default(), 20.0);
        assert_eq!(lose(&mut Ledbat::default().controller(linux(41.0))), 20.0);
        let mut cc = Ledbat::default().controller(CcContext::new(40.0));
        for rtt_ms in [50.0, 149.0, 150.0, 150.0, 150.0, 150.0] {
            cc.on_ack(&ack(rtt_ms, 39));
        }
        assert_eq!(cc.ssthresh(), 45.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let ledbat = Ledbat::default();
        for (wrong, key) in [
            (Ledbat { target: ms(101), ..ledbat.clone() }, "target"),
            (Ledbat { gain: 2.0, ..ledbat.clone() }, "gain"),
            (Ledbat { allowed_increase: 0.0, ..ledbat.clone() }, "allowed_increase"),
            (Ledbat { base_history: 0, ..ledbat.clone() }, "base_history"),
            (Ledbat { current_filter: 0, ..ledbat }, "current_filter"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
