//! Recoveries that were spurious.

use super::witness::Witness;
use super::*;
use crate::cc::UndoResponse;
use crate::quantity::Size;
use crate::transport::{EcnMode, Profile, Undo};

fn with_eifel(recovery: LossRecovery) -> Transport {
    Transport { mss: MSS as u32, recovery, timestamps: true, undo: Undo::Eifel, ..Transport::default() }
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

/// The window and ssthresh after a spurious recovery from a window of 8 above an ssthresh of 5.
fn undone(profile: Profile, undo: Undo) -> (f64, f64) {
    let mut keys = profile.keys();
    (keys.mss, keys.handshake, keys.timestamps, keys.undo) = (Size(MSS), false, true, undo);
    let context = CcContext { initial_window: 8.0, initial_ssthresh: 5.0, ..keys.cc_context() };
    let cc = CcSpec::by_name("aimd").unwrap().build(context);
    let mut tcp = Driven::of(keys.transport(LossRecovery::Sack), cc);
    tcp.sent();
    for end in 2..=4 {
        tcp.ack(0, &[(1, end)]);
    }
    assert_eq!((tcp.sender.phase(), tcp.cwnd()), (Phase::FastRecovery, 4.0), "{profile:?}");
    tcp.ack_echoing(4, &[], Instant::from_nanos(2_999_999));
    assert_eq!(tcp.sender.counters().undos, 1, "{profile:?}");
    (tcp.cwnd(), tcp.sender.cc.ssthresh())
}

#[test]
fn an_undo_gives_back_window_and_ssthresh_under_linux_and_what_rfc_4015_says_under_rfc() {
    let linux = Profile::Linux.keys();
    assert_eq!((linux.undo, undone(Profile::Linux, linux.undo)), (Undo::Counted, (8.0, 5.0)));
    // RFC 4015 §3.2: of ten segments that were sent by the cut six are in flight: "cwnd <- FlightSize + min (bytes_acked, IW)", where
    // the growth is the ACK's, which is one in recovery; "pipe_prev <- max (FlightSize, ssthresh)", "ssthresh <- pipe_prev".
    assert_eq!(undone(Profile::Rfc, Undo::Eifel), (6.0, 10.0));
}

/// A window of one is as large after the timeout: its ssthresh has been cut all the same. In slow start the ACK adds one.
#[test]
fn a_spurious_timeout_at_a_window_of_one_gives_back_ssthresh() {
    for name in ["aimd", "cubic"] {
        let context = CcContext { undo_response: UndoResponse::Restore, ..CcContext::new(1.0) };
        let mut tcp = Driven::of(with_eifel(LossRecovery::Sack), CcSpec::by_name(name).unwrap().build(context));
        tcp.sent();
        tcp.expire();
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, 2.0), "{name}");
        tcp.ack_echoing(1, &[], Instant::ZERO);
        assert_eq!((tcp.sender.counters().undos, tcp.cwnd()), (1, 2.0), "{name}");
        assert_eq!(tcp.sender.cc.ssthresh(), f64::INFINITY, "{name}");
    }
}

/// In Linux a timeout in fast recovery cuts nothing. Its undo restores the state before the recovery.
#[test]
fn the_undo_of_a_timeout_in_a_recovery_undoes_the_recovery() {
    for name in ["aimd", "cubic"] {
        let mut transport = with_eifel(LossRecovery::Sack);
        transport.repeated_timeout = RepeatedTimeout::HoldInRecovery;
        let mut tcp = Driven::of(
            transport,
            CcSpec::by_name(name)
                .unwrap()
                .build(CcContext { undo_response: UndoResponse::Restore, ..CcContext::new(8.0) }),
        );
        tcp.sent();
        for end in 2..=4 {
            tcp.ack(0, &[(1, end)]);
        }
        let ssthresh = tcp.sender.cc.ssthresh();
        tcp.expire();
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, ssthresh), "{name}");
        tcp.ack_echoing(4, &[], Instant::ZERO);
        let state = (tcp.sender.info().state, tcp.sender.cc.ssthresh());
        assert_eq!((state, tcp.cwnd() >= 8.0), ((CaState::Open, f64::INFINITY), true), "{name}");
    }
}

#[test]
fn with_rack_an_undo_waits_for_other_retransmissions() {
    let path = |second_is_late| {
        let cc = CcSpec::by_name("cubic").unwrap().build(CcContext::new(12.0));
        let mut tcp = Driven::of(Transport { rack: true, ..with_eifel(LossRecovery::Sack) }, cc);
        tcp.sent();
        // The first one and the fifth are missing, and sent again at 2 ms; the first one was late.
        tcp.ack(0, &[(1, 4), (5, 6)]);
        tcp.ack(0, &[(1, 4), (5, 9)]);
        assert_eq!(tcp.sender.counters().retransmits, 2);
        tcp.ack_echoing(4, &[(5, 9)], Instant::ZERO);
        assert_eq!((tcp.sender.counters().undos, tcp.sender.info().state), (0, CaState::Recovery));
        assert_eq!(tcp.sender.info().reorderings, 1);
        tcp.ack_echoing(9, &[], Instant::ZERO + Duration::from_millis(if second_is_late { 0 } else { 2 }));
        tcp.sender.counters().undos
    };
    assert_eq!((path(true), path(false)), (1, 0));
}

#[test]
fn an_ack_of_the_retransmission_undoes_nothing() {
    for (undo, timestamps, echo_ns) in [(Undo::Eifel, true, 3_000_000), (Undo::None, true, 0), (Undo::Eifel, false, 0)]
    {
        let transport = Transport { undo, timestamps, ..with_eifel(LossRecovery::Sack) };
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

fn with_dsack(recovery: LossRecovery, undo: Undo) -> Transport {
    Transport { dsack: true, undo, ..with_eifel(recovery) }
}

#[test]
fn a_duplicate_of_all_that_was_sent_again_undoes_the_recovery_even_after_its_end() {
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack] {
        for (dsack, undo, undos) in [(true, Undo::Dsack, 1), (true, Undo::None, 0), (false, Undo::Dsack, 0)] {
            let mut tcp = three_duplicates(Transport { dsack, ..with_dsack(recovery, undo) }, "cubic");
            tcp.ack(10, &[]);
            assert_eq!((tcp.sender.info().state, tcp.sender.counters().undos), (CaState::Open, 0));
            let reduced = tcp.cwnd();
            assert!(reduced < 8.0, "{recovery:?}");
            tcp.ack(10, &[(0, 1)]);
            let counters = tcp.sender.counters();
            assert_eq!(
                (counters.undos, counters.duplicates_reported),
                (undos, u64::from(dsack)),
                "{recovery:?} {undo:?}"
            );
            assert_eq!(tcp.cwnd(), if undos == 1 { 8.0 } else { reduced }, "{recovery:?} {undo:?}");
        }
    }
}

#[test]
fn a_loss_beside_a_late_segment_undoes_nothing() {
    let mut tcp = three_duplicates(with_dsack(LossRecovery::Sack, Undo::Dsack), "cubic");
    // Segment 4 is missing, too: it is sent again once three above it have arrived, but that copy is lost.
    tcp.ack(4, &[(5, 6)]);
    tcp.ack(4, &[(5, 7)]);
    tcp.ack(4, &[(5, 8)]);
    assert_eq!((tcp.sender.info().lost, tcp.sender.info().state), (1, CaState::Recovery));
    tcp.ack(4, &[(0, 1), (5, 8)]);
    assert_eq!((tcp.sender.counters().undos, tcp.sender.info().state), (0, CaState::Recovery));
    tcp.ack(tcp.sender.sent_once() / MSS, &[]);
    assert_eq!((tcp.sender.counters().undos, tcp.sender.info().state), (0, CaState::Open));
}

#[test]
fn a_recovery_is_undone_once_whichever_way_shows_it_first() {
    // The first new ACK echoes what was sent before the retransmission at 3 ms.
    let mut tcp = three_duplicates(with_dsack(LossRecovery::Sack, Undo::Both), "cubic");
    tcp.ack_echoing(10, &[], Instant::ZERO);
    assert_eq!(tcp.sender.counters().undos, 1);
    tcp.ack(10, &[(0, 1)]);
    assert_eq!((tcp.sender.counters().undos, tcp.sender.counters().duplicates_reported), (1, 1));
    // It echoes the retransmission, which arrived before the original.
    let mut tcp = three_duplicates(with_dsack(LossRecovery::Sack, Undo::Both), "cubic");
    tcp.ack_echoing(10, &[], Instant::ZERO + Duration::from_millis(3));
    assert_eq!(tcp.sender.counters().undos, 0);
    tcp.ack(10, &[(0, 1)]);
    assert_eq!(tcp.sender.counters().undos, 1);
    tcp.ack(10, &[(0, 1)]);
    assert_eq!(tcp.sender.counters().undos, 1);
}

#[test]
fn duplicates_show_a_spurious_timeout() {
    let witness = Witness::new(4.0);
    let mut tcp = witness.drive_under(with_dsack(LossRecovery::NewReno, Undo::Dsack));
    tcp.sent();
    assert_eq!(tcp.expire(), [0, 1, 2, 3]);
    witness.take_told();
    tcp.ack(4, &[]);
    for number in 0..4 {
        assert_eq!(tcp.sender.counters().undos, 0);
        tcp.ack(4, &[(number, number + 1)]);
    }
    assert_eq!((tcp.sender.counters().undos, witness.take_told()), (1, vec!["phase", "undo"]));
    // The second time that the timer expires: what was sent three times proves nothing (RFC 3708 §3, (A.3)).
    let mut tcp = witness.drive_under(with_dsack(LossRecovery::NewReno, Undo::Dsack));
    tcp.sent();
    tcp.expire();
    tcp.expire();
    tcp.ack(4, &[]);
    (0..4).for_each(|number| drop(tcp.ack(4, &[(number, number + 1)])));
    assert_eq!(tcp.sender.counters().undos, 0);
}

#[test]
fn what_the_network_doubles_undoes_nothing_then_and_later() {
    let mut tcp = Driven::of(
        with_dsack(LossRecovery::Sack, Undo::Dsack),
        CcSpec::by_name("cubic").unwrap().build(CcContext::new(8.0)),
    );
    tcp.sent();
    tcp.ack(1, &[]);
    tcp.ack(1, &[(0, 1)]);
    for end in 3..=5 {
        tcp.ack(1, &[(2, end)]);
    }
    tcp.ack(12, &[]);
    tcp.ack(12, &[(1, 2)]);
    let counters = tcp.sender.counters();
    assert_eq!((counters.retransmits, counters.duplicates_reported, counters.undos), (1, 2, 0));
}

/// `tcp_dsack_seen` counts a duplicate as a delivery, unless there are more duplicates than retransmissions.
#[test]
fn a_counted_duplicate_is_a_delivery() {
    let heard = |undo| {
        let witness = Witness::new(8.0);
        let mut tcp = witness.drive_under(with_dsack(LossRecovery::Sack, undo));
        tcp.sent();
        tcp.ack(1, &[]);
        for end in 3..=5 {
            tcp.ack(1, &[(2, end)]);
        }
        tcp.ack(8, &[]);
        tcp.ack(9, &[(1, 2)]);
        tcp.ack(10, &[(1, 2)]);
        assert_eq!(tcp.sender.counters().retransmits, 1);
        let told =
            witness.heard(|ack| (ack.newly_delivered, ack.rate.map(|rate| rate.prior_delivered + rate.delivered)));
        let (newly, bytes): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        (newly[newly.len() - 2..].to_vec(), bytes.last().copied().flatten().map(|bytes| bytes / MSS))
    };
    assert_eq!(heard(Undo::Dsack), (vec![1, 1], Some(10)));
    assert_eq!(heard(Undo::Counted), (vec![2, 1], Some(11)));
}

#[test]
fn a_cut_for_a_mark_ends_the_doubt() {
    let mut tcp =
        three_duplicates(Transport { ecn: EcnMode::Classic, ..with_dsack(LossRecovery::Sack, Undo::Dsack) }, "cubic");
    tcp.ack(10, &[]);
    let cut = |tcp: &mut Driven, ece| {
        let ecn = EcnFeedback::Classic { ece };
        let mut sack = SackBlocks::default();
        sack.push(11 * MSS, 0, MSS);
        let sack = if ece { SackBlocks::default() } else { sack };
        tcp.sender.on_ack(tcp.now, &AckSegment { ack: 11 * MSS, sack, echo: Instant::ZERO, ecn: ecn.into() });
        tcp.sender.counters()
    };
    assert_eq!((cut(&mut tcp, true).ecn_events, cut(&mut tcp, false).undos), (1, 0));
}
