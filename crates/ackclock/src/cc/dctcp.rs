//! # DCTCP: a reduction in proportion to marks
//!
//! `cc = "dctcp"`
//!
//! DCTCP estimates the part of its packets that queues mark, and reduces its window by half of that
//! part. Few marks cost little, so a queue can mark early and stay short. DCTCP is made for data
//! centres whose switches mark above a threshold. Classic algorithms starve in competition with it.
//!
//! ## Reference
//!
//! RFC 8257 (S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert and G. Judd, 2017). M. Alizadeh et al. published the algorithm at SIGCOMM 2010.
//!
//! ## Equations
//!
//! | event | equation | section |
//! |---|---|---|
//! | all data in flight at the start of the observation window are acknowledged | `alpha <- (1 - g) alpha + g M` | 3.3 |
//! | mark, once per window of data | `w <- w (1 - alpha/2)` | 3.3 |
//! | ACK without an echo | as [Reno](reno.md) | 3.4 |
//! | loss or timeout | as [Reno](reno.md) | 3.5 |
//!
//! M is the part of the delivered packets that came with a mark. alpha is 1 at the start.
//!
//! ## Feedback
//!
//! A DCTCP flow is ECN-capable without a setting, as in Linux. Its packets are ECT(0). The transport
//! key [`ecn`](../reference/ecn.md) selects the feedback:
//!
//! | `ecn` | feedback |
//! |---|---|
//! | `off`, `dctcp` | RFC 8257, §3.2: an echo per ACK, and an ACK at once when marks begin or end |
//! | `accecn` | counts of AccECN (RFC 9768) |
//! | `classic` | the echo of RFC 3168, which overestimates M |
//! | `counts` | counts of QUIC |
//!
//! ## Parameters
//!
//! Under `profile = "linux"` the estimate has Linux's whole numbers, in units of 1/1024. An estimate
//! below 16/1024 falls to 0 as soon as a round trip has no marks.
//!
//! ## Deviations
//!
//! - M counts packets instead of bytes, as in Linux.
//! - M includes packets that SACK blocks report. §3.3 ignores SACK.
//! - SYN and SYN-ACK are not ECN-capable. §3.6 says that they should be.
//! - In Linux a loss in a window that was cut for a mark halves the window again. Here it is repaired
//!   without another cut, as §3.5 says.
//!
//! ## Validation
//!
//! `python tools/evidence/l4s.py dctcp` compares alpha and the queue with the model of the paper, section
//! 3.3. The flows are in steady state and receive an ACK per packet. [L4S validation](../validation/l4s.md) contains the figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marked_fraction::{MarkedFraction, check_estimate};
use super::window::Window;
use super::{
    Ack, Arithmetic, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Departures,
    EcnNeed, Recovery,
};
use crate::units::{Instant, Rate};

/// Linux's DCTCP_MAX_ALPHA.
const LINUX_ONE: u64 = 1024;

/// DCTCP (RFC 8257): cuts in proportion to marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dctcp {
    /// RFC 8257's g: weight of a new observation in the estimate, above 0 and at most 1.
    pub g: f64,
    /// The estimate at the start, at least 0 and at most 1 (Linux's `dctcp_alpha_on_init`).
    pub alpha_on_init: f64,
    /// Computation of the estimate. `exact`: the equation of RFC 8257. `linux`: whole numbers as in Linux. `profile`:
    /// `linux` under the profile "linux", and `exact` under the others.
    pub arithmetic: AlphaArithmetic,
}

/// How DCTCP computes its estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlphaArithmetic {
    /// As the profile of the flow says.
    #[default]
    Profile,
    /// In real numbers.
    Exact,
    /// In units of 1/1024, as Linux does.
    Linux,
}

impl Default for Dctcp {
    fn default() -> Self {
        // RFC 8257 §4.2: "A fixed estimation gain of 1/16 is used in some implementations", and §3.3: alpha "is
        // initialized to 1".
        Dctcp { g: 1.0 / 16.0, alpha_on_init: 1.0, arithmetic: AlphaArithmetic::Profile }
    }
}

impl CcParameters for Dctcp {
    type Controller = DctcpController;
    const REFERENCE: &'static str =
        "RFC 8257 (Bensley, Thaler, Balasubramanian, Eggert & Judd 2017), Data Center TCP (DCTCP)";

    fn needs_ecn(&self) -> EcnNeed {
        EcnNeed::PerAck
    }

    fn check(&self) -> Result<(), CcMistake> {
        check_estimate(self.g, self.alpha_on_init)
    }

    fn controller(&self, context: CcContext) -> DctcpController {
        let is_linux = match self.arithmetic {
            AlphaArithmetic::Profile => context.arithmetic == Arithmetic::Linux,
            arithmetic => arithmetic == AlphaArithmetic::Linux,
        };
        let timeout_ssthresh = context.timeout_ssthresh.of_halving();
        let slow_start = context.slow_start.of_a_rule();
        DctcpController {
            window: Window::new(CcContext { timeout_ssthresh, slow_start, ..context }),
            fraction: MarkedFraction::default(),
            alpha: Alpha::new(self, is_linux),
        }
    }
}

/// RFC 8257's DCTCP.Alpha.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    Exact {
        g: f64,
        alpha: f64,
    },
    /// In units of 1/1024, with a gain of 2 to the power of minus `shift`.
    Linux {
        shift: u32,
        alpha: u64,
    },
}

impl Alpha {
    fn new(parameters: &Dctcp, is_linux: bool) -> Self {
        let Dctcp { g, alpha_on_init, .. } = *parameters;
        if is_linux {
            let shift = libm::round(-libm::log2(g)).clamp(0.0, 10.0) as u32;
            Alpha::Linux { shift, alpha: (LINUX_ONE as f64 * alpha_on_init).round() as u64 }
        } else {
            Alpha::Exact { g, alpha: alpha_on_init }
        }
    }

    fn value(self) -> f64 {
        match self {
            Alpha::Exact { alpha, .. } => alpha,
            Alpha::Linux { alpha, .. } => alpha as f64 / LINUX_ONE as f64,
        }
    }

    fn observe(&mut self, (delivered, marked): (u64, u64)) {
        match self {
            Alpha::Exact { g, alpha } => *alpha += *g * (marked as f64 / delivered as f64 - *alpha),
            Alpha::Linux { shift, alpha } => {
                // A decay that rounds to 0 would leave a small estimate for ever.
                let decay = *alpha >> *shift;
                *alpha -= if decay == 0 { *alpha } else { decay };
                *alpha = (*alpha + (marked * (LINUX_ONE >> *shift)) / delivered).min(LINUX_ONE);
            }
        }
    }

    /// The window after a mark.
    fn reduce(self, window: f64) -> f64 {
        match self {
            Alpha::Exact { alpha, .. } => window * (1.0 - alpha / 2.0),
            Alpha::Linux { alpha, .. } => window - (window * alpha as f64 / (2 * LINUX_ONE) as f64).floor(),
        }
    }
}

/// DCTCP with its state.
#[derive(Clone, Debug)]
pub struct DctcpController {
    window: Window,
    fraction: MarkedFraction,
    alpha: Alpha,
}

impl CongestionControl for DctcpController {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.window.pacing_rate()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window.observe(ack);
        self.fraction.note(ack);
        if ack.round_ended {
            self.alpha.observe(self.fraction.take());
        }
        if !Window::grows_by(ack) {
            return;
        }
        let cwnd = self.window.cwnd();
        if self.window.in_slow_start() {
            self.window.slow_start(ack);
        } else {
            self.window.approach(cwnd + ack.acked / cwnd);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let alpha = self.alpha;
        self.window.cut(congestion, |window| match congestion.kind {
            CongestionKind::Ecn => alpha.reduce(window),
            CongestionKind::Loss | CongestionKind::Timeout => window / 2.0,
        });
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.window.leave_recovery(recovery);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.window.undo(recovery);
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }

    fn on_limit(&mut self, segments: f64) {
        self.window.limit(segments);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{PathView, Restart};

    fn at(window: f64, dctcp: &Dctcp, context: CcContext) -> DctcpController {
        dctcp.controller(CcContext { initial_window: window, initial_ssthresh: 1.0, ..context })
    }

    fn congestion(kind: CongestionKind) -> Congestion {
        let (now, path) = (Instant::ZERO, PathView::default());
        Congestion { now, kind, restart: Restart::Reduced, flight_size: 0, path }
    }

    /// A round trip of 16 packets, `marked` of them with a mark.
    fn round(cc: &mut DctcpController, marked: u32) {
        let ack = Ack { newly_delivered: 16, ece: marked > 0, ce_count: marked, round_ended: true, ..Ack::of(0.0) };
        cc.on_ack(&ack);
    }

    /// RFC 8257 §3.3: alpha * (1 - g) + g * M.
    #[test]
    fn alpha_is_a_moving_average_of_the_marked_part() {
        let mut cc = at(10.0, &Dctcp::default(), CcContext::new(10.0));
        round(&mut cc, 0);
        assert_eq!(cc.alpha.value(), 0.9375);
        round(&mut cc, 8);
        assert_eq!(cc.alpha.value(), 0.9375 * 0.9375 + 0.5 / 16.0);
    }

    #[test]
    fn a_mark_takes_half_of_the_marked_part_and_a_loss_half_of_the_window() {
        let dctcp = Dctcp { alpha_on_init: 0.25, ..Dctcp::default() };
        let mut cc = at(16.0, &dctcp, CcContext::new(16.0));
        cc.on_congestion(&congestion(CongestionKind::Ecn));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (14.0, 14.0));
        cc.on_congestion(&congestion(CongestionKind::Loss));
        assert_eq!(cc.cwnd(), 7.0);
        // The first mark of a connection takes half.
        let mut first = at(16.0, &Dctcp::default(), CcContext::new(16.0));
        first.on_congestion(&congestion(CongestionKind::Ecn));
        assert_eq!(first.cwnd(), 8.0);
    }

    /// Linux: alpha -= min_not_zero(alpha, alpha >> 4), plus the marked part in units of 1/64 of 1024.
    #[test]
    fn the_estimate_of_linux_is_in_whole_numbers() {
        let context = CcContext { arithmetic: Arithmetic::Linux, whole_window: true, ..CcContext::new(10.0) };
        let mut cc = at(45.0, &Dctcp { alpha_on_init: 0.5, ..Dctcp::default() }, context);
        round(&mut cc, 0);
        assert_eq!(cc.alpha.value() * 1024.0, 480.0);
        round(&mut cc, 5);
        // 480 - 30, and 5/16 of 64.
        assert_eq!(cc.alpha.value() * 1024.0, 470.0);
        // 45 - floor(45 * 470 / 2048) = 45 - 10.
        cc.on_congestion(&congestion(CongestionKind::Ecn));
        assert_eq!(cc.cwnd(), 35.0);
        let mut small = at(45.0, &Dctcp { alpha_on_init: 15.0 / 1024.0, ..Dctcp::default() }, context);
        round(&mut small, 0);
        assert_eq!(small.alpha.value(), 0.0);
    }

    #[test]
    fn a_window_grows_by_a_segment_in_a_round_trip_without_marks() {
        let mut cc = at(10.0, &Dctcp::default(), CcContext::new(10.0));
        cc.on_ack(&Ack::of(1.0));
        assert!((cc.cwnd() - 10.1).abs() < 1e-12);
        cc.on_ack(&Ack { ece: true, ce_count: 1, ..Ack::of(1.0) });
        assert!((cc.cwnd() - 10.1).abs() < 1e-12, "an echo stops growth");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        for wrong in [Dctcp { g: 0.0, ..Dctcp::default() }, Dctcp { alpha_on_init: 1.5, ..Dctcp::default() }] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
