//! # BIC: a binary search for the window of the last loss
//!
//! `cc = "bic"`
//!
//! BIC searches for the window at which the last loss happened. The window grows fast while it is far
//! below that window, and slowly close to it. Beyond it, growth accelerates again. BIC was the default
//! of Linux before CUBIC, which replaces the search with a curve.
//!
//! ## Reference
//!
//! L. Xu, K. Harfoush and I. Rhee (2004), IEEE INFOCOM: Binary Increase Congestion Control (BIC) for
//! Fast Long-Distance Networks. Linux contains it as `tcp_bic`.
//!
//! ## Equations
//!
//! Here W is the window of the last loss, or less by fast convergence. The step s is `(W - w)/4`.
//!
//! | region | condition | segments more per round trip |
//! |---|---|---|
//! | Reno | `w <= low_window` | 1 |
//! | linear increase | `w < W`, `s > max_increment` | `max_increment` |
//! | binary search | `w < W`, s above 1 | s |
//! | close to W | `w < W` with `s <= 1`, or `W <= w < W + 4` | `4 / smooth_part` |
//! | slow probing | `w < W + 3 max_increment` | `(w - W)/3` |
//! | linear probing | otherwise | `max_increment` |
//!
//! | event | equation |
//! |---|---|
//! | loss or mark | `w <- beta w`, and `w <- w/2` if `w <= low_window` |
//! | the same, before the decrease | `W <- w`, and `W <- w (1 + beta)/2` if `w < W` with `fast_convergence` |
//! | timeout | the same decrease, then W is unknown |
//!
//! Before the first loss W is unknown. The window then grows by at least a segment per 20 acknowledged
//! segments.
//!
//! ## Parameters
//!
//! Linux's module has the same names and defaults, with `beta` in units of 1/1024. Under
//! `profile = "linux"` the steps and counts are whole numbers. To
//! compensate for delayed ACKs, Linux divides the count by the mean number of segments per ACK. It also
//! counts acknowledged segments. A flow with delayed ACKs therefore grows at twice the rate of the
//! equations.
//!
//! ## Constants
//!
//! The step is a quarter of the distance, as in Linux. The paper's search takes half of it. `beta` of
//! 819/1024 leaves 0.8 of the window, where the paper has 0.875. The paper recommends 14 as the window
//! at which BIC takes over from Reno.
//!
//! ## Deviations
//!
//! - A timeout uses BIC's own decrease, as in Linux. The paper does not cover timeouts.
//! - Linux updates the count at most 32 times per second while the window stays the same. Here each
//!   ACK updates it.
//! - The synchronous model has no acknowledgements, and therefore no BIC.
//!
//! ## Validation
//!
//! Tests compare the equations with hand-computed values. `python tools/kernel/algorithms.py bic` compares
//! whole flows with Linux 6.12 in virtual time. On ten paths, goodput differs by at most 0.3 % and the
//! mean window by at most 3.2 %. The largest difference of the window is at 10 Mbit/s, 20 ms and a
//! buffer of four BDP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::window::Window;
use super::{Ack, CaState, CcContext, CcMistake, CcParameters, Congestion};
use crate::rule::{MOST_SEGMENTS, require, require_segments};

/// The binary search goes a quarter of the distance in a round trip (Linux's `BICTCP_B`).
const PARTS: f64 = 4.0;
/// Before the first loss, the window grows by a segment at least per this many acknowledged segments.
const UNKNOWN_MOST: f64 = 20.0;
/// Segments of an ACK in Linux are counted in sixteenths. The estimate begins at two segments.
const DELAYED_ACK_SCALE: f64 = 16.0;

/// BIC: a search for the window of the last loss. Xu, Harfoush & Rhee 2004.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bic {
    /// The largest increase in a round trip, in segments, above 0 and at most 16777216.
    pub max_increment: f64,
    /// Windows up to this one behave as Reno's, in segments, at least 0 and at most 16777216.
    pub low_window: f64,
    /// Part of the window that remains after congestion, above 0 and below 1.
    pub beta: f64,
    /// Round trips for a step of four segments close to the last maximum, at least 1 and at most 1000.
    pub smooth_part: f64,
    /// Whether a window that is cut below its last maximum lowers the maximum further.
    pub fast_convergence: bool,
}

impl Default for Bic {
    fn default() -> Self {
        // The defaults of Linux's module. The paper recommends a low window of 14.
        Bic { max_increment: 16.0, low_window: 14.0, beta: 819.0 / 1024.0, smooth_part: 20.0, fast_convergence: true }
    }
}

impl CcParameters for Bic {
    type Controller = AvoidanceController<BicAvoidance>;
    const REFERENCE: &'static str =
        "Xu, Harfoush & Rhee 2004, Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks";

    fn check(&self) -> Result<(), CcMistake> {
        let Bic { max_increment, low_window, beta, smooth_part, .. } = *self;
        let is_increment = max_increment > 0.0 && max_increment <= MOST_SEGMENTS;
        require("max_increment", max_increment, is_increment, "above 0 and at most 16777216")?;
        require_segments("low_window", low_window)?;
        require("beta", beta, beta > 0.0 && beta < 1.0, "above 0 and below 1")?;
        let is_part = (1.0..=1000.0).contains(&smooth_part);
        Ok(require("smooth_part", smooth_part, is_part, "at least 1 and at most 1000")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let numbers = Numbers::of(&context);
        let avoidance =
            BicAvoidance { parameters: self.clone(), numbers, last_max: 0.0, delayed_ack: 2.0 * DELAYED_ACK_SCALE };
        AvoidanceController::new(avoidance, context)
    }
}

/// BIC's congestion avoidance.
#[derive(Clone, Debug)]
pub struct BicAvoidance {
    parameters: Bic,
    numbers: Numbers,
    /// The window of the last loss, or less by fast convergence. 0 before the first loss.
    last_max: f64,
    /// Segments that an ACK acknowledges, in sixteenths.
    delayed_ack: f64,
}

impl BicAvoidance {
    /// Acknowledged segments for which a window grows by one.
    fn segments_for_one(&self, cwnd: f64) -> f64 {
        let Bic { max_increment, low_window, smooth_part, .. } = self.parameters;
        if cwnd <= low_window {
            return cwnd;
        }
        let (last_max, smooth) = (self.last_max, cwnd * smooth_part / PARTS);
        let count = if cwnd < last_max {
            let step = self.numbers.down((last_max - cwnd) / PARTS);
            if step > max_increment {
                cwnd / max_increment
            } else if step <= 1.0 {
                smooth
            } else {
                cwnd / step
            }
        } else if cwnd < last_max + PARTS {
            smooth
        } else if cwnd < last_max + max_increment * (PARTS - 1.0) {
            cwnd * (PARTS - 1.0) / (cwnd - last_max)
        } else {
            cwnd / max_increment
        };
        let count = self.numbers.down(count);
        if last_max == 0.0 { count.min(UNKNOWN_MOST) } else { count }
    }
}

impl Avoidance for BicAvoidance {
    fn observe(&mut self, _window: &mut Window, ack: &Ack) {
        if self.numbers.are_whole() && ack.state == CaState::Open && ack.acked > 0.0 {
            self.delayed_ack += f64::from(ack.newly_delivered) - (self.delayed_ack / DELAYED_ACK_SCALE).floor();
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let mut count = self.segments_for_one(cwnd);
        if self.numbers.are_whole() {
            count = (count * DELAYED_ACK_SCALE / self.delayed_ack).floor();
        }
        cwnd + ack.acked / count.max(1.0)
    }

    fn on_congestion(&mut self, cwnd: f64, _congestion: &Congestion) {
        let Bic { beta, fast_convergence, .. } = self.parameters;
        let converges = fast_convergence && cwnd < self.last_max;
        self.last_max = if converges { self.numbers.down(cwnd * (1.0 + beta) / 2.0) } else { cwnd };
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        let Bic { low_window, beta, .. } = self.parameters;
        if window <= low_window { window / 2.0 } else { window * beta }
    }

    fn on_timeout(&mut self) {
        self.last_max = 0.0;
        self.delayed_ack = 2.0 * DELAYED_ACK_SCALE;
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("last_max_segments", self.last_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{
        acks_for_a_segment, congestion, linux, lose, real, respects_slow_start_and_floors,
    };
    use crate::cc::{CongestionControl, CongestionKind};

    /// The controller at a window, after a loss at `last_max`.
    fn count(last_max: f64, cwnd: f64) -> f64 {
        let mut cc = Bic::default().controller(linux(last_max));
        lose(&mut cc);
        cc.avoidance.segments_for_one(cwnd)
    }

    #[test]
    fn the_window_of_the_last_loss_is_searched_for() {
        // A quarter of 200 - 160 is 10 segments in a round trip.
        assert_eq!(count(200.0, 160.0), 16.0);
        // A quarter of 200 is 50, and 16 the most.
        assert_eq!(count(1000.0, 800.0), 50.0);
        // A quarter of 7 is 1: a step of four takes 20 round trips.
        assert_eq!(count(200.0, 193.0), 193.0 * 5.0);
        // Beyond the maximum: slowly for four segments, then by a third of the distance, then by 16.
        assert_eq!((count(200.0, 203.0), count(200.0, 206.0)), (203.0 * 5.0, 103.0));
        assert_eq!((count(200.0, 230.0), count(200.0, 248.0)), (23.0, 15.0));
        assert_eq!(count(200.0, 14.0), 14.0, "as Reno");
    }

    #[test]
    fn a_loss_leaves_0_8_of_large_windows_and_half_of_small_ones() {
        let mut cc = Bic::default().controller(linux(100.0));
        // 100 * 819 / 1024 = 79.98.
        assert_eq!((lose(&mut cc), cc.avoidance.last_max), (79.0, 100.0));
        // Lower than the last maximum: 79 * 1843 / 2048 = 71.09.
        assert_eq!((lose(&mut cc), cc.avoidance.last_max), (63.0, 71.0));
        assert_eq!(lose(&mut Bic::default().controller(linux(14.0))), 7.0);
        assert_eq!(lose(&mut Bic::default().controller(real(100.0))), 100.0 * 819.0 / 1024.0);
    }

    #[test]
    fn before_the_first_loss_and_after_a_timeout_there_is_no_maximum() {
        let mut cc = Bic::default().controller(real(1000.0));
        assert_eq!(cc.avoidance.segments_for_one(1000.0), 20.0);
        lose(&mut cc);
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!(cc.avoidance.last_max, 0.0);
    }

    /// Of two segments per ACK, 32/16, a segment counts twice.
    #[test]
    fn linux_makes_up_for_delayed_acks() {
        let mut cc = Bic::default().controller(linux(1000.0));
        assert_eq!(acks_for_a_segment(&mut cc), 10);
        let ack = |newly_delivered| Ack { newly_delivered, ..Ack::of(0.5) };
        (0..200).for_each(|_| cc.on_ack(&ack(1)));
        assert_eq!(cc.avoidance.delayed_ack, 31.0);
    }

    #[test]
    fn slow_start_floors_and_undo() {
        respects_slow_start_and_floors(&Bic::default(), 31.0);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = Bic::default;
        for (wrong, key) in [
            (Bic { max_increment: 0.0, ..default() }, "max_increment"),
            (Bic { low_window: -1.0, ..default() }, "low_window"),
            (Bic { beta: 1.0, ..default() }, "beta"),
            (Bic { smooth_part: 0.5, ..default() }, "smooth_part"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
