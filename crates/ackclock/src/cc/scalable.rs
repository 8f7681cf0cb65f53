//! # Scalable: a fixed increase per ACK
//!
//! `cc = "scalable"`
//!
//! Scalable TCP adds a fixed part of a segment for each acknowledged segment. A loss removes an eighth
//! of the window. The time to recover from a loss is then the same for all windows. Two flows of
//! this kind keep the ratio of their windows, as all multiplicative controls do.
//!
//! ## Reference
//!
//! T. Kelly (2003), ACM SIGCOMM CCR 33 (2): Scalable TCP: Improving Performance in Highspeed Wide Area
//! Networks. Linux contains it as `tcp_scalable`.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | acknowledged segment in congestion avoidance | `w <- w + increase` |
//! | loss or mark | `w <- (1 - decrease) w` |
//! | either, if `w <= low_window` | as [Reno](reno.md) |
//! | timeout | `ssthresh <- w/2`, `w <- 1` |
//!
//! Under periodic loss, the mean window is `increase / (p ln(1 / (1 - decrease)))`, which is
//! `0.0749 / p` by default.
//!
//! ## Parameters
//!
//! Under `profile = "linux"` the window grows by `max(increase, 1/w)`, and a loss removes `decrease`
//! at every window. `low_window` has no effect there. With the default increase, windows up to 100
//! segments grow as Reno's.
//!
//! ## Constants
//!
//! The paper chooses 0.01 and 0.125, as a compromise between convergence and variation of the rate. The
//! legacy window of 16 segments is the largest window at which it behaves as standard TCP.
//!
//! ## Deviations
//!
//! - The synchronous model has no Scalable. [MIMD](mimd.md) is the same control there.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. Under periodic loss
//! with p from 1e-3 to 1e-6, the controller's mean window is within 2 % of the response function.
//!
//! `python tools/kernel/algorithms.py scalable` compares whole flows with Linux 6.12 in virtual time. On
//! ten paths, goodput differs by at most 0.1 % and the mean window by at most 0.2 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::{require, require_segments};

/// Scalable TCP: multiplies its window. Kelly 2003.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scalable {
    /// The paper's a: segments by which an acknowledged segment raises the window, above 0 and at most 1.
    pub increase: f64,
    /// The paper's b: part of the window that congestion removes, at least 0.05 and below 1.
    pub decrease: f64,
    /// The paper's lwnd: windows up to this one behave as Reno's, in segments, at least 0 and at most 16777216.
    pub low_window: f64,
}

impl Default for Scalable {
    fn default() -> Self {
        // Section 3 of the paper recommends the three values.
        Scalable { increase: 0.01, decrease: 0.125, low_window: 16.0 }
    }
}

impl CcParameters for Scalable {
    type Controller = AvoidanceController<ScalableAvoidance>;
    const REFERENCE: &'static str = "Kelly 2003, Scalable TCP: Improving Performance in Highspeed Wide Area Networks";

    fn check(&self) -> Result<(), CcMistake> {
        let Scalable { increase, decrease, low_window } = *self;
        require("increase", increase, increase > 0.0 && increase <= 1.0, "above 0 and at most 1")?;
        require("decrease", decrease, (0.05..1.0).contains(&decrease), "at least 0.05 and below 1")?;
        Ok(require_segments("low_window", low_window)?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let avoidance = ScalableAvoidance { parameters: self.clone(), numbers: Numbers::of(&context) };
        let timeout_ssthresh = context.timeout_ssthresh.of_halving();
        AvoidanceController::new(avoidance, CcContext { timeout_ssthresh, ..context })
    }
}

/// Scalable's congestion avoidance.
#[derive(Clone, Debug)]
pub struct ScalableAvoidance {
    parameters: Scalable,
    numbers: Numbers,
}

impl Avoidance for ScalableAvoidance {
    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let Scalable { increase, low_window, .. } = self.parameters;
        let gain = match self.numbers {
            Numbers::Real if cwnd <= low_window => 1.0 / cwnd,
            Numbers::Real => increase,
            Numbers::Whole => increase.max(1.0 / cwnd),
        };
        cwnd + ack.acked * gain
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        let Scalable { decrease, low_window, .. } = self.parameters;
        match self.numbers {
            Numbers::Real if window <= low_window => window / 2.0,
            Numbers::Real => window * (1.0 - decrease),
            Numbers::Whole => window - (window * decrease).floor(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{
        acks_for_a_segment, linux, lose, mean_in_packets, mean_under_periodic_loss, real,
        respects_slow_start_and_floors,
    };

    #[test]
    fn a_segment_adds_a_hundredth_and_a_loss_takes_an_eighth() {
        let mut cc = Scalable::default().controller(real(200.0));
        cc.on_ack(&Ack::of(1.0));
        assert_eq!(cc.cwnd(), 200.01);
        assert_eq!(lose(&mut Scalable::default().controller(real(200.0))), 175.0);
        let mut small = Scalable::default().controller(real(16.0));
        small.on_ack(&Ack::of(1.0));
        assert_eq!((small.cwnd(), lose(&mut Scalable::default().controller(real(16.0)))), (16.0625, 8.0));
    }

    #[test]
    fn linux_grows_at_least_as_reno_and_always_removes_an_eighth() {
        let acks = |window| acks_for_a_segment(&mut Scalable::default().controller(linux(window)));
        assert_eq!((acks(50.0), acks(100.0), acks(400.0)), (50, 100, 100));
        // 15 - 15 / 8, rounded.
        assert_eq!(lose(&mut Scalable::default().controller(linux(15.0))), 14.0);
        assert_eq!(lose(&mut Scalable::default().controller(linux(400.0))), 350.0);
    }

    /// Between losses the window grows by a/p from (1 - b) P to P: P = a / (b p). In equal round trips its mean is
    /// b P / ln(1 / (1 - b)), 0.0749 / p.
    #[test]
    fn the_mean_window_follows_the_response_function() {
        for period in [1_000, 10_000, 100_000, 1_000_000] {
            let expected = 0.01 / libm::log(1.0 / 0.875) * period as f64;
            let mut cc = Scalable::default().controller(real(expected));
            let mean = mean_under_periodic_loss(&mut cc, period, 50);
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, not {expected}");
        }
    }

    #[test]
    fn a_flow_follows_the_response_function() {
        for period in [1_000, 10_000] {
            let expected = 0.01 / libm::log(1.0 / 0.875) * period as f64;
            let mean = mean_in_packets("scalable", period, 200);
            assert!((mean / expected - 1.0).abs() < 0.1, "{mean}, not {expected}");
        }
    }

    #[test]
    fn slow_start_floors_and_undo() {
        respects_slow_start_and_floors(&Scalable::default(), 20.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = Scalable::default;
        for (wrong, key) in [
            (Scalable { increase: 0.0, ..default() }, "increase"),
            (Scalable { decrease: 1.0, ..default() }, "decrease"),
            (Scalable { low_window: -1.0, ..default() }, "low_window"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
