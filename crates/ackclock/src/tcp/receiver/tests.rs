use super::*;
use crate::tcp::segment::DataEcn;
use crate::units::Rate;

fn receiver(change: impl FnOnce(&mut Transport)) -> Receiver {
    let mut transport = Transport::default();
    change(&mut transport);
    Receiver::new(&transport)
}

fn data(number: u64) -> DataSegment {
    DataSegment { seq: number * 100, len: 100, sent_at: Instant::from_nanos(number), ecn: DataEcn::new(true, false) }
}

/// Acknowledgement and SACK blocks in segments of 100 bytes.
fn answer(receiver: &mut Receiver, number: u64) -> (u64, Vec<(u64, u64)>) {
    let ack = receiver.on_data(Instant::ZERO, &data(number), Ecn::NotEct).expect("an ACK at once");
    (ack.ack / 100, ack.sack.iter(ack.ack).map(|(start, end)| (start / 100, end / 100)).collect())
}

#[test]
fn blocks_are_reported_most_recent_first_as_in_rfc_2018() {
    // RFC 2018 §4, case 3: every other segment is lost.
    let mut receiver = receiver(|_| {});
    assert_eq!(answer(&mut receiver, 0), (1, vec![]));
    assert_eq!(answer(&mut receiver, 2), (1, vec![(2, 3)]));
    assert_eq!(answer(&mut receiver, 4), (1, vec![(4, 5), (2, 3)]));
    assert_eq!(answer(&mut receiver, 6), (1, vec![(6, 7), (4, 5), (2, 3)]));
    assert_eq!(answer(&mut receiver, 8), (1, vec![(8, 9), (6, 7), (4, 5)]));
    // Segment 3 joins two blocks; segment 1 brings the left edge up to 5.
    assert_eq!(answer(&mut receiver, 3), (1, vec![(2, 5), (8, 9), (6, 7)]));
    assert_eq!(answer(&mut receiver, 1), (5, vec![(8, 9), (6, 7)]));
    // Old data changes nothing.
    assert_eq!(answer(&mut receiver, 0), (5, vec![(8, 9), (6, 7)]));
}

#[test]
fn the_first_acks_are_quick_and_those_after_a_duplicate_or_a_pause() {
    let mut it = receiver(|transport| {
        (transport.delayed_ack, transport.quick_acks) = (Some(Duration::from_millis(40)), 2);
    });
    let mut at_once = |number, millis| {
        let now = Instant::ZERO + Duration::from_millis(millis);
        it.on_data(now, &data(number), Ecn::NotEct).is_some()
    };
    assert!(at_once(0, 1) && at_once(1, 2));
    assert!(!at_once(2, 3));
    // A segment out of order and the one that fills the gap are acknowledged anyway.
    assert!(at_once(4, 100) && at_once(3, 101) && !at_once(5, 102));
    // A duplicate, and one segment more.
    assert!(at_once(5, 103) && at_once(6, 104) && !at_once(7, 105) && at_once(8, 106));
    // The pause is longer than 200 ms.
    assert!(at_once(9, 307) && at_once(10, 308) && !at_once(11, 309));
}

/// The rules of `__tcp_ecn_check_ce` and `tcp_ecn_accept_cwr`.
#[test]
fn marks_cwr_and_segments_without_ect_make_acks_quick() {
    let mut it = receiver(|transport| {
        (transport.delayed_ack, transport.quick_acks) = (Some(Duration::from_millis(40)), 16);
        transport.ecn = EcnMode::Classic;
    });
    let mut at_once = |number, ecn, cwr| {
        let segment = DataSegment { ecn: DataEcn::new(ecn != Ecn::NotEct, cwr), ..data(number) };
        it.on_data(Instant::from_nanos(number), &segment, ecn).is_some()
    };
    assert!((0..16).all(|number| at_once(number, Ecn::Ect0, false)));
    assert!(!at_once(16, Ecn::Ect0, false) && at_once(17, Ecn::Ect0, false));
    // The first mark, and the next segment. Another mark has no effect while the first one is echoed.
    assert!(at_once(18, Ecn::Ce, false) && at_once(19, Ecn::Ect0, false));
    assert!(!at_once(20, Ecn::Ce, false) && at_once(21, Ecn::Ect0, false));
    // The sender has reacted.
    assert!(at_once(22, Ecn::Ect0, true));
    assert!(!at_once(23, Ecn::Ect0, false) && at_once(24, Ecn::Ect0, false));
    // A probable retransmission.
    assert!(at_once(25, Ecn::NotEct, false) && at_once(26, Ecn::Ect0, false) && !at_once(27, Ecn::Ect0, false));
}

#[test]
fn blocks_that_have_been_reached_leave_room_for_others() {
    let mut it = receiver(|_| {});
    for number in [0, 6, 4, 2] {
        answer(&mut it, number);
    }
    // Segment 1 brings the left edge up to the end of the block of 2.
    assert_eq!(answer(&mut it, 1), (3, vec![(4, 5), (6, 7)]));
    assert_eq!(answer(&mut it, 8), (3, vec![(8, 9), (4, 5), (6, 7)]));
    // The same where an ACK has room for two blocks.
    let mut narrow = receiver(|transport| (transport.timestamps, transport.ecn) = (true, EcnMode::AccEcn));
    for number in [0, 6, 4, 2] {
        answer(&mut narrow, number);
    }
    assert_eq!(answer(&mut narrow, 1), (3, vec![(4, 5), (6, 7)]));
}

#[test]
fn a_receiver_without_sack_says_nothing_of_what_came_out_of_order() {
    let mut receiver = receiver(|transport| transport.peer_sack = false);
    assert_eq!(answer(&mut receiver, 2), (0, vec![]));
}

#[test]
fn duplicates_are_reported_first_as_in_rfc_2883() {
    let dsack = || receiver(|transport| transport.dsack = true);
    // In segments: §4.1, examples 1 and 2.
    let mut it = dsack();
    assert_eq!(answer(&mut it, 0), (1, vec![]));
    assert_eq!(answer(&mut it, 1), (2, vec![]));
    assert_eq!(answer(&mut it, 0), (2, vec![(0, 1)]));
    assert_eq!(answer(&mut it, 3), (2, vec![(3, 4)]), "rule (2): a duplicate is reported once");
    assert_eq!(answer(&mut it, 0), (2, vec![(0, 1), (3, 4)]));
    // Example 3: a duplicate of what came out of order, and the block that holds it.
    assert_eq!(answer(&mut it, 4), (2, vec![(3, 5)]));
    assert_eq!(answer(&mut it, 4), (2, vec![(4, 5), (3, 5)]));
    assert_eq!(answer(&mut it, 6), (2, vec![(6, 7), (3, 5)]));
    assert_eq!(answer(&mut it, 3), (2, vec![(3, 4), (3, 5), (6, 7)]));
    // Without it old data say nothing, and nor does a receiver without SACK.
    let mut without = receiver(|_| {});
    let mut no_sack = receiver(|transport| (transport.dsack, transport.peer_sack) = (true, false));
    for it in [&mut without, &mut no_sack] {
        answer(it, 0);
        assert_eq!(answer(it, 0), (1, vec![]));
    }
}

#[test]
fn of_partial_duplicates_the_first_is_reported() {
    let arrives = |it: &mut Receiver, seq, len| {
        let segment = DataSegment { seq, len, ..data(0) };
        let ack = it.on_data(Instant::ZERO, &segment, Ecn::NotEct).expect("an ACK at once");
        (ack.ack, ack.sack.iter(ack.ack).collect::<Vec<_>>())
    };
    let begun = || {
        let mut it = receiver(|transport| transport.dsack = true);
        assert_eq!(arrives(&mut it, 0, 1000), (1000, vec![]));
        it
    };
    // RFC 2883 §4.2.1, example 4.
    let mut it = begun();
    arrives(&mut it, 2000, 500);
    assert_eq!(arrives(&mut it, 1000, 500), (1500, vec![(2000, 2500)]));
    assert_eq!(arrives(&mut it, 1000, 1000), (2500, vec![(1000, 1500)]));
    // Example 5.
    let mut it = begun();
    arrives(&mut it, 3000, 500);
    arrives(&mut it, 1000, 500);
    assert_eq!(arrives(&mut it, 2000, 500), (1500, vec![(2000, 2500), (3000, 3500)]));
    assert_eq!(arrives(&mut it, 1000, 1500), (2500, vec![(1000, 1500), (3000, 3500)]));
    // Example 6.
    let mut it = begun();
    arrives(&mut it, 3500, 500);
    arrives(&mut it, 1500, 500);
    assert_eq!(arrives(&mut it, 2500, 500), (1000, vec![(2500, 3000), (1500, 2000), (3500, 4000)]));
    assert_eq!(arrives(&mut it, 1500, 1500), (1000, vec![(1500, 2000), (1500, 3000), (3500, 4000)]));
}

#[test]
fn a_delayed_ack_covers_two_segments_or_comes_when_its_time_is_up() {
    let mut receiver = receiver(|transport| transport.delayed_ack = Some(Duration::from_millis(100)));
    let start = Instant::ZERO;
    assert_eq!(receiver.on_data(start, &data(0), Ecn::NotEct), None);
    assert_eq!(answer(&mut receiver, 1), (2, vec![]));
    assert_eq!(receiver.next_deadline(), None);
    assert_eq!(receiver.on_data(start, &data(2), Ecn::NotEct), None);
    let due = receiver.next_deadline().unwrap();
    assert_eq!(due, start + Duration::from_millis(100));
    assert_eq!(receiver.on_deadline(start), None);
    assert_eq!(receiver.on_deadline(due).unwrap().ack, 300);
    // A gap, and the segment that fills it, are answered at once.
    assert_eq!(answer(&mut receiver, 4), (3, vec![(4, 5)]));
    assert_eq!(answer(&mut receiver, 3), (5, vec![]));
    receiver.set_delayed_ack(None);
    assert_eq!(answer(&mut receiver, 5), (6, vec![]));
}

#[test]
fn acks_of_copies_and_of_gap_fillers_may_wait_too() {
    let at_once = |delayed_ack_for, numbers: &[u64]| {
        let mut receiver = receiver(|transport| {
            transport.delayed_ack = Some(Duration::from_millis(100));
            transport.delayed_ack_for = delayed_ack_for;
        });
        let mut arrives = |number: &u64| receiver.on_data(Instant::ZERO, &data(*number), Ecn::NotEct).is_some();
        numbers.iter().map(&mut arrives).collect::<Vec<_>>()
    };
    // 1 comes twice; with 2 after it two segments are delayed.
    let copies = [0, 1, 1, 2];
    assert_eq!(at_once(DelayedAckFor::NewData, &copies), [false, true, true, false]);
    assert_eq!(at_once(DelayedAckFor::LastSegment, &copies), [false, true, false, true]);
    // 0 fills a part of the gap below 3, 1 and 2 the rest; 2 moves the edge beyond itself.
    let gap = [3, 0, 1, 2];
    assert_eq!(at_once(DelayedAckFor::LastSegment, &gap), [true, true, true, true]);
    assert_eq!(at_once(DelayedAckFor::Gaps, &gap), [true, false, true, true]);
}

#[test]
fn acks_advertise_what_of_the_buffer_is_free() {
    let mut it = receiver(|transport| {
        (transport.mss, transport.receive_buffer) = (100, Some(300));
        transport.read_every = Duration::from_secs(1);
    });
    let start = Instant::ZERO + Duration::from_secs(5);
    let arrives = |it: &mut Receiver, seq, len| {
        let ack = it.on_data(start, &DataSegment { seq, len, ..data(0) }, Ecn::NotEct).expect("an ACK at once");
        (ack.ack, ack.window())
    };
    // What comes first is read at once, and the rest in a second.
    assert_eq!(arrives(&mut it, 0, 100), (100, Some(300)));
    assert_eq!(it.next_deadline(), None);
    // A gap takes no room: the right edge stays at 400.
    assert_eq!(arrives(&mut it, 200, 100), (100, Some(300)));
    assert_eq!(arrives(&mut it, 100, 100), (300, Some(100)));
    // The window ends at byte 400: of two segments one and a half fit, and of a third one nothing.
    assert_eq!(arrives(&mut it, 300, 150), (400, Some(0)));
    assert_eq!(arrives(&mut it, 400, 1), (400, Some(0)));
    let due = it.next_deadline().expect("the application reads again");
    assert_eq!(due, start + Duration::from_secs(1));
    assert_eq!(it.on_deadline(start), None);
    let update = it.on_deadline(due).expect("a window update");
    assert_eq!((update.ack, update.window(), it.next_deadline()), (400, Some(300), None));
    // A segment whose ACK is delayed is read as well.
    it.set_delayed_ack(Some(Duration::from_millis(100)));
    let later = due + Duration::from_secs(3);
    assert_eq!(it.on_data(later, &DataSegment { seq: 400, ..data(0) }, Ecn::NotEct), None);
    assert_eq!(it.next_deadline(), Some(later + Duration::from_millis(100)));
}

#[test]
fn an_application_that_reads_by_hand_moves_the_window() {
    let mut it = receiver(|transport| (transport.mss, transport.receive_buffer) = (100, Some(200)));
    it.read_by_hand();
    for number in [0, 1] {
        answer(&mut it, number);
    }
    assert_eq!((it.next_deadline(), it.read(99, false)), (None, None));
    assert_eq!(it.read(1, true).map(|ack| (ack.ack, ack.window())), Some((200, Some(100))));
    assert_eq!(receiver(|_| {}).read(1, true), None, "there is no buffer");
}

#[test]
fn the_echo_is_of_the_segment_that_moved_the_left_edge() {
    let mut receiver = receiver(|_| {});
    receiver.on_data(Instant::ZERO, &data(0), Ecn::NotEct);
    // Segment 1 is missing: the echo stays that of segment 0.
    let ack = receiver.on_data(Instant::ZERO, &data(2), Ecn::NotEct).unwrap();
    assert_eq!(ack.echo, Instant::from_nanos(0));
    let ack = receiver.on_data(Instant::ZERO, &data(1), Ecn::NotEct).unwrap();
    assert_eq!(ack.echo, Instant::from_nanos(1));
    // An old copy comes late: the echo does not go back.
    let ack = receiver.on_data(Instant::ZERO, &data(0), Ecn::NotEct).unwrap();
    assert_eq!(ack.echo, Instant::from_nanos(1));
}

/// Linux 6.12 by its source: three ACKs at once, and then one each millisecond.
#[test]
fn acks_are_compressed_while_data_is_missing() {
    let compressed = |base_rtt_ms, count: u64| {
        let delayed_ack = Some(Duration::from_millis(40));
        let transport = Transport { mss: 100, sack_compression: true, delayed_ack, ..Transport::default() };
        let mut it = Receiver::on_path(&transport, Duration::from_millis(base_rtt_ms));
        let mut at_once = 0;
        for number in 1..=count {
            at_once += u32::from(it.on_data(Instant::ZERO, &data(number), Ecn::NotEct).is_some());
        }
        (it, at_once)
    };
    let (mut it, at_once) = compressed(40, 6);
    assert_eq!((at_once, it.next_deadline()), (3, Some(Instant::ZERO + Duration::from_millis(1))));
    let ack = it.on_deadline(Instant::ZERO + Duration::from_millis(1)).unwrap();
    assert_eq!((ack.sack.iter(0).next(), it.next_deadline()), (Some((100, 700)), None));
    // The gap is filled, and a new one has three ACKs again.
    assert!(
        it.on_data(Instant::ZERO, &data(7), Ecn::NotEct).is_none()
            && it.on_data(Instant::ZERO, &data(0), Ecn::NotEct).is_some()
    );
    assert_eq!(it.next_deadline(), None);
    assert_eq!(
        [9, 10, 11, 12].map(|number| it.on_data(Instant::ZERO, &data(number), Ecn::NotEct).is_some()),
        [true, true, true, false]
    );
    // The D-SACK block waits as well.
    let delayed_ack = Some(Duration::from_millis(40));
    let transport = Transport { mss: 100, sack_compression: true, dsack: true, delayed_ack, ..Transport::default() };
    let mut it = Receiver::on_path(&transport, Duration::from_millis(40));
    for number in [1, 2, 3, 4, 2, 5] {
        it.on_data(Instant::ZERO, &data(number), Ecn::NotEct);
    }
    let ack = it.on_deadline(Instant::ZERO + Duration::from_millis(1)).unwrap();
    assert_eq!(ack.sack.duplicate(ack.ack), Some((200, 300)));
    // One of 45 waiting segments is acknowledged, and a twentieth of a short RTT is the delay.
    assert_eq!(compressed(40, 3 + 44).1, 3);
    assert_eq!(compressed(40, 3 + 45).1, 4);
    assert_eq!(compressed(10, 4).0.next_deadline(), Some(Instant::ZERO + Duration::from_micros(500)));
}

/// Every second segment is lost. An ACK with timestamps has room for three blocks.
#[test]
fn a_third_block_sends_the_compressed_ack_first() {
    let transport = Transport {
        mss: 100,
        sack_compression: true,
        delayed_ack: Some(Duration::from_millis(40)),
        timestamps: true,
        ..Transport::default()
    };
    let mut it = Receiver::on_path(&transport, Duration::from_millis(40));
    let blocks = |ack: AckSegment| ack.sack.iter(0).map(|(start, end)| (start / 100, end / 100)).collect::<Vec<_>>();
    let mut arrives = |number| it.on_data(Instant::ZERO, &data(number), Ecn::NotEct).map(blocks);
    for number in [2, 3, 4] {
        arrives(number).expect("an ACK at once");
    }
    assert_eq!((arrives(6), arrives(7)), (None, None), "the second block");
    assert_eq!(arrives(9), Some(vec![(6, 8), (2, 5)]), "a new block");
    assert_eq!((arrives(10), arrives(8)), (None, None), "the first two blocks grow");
    assert_eq!(arrives(12), Some(vec![(6, 11), (2, 5)]));
    assert_eq!(arrives(1), Some(vec![(12, 13), (6, 11), (2, 5)]), "the third block grows");
    let ack = it.on_deadline(Instant::ZERO + Duration::from_millis(1)).map(blocks);
    assert_eq!(ack, Some(vec![(1, 5), (12, 13), (6, 11)]));
}

#[test]
fn a_segment_with_psh_is_acknowledged_once_the_application_has_read_it() {
    let pushed = |number| DataSegment { ecn: DataEcn::default().with_psh(true), ..data(number) };
    let delay = Duration::from_millis(40);
    let linux = |transport: &mut Transport| (transport.delayed_ack, transport.push_acks) = (Some(delay), true);
    let mut it = receiver(linux);
    let ack_of = |it: &mut Receiver, segment| it.on_data(Instant::ZERO, &segment, Ecn::NotEct).map(|ack| ack.ack / 100);
    assert_eq!([data(0), data(1), pushed(2)].map(|segment| ack_of(&mut it, segment)), [None, Some(2), Some(3)]);
    // Old data do not count, and without the key PSH has no effect.
    assert_eq!([data(3), pushed(4)].map(|segment| ack_of(&mut it, segment)), [None, Some(5)]);
    assert_eq!(ack_of(&mut receiver(|transport| transport.delayed_ack = Some(delay)), pushed(0)), None);
    // The application reads 100 bytes each 10 ms.
    let mut slow = receiver(|transport| {
        linux(transport);
        (transport.mss, transport.receive_buffer) = (100, Some(1000));
        (transport.read_rate, transport.read_every) = (Rate::from_bps(80_000), Duration::from_millis(10));
    });
    let expected = [Some(1), None, Some(3), None];
    assert_eq!([pushed(0), data(1), data(2), pushed(3)].map(|segment| ack_of(&mut slow, segment)), expected);
    let mut by_hand = receiver(linux);
    by_hand.read_by_hand();
    assert_eq!(ack_of(&mut by_hand, pushed(0)), None);
    assert_eq!([60, 40].map(|bytes| by_hand.read(bytes, bytes == 40).map(|ack| ack.ack)), [None, Some(100)]);
}

/// Slow start at 10 Mbit/s and 40 ms, in whole rounds. In a run, Linux 6.12 and the simulator send 24 single ACKs, four
/// of two segments, and 118 single ones.
#[test]
fn each_segment_is_acknowledged_while_the_window_grows() {
    let transport = Transport {
        delayed_ack: Some(Duration::from_millis(40)),
        quick_acks: 16,
        window_growth_acks: true,
        mss: 1448,
        ..Transport::default()
    };
    let mut it = Receiver::on_path(&transport, Duration::from_millis(40));
    let mss = u64::from(transport.mss);
    let (mut number, mut covered, mut runs) = (0, 0, Vec::<(u64, u32)>::new());
    let mut arrives = Instant::ZERO;
    for (round, segments) in [10, 20, 40, 80].into_iter().enumerate() {
        for place in 0..segments {
            // An ACK releases two segments. A packet takes 1.2 ms at the bottleneck.
            let sent_at =
                Instant::ZERO + Duration::from_millis(40 * round as u64) + Duration::from_micros(1_200 * (place / 2));
            arrives = (sent_at + Duration::from_millis(20)).max(arrives + Duration::from_micros(1_200));
            let segment = DataSegment { seq: number * mss, len: transport.mss, sent_at, ecn: DataEcn::default() };
            number += 1;
            if it.on_data(arrives, &segment, Ecn::NotEct).is_some() {
                match runs.last_mut() {
                    Some((size, count)) if *size == number - covered => *count += 1,
                    _ => runs.push((number - covered, 1)),
                }
                covered = number;
            }
        }
    }
    assert_eq!(runs, [(1, 23), (2, 4), (1, 119)]);
}

/// Segments of a run with losses: number, departure and arrival in tenths of a millisecond.
const WITH_GAPS: [(u64, u64, u64); 24] = [
    (0, 105, 176),
    (1, 105, 188),
    (2, 105, 200),
    (10, 226, 297),
    (11, 226, 309),
    (12, 238, 321),
    (14, 250, 333),
    (15, 250, 345),
    (3, 347, 412),
    (4, 359, 432),
    (5, 371, 444),
    (6, 383, 456),
    (7, 395, 468),
    (8, 463, 534),
    (9, 463, 546),
    (13, 483, 558),
    (16, 495, 570),
    (17, 507, 582),
    (18, 519, 594),
    (19, 585, 648),
    (20, 597, 667),
    (21, 608, 679),
    (22, 620, 693),
    (23, 632, 705),
];

/// Linux 6.12 delayed the ACK of segment 23 for the first time.
#[test]
fn data_read_below_a_gap_count_for_the_growth_of_the_window() {
    let transport = Transport {
        delayed_ack: Some(Duration::from_millis(40)),
        quick_acks: 16,
        window_growth_acks: true,
        mss: 1448,
        ..Transport::default()
    };
    let mut it = Receiver::on_path(&transport, Duration::from_millis(10));
    let at = |tenths: u64| Instant::ZERO + Duration::from_micros(100 * tenths);
    let delayed = WITH_GAPS.into_iter().filter(|(number, sent, arrives)| {
        let segment = DataSegment {
            seq: number * u64::from(transport.mss),
            len: transport.mss,
            sent_at: at(*sent),
            ecn: DataEcn::default(),
        };
        it.on_data(at(*arrives), &segment, Ecn::NotEct).is_none()
    });
    assert_eq!(delayed.map(|(number, ..)| number).next(), Some(23));
}

#[test]
fn under_dctcp_an_ack_tells_of_the_packets_that_it_covers() {
    let mut it = receiver(|transport| {
        (transport.ecn, transport.delayed_ack) = (EcnMode::Dctcp, Some(Duration::from_millis(40)));
    });
    let seen = |ack: Option<AckSegment>| ack.map(|ack| (ack.ack / 100, ack.ecn == EcnFeedback::Classic { ece: true }));
    let now = Instant::ZERO;
    let on_data = |it: &mut Receiver, number, ecn| seen(it.on_data(now, &data(number), ecn));
    assert_eq!(on_data(&mut it, 0, Ecn::Ect0), None, "delayed");
    // Marks begin: an ACK of the packet before, and at once one of the marked packet.
    assert_eq!(on_data(&mut it, 1, Ecn::Ce), Some((1, false)));
    assert_eq!(it.next_deadline(), Some(now));
    assert_eq!(seen(it.on_deadline(now)), Some((2, true)));
    // Every second packet, as long as the state remains, whatever CWR says.
    assert_eq!(on_data(&mut it, 2, Ecn::Ce), None);
    let answered = DataSegment { ecn: DataEcn::new(true, true), ..data(3) };
    assert_eq!(seen(it.on_data(now, &answered, Ecn::Ce)), Some((4, true)));
    // Marks end, and nothing is delayed.
    assert_eq!(on_data(&mut it, 4, Ecn::Ect0), Some((5, false)));
    assert_eq!(it.ce_count(), 3);
}

/// A retransmission that fills a gap has a later timestamp than the original segments that are still on the way.
#[test]
fn paws_discards_data_whose_timestamp_is_more_than_a_tick_older_than_the_echo() {
    let ms = Duration::from_millis;
    let data =
        |seq, sent_ms| DataSegment { seq, len: 10, sent_at: Instant::ZERO + ms(sent_ms), ecn: DataEcn::default() };
    for (timestamps, paws, taken) in [(true, true, 20), (true, false, 30), (false, true, 30)] {
        let mut it = receiver(|transport| {
            (transport.timestamps, transport.paws, transport.dsack) = (timestamps, paws, true);
        });
        it.on_data(Instant::ZERO, &data(0, 105), Ecn::NotEct);
        let now = Instant::ZERO + ms(200);
        // One tick older: accepted.
        it.on_data(now, &data(10, 104), Ecn::NotEct);
        let ack = it.on_data(now, &data(20, 103), Ecn::NotEct).unwrap();
        assert_eq!((ack.ack, ack.sack.duplicate(ack.ack)), (taken, None));
        // Old data below the expected byte are reported as a duplicate.
        let ack = it.on_data(now, &data(0, 90), Ecn::NotEct).unwrap();
        assert_eq!((ack.ack, ack.sack.duplicate(ack.ack)), (taken, Some((0, 10))));
    }
}

#[test]
fn old_data_leave_the_echo_of_timestamps_as_it_is() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let mut it = receiver(|_| {});
    for (seq, sent_ms, echo_ms) in [(0, 1, 1), (10, 2, 2), (0, 30, 2), (10, 31, 31)] {
        let segment = DataSegment { seq, len: 10, sent_at: at(sent_ms), ecn: DataEcn::default() };
        let ack = it.on_data(at(50), &segment, Ecn::NotEct).unwrap();
        assert_eq!(ack.echo, at(echo_ms), "byte {seq}, sent at {sent_ms} ms");
    }
}
