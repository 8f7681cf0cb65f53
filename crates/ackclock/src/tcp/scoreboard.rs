//! What was sent and is not yet acknowledged, segment by segment (RFC 6675).
//!
//! Every operation is O(1) amortised over the life of a segment. Three indices only move forward: what is
//! acknowledged, the edge up to which losses were looked for, and what was retransmitted last. The pipe of
//! RFC 6675 is kept up to date instead of being counted.

use std::collections::VecDeque;

use super::delivery::SendStamp;
use super::ranges::RangeSet;
use super::segment::SackBlocks;
use crate::prefetch::prefetch;
use crate::units::Instant;

/// RFC 6675 §2: "DupThresh": so many selectively acknowledged segments above one make it lost.
pub const DUP_THRESH: u32 = 3;

/// A segment on the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// True once it was selectively acknowledged.
    pub sacked: bool,
    /// True once it is taken for lost.
    pub lost: bool,
    /// True while a retransmission of it is taken to be in flight.
    pub retransmitted: bool,
    /// True if it was ever sent twice: its round-trip time is ambiguous (Karn).
    pub ambiguous: bool,
    /// When it was last sent.
    pub sent_at: Instant,
    /// The state of delivery when it was last sent.
    pub stamp: SendStamp,
}

impl SentSegment {
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    /// Copies of it that are in flight: RFC 6675's SetPipe counts one if it is not lost, and one if it was
    /// retransmitted.
    fn in_flight(&self) -> u32 {
        if self.sacked { 0 } else { u32::from(!self.lost) + u32::from(self.retransmitted) }
    }
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Segments newly delivered.
    pub segments: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Of them, the one that was sent last.
    pub newest: Option<SentSegment>,
    /// When the last of those was sent that are cumulatively acknowledged now.
    pub last: Option<Instant>,
}

impl Delivered {
    fn add(&mut self, segment: &SentSegment) {
        self.segments += 1;
        self.bytes += u64::from(segment.len);
        if self.newest.is_none_or(|newest| newest.sent_at <= segment.sent_at) {
            self.newest = Some(*segment);
        }
    }
}

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    segments: VecDeque<SentSegment>,
    /// Index of the front; indices count segments from the start of the connection.
    first: u64,
    sacked_ranges: RangeSet,
    /// Segments in flight: RFC 6675's pipe.
    pipe: u32,
    /// Below this index every segment was found lost or delivered.
    lost_edge: u64,
    /// Selectively acknowledged segments at or above `lost_edge`.
    sacked_above_edge: u32,
    /// One above the highest selectively acknowledged index.
    sacked_end: u64,
    /// One above the highest index that was retransmitted in this recovery: RFC 6675's HighRxt.
    retransmit_next: u64,
}

impl Scoreboard {
    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Of the segments not cumulatively acknowledged, how many are `(sacked, lost, retransmitted)`; for reports,
    /// as it counts them.
    pub fn counts(&self) -> (u32, u32, u32) {
        self.segments.iter().fold((0, 0, 0), |(sacked, lost, retransmitted), segment| {
            let open = !segment.sacked;
            (
                sacked + u32::from(segment.sacked),
                lost + u32::from(open && segment.lost),
                retransmitted + u32::from(open && segment.retransmitted),
            )
        })
    }

    /// Segments in flight: RFC 6675's pipe.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.pipe
    }

    /// The first segment that is not acknowledged.
    pub fn front(&self) -> Option<&SentSegment> {
        self.segments.front()
    }

    /// What the next ACK looks at first will be needed soon.
    #[inline]
    pub fn prefetch(&self) {
        self.segments.iter().take(4).for_each(prefetch);
        self.sacked_ranges.prefetch();
    }

    /// Adds a segment that was sent for the first time, behind all others.
    #[inline]
    pub fn push(&mut self, seq: u64, len: u32, sent_at: Instant, stamp: SendStamp) {
        self.segments.push_back(SentSegment {
            seq,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            ambiguous: false,
            sent_at,
            stamp,
        });
        self.pipe += 1;
    }

    /// Everything below `ack` was received.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64, delivered: &mut Delivered) {
        while let Some(segment) = self.segments.front_mut() {
            if segment.end() > ack {
                if segment.seq < ack {
                    segment.len -= (ack - segment.seq) as u32;
                    segment.seq = ack;
                }
                break;
            }
            self.pipe -= segment.in_flight();
            delivered.last = Some(segment.sent_at);
            if segment.sacked {
                self.sacked_above_edge -= u32::from(self.first >= self.lost_edge);
            } else {
                delivered.add(segment);
            }
            self.segments.pop_front();
            self.first += 1;
        }
        self.lost_edge = self.lost_edge.max(self.first);
        self.sacked_end = self.sacked_end.max(self.first);
        self.retransmit_next = self.retransmit_next.max(self.first);
        if !self.sacked_ranges.is_empty() {
            self.sacked_ranges.remove_below(ack);
        }
    }

    /// The receiver holds these blocks. Blocks beyond what was sent are ignored.
    pub fn acknowledge_selectively(&mut self, ack: u64, blocks: &SackBlocks, delivered: &mut Delivered) {
        let (Some(front), Some(back)) = (self.segments.front(), self.segments.back()) else { return };
        let (low, high) = (front.seq, back.end());
        let mut ranges = std::mem::take(&mut self.sacked_ranges);
        for (start, end) in blocks.iter(ack).filter(|(_, end)| *end <= high) {
            ranges.insert(start.max(low), end, |from, to, whole| self.mark_sacked(from, to, whole, delivered));
        }
        self.sacked_ranges = ranges;
    }

    /// Takes every segment for lost that has three selectively acknowledged ones above it; returns how many.
    #[inline]
    pub fn find_losses(&mut self) -> u32 {
        let mut found = 0;
        while self.lost_edge < self.sacked_end {
            let segment = &mut self.segments[(self.lost_edge - self.first) as usize];
            if segment.sacked {
                self.sacked_above_edge -= 1;
            } else if self.sacked_above_edge >= DUP_THRESH {
                self.pipe -= u32::from(!segment.lost);
                found += u32::from(!segment.lost);
                segment.lost = true;
            } else {
                break;
            }
            self.lost_edge += 1;
        }
        found
    }

    /// True if the first segment is taken for lost.
    pub fn front_is_lost(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.lost)
    }

    /// Takes the first segment for lost, whatever was selectively acknowledged; returns how many that finds.
    pub fn lose_front(&mut self) -> u32 {
        let Some(segment) = self.segments.front_mut().filter(|segment| !segment.lost && !segment.sacked) else {
            return 0;
        };
        segment.lost = true;
        self.pipe -= 1;
        self.lost_edge = self.lost_edge.max(self.first + 1);
        1
    }

    /// Takes everything that was not selectively acknowledged for lost, retransmissions too; returns how many
    /// that finds.
    pub fn lose_all(&mut self) -> u32 {
        let mut found = 0;
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            found += u32::from(!segment.lost);
            segment.lost = true;
            segment.retransmitted = false;
        }
        self.pipe = 0;
        self.lost_edge = self.first + self.segments.len() as u64;
        self.sacked_above_edge = 0;
        self.retransmit_next = self.first;
        found
    }

    /// Forgets what was selectively acknowledged and not cumulatively.
    pub fn forget_sacks(&mut self) {
        if self.sacked_ranges.is_empty() {
            return;
        }
        for segment in self.segments.iter_mut().filter(|segment| segment.sacked) {
            segment.sacked = false;
            self.pipe += segment.in_flight();
        }
        self.sacked_ranges = RangeSet::default();
        self.sacked_above_edge = 0;
        self.sacked_end = self.first;
    }

    /// Recovery begins: nothing counts as retransmitted in it yet.
    pub fn begin_recovery(&mut self) {
        self.retransmit_next = self.first;
    }

    /// RFC 6675 §4, NextSeg rule 1: the next segment that is lost and was not retransmitted.
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        while self.retransmit_next < self.lost_edge {
            let segment = &self.segments[(self.retransmit_next - self.first) as usize];
            if segment.lost && !segment.sacked {
                return Some(self.retransmit_next);
            }
            self.retransmit_next += 1;
        }
        None
    }

    /// NextSeg rule 3: the next segment below the highest selectively acknowledged one that may be lost.
    pub fn next_suspect(&self) -> Option<u64> {
        (self.retransmit_next.max(self.lost_edge)..self.sacked_end)
            .find(|index| !self.segments[(index - self.first) as usize].sacked)
    }

    /// The next segment below the highest selectively acknowledged one that is missing and was not retransmitted,
    /// however few lie above it.
    pub fn next_hole(&self) -> Option<u64> {
        (self.retransmit_next..self.sacked_end).find(|index| !self.segments[(index - self.first) as usize].sacked)
    }

    /// The first segment from `index` on that was not selectively acknowledged.
    pub fn next_unsacked(&self, index: u64) -> Option<u64> {
        let position = index.saturating_sub(self.first) as usize;
        let missing = self.segments.iter().skip(position).position(|segment| !segment.sacked)?;
        Some(self.first + (position + missing) as u64)
    }

    /// NextSeg rule 4: the highest segment that was not selectively acknowledged.
    pub fn last_unsacked(&self) -> Option<u64> {
        let position = self.segments.iter().rposition(|segment| !segment.sacked)?;
        Some(self.first + position as u64)
    }

    /// Payload bytes of the segment at `index`.
    pub fn len_of(&self, index: u64) -> u32 {
        self.segments[(index - self.first) as usize].len
    }

    /// Index of the first segment.
    pub fn front_index(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    /// Index of the segment that is sent for the first time next.
    pub fn end_index(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Notes that the segment at `index` is sent again; `advance` moves HighRxt behind it.
    pub fn retransmit(&mut self, index: u64, advance: bool, sent_at: Instant, stamp: SendStamp) -> SentSegment {
        let segment = &mut self.segments[(index - self.first) as usize];
        self.pipe += u32::from(!segment.retransmitted);
        segment.retransmitted = true;
        segment.ambiguous = true;
        segment.sent_at = sent_at;
        segment.stamp = stamp;
        if advance {
            self.retransmit_next = self.retransmit_next.max(index + 1);
        }
        *segment
    }

    /// The bytes `from .. to` are newly covered, as is all of the range `whole`: the segments that they complete are
    /// delivered.
    fn mark_sacked(&mut self, from: u64, to: u64, whole: (u64, u64), delivered: &mut Delivered) {
        let mut position = self.position_of(from);
        while let Some(segment) = self.segments.get_mut(position).filter(|segment| segment.seq < to) {
            if !segment.sacked && whole.0 <= segment.seq && segment.end() <= whole.1 {
                self.pipe -= segment.in_flight();
                segment.sacked = true;
                delivered.add(segment);
                let index = self.first + position as u64;
                self.sacked_above_edge += u32::from(index >= self.lost_edge);
                self.sacked_end = self.sacked_end.max(index + 1);
            }
            position += 1;
        }
    }

    /// The position of the segment that holds byte `seq`: a guess that is right while all segments are full.
    fn position_of(&self, seq: u64) -> usize {
        let Some(front) = self.segments.front() else { return 0 };
        let guess = (seq.saturating_sub(front.seq) / u64::from(front.len.max(1))) as usize;
        if self.segments.get(guess).is_some_and(|segment| segment.seq == seq) {
            return guess;
        }
        self.segments.partition_point(|segment| segment.end() <= seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEN: u32 = 100;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for number in 0..segments {
            board.push(number * u64::from(LEN), LEN, Instant::from_nanos(number), SendStamp::default());
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
            board.retransmit(index, true, Instant::ZERO, SendStamp::default());
            sent.push(index);
        }
        assert_eq!((sent, board.pipe()), (vec![0, 2], 6));
        assert_eq!(board.counts(), (4, 2, 2));
        // The first retransmission arrives: 0 and 1 are through, 2 is what is left of the holes.
        let mut delivered = Delivered::default();
        board.acknowledge(200, &mut delivered);
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
            board.retransmit(index, true, Instant::ZERO, SendStamp::default());
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
                board.push(seq, len, Instant::ZERO, SendStamp::default());
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
            let mut delivered = Delivered::default();
            board.acknowledge(300, &mut delivered);
            delivered.newest.map(|segment| segment.seq)
        };
        assert_eq!(newest(&mut board(4)), Some(200));
        let mut resent = board(4);
        resent.retransmit(1, true, Instant::from_nanos(9), SendStamp::default());
        assert_eq!(newest(&mut resent), Some(100));
    }

    #[test]
    fn what_is_missing_is_found_from_where_one_looks() {
        let mut board = board(8);
        board.acknowledge(200, &mut Delivered::default());
        sack(&mut board, 2, &[(3, 4), (5, 6)]);
        // Below the highest block, each hole once.
        for hole in [2, 4] {
            assert_eq!(board.next_hole(), Some(hole));
            board.retransmit(hole, true, Instant::ZERO, SendStamp::default());
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
        board.acknowledge(150, &mut Delivered::default());
        let front = board.front().unwrap();
        assert_eq!((front.seq, front.len, board.pipe()), (150, 50, 1));
    }

    proptest! {
        /// The pipe that is kept up to date is the one that RFC 6675's SetPipe would count.
        #[test]
        fn the_pipe_is_the_one_that_counting_gives(operations in prop::collection::vec((0u8..5, 0u64..30, 1u64..6), 1..80)) {
            let (mut board, mut next, mut una) = (Scoreboard::default(), 0u64, 0u64);
            for (operation, at, len) in operations {
                match operation {
                    0 => for _ in 0..len {
                        board.push(next * 100, LEN, Instant::ZERO, SendStamp::default());
                        next += 1;
                    },
                    1 => {
                        una = (una + len).min(next);
                        board.acknowledge(una * 100, &mut Delivered::default());
                    }
                    2 => {
                        let start = (una + 1 + at).min(next);
                        sack(&mut board, una, &[(start, (start + len).min(next))]);
                    }
                    3 => {
                        if let Some(index) = board.next_lost().or_else(|| board.next_suspect()) {
                            board.retransmit(index, true, Instant::ZERO, SendStamp::default());
                        }
                    }
                    _ => {
                        board.lose_all();
                    }
                }
                let counted: u32 = board.segments.iter().map(SentSegment::in_flight).sum();
                prop_assert_eq!(board.pipe(), counted);
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
}
