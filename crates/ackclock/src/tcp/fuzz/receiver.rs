//! Reassembly against a plain array of bytes.

use super::Input;
use crate::ecn::Ecn;
use crate::tcp::{AckSegment, DataEcn, DataSegment, EcnFeedback, MAX_SACK_BLOCKS, Receiver};
use crate::transport::{EcnMode, Transport};
use crate::units::{Duration, Instant};

/// Feeds a receiver with segments in any order, overlapping and repeated, and checks every ACK. It must acknowledge
/// all bytes up to the first missing one, and report complete blocks above, the most recent first.
///
/// # Panics
/// If an ACK is wrong, or late.
pub fn fuzz_receiver(data: &[u8]) {
    let mut input = Input(data);
    let Some(options) = input.byte() else { return };
    let transport = Transport {
        delayed_ack: (options & 1 != 0).then(|| Duration::from_millis(40)),
        peer_sack: options & 2 == 0,
        ecn: [EcnMode::Classic, EcnMode::AccEcn, EcnMode::Off][usize::from(options / 4 % 3)],
        ..Transport::default()
    };
    let mut receiver = Receiver::new(&transport);
    let mut model = Model::default();
    let mut now = Instant::ZERO;
    while let (Some(start), Some(shape)) = (input.number(), input.number()) {
        now += Duration::from_millis(shape % 16);
        if let Some(ack) = receiver.on_deadline(now) {
            assert!(model.deadline.is_some_and(|deadline| deadline <= now), "a delayed ACK before its time");
            model.check(&ack, &transport, None);
        }
        assert!(model.deadline.is_none_or(|deadline| deadline > now), "a delayed ACK after its time");
        let (ce, cwr) = (start % 16 == 15, start % 16 == 14);
        let segment =
            DataSegment { seq: start, len: 1 + (shape / 16) as u32, sent_at: now, ecn: DataEcn::new(true, cwr) };
        let at_once = model.receive(&segment, ce, &transport, now);
        match receiver.on_data(now, &segment, if ce { Ecn::Ce } else { Ecn::Ect0 }) {
            Some(ack) => model.check(&ack, &transport, Some(&segment)),
            None => assert!(!at_once, "an ACK was due at once"),
        }
        assert_eq!(receiver.next_deadline(), model.deadline);
        assert_eq!(receiver.delivered(), model.next());
    }
}

/// The arrived data, byte by byte.
#[derive(Debug)]
struct Model {
    received: [bool; 512],
    unacknowledged: u32,
    deadline: Option<Instant>,
    ce_count: u32,
    ce_bytes: u32,
    last_was_marked: bool,
    echoes: bool,
    ce_unacknowledged: bool,
    /// The latest segments, the most recent first.
    history: Vec<u64>,
    /// There have been more blocks at a time than the receiver remembers.
    forgetful: bool,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            received: [false; 512],
            unacknowledged: 0,
            deadline: None,
            ce_count: 0,
            ce_bytes: 0,
            last_was_marked: false,
            echoes: false,
            ce_unacknowledged: false,
            history: Vec::new(),
            forgetful: false,
        }
    }
}

impl Model {
    fn next(&self) -> u64 {
        self.received.iter().take_while(|received| **received).count() as u64
    }

    /// The block of bytes around `position`.
    fn block(&self, position: u64) -> (u64, u64) {
        let position = position as usize;
        let before = self.received[..position].iter().rev().take_while(|received| **received).count();
        let after = self.received[position..].iter().take_while(|received| **received).count();
        ((position - before) as u64, (position + after) as u64)
    }

    /// All blocks above the data in order.
    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks = Vec::new();
        let mut position = self.next();
        while (position as usize) < self.received.len() {
            let block = self.block(position);
            if self.received[position as usize] {
                blocks.push(block);
            }
            position = block.1 + 1;
        }
        blocks
    }

    /// Processes a segment. Returns true if it must be acknowledged at once (RFC 5681 §4.2).
    fn receive(&mut self, segment: &DataSegment, ce: bool, transport: &Transport, now: Instant) -> bool {
        let (next, holes) = (self.next(), !self.blocks().is_empty());
        let end = segment.seq + u64::from(segment.len);
        self.received[segment.seq as usize..end as usize].fill(true);
        let counts = end > next && transport.ecn != EcnMode::Off;
        let ce = ce && counts;
        self.ce_count += u32::from(ce);
        self.ce_bytes += if ce { segment.len } else { 0 };
        // RFC 9768 §3.2.2.5.1.
        let mark_is_news = ce && !self.last_was_marked && transport.ecn == EcnMode::AccEcn;
        if counts {
            self.last_was_marked = ce;
        }
        self.echoes = ce || self.echoes && !segment.ecn.cwr();
        self.ce_unacknowledged |= ce;
        self.history.insert(0, segment.seq);
        self.unacknowledged += 1;
        let in_order = segment.seq <= next && end > next && !holes;
        let at_once = !in_order || mark_is_news || self.unacknowledged >= 2;
        match transport.delayed_ack {
            Some(delay) if !at_once => self.deadline = Some(now + delay),
            _ => {}
        }
        at_once || transport.delayed_ack.is_none()
    }

    fn check(&mut self, ack: &AckSegment, transport: &Transport, trigger: Option<&DataSegment>) {
        (self.unacknowledged, self.deadline) = (0, None);
        assert_eq!(ack.ack, self.next());
        let echoes = std::mem::take(&mut self.ce_unacknowledged) || self.echoes;
        match (transport.ecn, ack.ecn.read()) {
            (EcnMode::Off, EcnFeedback::None) => {}
            (EcnMode::Classic, EcnFeedback::Classic { ece }) => assert_eq!(ece, echoes, "an echo of marks"),
            (EcnMode::AccEcn, EcnFeedback::AccEcn { ace, option: Some(option) }) => {
                assert_eq!((u32::from(ace), option.ceb()), ((5 + self.ce_count) % 8, self.ce_bytes), "marks");
            }
            (mode, feedback) => panic!("{feedback:?} under {mode:?}"),
        }
        let reported: Vec<_> = ack.sack.iter(ack.ack).collect();
        if !transport.peer_sack {
            assert!(reported.is_empty(), "blocks without SACK");
            return;
        }
        let blocks = self.blocks();
        self.forgetful = blocks.len() > MAX_SACK_BLOCKS || self.forgetful && !blocks.is_empty();
        assert!(reported.iter().all(|block| blocks.contains(block)), "{reported:?} of {blocks:?}");
        if let Some(segment) = trigger.filter(|segment| segment.seq > ack.ack) {
            assert_eq!(reported[0], self.block(segment.seq), "the first block holds the segment that came");
        }
        // RFC 2018 §4: the others repeat the most recent ones, each once.
        let mut recent: Vec<(u64, u64)> = Vec::new();
        for position in self.history.iter().filter(|position| **position > ack.ack) {
            let block = self.block(*position);
            if !recent.contains(&block) {
                recent.push(block);
            }
        }
        recent.truncate(if self.forgetful { reported.len() } else { MAX_SACK_BLOCKS });
        assert_eq!(reported, recent, "the most recent blocks come first");
    }
}
