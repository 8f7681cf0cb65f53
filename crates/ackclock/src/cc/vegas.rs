//! # Vegas: a few packets in the queue
//!
//! `cc = "vegas"`
//!
//! Vegas compares the RTT with the smallest RTT so far. It computes how many of its packets wait in
//! the queue. It keeps between `alpha` and `beta` of them there. The queue stays short, and a flow
//! alone loses nothing. Loss-based flows fill the queue and starve Vegas.
//!
//! ## Reference
//!
//! L. S. Brakmo and L. L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet.
//! It appeared in IEEE JSAC 13 (8), 1995. The parameters and the response to losses follow Linux.
//!
//! ## Equations
//!
//! Here w is the window, and R the smallest RTT of the last round trip. B is the smallest RTT since the
//! last idle time.
//!
//! | event | equation |
//! |---|---|
//! | packets in the queue | `d = w (R - B) / R`, or `w (R - B) / B` in Linux |
//! | end of a round trip, `d < alpha` | `w <- w + 1` |
//! | end of a round trip, `d > beta` | `w <- w - 1` |
//! | end of a round trip in slow start, `d > gamma` | `w <- min(w, w B/R + 1)`, and ssthresh is the same |
//! | loss, timeout or mark | `w <- w/2` |
//!
//! ## States
//!
//! | state | condition | window |
//! |---|---|---|
//! | slow start | `w < ssthresh` | doubles in a round trip |
//! | Vegas | otherwise | once per round trip, by d |
//! | Reno | losses or reordering, or at most two RTT samples in the round trip | `w + 1/w` per ACK |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper recommends one to three packets in the queue. Linux has two to four, so that a delayed
//! ACK does not look like a queue.
//!
//! ## Deviations
//!
//! - The window doubles in each round trip of slow start, as in Linux. In the paper it doubles in
//!   every second one.
//! - Loss recovery is the sender's. The paper retransmits earlier, and reduces the window by a
//!   quarter then.
//! - A window that the flow does not use does not grow. Linux also lets such a window grow.
//! - Under `profile = "linux"` times are whole microseconds plus one, and d is rounded down.
//!
//! ## Validation
//!
//! On ten paths of 10 and 100 Mbit/s, `python tools/kernel/algorithms.py vegas` compares it with Linux 6.12.
//! Figures are means of three runs of 30 seconds.
//!
//! | quantity | difference |
//! |---|---|
//! | goodput | -0.14 to 0.00 % |
//! | mean cwnd | -1.7 to +0.2 % |
//!
//! All paths are inside the bounds. In packets, a flow alone keeps its packets in the queue
//! between `alpha` and `beta`, and loses none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController, Numbers};
use super::round_trip::{DelayMeter, Delays};
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, Departures, Sent};
use crate::rule::{MOST_SEGMENTS, require};

/// Round trips with fewer RTT samples say too little about the queue.
pub(super) const ENOUGH_SAMPLES: u32 = 3;
/// The least window of the Vegas state.
const LEAST: f64 = 2.0;

/// Vegas: keeps a few packets in the queue. Brakmo & Peterson 1995.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vegas {
    /// Packets in the queue below which the window grows, at least 0 and at most `beta`.
    pub alpha: f64,
    /// Packets in the queue above which the window shrinks, at least 0 and at most 16777216.
    pub beta: f64,
    /// Packets in the queue that end slow start, at least 0 and at most 16777216.
    pub gamma: f64,
}

impl Default for Vegas {
    fn default() -> Self {
        // The defaults of Linux's module.
        Vegas { alpha: 2.0, beta: 4.0, gamma: 1.0 }
    }
}

impl CcParameters for Vegas {
    type Controller = AvoidanceController<VegasAvoidance>;
    const REFERENCE: &'static str =
        "Brakmo & Peterson 1995, TCP Vegas: End to End Congestion Avoidance on a Global Internet";

    fn check(&self) -> Result<(), CcMistake> {
        let Vegas { alpha, beta, gamma } = *self;
        require("alpha", alpha, (0.0..=beta).contains(&alpha), "at least 0 and at most beta")?;
        require("beta", beta, beta <= MOST_SEGMENTS, "at least 0 and at most 16777216")?;
        let is_gamma = (0.0..=MOST_SEGMENTS).contains(&gamma);
        Ok(require("gamma", gamma, is_gamma, "at least 0 and at most 16777216")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let (parameters, numbers) = (self.clone(), Numbers::of(&context));
        let avoidance =
            VegasAvoidance { parameters, numbers, meter: DelayMeter::default(), step: Step::Hold, queued: 0.0 };
        AvoidanceController::new(avoidance, context)
    }
}

/// The growth that an ACK permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Hold,
    Up,
    Reno,
}

/// Vegas's congestion avoidance.
#[derive(Clone, Debug)]
pub struct VegasAvoidance {
    parameters: Vegas,
    numbers: Numbers,
    meter: DelayMeter,
    step: Step,
    /// Packets in the queue at the end of the last round trip.
    queued: f64,
}

impl VegasAvoidance {
    /// The window's reaction to a round trip. Returns the growth that it permits.
    fn decide(&mut self, window: &mut Window, delays: Delays) -> Step {
        if delays.samples < ENOUGH_SAMPLES {
            return Step::Reno;
        }
        let Vegas { alpha, beta, gamma } = self.parameters;
        let cwnd = window.cwnd();
        let (base, rtt, per) = if self.numbers.are_whole() {
            let (base, rtt) = (delays.base.floor() + 1.0, delays.least.floor() + 1.0);
            (base, rtt, base)
        } else {
            (delays.base, delays.least, delays.least)
        };
        self.queued = self.numbers.down(cwnd * (rtt - base) / per);
        if window.in_slow_start() {
            if self.queued > gamma {
                let target = self.numbers.down(cwnd * base / rtt);
                window.avoid(cwnd.min(target + 1.0).max(LEAST.min(cwnd)));
                window.exit_slow_start();
            }
            Step::Hold
        } else if self.queued > beta {
            window.avoid((cwnd - 1.0).max(LEAST.min(cwnd)));
            window.keep_avoiding();
            Step::Hold
        } else if self.queued < alpha {
            Step::Up
        } else {
            Step::Hold
        }
    }
}

impl Avoidance for VegasAvoidance {
    const DEPARTURES: Departures = Departures::AfterIdle;

    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.meter.on_sent(sent);
    }

    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        self.step = match self.meter.observe(ack) {
            Some(delays) => self.decide(window, delays),
            None if self.meter.is_paused() => Step::Reno,
            None => Step::Hold,
        };
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        match self.step {
            Step::Hold => cwnd,
            Step::Up => cwnd + 1.0,
            Step::Reno => cwnd + ack.acked / cwnd,
        }
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        self.meter.on_congestion(congestion);
    }

    fn cut(&mut self, window: f64, _congestion: &Congestion) -> f64 {
        window / 2.0
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("queued_segments", self.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::avoidance::testing::{linux, lose, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::round;
    use crate::cc::tests::{Path, mbit, ms};
    use crate::cc::{CongestionControl, CongestionKind};

    /// The window after a round trip of 100 ms without a queue, and one with this RTT.
    fn after(context: CcContext, rtt_ms: f64) -> f64 {
        let mut cc = Vegas::default().controller(context);
        cc.avoidance.meter.observe(&crate::cc::round_trip::testing::ack(100.0, cc.cwnd() as u32 - 1));
        round(&mut cc, rtt_ms);
        cc.cwnd()
    }

    #[test]
    fn the_queue_decides_once_in_a_round_trip() {
        // 40 (R - 100) / R: 1, 3 and 5 packets at 102.56, 108.1 and 114.3 ms.
        assert_eq!([102.56, 108.1, 114.3].map(|rtt| after(real(40.0), rtt)), [41.0, 40.0, 39.0]);
        // 40 (R - 100) / 100, rounded down: 1.99, 4.99 and 5.01 packets.
        assert_eq!([104.97, 112.47, 112.53].map(|rtt| after(linux(40.0), rtt)), [41.0, 40.0, 39.0]);
    }

    #[test]
    fn slow_start_ends_at_a_packet_in_the_queue() {
        let at = |rtt_ms| {
            let context = CcContext { initial_ssthresh: f64::INFINITY, ..real(40.0) };
            let mut cc = Vegas::default().controller(context);
            cc.avoidance.meter.observe(&crate::cc::round_trip::testing::ack(100.0, 39));
            round(&mut cc, rtt_ms);
            (cc.cwnd(), cc.ssthresh())
        };
        // 79 segments at the end of the round trip, and 0.8 packets at 101 ms.
        assert_eq!(at(101.0), (80.0, f64::INFINITY));
        // 79 * 100/125 + 1.
        let (cwnd, ssthresh) = at(125.0);
        assert!((cwnd - 64.2).abs() < 1e-9 && ssthresh == cwnd, "{cwnd}");
    }

    #[test]
    fn losses_halve_the_window_and_slow_start_is_unaffected() {
        respects_slow_start_and_floors(&Vegas::default(), 20.0);
        assert_eq!(lose(&mut Vegas::default().controller(linux(41.0))), 20.0);
    }

    #[test]
    fn vegas_pauses_while_losses_are_repaired() {
        let mut cc = Vegas::default().controller(real(40.0));
        cc.on_congestion(&crate::cc::avoidance::testing::congestion(CongestionKind::Loss));
        let ack = Ack { state: crate::cc::CaState::Disorder, ..Ack::of(1.0) };
        cc.on_ack(&ack);
        assert_eq!(cc.cwnd(), 20.05);
    }

    /// Alone on a path, Vegas has alpha to beta packets waiting behind the one in transmission, and loses none.
    #[test]
    fn a_flow_alone_keeps_alpha_to_beta_packets_in_the_queue() {
        for (rate, delay) in [(10.0, 40), (30.0, 20), (5.0, 100)] {
            let mut path = Path::new("vegas", mbit(rate), ms(delay), 1000);
            path.run_for(ms(60_000));
            let (mut most, mut sum, count) = (0, 0, 2000);
            for _ in 0..count {
                path.step();
                most = most.max(path.backlog());
                sum += path.backlog();
            }
            let mean = sum as f64 / f64::from(count);
            assert!((2.5..5.5).contains(&mean) && most <= 6 && path.lost == 0, "{rate}, {delay}: {mean}, {most}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let vegas = Vegas::default();
        for (wrong, key) in [
            (Vegas { alpha: 5.0, ..vegas.clone() }, "alpha"),
            (Vegas { beta: 1e9, ..vegas.clone() }, "beta"),
            (Vegas { gamma: -1.0, ..vegas }, "gamma"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
