//! # Veno: smaller decreases for random losses
//!
//! `cc = "veno"`
//!
//! Veno is Reno for wireless paths. Like [Vegas](vegas.md) it computes how many of its packets wait in
//! the queue. A loss with a short queue is probably random, and costs a fifth of the window instead of
//! half. With a long queue the window grows half as fast, so losses are rarer.
//!
//! ## Reference
//!
//! C. P. Fu and S. C. Liew, TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks.
//! It appeared in IEEE JSAC 21 (2), 2003.
//!
//! ## Equations
//!
//! Here w is the window, R the last RTT, and B the smallest RTT since the last idle time.
//!
//! | event | equation |
//! |---|---|
//! | packets in the queue | `N = w (R - B) / R` |
//! | ACK above ssthresh, `N < beta` | `w <- w + 1/w` |
//! | ACK above ssthresh, `N >= beta` | `w <- w + 1/(2w)` |
//! | loss, timeout or mark, `N < beta` | `w <- 4/5 w` |
//! | loss, timeout or mark, `N >= beta` | `w <- w/2` |
//!
//! The first two RTT samples of a connection lead to Reno's growth. So do losses and reordering, until
//! they are repaired.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper recommends three packets for `beta`. It found that values of two to four work equally
//! well.
//!
//! ## Deviations
//!
//! - After a timeout ssthresh follows the last two equations, as in Linux. The paper halves it.
//! - Under `profile = "linux"` times are whole microseconds plus one, and N is in half packets. Every
//!   second window of w + 1 ACKs adds a segment with a long queue.
//!
//! ## Validation
//!
//! On ten paths of 10 and 100 Mbit/s, `python tools/kernel/algorithms.py veno` compares it with Linux 6.12.
//! Figures are means of three runs of 30 seconds.
//!
//! | quantity | difference |
//! |---|---|
//! | goodput | -0.06 to +0.15 % |
//! | mean cwnd | -0.7 to +0.7 % |
//!
//! All paths are inside the bounds. Tests compare the formulas with hand-computed values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{DelayMeter, sample_us};
use super::vegas::ENOUGH_SAMPLES;
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, Departures, Sent};
use crate::rule::{MOST_SEGMENTS, require};

/// Part of the window that a random loss leaves.
const RANDOM_REMAINING: f64 = 0.8;

/// Veno: takes losses with a short queue for random. Fu & Liew 2003.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Veno {
    /// Packets in the queue from which losses count as congestion, above 0 and at most 16777216.
    pub beta: f64,
}

impl Default for Veno {
    fn default() -> Self {
        // The paper and Linux.
        Veno { beta: 3.0 }
    }
}

impl CcParameters for Veno {
    type Controller = AvoidanceController<VenoAvoidance>;
    const REFERENCE: &'static str =
        "Fu & Liew 2003, TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks";

    fn check(&self) -> Result<(), CcMistake> {
        let is_beta = self.beta > 0.0 && self.beta <= MOST_SEGMENTS;
        Ok(require("beta", self.beta, is_beta, "above 0 and at most 16777216")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let (beta, numbers) = (self.beta, Numbers::of(&context));
        let avoidance =
            VenoAvoidance { beta, numbers, meter: DelayMeter::default(), samples: 0, queued: 0.0, is_reno: true };
        AvoidanceController::new(avoidance, context)
    }
}

/// Veno's congestion avoidance.
#[derive(Clone, Debug)]
pub struct VenoAvoidance {
    beta: f64,
    numbers: Numbers,
    meter: DelayMeter,
    /// RTT samples of the connection, up to [`ENOUGH_SAMPLES`].
    samples: u32,
    /// Packets in the queue at the last measurement.
    queued: f64,
    /// The queue is unknown.
    is_reno: bool,
}

impl VenoAvoidance {
    fn measure(&mut self, cwnd: f64, rtt: f64) {
        let base = self.meter.base_us();
        self.queued = if self.numbers.are_whole() {
            let target = (2.0 * cwnd * (base.floor() + 1.0) / (rtt.floor() + 1.0)).floor();
            (2.0 * cwnd - target) / 2.0
        } else {
            cwnd * (rtt - base) / rtt
        };
    }
}

impl Avoidance for VenoAvoidance {
    const DEPARTURES: Departures = Departures::AfterIdle;

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.meter.on_sent(sent);
    }

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        self.meter.observe(ack);
        let sample = sample_us(ack);
        self.samples = (self.samples + u32::from(sample.is_some())).min(ENOUGH_SAMPLES);
        self.is_reno = self.meter.is_paused() || self.samples < ENOUGH_SAMPLES;
        if let Some(rtt) = sample.filter(|_| !self.is_reno && Window::grows_by(ack)) {
            self.measure(window.cwnd(), rtt);
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        let for_one = if self.is_reno || self.queued < self.beta {
            cwnd
        } else if self.numbers.are_whole() {
            2.0 * (cwnd + 1.0)
        } else {
            2.0 * cwnd
        };
        cwnd + ack.acked / for_one
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        self.meter.on_congestion(congestion);
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        if self.queued < self.beta { RANDOM_REMAINING * window } else { window / 2.0 }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("queued_segments", self.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{acks_for_a_segment, linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::ack;

    /// Veno at 40 segments, on a path of 100 ms, after an ACK with this RTT.
    fn after(context: CcContext, rtt_ms: f64) -> AvoidanceController<VenoAvoidance> {
        let mut cc = Veno::default().controller(context);
        (0..3).for_each(|_| cc.on_ack(&Ack { cwnd_limited: false, ..ack(100.0, 39) }));
        cc.on_ack(&ack(rtt_ms, 39));
        cc
    }

    #[test]
    fn a_queue_slows_growth_down() {
        // 40 (R - 100) / R: 2.99 and 3.01 packets.
        assert!((after(real(40.0), 108.08).cwnd() - 40.025).abs() < 1e-9);
        assert!((after(real(40.0), 108.14).cwnd() - 40.0125).abs() < 1e-9);
        // In half packets, 80 - floor(8000 / 107) = 6, so N is 3.
        let mut cc = after(linux(40.0), 107.0);
        assert_eq!((cc.avoidance.queued, cc.cwnd()), (3.0, 40.0));
        // 82 ACKs, the first of which came before. Those below have no delay.
        cc.avoidance.is_reno = false;
        let acks = (1..200).find(|_| {
            cc.on_ack(&ack(107.0, 39));
            cc.cwnd() > 40.0
        });
        assert_eq!(acks, Some(81));
    }

    #[test]
    fn losses_with_a_short_queue_cost_a_fifth() {
        let left = |rtt_ms| (lose(&mut after(linux(40.0), rtt_ms)), lose(&mut after(real(40.0), rtt_ms)).round());
        assert_eq!(left(105.0), (32.0, 32.0));
        assert_eq!(left(150.0), (20.0, 20.0));
        respects_slow_start_and_floors(&Veno::default(), 32.0);
    }

    #[test]
    fn an_unknown_queue_leads_to_reno() {
        assert_eq!(acks_for_a_segment(&mut Veno::default().controller(linux(40.0))), 40);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert_eq!(Veno { beta: 0.0 }.check().unwrap_err().key(), "beta");
    }
}
