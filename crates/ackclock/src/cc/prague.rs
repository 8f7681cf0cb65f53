//! # Prague: scalable congestion control for the Internet
//!
//! `cc = "prague"`
//!
//! Prague is the congestion control of L4S (RFC 9330). Its packets are ECT(1), so queues such as
//! [DualPI2](../queues/dualpi2.md) give them a short delay and mark them often. Like [DCTCP](dctcp.md)
//! it reduces its window in proportion to marks. It adds pacing, smaller RTT dependence, and the
//! response of Reno to losses.
//!
//! ## Reference
//!
//! Prague Congestion Control (K. De Schepper, O. Tilmans, B. Briscoe and V. Goel, 2024) is
//! draft-briscoe-iccrg-prague-congestion-control. Its reference implementation is `tcp_prague.c`
//! of L4STeam/linux. RFC 9331 states the requirements.
//!
//! ## Equations
//!
//! Here R is the smoothed RTT and R_v the virtual RTT, `max(R, rtt_target)`.
//!
//! | event | equation |
//! |---|---|
//! | once per R_v, after the first mark | `alpha <- alpha + g (M - alpha)`, where M is the marked part of the delivered packets |
//! | mark, once per R_v | `w <- w (1 - alpha/2)`, and ssthresh is the same |
//! | n unmarked packets of an ACK, above ssthresh | `w <- w + n a / w`, also after a mark |
//! | increase | `a = (R/R_v)^2`, or 1 in the first `rtt_transition_delay` round trips and without RTT independence |
//! | loss | `w <- w/2`, also in a window that was reduced for a mark |
//! | pacing rate | `w / R`, and twice the rate while `w < ssthresh / 2` |
//! | burst | packets of 250 µs at the pacing rate, at least one |
//!
//! A flow with a short RTT therefore takes the share of a flow whose RTT is `rtt_target`. Flows are
//! RTT-dependent while they are young, so short transfers finish early.
//!
//! ## Feedback
//!
//! Prague needs counts of marks. A Prague flow uses AccECN without a setting, and the counts of ACK
//! frames over QUIC. With a receiver that supports only `ecn = "classic"`, its packets are ECT(0) and
//! it responds to marks as Reno does.
//!
//! ## Parameters
//!
//! ## Classic queues
//!
//! A queue of RFC 3168 marks ECT(1) like ECT(0) and expects senders to halve their windows. Prague
//! then takes more than its share. `classic_ecn = "fallback"` detects such queues by the depth and the
//! variation of the RTT (arXiv 1911.00710). It raises the estimate for reductions until the flow is as
//! fast as Reno. `classic_ecn = "detect"` only computes the score of the path. The sample
//! `classic_ecn` contains it. Up to 8 the queue counts as an L4S queue, and from 9 on as a classic one.
//! The detection has false results on paths with variable delay, so it is off by default.
//!
//! ## Deviations
//!
//! - The window has fractions, and the sender rounds it down. Linux rounds it up.
//! - The window counts as used if at least half of it was in flight. Pacing leaves a part unused when
//!   the RTT falls.
//! - A loss halves the window regardless of a reduction for marks in the same round trip. The draft
//!   permits a smaller decrease then.
//! - The window is at least two segments. Windows below two segments are not implemented.
//!
//! ## Validation
//!
//! `python tools/evidence/l4s.py prague` compares rates against Reno and CUBIC with RFC 9332,
//! appendix C.2. [L4S validation](../validation/l4s.md) contains the figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::classic::ClassicEcn;
use super::marked_fraction::{MarkedFraction, check_estimate, marked_packets};
use super::window::Window;
use super::{
    Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Departures, EcnNeed,
    Recovery,
};
use crate::ecn::Ecn;
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

mod classic;

/// The least window that marks leave: MIN_CWND of Linux.
const MIN_MARKED: f64 = 2.0;
/// The draft's MAX_BURST_DELAY.
const MAX_BURST_DELAY_US: u128 = 250;
/// The part of a window that must be in flight for the window to count as used.
const USED_PART: f64 = 0.5;
/// Longest virtual RTT of a scenario, in seconds.
const LONGEST_TARGET: f64 = 10.0;

/// Prague, the congestion control of L4S.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Prague {
    /// Weight of a new observation in the estimate alpha, above 0 and at most 1.
    pub g: f64,
    /// The estimate before the first mark, at least 0 and at most 1.
    pub alpha_on_init: f64,
    /// Whether the throughput of flows with RTTs below `rtt_target` is independent of the RTT.
    pub rtt_independence: bool,
    /// The least virtual RTT, above 0 and at most 10 s.
    pub rtt_target: Duration,
    /// Round trips in congestion avoidance before RTT independence begins.
    pub rtt_transition_delay: u32,
    /// Classic queues that mark. `off`: no detection. `detect`: a score of the path. `fallback`: also the response of
    /// Reno to such queues.
    pub classic_ecn: ClassicEcnMode,
}

/// The treatment of classic queues that mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClassicEcnMode {
    /// No detection.
    #[default]
    Off,
    /// A score of the path, without effect.
    Detect,
    /// The estimate is at least the one that makes the flow as fast as Reno.
    Fallback,
}

impl Default for Prague {
    fn default() -> Self {
        // The defaults of L4STeam/linux: PRAGUE_SHIFT_G, prague_rtt_target and DEFAULT_RTT_TRANSITION.
        Prague {
            g: 1.0 / 16.0,
            alpha_on_init: 1.0,
            rtt_independence: true,
            rtt_target: Duration::from_millis(25),
            rtt_transition_delay: 500,
            classic_ecn: ClassicEcnMode::Off,
        }
    }
}

impl CcParameters for Prague {
    type Controller = PragueController;
    const REFERENCE: &'static str =
        "draft-briscoe-iccrg-prague-congestion-control (De Schepper, Tilmans, Briscoe & Goel 2024)";

    fn needs_ecn(&self) -> EcnNeed {
        EcnNeed::Counts
    }

    fn check(&self) -> Result<(), CcMistake> {
        check_estimate(self.g, self.alpha_on_init)?;
        let target = self.rtt_target.as_secs_f64();
        require("rtt_target", target, target > 0.0 && target <= LONGEST_TARGET, "above 0 and at most 10 (seconds)")?;
        Ok(())
    }

    fn controller(&self, context: CcContext) -> PragueController {
        let timeout_ssthresh = context.timeout_ssthresh.of_halving();
        let is_scalable = context.counts_marks;
        let window = Window::new(CcContext {
            timeout_ssthresh,
            slow_start: context.slow_start.of_a_rule(),
            min_marked: MIN_MARKED.max(context.min_marked),
            whole_window: false,
            ..context
        });
        PragueController {
            window,
            fraction: MarkedFraction::default(),
            alpha: if is_scalable { self.alpha_on_init } else { 1.0 },
            target: self.rtt_target,
            rounds: 0,
            saw_mark: false,
            estimated_at: None,
            reduced_at: None,
            packet_bytes: context.packet_bytes,
            mss: context.mss,
            srtt: Duration::ZERO,
            classic: (is_scalable && self.classic_ecn != ClassicEcnMode::Off).then(|| Box::new(ClassicEcn::new())),
            is_scalable,
            parameters: self.clone(),
        }
    }
}

/// Prague with its state.
#[derive(Clone, Debug)]
pub struct PragueController {
    window: Window,
    fraction: MarkedFraction,
    alpha: f64,
    parameters: Prague,
    target: Duration,
    /// Round trips in congestion avoidance, up to the transition.
    rounds: u32,
    /// There is a queue on the path that marks.
    saw_mark: bool,
    estimated_at: Option<Instant>,
    reduced_at: Option<Instant>,
    packet_bytes: u32,
    mss: u32,
    srtt: Duration,
    /// In a box, as it is off by default.
    classic: Option<Box<ClassicEcn>>,
    /// Feedback counts marks.
    is_scalable: bool,
}

impl PragueController {
    fn is_rtt_independent(&self) -> bool {
        self.is_scalable
            && self.parameters.rtt_independence
            && self.rounds >= self.parameters.rtt_transition_delay
            && !self.window.in_slow_start()
    }

    /// Whether a virtual round trip has passed since `last`.
    fn has_passed(&self, now: Instant, last: Option<Instant>) -> bool {
        last.is_none_or(|last| !self.is_rtt_independent() || now.since(last) >= self.target)
    }

    /// Segments that a round trip adds to the window: one per virtual RTT at the rate of that RTT.
    fn increase(&self) -> f64 {
        if !self.is_rtt_independent() || self.srtt.is_zero() || self.srtt >= self.target {
            return 1.0;
        }
        let ratio = self.srtt.as_secs_f64() / self.target.as_secs_f64();
        ratio * ratio
    }

    fn end_round(&mut self, ack: &Ack) {
        if !self.window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        if !self.has_passed(ack.now, self.estimated_at) {
            return;
        }
        let (delivered, marked) = self.fraction.take();
        self.estimated_at = Some(ack.now);
        // Without marks so far nothing tells that a queue would mark.
        if self.saw_mark && self.is_scalable {
            self.alpha += self.parameters.g * (marked as f64 / delivered as f64 - self.alpha);
            if let Some(classic) = &mut self.classic {
                classic.end_round(&ack.path);
            }
        }
    }

    /// The estimate that reduces the window.
    fn effective_alpha(&self) -> f64 {
        match (self.parameters.classic_ecn, &self.classic) {
            (ClassicEcnMode::Fallback, Some(classic)) => self.alpha.max(classic.least_alpha()),
            _ => self.alpha,
        }
    }

    /// Whether the sender uses its window. A paced sender rarely fills it.
    fn uses_window(&self, ack: &Ack) -> bool {
        let flight = f64::from(ack.path.in_flight + ack.newly_delivered);
        ack.cwnd_limited || self.pacing_rate().is_some() && flight >= USED_PART * self.window.cwnd()
    }
}

impl CongestionControl for PragueController {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn codepoint(&self) -> Ecn {
        if self.is_scalable { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.window.pacing_rate() {
            return Some(rate);
        }
        let srtt = self.srtt.as_secs_f64();
        if srtt == 0.0 {
            return None;
        }
        let cwnd = self.window.cwnd();
        let gain = if cwnd < self.window.ssthresh() / 2.0 { 2.0 } else { 1.0 };
        Rate::from_bps((gain * cwnd * f64::from(self.packet_bytes) * 8.0 / srtt) as u64)
    }

    fn send_quantum(&self) -> u64 {
        let bits = self.pacing_rate().map_or(0, |rate| u128::from(rate.as_bps()) * MAX_BURST_DELAY_US / 1_000_000);
        let packets = bits / (8 * u128::from(self.packet_bytes));
        packets.max(1) as u64 * u64::from(self.mss)
    }

    fn responds_to_ecn(&self) -> bool {
        !self.is_scalable
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.srtt = ack.path.srtt;
        self.window.observe(ack);
        self.fraction.note(ack);
        let marked = marked_packets(ack);
        self.saw_mark |= marked > 0;
        if let Some(classic) = &mut self.classic {
            classic.measure(&ack.path);
        }
        let unmarked = f64::from(ack.newly_delivered.saturating_sub(marked));
        if ack.acked > 0.0 && unmarked > 0.0 && !ack.in_recovery && self.uses_window(ack) {
            let cwnd = self.window.cwnd();
            if self.window.in_slow_start() {
                self.window.slow_start(&Ack { acked: ack.acked.min(unmarked), ..*ack });
            } else {
                self.window.avoid(cwnd + unmarked * self.increase() / cwnd);
            }
        }
        if ack.round_ended {
            self.end_round(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.kind != CongestionKind::Ecn {
            self.window.cut(congestion, |window| window / 2.0);
            return;
        }
        self.saw_mark = true;
        if !self.has_passed(congestion.now, self.reduced_at) {
            return;
        }
        self.reduced_at = Some(congestion.now);
        let alpha = self.effective_alpha();
        self.window.cut(congestion, |window| window * (1.0 - alpha / 2.0));
        if let Some(classic) = &mut self.classic {
            classic.scale(self.window.ssthresh());
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.window.leave_recovery(recovery);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.window.undo(recovery);
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }

    fn on_limit(&mut self, segments: f64) {
        self.window.limit(segments);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        report("alpha", self.alpha);
        report("increase_segments", self.increase());
        if let Some(classic) = &self.classic {
            report("classic_ecn", classic.score());
        }
    }
}

#[cfg(test)]
mod tests;
