use super::*;
use proptest::prelude::*;

const LEN: u32 = 100;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for number in 0..segments {
        board.push(number * u64::from(LEN), LEN, Instant::from_nanos(number));
    }
    board
}

/// Acknowledges selectively, in segments, and looks for losses.
fn sack(board: &mut Scoreboard, ack: u64, ranges: &[(u64, u64)]) -> u32 {
    let mut blocks = SackBlocks::default();
    for (start, end) in ranges {
        blocks.push(ack * 100, start * 100, end * 100);
    }
    board.acknowledge_selectively(ack * 100, &blocks, &mut Delivered::default());
    board.find_losses()
}

#[test]
fn three_sacked_segments_above_make_a_segment_lost() {
    let mut board = board(10);
    // Segments 0 and 2 are missing.
    assert_eq!(sack(&mut board, 0, &[(1, 2)]), 0);
    assert_eq!(sack(&mut board, 0, &[(3, 4), (1, 2)]), 0);
    assert_eq!(board.pipe(), 8);
    // 1, 3 and 4 lie above 0; only 3 and 4 above 2.
    assert_eq!(sack(&mut board, 0, &[(3, 5), (1, 2)]), 1);
    assert!(board.front_is_lost());
    assert_eq!(board.pipe(), 6);
    assert_eq!(sack(&mut board, 0, &[(3, 6), (1, 2)]), 1);
    assert_eq!(board.pipe(), 4);
    // Both are retransmitted, each once, in order.
    let mut sent = Vec::new();
    while let Some(index) = board.next_lost() {
        board.retransmit(index, true, Instant::ZERO);
        sent.push(index);
    }
    assert_eq!((sent, board.pipe()), (vec![0, 2], 6));
    assert_eq!(board.counts(), (4, 2, 2));
    // The first retransmission arrives: 0 and 1 are through, 2 is what is left of the holes.
    let delivered = board.acknowledge(200);
    assert_eq!((delivered.segments, board.pipe(), board.outstanding()), (1, 5, 8));
}

#[test]
fn a_timeout_loses_everything_that_was_not_sacked() {
    let mut board = board(5);
    sack(&mut board, 0, &[(3, 4)]);
    assert_eq!(board.lose_all(), 4);
    assert_eq!(board.pipe(), 0);
    let mut sent = Vec::new();
    while let Some(index) = board.next_lost() {
        board.retransmit(index, true, Instant::ZERO);
        sent.push(index);
    }
    assert_eq!(sent, [0, 1, 2, 4]);
}

#[test]
fn blocks_find_segments_of_different_lengths() {
    // By the length of the first one alone the block would begin with the segment at 100, or at 250.
    for (first, second) in [(100, 50), (50, 100)] {
        let mut board = Scoreboard::default();
        for (seq, len) in [(0, first), (u64::from(first), second), (150, 100), (250, 100)] {
            board.push(seq, len, Instant::ZERO);
        }
        let mut delivered = Delivered::default();
        let mut blocks = SackBlocks::default();
        blocks.push(0, 150, 250);
        board.acknowledge_selectively(0, &blocks, &mut delivered);
        let missing = (0..4).filter(|place| !board.segments[*place].sacked).collect::<Vec<_>>();
        assert_eq!((delivered.bytes, missing), (100, vec![0, 1, 3]));
    }
}

#[test]
fn a_segment_is_sacked_once_all_of_it_is_covered() {
    let mut board = board(4);
    let mut delivered = Delivered::default();
    for (start, end) in [(150, 250), (250, 300), (100, 150)] {
        let mut blocks = SackBlocks::default();
        blocks.push(0, start, end);
        board.acknowledge_selectively(0, &blocks, &mut delivered);
    }
    assert_eq!((delivered.segments, delivered.bytes, board.pipe()), (2, 200, 2));
}

#[test]
fn the_newest_of_what_is_delivered_was_sent_last() {
    let newest = |board: &mut Scoreboard| {
        let delivered = board.acknowledge(300);
        delivered.newest.map(|segment| segment.seq)
    };
    assert_eq!(newest(&mut board(4)), Some(200));
    let mut resent = board(4);
    resent.retransmit(1, true, Instant::from_nanos(9));
    assert_eq!(newest(&mut resent), Some(100));
}

#[test]
fn what_is_missing_is_found_from_where_one_looks() {
    let mut board = board(8);
    board.acknowledge(200);
    sack(&mut board, 2, &[(3, 4), (5, 6)]);
    // Below the highest block, each hole once.
    for hole in [2, 4] {
        assert_eq!(board.next_hole(), Some(hole));
        board.retransmit(hole, true, Instant::ZERO);
    }
    assert_eq!(board.next_hole(), None);
    // Anywhere, sent again or not.
    let next = [0, 3, 5, 7, 8].map(|index| board.next_unsacked(index));
    assert_eq!(next, [Some(2), Some(4), Some(6), Some(7), None]);
    assert_eq!((board.front_index(), board.last_unsacked(), board.end_index()), (Some(2), Some(7), 8));
}

#[test]
fn what_is_forgotten_is_in_flight_again_and_may_be_reported_again() {
    let mut board = board(6);
    sack(&mut board, 0, &[(1, 2), (3, 4)]);
    assert_eq!((board.pipe(), board.counts()), (4, (2, 0, 0)));
    board.forget_sacks();
    assert_eq!((board.pipe(), board.counts(), board.next_hole()), (6, (0, 0, 0), None));
    assert_eq!(sack(&mut board, 0, &[(1, 3)]), 0, "two above 0, and not four");
    assert_eq!((board.pipe(), board.next_hole()), (4, Some(0)));
}

#[test]
fn an_acknowledgement_inside_a_segment_trims_it() {
    let mut board = board(2);
    board.acknowledge(150);
    let front = board.front().unwrap();
    assert_eq!((front.seq, front.len, board.pipe()), (150, 50, 1));
}

proptest! {
    /// The pipe that is kept up to date is the one that RFC 6675's SetPipe would count.
    #[test]
    fn the_pipe_is_the_one_that_counting_gives(operations in prop::collection::vec((0u8..6, 0u64..30, 1u64..6), 1..80)) {
        let (mut board, mut next, mut una) = (Scoreboard::default(), 0u64, 0u64);
        for (operation, at, len) in operations {
            match operation {
                0 => for _ in 0..len {
                    board.push(next * 100, LEN, Instant::ZERO);
                    next += 1;
                },
                1 => {
                    una = (una + len).min(next);
                    board.acknowledge(una * 100);
                }
                2 => {
                    let start = (una + 1 + at).min(next);
                    sack(&mut board, una, &[(start, (start + len).min(next))]);
                }
                3 => {
                    if let Some(index) = board.next_lost().or_else(|| board.next_suspect()) {
                        board.retransmit(index, true, Instant::ZERO);
                    }
                }
                4 => {
                    board.lose_all();
                }
                _ => {
                    board.restore();
                    board.find_losses();
                }
            }
            let counted: u32 = board.segments.iter().map(SentSegment::in_flight).sum();
            let bytes: u64 = board.segments.iter().map(SentSegment::bytes_in_flight).sum();
            prop_assert_eq!((board.pipe(), board.bytes_in_flight()), (counted, bytes));
            let above = board.segments.iter().enumerate()
                .filter(|(position, segment)| segment.sacked && board.first + *position as u64 >= board.lost_edge)
                .count();
            prop_assert_eq!(board.sacked_above_edge as usize, above);
            // IsLost by its definition: three sacked segments above.
            for (position, segment) in board.segments.iter().enumerate() {
                let sacked_above = board.segments.iter().skip(position + 1).filter(|other| other.sacked).count();
                if !segment.sacked && sacked_above >= 3 {
                    prop_assert!(segment.lost);
                }
            }
        }
    }
}

#[test]
fn a_block_that_begins_within_a_segment_hides_no_segment_that_waits() {
    let mut board = board(6);
    let mut blocks = SackBlocks::default();
    // The last byte of segment 0, and segments 1 to 4.
    blocks.push(0, 99, 500);
    board.acknowledge_selectively(0, &blocks, &mut Delivered::default());
    assert!(!board.at(0).sacked && (1..5).all(|index| board.at(index).sacked));
    assert_eq!(board.last_waiting_once(0, 6, |_| true), 5);
    assert_eq!(board.last_waiting_once(0, 5, |_| true), 0);
    // The same with a segment in the middle.
    let mut board = self::board(8);
    let mut blocks = SackBlocks::default();
    blocks.push(0, 250, 700);
    board.acknowledge_selectively(0, &blocks, &mut Delivered::default());
    assert_eq!(board.last_waiting_once(0, 7, |_| true), 2);
}
