//! Hand-worked exchanges of draft-ietf-tsvwg-careful-resume-24, and transfers in packets.

use super::*;
use crate::cc::window::Window;
use crate::cc::{Cc, CcContext, CongestionControl, PathView, Recovery, Restart, SlowStart, algorithms};
use crate::rng::{Rng, RngStreams};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A connection with a window of 10 segments and saved parameters: 200 segments, 100 ms.
struct Driven {
    window: Window,
    now: Instant,
    min_rtt: Duration,
}

impl Driven {
    fn new(window: f64, rtt: u64) -> Self {
        let saved = Some(Saved { window, rtt: ms(rtt) });
        let window = Window::new(CcContext { saved, ..CcContext::new(10.0) });
        Driven { window, now: Instant::ZERO, min_rtt: ms(100) }
    }

    /// An ACK of one segment after a millisecond, with so many segments in flight behind it.
    fn ack(&mut self, in_flight: u32) {
        self.ack_with(|ack| Ack { path: PathView { in_flight, ..ack.path }, ..ack });
    }

    fn ack_with(&mut self, change: impl FnOnce(Ack) -> Ack) {
        self.now += ms(1);
        let path = PathView { latest_rtt: ms(100), srtt: ms(100), min_rtt: self.min_rtt, ..PathView::default() };
        let ack = change(Ack { now: self.now, newly_delivered: 1, path, ..Ack::of(1.0) });
        self.window.observe(&ack);
        if Window::grows_by(&ack) && self.window.in_slow_start() {
            self.window.slow_start(&ack);
        }
    }

    /// The ACKs of the initial window.
    fn reconnoitre(mut self) -> Self {
        (10..20).for_each(|in_flight| self.ack(in_flight));
        self
    }

    /// The ACKs of the 19 segments that left before the jump, and of the first segment after it. 80 segments are then
    /// in flight.
    fn jump(self) -> Self {
        let mut it = self.reconnoitre();
        (1..20).for_each(|number| it.ack(19 + number));
        it.ack(80);
        it
    }

    fn congestion(&mut self, kind: CongestionKind, flight_size: u32) {
        let restart = if kind == CongestionKind::Timeout { Restart::SlowStart } else { Restart::Reduced };
        let path = PathView { in_flight: flight_size, ..PathView::default() };
        self.window.cut(&Congestion { now: self.now, kind, restart, flight_size, path }, |window| 0.7 * window);
    }

    fn pipe_size(&self) -> Option<f64> {
        self.window.resumed().and_then(CarefulResume::pipe_size)
    }
}

/// §3.2, "Path confirmed": all of the initial window is acknowledged.
#[test]
fn the_window_jumps_to_half_of_the_saved_one_once_the_initial_window_is_acknowledged() {
    let mut it = Driven::new(200.0, 100);
    for in_flight in 10..19 {
        it.ack(in_flight);
        assert_eq!((it.pipe_size(), it.window.pacing_rate()), (None, None));
    }
    assert_eq!(it.window.cwnd(), 19.0);
    it.ack(19);
    assert_eq!((it.window.cwnd(), it.pipe_size()), (100.0, Some(19.0)));
    // §4.3.2: 100 packets of 1500 B in 100 ms are 12 Mbit/s.
    assert_eq!(it.window.pacing_rate(), Rate::from_bps(12_000_000));
    // ACKs validate the flight before the jump, and the window stays.
    it.ack(20);
    assert_eq!((it.window.cwnd(), it.pipe_size()), (100.0, Some(20.0)));
}

#[test]
fn the_pace_follows_the_current_rtt() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    it.ack_with(|ack| Ack { path: PathView { latest_rtt: ms(200), in_flight: 20, ..ack.path }, ..ack });
    assert_eq!(it.window.pacing_rate(), Rate::from_bps(6_000_000));
}

/// §3.2: the minimum RTT must be above a half of saved_rtt, and §4.2.1: at most ten times saved_rtt.
#[test]
fn an_rtt_of_another_path_does_not_use_the_saved_window() {
    for (saved_rtt, jumps) in [(9, false), (10, true), (100, true), (199, true), (200, false), (400, false)] {
        let it = Driven::new(200.0, saved_rtt).reconnoitre();
        assert_eq!(it.window.cwnd() == 100.0, jumps, "{saved_rtt}");
        assert_eq!(it.window.resumed().is_some(), jumps, "{saved_rtt}");
    }
}

#[test]
fn a_jump_below_the_window_is_none() {
    let it = Driven::new(38.0, 100).reconnoitre();
    assert!(it.window.resumed().is_none() && it.window.cwnd() == 20.0);
    assert_eq!(Driven::new(40.0, 100).reconnoitre().window.cwnd(), 20.0);
}

/// §3.2, "Detected congestion".
#[test]
fn congestion_in_the_reconnaissance_phase_ends_careful_resume() {
    let mut it = Driven::new(200.0, 100);
    (10..15).for_each(|in_flight| it.ack(in_flight));
    it.congestion(CongestionKind::Loss, 15);
    assert!(it.window.resumed().is_none());
    // The usual cut.
    assert_eq!(it.window.cwnd(), 0.7 * 15.0);
}

/// §4.2: a rate-limited sender stays in the Reconnaissance Phase.
#[test]
fn a_sender_without_data_waits_with_the_jump() {
    let mut it = Driven::new(200.0, 100);
    (0..15).for_each(|_| it.ack_with(|ack| Ack { cwnd_limited: false, ..ack }));
    assert_eq!((it.window.cwnd(), it.pipe_size()), (10.0, None));
    it.ack(9);
    assert_eq!((it.window.cwnd(), it.pipe_size()), (100.0, Some(9.0)));
}

/// §3.3: the first unvalidated segment is acknowledged, and "the CWND MUST be set to the flight_size".
#[test]
fn the_first_unvalidated_segment_begins_the_validation() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    (1..20).for_each(|number| it.ack(19 + number));
    assert_eq!((it.window.cwnd(), it.pipe_size()), (100.0, Some(38.0)));
    it.ack(80);
    // §3.4: the window grows by slow start, with this ACK too.
    assert_eq!((it.window.cwnd(), it.pipe_size(), it.window.pacing_rate()), (81.0, Some(39.0), None));
    // The 80 segments in flight are unvalidated.
    (0..79).for_each(|_| it.ack(80));
    assert_eq!((it.window.cwnd(), it.pipe_size()), (160.0, Some(118.0)));
    it.ack(80);
    assert!(it.window.resumed().is_none());
    assert_eq!((it.window.cwnd(), it.window.ssthresh()), (161.0, f64::INFINITY));
}

/// §3.3: "if more than one RTT has elapsed", or "when the flight_size equals the CWND".
#[test]
fn time_and_a_full_window_begin_the_validation_too() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    it.now += ms(98);
    it.ack(50);
    assert_eq!(it.window.cwnd(), 100.0);
    it.now += ms(1);
    it.ack(50);
    assert_eq!(it.window.cwnd(), 51.0);
    let mut full = Driven::new(200.0, 100).reconnoitre();
    full.ack(98);
    assert_eq!(full.window.cwnd(), 100.0);
    // 99 after this ACK: the flight was the window.
    full.ack(99);
    assert_eq!(full.window.cwnd(), 100.0);
    assert!(full.window.pacing_rate().is_none());
}

/// §3.3: a flight that PipeSize covers returns to normal congestion control.
#[test]
fn a_flight_that_did_not_use_the_jump_sets_the_window_to_pipe_size() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    (1..20).for_each(|_| it.ack(19));
    it.ack(39);
    assert!(it.window.resumed().is_none());
    // PipeSize is 39, and this ACK adds a segment.
    assert_eq!(it.window.cwnd(), 40.0);
    // Not below the initial window.
    let mut idle = Driven::new(200.0, 100);
    (0..10).for_each(|_| idle.ack(0));
    idle.now += ms(200);
    idle.ack(0);
    assert!(idle.window.resumed().is_none() && idle.window.cwnd() == 11.0);
}

/// §3.5: a loss leaves half of PipeSize, and the window does not grow until the last unvalidated segment has left.
#[test]
fn a_loss_in_the_validating_phase_retreats_to_half_of_pipe_size() {
    for kind in [CongestionKind::Loss, CongestionKind::Ecn] {
        let mut it = Driven::new(200.0, 100).jump();
        (0..10).for_each(|_| it.ack(80));
        assert_eq!((it.window.cwnd(), it.pipe_size()), (91.0, Some(49.0)));
        it.congestion(kind, 80);
        assert_eq!((it.window.cwnd(), it.window.ssthresh()), (24.5, 24.5), "{kind:?}");
        // 70 of the 80 unvalidated segments are still in flight, 20 of them are lost.
        it.ack_with(|ack| Ack { newly_lost: 20, newly_delivered: 0, acked: 0.0, ..ack });
        (0..49).for_each(|_| it.ack(20));
        assert_eq!((it.window.cwnd(), it.pipe_size()), (24.5, Some(98.0)));
        it.ack(20);
        // "ssthresh MUST be set to no larger than the most recently measured PipeSize * Beta".
        assert!(it.window.resumed().is_none());
        assert_eq!(it.window.ssthresh(), 49.5);
        // Slow start up to there, with this ACK.
        assert_eq!(it.window.cwnd(), 25.5);
    }
}

/// §3.3, "Detected congestion": all 19 segments before the jump and 30 after it are in flight.
#[test]
fn a_loss_in_the_unvalidated_phase_retreats_too() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    it.ack(30);
    it.congestion(CongestionKind::Loss, 49);
    assert_eq!((it.window.cwnd(), it.window.pacing_rate()), (10.0, None));
    (0..48).for_each(|_| it.ack(10));
    assert_eq!((it.window.cwnd(), it.pipe_size()), (10.0, Some(68.0)));
    it.ack(10);
    assert_eq!((it.window.ssthresh(), it.window.cwnd()), (34.5, 11.0));
}

/// §3.3, "Confirming the path during transmission".
#[test]
fn a_shorter_rtt_in_the_unvalidated_phase_retreats() {
    let mut it = Driven::new(200.0, 100).reconnoitre();
    it.min_rtt = ms(50);
    it.ack(60);
    assert_eq!((it.window.cwnd(), it.pipe_size(), it.window.ssthresh()), (10.0, Some(20.0), 10.0));
}

/// §3.6: a timeout ends careful resume, and the unvalidated part of the window leaves no ssthresh.
#[test]
fn a_timeout_ends_careful_resume() {
    let mut it = Driven::new(200.0, 100).jump();
    it.congestion(CongestionKind::Timeout, 80);
    assert!(it.window.resumed().is_none());
    assert_eq!((it.window.cwnd(), it.window.ssthresh()), (1.0, 0.7 * 39.0));
}

#[test]
fn a_retreat_is_not_undone() {
    let mut it = Driven::new(200.0, 100).jump();
    it.congestion(CongestionKind::Loss, 80);
    let recovery = Recovery { now: it.now, flight_size: 80, path: PathView::default() };
    assert!(!it.window.may_undo() && !it.window.undo(&recovery));
    assert_eq!(it.window.cwnd(), 19.5);
}

/// The window of Linux has no fractions.
#[test]
fn a_whole_window_jumps_and_retreats_to_whole_segments() {
    let saved = Some(Saved { window: 201.0, rtt: ms(100) });
    let window = Window::new(CcContext { saved, whole_window: true, ..CcContext::new(10.0) });
    let mut it = Driven { window, now: Instant::ZERO, min_rtt: ms(100) }.jump();
    assert_eq!(it.window.cwnd(), 81.0);
    it.congestion(CongestionKind::Loss, 80);
    // Half of 39, and half of 119 after the 80 segments.
    assert_eq!((it.window.cwnd(), it.window.ssthresh()), (19.0, 19.0));
    (0..80).for_each(|_| it.ack(0));
    assert_eq!((it.window.cwnd(), it.window.ssthresh()), (20.0, 59.0));
}

/// Every algorithm with every slow start, after random events: the window is finite and at least one segment.
#[test]
fn no_order_of_events_breaks_the_window_of_an_algorithm() {
    let saved = Some(Saved { window: 300.0, rtt: ms(40) });
    let slow_starts = [SlowStart::Standard, SlowStart::HystartPlusPlus, SlowStart::Hystart, SlowStart::Search];
    let mut phases = 0;
    for (number, info) in algorithms().into_iter().enumerate() {
        for slow_start in slow_starts {
            for seed in 0..20 {
                let mut random = RngStreams::new(seed, number as u64).stream("cc", "events");
                let whole_window = seed % 2 == 0;
                let context = CcContext { saved, slow_start, whole_window, ..CcContext::new(10.0) };
                let mut cc = info.defaults.build(context);
                let mut now = Instant::ZERO;
                for _ in 0..200 {
                    now += ms(random.next_u64() % 20);
                    phases += u32::from(happens(&mut cc, now, &mut random));
                    assert!(cc.cwnd() >= 1.0 && cc.cwnd().is_finite(), "{} {slow_start:?} {seed}", info.name);
                }
            }
        }
    }
    assert!(phases > 1000, "{phases} events paced");
}

/// An event at random. Returns true if the algorithm paces then.
fn happens(cc: &mut Cc, now: Instant, random: &mut Rng) -> bool {
    let in_flight = (random.next_u64() % 200) as u32;
    let rtt = ms(30 + random.next_u64() % 40);
    let path = PathView { in_flight, mss: 1460, srtt: rtt, latest_rtt: rtt, min_rtt: ms(30), ..PathView::default() };
    let recovery = Recovery { now, flight_size: in_flight, path };
    let congestion = |kind, restart| Congestion { now, kind, restart, flight_size: in_flight, path };
    match random.next_u64() % 100 {
        0 => cc.on_congestion(&congestion(CongestionKind::Loss, Restart::Reduced)),
        1 => cc.on_congestion(&congestion(CongestionKind::Ecn, Restart::Reduced)),
        2 => cc.on_congestion(&congestion(CongestionKind::Timeout, Restart::SlowStart)),
        3 => cc.on_recovery_exit(&recovery),
        4 => cc.on_undo(&recovery),
        5 => cc.on_resume(now),
        _ => {
            let (newly_delivered, newly_lost) = (1 + (random.next_u64() % 3) as u32, u32::from(in_flight == 7));
            cc.on_ack(&Ack { now, newly_delivered, newly_lost, path, ..Ack::of(f64::from(newly_delivered)) });
        }
    }
    cc.pacing_rate().is_some()
}
