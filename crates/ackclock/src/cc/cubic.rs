//! # CUBIC: the window as a cubic function of time
//!
//! `cc = "cubic"`
//!
//! ## Reference
//!
//! RFC 9438 (L. Xu, S. Ha, I. Rhee, V. Goel and L. Eggert, 2023): CUBIC for Fast and Long-Distance Networks. It is
//! the default of Linux.
//!
//! ## Equations
//!
//! Windows in segments, times in seconds. β is `remaining`, C is `c`, RTT the smoothed round-trip time.
//!
//! | section | what | equation |
//! |---|---|---|
//! | 4.2 | curve | `W_cubic(t) = C (t - K)^3 + W_max` |
//! | 4.2 | time to the plateau | `K = cbrt((W_max - cwnd_epoch) / C)` |
//! | 4.2 | target | `W_cubic(t + RTT)`, at least `cwnd`, at most `1.5 cwnd` |
//! | 4.3 | Reno's window | `W_est <- W_est + α / cwnd` per ACK, from `cwnd_epoch`; `α = 3 (1 - β) / (1 + β)`, and 1 once `W_est >= cwnd_prior` |
//! | 4.3 | Reno-friendly region | where `W_cubic(t) < W_est`: `cwnd <- W_est` |
//! | 4.4, 4.5 | concave and convex region | elsewhere `cwnd <- cwnd + (target - cwnd) / cwnd` per ACK |
//! | 4.6 | decrease | `ssthresh <- β cwnd`, `cwnd_prior <- cwnd`, `cwnd <- ssthresh`; ssthresh is at least 2, cwnd at least 2 on a loss and 1 on a mark |
//! | 4.7 | fast convergence | `W_max <- cwnd (1 + β) / 2` if `cwnd < W_max`, else `W_max <- cwnd`, both before the decrease |
//! | 4.8 | timeout | `ssthresh <- β cwnd`, `cwnd <- 1`; the stage after slow start has K = 0 and `W_max = cwnd_epoch` |
//! | 4.9 | spurious event | everything as before it, if `cwnd` is still below `cwnd_prior` |
//! | 4.10 | slow start without an event | K = 0, `W_max = cwnd_prior = cwnd_epoch` |
//!
//! A stage of congestion avoidance begins with the first ACK after slow start or recovery, at `cwnd_epoch`; t is
//! the time since then in which the window was used (4.2, 5.8). Idle times do not count, nor times in which the
//! application or the receiver limited the sender.
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! - Slow start is RFC 5681's by default, as for every algorithm here. Section 4.10 recommends HyStart++, which leaves slow
//!   start before the first loss: the transport key `slow_start`.
//! - ssthresh comes from cwnd, not from the flight size. Section 4.6 allows it where a window that is not used does
//!   not grow, as here.
//! - An ACK counts for one segment, or for up to two with `byte_counting`, in 4.3, 4.4 and 4.5. So `W_est` is the
//!   window of `aimd` in the same sender, also with delayed ACKs.
//! - A spurious timeout is undone like a spurious loss; 4.9.1 leaves it to RFC 4015. The simulated sender detects
//!   neither.
//! - `arithmetic = "profile"` follows the profile of the flow: "linux" under `profile = "linux"`, which is the default of files of version 2,
//!   "linux-2.6" under "ns-2-linux", and "exact" under the other profiles. Under "ns-2-linux" a `remaining` of 0.7 stands for 819/1024.
//! - With `arithmetic = "linux"` an RTT is the smallest so far and not the smoothed one, as in Linux; a mark and an undo are handled as
//!   by RFC 9438, which Linux does in parts otherwise.
//! - `arithmetic = "linux-2.6"` is CUBIC 2.1 of Linux 2.6.22, which ns-2's `Agent/TCP/Linux` runs: before the first loss and after a
//!   timeout a segment comes for 50 that are acknowledged; beyond the plateau the window grows by 160 segments a second at most; the smallest RTT is taken only
//!   once a second has passed since the last decrease; growth is divided by the segments that an ACK acknowledges in the mean, an average that
//!   stays at 31/16 where each ACK is of one segment, so that the window then grows almost twice as fast as the curve.
//!   Its `remaining` is 819/1024 = 0.7998.
//! - If a scenario sets `timeout_ssthresh`, `first_cut` or `cut_window`, that value is used.
//!
//! The RFC does not cover a stage that begins at or above `W_max`: it has its plateau there and K = 0, as in Linux.
//! The synchronous model has no clock, and therefore no CUBIC.
//!
//! ## Validation
//!
//! Formula tests by hand (`crates/ackclock/src/cc/cubic/tests.rs`): the curve, both clamps, both regions, a loss
//! that leaves 70 % and not 59.5 % with fast convergence, timeout, application-limited and idle times, undo. The
//! windows of tables 1 and 2 of the RFC from its equation (`crates/ackclock/src/model/closed_form.rs`). Rules as
//! exchanges of segments (`tests/exchange/cubic-*.pkt`). In packets (`crates/ackclock/tests/theory/cubic.rs`),
//! printed by `cargo test --package ackclock --release --test theory cubic -- --nocapture`:
//!
//! | one SACK flow, periodic loss | against | bound | found |
//! |---|---|---|---|
//! | mean window, RTT 100 ms, p 1e-5, from the peak of the equation, no fast convergence | equation of section 5 | -1 .. +0.2 % | -0.4 % |
//! | the same from 0.5, 0.8, 1.5 of that peak | windows cycle by cycle | +-1 % | -0.05 .. -0.4 % |
//! | RTT 100 ms, p 1e-2 to 1e-5, from the peak of the equation, no Reno-friendly region | windows cycle by cycle | +-5 % | -4.4 .. -0.07 % |
//! | the same | equation of section 5, which has no round trip of recovery | +-5 %, 7 % at 1e-2 | -6.3 % at 1e-2, -4.9 % at 1/300, -2.2 .. -0.4 % below |
//! | mean window, RTT 10 ms, p 1e-4 | AIMD(9/17, 0.7) | +-0.1 % | 0.00 % |
//! | the same | AIMD(1, 0.5) | +-1 % | +0.5 % |
//!
//! The arithmetic of Linux: constants, curve and counters by hand (`crates/ackclock/src/cc/cubic/linux.rs`). From a window of 300 segments to
//! one more than that it takes 10 % less time than the equations at an RTT of 20 ms, and 1 % less at 100 ms.
//! [Linux validation](../validation/linux.md) compares CUBIC with the running kernel, and its slow start with Linux 6.12.
//!
//! ## What to know before you use it
//!
//! The equation of section 5 is a fixed point that attracts only weakly. The curve is flat at `W_max`: a flow whose
//! peaks are off by a part e comes nearer by some e^3 in a cycle. From half the peak, or one and a half, the mean
//! window is still 13 % below or 18 % above the equation after forty cycles. With fast convergence, which the RFC
//! wants off for a single flow, every peak that is lower than the last lowers the next plateau, and a single flow
//! stays below the equation.
//!
//! In short cycles (small windows, short round trips) CUBIC is AIMD(9/17, 0.7): its mean window is standard TCP's.
//! To compare it with standard TCP, run
//!
//! ```console no-test
//! $ ackclock evaluate cubic
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::linux::Kernel;
use super::window::Window;
use super::{
    Ack, CcContext, CcMistake, CcParameters, Congestion, CongestionControl, CongestionKind, Recovery, Restart, Sent,
};
use crate::rule::require;
use crate::units::{Duration, Instant};

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
    /// RFC 9438's beta_cubic: what remains of the window after congestion, above 0 and below 1.
    pub remaining: f64,
    /// Whether a window that is cut below its last peak is reduced further (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// Whether the window is at least the one that Reno would have (RFC 9438 §4.3).
    pub reno_friendly: bool,
    /// How the window is computed: by the equations of RFC 9438 (exact), in whole numbers as in Linux (linux) or in Linux 2.6.22 (linux-2.6), or as the profile of the flow says: linux under "linux", linux-2.6 under "ns-2-linux", exact under the others.
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
            arithmetic: Arithmetic::Profile,
            hz: 1000,
        }
    }
}

/// What remains in Linux 2.6.22.
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
    /// The window at the last congestion event, or less by fast convergence; none before the first event and after
    /// a timeout.
    w_max: Option<f64>,
    /// The window when ssthresh was last set; none before the first event.
    cwnd_prior: Option<f64>,
    /// The stage of congestion avoidance, in a box for its size; none until it begins.
    stage: Option<Box<Stage>>,
    /// In the place of the stage with the arithmetic of Linux.
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
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(kernel) = &mut self.state.kernel {
            kernel.on_sent(sent.now, sent.path.in_flight <= 1);
        }
        // Nothing else is in flight: the time before was idle.
        if sent.path.in_flight <= 1
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
        let Cubic { remaining, fast_convergence, .. } = self.parameters;
        let cwnd = self.state.window.cwnd();
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
        match &mut self.state.kernel {
            None => self.state.window.cut(congestion, |window| remaining * window),
            Some(kernel) => {
                match congestion.kind {
                    CongestionKind::Timeout => kernel.on_timeout(),
                    CongestionKind::Loss | CongestionKind::Ecn => kernel.on_loss(cwnd),
                }
                self.state.window.cut(congestion, |window| kernel.cut(window));
            }
        }
        if is_first {
            *self.before_event = (congestion.kind != CongestionKind::Ecn).then_some(before);
        }
    }

    fn on_undo(&mut self, _recovery: &Recovery) {
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
