//! # CUBIC: the window as a cubic function of time
//!
//! `cc = "cubic"`
//!
//! CUBIC grows its window as a cubic function of the time since the last congestion event. It
//! returns quickly to the window of the last loss, pauses there, and then probes faster and faster.
//! Growth depends on time instead of round trips, so flows with different RTTs share a link more
//! evenly.
//!
//! ## Reference
//!
//! RFC 9438 (L. Xu, S. Ha, I. Rhee, V. Goel and L. Eggert, 2023): CUBIC for Fast and Long-Distance
//! Networks. CUBIC is the default of Linux.
//!
//! ## Equations
//!
//! Windows are in segments, and times in seconds. Here β is `remaining`, C is `c`, and RTT is the
//! smoothed round-trip time.
//!
//! | section | quantity | equation |
//! |---|---|---|
//! | 4.2 | curve | `W_cubic(t) = C (t - K)^3 + W_max` |
//! | 4.2 | time to the plateau | `K = cbrt((W_max - cwnd_epoch) / C)` |
//! | 4.2 | target | `W_cubic(t + RTT)`, at least `cwnd`, at most `1.5 cwnd` |
//! | 4.3 | Reno's window | `W_est <- W_est + α / cwnd` per ACK, from `cwnd_epoch` |
//! | 4.3 | Reno's increase | `α = 3 (1 - β) / (1 + β)`, and 1 once `W_est >= cwnd_prior` |
//! | 4.6 | decrease | `ssthresh <- β cwnd`, `cwnd_prior <- cwnd`, `cwnd <- ssthresh` |
//! | 4.6 | decrease for a mark with `abe` | `ssthresh <- beta_ecn cwnd` (RFC 8511) |
//! | 4.6 | floors | ssthresh is at least 2, cwnd at least 2 on a loss and 1 on a mark |
//! | 4.7 | fast convergence | `W_max <- cwnd (1 + β) / 2` if `cwnd < W_max`, else `W_max <- cwnd`, both before the decrease |
//! | 4.8 | timeout | `ssthresh <- β cwnd`, `cwnd <- 1`, then K = 0 and `W_max = cwnd_epoch` after slow start |
//! | 4.9 | spurious event | restores the state before it, if `cwnd` is still below `cwnd_prior` |
//! | 4.10 | slow start without an event | K = 0, `W_max = cwnd_prior = cwnd_epoch` |
//!
//! A stage of congestion avoidance begins at `cwnd_epoch`, with the first ACK after slow start or
//! recovery. The time t counts from then on, while the window is used (4.2, 5.8). Idle times do not
//! count. Times in which the application or the receiver limited the sender do not count either.
//!
//! ## States
//!
//! | region | condition | window per ACK |
//! |---|---|---|
//! | Reno-friendly (4.3) | `W_cubic(t) < W_est` | `cwnd <- W_est` |
//! | concave (4.4) | otherwise, `cwnd < W_max` | `cwnd <- cwnd + (target - cwnd) / cwnd` |
//! | convex (4.5) | otherwise | the same |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The values of RFC 9438 are β = 0.7 and C = 0.4. The equation of α makes the mean window of the
//! Reno-friendly region equal to standard TCP's.
//!
//! ## Deviations
//!
//! - Slow start is RFC 5681's by default, as for every algorithm here. Section 4.10 recommends
//!   HyStart++, which leaves slow start before the first loss. The transport key `slow_start`
//!   selects it.
//! - ssthresh comes from cwnd instead of the flight size. Section 4.6 allows this where an unused
//!   window does not grow, as here.
//! - An ACK counts for one segment in 4.3, 4.4 and 4.5, or for up to two with `byte_counting`.
//!   `W_est` therefore is the window of `aimd` in the same sender, also with delayed ACKs.
//! - A spurious timeout is undone like a spurious loss. Section 4.9.1 leaves this to RFC 4015.
//! - A `timeout_ssthresh`, `first_cut` or `cut_window` of the scenario overrides CUBIC's own value.
//! - The RFC does not cover a stage that begins at or above `W_max`. It has its plateau there and K
//!   = 0, as in Linux.
//! - The synchronous model has no clock, and therefore no CUBIC.
//!
//! `arithmetic` selects the arithmetic of an implementation:
//!
//! | `arithmetic` | used by default under | differences |
//! |---|---|---|
//! | `exact` | profiles that the other rows do not name | the equations above |
//! | `linux` | `profile = "linux"` | the smallest RTT so far instead of the smoothed one |
//! | `linux-2.6` | `profile = "ns-2-linux"` | CUBIC 2.1 of Linux 2.6.22, which ns-2's `Agent/TCP/Linux` runs |
//!
//! Under `exact`, an undo restores the epoch too (§4.9.2). Under `linux` and `linux-2.6` it restores
//! cwnd and ssthresh only. The next epoch then begins at this window, and the window of the spurious
//! cut is its plateau. Marks follow RFC 9438.
//!
//! The arithmetic `linux-2.6` differs from the equations in five points:
//!
//! - Before the first loss and after a timeout, the window grows by a segment for 50 acknowledged
//!   segments.
//! - Beyond the plateau the window grows by at most 160 segments per second.
//! - The smallest RTT is updated only when a second has passed since the last decrease.
//! - Growth is divided by the mean number of segments that an ACK acknowledges. The average stays
//!   at 31/16 where each ACK covers one segment. The window then grows almost twice as fast as the
//!   curve.
//! - Its `remaining` is 819/1024 = 0.7998. A `remaining` of 0.7 stands for this value.
//!
//! ## Validation
//!
//! [Linux validation](../validation/linux.md) compares CUBIC with the running kernel, and its slow
//! start with Linux 6.12. [ns-2 validation](../validation/ns2.md) and
//! [ns-3 validation](../validation/ns3.md) compare it with these simulators. Tests compare the
//! formulas with hand-computed values and with tables 1 and 2 of the RFC. In packets, one SACK flow
//! under periodic loss gives:
//!
//! | quantity | compared with | bound | difference |
//! |---|---|---|---|
//! | mean window, RTT 100 ms, p 1e-5, from the peak of the equation, no fast convergence | equation of section 5 | -1 to +0.2 % | -0.4 % |
//! | the same from 0.5, 0.8 and 1.5 of that peak | windows cycle by cycle | ±1 % | -0.05 to -0.4 % |
//! | RTT 100 ms, p 1e-2 to 1e-5, from the peak of the equation, no Reno-friendly region | windows cycle by cycle | ±5 % | -4.4 to -0.07 % |
//! | the same | equation of section 5, which has no round trip of recovery | ±5 %, 7 % at 1e-2 | -6.3 % at 1e-2, -4.9 % at 1/300, else -2.2 to -0.4 % |
//! | mean window, RTT 10 ms, p 1e-4 | AIMD(9/17, 0.7) | ±0.1 % | 0.00 % |
//! | the same | AIMD(1, 0.5) | ±1 % | +0.5 % |
//!
//! The arithmetic of Linux takes less time than the equations to exceed a window of 300 segments
//! again. The difference is 10 % at an RTT of 20 ms, and 1 % at 100 ms.
//!
//! ## Behaviour
//!
//! The equation of section 5 is a fixed point that attracts only weakly. The curve is flat at
//! `W_max`. A flow whose peaks are off by a part e approaches it by about e³ in a cycle. From half
//! the peak, the mean window is still 13 % below the equation after forty cycles. From one and a
//! half peaks, it is still 18 % above.
//!
//! Fast convergence lowers the next plateau after every peak that is lower than the last. A single
//! flow then stays below the equation. The RFC wants fast convergence off for a single flow.
//!
//! In short cycles (small windows, short round trips) CUBIC is AIMD(9/17, 0.7), with standard TCP's
//! mean window. To compare it with standard TCP, run
//!
//! ```console no-test
//! $ ackclock evaluate cubic
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::linux::Kernel;
use super::window::Window;
use super::{
    Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Departures, Recovery,
    Restart, Sent,
};
use crate::rule::require;
use crate::units::{Duration, Instant, Rate};

mod linux;
mod linux_2_6;
#[cfg(test)]
mod tests;

/// Steeper curves reach the largest window within milliseconds.
const STEEPEST: f64 = 1e6;

/// CUBIC, the default of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cubic {
    /// RFC 9438's C: how steep the curve is, in segments per cubed second, above 0 and at most 1000000.
    pub c: f64,
    /// RFC 9438's beta_cubic: part of the window that remains after congestion, above 0 and below 1.
    pub remaining: f64,
    /// Whether a window that is cut below its last peak is reduced further (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// Whether the window is at least the one that Reno would have (RFC 9438 §4.3).
    pub reno_friendly: bool,
    /// Whether a mark reduces the window to `beta_ecn` of it (RFC 8511), instead of `remaining`.
    pub abe: bool,
    /// RFC 8511's beta_ecn: part of the window that remains after a mark with `abe`, above 0 and below 1.
    pub beta_ecn: f64,
    /// Computation of the window. `exact`: the equations of RFC 9438. `linux`: whole numbers as in Linux. `linux-2.6`:
    /// whole numbers as in Linux 2.6.22. `profile`: `linux` under the profile "linux", `linux-2.6` under "ns-2-linux",
    /// and `exact` under the others.
    pub arithmetic: Arithmetic,
    /// Jiffies of Linux in a second, 100 to 1000.
    pub hz: u32,
}

/// How CUBIC computes its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    /// As the profile of the flow says.
    #[default]
    Profile,
    /// As RFC 9438 has it, in real numbers.
    Exact,
    /// In whole segments and jiffies, as Linux does.
    Linux,
    /// The same as Linux 2.6.22 did, by CUBIC 2.1: its `remaining` is 819/1024.
    #[serde(rename = "linux-2.6")]
    Linux26,
}

impl Default for Cubic {
    fn default() -> Self {
        // RFC 9438 §4.6, §5.1: beta_cubic "SHOULD be set to 0.7", C "SHOULD be set to 0.4".
        Cubic {
            c: 0.4,
            remaining: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            abe: false,
            // RFC 8511 §3.1: "CUBIC connections benefit from beta_{ecn} of 0.85".
            beta_ecn: 0.85,
            arithmetic: Arithmetic::Profile,
            hz: 1000,
        }
    }
}

/// Part of the window that remains in Linux 2.6.22.
const REMAINING_2_6: f64 = 819.0 / 1024.0;

impl Cubic {
    /// RFC 9438 §4.3's alpha_cubic: the increase by which AIMD with this decrease has the mean window of Reno.
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.remaining) / (1.0 + self.remaining)
    }

    /// The same with the arithmetic that a profile says, if it is left to the profile.
    fn under(&self, by_profile: Arithmetic) -> Self {
        if self.arithmetic != Arithmetic::Profile {
            return self.clone();
        }
        let is_old = by_profile == Arithmetic::Linux26 && self.remaining == Cubic::default().remaining;
        let remaining = if is_old { REMAINING_2_6 } else { self.remaining };
        Cubic { arithmetic: by_profile, remaining, ..self.clone() }
    }

    fn is_in_whole_numbers(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Linux | Arithmetic::Linux26)
    }
}

impl CcParameters for Cubic {
    type Controller = CubicController;
    const REFERENCE: &'static str =
        "RFC 9438 (Xu, Ha, Rhee, Goel & Eggert 2023), CUBIC for Fast and Long-Distance Networks";

    fn check(&self) -> Result<(), CcMistake> {
        require("c", self.c, self.c > 0.0 && self.c <= STEEPEST, "above 0 and at most 1000000")?;
        require("remaining", self.remaining, self.remaining > 0.0 && self.remaining < 1.0, "above 0 and below 1")?;
        require("beta_ecn", self.beta_ecn, self.beta_ecn > 0.0 && self.beta_ecn < 1.0, "above 0 and below 1")?;
        require("hz", f64::from(self.hz), (100..=1000).contains(&self.hz), "at least 100 and at most 1000")?;
        Ok(())
    }

    fn controller(&self, context: CcContext) -> CubicController {
        let parameters = self.under(context.arithmetic);
        let kernel = parameters.is_in_whole_numbers().then(|| Box::new(Kernel::new(&parameters)));
        // The equations of RFC 9438 have fractions, whatever the host.
        let context = CcContext { whole_window: context.whole_window && kernel.is_some(), ..context };
        let state = State { window: Window::new(context), w_max: None, cwnd_prior: None, stage: None, kernel };
        CubicController { parameters, state, before_event: Box::new(None) }
    }
}

/// CUBIC with its state.
#[derive(Clone, Debug)]
pub struct CubicController {
    parameters: Cubic,
    state: State,
    /// The state before the last congestion event, while that may turn out to be spurious.
    before_event: Box<Option<State>>,
}

#[derive(Clone, Debug)]
struct State {
    window: Window,
    /// The window at the last congestion event, or less by fast convergence.
    ///
    /// It is empty before the first event and after a timeout.
    w_max: Option<f64>,
    /// The window when ssthresh was last set, or none before the first event.
    cwnd_prior: Option<f64>,
    /// The stage of congestion avoidance, or none until it begins. A box keeps the struct small.
    stage: Option<Box<Stage>>,
    /// Replaces the stage with the arithmetic of Linux.
    kernel: Option<Box<Kernel>>,
}

impl State {
    /// The stage, which begins now if it has not yet.
    #[inline]
    fn stage(&mut self, c: f64) -> &mut Stage {
        let State { window, w_max, cwnd_prior, stage, .. } = self;
        stage.get_or_insert_with(|| {
            let cwnd_epoch = window.cwnd();
            // RFC 9438 §4.8 and §4.10, after a timeout and before any congestion: "K is set to 0, and W_max is set to
            // the congestion window size at the beginning of the current congestion avoidance stage".
            let plateau = w_max.filter(|w_max| *w_max > cwnd_epoch).unwrap_or(cwnd_epoch);
            *w_max = Some(plateau);
            Box::new(Stage {
                curve: Curve::new(c, plateau, cwnd_epoch),
                cwnd_prior: *cwnd_prior.get_or_insert(cwnd_epoch),
                w_est: cwnd_epoch,
                elapsed: Duration::ZERO,
                used_at: None,
            })
        })
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Stage {
    curve: Curve,
    cwnd_prior: f64,
    /// The window that Reno would have.
    w_est: f64,
    /// RFC 9438's t.
    elapsed: Duration,
    /// The last ACK, if the window was used then.
    used_at: Option<Instant>,
}

impl Stage {
    /// RFC 9438 §4.2 to §4.5: the window after an ACK that may grow it.
    #[inline]
    fn grow(&mut self, parameters: &Cubic, cwnd: f64, ack: &Ack) -> f64 {
        if let Some(last) = self.used_at.replace(ack.now) {
            self.elapsed += ack.now.since(last);
        }
        let t = self.elapsed.as_secs_f64();
        if parameters.reno_friendly {
            // RFC 9438 §4.3: once W_est has reached cwnd_prior, "the sender SHOULD set alpha_cubic to 1".
            let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { parameters.alpha() };
            self.w_est += alpha * ack.acked / cwnd;
            if self.curve.at(t) < self.w_est {
                return self.w_est.max(cwnd);
            }
        }
        let target = self.curve.at(t + ack.path.srtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        cwnd + ack.acked * (target - cwnd) / cwnd
    }
}

/// W_cubic, in segments over seconds.
#[derive(Clone, Copy, Debug)]
struct Curve {
    c: f64,
    k: f64,
    w_max: f64,
}

impl Curve {
    /// RFC 9438 §4.2, figure 2: the curve that is at `cwnd_epoch` at time 0 and flat at `w_max`.
    fn new(c: f64, w_max: f64, cwnd_epoch: f64) -> Self {
        Curve { c, k: libm::cbrt((w_max - cwnd_epoch) / c), w_max }
    }

    /// RFC 9438 §4.2, figure 1.
    #[inline]
    fn at(&self, t: f64) -> f64 {
        let from_plateau = t - self.k;
        self.c * from_plateau * from_plateau * from_plateau + self.w_max
    }
}

impl CongestionControl for CubicController {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.state.window.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.state.window.ssthresh()
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.state.window.pacing_rate()
    }

    fn departures(&self) -> Departures {
        let counts_from_first = self.state.kernel.as_ref().is_some_and(|kernel| kernel.old.is_some());
        if counts_from_first { Departures::All } else { Departures::AfterIdle }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Some(kernel) = &mut self.state.kernel {
            kernel.on_sent(sent.now, sent.idle_for);
        }
        // Nothing else is in flight: the time before was idle.
        if sent.follows_idle()
            && let Some(Stage { used_at: Some(last), .. }) = self.state.stage.as_deref_mut()
        {
            *last = sent.now;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.cwnd_limited {
            // RFC 9438 §4.2: t "MUST NOT include periods during which cwnd has not been updated due to
            // application-limited behavior".
            if let Some(stage) = &mut self.state.stage {
                stage.used_at = None;
            }
        }
        self.state.window.observe(ack);
        if let Some(kernel) = &mut self.state.kernel {
            kernel.observe(ack);
        }
        if !Window::grows_by(ack) {
            return;
        }
        if self.state.window.in_slow_start() {
            self.state.window.slow_start(ack);
        } else {
            let cwnd = self.cwnd();
            let grown = match &mut self.state.kernel {
                None => self.state.stage(self.parameters.c).grow(&self.parameters, cwnd, ack),
                Some(kernel) => kernel.grow(ack.now, cwnd, ack.acked, ack.path.min_rtt),
            };
            self.state.window.avoid(grown);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let Cubic { remaining, fast_convergence, beta_ecn, .. } = self.parameters;
        let cwnd = self.state.window.validated();
        let before = self.state.clone();
        let converges = fast_convergence && before.w_max.is_some_and(|w_max| cwnd < w_max);
        self.state.w_max = match congestion.kind {
            CongestionKind::Timeout => None,
            // RFC 9438 §4.7: a flow that meets congestion earlier leaves room for those that came.
            _ if converges => Some(cwnd * (1.0 + remaining) / 2.0),
            _ => Some(cwnd),
        };
        // What was cut in this window of data is not cut again: the state before is that of the first cut.
        let is_first = congestion.restart != Restart::SlowStartAgain;
        if is_first {
            self.state.cwnd_prior = Some(cwnd);
        }
        self.state.stage = None;
        // RFC 9438 §4.6, figure 5, and §4.8.
        let marked = (self.parameters.abe && congestion.kind == CongestionKind::Ecn).then_some(beta_ecn);
        match &mut self.state.kernel {
            None => self.state.window.cut(congestion, |window| marked.unwrap_or(remaining) * window),
            Some(kernel) => {
                match congestion.kind {
                    CongestionKind::Timeout => kernel.on_timeout(),
                    CongestionKind::Loss | CongestionKind::Ecn => kernel.on_loss(cwnd),
                }
                let whole = |window: f64| marked.map_or_else(|| kernel.cut(window), |beta| (beta * window).floor());
                self.state.window.cut(congestion, whole);
            }
        }
        if is_first {
            let restores_all = self.state.kernel.is_none() && self.state.window.may_undo();
            *self.before_event = restores_all.then_some(before);
        }
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        if self.state.kernel.is_some() {
            self.state.window.undo(recovery);
            return;
        }
        // RFC 9438 §4.9.2 restores the values "if the current cwnd is lower than cwnd_prior". A window of one is not, and has lost its
        // ssthresh all the same.
        match self.before_event.take() {
            Some(before) if self.cwnd() < before.window.cwnd() => self.state = before,
            Some(before) => self.state.window.raise_ssthresh(before.window.ssthresh()),
            None => {}
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        if self.state.window.leave_recovery(recovery) {
            self.state.stage = None;
        }
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn on_resume(&mut self, _now: Instant) {
        let cwnd = self.cwnd();
        self.state.window.resume();
        if self.cwnd() < cwnd {
            self.state.stage = None;
        }
    }

    fn on_limit(&mut self, segments: f64) {
        let cwnd = self.cwnd();
        self.state.window.limit(segments);
        if self.cwnd() < cwnd {
            self.state.stage = None;
        }
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        if let Some(stage) = &self.state.stage {
            report("w_max_segments", stage.curve.w_max);
            report("w_est_segments", stage.w_est);
            report("k_s", stage.curve.k);
        } else if let Some((w_max, w_est, k)) = self.state.kernel.as_ref().and_then(|kernel| kernel.reported()) {
            report("w_max_segments", w_max);
            report("w_est_segments", w_est);
            report("k_s", k);
        }
    }
}
