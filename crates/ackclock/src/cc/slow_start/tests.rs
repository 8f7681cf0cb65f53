//! Hand-computed exchanges from RFC 9406 and from Linux.

use super::hystart::ack_delay;
use super::*;
use crate::cc::window::Window;
use crate::cc::{CaState, CcContext, Congestion, CongestionControl, CongestionKind, PathView, Restart, Windowed};
use crate::rule::RuleParameters;
use crate::rule::reno::Reno;
use crate::units::Instant;

fn ms(millis: f64) -> Duration {
    Duration::from_secs_f64_round(millis / 1e3)
}

/// Windows with hand-written ACKs.
struct Driven {
    window: Window,
    now: Instant,
    state: CaState,
}

impl Driven {
    fn new(slow_start: SlowStart, initial_window: f64) -> Self {
        Driven::with(CcContext { slow_start, ..CcContext::new(initial_window) })
    }

    fn with(context: CcContext) -> Self {
        Driven { window: Window::new(context), now: Instant::ZERO + Duration::from_secs(1), state: CaState::Open }
    }

    /// Sends an ACK of a segment with this RTT, `gap` after the one before. Returns the window.
    fn ack(&mut self, gap: Duration, rtt: Duration, round_ended: bool) -> f64 {
        self.now += gap;
        let path = PathView { latest_rtt: rtt, srtt: rtt, mss: 1448, ..PathView::default() };
        let ack = Ack { now: self.now, round_ended, path, state: self.state, ..Ack::of(1.0) };
        self.window.observe(&ack);
        if self.window.in_slow_start() {
            self.window.slow_start(&ack);
        }
        self.window.cwnd()
    }

    /// Sends the given number of ACKs of one round. Returns the window.
    fn round(&mut self, acks: u32, rtt: Duration) -> f64 {
        (0..acks).map(|number| self.ack(ms(0.01), rtt, number == 0)).last().unwrap()
    }
}

/// RFC 9406 §4.2: an eighth of the RTT, between 4 and 16 ms.
#[test]
fn the_threshold_is_clamped() {
    for (base, thresh) in [(10.0, 4.0), (32.0, 4.0), (80.0, 10.0), (128.0, 16.0), (500.0, 16.0)] {
        assert_eq!(rtt_thresh(ms(base)), ms(thresh));
    }
}

#[test]
fn hystart_plus_plus_enters_css_with_the_eighth_long_sample_of_a_round() {
    let mut it = Driven::new(SlowStart::HystartPlusPlus, 10.0);
    assert_eq!(it.round(10, ms(80.0)), 20.0);
    // 89.9 ms is too little, whatever the number of samples.
    assert_eq!(it.round(20, ms(89.9)), 40.0);
    // 89.9 / 8 are 11.24 ms: 101.2 ms are long. The first seven samples say nothing; the ACK of the eighth grows fully.
    assert_eq!(it.round(7, ms(101.2)), 47.0);
    let baseline = ms(101.2);
    assert_eq!(it.ack(ms(0.01), baseline, false), 48.0);
    // Conservative Slow Start: a quarter.
    assert_eq!(it.ack(ms(0.01), baseline, false), 48.25);
    for _ in 0..7 {
        it.ack(ms(0.01), baseline, false);
    }
    assert_eq!(it.window.cwnd(), 50.0);
    // This round counts, and four more: the fifth that begins after it ends slow start.
    for round in 1..5 {
        assert_eq!(it.round(8, baseline), 50.0 + 2.0 * f64::from(round));
        assert!(it.window.in_slow_start());
    }
    assert_eq!(it.ack(ms(0.01), baseline, true), 58.0);
    assert_eq!((it.window.in_slow_start(), it.window.ssthresh()), (false, 58.0));
}

#[test]
fn hystart_plus_plus_goes_back_when_the_rtt_falls_again() {
    let mut it = Driven::new(SlowStart::HystartPlusPlus, 10.0);
    it.round(10, ms(40.0));
    // 40 / 8 = 5 ms.
    it.round(8, ms(45.0));
    let before = it.window.cwnd();
    // Seven samples below the baseline do not tell, the eighth does, and the ninth grows fully.
    assert_eq!(it.round(8, ms(44.9)), before + 2.0);
    assert_eq!(it.ack(ms(0.01), ms(44.9), false), before + 3.0);
    assert!(it.window.in_slow_start());
    assert_eq!(it.window.ssthresh(), f64::INFINITY);
}

#[test]
fn hystart_plus_plus_needs_a_round_before() {
    let mut it = Driven::new(SlowStart::HystartPlusPlus, 10.0);
    for rtt in [40.0, 90.0, 150.0] {
        it.ack(ms(0.01), ms(rtt), false);
    }
    assert_eq!(it.round(7, ms(200.0)), 20.0);
    assert!(it.window.in_slow_start());
}

fn cut(window: &mut Window, restart: Restart) {
    let (now, kind, path) = (Instant::ZERO, CongestionKind::Timeout, PathView::default());
    window.cut(&Congestion { now, kind, restart, flight_size: 40, path }, |window| window / 2.0);
}

#[test]
fn hystart_plus_plus_is_for_the_first_slow_start_and_hystart_for_each() {
    for (slow_start, ends) in [(SlowStart::HystartPlusPlus, false), (SlowStart::Hystart, true)] {
        let mut it = Driven::new(slow_start, 200.0);
        cut(&mut it.window, Restart::SlowStart);
        assert_eq!((it.window.cwnd(), it.window.ssthresh()), (1.0, 100.0));
        for round in 0..10 {
            it.now += ms(100.0);
            it.round(9, ms(40.0 + 10.0 * f64::from(round)));
        }
        assert_eq!(it.window.ssthresh() < 100.0, ends, "{slow_start:?}");
    }
}

/// Sends ACKs with an RTT of 20 ms, 1 ms apart. The first one begins a round. Returns the window.
fn train(it: &mut Driven, acks: u32) -> f64 {
    (0..acks).map(|number| it.ack(ms(1.0), ms(20.0), number == 0)).last().unwrap()
}

/// Linux: ACKs of a round arrive within 2 ms of each other. They span more than half of the RTT and of the burst
/// allowance.
#[test]
fn hystart_ends_with_a_train_of_acks() {
    let mut it = Driven::new(SlowStart::Hystart, 20.0);
    // 10 ms are less than half of 21, 11 are more.
    assert_eq!(train(&mut it, 11), 31.0);
    assert_eq!(it.ack(ms(1.0), ms(20.0), false), 31.0);
    assert_eq!((it.window.in_slow_start(), it.window.ssthresh()), (false, 31.0));
}

#[test]
fn a_sender_that_paces_waits_for_a_whole_rtt_of_acks() {
    let mut it = Driven::with(CcContext { slow_start: SlowStart::Hystart, paces: true, ..CcContext::new(20.0) });
    assert_eq!(train(&mut it, 22), 42.0);
    assert_eq!(it.ack(ms(1.0), ms(20.0), false), 42.0);
}

#[test]
fn a_gap_ends_a_train() {
    let mut it = Driven::new(SlowStart::Hystart, 20.0);
    it.ack(ms(1.0), ms(20.0), true);
    // After a gap of more than 2 ms no ACK is of the train any more.
    for _ in 0..30 {
        it.ack(ms(2.1), ms(20.0), false);
    }
    assert!(it.window.in_slow_start());
}

/// The sender counts rounds even while the window is small. An ACK that finds the window large enough begins no
/// round.
#[test]
fn a_round_does_not_begin_when_the_window_becomes_large_enough() {
    let mut it = Driven::new(SlowStart::Hystart, 2.0);
    // The window is 16 at the fifteenth ACK, and the last of the train was the first, 14 ms before.
    assert_eq!(train(&mut it, 40), 42.0);
    assert_eq!(train(&mut it, 11), 53.0);
    assert_eq!(it.ack(ms(1.0), ms(20.0), false), 53.0);
    assert!(!it.window.in_slow_start());
}

#[test]
fn hystart_ends_slow_start_once_between_timeouts() {
    let mut it = Driven::new(SlowStart::Hystart, 20.0);
    assert_eq!(train(&mut it, 12), 31.0);
    // After a long idle time the window begins again below ssthresh.
    it.window.resume();
    assert_eq!((it.window.cwnd(), it.window.ssthresh()), (20.0, 31.0));
    assert_eq!(train(&mut it, 12), 31.0);
    // After a timeout there is no train before the losses are repaired.
    let mut it = Driven::new(SlowStart::Hystart, 200.0);
    cut(&mut it.window, Restart::SlowStart);
    it.state = CaState::Loss;
    it.now += ms(20.0);
    assert_eq!(train(&mut it, 40), 41.0);
    it.state = CaState::Open;
    assert_eq!(train(&mut it, 3), 44.0);
    assert_eq!((0..9).map(|_| it.ack(ms(1.0), ms(20.0), false)).last(), Some(52.0));
    assert_eq!(it.window.ssthresh(), 52.0);
}

/// Four bursts of 64 KiB at twice the window per RTT.
#[test]
fn a_train_may_last_a_millisecond_longer_or_less_at_high_rates() {
    let delay = |cwnd, in_flight| {
        let path = PathView { srtt: ms(10.0), mss: 1448, in_flight, ..PathView::default() };
        ack_delay(&path, cwnd)
    };
    assert_eq!(delay(10.0, 10), ms(1.0));
    // 262144 B at 2 * 2896000 B in 10 ms.
    assert_eq!((delay(2000.0, 10), delay(10.0, 2000)), (Duration::from_nanos(452_596), Duration::from_nanos(452_596)));
}

#[test]
fn hystart_ends_when_the_smallest_of_eight_samples_is_longer() {
    let mut it = Driven::new(SlowStart::Hystart, 20.0);
    it.round(8, ms(80.0));
    it.now += ms(80.0);
    // 80 and 10 ms are not longer; 90.1 are. The ninth sample is the first that asks.
    it.round(9, ms(90.0));
    it.now += ms(80.0);
    it.round(8, ms(90.1));
    assert_eq!((it.window.cwnd(), it.window.in_slow_start()), (45.0, true));
    assert_eq!(it.ack(ms(0.01), ms(90.1), false), 45.0);
    assert_eq!(it.window.ssthresh(), 45.0);
}

#[test]
fn rules_go_on_in_congestion_avoidance() {
    let context = CcContext { slow_start: SlowStart::Hystart, ..CcContext::new(20.0) };
    let mut reno = Windowed::new(Reno::default().rule(), context);
    let mut now = Instant::ZERO;
    for number in 0..30 {
        now += ms(1.0);
        let path = PathView { latest_rtt: ms(20.0), in_flight: 100, ..PathView::default() };
        reno.on_ack(&Ack { now, round_ended: number == 0, path, ..Ack::of(1.0) });
    }
    // Eleven ACKs in slow start, and nineteen, the one that ends it included, of a 31st each.
    assert!(reno.ssthresh() == 31.0 && (reno.cwnd() - 31.0 - 19.0 / 31.0).abs() < 0.01, "{}", reno.cwnd());
}

/// Linux compares the window in force with ssthresh: proportional rate reduction may lower it below in a recovery.
#[test]
fn hystart_ends_slow_start_in_a_recovery_whose_window_is_below_ssthresh() {
    for (slow_start, left) in [(SlowStart::Hystart, 30.0), (SlowStart::HystartPlusPlus, 50.0)] {
        let mut it = Driven::new(slow_start, 100.0);
        it.round(9, ms(40.0));
        let (now, kind, path) = (it.now, CongestionKind::Loss, PathView::default());
        let restart = Restart::Reduced;
        it.window.cut(&Congestion { now, kind, restart, flight_size: 100, path }, |_| 50.0);
        for number in 0..9 {
            let path = PathView { latest_rtt: ms(60.0), ..PathView::default() };
            let recovers = Ack { in_recovery: true, reduced_window: Some(30), path, ..Ack::of(0.0) };
            it.window.observe(&Ack { now: it.now, round_ended: number == 0, ..recovers });
        }
        assert_eq!((it.window.cwnd(), it.window.ssthresh()), (left, left));
    }
}
