//! # TCP-LP: background transfers that yield early
//!
//! `cc = "lp"`
//!
//! TCP-LP uses the capacity that other flows leave. It takes a small delay as an early sign of
//! congestion and halves its window. A second sign shows that other flows persist, and the window falls
//! to two segments.
//!
//! ## Reference
//!
//! A. Kuzmanovic and E. W. Knightly, TCP-LP: A Distributed Algorithm for Low Priority Data Transfer.
//! INFOCOM 2003.
//!
//! ## Equations
//!
//! Here w is the window, R an RTT sample, and S the smoothed delay.
//!
//! | event | equation |
//! |---|---|
//! | RTT sample | `S <- 7/8 S + R/8` |
//! | early congestion | `S > R_min + delta (R_max - R_min)` |
//! | early congestion outside of inference | `w <- w/2`, and inference begins |
//! | early congestion during inference | `w <- 2`, and inference begins again |
//! | ACK outside of inference | `w <- w + 1/w` |
//! | loss, timeout or mark | `w <- w/2`, as in Reno |
//!
//! Inference lasts `inference` round trips.
//!
//! ## States
//!
//! | state | condition | window |
//! |---|---|---|
//! | slow start | `w < ssthresh` | doubles per round trip, and a loss ends it |
//! | additive increase | no early congestion in the last `inference` round trips | `w + 1/w` per ACK |
//! | inference | otherwise | constant, and 2 after another early congestion |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper chooses `delta = 0.15` and an inference of three round trips. Its simulations show that
//! 5 to 20 % of the range of delays separate a queue from noise. Its smoothing is TCP's weight of 1/8.
//!
//! ## Deviations
//!
//! - Delays are RTTs. The paper measures one-way delays by TCP timestamps. A queue on the return path
//!   therefore also slows TCP-LP down.
//! - Slow start ignores delays. The first overflow of the queue gives `R_max`.
//! - Delayed ACKs give no samples. The least window is two segments, where the paper has one. A
//!   receiver delays the ACK of a lone segment, and the delay looks like a queue.
//! - A second sign counts from the third round trip on. Segments of the first left before the decrease, and
//!   the smoothed delay needs the second.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. The table has goodput at 10 Mbit/s and 40 ms, by
//! `ackclock run --rate 10Mbit/s --rtt 40ms --limit '33 packets' --flows lp,reno --duration 60s`:
//!
//! | buffer | TCP-LP alone | TCP-LP and Reno |
//! |---|---|---|
//! | 0.5 BDP | 7.3 Mbit/s | 0.5 and 8.7 Mbit/s |
//! | 1 BDP | 7.8 Mbit/s | 0.4 and 9.3 Mbit/s |
//! | 2 BDP | 8.4 Mbit/s | 0.3 and 9.4 Mbit/s |
//!
//! Linux's TCP-LP differs from the paper, and from this implementation. After its first decrease it sets `R_max` to
//! twice the delay. Its delay contains the difference of the two hosts' timestamp clocks. Early congestion then
//! seldom occurs again, and the flow follows Reno. On ten paths, `python tools/kernel/algorithms.py lp` measures a
//! goodput 7 to 87 % below Linux's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{DelayedAcks, RoundTrip, sample_us};
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::require;
use crate::units::Instant;

/// The weight of a sample in the smoothed delay.
const WEIGHT: f64 = 1.0 / 8.0;
/// The least window that early congestion leaves, in segments.
const LEAST: f64 = 2.0;
/// The longest inference, in round trips.
const LONGEST_INFERENCE: f64 = 1000.0;

/// TCP-LP, for transfers in the background.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lp {
    /// Part of the range of delays that is early congestion (the paper's delta), above 0 and below 1.
    pub delta: f64,
    /// Round trips of inference after a decrease, at least 1 and at most 1000.
    pub inference: f64,
}

impl Default for Lp {
    fn default() -> Self {
        Lp { delta: 0.15, inference: 3.0 }
    }
}

impl CcParameters for Lp {
    type Controller = AvoidanceController<LpAvoidance>;
    const REFERENCE: &'static str =
        "Kuzmanovic & Knightly 2003, TCP-LP: A Distributed Algorithm for Low Priority Data Transfer";

    fn check(&self) -> Result<(), CcMistake> {
        let Lp { delta, inference } = *self;
        require("delta", delta, delta > 0.0 && delta < 1.0, "above 0 and below 1")?;
        let is_inference = (1.0..=LONGEST_INFERENCE).contains(&inference);
        Ok(require("inference", inference, is_inference, "at least 1 and at most 1000")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = LpAvoidance {
            parameters: self.clone(),
            numbers: Numbers::of(&context),
            delays: None,
            delayed_acks: DelayedAcks::default(),
            inference_ends: Instant::ZERO,
            now: Instant::ZERO,
            trip: RoundTrip::default(),
            waits: 0,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// The delays of the connection, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    least: f64,
    most: f64,
    smoothed: f64,
}

/// TCP-LP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct LpAvoidance {
    parameters: Lp,
    numbers: Numbers,
    delays: Option<Delays>,
    delayed_acks: DelayedAcks,
    inference_ends: Instant,
    /// The time of the last ACK.
    now: Instant,
    /// A round trip after a decrease.
    trip: RoundTrip,
    /// Further round trips before the delay shows the effect of the decrease.
    waits: u32,
}

impl LpAvoidance {
    fn measure(&mut self, rtt: f64) {
        let Delays { least, most, smoothed } = self.delays.unwrap_or(Delays { least: rtt, most: rtt, smoothed: rtt });
        let smoothed = smoothed + WEIGHT * (rtt - smoothed);
        self.delays = Some(Delays { least: least.min(rtt), most: most.max(rtt), smoothed });
    }

    fn is_congested(&self) -> bool {
        self.delays
            .is_some_and(|Delays { least, most, smoothed }| smoothed > least + self.parameters.delta * (most - least))
    }

    fn infers(&self) -> bool {
        self.now < self.inference_ends
    }
}

impl Avoidance for LpAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        self.now = ack.now;
        if let Some(rtt) = sample_us(ack).filter(|_| !self.delayed_acks.is_delayed(ack)) {
            self.measure(rtt);
        }
        if !self.trip.advance(ack) {
            return;
        }
        if self.waits > 0 {
            self.waits -= 1;
            self.trip.begin(ack.path.in_flight);
            return;
        }
        if window.in_slow_start() || ack.in_recovery || !self.is_congested() {
            return;
        }
        let left = if self.infers() { LEAST } else { self.numbers.down(window.cwnd() / 2.0).max(LEAST) };
        window.avoid(left.min(window.cwnd()));
        window.keep_avoiding();
        self.inference_ends = ack.now + ack.path.srtt.mul_f64_floor(self.parameters.inference);
        self.trip.begin(ack.path.in_flight);
        self.waits = 1;
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.infers() { cwnd } else { cwnd + ack.acked / cwnd }
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window / 2.0
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        if let Some(Delays { smoothed, .. }) = self.delays {
            report("smoothed_delay_ms", smoothed / 1000.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::ack;
    use crate::cc::tests::{Path, mbit, ms};

    /// An ACK at a time in milliseconds.
    fn at(now_ms: u64, rtt_ms: f64, in_flight: u32) -> Ack {
        Ack { now: Instant::ZERO + ms(now_ms), ..ack(rtt_ms, in_flight) }
    }

    /// TCP-LP at 20 segments that has seen RTTs of 50 and 150 ms, and a smoothed delay near 50.
    fn experienced() -> AvoidanceController<LpAvoidance> {
        let mut cc = Lp::default().controller(real(20.0));
        cc.avoidance.delays = Some(Delays { least: 50_000.0, most: 150_000.0, smoothed: 50_000.0 });
        cc
    }

    #[test]
    fn the_first_early_congestion_halves_the_window_and_the_second_leaves_two_segments() {
        let mut cc = experienced();
        // 50 + (122 - 50)/8 = 59 ms, below 65. The window grows by 1/20.
        cc.on_ack(&at(1000, 122.0, 0));
        assert_eq!(cc.cwnd(), 20.05);
        // 59 + (130 - 59)/8 = 67.9 ms, above 65.
        cc.on_ack(&at(1100, 130.0, 1));
        assert_eq!(cc.cwnd(), 10.025);
        // Two round trips of two segments say nothing new, and inference lasts 3 RTTs of 130 ms.
        for now_ms in [1150, 1200, 1300] {
            cc.on_ack(&at(now_ms, 130.0, 1));
            assert_eq!(cc.cwnd(), 10.025, "{now_ms}");
        }
        cc.on_ack(&at(1400, 130.0, 1));
        assert_eq!(cc.cwnd(), 2.0);
    }

    #[test]
    fn the_window_grows_again_after_an_inference_without_congestion() {
        let queued = |smoothed| Some(Delays { least: 50_000.0, most: 150_000.0, smoothed });
        let mut cc = experienced();
        // 60 + (150 - 60)/8 = 71.25 ms, above 65.
        cc.avoidance.delays = queued(60_000.0);
        cc.on_ack(&at(1000, 150.0, 1));
        assert_eq!(cc.cwnd(), 10.0);
        // The queue is gone when the next round trip ends.
        cc.avoidance.delays = queued(60_000.0);
        for now_ms in [1100, 1200, 1300, 1449] {
            cc.on_ack(&at(now_ms, 60.0, 1));
            assert_eq!(cc.cwnd(), 10.0, "{now_ms}");
        }
        // 3 * 150 ms after the decrease.
        cc.on_ack(&at(1450, 60.0, 1));
        assert_eq!(cc.cwnd(), 10.1);
        // Another early congestion halves again.
        cc.on_ack(&at(1500, 150.0, 1));
        assert_eq!(cc.cwnd(), 5.05);
    }

    #[test]
    fn a_loss_halves_the_window_and_slow_start_ignores_delays() {
        respects_slow_start_and_floors(&Lp::default(), 20.0);
        assert_eq!(lose(&mut Lp::default().controller(linux(41.0))), 20.0);
        let mut cc = Lp::default().controller(CcContext::new(10.0));
        cc.on_ack(&at(0, 50.0, 9));
        cc.on_ack(&at(10, 500.0, 9));
        assert_eq!(cc.cwnd(), 12.0);
    }

    #[test]
    fn a_flow_alone_uses_the_link() {
        // The BDP is 33 packets.
        let mut path = Path::new("lp", mbit(10.0), ms(40), 66);
        path.run_for(ms(10_000));
        let before = path.delivered;
        path.run_for(ms(50_000));
        let used = (path.delivered - before) as f64 * 12_000.0 / 10e6 / 50.0;
        assert!(used > 0.8 && used <= 1.0, "{used}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let lp = Lp::default();
        for (wrong, key) in [
            (Lp { delta: 0.0, ..lp.clone() }, "delta"),
            (Lp { delta: 1.0, ..lp.clone() }, "delta"),
            (Lp { inference: 0.5, ..lp }, "inference"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
