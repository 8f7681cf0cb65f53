//! A rule inside TCP: slow start below ssthresh, the rule above it, one cut per congestion event.
//!
//! Reference: RFC 5681 with the rule in the place of its increase and decrease.

use super::{
    Ack, CcContext, Congestion, CongestionControl, CongestionKind, CutWindow, FirstCut, Restart, TimeoutSsthresh,
};
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
    was_cut: bool,
}

impl<R: Rule> Windowed<R> {
    /// A controller at the initial window, in slow start.
    pub fn new(rule: R, context: CcContext) -> Self {
        Windowed { rule, context, cwnd: context.initial_window, ssthresh: context.initial_ssthresh, was_cut: false }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// What the rule leaves of `window`. What slow start gained counts as old.
    fn law(&mut self, window: f64) -> f64 {
        if self.in_slow_start() {
            self.rule.restart(window);
        }
        self.rule.cut(window)
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
        let window = match self.context.cut_window {
            CutWindow::Exact => self.cwnd,
            CutWindow::Capped { max_window } => self.cwnd.min(max_window),
            CutWindow::Whole { max_window } => self.cwnd.min(max_window).floor(),
        };
        let halves = self.context.first_cut == FirstCut::Half && (!self.was_cut || self.in_slow_start());
        self.was_cut = true;
        let remaining = match (congestion.kind, self.context.timeout_ssthresh) {
            (CongestionKind::Timeout, TimeoutSsthresh::HalfCwnd) => window / 2.0,
            (CongestionKind::Timeout, TimeoutSsthresh::HalfFlight) => f64::from(congestion.flight_size) / 2.0,
            _ if halves => window / 2.0,
            _ => self.law(window),
        };
        let (remaining, floor) = match self.context.cut_window {
            CutWindow::Exact => (remaining, MIN_SSTHRESH),
            // ssthresh has its floor, the window has not: three segments leave one.
            CutWindow::Capped { .. } => (remaining, LOSS_WINDOW),
            CutWindow::Whole { .. } => (remaining.floor(), LOSS_WINDOW),
        };
        let threshold = if self.context.cut_window == CutWindow::Exact { remaining } else { remaining.floor() };
        self.ssthresh = threshold.max(MIN_SSTHRESH);
        self.cwnd = match congestion.restart {
            Restart::Reduced => remaining.max(floor),
            Restart::SlowStart => LOSS_WINDOW,
        };
    }

    fn on_resume(&mut self, _now: Instant) {
        // RFC 5681 §4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission".
        self.cwnd = self.cwnd.min(self.context.initial_window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::PathView;
    use crate::rule::{RuleParameters, linear};

    fn after_a_cut(context: CcContext, window: f64) -> (f64, f64) {
        let rule = linear::Aimd { increase: 1.0, remaining: 0.75 }.rule();
        let mut cc = Windowed::new(rule, CcContext { initial_window: window, ..context });
        let (now, path) = (Instant::ZERO, PathView::default());
        let loss = Congestion { now, kind: CongestionKind::Loss, restart: Restart::Reduced, flight_size: 0, path };
        cc.on_congestion(&loss);
        (cc.cwnd(), cc.ssthresh())
    }

    #[test]
    fn what_is_cut_may_be_capped_and_whole() {
        // In congestion avoidance, three quarters of 10.5 or of what a window of 9 leaves of it.
        let context = CcContext { initial_ssthresh: 2.0, ..CcContext::new(1.0) };
        let with = |cut_window| CcContext { cut_window, ..context };
        assert_eq!(after_a_cut(context, 10.5), (7.875, 7.875));
        assert_eq!(after_a_cut(with(CutWindow::Capped { max_window: 9.0 }), 10.5), (6.75, 6.0));
        assert_eq!(after_a_cut(with(CutWindow::Whole { max_window: 9.0 }), 10.5), (6.0, 6.0));
        assert_eq!(after_a_cut(with(CutWindow::Whole { max_window: 9.0 }), 2.5), (1.0, 2.0));
    }

    #[test]
    fn the_first_cut_may_halve_whatever_the_law() {
        let context = CcContext { initial_ssthresh: 2.0, first_cut: FirstCut::Half, ..CcContext::new(1.0) };
        assert_eq!(after_a_cut(context, 10.0), (5.0, 5.0));
    }
}
