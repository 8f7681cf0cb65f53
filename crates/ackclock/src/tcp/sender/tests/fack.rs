//! Losses below the highest SACKed segment, and rate halving.

use super::*;
use crate::transport::Reduction;

/// Twenty segments in flight. The first one does not arrive. The window is in congestion avoidance.
fn driven(cc: &str, prr: Reduction) -> Driven {
    let mut transport = Transport { mss: MSS as u32, recovery: LossRecovery::Sack, prr, ..Transport::default() };
    transport.sack_sender = SackSender::Fack;
    let context = CcContext { initial_ssthresh: 2.0, exit_window: ExitWindow::Moderated, ..CcContext::new(20.0) };
    let mut tcp = Driven::of(transport, CcSpec::by_name(cc).unwrap().build(context));
    assert_eq!(tcp.sent().len(), 20);
    tcp
}

fn retransmits(tcp: &Driven) -> u64 {
    tcp.sender.counters().retransmits
}

#[test]
fn the_fourth_segment_above_makes_one_lost() {
    let mut tcp = driven("reno", Reduction::AtOnce);
    for (end, new) in [(2, 20), (3, 21), (4, 22)] {
        assert_eq!(tcp.ack(0, &[(1, end)]), [new]);
    }
    assert_eq!(tcp.sender.info().state, CaState::Disorder);
    assert_eq!(tcp.ack(0, &[(1, 5)]), [0]);
    assert_eq!((tcp.sender.info().state, tcp.cwnd()), (CaState::Recovery, 10.0));
}

#[test]
fn one_block_far_ahead_makes_all_below_it_lost() {
    // 12 is the highest: 0 to 8 are lost, 9 to 11 may come yet. 20 - 1 - 9 are in flight, as many as the window has, and the first
    // goes out whatever it says.
    let mut tcp = driven("reno", Reduction::AtOnce);
    assert_eq!(tcp.ack(0, &[(12, 13)]), [0]);
    assert_eq!(tcp.sender.lost().map(|seq| seq / MSS).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(tcp.sender.in_flight(), 11);
    // 13 and 14: 9 and 10 are lost, too, and one goes out for what arrived or was found lost beyond the eleventh.
    assert_eq!(tcp.ack(0, &[(12, 14)]), [1]);
    assert_eq!(tcp.ack(0, &[(12, 15)]), [2, 3]);
}

#[test]
fn a_retransmission_is_lost_once_a_segment_sent_first_after_it_has_arrived() {
    let mut tcp = driven("reno", Reduction::AtOnce);
    let sent: Vec<u64> = (2..=20).flat_map(|end| tcp.ack(0, &[(1, end)])).collect();
    // Three by limited transmit, the retransmission, and new ones from where half is in flight.
    assert_eq!(sent[..4], [20, 21, 22, 0]);
    let first_after = 23;
    assert!(sent.contains(&first_after));
    // What was sent before the retransmission shows nothing.
    tcp.ack(0, &[(1, 23)]);
    assert_eq!(retransmits(&tcp), 1);
    let again = tcp.ack(0, &[(1, 24)]);
    assert_eq!((again.first(), retransmits(&tcp)), (Some(&0), 2));
    // The same recovery: the window is not cut again.
    assert_eq!((tcp.cwnd(), tcp.sender.counters().congestion_events), (10.0, 1));
}

#[test]
fn a_retransmission_is_lost_once_the_fifth_after_it_has_arrived() {
    // All but the last four of twenty are lost, and ten are sent again, all at one time.
    let mut tcp = driven("reno", Reduction::AtOnce);
    let sent = tcp.ack(0, &[(16, 20)]);
    assert_eq!(sent, (0..=9).collect::<Vec<u64>>());
    // The first does not arrive, the next ones do: 5, the fifth after it, shows it.
    for end in 2..=5 {
        let more = tcp.ack(0, &[(1, end), (16, 20)]);
        assert!(!more.contains(&0), "{end}: {more:?}");
    }
    let more = tcp.ack(0, &[(1, 6), (16, 20)]);
    assert!(more.contains(&0), "{more:?}");
}

#[test]
fn a_timeout_sends_again_all_that_is_missing_in_slow_start() {
    let mut tcp = driven("reno", Reduction::AtOnce);
    tcp.ack(0, &[(2, 4)]);
    assert_eq!(tcp.expire(), [0]);
    assert_eq!(tcp.ack(1, &[(2, 4)]), [1, 4]);
    assert_eq!(tcp.ack(4, &[]), [5, 6]);
    assert_eq!(tcp.sender.info().state, CaState::Loss);
}

#[test]
fn rate_halving_sends_one_for_two_down_to_half_of_renos_ssthresh() {
    let mut tcp = driven("reno", Reduction::Halving);
    (2..=4).for_each(|end| drop(tcp.ack(0, &[(1, end)])));
    // 20 to 22 have left. The fourth leaves 18 in flight: the retransmission leaves, and then one for two.
    assert_eq!(tcp.ack(0, &[(1, 5)]), [0]);
    assert_eq!(tcp.sender.in_flight(), 19);
    let sent: Vec<usize> = (6..=15).map(|end| tcp.ack(0, &[(1, end)]).len()).collect();
    assert_eq!(sent, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!((tcp.sender.in_flight(), tcp.sender.cwnd()), (14, 13.0));
    // ssthresh is 10, and what is in flight falls to 5 in a recovery that goes on.
    for end in 16..=23 {
        tcp.ack(0, &[(1, end)]);
    }
    assert_eq!(tcp.sender.in_flight(), 10);
    assert_eq!(tcp.sender.cc.least_in_recovery(), 5);
    // Recovery ends with what is in flight and three, and ssthresh at most.
    tcp.ack(23, &[]);
    assert_eq!((tcp.sender.info().state, tcp.cwnd()), (CaState::Open, 10.0));
}

#[test]
fn rate_halving_stops_at_what_cubic_leaves() {
    let mut tcp = driven("cubic", Reduction::Halving);
    // As with Reno the sixth to the twelfth leave 15 in flight, and the thirteenth lets one go.
    (2..=12).for_each(|end| drop(tcp.ack(0, &[(1, end)])));
    // 0.7 * 20.
    assert_eq!((tcp.cwnd(), tcp.sender.cc.least_in_recovery()), (14.0, 14));
    let sent: Vec<usize> = (13..=18).map(|end| tcp.ack(0, &[(1, end)]).len()).collect();
    assert_eq!((sent, tcp.sender.in_flight()), (vec![1, 0, 1, 1, 1, 1], 14));
}
