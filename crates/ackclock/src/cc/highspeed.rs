//! # HighSpeed: Reno with larger steps for large windows
//!
//! `cc = "highspeed"`
//!
//! HighSpeed TCP raises the increase and lowers the decrease with the window. A large window then
//! needs a realistic loss rate. Windows up to 38 segments behave as Reno's, so it competes fairly where
//! losses are frequent.
//!
//! ## Reference
//!
//! RFC 3649 (S. Floyd, 2003): HighSpeed TCP for Large Congestion Windows. Linux contains it as
//! `tcp_highspeed`.
//!
//! ## Equations
//!
//! Here W, W_1, P and P_1 are `low_window`, `high_window`, `low_p` and `high_p`. The position of a
//! window is `x = log(w/W) / log(W_1/W)`.
//!
//! | quantity | equation | section |
//! |---|---|---|
//! | response function | `p(w) = P (P_1/P)^x` | 5 |
//! | decrease | `b(w) = 0.5 + (high_decrease - 0.5) x` | 5 |
//! | increase | `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`, at least 1 | 5 |
//! | ACK in congestion avoidance | `w <- w + a(w)/w` | 5 |
//! | loss or mark | `w <- (1 - b(w)) w` | 5 |
//! | timeout | `ssthresh <- w/2`, `w <- 1` | 5 |
//!
//! At most W, a is 1 and b is 0.5. Far beyond W_1, b is at least half of `high_decrease`.
//!
//! ## Parameters
//!
//! Under `profile = "linux"` with the default parameters, table 12 of the RFC replaces the equations,
//! as in Linux:
//!
//! - The increase is whole. It comes from the first row of the table whose window is not below w.
//! - The decrease is in units of 1/256.
//! - Each ACK counts once. Delayed ACKs halve the increase.
//! - The row changes in congestion avoidance only, so a loss in the first slow start halves the window.
//!
//! ## Constants
//!
//! The RFC gives the five values. The response function has the mean window of standard TCP at a loss
//! rate of 1e-3. It reaches 83000 segments, or 10 Gbit/s at 100 ms, at a loss rate of 1e-7.
//!
//! ## Deviations
//!
//! - Limited slow start (RFC 3742), which the RFC recommends, is not included. The transport key
//!   `slow_start` selects other ends of slow start.
//! - The synchronous model has no HighSpeed.
//!
//! ## Validation
//!
//! Tests compare a(w), b(w) and the table with the RFC. They also compare the mean window under periodic
//! loss with `0.12 / p^0.835`:
//!
//! | p | difference of the controller alone |
//! |---|---|
//! | 1e-3 | +5.6 % |
//! | 1e-4 | +0.8 % |
//! | 1e-5 | +1.1 % |
//! | 1e-6 | +2.3 % |
//!
//! At 1e-3 the window is above 38 for half of the time. It grows faster there than the equation
//! assumes. A flow in packets is within 10 % from 1e-3 to 1e-5.
//!
//! `python tools/kernel/algorithms.py highspeed` compares whole flows with Linux 6.12 in virtual time. On
//! ten paths, goodput differs by at most 0.2 % and the mean window by at most 2.1 %. The largest
//! difference of the window is at 10 Mbit/s, 40 ms and a buffer of four BDP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::{MOST_SEGMENTS, require};

/// RFC 3649 §5: standard TCP removes half of the window.
const STANDARD_DECREASE: f64 = 0.5;
/// RFC 3649, table 12: the windows at which the increase per round trip is 1, 2, 3 and so on.
const TABLE: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424, 15265, 16137,
    17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586,
    37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401,
    79517, 84035, 89053, 94717,
];
/// Linux has the decrease in units of 1/256.
const DECREASE_SCALE: f64 = 256.0;

/// HighSpeed TCP (RFC 3649): grows faster at large windows. Its decrease is smaller there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HighSpeed {
    /// RFC 3649's Low_Window: windows up to this one behave as Reno's, in segments, at least 2 and below `high_window`.
    pub low_window: f64,
    /// RFC 3649's High_Window, in segments, at most 16777216.
    pub high_window: f64,
    /// RFC 3649's Low_P: loss ratio at which the mean window is `low_window`, above `high_p` and below 1.
    pub low_p: f64,
    /// RFC 3649's High_P: loss ratio at which the mean window is `high_window`, above 0.
    pub high_p: f64,
    /// RFC 3649's High_Decrease: part of the window that congestion removes at `high_window`, above 0 and at most 0.5.
    pub high_decrease: f64,
}

impl Default for HighSpeed {
    fn default() -> Self {
        // RFC 3649 §5 gives the five values.
        HighSpeed { low_window: 38.0, high_window: 83_000.0, low_p: 1e-3, high_p: 1e-7, high_decrease: 0.1 }
    }
}

impl HighSpeed {
    /// The position of a window between `low_window` and `high_window` on a logarithmic scale.
    fn position(&self, w: f64) -> f64 {
        libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window)
    }

    /// RFC 3649's b(w): the part of the window that congestion removes.
    fn decrease(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return STANDARD_DECREASE;
        }
        // Beyond `high_window`, the line would cross zero.
        let decrease = STANDARD_DECREASE + (self.high_decrease - STANDARD_DECREASE) * self.position(w);
        decrease.max(self.high_decrease / 2.0)
    }

    /// RFC 3649's a(w): the increase per round trip, from the loss ratio at which w is the mean window.
    fn increase(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 1.0;
        }
        let (b, p) = (self.decrease(w), self.low_p * libm::pow(self.high_p / self.low_p, self.position(w)));
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl CcParameters for HighSpeed {
    type Controller = AvoidanceController<HighSpeedAvoidance>;
    const REFERENCE: &'static str = "RFC 3649 (Floyd 2003), HighSpeed TCP for Large Congestion Windows";

    fn check(&self) -> Result<(), CcMistake> {
        let HighSpeed { low_window, high_window, low_p, high_p, high_decrease } = *self;
        let is_high = high_window > 2.0 && high_window <= MOST_SEGMENTS;
        require("high_window", high_window, is_high, "above 2 and at most 16777216")?;
        let is_low = low_window >= 2.0 && low_window < high_window;
        require("low_window", low_window, is_low, "at least 2 and below high_window")?;
        require("low_p", low_p, low_p > 0.0 && low_p < 1.0, "above 0 and below 1")?;
        require("high_p", high_p, high_p > 0.0 && high_p < low_p, "above 0 and below low_p")?;
        let is_decrease = high_decrease > 0.0 && high_decrease <= STANDARD_DECREASE;
        Ok(require("high_decrease", high_decrease, is_decrease, "above 0 and at most 0.5")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        // Linux contains the table for the default parameters.
        let has_table = Numbers::of(&context).are_whole() && *self == HighSpeed::default();
        let avoidance = HighSpeedAvoidance { parameters: self.clone(), row: has_table.then_some(0) };
        let timeout_ssthresh = context.timeout_ssthresh.of_halving();
        AvoidanceController::new(avoidance, CcContext { timeout_ssthresh, ..context })
    }
}

/// HighSpeed's congestion avoidance.
#[derive(Clone, Debug)]
pub struct HighSpeedAvoidance {
    parameters: HighSpeed,
    /// The row of the table, which follows the window in congestion avoidance. None for the equations.
    row: Option<usize>,
}

impl Avoidance for HighSpeedAvoidance {
    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let Some(row) = &mut self.row else {
            return cwnd + ack.acked * self.parameters.increase(cwnd) / cwnd;
        };
        // Each ACK counts once in Linux.
        *row = TABLE.partition_point(|window| f64::from(*window) < cwnd).min(TABLE.len() - 1);
        cwnd + (*row + 1) as f64 / cwnd
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        match self.row {
            None => window * (1.0 - self.parameters.decrease(window)),
            Some(row) => {
                let decrease = (DECREASE_SCALE * self.parameters.decrease(f64::from(TABLE[row]))).floor();
                window - (window * decrease / DECREASE_SCALE).floor()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{
        linux, lose, mean_in_packets, mean_under_periodic_loss, real, respects_slow_start_and_floors,
    };

    fn near(value: f64, expected: f64, part: f64) {
        assert!((value / expected - 1.0).abs() <= part, "{value}, not {expected}");
    }

    /// The program of RFC 3649, table 13.
    #[test]
    fn the_table_is_the_one_that_the_rfc_computes() {
        let mut computed = vec![38];
        let mut last = 1.0;
        for window in 38..100_000u32 {
            let w = f64::from(window);
            let b = HighSpeed::default().decrease(w);
            let a = w * w * 2.0 * b / ((2.0 - b) * libm::pow(w, 1.2) * 12.8);
            if a > last + 1.0 {
                computed.push(window);
                last = a;
            }
        }
        assert_eq!(computed, TABLE);
    }

    /// RFC 3649, table 12.
    #[test]
    fn the_equations_give_the_values_of_the_rfc() {
        let default = HighSpeed::default();
        for (window, increase, decrease) in [(118.0, 2.0, 0.44), (1058.0, 8.0, 0.33), (84_035.0, 71.0, 0.10)] {
            near(default.increase(window), increase, 0.03);
            near(default.decrease(window), decrease, 0.02);
        }
        assert_eq!((default.increase(38.0), default.decrease(38.0)), (1.0, 0.5));
    }

    /// RFC 3649, equation 1: W = 0.12 / p^0.835. At p = 1e-3 the window is above 38 for half of the time. It grows
    /// faster than the equation assumes.
    #[test]
    fn the_mean_window_follows_the_response_function() {
        for (exponent, bound) in [(3, 0.06), (4, 0.05), (5, 0.05), (6, 0.05)] {
            let expected = 0.12 * libm::pow(10.0, 0.835 * f64::from(exponent));
            let mut cc = HighSpeed::default().controller(real(expected));
            near(mean_under_periodic_loss(&mut cc, 10u64.pow(exponent as u32), 20), expected, bound);
        }
    }

    #[test]
    fn a_flow_follows_the_response_function() {
        for (exponent, secs) in [(3, 200), (4, 200), (5, 200)] {
            let expected = 0.12 * libm::pow(10.0, 0.835 * f64::from(exponent));
            near(mean_in_packets("highspeed", 10u64.pow(exponent as u32), secs), expected, 0.1);
        }
    }

    #[test]
    fn linux_reads_the_table_once_per_ack() {
        let mut cc = HighSpeed::default().controller(linux(118.0));
        // 2/118 for each ACK, also for one of two segments.
        (0..59).for_each(|_| cc.on_ack(&Ack::of(2.0)));
        assert_eq!(cc.cwnd(), 119.0);
        // 0.44 * 256 = 112.9: 118 - floor(118 * 112 / 256).
        let mut at = HighSpeed::default().controller(linux(118.0));
        at.on_ack(&Ack::of(1.0));
        assert_eq!(lose(&mut at), 67.0);
        // Slow start does not move the row, so the first loss halves any window.
        assert_eq!(lose(&mut HighSpeed::default().controller(linux(1000.0))), 500.0);
    }

    #[test]
    fn slow_start_floors_and_undo() {
        respects_slow_start_and_floors(&HighSpeed::default(), 20.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = HighSpeed::default;
        for (wrong, key) in [
            (HighSpeed { low_window: 1.0, ..default() }, "low_window"),
            (HighSpeed { high_window: 1e9, ..default() }, "high_window"),
            (HighSpeed { low_p: 1.0, ..default() }, "low_p"),
            (HighSpeed { high_p: 0.01, ..default() }, "high_p"),
            (HighSpeed { high_decrease: 0.6, ..default() }, "high_decrease"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
