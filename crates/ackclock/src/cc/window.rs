//! cwnd and ssthresh as RFC 5681 changes them, for every rule above slow start.

use super::{
    Ack, CcContext, Congestion, CongestionKind, CutWindow, ExitWindow, FirstCut, IdleWindow, Recovery, Restart,
    TimeoutSsthresh, UndoResponse,
};

use super::careful_resume::{CarefulResume, Step};
use super::slow_start::{Exit, Growth, Sender, SlowStart, Verdict};
use crate::units::Rate;

/// RFC 5681 §3.1: "ssthresh = max (FlightSize / 2, 2*SMSS)".
const MIN_SSTHRESH: f64 = 2.0;
/// Linux's `tcp_max_burst`.
const MODERATE_BURST: f64 = 3.0;
/// The least window of older rules.
const LOSS_WINDOW: f64 = 1.0;

/// The window of an algorithm with slow start and cuts.
#[derive(Clone, Debug)]
pub(super) struct Window {
    context: CcContext,
    cwnd: f64,
    ssthresh: f64,
    was_cut: bool,
    /// The state before the last cut, for an undo.
    before: Option<Before>,
    /// The earned part of the next segment, in a window without fractions.
    earned: f64,
    /// The largest window, infinite except in a drain and in Careful Resume.
    ceiling: f64,
    /// The end of slow start before a loss. In a box, as hardly any connection has it.
    exit: Option<Box<Exit>>,
    /// Careful Resume until normal congestion control follows.
    resume: Option<Box<CarefulResume>>,
}

/// The state before a cut.
#[derive(Clone, Copy, Debug)]
struct Before {
    cwnd: f64,
    ssthresh: f64,
    flight_size: u32,
}

impl Window {
    /// At the initial window, in slow start.
    pub(super) fn new(context: CcContext) -> Self {
        Window {
            context,
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            was_cut: false,
            before: None,
            earned: 0.0,
            ceiling: f64::INFINITY,
            exit: Exit::new(context.slow_start).map(Box::new),
            resume: context.saved.map(|saved| {
                let CcContext { initial_window, packet_bytes, whole_window, .. } = context;
                Box::new(CarefulResume::new(saved, initial_window, packet_bytes, whole_window))
            }),
        }
    }

    /// The rate of Careful Resume, while it paces.
    #[inline]
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.resume.as_ref()?.pacing_rate()
    }

    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    pub(super) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[inline]
    fn is_whole(&self) -> bool {
        self.context.whole_window
    }

    #[inline]
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || self.context.slow_start == SlowStart::PastSsthresh && self.cwnd == self.ssthresh
    }

    /// The window is the threshold from now on.
    pub(super) fn exit_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    /// Congestion avoidance leads to `cwnd`, or by a whole segment towards it, once ACKs have earned it.
    #[inline]
    pub(super) fn approach(&mut self, cwnd: f64) {
        if self.is_whole() { self.earn(cwnd - self.cwnd) } else { self.avoid(cwnd) }
    }

    /// Adds the whole segments of the earned growth, and keeps the rest. A shrinking window collects its losses in
    /// the same way.
    #[cold]
    fn earn(&mut self, gain: f64) {
        /// Sums of parts of a segment are short of one by less.
        const ROUNDING: f64 = 1e-9;
        /// A segment is earned early if less than this share of an ACK's gain is missing. The missing share is
        /// carried over. Otherwise an increase of 0.9999 would lag an increase of 1 by an ACK. A quarter would change
        /// the growth from ACKs of four segments.
        const MISSING: f64 = 0.2;
        let slack = if gain.abs() < 1.0 { (MISSING * gain.abs()).max(ROUNDING) } else { ROUNDING };
        self.earned += gain;
        if self.earned.abs() + slack > 1.0 {
            let whole = (self.earned.abs() + slack).floor().copysign(self.earned);
            self.cwnd = self.capped(self.cwnd + whole);
            self.earned -= whole;
        }
    }

    /// True if `ack` lets a window grow.
    #[inline]
    pub(super) fn grows_by(ack: &Ack) -> bool {
        // RFC 3168 §6.1.2: "The sending TCP SHOULD NOT increase the congestion window in response to the receipt of an
        // ECN-Echo ACK packet."
        Self::grows_in_spite_of_marks(ack) && !ack.ece
    }

    /// The same for an algorithm that does not take marks for congestion.
    #[inline]
    pub(super) fn grows_in_spite_of_marks(ack: &Ack) -> bool {
        ack.acked > 0.0 && ack.cwnd_limited && !ack.in_recovery
    }

    /// An ACK of any kind: rounds and delays for the end of slow start.
    #[inline]
    pub(super) fn observe(&mut self, ack: &Ack) {
        if self.resume.is_some() {
            self.observe_resume(ack);
        }
        if self.exit.is_some() {
            self.observe_slow_start(ack);
        }
    }

    fn observe_slow_start(&mut self, ack: &Ack) {
        // Unvalidated segments say nothing about the end of slow start.
        let is_resuming = self.resume.as_ref().is_some_and(|resume| resume.pipe_size().is_some());
        let Some(exit) = self.exit.as_mut().filter(|_| !is_resuming) else { return };
        let CcContext { initial_window, paces, .. } = self.context;
        let reduced = ack.reduced_window.filter(|_| exit.watches_reductions());
        let cwnd = reduced.map_or(self.cwnd, f64::from);
        match exit.observe(ack, Sender { cwnd, initial_window, in_slow_start: cwnd < self.ssthresh, paces }) {
            Verdict::Continues => {}
            Verdict::Ends => (self.cwnd, self.ssthresh) = (cwnd, cwnd),
            Verdict::Drains(window) => (self.cwnd, self.ceiling) = (window, window),
            Verdict::EndsAt(window) => {
                (self.cwnd, self.ssthresh, self.ceiling) = (window, window, f64::INFINITY);
                exit.on_cut(false);
            }
        }
    }

    #[cold]
    fn observe_resume(&mut self, ack: &Ack) {
        let in_slow_start = self.in_slow_start();
        let Some(resume) = &mut self.resume else { return };
        match resume.observe(ack, self.cwnd, in_slow_start) {
            Step::Stays => {}
            Step::Jumps(window) => {
                (self.cwnd, self.ceiling) = (window, window);
                if let Some(exit) = &mut self.exit {
                    exit.on_pause();
                }
            }
            Step::Validates(window) => (self.cwnd, self.ceiling) = (window, f64::INFINITY),
            Step::Retreats => self.retreat(),
            Step::ReturnsAt(window) => {
                self.cwnd = window;
                self.end_resume();
            }
            Step::Returns => self.end_resume(),
            Step::Recovers(ssthresh) => {
                self.ssthresh = self.in_segments(ssthresh).max(MIN_SSTHRESH);
                self.end_resume();
            }
        }
    }

    /// The window, if it is not above the ceiling. NaN stays NaN.
    #[inline]
    fn capped(&self, cwnd: f64) -> f64 {
        if cwnd > self.ceiling { self.ceiling } else { cwnd }
    }

    /// The segments, rounded down if windows have no fractions.
    fn in_segments(&self, segments: f64) -> f64 {
        if self.is_whole() { segments.floor() } else { segments }
    }

    /// Normal congestion control follows Careful Resume.
    fn end_resume(&mut self) {
        self.resume = None;
        self.ceiling = f64::INFINITY;
    }

    /// In the Safe Retreat Phase the window is at most half of PipeSize, and does not grow.
    fn retreat(&mut self) {
        let Some(most) = self.resume.as_ref().and_then(|resume| resume.retreat()) else { return };
        self.cwnd = self.cwnd.min(self.in_segments(most).max(self.context.min_window));
        self.ssthresh = self.ssthresh.min(self.cwnd.max(MIN_SSTHRESH));
        self.ceiling = self.cwnd;
    }

    /// Careful Resume, until normal congestion control follows.
    #[cfg(test)]
    pub(super) fn resumed(&self) -> Option<&CarefulResume> {
        self.resume.as_deref()
    }

    /// The window without its unvalidated part.
    pub(super) fn validated(&self) -> f64 {
        let pipe = self.resume.as_ref().and_then(|resume| resume.pipe_size());
        pipe.map_or(self.cwnd, |pipe| self.cwnd.min(pipe))
    }

    /// Whether the last cut may be undone.
    pub(super) fn may_undo(&self) -> bool {
        self.before.is_some()
    }

    /// Slow start: the window grows by the acknowledged segments, or by less. An ACK of many segments leads to
    /// ssthresh at most.
    #[inline]
    pub(super) fn slow_start(&mut self, ack: &Ack) {
        /// RFC 3465's L.
        const FEW: f64 = 2.0;
        let Growth { growth, ends } = match &mut self.exit {
            None => Growth { growth: ack.acked, ends: false },
            Some(exit) => exit.grow(ack.acked),
        };
        let grown = self.capped(self.cwnd + growth);
        self.cwnd = if ack.acked > FEW { grown.min(self.ssthresh) } else { grown };
        if ends {
            self.ssthresh = self.cwnd;
        }
    }

    /// Congestion avoidance by the rule: the window is `cwnd` from now on.
    #[inline]
    pub(super) fn avoid(&mut self, cwnd: f64) {
        self.cwnd = self.capped(cwnd);
    }

    /// The window shrank without congestion, and does not return to slow start.
    #[inline]
    pub(super) fn keep_avoiding(&mut self) {
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }

    /// Congestion: `decrease` gives the remaining window, unless the context sets it.
    pub(super) fn cut(&mut self, congestion: &Congestion, decrease: impl FnOnce(f64) -> f64) {
        // RFC 3168 §6.1.2: "the TCP source should not decrease the slow-start threshold, ssthresh, if it has been
        // decreased within the last round trip time."
        if congestion.restart == Restart::SlowStartAgain {
            self.end_resume();
            self.cwnd = self.context.min_window;
            return;
        }
        let halves = self.context.first_cut == FirstCut::Half && (!self.was_cut || self.in_slow_start());
        let validated = self.validated();
        self.begin_cut(congestion);
        if congestion.restart == Restart::OneSegment {
            (self.cwnd, self.ssthresh) = (LOSS_WINDOW, LOSS_WINDOW);
            return;
        }
        let window = match self.context.cut_window {
            CutWindow::Exact => validated,
            CutWindow::Capped { max_window } => validated.min(max_window),
            CutWindow::Whole { max_window } => validated.min(max_window).floor(),
        };
        let remaining = match (congestion.kind, self.context.timeout_ssthresh) {
            (CongestionKind::Timeout, TimeoutSsthresh::HalfCwnd) => window / 2.0,
            (CongestionKind::Timeout, TimeoutSsthresh::HalfFlight) => f64::from(congestion.flight_size) / 2.0,
            (CongestionKind::Ecn, _) if self.context.ecn_beta.is_some() => {
                // RFC 8511 §3: "ssthresh = max (FlightSize * beta_{ecn}, 2 * SMSS)".
                self.context.ecn_beta.map_or(window, |beta| window * beta)
            }
            _ if halves => window / 2.0,
            _ => decrease(window),
        };
        let left = self.leave(remaining, congestion.kind);
        self.cwnd = match congestion.restart {
            Restart::Reduced => left,
            Restart::SlowStart | Restart::SlowStartAgain | Restart::OneSegment => self.context.min_window,
        };
        self.retreat();
    }

    /// Begins a congestion event for any responder. It stores the state for an undo, and drops fractions of a
    /// segment.
    pub(super) fn begin_cut(&mut self, congestion: &Congestion) {
        let before = Before { cwnd: self.cwnd, ssthresh: self.ssthresh, flight_size: congestion.flight_size };
        self.before = (congestion.kind != CongestionKind::Ecn).then_some(before);
        self.was_cut = true;
        self.earned = 0.0;
        self.ceiling = f64::INFINITY;
        if let Some(exit) = &mut self.exit {
            exit.on_cut(congestion.restart != Restart::Reduced);
        }
        if let Some(resume) = &mut self.resume {
            if resume.on_congestion(congestion) {
                // A window beyond PipeSize does not return.
                self.before = None;
            } else {
                self.end_resume();
            }
        }
    }

    /// Takes the answer of user-supplied code to a congestion event. A restart overrides the answer.
    pub(super) fn end_cut(&mut self, restart: Restart, (cwnd, ssthresh): (f64, f64), ssthresh_before: f64) {
        let whole = |value: f64| self.in_segments(value);
        (self.cwnd, self.ssthresh) = match restart {
            Restart::Reduced => (whole(cwnd), whole(ssthresh)),
            Restart::SlowStart => (self.context.min_window, whole(ssthresh)),
            Restart::SlowStartAgain => (self.context.min_window, ssthresh_before),
            Restart::OneSegment => (LOSS_WINDOW, LOSS_WINDOW),
        };
    }

    /// Sets ssthresh at once, with its fraction.
    pub(super) fn set_ssthresh(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
    }

    /// Sets window and ssthresh at once, as an algorithm that measures the path does.
    pub(super) fn set(&mut self, cwnd: f64) {
        (self.cwnd, self.ssthresh) = (self.capped(cwnd.max(LOSS_WINDOW)), cwnd.max(MIN_SSTHRESH));
    }

    /// Reduces the cut window further to `remaining`, if that is less.
    pub(super) fn reduce_to(&mut self, remaining: f64) {
        if remaining < self.cwnd {
            self.cwnd = self.leave(remaining, CongestionKind::Loss).min(self.cwnd);
        }
    }

    /// Undoes the last cut. Returns true if the window changes.
    pub(super) fn undo(&mut self, recovery: &Recovery) -> bool {
        let Some(before) = self.before.take() else { return false };
        let (cwnd, ssthresh) = match self.context.undo_response {
            // RFC 4015 §3.1, steps (0) and (9): "pipe_prev <- max (FlightSize, ssthresh)", "cwnd <- FlightSize + min
            // (bytes_acked, IW)", "ssthresh <- pipe_prev". What the ACK acknowledges is its growth of the window.
            UndoResponse::Standard => {
                let cwnd = f64::from(recovery.flight_size).min(before.cwnd);
                (cwnd, before.ssthresh.max(f64::from(before.flight_size)))
            }
            UndoResponse::Restore => (before.cwnd, before.ssthresh),
        };
        let reduced = self.cwnd;
        self.cwnd = reduced.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
        self.cwnd != reduced
    }

    /// The cut of ssthresh was for nothing: it is no less than before.
    pub(super) fn raise_ssthresh(&mut self, before: f64) {
        self.ssthresh = self.ssthresh.max(before);
    }

    /// Sets ssthresh to the remaining window, and returns the window that belongs to it.
    fn leave(&mut self, remaining: f64, kind: CongestionKind) -> f64 {
        let (remaining, floor) = match (self.context.cut_window, kind) {
            // RFC 3168 §6.1.2: "the value of the congestion window is bounded below by a value of one segment".
            (CutWindow::Exact, CongestionKind::Ecn) if self.is_whole() => (remaining.floor(), self.context.min_marked),
            (CutWindow::Exact, CongestionKind::Ecn) => (remaining, self.context.min_marked),
            (CutWindow::Exact, _) if self.is_whole() => (remaining.floor(), MIN_SSTHRESH),
            (CutWindow::Exact, _) => (remaining, MIN_SSTHRESH),
            // ssthresh has its floor, the window has not: three segments leave one.
            (CutWindow::Capped { .. }, _) => (remaining, LOSS_WINDOW),
            (CutWindow::Whole { .. }, _) => (remaining.floor(), LOSS_WINDOW),
        };
        let threshold = if self.context.cut_window == CutWindow::Exact { remaining } else { remaining.floor() };
        self.ssthresh = threshold.max(MIN_SSTHRESH);
        remaining.max(floor)
    }

    /// Ends recovery. Returns true if the window changes.
    pub(super) fn leave_recovery(&mut self, recovery: &Recovery) -> bool {
        let before = self.cwnd;
        let flight_size = f64::from(recovery.flight_size);
        match self.context.exit_window {
            ExitWindow::Ssthresh => {}
            // RFC 6582 §3.2, step 3: "min (ssthresh, max(FlightSize, SMSS) + SMSS)".
            ExitWindow::Flight => self.cwnd = self.ssthresh.min(flight_size.max(1.0) + 1.0),
            ExitWindow::Moderated => self.cwnd = self.cwnd.min(flight_size + MODERATE_BURST),
        }
        self.cwnd != before
    }

    /// Limits the window to `segments`, and ssthresh to the window.
    pub(super) fn limit(&mut self, segments: f64) {
        // RFC 7661 §4.4.1: "The calculated cwnd value MUST NOT be reduced below 1 TCP Maximum Segment Size (MSS)."
        self.cwnd = self.cwnd.min(segments.max(LOSS_WINDOW));
        self.ssthresh = self.ssthresh.min(self.cwnd.max(MIN_SSTHRESH));
    }

    /// The sender continues after a long idle time.
    pub(super) fn resume(&mut self) {
        self.end_resume();
        if let Some(exit) = &mut self.exit {
            exit.on_idle();
        }
        // RFC 5681 §4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission".
        let restart = self.cwnd.min(self.context.initial_window);
        self.cwnd = match self.context.idle_window {
            IdleWindow::Restart => restart,
            IdleWindow::Halve | IdleWindow::Validate => {
                self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
                restart.max(self.cwnd / 2.0)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::PathView;
    use crate::units::Instant;

    const GENTLE: f64 = 0.75;

    fn after_a_cut(context: CcContext, window: f64, kind: CongestionKind) -> (f64, f64) {
        let mut it = Window::new(CcContext { initial_window: window, initial_ssthresh: 1.0, ..context });
        let path = PathView::default();
        let event = Congestion { now: Instant::ZERO, kind, restart: Restart::Reduced, flight_size: 6, path };
        it.cut(&event, |window| GENTLE * window);
        (it.cwnd(), it.ssthresh())
    }

    #[test]
    fn an_ack_of_new_data_lets_a_used_window_grow_outside_of_recovery() {
        let ack = || Ack::of(1.0);
        assert!(Window::grows_by(&ack()));
        for ack in [Ack::of(0.0), Ack { cwnd_limited: false, ..ack() }, Ack { in_recovery: true, ..ack() }] {
            assert!(!Window::grows_by(&ack), "{ack:?}");
        }
    }

    #[test]
    fn what_is_cut_may_be_capped_and_whole() {
        // In congestion avoidance, three quarters of 10.5 or of what a window of 9 leaves of it.
        let after_a_loss = |cut_window, window| {
            after_a_cut(CcContext { cut_window, ..CcContext::new(1.0) }, window, CongestionKind::Loss)
        };
        assert_eq!(after_a_loss(CutWindow::Exact, 10.5), (7.875, 7.875));
        assert_eq!(after_a_loss(CutWindow::Capped { max_window: 9.0 }, 10.5), (6.75, 6.0));
        assert_eq!(after_a_loss(CutWindow::Whole { max_window: 9.0 }, 10.5), (6.0, 6.0));
        assert_eq!(after_a_loss(CutWindow::Whole { max_window: 9.0 }, 2.5), (1.0, 2.0));
    }

    #[test]
    fn what_a_law_takes_later_is_floored_as_the_cut_was_and_raises_nothing() {
        let settled = |cut_window, remaining| {
            let mut it = Window::new(CcContext { cut_window, initial_ssthresh: 1.0, ..CcContext::new(9.5) });
            it.reduce_to(remaining);
            (it.cwnd(), it.ssthresh())
        };
        assert_eq!(settled(CutWindow::Exact, 9.5), (9.5, 1.0));
        assert_eq!(settled(CutWindow::Exact, 6.5), (6.5, 6.5));
        assert_eq!(settled(CutWindow::Exact, -3.0), (2.0, 2.0));
        assert_eq!(settled(CutWindow::Whole { max_window: 9.0 }, 6.5), (6.0, 6.0));
        let mut small = Window::new(CcContext::new(1.5));
        small.reduce_to(1.0);
        assert_eq!(small.cwnd(), 1.5);
    }

    #[test]
    fn the_first_cut_may_halve_whatever_the_law() {
        let context = CcContext { first_cut: FirstCut::Half, ..CcContext::new(1.0) };
        assert_eq!(after_a_cut(context, 10.0, CongestionKind::Loss), (5.0, 5.0));
    }

    #[test]
    fn the_window_may_leave_recovery_with_one_segment_more_than_is_in_flight() {
        let exit = |exit_window, flight_size| {
            let mut it = Window::new(CcContext { exit_window, initial_ssthresh: 5.0, ..CcContext::new(5.0) });
            let recovery = Recovery { now: Instant::ZERO, flight_size, path: PathView::default() };
            (it.leave_recovery(&recovery), it.cwnd())
        };
        assert_eq!(exit(ExitWindow::Ssthresh, 2), (false, 5.0));
        assert_eq!(exit(ExitWindow::Flight, 2), (true, 3.0));
        assert_eq!(exit(ExitWindow::Flight, 0), (true, 2.0));
        assert_eq!(exit(ExitWindow::Flight, 4), (false, 5.0));
    }

    #[test]
    fn the_window_may_leave_recovery_with_three_segments_more_than_are_in_flight() {
        let exit = |flight_size| {
            let mut it = Window::new(CcContext { exit_window: ExitWindow::Moderated, ..CcContext::new(9.0) });
            it.leave_recovery(&Recovery { now: Instant::ZERO, flight_size, path: PathView::default() });
            it.cwnd()
        };
        assert_eq!((exit(4), exit(6), exit(20)), (7.0, 9.0, 9.0));
    }

    #[test]
    fn slow_start_may_pass_ssthresh_by_a_segment() {
        let grown = |slow_start| {
            let context = CcContext { slow_start, initial_ssthresh: 4.0, ..CcContext::new(3.0) };
            let mut it = Window::new(context);
            let mut acks = 0;
            while it.in_slow_start() {
                it.slow_start(&Ack::of(1.0));
                acks += 1;
            }
            (it.cwnd(), acks)
        };
        assert_eq!(grown(SlowStart::Standard), (4.0, 1));
        assert_eq!(grown(SlowStart::PastSsthresh), (5.0, 2));
    }

    #[test]
    fn a_window_without_fractions_grows_when_acks_have_earned_a_segment() {
        let mut it = Window::new(CcContext { whole_window: true, ..CcContext::new(4.0) });
        let grow = |it: &mut Window| {
            it.approach(it.cwnd() + 1.0 / it.cwnd());
            it.cwnd()
        };
        let windows: Vec<f64> = (0..9).map(|_| grow(&mut it)).collect();
        // Four ACKs earn a segment, and then five.
        assert_eq!(windows, [4.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0]);
        // What an ACK for many segments earns beyond whole ones remains.
        it.avoid(2.0);
        it.approach(4.5);
        assert!(it.cwnd() == 4.0 && (it.earned - 0.5).abs() < 1e-9);
        // A window that shrinks loses whole segments, the first of them after what was earned.
        it.approach(3.25);
        assert!(it.cwnd() == 4.0 && (it.earned + 0.25).abs() < 1e-9);
        it.approach(2.0);
        assert!(it.cwnd() == 2.0 && (it.earned + 0.25).abs() < 1e-9);
        // Of 7 whole segments 3 are left, and what was earned counts no more.
        it.avoid(7.0);
        grow(&mut it);
        let (now, path) = (Instant::ZERO, PathView::default());
        let (kind, restart) = (CongestionKind::Loss, Restart::Reduced);
        it.cut(&Congestion { now, kind, restart, flight_size: 7, path }, |window| window / 2.0);
        assert_eq!((it.cwnd(), it.ssthresh(), it.earned), (3.0, 3.0, 0.0));
    }

    #[test]
    fn marks_take_the_window_to_one_segment_and_losses_to_two() {
        let context = CcContext::new(1.0);
        assert_eq!(after_a_cut(context, 1.2, CongestionKind::Ecn), (1.0, 2.0));
        assert_eq!(after_a_cut(context, 2.0, CongestionKind::Ecn), (1.5, 2.0));
        assert_eq!(after_a_cut(context, 2.0, CongestionKind::Loss), (2.0, 2.0));
    }

    #[test]
    fn a_timeout_leaves_what_the_context_says() {
        let after_a_timeout = |timeout_ssthresh| {
            after_a_cut(CcContext { timeout_ssthresh, ..CcContext::new(1.0) }, 20.0, CongestionKind::Timeout).1
        };
        assert_eq!(after_a_timeout(TimeoutSsthresh::HalfCwnd), 10.0);
        assert_eq!(after_a_timeout(TimeoutSsthresh::HalfFlight), 3.0);
        assert_eq!(after_a_timeout(TimeoutSsthresh::Rule), 15.0);
    }
}
