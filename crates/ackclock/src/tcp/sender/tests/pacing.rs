//! Wake-ups of a paced sender, and the segments that it sends.

use super::witness::Witness;
use super::*;
use crate::units::Rate;

/// A segment with its headers, 1000 + 40 + 18 bytes, takes a millisecond.
const RATE_BPS: u64 = 8_464_000;

fn paced(window: f64) -> Witness {
    Witness::paced(window, Rate::from_bps(RATE_BPS), 0)
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

impl Driven {
    /// Wakes the sender at each of its deadlines before `end`. Returns the segments sent and the number of wake-ups.
    fn wake_until(&mut self, end: Instant) -> (Vec<u64>, u32) {
        let (mut sent, mut wakes) = (self.sent(), 0);
        while let Some(deadline) = self.sender.next_deadline().filter(|deadline| *deadline < end) {
            assert!(deadline > self.now, "woken for {deadline} at {}", self.now);
            self.now = deadline;
            self.sender.on_deadline(self.now);
            sent.append(&mut self.sent());
            wakes += 1;
        }
        (sent, wakes)
    }
}

#[test]
fn a_paced_sender_that_the_receiver_holds_back_sleeps() {
    let limits: [fn(&mut Sender); 2] =
        [|sender| sender.set_window_edge(2 * MSS), |sender| sender.set_most_outstanding(2)];
    for limit in limits {
        let mut tcp = paced(8.0).drive(LossRecovery::Sack);
        limit(&mut tcp.sender);
        assert_eq!(tcp.wake_until(ms(500)), (vec![0, 1], 1));
    }
    let mut tcp = paced(8.0).drive_under(Transport { max_window: Some(2), ..Transport::default() });
    assert_eq!(tcp.wake_until(ms(500)), (vec![0, 1], 1));
}

#[test]
fn a_paced_sender_with_nothing_to_send_in_recovery_sleeps() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let mut tcp = paced(16.0).drive(recovery);
        tcp.sender.stop_writing();
        tcp.sender.write(tcp.now, 6 * MSS);
        tcp.wake_until(ms(10));
        for end in 2..=4 {
            tcp.ack(0, &[(1, end)]);
        }
        assert_eq!((tcp.sender.phase(), tcp.sender.counters().retransmits), (Phase::FastRecovery, 1));
        // The retransmission is in flight, and all else was sent: only the retransmission timer is left.
        let rest = tcp.wake_until(tcp.now + Duration::from_millis(100));
        assert_eq!(rest, (vec![], 0), "{recovery:?}");
    }
}

#[test]
fn what_the_application_writes_is_paced_from_the_last_segment_on() {
    let mut tcp = paced(8.0).drive(LossRecovery::Sack);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, MSS);
    assert_eq!(tcp.wake_until(ms(500)), (vec![0], 0));
    tcp.sender.write(tcp.now, 2 * MSS);
    assert_eq!(tcp.sent(), NOTHING);
    assert_eq!(tcp.wake_until(ms(500)), (vec![1, 2], 2));
    assert_eq!(tcp.now, ms(2));
}

#[test]
fn a_quantum_leaves_together_and_takes_its_time_as_a_whole() {
    let mut tcp = Witness::paced(8.0, Rate::from_bps(RATE_BPS), 2 * MSS).drive(LossRecovery::Sack);
    assert_eq!(tcp.sent(), [0, 1]);
    assert_eq!(tcp.sender.info().timer, Some((Timer::Pacing, ms(2))));
    // What a burst leaves unused is not for later.
    tcp.now = ms(2);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, MSS);
    assert_eq!(tcp.sent(), [2]);
    tcp.now = Instant::from_nanos(2_500_000);
    tcp.sender.write(tcp.now, 4 * MSS);
    assert_eq!(tcp.sent(), NOTHING);
    tcp.now = ms(3);
    assert_eq!(tcp.sent(), [3, 4]);
}

#[test]
fn a_burst_holds_no_more_than_the_quantum_and_one_segment_at_least() {
    for (quantum, together) in [(1, 1), (2 * MSS - 1, 1), (2 * MSS, 2), (3 * MSS, 3)] {
        let mut tcp = Witness::paced(8.0, Rate::from_bps(RATE_BPS), quantum).drive(LossRecovery::Sack);
        assert_eq!(tcp.sent().len(), together, "{quantum}");
    }
    // The longest burst of the transport bounds it, too; what is left goes by the timer.
    let transport = Transport { max_burst: Some(2), ..Transport::default() };
    let mut tcp = Witness::paced(8.0, Rate::from_bps(RATE_BPS), 4 * MSS).drive_under(transport);
    assert_eq!((tcp.sent(), tcp.sender.next_deadline()), (vec![0, 1], Some(ms(2))));
}

#[test]
fn timestamps_take_their_time_on_the_wire() {
    let transport = Transport { timestamps: true, ..Transport::default() };
    let mut tcp = paced(8.0).drive_under(transport);
    tcp.sent();
    // 1000 + 40 + 12 + 18 bytes at 1058 bytes a millisecond.
    assert_eq!(tcp.sender.next_deadline(), Some(Instant::from_nanos(1_011_342)));
}
