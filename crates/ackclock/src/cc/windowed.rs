//! A rule inside TCP: slow start below ssthresh, the rule above it, one cut per congestion event.
//!
//! Reference: RFC 5681 with the rule in the place of its increase and decrease.

use super::window::Window;
use super::{Ack, CcContext, Congestion, CongestionControl, TimeoutSsthresh};
use crate::rule::Rule;
use crate::units::Instant;

/// The controller made of a window rule and slow start.
#[derive(Clone, Debug)]
pub struct Windowed<R> {
    rule: R,
    window: Window,
}

impl<R: Rule> Windowed<R> {
    /// A controller at the initial window, in slow start.
    pub fn new(rule: R, context: CcContext) -> Self {
        let timeout_ssthresh = match context.timeout_ssthresh {
            TimeoutSsthresh::Standard => TimeoutSsthresh::HalfCwnd,
            given => given,
        };
        Windowed { rule, window: Window::new(CcContext { timeout_ssthresh, ..context }) }
    }
}

impl<R: Rule + std::fmt::Debug> CongestionControl for Windowed<R> {
    #[inline]
    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    fn congestion_may_raise(&self) -> bool {
        self.rule.cut_may_raise()
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !Window::grows_by(ack) {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start(ack);
            if !self.window.in_slow_start() {
                self.rule.restart(self.window.cwnd());
            }
        } else {
            self.window.avoid(self.rule.grow(self.window.cwnd(), ack.acked));
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let (rule, in_slow_start) = (&mut self.rule, self.window.in_slow_start());
        self.window.cut(congestion, |window| {
            // What slow start gained counts as old.
            if in_slow_start {
                rule.restart(window);
            }
            rule.cut(window)
        });
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }
}
