//! A driven controller: ACKs in, windows out, with hand-computed numbers.

use super::*;
use crate::cc::{ExitWindow, PathView, Restart, UndoResponse};

const RTT: Duration = Duration::from_millis(100);
/// Round numbers: a loss at 36 leaves 25.2, and K = cbrt((36 - 25.2) / 0.4) = cbrt(27) = 3 s.
const PEAK: f64 = 36.0;

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
}

struct Driven {
    cc: CubicController,
    now: Instant,
    /// Segments that an ACK counts for.
    acked: f64,
}

impl Driven {
    /// In congestion avoidance at `window`, where no congestion was before.
    fn at(window: f64, parameters: &Cubic) -> Self {
        let context = CcContext { initial_ssthresh: 1.0, ..CcContext::new(window) };
        Driven { cc: parameters.controller(context), now: Instant::ZERO + RTT, acked: 1.0 }
    }

    /// Behind a loss at [`PEAK`].
    fn cut(parameters: &Cubic) -> Self {
        let mut driven = Driven::at(PEAK, parameters);
        driven.lose();
        driven
    }

    fn path() -> PathView {
        PathView { srtt: RTT, in_flight: 10, ..PathView::default() }
    }

    fn congest(&mut self, kind: CongestionKind) -> f64 {
        let restart = if kind == CongestionKind::Timeout { Restart::SlowStart } else { Restart::Reduced };
        let event = Congestion { now: self.now, kind, restart, flight_size: 10, path: Driven::path() };
        self.cc.on_congestion(&event);
        self.cc.cwnd()
    }

    fn lose(&mut self) -> f64 {
        self.congest(CongestionKind::Loss)
    }

    fn undo(&mut self) -> f64 {
        self.cc.on_undo(&Recovery { now: self.now, flight_size: 0, path: Driven::path() });
        self.cc.cwnd()
    }

    fn ack_with(&mut self, after: Duration, cwnd_limited: bool, path: PathView) -> f64 {
        self.now += after;
        let ack = Ack { now: self.now, cwnd_limited, path, ..Ack::of(self.acked) };
        self.cc.on_ack(&ack);
        self.cc.cwnd()
    }

    /// An ACK of a window that was used.
    fn ack(&mut self, after: Duration) -> f64 {
        self.ack_with(after, true, Driven::path())
    }

    /// ACKs a round trip apart.
    fn acks(&mut self, count: u32) {
        for _ in 0..count {
            self.ack(RTT);
        }
    }

    fn stage(&self) -> &Stage {
        self.cc.state.stage.as_ref().expect("a stage of congestion avoidance")
    }
}

fn plain() -> Cubic {
    Cubic { fast_convergence: false, reno_friendly: false, ..Cubic::default() }
}

#[test]
fn the_curve_is_the_one_of_figures_1_and_2() {
    let curve = Curve::new(0.4, PEAK, 0.7 * PEAK);
    near(curve.k, 3.0);
    // 36 + 0.4 (t - 3)^3: 36 - 0.4 * 27, 36 - 0.4 * 8, 36 - 0.4, 36, 36 + 0.4, 36 + 0.4 * 8, 36 + 0.4 * 27.
    for (t, expected) in [25.2, 32.8, 35.6, 36.0, 36.4, 39.2, 46.8].into_iter().enumerate() {
        near(curve.at(t as f64), expected);
    }
}

#[test]
fn an_ack_moves_the_window_towards_the_curve_of_a_round_trip_later() {
    let mut driven = Driven::cut(&plain());
    // t = 0: target W(0.1) = 36 - 0.4 * 2.9^3 = 26.2444, growth 1.0444 / 25.2.
    near(driven.ack(RTT), 25.2 + 1.0444 / 25.2);
    // t = 1: target W(1.1) = 36 - 0.4 * 1.9^3 = 33.2564.
    let cwnd = driven.cc.cwnd();
    near(driven.ack(Duration::from_secs(1)), cwnd + (33.2564 - cwnd) / cwnd);
}

#[test]
fn an_ack_that_counts_for_two_segments_moves_the_window_twice_as_far() {
    // Byte counting: as above, and as Reno's 9/17 below, but for the factor.
    let mut driven = Driven { acked: 2.0, ..Driven::cut(&plain()) };
    near(driven.ack(RTT), 25.2 + 2.0 * 1.0444 / 25.2);
    let mut driven = Driven { acked: 2.0, ..Driven::cut(&Cubic::default()) };
    near(driven.ack(Duration::from_micros(1)), 25.2 + 2.0 * 9.0 / 17.0 / 25.2);
}

#[test]
fn the_window_follows_the_curve_through_both_regions() {
    let mut driven = Driven::cut(&plain());
    driven.ack(Duration::ZERO);
    let mut t = 0.0;
    while t < 6.0 {
        // A window of ACKs in a round trip.
        let gap = Duration::from_secs_f64_round(RTT.as_secs_f64() / driven.cc.cwnd());
        t += gap.as_secs_f64();
        let cwnd = driven.ack(gap);
        // Approached with a lag of a round trip, the target of a round trip later is the curve but for
        // W'' RTT^2 / 2, at most 0.4 * 6 * 3 / 200 = 0.036. An ACK is ahead by W' RTT / cwnd, at most 1.08 / 25.2.
        let curve = Curve::new(0.4, PEAK, 25.2).at(t);
        assert!((cwnd - curve).abs() < 0.08, "{cwnd} at {t} s, the curve is at {curve}");
    }
}

#[test]
fn the_target_lies_between_the_window_and_one_and_a_half_of_it() {
    let mut driven = Driven::cut(&plain());
    driven.ack(RTT);
    // W(100) is some 365 000 segments: a target of 1.5 windows adds half a segment.
    let cwnd = driven.cc.cwnd();
    near(driven.ack(Duration::from_secs(100)), cwnd + 0.5);
    let mut driven = Driven::cut(&plain());
    // With a round trip of 3 s the target is the plateau; when it falls to 100 ms the curve lies below the window.
    let far = PathView { srtt: Duration::from_secs(3), ..Driven::path() };
    let cwnd = driven.ack_with(RTT, true, far);
    near(cwnd, 25.2 + 10.8 / 25.2);
    for _ in 0..10 {
        driven.ack_with(Duration::ZERO, true, far);
    }
    let cwnd = driven.cc.cwnd();
    assert!(cwnd > 28.0);
    assert_eq!(driven.ack(Duration::ZERO), cwnd);
}

#[test]
fn the_window_is_at_least_the_one_of_reno() {
    let parameters = Cubic { fast_convergence: false, ..Cubic::default() };
    // 3 * 0.3 / 1.7.
    near(parameters.alpha(), 9.0 / 17.0);
    let mut driven = Driven::cut(&parameters);
    // Hardly any time passes, the curve does not rise.
    let gap = Duration::from_micros(1);
    near(driven.ack(gap), 25.2 + 9.0 / 17.0 / 25.2);
    let mut cwnd = driven.cc.cwnd();
    while cwnd < PEAK {
        let next = driven.ack(gap);
        near(next, cwnd + 9.0 / 17.0 / cwnd);
        cwnd = next;
    }
    // Back at cwnd_prior: as Reno does.
    near(driven.ack(gap), cwnd + 1.0 / cwnd);
}

#[test]
fn a_loss_leaves_seven_tenths_with_and_without_fast_convergence() {
    for fast_convergence in [false, true] {
        let mut driven = Driven::at(100.0, &Cubic { fast_convergence, ..Cubic::default() });
        assert!(!driven.cc.congestion_may_raise());
        near(driven.lose(), 70.0);
        near(driven.cc.ssthresh(), 70.0);
        // The second loss comes below the first: 0.7 of the window again, and not 0.7 of (1 + 0.7) / 2 of it.
        near(driven.lose(), 49.0);
        driven.ack(RTT);
        near(driven.stage().curve.w_max, if fast_convergence { 59.5 } else { 70.0 });
        // Only a loss below the plateau does so.
        driven.cc.state.window.avoid(driven.stage().curve.w_max);
        let plateau = driven.cc.cwnd();
        near(driven.lose(), 0.7 * plateau);
        driven.ack(RTT);
        near(driven.stage().curve.w_max, plateau);
        // A loss above the plateau raises it.
        driven.acks(1000);
        let cwnd = driven.cc.cwnd();
        assert!(cwnd > 100.0);
        near(driven.lose(), 0.7 * cwnd);
        driven.ack(RTT);
        near(driven.stage().curve.w_max, cwnd);
    }
}

#[test]
fn reno_is_followed_more_slowly_up_to_the_window_before_the_cut_and_not_to_a_lowered_plateau() {
    let mut driven = Driven::at(100.0, &Cubic::default());
    driven.lose();
    // At 70: W_max = 0.85 * 70 = 59.5, cwnd_prior = 70.
    driven.lose();
    let gap = Duration::from_micros(1);
    let mut cwnd = driven.ack(gap);
    near(driven.stage().curve.w_max, 59.5);
    while cwnd < 70.0 {
        let next = driven.ack(gap);
        near(next, cwnd + 9.0 / 17.0 / cwnd);
        cwnd = next;
    }
    near(driven.ack(gap), cwnd + 1.0 / cwnd);
}

#[test]
fn losses_leave_two_segments_and_marks_one() {
    let mut driven = Driven::at(2.0, &Cubic::default());
    assert_eq!(driven.lose(), 2.0);
    near(driven.congest(CongestionKind::Ecn), 1.4);
    assert_eq!(driven.congest(CongestionKind::Ecn), 1.0);
    assert_eq!(driven.cc.ssthresh(), 2.0);
}

#[test]
fn a_timeout_restarts_at_one_segment_and_makes_a_plateau_of_where_slow_start_ends() {
    let mut driven = Driven::at(10.0, &plain());
    assert_eq!(driven.congest(CongestionKind::Timeout), 1.0);
    near(driven.cc.ssthresh(), 7.0);
    for window in 2..=7 {
        near(driven.ack(RTT), f64::from(window));
    }
    // K = 0 and W_max = 7: the target is 7 + 0.4 * 0.1^3 at first, and 7 + 0.4 * 1.1^3 after a second.
    near(driven.ack(RTT), 7.0 + 0.0004 / 7.0);
    near(driven.stage().curve.w_max, 7.0);
    let cwnd = driven.cc.cwnd();
    near(driven.ack(Duration::from_secs(1)), cwnd + (7.5324 - cwnd) / cwnd);
}

#[test]
fn without_congestion_before_it_the_stage_begins_at_its_plateau() {
    let mut driven = Driven::at(10.0, &Cubic::default());
    // Reno's increase at once: nothing was cut.
    near(driven.ack(RTT), 10.1);
    near(driven.stage().curve.w_max, 10.0);
}

#[test]
fn time_in_which_the_window_is_not_used_does_not_count() {
    let mut driven = Driven::cut(&plain());
    driven.acks(11);
    assert_eq!(driven.stage().elapsed, RTT * 10);
    // The application writes too little for a minute, and the time to the first ACK after it is not known to be used.
    let cwnd = driven.cc.cwnd();
    for _ in 0..600 {
        assert_eq!(driven.ack_with(RTT, false, Driven::path()), cwnd);
    }
    driven.acks(1);
    assert_eq!(driven.stage().elapsed, RTT * 10);
    driven.acks(1);
    assert_eq!(driven.stage().elapsed, RTT * 11);
    // The application writes nothing for a minute: only the round trip after it counts.
    driven.now += Duration::from_secs(60);
    let path = PathView { in_flight: 1, ..Driven::path() };
    driven.cc.on_sent(&Sent { now: driven.now, bytes: 1460, retransmission: false, idle_for: None, path });
    driven.acks(1);
    assert_eq!(driven.stage().elapsed, RTT * 12);
}

#[test]
fn a_restart_after_idleness_begins_a_new_stage() {
    let mut driven = Driven::at(4.0, &plain());
    driven.cc.state.window.avoid(PEAK);
    driven.lose();
    driven.acks(20);
    driven.cc.on_resume(driven.now);
    assert_eq!(driven.cc.cwnd(), 4.0);
    assert!(driven.cc.state.stage.is_none());
    while driven.cc.cwnd() < driven.cc.ssthresh() {
        driven.ack(RTT);
    }
    // The old plateau, and a curve that begins where slow start ended: at the first window of 4 + n not below 25.2.
    driven.ack(RTT);
    near(driven.stage().curve.w_max, PEAK);
    near(driven.stage().curve.at(0.0), 26.0);
}

#[test]
fn idleness_that_takes_nothing_begins_no_new_stage() {
    let mut driven = Driven::at(PEAK, &plain());
    driven.lose();
    driven.acks(1);
    driven.cc.state.window.avoid(PEAK);
    driven.cc.on_resume(driven.now);
    near(driven.stage().curve.at(0.0), 25.2);
}

#[test]
fn the_curve_is_shown_once_there_is_one() {
    let numbers = |driven: &Driven| {
        let mut numbers = Vec::new();
        driven.cc.probe(&mut |name, value| numbers.push((name.to_owned(), value)));
        numbers
    };
    let mut driven = Driven::cut(&plain());
    assert_eq!(numbers(&driven), []);
    driven.ack(RTT);
    let stage = driven.stage();
    let expected = [("w_max_segments", PEAK), ("w_est_segments", stage.w_est), ("k_s", stage.curve.k)]
        .map(|(name, value)| (name.to_owned(), value));
    assert_eq!(numbers(&driven), expected);
}

#[test]
fn a_spurious_event_is_taken_back_whole() {
    for kind in [CongestionKind::Loss, CongestionKind::Timeout] {
        let mut straight = Driven::cut(&Cubic::default());
        straight.acks(10);
        let mut disturbed = Driven { cc: straight.cc.clone(), ..straight };
        disturbed.congest(kind);
        assert_eq!(disturbed.undo(), straight.cc.cwnd());
        for _ in 0..20 {
            assert_eq!(disturbed.ack(RTT), straight.ack(RTT));
        }
        // Once only.
        assert_eq!(disturbed.undo(), straight.cc.cwnd());
    }
}

/// Linux forgets that its window met no congestion before: the window no longer grows by a twentieth per round trip.
#[test]
fn under_linux_an_undo_restores_the_window_and_begins_an_epoch() {
    let context = CcContext { undo_response: UndoResponse::Restore, initial_ssthresh: 80.0, ..CcContext::new(80.0) };
    let linux = Cubic { arithmetic: Arithmetic::Linux, ..Cubic::default() };
    let mut driven = Driven { cc: linux.controller(context), now: Instant::ZERO, acked: 1.0 };
    let per_round = |driven: &mut Driven| (0..80).map(|_| driven.ack(RTT / 80)).last().unwrap();
    near(per_round(&mut driven), 84.0);
    let restored = driven.cc.cwnd();
    assert!(driven.lose() < restored);
    near(driven.undo(), restored);
    near(driven.cc.ssthresh(), 80.0);
    near(per_round(&mut driven), restored);
    let kernel = driven.cc.state.kernel.as_ref().unwrap();
    assert_eq!(kernel.reported().map(|(plateau, _, k)| (plateau, k)), Some((restored, 0.0)));
}

#[test]
fn an_event_that_was_made_up_for_is_not_taken_back() {
    let mut driven = Driven::cut(&Cubic::default());
    while driven.cc.cwnd() < PEAK {
        driven.ack(RTT);
    }
    let cwnd = driven.cc.cwnd();
    assert_eq!(driven.undo(), cwnd);
    let mut driven = Driven::cut(&Cubic::default());
    driven.cc.state.window.avoid(PEAK);
    driven.undo();
    near(driven.cc.ssthresh(), 25.2);
    // A mark is never spurious.
    let marked = driven.congest(CongestionKind::Ecn);
    assert_eq!(driven.undo(), marked);
}

#[test]
fn parameters_have_ranges() {
    let wrong = [
        Cubic { c: 0.0, ..Cubic::default() },
        Cubic { c: f64::NAN, ..Cubic::default() },
        Cubic { remaining: 0.0, ..Cubic::default() },
        Cubic { remaining: 1.0, ..Cubic::default() },
    ];
    assert!(wrong.iter().all(|parameters| parameters.check().is_err()));
}

#[test]
fn a_stage_ends_where_recovery_leaves_less() {
    let context = CcContext { initial_ssthresh: 1.0, exit_window: ExitWindow::Flight, ..CcContext::new(PEAK) };
    let mut driven = Driven { cc: plain().controller(context), now: Instant::ZERO, acked: 1.0 };
    near(driven.lose(), 25.2);
    driven.ack(RTT);
    // Seven in flight and one more.
    driven.cc.on_recovery_exit(&Recovery { now: driven.now, flight_size: 7, path: Driven::path() });
    near(driven.cc.cwnd(), 8.0);
    assert!(driven.cc.state.stage.is_none());
}

#[test]
fn the_profile_says_how_it_computes_unless_the_flow_does() {
    let under = |arithmetic, by_profile| {
        let Cubic { arithmetic, remaining, .. } = Cubic { arithmetic, ..Cubic::default() }.under(by_profile);
        (arithmetic, remaining)
    };
    assert_eq!(under(Arithmetic::Profile, Arithmetic::Exact), (Arithmetic::Exact, 0.7));
    assert_eq!(under(Arithmetic::Profile, Arithmetic::Linux), (Arithmetic::Linux, 0.7));
    assert_eq!(under(Arithmetic::Profile, Arithmetic::Linux26), (Arithmetic::Linux26, 819.0 / 1024.0));
    assert_eq!(under(Arithmetic::Exact, Arithmetic::Linux26), (Arithmetic::Exact, 0.7));
    assert_eq!(under(Arithmetic::Linux26, Arithmetic::Linux), (Arithmetic::Linux26, 0.7));
    let gentle = Cubic { remaining: 0.8, ..Cubic::default() };
    assert_eq!(gentle.under(Arithmetic::Linux26).remaining, 0.8);
}

#[test]
fn profiles_have_their_arithmetic() {
    use crate::transport::Profile;
    for (name, profile) in Profile::ALL {
        let expected = match *name {
            "linux" => Arithmetic::Linux,
            "ns-2-linux" => Arithmetic::Linux26,
            _ => Arithmetic::Exact,
        };
        assert_eq!(profile.keys().cc_context().arithmetic, expected, "{name}");
    }
}
