//! Recoveries that were spurious.

use super::witness::Witness;
use super::*;

fn with_eifel(recovery: LossRecovery) -> Transport {
    Transport { mss: MSS as u32, recovery, timestamps: true, eifel: true, ..Transport::default() }
}

/// Eight segments, and duplicates of the first until recovery begins, at 3 ms.
fn three_duplicates(transport: Transport, name: &str) -> Driven {
    let mut tcp = Driven::of(transport, CcSpec::by_name(name).unwrap().build(CcContext::new(8.0)));
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    assert_eq!((tcp.sender.phase(), tcp.sender.counters().retransmits), (Phase::FastRecovery, 1));
    tcp
}

#[test]
fn an_ack_of_what_was_sent_before_the_retransmission_undoes_the_recovery() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let mut tcp = three_duplicates(with_eifel(recovery), "cubic");
        assert!(tcp.cwnd() < 8.0);
        // RFC 3522 §3.2, step (4): the echo is of 2.999999 ms, the retransmission of 3 ms.
        tcp.ack_echoing(4, &[], Instant::from_nanos(2_999_999));
        assert_eq!((tcp.cwnd(), tcp.sender.info().state), (8.0, CaState::Open), "{recovery:?}");
        assert_eq!(tcp.sender.counters().undos, 1);
        assert_eq!(tcp.sender.in_flight(), 8, "{recovery:?}");
    }
}

#[test]
fn an_ack_of_the_retransmission_undoes_nothing() {
    for (eifel, timestamps, echo_ns) in [(true, true, 3_000_000), (false, true, 0), (true, false, 0)] {
        let transport = Transport { eifel, timestamps, ..with_eifel(LossRecovery::Sack) };
        let mut tcp = three_duplicates(transport, "cubic");
        tcp.ack_echoing(4, &[], Instant::from_nanos(echo_ns));
        assert_eq!((tcp.sender.info().state, tcp.sender.counters().undos), (CaState::Recovery, 0));
        // What comes later in this recovery may echo what is older, and says nothing of the first retransmission.
        tcp.ack_echoing(5, &[], Instant::ZERO);
        assert_eq!(tcp.sender.counters().undos, 0);
    }
}

#[test]
fn a_spurious_timeout_goes_on_with_new_data() {
    for recovery in [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let witness = Witness::new(4.0);
        let mut tcp = witness.drive_under(with_eifel(recovery));
        assert_eq!(tcp.sent(), [0, 1, 2, 3]);
        tcp.expire();
        // A second expiry leaves the time of the first retransmission, of 1 s.
        tcp.expire();
        witness.take_told();
        tcp.ack_echoing(1, &[], Instant::from_nanos(999_999_999));
        assert_eq!((tcp.sender.info().state, tcp.sender.counters().undos), (CaState::Open, 1));
        assert_eq!(witness.take_told(), ["undo", "phase"], "{recovery:?}");
        // CUBIC has its window of four again, and the ACK adds one: 1, 2 and 3 are in flight.
        let mut tcp = Driven::of(with_eifel(recovery), CcSpec::by_name("cubic").unwrap().build(CcContext::new(4.0)));
        tcp.sent();
        assert_eq!(tcp.expire(), [0]);
        assert_eq!(tcp.ack_echoing(1, &[], Instant::ZERO), [4, 5], "{recovery:?}");
    }
}

#[test]
fn the_end_of_a_recovery_is_told_before_its_undoing() {
    let witness = Witness::new(8.0);
    let mut tcp = witness.drive_under(with_eifel(LossRecovery::Sack));
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    witness.take_told();
    tcp.ack_echoing(4, &[], Instant::ZERO);
    assert_eq!(witness.take_told(), ["recovery ends", "undo", "phase"]);
}
