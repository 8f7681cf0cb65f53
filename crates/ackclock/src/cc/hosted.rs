//! The window of an algorithm with external code: TCP Reno (RFC 5681), whose answers the code may replace.
//!
//! The code reads and sets a window and a threshold. With `whole_window`, the code sees a whole window at every
//! event. This module collects fractions of a segment until they make a segment, as Linux's `snd_cwnd_cnt` does. It
//! rounds a cut down. Code with the formulas of a window rule therefore gives the run of that rule.

use super::{Ack, CcContext, Congestion, CongestionControl, Recovery, Restart, Windowed};
use crate::rule::RuleParameters;
use crate::rule::reno::{Reno, RenoRule};
use crate::units::Instant;

/// No window is smaller.
const LEAST: f64 = 1.0;

/// TCP Reno under the window of user-supplied code.
#[derive(Clone, Debug)]
pub struct Hosted {
    reno: Windowed<RenoRule>,
}

impl Hosted {
    /// At the initial window, in slow start.
    pub fn new(context: CcContext) -> Self {
        // Careful Resume would change a window that belongs to the code.
        Hosted { reno: Windowed::new(Reno::default().rule(), CcContext { saved: None, ..context }) }
    }

    /// The window as the code sees it, in segments.
    #[inline]
    pub fn seen(&self) -> f64 {
        self.reno.window.cwnd()
    }

    /// The window as the sender sees it: one segment at the least.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.seen().max(LEAST)
    }

    /// The threshold in segments, infinite until something sets it.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.reno.window.ssthresh()
    }

    /// Takes the window and threshold that the code has set at an event without congestion.
    ///
    /// `exactly`: with the fraction, for code that paces or owns its window in recovery.
    #[inline]
    pub fn set(&mut self, cwnd: f64, ssthresh: f64, exactly: bool) {
        let window = &mut self.reno.window;
        if cwnd != window.cwnd() {
            if exactly { window.avoid(cwnd) } else { window.approach(cwnd) }
        }
        window.set_ssthresh(ssthresh);
    }

    /// Begins a congestion event that the code answers itself. [`Hosted::end`] takes its answer.
    pub fn begin(&mut self, congestion: &Congestion) {
        if congestion.restart != Restart::SlowStartAgain {
            self.reno.window.begin_cut(congestion);
        }
    }

    /// Takes the code's answer to a congestion event. `ssthresh_before` is the threshold before the event.
    ///
    /// `exactly`: with the fraction, and without a restart, for code that owns its window in recovery.
    pub fn end(&mut self, congestion: &Congestion, left: (f64, f64), ssthresh_before: f64, exactly: bool) {
        if exactly {
            return self.set(left.0, left.1, true);
        }
        self.reno.window.end_cut(congestion.restart, left, ssthresh_before);
    }

    /// TCP Reno's answer to an ACK.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.reno.on_ack(ack);
    }

    /// TCP Reno's answer to congestion.
    pub fn on_congestion(&mut self, congestion: &Congestion) {
        self.reno.on_congestion(congestion);
    }

    /// TCP Reno's end of a recovery.
    pub fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.reno.on_recovery_exit(recovery);
    }

    /// The last congestion event was spurious: the window returns at least to its earlier size.
    pub fn on_undo(&mut self, recovery: &Recovery) {
        self.reno.on_undo(recovery);
    }

    /// TCP Reno after an idle time.
    pub fn on_resume(&mut self, now: Instant) {
        self.reno.on_resume(now);
    }

    /// The window exceeded its used part.
    pub fn on_limit(&mut self, segments: f64) {
        self.reno.on_limit(segments);
    }

    /// The smallest window to which `prr = "rate-halving"` reduces.
    pub fn least_in_recovery(&self) -> f64 {
        self.reno.least_in_recovery()
    }
}
