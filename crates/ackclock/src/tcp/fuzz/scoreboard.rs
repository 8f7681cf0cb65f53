//! The scoreboard against counting.

use super::Input;
use crate::tcp::scoreboard::{DUP_THRESH, Delivered, Scoreboard};
use crate::tcp::segment::SackBlocks;
use crate::units::Instant;

/// Plays any possible acknowledgements, SACK blocks, losses and retransmissions on a scoreboard. After each it
/// computes the values that RFC 6675 defines: SetPipe, IsLost and NextSeg.
///
/// # Panics
/// If the scoreboard counts otherwise.
pub fn fuzz_scoreboard(data: &[u8]) {
    let mut input = Input(data);
    let mut board = Scoreboard::default();
    let mut model = Model::default();
    let mut now = Instant::ZERO;
    while let (Some(operation), Some(at)) = (input.byte(), input.number()) {
        now = Instant::from_nanos(now.as_nanos() + u64::from(operation / 128));
        match operation % 8 {
            0 | 1 => {
                let len = 1 + (at % 8) as u32;
                board.push(model.end(), len, now);
                model.push(len, now);
            }
            2 => {
                let ack = model.acknowledgeable((model.una + at % 16).min(model.end()));
                let delivered = board.acknowledge(ack);
                let (segments, bytes) = model.acknowledge(ack);
                assert_eq!((delivered.segments, delivered.bytes), (segments, bytes));
            }
            3 | 4 => {
                let start = model.una + 1 + at % 64;
                let end = start + 1 + at / 16;
                let mut blocks = SackBlocks::default();
                blocks.push(model.una, start, end);
                let mut delivered = Delivered::default();
                board.acknowledge_selectively(model.una, &blocks, &mut delivered);
                let (segments, bytes) = model.sack(start, end);
                assert_eq!((delivered.segments, delivered.bytes), (segments, bytes));
                assert_eq!(board.find_losses(), model.find_losses());
            }
            5 => match at % 8 {
                0 => assert_eq!(board.lose_all(), model.lose_all()),
                1 => assert_eq!(board.lose_front(), model.lose_front()),
                2 => {
                    board.begin_recovery();
                    model.high_rxt = model.first;
                }
                _ => {}
            },
            _ => {
                let rescue = operation % 8 == 7 && at % 8 == 0;
                assert_eq!(board.next_lost(), model.next_lost());
                assert_eq!(board.next_suspect(), model.next_suspect());
                assert_eq!(board.last_unsacked(), model.last_unsacked());
                let next = if rescue { model.last_unsacked() } else { model.next_lost().or(model.next_suspect()) };
                if let Some(index) = next {
                    let sent = board.retransmit(index, !rescue, now);
                    let segment = model.retransmit(index, !rescue, now);
                    assert_eq!((sent.seq, sent.len, sent.transmissions > 1), (segment.seq, segment.len, true));
                }
            }
        }
        assert_eq!(board.pipe(), model.pipe(), "SetPipe");
        assert_eq!(board.outstanding() as usize, model.segments.len());
        assert_eq!(board.front().map(|front| front.seq), model.segments.first().map(|front| front.seq));
        assert_eq!(board.front_index(), (!model.segments.is_empty()).then_some(model.first));
        assert_eq!(board.front_is_lost(), model.segments.first().is_some_and(|front| front.lost));
    }
}

/// Every segment that is outstanding, and nothing that is counted ahead.
#[derive(Debug, Default)]
struct Model {
    segments: Vec<Segment>,
    /// Number of the first segment.
    first: u64,
    una: u64,
    /// One above the highest segment retransmitted in this recovery.
    high_rxt: u64,
}

#[derive(Clone, Debug)]
struct Segment {
    seq: u64,
    len: u32,
    /// Bytes that a block covered.
    covered: Vec<bool>,
    sacked: bool,
    lost: bool,
    retransmitted: bool,
    sent_at: Instant,
}

impl Model {
    fn end(&self) -> u64 {
        self.segments.last().map_or(self.una, |last| last.seq + u64::from(last.len))
    }

    fn push(&mut self, len: u32, sent_at: Instant) {
        let covered = vec![false; len as usize];
        let seq = self.end();
        self.segments.push(Segment { seq, len, covered, sacked: false, lost: false, retransmitted: false, sent_at });
    }

    /// The first byte at or above `ack` that the receiver does not hold.
    fn acknowledgeable(&self, ack: u64) -> u64 {
        let held = |byte: &u64| {
            let segment = self.segments.iter().find(|segment| segment.seq + u64::from(segment.len) > *byte);
            segment.is_some_and(|segment| segment.covered[(byte - segment.seq) as usize])
        };
        (ack..).find(|byte| !held(byte)).unwrap_or(ack)
    }

    /// Segments and bytes that are newly delivered.
    fn acknowledge(&mut self, ack: u64) -> (u32, u64) {
        self.una = ack;
        let mut delivered = (0, 0);
        while let Some(front) = self.segments.first_mut().filter(|front| front.seq < ack) {
            let through = (ack - front.seq).min(u64::from(front.len)) as u32;
            if through < front.len {
                front.covered.drain(..through as usize);
                front.seq += u64::from(through);
                front.len -= through;
                break;
            }
            if !front.sacked {
                delivered = (delivered.0 + 1, delivered.1 + u64::from(front.len));
            }
            self.segments.remove(0);
            self.first += 1;
        }
        self.high_rxt = self.high_rxt.max(self.first);
        delivered
    }

    fn sack(&mut self, start: u64, end: u64) -> (u32, u64) {
        let mut delivered = (0, 0);
        if end > self.end() {
            return delivered;
        }
        for segment in &mut self.segments {
            for (offset, covered) in segment.covered.iter_mut().enumerate() {
                *covered |= (start..end).contains(&(segment.seq + offset as u64));
            }
            if !segment.sacked && segment.covered.iter().all(|covered| *covered) {
                segment.sacked = true;
                delivered = (delivered.0 + 1, delivered.1 + u64::from(segment.len));
            }
        }
        delivered
    }

    /// IsLost: so many selectively acknowledged segments above.
    fn find_losses(&mut self) -> u32 {
        let mut found = 0;
        for position in 0..self.segments.len() {
            let above = self.segments[position + 1..].iter().filter(|segment| segment.sacked).count();
            let segment = &mut self.segments[position];
            if !segment.sacked && !segment.lost && above >= DUP_THRESH as usize {
                segment.lost = true;
                found += 1;
            }
        }
        found
    }

    fn lose_front(&mut self) -> u32 {
        let Some(front) = self.segments.first_mut().filter(|front| !front.lost && !front.sacked) else { return 0 };
        front.lost = true;
        1
    }

    fn lose_all(&mut self) -> u32 {
        let mut found = 0;
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            found += u32::from(!segment.lost);
            (segment.lost, segment.retransmitted) = (true, false);
        }
        self.high_rxt = self.first;
        found
    }

    /// SetPipe.
    fn pipe(&self) -> u32 {
        let copies = |segment: &Segment| u32::from(!segment.lost) + u32::from(segment.retransmitted);
        self.segments.iter().filter(|segment| !segment.sacked).map(copies).sum()
    }

    /// The first segment at or above HighRxt that has not been selectively acknowledged and is as `wanted`.
    fn next(&self, wanted: impl Fn(usize, &Segment) -> bool) -> Option<u64> {
        let from = (self.high_rxt - self.first) as usize;
        let mut candidates = self.segments.iter().enumerate().skip(from).filter(|(_, segment)| !segment.sacked);
        candidates
            .find(|(position, segment)| wanted(*position, segment))
            .map(|(position, _)| self.first + position as u64)
    }

    /// NextSeg, rule 1.
    fn next_lost(&self) -> Option<u64> {
        self.next(|_, segment| segment.lost)
    }

    /// NextSeg, rule 3.
    fn next_suspect(&self) -> Option<u64> {
        let highest = self.segments.iter().rposition(|segment| segment.sacked)?;
        self.next(|position, segment| !segment.lost && position < highest)
    }

    /// NextSeg, rule 4.
    fn last_unsacked(&self) -> Option<u64> {
        self.segments.iter().rposition(|segment| !segment.sacked).map(|position| self.first + position as u64)
    }

    fn retransmit(&mut self, index: u64, advance: bool, sent_at: Instant) -> Segment {
        let segment = &mut self.segments[(index - self.first) as usize];
        (segment.retransmitted, segment.sent_at) = (true, sent_at);
        if advance {
            self.high_rxt = self.high_rxt.max(index + 1);
        }
        segment.clone()
    }
}
