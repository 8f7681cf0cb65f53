//! The sender where it leaves the rules of the RFCs.

use super::*;

#[test]
fn limited_transmit_may_send_again_what_a_timeout_gave_up() {
    let sent_on_duplicates = |sends, limited_transmit| {
        let mut tcp = Driven::with(LossRecovery::Reno, 8.0, |transport| {
            transport.variations.limited_transmit_sends = sends;
            transport.limited_transmit = limited_transmit;
        });
        tcp.sent();
        assert_eq!(tcp.expire(), [0]);
        [tcp.ack(0, &[]), tcp.ack(0, &[]), tcp.ack(0, &[])].concat()
    };
    assert_eq!(sent_on_duplicates(LimitedTransmitSends::Next, true), [1, 2]);
    assert_eq!(sent_on_duplicates(LimitedTransmitSends::Next, false), NOTHING);
    assert_eq!(sent_on_duplicates(LimitedTransmitSends::NewData, true), NOTHING);
}

#[test]
fn limited_transmit_ends_with_the_fast_retransmit_of_tahoe() {
    for sends in [LimitedTransmitSends::Next, LimitedTransmitSends::NewData] {
        let mut tcp = Driven::with(LossRecovery::Tahoe, 8.0, |transport| {
            transport.variations.limited_transmit_sends = sends;
        });
        tcp.sent();
        assert_eq!([tcp.ack(0, &[]), tcp.ack(0, &[]), tcp.ack(0, &[])].concat(), [8, 9, 0]);
        assert_eq!([tcp.ack(0, &[]), tcp.ack(0, &[])].concat(), NOTHING, "{sends:?}");
    }
}

#[test]
fn the_ack_that_ends_a_fast_recovery_may_let_the_window_grow() {
    let after_recovery = |recovery, exit_growth| {
        let mut tcp = Driven::with(recovery, 8.0, |transport| transport.variations.exit_growth = exit_growth);
        tcp.sent();
        for end in 2..=4 {
            tcp.ack(0, &[(1, end)]);
        }
        tcp.ack(tcp.sender.sent_once() / MSS, &[]);
        tcp.cwnd()
    };
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno] {
        // 4, and 4 + 1/4.
        assert_eq!(after_recovery(recovery, ExitGrowth::None), 4.0);
        assert_eq!(after_recovery(recovery, ExitGrowth::OneAck), 4.25);
    }
    assert_eq!(after_recovery(LossRecovery::Sack, ExitGrowth::OneAck), 4.0);
}

fn counting_duplicates(limited_transmit: bool) -> Driven {
    Driven::with(LossRecovery::Sack, 8.0, |transport| {
        transport.limited_transmit = limited_transmit;
        transport.variations.sack_sender = SackSender::DuplicateAcks;
        transport.variations.limited_transmit_sends = LimitedTransmitSends::Next;
    })
}

#[test]
fn a_sender_that_counts_duplicates_takes_a_partial_ack_for_two_segments_that_left() {
    let mut tcp = counting_duplicates(false);
    tcp.sent();
    // Segments 0, 1 and 2 are lost: eight in flight less three duplicates, against a window of four.
    tcp.ack(0, &[(3, 4)]);
    tcp.ack(0, &[(3, 5)]);
    assert_eq!(tcp.ack(0, &[(3, 6)]), [0]);
    assert_eq!(tcp.ack(0, &[(3, 7)]), NOTHING);
    assert_eq!(tcp.ack(0, &[(3, 8)]), [1]);
    // Every hole once, then new data.
    assert_eq!(tcp.ack(1, &[(3, 8)]), [2, 8]);
    assert_eq!(tcp.ack(2, &[(3, 8)]), [9, 10]);
    assert_eq!(tcp.sender.phase(), Phase::FastRecovery);
    tcp.ack(8, &[]);
    assert_eq!((tcp.sender.phase(), tcp.cwnd()), (Phase::CongestionAvoidance, 4.0));
}

#[test]
fn a_sender_that_counts_duplicates_forgets_blocks_outside_of_recovery() {
    let mut tcp = counting_duplicates(true);
    tcp.sent();
    tcp.ack(0, &[(2, 3)]);
    assert_eq!(tcp.sender.info().sacked, 1);
    tcp.ack(1, &[(2, 3)]);
    assert_eq!(tcp.sender.info().sacked, 0);
}

#[test]
fn a_sender_that_counts_duplicates_hears_none_of_a_timeout() {
    let mut tcp = counting_duplicates(true);
    tcp.sent();
    assert_eq!(tcp.expire(), [0]);
    assert_eq!(tcp.ack(0, &[(2, 3)]), NOTHING);
    assert_eq!(tcp.ack(1, &[]), [1, 2]);
    // Between the first new ACK and the end of what was given up, a duplicate lets one more segment go.
    assert_eq!(tcp.ack(1, &[(3, 4)]), [3]);
    // All that was sent before is acknowledged and no more: RFC 6582's recover holds a recovery back.
    tcp.ack(8, &[]);
    for end in 10..=13 {
        tcp.ack(8, &[(9, end)]);
    }
    assert_eq!(tcp.sender.counters().congestion_events, 1);
}
