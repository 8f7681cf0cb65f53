//! A rule inside TCP: slow start below ssthresh, the rule above it, one cut per congestion event.
//!
//! Reference: RFC 5681, with the rule instead of its increase and decrease.

use super::window::Window;
use super::{Ack, CcContext, Congestion, CongestionControl, CongestionKind, Departures, Recovery, Sent};
use crate::rule::{Marks, Rule};
use crate::units::{Instant, Rate};

/// The controller made of a window rule and slow start.
#[derive(Clone, Debug)]
pub struct Windowed<R> {
    pub(super) rule: R,
    pub(super) window: Window,
}

impl<R: Rule> Windowed<R> {
    /// A controller at the initial window, in slow start.
    pub fn new(rule: R, context: CcContext) -> Self {
        let timeout_ssthresh = context.timeout_ssthresh.of_halving();
        let slow_start = context.slow_start.of_a_rule();
        Windowed { rule, window: Window::new(CcContext { timeout_ssthresh, slow_start, ..context }) }
    }
}

impl<R: Rule> Windowed<R> {
    /// Congestion avoidance begins at the present window.
    pub(super) fn exit_slow_start(&mut self) {
        self.window.exit_slow_start();
        self.rule.restart(self.window.cwnd());
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

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        self.window.pacing_rate()
    }

    /// Half of ssthresh, as Linux's `tcp_reno_min_cwnd`.
    fn least_in_recovery(&self) -> f64 {
        (self.window.ssthresh() / 2.0).floor().min(self.window.cwnd())
    }

    fn congestion_may_raise(&self) -> bool {
        self.rule.cut_may_raise()
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.retransmission {
            self.rule.on_retransmission();
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.path.latest_rtt.is_zero() {
            self.rule.on_rtt(ack.path.latest_rtt);
        }
        self.rule.on_ack(ack.ece, ack.round_ended);
        self.window.observe(ack);
        let grows = match self.rule.marks() {
            Marks::Cut => Window::grows_by(ack),
            Marks::Observed => Window::grows_in_spite_of_marks(ack),
        };
        if !grows {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start(ack);
            if !self.window.in_slow_start() {
                self.rule.restart(self.window.cwnd());
            }
        } else {
            self.window.approach(self.rule.grow(self.window.cwnd(), ack.acked));
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.kind == CongestionKind::Ecn && self.rule.marks() == Marks::Observed {
            self.rule.on_mark();
            return;
        }
        let (rule, in_slow_start) = (&mut self.rule, self.window.in_slow_start());
        let mut by_rule = None;
        self.window.cut(congestion, |window| {
            // What slow start gained counts as old.
            if in_slow_start {
                rule.restart(window);
            }
            *by_rule.insert(match congestion.kind {
                CongestionKind::Ecn => rule.cut_for_mark(window),
                CongestionKind::Loss | CongestionKind::Timeout => rule.cut(window),
            })
        });
        let left = self.window.cwnd();
        match by_rule {
            // The end of slow start is reported then.
            None if self.window.in_slow_start() => {}
            None => rule.restart(left),
            Some(by_rule) if by_rule < left => rule.floored(left),
            Some(_) => {}
        }
        if congestion.kind == CongestionKind::Timeout {
            self.rule.on_timeout();
        }
    }

    fn on_recovery_exit(&mut self, recovery: &Recovery) {
        self.window.reduce_to(self.rule.on_losses_known(self.window.cwnd()));
        if self.window.leave_recovery(recovery) {
            self.rule.restart(self.window.cwnd());
        }
    }

    fn on_undo(&mut self, recovery: &Recovery) {
        if self.window.undo(recovery) {
            self.rule.restart(self.window.cwnd());
        }
    }

    fn responds_to_ecn(&self) -> bool {
        self.rule.marks() == Marks::Cut
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn departures(&self) -> Departures {
        if self.rule.counts_retransmissions() { Departures::All } else { Departures::None }
    }

    fn on_resume(&mut self, _now: Instant) {
        self.window.resume();
    }

    fn on_limit(&mut self, segments: f64) {
        self.window.limit(segments);
    }

    fn probe(&self, report: &mut dyn FnMut(&str, f64)) {
        self.rule.probe(report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{CutWindow, ExitWindow, FirstCut, PathView, Restart};
    use crate::rule::RuleParameters;
    use crate::rule::aild::Aild;
    use crate::rule::fast_convergence::AimdFc;
    use crate::rule::linear::Aimd;
    use crate::rule::mr_aimd::{MrAimd, MrAimdRule};
    use crate::rule::new_aimd::{Base, NewAimd};
    use crate::units::Duration;

    fn lose<R: Rule + std::fmt::Debug>(controller: &mut Windowed<R>) -> f64 {
        let (kind, restart) = (CongestionKind::Loss, Restart::Reduced);
        let path = PathView::default();
        controller.on_congestion(&Congestion { now: Instant::ZERO, kind, restart, flight_size: 0, path });
        controller.cwnd()
    }

    #[test]
    fn a_rule_goes_on_from_a_first_cut_that_was_not_its_own() {
        let context = CcContext { first_cut: FirstCut::Half, ..CcContext::new(40.0) };
        let mut controller = Windowed::new(NewAimd::default().rule(), context);
        assert_eq!(lose(&mut controller), 20.0);
        // The base is 20 from here on, and half of it goes.
        assert_eq!(lose(&mut controller), 10.0);
    }

    #[test]
    fn a_base_is_kept_over_timeouts_or_made_anew() {
        // Slow start ends with a loss at 40, which leaves 20 of the base. A timeout at 24 leads to slow start up to 12.
        let left_by_the_next_loss = |base| {
            let mut controller = Windowed::new(NewAimd { base, ..NewAimd::default() }.rule(), CcContext::new(40.0));
            assert_eq!(lose(&mut controller), 20.0);
            controller.window.avoid(24.0);
            let (now, kind, path) = (Instant::ZERO, CongestionKind::Timeout, PathView::default());
            let restart = Restart::SlowStart;
            controller.on_congestion(&Congestion { now, kind, restart, flight_size: 0, path });
            (0..11).for_each(|_| controller.on_ack(&Ack::of(1.0)));
            assert_eq!(controller.cwnd(), 12.0);
            controller.window.avoid(32.0);
            lose(&mut controller)
        };
        // 12/2 goes; 20/2; 12/2, as no recovery came between.
        assert_eq!(left_by_the_next_loss(Base::SlowStart), 26.0);
        assert_eq!(left_by_the_next_loss(Base::FirstSlowStart), 22.0);
        assert_eq!(left_by_the_next_loss(Base::Recovery), 26.0);
    }

    #[test]
    fn a_timeout_does_not_end_the_first_slow_start() {
        let parameters = NewAimd { base: Base::FirstSlowStart, ..NewAimd::default() };
        let mut controller = Windowed::new(parameters.rule(), CcContext::new(16.0));
        let (now, kind, path) = (Instant::ZERO, CongestionKind::Timeout, PathView::default());
        let restart = Restart::SlowStart;
        controller.on_congestion(&Congestion { now, kind, restart, flight_size: 0, path });
        (0..7).for_each(|_| controller.on_ack(&Ack::of(1.0)));
        // The base is the 8 at which slow start ended, and not the segment that the timeout left.
        assert_eq!((controller.cwnd(), lose(&mut controller)), (8.0, 4.0));
    }

    #[test]
    fn the_rule_begins_where_slow_start_ends() {
        let context = CcContext { initial_ssthresh: 4.0, ..CcContext::new(2.0) };
        let mut controller = Windowed::new(NewAimd::default().rule(), context);
        controller.on_ack(&Ack::of(1.0));
        controller.on_ack(&Ack::of(1.0));
        // The base is 4, of which half goes.
        assert_eq!(lose(&mut controller), 2.0);
        // 2 + 1/2, by the rule.
        controller.on_ack(&Ack::of(1.0));
        assert_eq!(controller.cwnd(), 2.5);
    }

    #[test]
    fn the_windows_of_all_rules_are_whole_where_those_of_linux_are() {
        let left = |aimd: Aimd, whole_window, kind| {
            let context = CcContext { whole_window, initial_ssthresh: 1.0, ..CcContext::new(9.0) };
            let mut controller = Windowed::new(aimd.rule(), context);
            controller.on_ack(&Ack::of(1.0));
            let (now, restart, path) = (Instant::ZERO, Restart::Reduced, PathView::default());
            let grown = controller.cwnd();
            controller.on_congestion(&Congestion { now, kind, restart, flight_size: 0, path });
            (grown, controller.cwnd())
        };
        let (reno, other) = (Aimd::default(), Aimd { increase: 0.9, remaining: 0.5 });
        for kind in [CongestionKind::Loss, CongestionKind::Ecn] {
            assert_eq!(left(reno.clone(), true, kind), (9.0, 4.0));
            assert_eq!(left(other.clone(), true, kind), (9.0, 4.0));
            assert_eq!(left(other.clone(), false, kind), (9.1, 4.55));
        }
        assert_eq!(left(reno, false, CongestionKind::Loss), (9.0 + 1.0 / 9.0, (9.0 + 1.0 / 9.0) / 2.0));
    }

    #[test]
    fn rounding_down_is_no_floor() {
        let cut_window = CutWindow::Whole { max_window: f64::INFINITY };
        let mut controller = Windowed::new(AimdFc::default().rule(), CcContext { cut_window, ..CcContext::new(9.0) });
        assert_eq!(lose(&mut controller), 4.0);
        // The rule remembers 4.5: from 8, 4.5/2 + 3.5 = 5.75 in whole segments.
        controller.window.avoid(8.0);
        assert_eq!(lose(&mut controller), 5.0);
    }

    #[test]
    fn a_rule_may_hear_of_marks_without_a_cut() {
        let told = |controller: &Windowed<MrAimdRule>| {
            let mut numbers = Vec::new();
            controller.probe(&mut |_, value| numbers.push(value));
            numbers
        };
        let signal = |controller: &mut Windowed<MrAimdRule>, kind| {
            let (restart, path) = (Restart::Reduced, PathView::default());
            controller.on_congestion(&Congestion { now: Instant::ZERO, kind, restart, flight_size: 0, path });
        };
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(8.0) };
        let mut controller = Windowed::new(MrAimd { alpha_prime_marked: 0.25, ..MrAimd::default() }.rule(), context);
        assert!(!controller.responds_to_ecn());
        signal(&mut controller, CongestionKind::Ecn);
        controller.on_ack(&Ack { ece: true, ..Ack::of(8.0) });
        // 1 + 0.25, and the window takes it.
        assert_eq!((controller.cwnd(), told(&controller)), (9.25, vec![1.25, 0.25]));
        signal(&mut controller, CongestionKind::Loss);
        assert_eq!((controller.cwnd(), told(&controller)), (4.625, vec![0.625, 0.25]));
        signal(&mut controller, CongestionKind::Timeout);
        assert_eq!(told(&controller), [0.625, 0.5]);
    }

    #[test]
    fn a_rule_gets_round_trip_times_once_there_is_one() {
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(8.0) };
        let mut controller = Windowed::new(MrAimd { rtt_scaled: true, ..MrAimd::default() }.rule(), context);
        controller.on_ack(&Ack::of(8.0));
        // 1 + 0.5; then half as much at 50 ms.
        assert_eq!(controller.cwnd(), 9.5);
        let path = PathView { latest_rtt: Duration::from_millis(50), ..PathView::default() };
        controller.on_ack(&Ack { path, ..Ack::of(9.5) });
        assert_eq!(controller.cwnd(), 11.25);
    }

    #[test]
    fn marks_cut_any_other_rule_and_stop_its_growth() {
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(10.0) };
        let mut controller = Windowed::new(AimdFc::default().rule(), context);
        assert!(controller.responds_to_ecn());
        controller.on_ack(&Ack { ece: true, ..Ack::of(1.0) });
        assert_eq!(controller.cwnd(), 10.0);
    }

    #[test]
    fn a_rule_goes_on_from_what_recovery_leaves() {
        let context = CcContext { exit_window: ExitWindow::Flight, ..CcContext::new(40.0) };
        let mut controller = Windowed::new(NewAimd::default().rule(), context);
        assert_eq!(lose(&mut controller), 20.0);
        // Seven in flight and one more; half of that is what the next cut takes.
        let (now, path) = (Instant::ZERO, PathView::default());
        controller.on_recovery_exit(&Recovery { now, flight_size: 7, path });
        assert_eq!((controller.cwnd(), lose(&mut controller)), (8.0, 4.0));
    }

    #[test]
    fn only_a_rule_that_counts_retransmissions_needs_to_hear_of_sending() {
        let context = CcContext::new(40.0);
        assert_eq!(Windowed::new(Aild::default().rule(), context).departures(), Departures::All);
        assert_eq!(Windowed::new(NewAimd::default().rule(), context).departures(), Departures::None);
    }

    #[test]
    fn a_rule_may_take_more_when_all_losses_of_a_window_are_known() {
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(40.0) };
        let mut controller = Windowed::new(Aild { removed_per_loss_ratio: 80.0, ..Aild::default() }.rule(), context);
        // 80/40 for the first of two lost segments, and for the second when recovery ends.
        assert_eq!(lose(&mut controller), 38.0);
        let (now, path) = (Instant::ZERO, PathView::default());
        for retransmission in [true, false, true] {
            controller.on_sent(&Sent { now, bytes: 1460, retransmission, idle_for: None, path });
        }
        controller.on_recovery_exit(&Recovery { now, flight_size: 38, path });
        assert_eq!((controller.cwnd(), controller.ssthresh()), (36.0, 36.0));
    }

    #[test]
    fn a_rule_gets_the_floor() {
        let mut controller = Windowed::new(AimdFc::default().rule(), CcContext::new(3.0));
        // 3/2 is below the floor of two segments; what was gained since is measured from there.
        assert_eq!(lose(&mut controller), 2.0);
        controller.window.avoid(6.0);
        assert_eq!(lose(&mut controller), 5.0);
    }
}
