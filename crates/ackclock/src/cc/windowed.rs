//! A rule inside TCP: slow start below ssthresh, the rule above it, one cut per congestion event.
//!
//! Reference: RFC 5681 with the rule in the place of its increase and decrease.

use super::{Ack, CcContext, Congestion, CongestionControl, CongestionKind, Restart, TimeoutSsthresh};
use crate::rule::Rule;
use crate::units::Instant;

/// RFC 5681 §3.1: "ssthresh = max (FlightSize / 2, 2*SMSS)".
const MIN_SSTHRESH: f64 = 2.0;
/// RFC 5681 §3.1: "cwnd MUST be set to no more than the loss window, LW, which equals 1 full-sized segment".
const LOSS_WINDOW: f64 = 1.0;

/// The controller made of a window rule and slow start.
#[derive(Clone, Debug)]
pub struct Windowed<R> {
    rule: R,
    context: CcContext,
    cwnd: f64,
    ssthresh: f64,
}

impl<R: Rule> Windowed<R> {
    /// A controller at the initial window, in slow start.
    pub fn new(rule: R, context: CcContext) -> Self {
        Windowed { rule, context, cwnd: context.initial_window, ssthresh: f64::INFINITY }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// What the rule leaves of the window. What slow start gained counts as old.
    fn law(&mut self) -> f64 {
        if self.in_slow_start() {
            self.rule.restart(self.cwnd);
        }
        self.rule.cut(self.cwnd)
    }
}

impl<R: Rule + std::fmt::Debug> CongestionControl for Windowed<R> {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn congestion_may_raise(&self) -> bool {
        self.rule.cut_may_raise()
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if ack.in_recovery || !ack.cwnd_limited || ack.acked == 0.0 {
            return;
        }
        if self.in_slow_start() {
            self.cwnd += ack.acked;
            if !self.in_slow_start() {
                self.rule.restart(self.cwnd);
            }
        } else {
            self.cwnd = self.rule.grow(self.cwnd, ack.acked);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let remaining = match (congestion.kind, self.context.timeout_ssthresh) {
            (CongestionKind::Timeout, TimeoutSsthresh::HalfCwnd) => self.cwnd / 2.0,
            (CongestionKind::Timeout, TimeoutSsthresh::HalfFlight) => f64::from(congestion.flight_size) / 2.0,
            _ => self.law(),
        };
        self.ssthresh = remaining.max(MIN_SSTHRESH);
        self.cwnd = match congestion.restart {
            Restart::Reduced => self.ssthresh,
            Restart::SlowStart => LOSS_WINDOW,
        };
    }

    fn on_resume(&mut self, _now: Instant) {
        // RFC 5681 §4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission".
        self.cwnd = self.cwnd.min(self.context.initial_window);
    }
}
