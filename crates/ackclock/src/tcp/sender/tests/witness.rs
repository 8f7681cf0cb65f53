//! The events that a sender reports to an algorithm, and pacing at the algorithm's request.

use std::sync::{Arc, Mutex};

use super::*;
use crate::cc::{CongestionControl, Departures, Loss, PhaseChange, Recovery, Sent};
use crate::transport::EcnMode;
use crate::units::Rate;

/// Keeps its window and its rate, and records ACKs, calls to resume and other events.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    window: f64,
    rate: Option<Rate>,
    quantum: u64,
    departures: Departures,
    needs_rate_samples: bool,
    losses: Arc<Mutex<Vec<Loss>>>,
    heard: Arc<Mutex<Vec<Ack>>>,
    resumes: Arc<Mutex<u32>>,
    told: Arc<Mutex<Vec<&'static str>>>,
}

impl CongestionControl for Witness {
    fn cwnd(&self) -> f64 {
        self.window
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }
    fn send_quantum(&self) -> u64 {
        self.quantum
    }
    fn departures(&self) -> Departures {
        self.departures
    }
    fn needs_rate_samples(&self) -> bool {
        self.needs_rate_samples
    }
    fn on_sent(&mut self, _sent: &Sent) {
        self.note("sent");
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.losses.lock().unwrap().push(*loss);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.heard.lock().unwrap().push(*ack);
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.note("congestion");
    }
    fn on_recovery_enter(&mut self, _recovery: &Recovery) {
        self.note("recovery begins");
    }
    fn on_recovery_exit(&mut self, _recovery: &Recovery) {
        self.note("recovery ends");
    }
    fn on_undo(&mut self, _recovery: &Recovery) {
        self.note("undo");
    }
    fn on_phase(&mut self, _change: &PhaseChange) {
        self.note("phase");
    }
    fn on_resume(&mut self, _now: Instant) {
        *self.resumes.lock().unwrap() += 1;
    }
}

impl Witness {
    pub(super) fn new(window: f64) -> Self {
        Witness {
            window,
            rate: None,
            quantum: 0,
            departures: Departures::None,
            needs_rate_samples: true,
            losses: Arc::default(),
            heard: Arc::default(),
            resumes: Arc::default(),
            told: Arc::default(),
        }
    }

    /// One that asks for no samples.
    pub(super) fn without_samples(window: f64) -> Self {
        Witness { needs_rate_samples: false, ..Witness::new(window) }
    }

    /// One that paces, in bursts of at most `quantum` bytes of payload, or segment by segment.
    pub(super) fn paced(window: f64, rate: Option<Rate>, quantum: u64) -> Self {
        Witness { rate, quantum, ..Witness::new(window) }
    }

    fn note(&self, event: &'static str) {
        self.told.lock().unwrap().push(event);
    }

    /// The events since the last call.
    pub(super) fn take_told(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }

    pub(super) fn drive(&self, recovery: LossRecovery) -> Driven {
        self.drive_under(Transport { recovery, ..Transport::default() })
    }

    pub(super) fn drive_under(&self, transport: Transport) -> Driven {
        let transport = Transport { mss: MSS as u32, framing: 18, ..transport };
        Driven::of(transport, Cc::Custom(Box::new(self.clone())))
    }

    /// Something of every loss told so far.
    pub(super) fn losses<T>(&self, what: impl Fn(&Loss) -> T) -> Vec<T> {
        self.losses.lock().unwrap().iter().map(what).collect()
    }

    /// Something of every ACK heard so far.
    pub(super) fn heard<T>(&self, what: impl Fn(&Ack) -> T) -> Vec<T> {
        self.heard.lock().unwrap().iter().map(what).collect()
    }
}

#[test]
fn an_ack_tells_what_it_delivers_and_what_it_finds_lost() {
    let told = |recovery| {
        let witness = Witness::new(8.0);
        let mut tcp = witness.drive(recovery);
        tcp.sent();
        // Segments 0 and 4 are lost.
        for block in [(1, 2), (1, 3), (1, 4)] {
            tcp.ack(0, &[block]);
        }
        tcp.ack(4, &[]);
        witness.heard(|ack| (ack.newly_delivered, ack.newly_lost, ack.in_recovery))
    };
    // Without SACK a cumulative ACK delivers all that it covers; NewReno takes what comes next for lost.
    let duplicate = (0, 0, false);
    assert_eq!(told(LossRecovery::NewReno), [duplicate, duplicate, (0, 1, true), (4, 1, true)]);
    assert_eq!(told(LossRecovery::Reno), [duplicate, duplicate, (0, 1, true), (4, 0, true)]);
    // Eight, and two by limited transmit.
    assert_eq!(told(LossRecovery::Tahoe), [duplicate, duplicate, (0, 10, false), (4, 0, false)]);
    assert_eq!(told(LossRecovery::Sack), [(1, 0, false), (1, 0, false), (1, 1, true), (1, 0, true)]);
}

#[test]
fn a_recovery_is_told_after_the_congestion_that_begins_it_and_when_it_ends() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    assert_eq!(witness.take_told(), ["congestion", "recovery begins", "phase"]);
    tcp.ack(10, &[]);
    assert_eq!(witness.take_told(), ["recovery ends", "phase"]);
}

#[test]
fn an_algorithm_learns_of_the_departures_that_it_asks_for() {
    for (departures, told) in [(Departures::All, 4), (Departures::AfterIdle, 2), (Departures::None, 0)] {
        let witness = Witness { departures, ..Witness::new(2.0) };
        let mut tcp = witness.drive(LossRecovery::Sack);
        tcp.sent();
        tcp.ack(2, &[]);
        tcp.sent();
        assert_eq!(witness.take_told(), vec!["sent"; told], "{departures:?}");
    }
}

#[test]
fn a_sender_that_counts_duplicates_tells_of_what_it_does_not_forget() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive_under(Transport { sack_sender: SackSender::DuplicateAcks, ..Transport::default() });
    tcp.sent();
    // It does not listen to the block of a new ACK.
    tcp.ack(1, &[(2, 3)]);
    tcp.ack(3, &[]);
    assert_eq!(witness.heard(|ack| ack.newly_delivered), [1, 2]);
}

#[test]
fn the_path_is_as_measured() {
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    tcp.ack(1, &[]);
    tcp.now += Duration::from_millis(1);
    tcp.ack(4, &[]);
    // Segment 3 went out at 0 ms; 4, which the first ACK let go, is left.
    let path = witness.heard(|ack| (ack.path.in_flight, ack.path.mss, ack.path.latest_rtt, ack.path.min_rtt));
    let ms = Duration::from_millis;
    assert_eq!(path, [(3, 1000, ms(1), ms(1)), (1, 1000, ms(3), ms(1))]);
    assert_eq!(witness.heard(|ack| ack.path.srtt), [ms(1), ms(1)], "one measurement a round");
}

#[test]
fn rounds_end_with_the_first_ack_of_what_was_sent_after_the_last_end() {
    let witness = Witness::new(2.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sent();
    for acked in 1..=6 {
        tcp.ack(acked, &[]);
    }
    // The first ACK ends a round in which nothing was sent: after it come segments 0 and 1, 2 and 3, 4 and 5.
    assert_eq!(witness.heard(|ack| ack.round_ended), [true, false, true, false, true, false]);
}

#[test]
fn marks_are_told_as_they_come() {
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive_under(Transport { ecn: EcnMode::AccEcn, ..Transport::default() });
    tcp.sent();
    for (acked, marks) in [(1, 0), (2, 2), (3, 2), (4, 5)] {
        let ecn = EcnFeedback::AccEcn { ace: (5 + marks) % 8, option: None };
        let ack = AckSegment { ack: acked * MSS, sack: SackBlocks::default(), echo: Instant::ZERO, ecn: ecn.into() };
        tcp.sender.on_ack(Instant::ZERO, &ack);
    }
    assert_eq!(witness.heard(|ack| (ack.ece, ack.ce_count)), [(false, 0), (true, 2), (false, 0), (true, 3)]);
}

#[test]
fn delivery_rates_leave_out_idle_time_and_tell_what_the_application_held_back() {
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 2 * MSS);
    tcp.sent();
    tcp.ack(1, &[]);
    tcp.ack(2, &[]);
    tcp.now += Duration::from_millis(50);
    tcp.sender.write(tcp.now, 8 * MSS);
    assert_eq!(tcp.sent(), [2, 3, 4, 5]);
    // The first one after the gap is limited by the application, what goes out by its ACK is not.
    assert_eq!(tcp.ack(3, &[]), [6]);
    tcp.ack(7, &[]);
    let samples = witness.heard(|ack| ack.rate.map(|rate| (rate.delivered, rate.interval, rate.app_limited)));
    let ms = Duration::from_millis;
    let expected = [(1000, ms(1), false), (2000, ms(2), false), (1000, ms(1), true), (4000, ms(1), false)];
    assert_eq!(samples, expected.map(Some));
}

#[test]
fn a_sender_resumes_when_it_was_idle_for_longer_than_its_timeout() {
    // RFC 5681 §4.1: "if the TCP has not sent data in an interval exceeding the retransmission timeout".
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    let resumes_after = |tcp: &mut Driven, idle: Duration| {
        tcp.now += idle;
        tcp.sender.write(tcp.now, 2 * MSS);
        assert_eq!(tcp.sent().len(), 2);
        *witness.resumes.lock().unwrap()
    };
    let ms = Duration::from_millis;
    assert_eq!(resumes_after(&mut tcp, ms(5000)), 0, "nothing was sent before");
    // The ACK takes 1 ms, the RTO is at its floor of 200 ms, and counts from the last segment.
    tcp.ack(2, &[]);
    assert_eq!(resumes_after(&mut tcp, ms(199)), 0, "exactly a timeout");
    tcp.now += ms(149);
    tcp.ack(3, &[]);
    assert_eq!(resumes_after(&mut tcp, ms(100)), 0, "a segment is in flight");
    tcp.ack(6, &[]);
    assert_eq!(resumes_after(&mut tcp, ms(200)), 1);
}

#[test]
fn a_paced_segment_goes_when_the_one_before_it_is_through() {
    // A segment with its headers: 1000 + 40 + 18 bytes, 8464 bits in a millisecond.
    let witness = Witness { rate: Rate::from_bps(8_464_000), ..Witness::new(2.0) };
    let mut tcp = witness.drive(LossRecovery::Sack);
    let ms = |millis| Instant::ZERO + Duration::from_millis(millis);
    assert_eq!(tcp.sent(), [0]);
    assert_eq!(tcp.sender.next_deadline(), Some(ms(1)));
    tcp.now = Instant::from_nanos(999_999);
    assert_eq!(tcp.sent(), NOTHING);
    tcp.now = ms(1);
    assert_eq!(tcp.sent(), [1]);
    // The window is full: only the timer of the first segment is left.
    assert_eq!(tcp.sender.next_deadline(), Some(ms(1000)));
    // An idle time saves nothing up.
    tcp.now = ms(9);
    assert_eq!(tcp.ack(2, &[]), [2]);
    assert_eq!(tcp.sender.next_deadline(), Some(ms(11)));
    // Nothing more to send.
    tcp.sender.stop_writing();
    assert_eq!(tcp.sent(), NOTHING);
    assert_eq!(tcp.sender.next_deadline(), tcp.sender.timers.deadline(Timer::Retransmission));
}

#[test]
fn retransmissions_are_paced_when_there_is_no_new_data() {
    let witness = Witness { rate: Rate::from_bps(8_464_000), ..Witness::new(4.0) };
    let mut tcp = witness.drive(LossRecovery::Reno);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 2 * MSS);
    tcp.sent();
    tcp.now = tcp.sender.next_deadline().unwrap();
    assert_eq!(tcp.sent(), [1]);
    let expired = tcp.expire();
    assert_eq!(expired, [0]);
    assert_eq!(tcp.sender.next_deadline(), Some(tcp.now + Duration::from_millis(1)));
}
