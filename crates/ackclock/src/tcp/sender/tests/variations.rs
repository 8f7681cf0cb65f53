//! The sender where it leaves the rules of the RFCs.

use super::*;

#[test]
fn limited_transmit_may_send_again_what_a_timeout_gave_up() {
    let sent_on_duplicates = |sends, limited_transmit| {
        let mut tcp = Driven::with(LossRecovery::Reno, 8.0, |transport| {
            transport.limited_transmit_sends = sends;
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
fn a_flight_of_more_than_half_of_the_window_lets_it_grow_while_it_drains() {
    let windows = |segments: u64, acks: &[u64]| {
        let mut tcp = Driven::with(LossRecovery::Sack, 10.0, |transport| {
            transport.window_growth = WindowGrowth::HalfUsed;
            transport.byte_counting = u32::MAX;
        });
        tcp.sender.stop_writing();
        tcp.sender.write(tcp.now, segments * MSS);
        tcp.sent();
        let windows = acks.iter().map(|acked| {
            tcp.ack(*acked, &[]);
            tcp.cwnd()
        });
        windows.collect::<Vec<_>>()
    };
    // Twice seven is more than ten and twelve, and not more than fourteen.
    assert_eq!(windows(7, &[2, 4, 7]), [12.0, 14.0, 14.0]);
    assert_eq!(windows(5, &[2, 5]), [10.0, 10.0]);
    assert_eq!(windows(10, &[2, 9, 10]), [12.0, 19.0, 20.0], "all of it was used");
}

#[test]
fn without_a_limit_what_was_reported_before_does_not_let_the_window_grow_again() {
    let window_after = |recovery, blocks: &[&[(u64, u64)]]| {
        let mut tcp = Driven::with(recovery, 10.0, |transport| transport.byte_counting = u32::MAX);
        tcp.sent();
        blocks.iter().for_each(|blocks| _ = tcp.ack(0, blocks));
        tcp.ack(6, &[]);
        tcp.cwnd()
    };
    assert_eq!(window_after(LossRecovery::Sack, &[]), 16.0);
    assert_eq!(window_after(LossRecovery::Sack, &[&[(1, 3)]]), 14.0);
    assert_eq!(window_after(LossRecovery::NewReno, &[&[], &[]]), 14.0);
}

#[test]
fn a_recovery_within_what_a_timeout_repeats_leads_back_to_it() {
    let states_after = |acks: &[u64]| {
        let mut tcp = Driven::with(LossRecovery::Reno, 8.0, |transport| {
            transport.second_loss = SecondLoss::Always;
        });
        tcp.sent();
        assert_eq!(tcp.expire(), [0]);
        // Three duplicates show a loss among the eight that are repeated.
        (0..4).for_each(|_| _ = tcp.ack(1, &[]));
        assert_eq!(tcp.sender.info().state, CaState::Recovery);
        let states = acks.iter().map(|acked| {
            tcp.ack(*acked, &[]);
            tcp.sender.info().state
        });
        states.collect::<Vec<_>>()
    };
    assert_eq!(states_after(&[5, 8]), [CaState::Loss, CaState::Open]);
    assert_eq!(states_after(&[8]), [CaState::Open]);
}

#[test]
fn a_repeated_timeout_does_to_ssthresh_what_the_option_says() {
    let after_two = |repeated_timeout| {
        let mut tcp = Driven::with(LossRecovery::Sack, 16.0, |transport| {
            transport.repeated_timeout = repeated_timeout;
        });
        tcp.sent();
        tcp.expire();
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, 8.0), "the first one halves: {repeated_timeout:?}");
        tcp.expire();
        let ssthresh = tcp.sender.cc.ssthresh();
        // Four ACKs in order: slow start doubles up to ssthresh, congestion avoidance adds 1/1, 1/2, 1/2.5, 1/2.9.
        (1..=4).for_each(|acked| _ = tcp.ack(acked, &[]));
        (ssthresh, tcp.cwnd(), tcp.sender.counters().congestion_events)
    };
    assert_eq!(after_two(RepeatedTimeout::Hold), (8.0, 5.0, 1));
    assert_eq!(after_two(RepeatedTimeout::HoldInRecovery), (8.0, 5.0, 1));
    // 1/2 is below the floor of two segments: 1 -> 2, then 1/2, 1/2.5 and 1/2.9.
    let avoidance = 2.9 + 1.0 / 2.9;
    assert_eq!(after_two(RepeatedTimeout::Cut), (2.0, avoidance, 2));
    assert_eq!(after_two(RepeatedTimeout::One), (1.0, avoidance, 2));
}

#[test]
fn a_timeout_in_fast_recovery_cuts_again_by_the_rfc_and_not_in_linux() {
    for (repeated_timeout, ssthresh) in [(RepeatedTimeout::Hold, 4.0), (RepeatedTimeout::HoldInRecovery, 8.0)] {
        let mut tcp = Driven::with(LossRecovery::Sack, 16.0, |transport| {
            transport.repeated_timeout = repeated_timeout;
        });
        tcp.sent();
        (2..=4).for_each(|end| _ = tcp.ack(0, &[(1, end)]));
        assert_eq!((tcp.sender.phase(), tcp.sender.cc.ssthresh()), (Phase::FastRecovery, 8.0));
        tcp.expire();
        assert_eq!((tcp.cwnd(), tcp.sender.cc.ssthresh()), (1.0, ssthresh), "{repeated_timeout:?}");
        // Without a new ACK the next one holds it in both cases; after one, it is a new event.
        tcp.expire();
        assert_eq!(tcp.sender.cc.ssthresh(), ssthresh, "{repeated_timeout:?}");
        tcp.ack(1, &[]);
        tcp.expire();
        assert_eq!(tcp.sender.cc.ssthresh(), 2.0, "{repeated_timeout:?}");
    }
}

#[test]
fn ssthresh_of_one_segment_holds_until_the_next_timeout_of_another_segment() {
    let mut tcp = Driven::with(LossRecovery::Sack, 16.0, |transport| {
        transport.repeated_timeout = RepeatedTimeout::One;
    });
    tcp.sent();
    let ssthresh = |tcp: &mut Driven| {
        tcp.expire();
        tcp.sender.cc.ssthresh()
    };
    assert_eq!([ssthresh(&mut tcp), ssthresh(&mut tcp), ssthresh(&mut tcp)], [8.0, 1.0, 1.0]);
    tcp.ack(1, &[]);
    assert_eq!(ssthresh(&mut tcp), 2.0, "RFC 5681's floor again");
}

#[test]
fn limited_transmit_ends_with_the_fast_retransmit_of_tahoe() {
    for sends in [LimitedTransmitSends::Next, LimitedTransmitSends::NewData] {
        let mut tcp = Driven::with(LossRecovery::Tahoe, 8.0, |transport| {
            transport.limited_transmit_sends = sends;
        });
        tcp.sent();
        assert_eq!([tcp.ack(0, &[]), tcp.ack(0, &[]), tcp.ack(0, &[])].concat(), [8, 9, 0]);
        assert_eq!([tcp.ack(0, &[]), tcp.ack(0, &[])].concat(), NOTHING, "{sends:?}");
    }
}

#[test]
fn the_ack_that_ends_a_fast_recovery_may_let_the_window_grow() {
    let after_recovery = |recovery, exit_growth| {
        let mut tcp = Driven::with(recovery, 8.0, |transport| transport.exit_growth = exit_growth);
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
    for recovery in [LossRecovery::Reno, LossRecovery::NewReno] {
        assert_eq!(after_recovery(recovery, ExitGrowth::Always), 4.25);
    }
    assert_eq!(after_recovery(LossRecovery::Sack, ExitGrowth::Always), 4.25);
}

fn counting_duplicates(limited_transmit: bool) -> Driven {
    Driven::with(LossRecovery::Sack, 8.0, |transport| {
        transport.limited_transmit = limited_transmit;
        transport.sack_sender = SackSender::DuplicateAcks;
        transport.limited_transmit_sends = LimitedTransmitSends::Next;
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

/// A NewReno sender whose eight segments timed out.
fn timed_out(second_loss: SecondLoss) -> Driven {
    let mut tcp = Driven::with(LossRecovery::NewReno, 8.0, |transport| {
        transport.second_loss = second_loss;
        transport.limited_transmit = false;
    });
    tcp.sent();
    assert_eq!(tcp.expire(), [0]);
    tcp
}

#[test]
fn duplicates_while_a_timeout_is_repaired_mean_what_the_policy_says() {
    // The ACK covers so many segments, and tells of the original or of the retransmission; is the next one lost?
    let retransmits = |second_loss, covered: u64, of_the_retransmission: bool| {
        let mut tcp = timed_out(second_loss);
        let echo = if of_the_retransmission { tcp.now } else { Instant::ZERO };
        tcp.ack_echoing(covered, &[], echo);
        (0..3).any(|_| tcp.ack(covered, &[]).first() == Some(&covered))
    };
    for (policy, after_one, after_five) in [
        (SecondLoss::Standard, false, false),
        (SecondLoss::Careful, false, false),
        (SecondLoss::LessCareful, false, false),
        // RFC 6582 §4.1: at most four segments.
        (SecondLoss::AckHeuristic, true, false),
        (SecondLoss::Always, true, true),
    ] {
        assert_eq!(
            (retransmits(policy, 1, false), retransmits(policy, 5, false)),
            (after_one, after_five),
            "{policy:?}"
        );
    }
    // RFC 6582 §4.2: the ACK of the original tells of duplicates to come.
    let by_timestamp = |of_the_retransmission| retransmits(SecondLoss::TimestampHeuristic, 1, of_the_retransmission);
    assert_eq!((by_timestamp(true), by_timestamp(false)), (true, false));
}

#[test]
fn the_ack_heuristic_looks_at_what_the_last_new_ack_covered() {
    // RFC 6582 §4.1: a window of more than a segment, and at most four segments between the two last ACKs.
    let events_at = |acked_before: u64, acked: u64| {
        let mut tcp = Driven::with(LossRecovery::NewReno, 8.0, |transport| {
            transport.second_loss = SecondLoss::AckHeuristic;
        });
        tcp.sent();
        tcp.ack(acked_before, &[]);
        tcp.expire();
        for _ in 0..4 {
            tcp.ack(acked, &[]);
        }
        tcp.sender.counters().congestion_events
    };
    assert_eq!([events_at(3, 4), events_at(3, 7), events_at(3, 8)], [2, 2, 1]);
    assert_eq!(events_at(3, 3), 1, "the window is one segment");
}

#[test]
fn the_less_careful_variant_needs_no_more_than_recover() {
    let events = |second_loss| {
        let mut tcp = timed_out(second_loss);
        tcp.ack(8, &[]);
        for _ in 0..3 {
            tcp.ack(8, &[]);
        }
        tcp.sender.counters().congestion_events
    };
    assert_eq!((events(SecondLoss::Careful), events(SecondLoss::LessCareful)), (1, 2));
}

#[test]
fn a_recovery_inside_a_restart_goes_on_with_what_was_given_up() {
    let mut tcp = timed_out(SecondLoss::Always);
    assert_eq!(tcp.ack(1, &[]), [1, 2]);
    assert_eq!((tcp.ack(1, &[]), tcp.ack(1, &[])), (vec![], vec![]));
    // A window of 2 and three duplicates: 3 to 5 are sent again after the first one.
    assert_eq!(tcp.ack(1, &[]), [1, 3, 4, 5]);
    assert_eq!(tcp.sender.phase(), Phase::FastRecovery);
    // All that was sent by the timeout is acknowledged but the last segment: it was given up, and goes out.
    assert_eq!(tcp.ack(7, &[])[0], 7);
    tcp.ack(8, &[]);
    assert_eq!(tcp.sender.phase(), Phase::CongestionAvoidance);
}

#[test]
fn the_first_partial_ack_restarts_the_timer_or_each_one_does() {
    let restarts = |partial_ack_timer| {
        let mut tcp = Driven::with(LossRecovery::NewReno, 8.0, |transport| {
            transport.partial_ack_timer = partial_ack_timer;
        });
        tcp.sent();
        for _ in 0..3 {
            tcp.ack(0, &[]);
        }
        [2, 4].map(|partial| {
            let before = tcp.sender.timers.deadline(Timer::Retransmission);
            tcp.ack(partial, &[]);
            tcp.sender.timers.deadline(Timer::Retransmission) != before
        })
    };
    assert_eq!(restarts(PartialAckTimer::First), [true, false]);
    assert_eq!(restarts(PartialAckTimer::Each), [true, true]);
}

#[test]
fn one_segment_may_be_timed_until_an_ack_covers_it() {
    let srtt_behind_recovery = |rtt_samples| {
        let mut tcp = Driven::with(LossRecovery::Sack, 16.0, |transport| {
            transport.rtt_samples = rtt_samples;
            transport.sack_sender = SackSender::DuplicateAcks;
        });
        tcp.sent();
        tcp.ack(1, &[]);
        assert_eq!(tcp.sender.rtt().srtt(), Duration::from_millis(1));
        // Segment 1 is lost; the window of 17/2 lets new data out once enough has left.
        for end in 3..=18 {
            tcp.ack(1, &[(2, end)]);
        }
        let sent = tcp.sender.sent_once() / MSS;
        assert!(sent > 21, "new data in recovery");
        // All of it arrives 1 ms later, but is not covered before the retransmission comes, 100 ms later still.
        tcp.ack(1, &[(2, sent)]);
        tcp.now += Duration::from_millis(100);
        tcp.ack(sent, &[]);
        tcp.sender.rtt().srtt()
    };
    let [each_round, timed] = [RttSamples::EachRound, RttSamples::TimedSegment].map(srtt_behind_recovery);
    // An eighth of more than 100 ms.
    assert!(timed > Duration::from_millis(13), "{timed:?}");
    assert!(each_round < Duration::from_millis(3), "{each_round:?}");
}

#[test]
fn a_loss_or_a_timeout_gives_the_timed_segment_up() {
    let timed = || {
        let mut tcp = Driven::with(LossRecovery::Reno, 8.0, |transport| {
            transport.rtt_samples = RttSamples::TimedSegment;
        });
        tcp.sent();
        assert_eq!(tcp.sender.timed, Some((MSS, Instant::ZERO)));
        tcp
    };
    let mut tcp = timed();
    tcp.expire();
    assert_eq!(tcp.sender.timed, None);
    let mut tcp = timed();
    for _ in 0..3 {
        tcp.ack(0, &[]);
    }
    assert_eq!(tcp.sender.timed, None);
}
