//! # Compound TCP: Reno's window and a delay window
//!
//! `cc = "compound"`
//!
//! Compound TCP (CTCP) adds a delay window to Reno's congestion window. The delay window grows with the
//! whole window while the queue is short. It shrinks as the queue grows, and leaves Reno's window. Compound
//! TCP therefore fills fast and long paths, and behaves as Reno behind a full queue. Windows Server 2008
//! uses it.
//!
//! ## Reference
//!
//! M. Sridharan et al., Compound TCP: A New TCP Congestion Control for High-Speed and Long Distance
//! Networks. It is draft-sridharan-tcpm-ctcp-02 of 2008. K. Tan et al., A Compound TCP Approach for
//! High-Speed and Long Distance Networks, INFOCOM 2006.
//!
//! ## Equations
//!
//! Here w is the window, c Reno's part of it, and e the delay window. R is the mean RTT of the last round
//! trip, and B the smallest RTT since the last timeout.
//!
//! | event | equation |
//! |---|---|
//! | any time | `w = c + e` |
//! | ACK above ssthresh | `c <- c + 1/w` |
//! | packets in the queue | `d = w (R - B) / R` |
//! | end of a round trip, `d < gamma` | `e <- e + max(alpha w^k - 1, 0)` |
//! | end of a round trip, `d >= gamma` | `e <- max(e - zeta d, 0)` |
//! | loss or mark | `c <- c/2`, `e <- max(w (1 - beta) - c/2, 0)` |
//! | timeout | ssthresh is half of w, c is 1, and e is 0 |
//!
//! e is 0 in slow start. Windows up to `low_window` do not change it, and neither do round trips with losses
//! or marks.
//!
//! ## Response function
//!
//! Without a queue, w grows by `alpha w^k` in a round trip. With one loss in 1/p packets and beta 1/2, the
//! peak is `W = (alpha (2 - k) / (p (1 - 2^(k - 2))))^(1 / (2 - k))`. The mean window over time is
//! `0.255 / p^0.8` for the default parameters, as in section 4 of the draft. Reno has `1.22 / p^0.5`.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! Section 3 of the draft has 1/8 for alpha, 1/2 for beta and 3/4 for k. It calls zeta eta, and has 1. Gamma
//! is 30 packets, the initial value of section 5. The response function is similar to HighSpeed TCP's. The
//! delay window begins at 38 segments, as HighSpeed TCP does (section 2).
//!
//! ## Deviations
//!
//! - The growth is `alpha w^k - 1`. Equation 3 of the draft has e instead of w, and could not leave 0.
//! - A loss sets e to the rest of `w (1 - beta)`, as the draft's text says. Its equation 5 is `e (1 - beta)`,
//!   which is the same for the default beta.
//! - gamma is constant. The draft tunes it from 5 to 30 packets by the queue that Reno would build (section 5).
//! - The RTT is the mean of all samples of a round trip. The draft has the smoothed RTT.
//! - A round trip with fewer than three RTT samples does not change the delay window.
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. In packets, a flow loses one packet in 1/p
//! on a link of 10 Gbit/s and 100 ms. The link never fills.
//!
//! | p | `0.255 / p^0.8` | table 1 of the draft | mean window |
//! |---|---|---|---|
//! | 1e-3 | 64.1 segments | 64 segments | 58.2 segments |
//! | 1e-4 | 405 segments | 404 segments | 382 segments |
//! | 1e-5 | 2553 segments | 2552 segments | 2447 segments |
//!
//! A round trip of recovery without growth makes the mean smaller. At p = 1e-3, windows below 38 segments
//! also grow more slowly. At 100 Mbit/s and 100 ms behind 400 packets, the delay window reaches 297
//! segments. It is 0 before the queue is full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::avoidance::{Avoidance, AvoidanceController};
use super::round_trip::{DelayMeter, Delays};
use super::vegas::ENOUGH_SAMPLES;
use super::window::Window;
use super::{Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionKind};
use crate::rule::{MOST_SEGMENTS, require};

/// Compound TCP: adds a delay window to Reno's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compound {
    /// The factor of the delay window's growth, at least 0 and at most 10.
    pub alpha: f64,
    /// The part of the window that congestion removes, above 0 and at most 0.9.
    pub beta: f64,
    /// The exponent of the delay window's growth, at least 0 and at most 1.
    pub k: f64,
    /// Packets in the queue from which the delay window shrinks, at least 0 and at most 16777216.
    pub gamma: f64,
    /// Segments of decrease for each packet in the queue, at least 0 and at most 10.
    pub zeta: f64,
    /// The largest window without a delay window, in segments, at least 2 and at most 16777216.
    pub low_window: f64,
}

impl Default for Compound {
    fn default() -> Self {
        // draft-sridharan-tcpm-ctcp-02: section 3, section 5 for gamma and section 2 for low_window.
        Compound { alpha: 0.125, beta: 0.5, k: 0.75, gamma: 30.0, zeta: 1.0, low_window: 38.0 }
    }
}

impl CcParameters for Compound {
    type Controller = AvoidanceController<CompoundAvoidance>;
    const REFERENCE: &'static str = "draft-sridharan-tcpm-ctcp-02, Compound TCP: A New TCP Congestion Control for \
                                     High-Speed and Long Distance Networks";

    fn check(&self) -> Result<(), CcMistake> {
        let Compound { alpha, beta, k, gamma, zeta, low_window } = *self;
        require("alpha", alpha, (0.0..=10.0).contains(&alpha), "at least 0 and at most 10")?;
        require("beta", beta, beta > 0.0 && beta <= 0.9, "above 0 and at most 0.9")?;
        require("k", k, (0.0..=1.0).contains(&k), "at least 0 and at most 1")?;
        let is_gamma = (0.0..=MOST_SEGMENTS).contains(&gamma);
        require("gamma", gamma, is_gamma, "at least 0 and at most 16777216")?;
        require("zeta", zeta, (0.0..=10.0).contains(&zeta), "at least 0 and at most 10")?;
        let is_window = (2.0..=MOST_SEGMENTS).contains(&low_window);
        Ok(require("low_window", low_window, is_window, "at least 2 and at most 16777216")?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        let (parameters, meter) = (self.clone(), DelayMeter::default());
        AvoidanceController::new(CompoundAvoidance { parameters, meter, dwnd: 0.0, growth: 0.0 }, context)
    }
}

/// Compound TCP's congestion avoidance.
#[derive(Clone, Debug)]
pub struct CompoundAvoidance {
    parameters: Compound,
    meter: DelayMeter,
    /// The delay window, a part of the window.
    dwnd: f64,
    /// Growth of the delay window that this ACK permits.
    growth: f64,
}

impl CompoundAvoidance {
    /// The change of the delay window after a round trip.
    fn change(&self, cwnd: f64, delays: Delays) -> f64 {
        let Compound { alpha, k, gamma, zeta, low_window, .. } = self.parameters;
        if delays.samples < ENOUGH_SAMPLES || cwnd <= low_window {
            return 0.0;
        }
        let queued = cwnd * (delays.mean - delays.base) / delays.mean;
        if queued < gamma { (alpha * libm::pow(cwnd, k) - 1.0).max(0.0) } else { -(zeta * queued).min(self.dwnd) }
    }
}

impl Avoidance for CompoundAvoidance {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        let ended = self.meter.observe(ack);
        let cwnd = window.cwnd();
        // Other events than congestion also reduce the window. One segment is Reno's.
        self.dwnd = if window.in_slow_start() { 0.0 } else { self.dwnd.min(cwnd - 1.0) };
        self.growth = 0.0;
        let Some(delays) = ended.filter(|_| !window.in_slow_start()) else { return };
        let change = self.change(cwnd, delays);
        if change < 0.0 {
            self.dwnd += change;
            window.approach(cwnd + change);
            window.keep_avoiding();
        } else {
            self.growth = change;
        }
    }

    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        self.dwnd += self.growth;
        cwnd + ack.acked / cwnd + self.growth
    }

    fn on_congestion(&mut self, _cwnd: f64, congestion: &Congestion) {
        if congestion.kind == CongestionKind::Timeout {
            // Section 3: "Basertt MUST be uninitialized and MUST be re-measured if a retransmission timeout occurs".
            self.meter = DelayMeter::default();
        }
        self.meter.on_congestion(congestion);
    }

    fn cut(&mut self, window: f64, congestion: &Congestion) -> f64 {
        if congestion.kind == CongestionKind::Timeout {
            self.dwnd = 0.0;
            return window / 2.0;
        }
        let reno = (window - self.dwnd) / 2.0;
        self.dwnd = (window * (1.0 - self.parameters.beta) - reno).max(0.0);
        reno + self.dwnd
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("dwnd", self.dwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::avoidance::testing::{lose, mean_in_packets, real, respects_slow_start_and_floors};
    use crate::cc::round_trip::testing::{ack, round};
    use crate::cc::tests::{Path, mbit, ms};

    /// Compound TCP with a delay window in this window, after a sample of 100 ms.
    fn compound(window: f64, dwnd: f64) -> AvoidanceController<CompoundAvoidance> {
        let mut cc = Compound::default().controller(real(window));
        cc.avoidance.meter.observe(&ack(100.0, window as u32 - 1));
        cc.avoidance.dwnd = dwnd;
        cc
    }

    /// The windows after a round trip with this RTT.
    fn after(window: f64, dwnd: f64, rtt_ms: f64) -> (f64, f64) {
        let mut cc = compound(window, dwnd);
        round(&mut cc, rtt_ms);
        (cc.cwnd(), cc.avoidance.dwnd)
    }

    fn near((cwnd, dwnd): (f64, f64), expected: (f64, f64)) {
        assert!((cwnd - expected.0).abs() < 0.02 && (dwnd - expected.1).abs() < 0.02, "{cwnd}, {dwnd}: {expected:?}");
    }

    #[test]
    fn the_delay_window_changes_once_in_a_round_trip() {
        // Reno's part grows by a segment, and 257^0.75 / 8 - 1 = 7.02. 257 * 10/110 = 23.4 packets in the queue.
        near(after(256.0, 100.0, 100.0), (264.02, 107.02));
        near(after(256.0, 100.0, 110.0), (264.02, 107.02));
        // 257 * 20/120 = 42.8 packets in the queue.
        near(after(256.0, 100.0, 120.0), (257.0 - 42.83, 100.0 - 42.83));
        // The delay window is at least nothing.
        near(after(256.0, 10.0, 120.0), (247.0, 0.0));
        // Windows up to 38 have no delay window. 41^0.75 / 8 - 1 = 1.03.
        near(after(30.0, 0.0, 100.0), (31.0, 0.0));
        near(after(40.0, 0.0, 100.0), (42.03, 1.03));
        let low =
            |cwnd| compound(256.0, 0.0).avoidance.change(cwnd, Delays { base: 1e5, least: 1e5, mean: 1e5, samples: 9 });
        assert!(low(38.0) == 0.0 && low(38.1) > 0.9);
    }

    #[test]
    fn a_loss_halves_both_windows() {
        let mut cc = compound(256.0, 100.0);
        assert_eq!((lose(&mut cc), cc.avoidance.dwnd), (128.0, 50.0));
        let mut gentle = Compound { beta: 0.25, ..Compound::default() }.controller(real(256.0));
        gentle.avoidance.dwnd = 100.0;
        // 192 - 78.
        assert_eq!((lose(&mut gentle), gentle.avoidance.dwnd), (192.0, 114.0));
        let mut steep = Compound { beta: 0.8, ..Compound::default() }.controller(real(256.0));
        // 51.2 - 128 is less than nothing.
        assert_eq!((lose(&mut steep), steep.avoidance.dwnd), (128.0, 0.0));
    }

    #[test]
    fn the_delay_window_is_nothing_in_slow_start_and_pauses_in_recovery() {
        let mut cc = compound(256.0, 100.0);
        lose(&mut cc);
        (0..300)
            .for_each(|_| cc.on_ack(&Ack { in_recovery: true, state: crate::cc::CaState::Recovery, ..ack(100.0, 99) }));
        assert_eq!((cc.cwnd(), cc.avoidance.dwnd), (128.0, 50.0));
        cc.on_congestion(&crate::cc::avoidance::testing::congestion(CongestionKind::Timeout));
        assert_eq!((cc.ssthresh(), cc.avoidance.dwnd, cc.avoidance.meter.base_us()), (64.0, 0.0, f64::INFINITY));
        respects_slow_start_and_floors(&Compound::default(), 20.0);
    }

    #[test]
    fn a_flow_follows_the_response_function() {
        for (exponent, secs) in [(3, 200), (4, 200), (5, 200)] {
            let expected = 0.2553 * libm::pow(10.0, 0.8 * f64::from(exponent));
            let mean = mean_in_packets("compound", 10u64.pow(exponent as u32), secs);
            assert!((mean - expected).abs() <= 0.1 * expected, "1e-{exponent}: {mean}, expected {expected}");
        }
    }

    /// The delay window fills the path, and is gone before the queue is full.
    #[test]
    fn the_delay_window_gives_way_to_a_queue() {
        let mut path = Path::new("compound", mbit(100.0), ms(100), 400);
        path.run_for(ms(10_000));
        let (mut largest, mut behind_a_queue): (f64, f64) = (0.0, 0.0);
        for _ in 0..6000 {
            path.run_for(ms(10));
            let mut dwnd = 0.0;
            path.cc().probe(&mut |_, value| dwnd = value);
            largest = largest.max(dwnd);
            if path.backlog() > 300 {
                behind_a_queue = behind_a_queue.max(dwnd);
            }
        }
        assert!(path.lost > 0 && largest > 100.0 && behind_a_queue == 0.0, "{largest}, {behind_a_queue}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let default = Compound::default;
        for (wrong, key) in [
            (Compound { alpha: -1.0, ..default() }, "alpha"),
            (Compound { beta: 0.0, ..default() }, "beta"),
            (Compound { k: 1.5, ..default() }, "k"),
            (Compound { gamma: -1.0, ..default() }, "gamma"),
            (Compound { zeta: 11.0, ..default() }, "zeta"),
            (Compound { low_window: 1.0, ..default() }, "low_window"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key(), key);
        }
    }
}
