//! The receiver: reassembly, delayed ACKs (RFC 5681 §4.2), SACK and D-SACK blocks (RFC 2018, RFC 2883), echoes of
//! timestamps and marks (RFC 3168 §6.1.3, RFC 9768 §3.2).
//!
//! Deviations: it remembers the three blocks reported last, as Linux remembers four; of more than three, those
//! forgotten are not reported again once the others have been filled (RFC 2018 §4 says SHOULD).

use std::iter;

use super::accecn::ReceivedMarks;
use super::ranges::RangeSet;
use super::segment::{AckSegment, DataSegment, EcnFeedback, MAX_SACK_BLOCKS, SackBlocks};
use super::transport::{DelayedAckFor, EcnMode, Transport};
use crate::units::{Duration, Instant};

/// One end of a connection that only receives.
#[derive(Clone, Debug)]
pub struct Receiver {
    delayed_ack: Option<Duration>,
    delayed_ack_for: DelayedAckFor,
    quick_acks: QuickAcks,
    sack: bool,
    dsack: bool,
    /// The next byte expected.
    next: u64,
    /// Data received above it.
    out_of_order: RangeSet,
    /// The ranges that grew last, the most recent first; those below what is expected are gone.
    recent: [(u64, u64); MAX_SACK_BLOCKS],
    /// Segments received and not acknowledged.
    unacknowledged: u32,
    ack_deadline: Option<Instant>,
    last_ack_sent: u64,
    ts_recent: Instant,
    ecn: EcnMode,
    ce_count: u32,
    /// Marks are echoed until the sender has reacted.
    echoes: bool,
    /// A packet that no ACK has covered yet was marked.
    ce_unacknowledged: bool,
    /// The counters of AccECN.
    received: ReceivedMarks,
    /// SACK blocks for which an ACK has room.
    most_blocks: u8,
    /// What came twice with the last segment, until an ACK reports it.
    duplicate: Option<(u64, u64)>,
    /// The peer's SYN and FIN, in a box, as hardly any connection has it.
    peer: Option<Box<Peer>>,
}

/// What the other end opens and ends the connection with.
#[derive(Clone, Debug)]
struct Peer {
    /// Something came after its SYN.
    is_open: bool,
    /// When the answer to the SYN is sent again.
    again_at: Option<Instant>,
    /// How long it waits next.
    rto: Duration,
    /// What precedes its FIN.
    fin: Option<u64>,
}

/// ACKs that are not delayed, as Linux's quick ACKs.
#[derive(Clone, Copy, Debug)]
struct QuickAcks {
    most: u32,
    left: u32,
    /// A pause as long as this begins them anew.
    pause: Duration,
    last_at: Instant,
}

impl QuickAcks {
    /// A segment arrives, in order or not; true if its ACK is not delayed.
    fn take(&mut self, now: Instant, in_order: bool) -> bool {
        if !in_order || now.since(self.last_at) > self.pause {
            self.left = self.most;
        }
        self.last_at = now;
        let is_quick = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_quick
    }
}

impl Receiver {
    /// A receiver that expects byte 0.
    pub fn new(transport: &Transport) -> Self {
        Receiver {
            delayed_ack: transport.delayed_ack,
            delayed_ack_for: transport.variations.delayed_ack_for,
            quick_acks: QuickAcks {
                most: transport.quick_acks,
                left: transport.quick_acks,
                pause: transport.min_rto,
                last_at: Instant::ZERO,
            },
            sack: transport.peer_sack,
            dsack: transport.peer_sack && transport.dsack,
            next: 0,
            out_of_order: RangeSet::default(),
            recent: [(0, 0); MAX_SACK_BLOCKS],
            unacknowledged: 0,
            ack_deadline: None,
            last_ack_sent: 0,
            ts_recent: Instant::ZERO,
            ecn: transport.ecn,
            ce_count: 0,
            echoes: false,
            ce_unacknowledged: false,
            received: ReceivedMarks::default(),
            // RFC 9768 §3.2.3.3: congestion control goes before "other TCP options when there is insufficient space",
            // but for two SACK blocks; of 40 bytes these take 20, timestamps 12 and the counters 8.
            most_blocks: if transport.timestamps && transport.ecn == EcnMode::AccEcn {
                2
            } else {
                MAX_SACK_BLOCKS as u8
            },
            duplicate: None,
            peer: transport
                .handshake
                .then(|| Box::new(Peer { is_open: false, again_at: None, rto: transport.initial_rto, fin: None })),
        }
    }

    /// Data will come soon; the receiver itself is near.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.out_of_order.prefetch();
    }

    /// Bytes received in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// From now on an ACK is delayed by at most `delay`, or not at all.
    pub fn set_delayed_ack(&mut self, delay: Option<Duration>) {
        self.delayed_ack = delay;
    }

    /// A segment arrives; the ACK to send at once, if one is due.
    #[inline]
    pub fn on_data(&mut self, now: Instant, segment: &DataSegment, ce: bool) -> Option<AckSegment> {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        if let Some(peer) = &mut self.peer
            && !segment.ecn.syn()
        {
            (peer.is_open, peer.again_at) = (true, None);
        }
        if segment.len == 0 {
            return self.on_control(now, segment);
        }
        if self.dsack {
            self.note_duplicate(start, end);
        }
        let mark_is_news = self.ecn != EcnMode::Off && self.note_ecn(segment, ce);
        // RFC 7323 §4.3: "If: SEG.TSval >= TS.Recent and SEG.SEQ <= Last.ACK.sent, then SEG.TSval is copied to
        // TS.Recent": the echo comes from the segment that advances the left edge, and never goes back.
        if start <= self.last_ack_sent && segment.sent_at >= self.ts_recent {
            self.ts_recent = segment.sent_at;
        }
        let in_order = start <= self.next && end > self.next && self.out_of_order.is_empty();
        let may_delay = in_order || self.delays_out_of_order(start, end);
        if in_order {
            self.next = end;
        } else {
            self.reassemble(start, end);
        }
        let is_quick = self.quick_acks.most > 0 && self.quick_acks.take(now, in_order);
        // RFC 5681 §4.2: out-of-order segments, and those that fill a gap, are acknowledged at once.
        if may_delay {
            self.unacknowledged += 1;
            if let Some(delay) = self.delayed_ack
                && self.unacknowledged < 2
                && !mark_is_news
                && !is_quick
            {
                self.ack_deadline = Some(now + delay);
                return None;
            }
        }
        Some(self.acknowledge())
    }

    /// A segment without payload arrives: SYN, FIN or an ACK; the answer, if there is one.
    #[cold]
    fn on_control(&mut self, now: Instant, segment: &DataSegment) -> Option<AckSegment> {
        let peer = self.peer.as_mut()?;
        if segment.ecn.syn() {
            if peer.is_open {
                return Some(self.acknowledge());
            }
            self.ts_recent = self.ts_recent.max(segment.sent_at);
            return Some(self.answer_syn(now));
        }
        if segment.ecn.fin() {
            peer.fin = Some(segment.seq);
            return Some(self.acknowledge());
        }
        None
    }

    /// The answer to a SYN, which is sent again until something follows it (RFC 6298 §5).
    fn answer_syn(&mut self, now: Instant) -> AckSegment {
        if let Some(peer) = &mut self.peer {
            peer.again_at = Some(now + peer.rto);
            peer.rto = peer.rto * 2;
        }
        AckSegment { ecn: EcnFeedback::SynAck, ..self.acknowledge() }
    }

    /// Data packets that came with a mark.
    pub fn ce_count(&self) -> u32 {
        self.ce_count
    }

    /// True for a segment out of order whose ACK is delayed all the same.
    #[cold]
    fn delays_out_of_order(&self, start: u64, end: u64) -> bool {
        let repeats = end == self.next && self.out_of_order.is_empty();
        let fills = start <= self.next && end > self.next && self.out_of_order.containing(end).is_none();
        match self.delayed_ack_for {
            DelayedAckFor::NewData => false,
            DelayedAckFor::LastSegment => repeats,
            DelayedAckFor::Gaps => repeats || fills || end == self.next,
        }
    }

    /// When a delayed ACK is due.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        match &self.peer {
            None => self.ack_deadline,
            Some(peer) => [self.ack_deadline, peer.again_at].into_iter().flatten().min(),
        }
    }

    /// The delayed ACK, if it is due by `now`.
    pub fn on_deadline(&mut self, now: Instant) -> Option<AckSegment> {
        if self.peer.as_ref().and_then(|peer| peer.again_at).is_some_and(|at| at <= now) {
            return Some(self.answer_syn(now));
        }
        if self.ack_deadline.is_none_or(|deadline| deadline > now) {
            return None;
        }
        Some(self.acknowledge())
    }

    /// A segment arrives; returns true if it is marked and has to be acknowledged at once.
    fn note_ecn(&mut self, segment: &DataSegment, ce: bool) -> bool {
        if segment.ecn.cwr() {
            self.echoes = false;
        }
        // RFC 3168 §6.1.5: "the TCP data receiver SHOULD ignore the ECN field on arriving data packets that are
        // outside of the receiver's current window."
        if segment.seq + u64::from(segment.len) <= self.next {
            return false;
        }
        if ce {
            self.ce_count += 1;
            self.echoes = true;
            self.ce_unacknowledged = true;
        }
        self.ecn == EcnMode::AccEcn && self.received.note(segment, ce)
    }

    fn reassemble(&mut self, start: u64, end: u64) {
        if end <= self.next {
            return;
        }
        if start > self.next {
            let range = self.out_of_order.insert(start, end, |_, _, _| {});
            self.note_recent(range);
            return;
        }
        self.next = end;
        if let Some((_, filled)) = self.out_of_order.containing(end) {
            self.next = filled;
        }
        self.out_of_order.remove_below(self.next);
    }

    /// RFC 2018 §4: "The first SACK block MUST specify the contiguous block of data containing the segment
    /// which triggered this ACK"; the others repeat the blocks reported most recently.
    fn note_recent(&mut self, range: (u64, u64)) {
        let is_part = |other: &(u64, u64)| range.0 <= other.0 && other.1 <= range.1;
        let blocks = iter::once(range).chain(self.blocks().filter(|other| !is_part(other)));
        let mut kept = [(0, 0); MAX_SACK_BLOCKS];
        kept.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        self.recent = kept;
    }

    /// RFC 2883 §4, rule (1): "A D-SACK block is only used to report a duplicate contiguous sequence of data received by
    /// the receiver in the most recent packet"; §4.2: of several "only the first such duplicate sub-segment is reported".
    #[cold]
    fn note_duplicate(&mut self, start: u64, end: u64) {
        self.duplicate = if start < self.next {
            Some((start, end.min(self.next)))
        } else {
            self.out_of_order.first_overlap(start, end)
        };
    }

    /// The ranges that an ACK may report, the most recent first.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.recent.into_iter().filter(|range| range.1 > self.next)
    }

    /// The acknowledgement to send now, also with data of the other direction; nothing is delayed any more.
    #[inline]
    pub fn acknowledge(&mut self) -> AckSegment {
        self.unacknowledged = 0;
        self.ack_deadline = None;
        self.last_ack_sent = self.next;
        let may_report = self.sack && (!self.out_of_order.is_empty() || self.dsack);
        let sack = if may_report { self.sack_blocks() } else { SackBlocks::default() };
        let ecn = self.feedback();
        self.ce_unacknowledged = false;
        // FIN counts as a byte.
        let ends = self.peer.as_ref().and_then(|peer| peer.fin).is_some_and(|fin| fin <= self.next);
        AckSegment { ack: self.next + u64::from(ends), sack, echo: self.ts_recent, ecn }
    }

    /// The marks that an ACK reports.
    #[inline]
    fn feedback(&self) -> EcnFeedback {
        match self.ecn {
            EcnMode::Off | EcnMode::Counts => EcnFeedback::None,
            // RFC 3168 §6.1.3: "that TCP receiver continues to set the ECN-Echo flag in all the ACK packets it sends
            // ... until it receives a CWR packet"; and of delayed ones, "if any of the received data packets are CE
            // packets, then the returning ACK has the ECN-Echo flag set."
            EcnMode::Classic => EcnFeedback::Classic { ece: self.echoes || self.ce_unacknowledged },
            EcnMode::AccEcn => self.received.feedback(),
        }
    }

    #[cold]
    fn sack_blocks(&mut self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        // RFC 2883 §4, rule (4): the block after it is the one that holds it, which has just been reported on.
        let blocks = self.duplicate.take().into_iter().chain(self.blocks());
        blocks.take(self.most_blocks.into()).for_each(|(start, end)| sack.push(self.next, start, end));
        sack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::segment::DataEcn;

    fn receiver(change: impl FnOnce(&mut Transport)) -> Receiver {
        let mut transport = Transport::default();
        change(&mut transport);
        Receiver::new(&transport)
    }

    fn data(number: u64) -> DataSegment {
        DataSegment {
            seq: number * 100,
            len: 100,
            sent_at: Instant::from_nanos(number),
            ecn: DataEcn::new(true, false),
        }
    }

    /// Acknowledgement and SACK blocks in segments of 100 bytes.
    fn answer(receiver: &mut Receiver, number: u64) -> (u64, Vec<(u64, u64)>) {
        let ack = receiver.on_data(Instant::ZERO, &data(number), false).expect("an ACK at once");
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
    fn the_first_acks_are_quick_and_those_after_a_gap_or_a_pause() {
        let mut it = receiver(|transport| {
            (transport.delayed_ack, transport.quick_acks) = (Some(Duration::from_millis(40)), 2);
        });
        let mut at_once = |number, millis| {
            let now = Instant::ZERO + Duration::from_millis(millis);
            it.on_data(now, &data(number), false).is_some()
        };
        assert!(at_once(0, 1) && at_once(1, 2));
        assert!(!at_once(2, 3));
        // A segment out of order, the one that fills the gap and one more; then every second one.
        assert!(at_once(4, 100) && at_once(3, 101) && at_once(5, 102));
        assert!(!at_once(6, 103) && at_once(7, 104) && !at_once(8, 105));
        // The pause is longer than 200 ms.
        assert!(at_once(9, 306) && at_once(10, 307) && !at_once(11, 308));
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
            let ack = it.on_data(Instant::ZERO, &segment, false).expect("an ACK at once");
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
        assert_eq!(receiver.on_data(start, &data(0), false), None);
        assert_eq!(answer(&mut receiver, 1), (2, vec![]));
        assert_eq!(receiver.next_deadline(), None);
        assert_eq!(receiver.on_data(start, &data(2), false), None);
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
                transport.variations.delayed_ack_for = delayed_ack_for;
            });
            let mut arrives = |number: &u64| receiver.on_data(Instant::ZERO, &data(*number), false).is_some();
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
    fn the_echo_is_of_the_segment_that_moved_the_left_edge() {
        let mut receiver = receiver(|_| {});
        receiver.on_data(Instant::ZERO, &data(0), false);
        // Segment 1 is missing: the echo stays that of segment 0.
        let ack = receiver.on_data(Instant::ZERO, &data(2), false).unwrap();
        assert_eq!(ack.echo, Instant::from_nanos(0));
        let ack = receiver.on_data(Instant::ZERO, &data(1), false).unwrap();
        assert_eq!(ack.echo, Instant::from_nanos(1));
        // An old copy comes late: the echo does not go back.
        let ack = receiver.on_data(Instant::ZERO, &data(0), false).unwrap();
        assert_eq!(ack.echo, Instant::from_nanos(1));
    }
}
