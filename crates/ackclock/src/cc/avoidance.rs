//! Algorithms with their own congestion avoidance, and slow start and cuts as in RFC 5681.
//!
//! Congestion avoidance sees each ACK with its time and its delay. A [`Rule`](crate::rule::Rule) sees the window only.

use super::window::Window;
use super::{
    Ack, Arithmetic, CcContext, Congestion, CongestionControl, CongestionKind, Departures, Recovery, Restart, Sent,
};
use crate::units::{Duration, Instant, Rate};

/// The growth of an algorithm above ssthresh, and its cut.
pub(super) trait Avoidance: Clone + std::fmt::Debug + Send {
    /// The departures for which `on_sent` does anything.
    const DEPARTURES: Departures = Departures::None;
    /// True if it reads `rate` of an ACK.
    const NEEDS_RATE_SAMPLES: bool = false;
    /// True if a cut, or the end of its recovery, can leave a larger window than before.
    const MAY_RAISE: bool = false;

    /// A segment was handed to the network.
    fn on_sent(&mut self, _window: &mut Window, _sent: &Sent) {}

    /// An ACK of any kind, before the window grows by it.
    fn observe(&mut self, _window: &mut Window, _ack: &Ack) {}

    /// Slow start, for an ACK that may grow the window.
    #[inline]
    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        window.slow_start(ack);
    }

    /// The window after an ACK that may grow it at `cwnd`.
    fn grow(&mut self, cwnd: f64, ack: &Ack) -> f64;

    /// The first sign of congestion in a window of data, at `cwnd`. The cut follows.
    fn on_congestion(&mut self, _cwnd: f64, _congestion: &Congestion) {}

    /// The window that a congestion event leaves of `window`.
    fn cut(&mut self, window: f64, congestion: &Congestion) -> f64;

    /// A retransmission timeout. The cut precedes this call.
    fn on_timeout(&mut self) {}

    /// Loss recovery ended.
    fn on_recovery_exit(&mut self, _window: &mut Window) {}

    /// The last congestion event was spurious.
    fn on_undo(&mut self) {}

    /// Reports named numbers for samples.
    fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {}
}

const NANOS_PER_MILLI: f64 = 1e6;

/// Real numbers, or whole ones as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Real,
    Whole,
}

impl Numbers {
    pub(super) fn of(context: &CcContext) -> Self {
        if context.arithmetic == Arithmetic::Linux { Numbers::Whole } else { Numbers::Real }
    }

    /// The number, rounded down if numbers are whole.
    #[inline]
    pub(super) fn down(self, value: f64) -> f64 {
        match self {
            Numbers::Real => value,
            Numbers::Whole => value.floor(),
        }
    }

    /// Milliseconds, which are the jiffies of Linux.
    #[inline]
    pub(super) fn millis(self, time: Duration) -> f64 {
        self.down(time.as_nanos() as f64 / NANOS_PER_MILLI)
    }

    pub(super) fn are_whole(self) -> bool {
        self == Numbers::Whole
    }
}

/// The controller made of congestion avoidance and slow start.
#[derive(Clone, Debug)]
pub struct AvoidanceController<L> {
    pub(super) avoidance: L,
    pub(super) window: Window,
}

impl<L> AvoidanceController<L> {
    /// A controller at the initial window, in slow start.
    pub(super) fn new(avoidance: L, context: CcContext) -> Self {
        let slow_start = context.slow_start.of_a_rule();
        AvoidanceController { avoidance, window: Window::new(CcContext { slow_start, ..context }) }
    }
}

impl<L: Avoidance> CongestionControl for AvoidanceController<L> {
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

    fn on_sent(&mut self, sent: &Sent) {
        self.avoidance.on_sent(&mut self.window, sent);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window.observe(ack);
        self.avoidance.observe(&mut self.window, ack);
        if !Window::grows_by(ack) {
            return;
        }
        if self.window.in_slow_start() {
            self.avoidance.slow_start(&mut self.window, ack);
        } else {
            self.window.approach(self.avoidance.grow(self.window.cwnd(), ack));
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let AvoidanceController { avoidance, window } = self;
        if congestion.restart != Restart::SlowStartAgain {
            avoidance.on_congestion(window.cwnd(), congestion);
        }
        window.cut(congestion, |window| avoidance.cut(window, congestion));
        if congestion.kind == CongestionKind::Timeout {
            avoidance.on_timeout();
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.window.leave_recovery(recovery);
        self.avoidance.on_recovery_exit(&mut self.window);
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        self.window.undo(recovery);
        self.avoidance.on_undo();
    }

    fn needs_rate_samples(&self) -> bool {
        L::NEEDS_RATE_SAMPLES
    }

    fn departures(&self) -> Departures {
        L::DEPARTURES
    }

    fn congestion_may_raise(&self) -> bool {
        L::MAY_RAISE
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }

    fn on_limit(&mut self, segments: f64) {
        self.window.limit(segments);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        self.avoidance.probe(report);
    }
}

/// Events for the tests of algorithms.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::cc::tests::{Path, mbit, ms};
    use crate::cc::{CcParameters, PathView};

    /// The context of Linux, in congestion avoidance at a window.
    pub(in super::super) fn linux(window: f64) -> CcContext {
        CcContext { arithmetic: Arithmetic::Linux, whole_window: true, ..real(window) }
    }

    /// A context with fractions, in congestion avoidance at a window.
    pub(in super::super) fn real(window: f64) -> CcContext {
        CcContext { initial_ssthresh: 1.0, ..CcContext::new(window) }
    }

    pub(in super::super) fn congestion(kind: CongestionKind) -> Congestion {
        let restart = if kind == CongestionKind::Timeout { Restart::SlowStart } else { Restart::Reduced };
        Congestion { now: Instant::ZERO, kind, restart, flight_size: 0, path: PathView::default() }
    }

    /// The window after a loss.
    pub(in super::super) fn lose(cc: &mut impl CongestionControl) -> f64 {
        cc.on_congestion(&congestion(CongestionKind::Loss));
        cc.cwnd()
    }

    /// ACKs of one segment until the window is larger, and their number.
    pub(in super::super) fn acks_for_a_segment(cc: &mut impl CongestionControl) -> u32 {
        let target = cc.cwnd() + 1.0;
        (1..=100_000)
            .find(|_| {
                cc.on_ack(&Ack::of(1.0));
                cc.cwnd() >= target
            })
            .expect("the window grows")
    }

    /// Checks slow start and floors, and a timeout that leaves `left` of 40 segments.
    pub(in super::super) fn respects_slow_start_and_floors<P: CcParameters>(parameters: &P, left: f64) {
        let mut cc = parameters.controller(CcContext { initial_ssthresh: f64::INFINITY, ..linux(20.0) });
        (0..20).for_each(|_| cc.on_ack(&Ack::of(1.0)));
        assert_eq!(cc.cwnd(), 40.0, "slow start");
        cc.on_congestion(&congestion(CongestionKind::Timeout));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1.0, left), "a timeout");
        cc.on_undo(&Recovery { now: Instant::ZERO, flight_size: 40, path: PathView::default() });
        assert_eq!(cc.cwnd(), 40.0, "an undo");
        let mut small = parameters.controller(linux(2.0));
        assert_eq!((lose(&mut small), small.ssthresh()), (2.0, 2.0), "the floor");
    }

    /// The mean window over time in `cycles` losses of one in `period` segments, after as many others. Round trips are
    /// equal, so an ACK takes 1/w of one.
    pub(in super::super) fn mean_under_periodic_loss(cc: &mut impl CongestionControl, period: u64, cycles: u64) -> f64 {
        let (mut acks, mut round_trips) = (0.0, 0.0);
        for cycle in 0..2 * cycles {
            for _ in 0..period {
                cc.on_ack(&Ack::of(1.0));
                if cycle >= cycles {
                    acks += 1.0;
                    round_trips += 1.0 / cc.cwnd();
                }
            }
            lose(cc);
        }
        acks / round_trips
    }

    /// The mean window of a flow that loses one in `period` packets, over the second half of the time. The link
    /// of 10 Gbit/s and 100 ms never fills.
    pub(in super::super) fn mean_in_packets(cc: &str, period: u64, secs: u64) -> f64 {
        let mut path = Path::new(cc, mbit(10_000.0), ms(100), 100_000);
        path.lose_each = period;
        path.run_for(Duration::from_secs(secs / 2));
        let samples = 50 * secs;
        let sum: f64 = (0..samples)
            .map(|_| {
                path.run_for(ms(10));
                path.cc().cwnd()
            })
            .sum();
        sum / samples as f64
    }
}
