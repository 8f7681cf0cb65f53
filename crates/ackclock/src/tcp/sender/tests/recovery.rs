//! The beginning of a recovery by duplicate ACKs, and the segments that it sends.

use super::*;

/// Three duplicates of `ack`, which report the segments above the first one.
fn three_duplicates(tcp: &mut Driven, ack: u64) {
    for end in 2..=4 {
        tcp.ack(ack, &[(ack + 1, ack + end)]);
    }
}

fn events(tcp: &Driven) -> u64 {
    tcp.sender.counters().congestion_events
}

#[test]
fn an_ack_is_a_duplicate_only_while_something_is_outstanding() {
    // RFC 5681 §2: "(a) the receiver of the ACK has outstanding data".
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        let mut tcp = Driven::new(recovery, 4.0);
        tcp.sender.stop_writing();
        tcp.sender.write(tcp.now, 2 * MSS);
        tcp.sent();
        for _ in 0..4 {
            tcp.ack(2, &[]);
        }
        assert_eq!((tcp.sender.info().state, events(&tcp)), (CaState::Open, 0));
    }
}

#[test]
fn with_sack_an_ack_without_news_is_no_duplicate() {
    // RFC 6675 §2: a duplicate "carries a SACK block that identifies previously unacknowledged and un-SACKed octets".
    for sack_sender in [SackSender::Scoreboard, SackSender::DuplicateAcks] {
        let mut tcp = Driven::with(LossRecovery::Sack, 8.0, |transport| transport.sack_sender = sack_sender);
        tcp.sent();
        for _ in 0..4 {
            tcp.ack(0, &[]);
            tcp.ack(0, &[(1, 2)]);
        }
        assert_eq!((tcp.sender.info().state, events(&tcp)), (CaState::Disorder, 0), "{sack_sender:?}");
    }
}

#[test]
fn what_is_out_of_order_shows_in_the_state() {
    // As Linux's TCP_CA_Disorder: duplicates, or blocks, and no loss found yet.
    let state = |recovery, ack, blocks: &[(u64, u64)]| {
        let mut tcp = Driven::new(recovery, 8.0);
        tcp.sent();
        tcp.ack(ack, blocks);
        tcp.sender.info().state
    };
    assert_eq!(state(LossRecovery::Reno, 0, &[]), CaState::Disorder);
    assert_eq!(state(LossRecovery::Sack, 1, &[(2, 3)]), CaState::Disorder);
    assert_eq!(state(LossRecovery::Sack, 1, &[]), CaState::Open);
}

#[test]
fn with_sack_one_duplicate_that_shows_three_segments_begins_recovery() {
    // RFC 6675 §5: "If DupAcks < DupThresh but IsLost (HighACK + 1) returns true", fast retransmit.
    let mut tcp = Driven::new(LossRecovery::Sack, 8.0);
    tcp.sent();
    assert_eq!(tcp.ack(0, &[(1, 4)])[0], 0);
    assert_eq!(tcp.sender.phase(), Phase::FastRecovery);
}

/// RFC 6675 §5 updates the scoreboard by each ACK with blocks. Linux does so behind a later ACK as well.
#[test]
fn blocks_of_an_ack_that_comes_late_count() {
    let mut tcp = Driven::new(LossRecovery::Sack, 8.0);
    tcp.sent();
    tcp.ack(2, &[]);
    assert_eq!(tcp.ack(1, &[(3, 6)])[0], 2);
    assert_eq!(tcp.sender.phase(), Phase::FastRecovery);
    // Blocks below the later one are old.
    let mut tcp = Driven::new(LossRecovery::Sack, 8.0);
    tcp.sent();
    tcp.ack(6, &[]);
    tcp.ack(1, &[(2, 6)]);
    assert_eq!((tcp.sender.info().state, events(&tcp)), (CaState::Open, 0));
}

#[test]
fn a_new_recovery_waits_for_what_was_sent_when_the_last_one_began() {
    for (recovery, at_the_point) in [(LossRecovery::Sack, 2), (LossRecovery::NewReno, 1), (LossRecovery::Tahoe, 1)] {
        let mut tcp = Driven::new(recovery, 8.0);
        tcp.sent();
        three_duplicates(&mut tcp, 0);
        // RFC 6675 §5.1: HighACK may be equal to RecoveryPoint. RFC 6582 §3.2: "covers more than recover".
        let point = tcp.sender.recover.unwrap() / MSS;
        tcp.ack(point, &[]);
        three_duplicates(&mut tcp, point);
        assert_eq!(events(&tcp), at_the_point, "{recovery:?}");
        // One segment beyond is more.
        tcp.ack(point + 1, &[]);
        three_duplicates(&mut tcp, point + 1);
        assert_eq!(events(&tcp), 2, "{recovery:?}");
    }
}

#[test]
fn a_rescue_waits_for_an_ack_beyond_the_segment_that_began_the_recovery() {
    let mut tcp = Driven::new(LossRecovery::Sack, 10.0);
    tcp.sender.stop_writing();
    tcp.sender.write(tcp.now, 7 * MSS);
    tcp.sent();
    tcp.ack(1, &[]);
    // 1, 2 and 6 are lost; 3, 4 and 5 show it of the first two.
    tcp.ack(1, &[(3, 4)]);
    tcp.ack(1, &[(3, 5)]);
    assert_eq!(tcp.ack(1, &[(3, 6)]), [1, 2]);
    // RFC 6675 §4, rule 4: "HighACK is greater than RescueRxt".
    assert_eq!(tcp.ack(2, &[(3, 6)]), NOTHING);
    assert_eq!(tcp.ack(6, &[]), [6]);
}
