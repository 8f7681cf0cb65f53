//! # Illinois: the delay sets increase and decrease
//!
//! `cc = "illinois"`
//!
//! Illinois is AIMD whose increase and decrease depend on the mean queueing delay. With a short queue
//! it adds ten segments in a round trip. A loss then costs an eighth of the window. With a long queue
//! it adds less than a segment, and a loss costs half. The window is a concave function of time. Losses
//! remain the signal, so other loss-based flows do not starve it.
//!
//! ## Reference
//!
//! S. Liu, T. Başar and R. Srikant, TCP-Illinois: A Loss and Delay-Based Congestion Control Algorithm
//! for High-Speed Networks, VALUETOOLS 2006. The constants follow Linux.
//!
//! ## Equations
//!
//! Here d is the mean queueing delay of the last round trip, and D the largest one of the connection.
//! A queueing delay is an RTT minus the smallest RTT of the connection.
//!
//! | event | equation |
//! |---|---|
//! | ACK above ssthresh | `w <- w + α/w` |
//! | loss or mark | `w <- w (1 - β)` |
//! | `d <= D/100` | `α = 10` |
//! | `d > D/100` | `α = 10 m / (m + 9.7 n / 0.3)`, where `m = 0.99 D` and `n = d - D/100` |
//! | `d <= D/10` | `β = 1/8` |
//! | `D/10 < d < 4/5 D` | β grows linearly from 1/8 to 1/2 |
//! | `d >= 4/5 D` | `β = 1/2` |
//! | `w < win_thresh` | `α = 1`, `β = 1/2` |
//! | timeout | as for a loss, then `α = 1`, `β = 1/2` |
//!
//! α and β change once per round trip. After a delay above D/100, α returns to 10 only after `theta`
//! round trips below D/100.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! α is 10 at most and 0.3 at least. The paper has 0.1 at least. With β between 1/8 and 1/2 and an α
//! near 1 for long queues, Illinois is fair to Reno.
//!
//! ## Deviations
//!
//! - Under `profile = "linux"` the ACK that ends a recovery counts each segment that it covers. Other
//!   algorithms do not count segments again that SACK blocks have reported.
//! - Under `profile = "linux"` α is in units of 1/128, β of 1/64, and times are whole microseconds.
//!   A growth of a segment discards the rest of the acknowledged segments that were counted for it.
//!
//! ## Validation
//!
//! On ten paths of 10 and 100 Mbit/s, `python tools/kernel/algorithms.py illinois` compares it with Linux 6.12.
//! Figures are means of three runs of 30 seconds.
//!
//! | quantity | difference |
//! |---|---|
//! | goodput | -0.64 to +0.19 % |
//! | mean cwnd | -2.0 to +0.6 % |
//!
//! All paths are inside the bounds. Tests compare the formulas with hand-computed values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{RoundTrip, sample_us};
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionKind};
use crate::rule::require_segments;

/// Units of α and β in Linux.
const ALPHA_SCALE: f64 = 128.0;
const BETA_SCALE: f64 = 64.0;
const ALPHA_LEAST: f64 = 0.3;
const ALPHA_MOST: f64 = 10.0;
const BETA_LEAST: f64 = 0.125;
const BETA_MOST: f64 = 0.5;

/// Illinois: increase and decrease depend on the delay. Liu, Başar & Srikant 2006.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Illinois {
    /// Window in segments below which it behaves as Reno, at least 0 and at most 16777216.
    pub win_thresh: f64,
    /// Round trips without a queue until the increase is the largest again.
    pub theta: u32,
}

impl Default for Illinois {
    fn default() -> Self {
        // The defaults of Linux's module, and of the paper.
        Illinois { win_thresh: 15.0, theta: 5 }
    }
}

impl CcParameters for Illinois {
    type Controller = AvoidanceController<IllinoisAvoidance>;
    const REFERENCE: &'static str = "Liu, Başar & Srikant 2006, TCP-Illinois: A Loss and Delay-Based Congestion \
                                     Control Algorithm for High-Speed Networks";

    fn check(&self) -> Result<(), CcMistake> {
        Ok(require_segments("win_thresh", self.win_thresh)?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = IllinoisAvoidance {
            parameters: self.clone(),
            numbers: Numbers::of(&context),
            base: f64::INFINITY,
            longest: 0.0,
            sum: 0.0,
            samples: 0,
            trip: RoundTrip::default(),
            alpha: ALPHA_MOST,
            beta: BETA_MOST,
            was_above: false,
            low_trips: 0,
            counted: 0.0,
            sacked: 0.0,
        };
        AvoidanceController::new(avoidance, context)
    }
}

/// Illinois's congestion avoidance. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct IllinoisAvoidance {
    parameters: Illinois,
    numbers: Numbers,
    /// The smallest and the largest RTT of the connection.
    base: f64,
    longest: f64,
    /// The RTT samples of the round trip.
    sum: f64,
    samples: u32,
    trip: RoundTrip,
    alpha: f64,
    beta: f64,
    /// There was a queue since α was the largest.
    was_above: bool,
    /// Round trips without a queue since then.
    low_trips: u32,
    /// In Linux, acknowledged segments that have not grown the window.
    counted: f64,
    /// Segments that SACK blocks reported, and that no ACK has covered yet.
    sacked: f64,
}

impl IllinoisAvoidance {
    fn end_round(&mut self, cwnd: f64) {
        if cwnd < self.parameters.win_thresh {
            (self.alpha, self.beta) = (1.0, BETA_MOST);
        } else if self.samples > 0 {
            let mean = self.numbers.down(self.sum / f64::from(self.samples));
            let (delay, longest) = (mean - self.base, self.longest - self.base);
            self.alpha = self.alpha_at(delay, longest);
            self.beta = self.beta_at(delay, longest);
        }
    }

    fn begin_round(&mut self, in_flight: u32) {
        self.trip.begin(in_flight);
        (self.sum, self.samples) = (0.0, 0);
    }

    fn alpha_at(&mut self, delay: f64, longest: f64) -> f64 {
        let short = self.numbers.down(longest / 100.0);
        if delay <= short {
            if self.was_above {
                self.low_trips += 1;
                if self.low_trips < self.parameters.theta {
                    return self.alpha;
                }
            }
            (self.was_above, self.low_trips) = (false, 0);
            return ALPHA_MOST;
        }
        self.was_above = true;
        let (least, most) = if self.numbers.are_whole() {
            ((ALPHA_LEAST * ALPHA_SCALE).floor(), ALPHA_MOST * ALPHA_SCALE)
        } else {
            (ALPHA_LEAST, ALPHA_MOST)
        };
        let (longest, delay) = (longest - short, delay - short);
        let alpha = self.numbers.down(longest * most / (longest + self.numbers.down(delay * (most - least) / least)));
        if self.numbers.are_whole() { alpha / ALPHA_SCALE } else { alpha }
    }

    fn beta_at(&self, delay: f64, longest: f64) -> f64 {
        let (short, long) = (self.numbers.down(longest / 10.0), self.numbers.down(longest * 8.0 / 10.0));
        if delay <= short {
            BETA_LEAST
        } else if delay >= long || long <= short {
            BETA_MOST
        } else {
            let beta = BETA_LEAST + (BETA_MOST - BETA_LEAST) * (delay - short) / (long - short);
            if self.numbers.are_whole() { (beta * BETA_SCALE).floor() / BETA_SCALE } else { beta }
        }
    }
}

impl Avoidance for IllinoisAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = sample_us(ack) {
            let rtt = self.numbers.down(rtt);
            self.base = self.base.min(rtt);
            self.longest = self.longest.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        if ack.acked == 0.0 || ack.in_recovery {
            self.sacked += f64::from(ack.newly_delivered);
        }
        if self.trip.advance(ack) && !ack.in_recovery {
            self.end_round(window.cwnd());
            self.begin_round(ack.path.in_flight);
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if !self.numbers.are_whole() {
            return cwnd + self.alpha * ack.acked / cwnd;
        }
        // Linux counts what an ACK covers, also if SACK blocks reported it before.
        self.counted += ack.acked + std::mem::take(&mut self.sacked);
        let segments = ((self.counted * self.alpha).floor() / cwnd).floor();
        if segments > 0.0 {
            self.counted = 0.0;
        }
        cwnd + segments
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        self.counted = 0.0;
        if congestion.kind == CongestionKind::Timeout {
            self.begin_round(congestion.flight_size);
        }
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window - self.numbers.down(self.beta * window)
    }

    fn on_timeout(&mut self) {
        (self.alpha, self.beta) = (1.0, BETA_MOST);
        (self.was_above, self.low_trips) = (false, 0);
        self.sacked = 0.0;
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
        report("beta", self.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{congestion, linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::round;

    /// A path of 100 ms whose longest queueing delay was 100 ms.
    fn known(context: CcContext) -> AvoidanceController<IllinoisAvoidance> {
        let mut cc = Illinois::default().controller(context);
        (cc.avoidance.base, cc.avoidance.longest) = (100_000.0, 200_000.0);
        cc.avoidance.trip.begin(context.initial_window as u32 - 1);
        cc
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected, "{value}, not {expected}");
    }

    #[test]
    fn the_delay_sets_increase_and_decrease() {
        let after = |context: CcContext, rtt_ms| {
            let mut cc = known(context);
            // The largest window whose ACKs do not change it.
            cc.avoidance.alpha = 0.0;
            round(&mut cc, rtt_ms);
            (cc.avoidance.alpha, cc.avoidance.beta)
        };
        assert_eq!(after(real(40.0), 101.0), (10.0, 0.125));
        assert_eq!(after(real(40.0), 110.0).1, 0.125);
        // 10 * 99 / (99 + 49 * 9.7 / 0.3), and 1/8 + 3/8 * 40/70.
        let (alpha, beta) = after(real(40.0), 150.0);
        near(alpha, 990.0 / (99.0 + 49.0 * 9.7 / 0.3));
        near(beta, 0.125 + 0.375 * 40.0 / 70.0);
        let (alpha, beta) = after(real(40.0), 200.0);
        near(alpha, 0.3);
        assert_eq!(beta, 0.5);
        // 99000 * 1280 / (99000 + floor(49000 * 1242 / 38)) = 74.6, and 8 + 24 * 4/7 = 21.7.
        assert_eq!(after(linux(40.0), 150.0), (74.0 / 128.0, 21.0 / 64.0));
        assert_eq!(after(linux(14.0), 150.0), (1.0, 0.5));
    }

    #[test]
    fn the_largest_increase_returns_after_theta_round_trips() {
        let mut cc = known(linux(40.0));
        cc.avoidance.was_above = true;
        cc.avoidance.alpha = 0.5;
        let alphas: Vec<_> = (0..5).map(|_| cc.avoidance.alpha_at(1000.0, 100_000.0)).collect();
        assert_eq!(alphas, [0.5, 0.5, 0.5, 0.5, 10.0]);
        assert_eq!(cc.avoidance.alpha_at(1000.0, 100_000.0), 10.0);
    }

    #[test]
    fn a_window_grows_by_alpha_segments_in_a_round_trip() {
        let mut cc = known(real(100.0));
        cc.avoidance.alpha = 0.5;
        (0..99).for_each(|_| cc.on_ack(&Ack::of(1.0)));
        assert!((cc.cwnd() - 100.495).abs() < 0.005, "{}", cc.cwnd());
        // 10 ACKs of 1 give a segment at 95: 9 give 90. The tenth has five too many, which are lost.
        let mut cc = known(linux(95.0));
        (0..10).for_each(|_| cc.on_ack(&Ack::of(1.0)));
        assert_eq!((cc.cwnd(), cc.avoidance.counted), (96.0, 0.0));
        // Nine segments in SACK blocks count with the ACK that covers them.
        (0..9).for_each(|_| cc.on_ack(&Ack { in_recovery: true, ..Ack::of(0.0) }));
        cc.on_ack(&Ack::of(1.0));
        assert_eq!((cc.cwnd(), cc.avoidance.sacked), (97.0, 0.0));
    }

    #[test]
    fn a_loss_takes_beta_and_a_timeout_forgets_it() {
        let mut cc = known(linux(45.0));
        cc.avoidance.beta = 0.125;
        assert_eq!(lose(&mut cc), 40.0);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.ssthresh(), cc.avoidance.alpha, cc.avoidance.beta), (35.0, 1.0, 0.5));
        respects_slow_start_and_floors(&Illinois::default(), 20.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert_eq!(Illinois { win_thresh: -1.0, theta: 5 }.check().unwrap_err().key(), "win_thresh");
    }
}
