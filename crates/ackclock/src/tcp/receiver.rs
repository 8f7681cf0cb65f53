//! The receiver: reassembly, delayed ACKs (RFC 5681 §4.2), SACK and D-SACK blocks (RFC 2018, RFC 2883), and echoes.
//! Echoes of timestamps and marks follow RFC 3168 §6.1.3, RFC 8257 §3.2 and RFC 9768 §3.2.
//!
//! Deviations: it remembers the three blocks reported last, while Linux remembers four. Further blocks are not
//! reported again once the others have been filled (RFC 2018 §4 says SHOULD).

use std::iter;

use super::accecn::ReceivedMarks;
use super::buffer::Buffer;
use super::segment::{AckSegment, DataSegment, EcnFeedback, MAX_SACK_BLOCKS, SackBlocks};
use crate::ecn::Ecn;
use crate::transport::{DelayedAckFor, EcnMode, RangeSet, Transport, expiry};
use crate::units::{Duration, Instant};
use compression::Compression;
use window_growth::WindowGrowth;
pub use window_growth::{FIRST_RECEIVE_MEMORY, MOST_RECEIVE_MEMORY};

mod compression;
mod window_growth;

/// A tick of the clock for timestamps, as in Linux.
const TIMESTAMP_TICK: Duration = Duration::from_millis(1);

/// Blocks that Linux expects an ACK to report (`TCP_SACK_BLOCKS_EXPECTED`). It allows for the loss of ACKs.
const SACK_BLOCKS_EXPECTED: usize = 2;

/// One end of a connection that only receives.
#[derive(Clone, Debug)]
pub struct Receiver {
    delayed_ack: Option<Duration>,
    delayed_ack_for: DelayedAckFor,
    quick_acks: QuickAcks,
    /// Data with PSH are acknowledged once the application has read everything.
    push_acks: bool,
    /// Such data wait for the application.
    is_pushed: bool,
    /// The application reads data as they arrive.
    reads_at_once: bool,
    /// ACKs while data is missing are sent less often. This and the growth are boxed, because few profiles use them.
    compression: Option<Box<Compression>>,
    growth: Option<Box<WindowGrowth>>,
    sack: bool,
    dsack: bool,
    /// The next byte expected.
    next: u64,
    /// Data received above it.
    out_of_order: RangeSet,
    /// The ranges that grew last, the most recent first. Ranges below the expected data are removed.
    recent: [(u64, u64); MAX_SACK_BLOCKS],
    /// Segments received and not acknowledged.
    unacknowledged: u32,
    ack_deadline: Option<Instant>,
    timer_tick: Duration,
    last_ack_sent: u64,
    ts_recent: Instant,
    /// Segments with an old timestamp are discarded.
    paws: bool,
    ecn: EcnMode,
    ce_count: u32,
    /// Marks are echoed until the sender has reacted.
    echoes: bool,
    /// Data have come with ECT.
    has_seen_ect: bool,
    /// A packet that no ACK has covered yet was marked.
    ce_unacknowledged: bool,
    /// The counters of AccECN.
    received: ReceivedMarks,
    /// SACK blocks for which an ACK has room.
    most_blocks: u8,
    /// The duplicate data of the last segment, until an ACK reports them.
    duplicate: Option<(u64, u64)>,
    /// The peer's SYN and FIN, in a box, as hardly any connection has it.
    peer: Option<Box<Peer>>,
    /// Data that the application has not read yet. They are boxed, because few connections have a buffer.
    buffer: Option<Box<Buffer>>,
}

/// The segments with which the other end opens and closes the connection.
#[derive(Clone, Debug)]
struct Peer {
    /// Something came after its SYN.
    is_open: bool,
    /// When the answer to the SYN is sent again.
    again_at: Option<Instant>,
    /// How long it waits next.
    rto: Duration,
    /// The bytes before its FIN.
    fin: Option<u64>,
}

/// ACKs that are not delayed, as Linux's quick ACKs.
#[derive(Clone, Copy, Debug)]
struct QuickAcks {
    most: u32,
    left: u32,
    /// A pause of at least this length restarts them.
    pause: Duration,
    last_at: Instant,
}

impl QuickAcks {
    /// A segment arrives, and it is a duplicate or not. The receive window grows or not. Returns true if its ACK is not
    /// delayed.
    fn take(&mut self, now: Instant, is_duplicate: bool, grows: bool) -> bool {
        if is_duplicate || now.since(self.last_at) > self.pause {
            self.left = self.most;
        }
        // Linux sets the lowest bit of the counter.
        self.left |= u32::from(grows);
        self.last_at = now;
        let is_quick = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_quick
    }

    /// The next two are not delayed, as after Linux's `tcp_enter_quickack_mode(sk, 2)`.
    fn hurry(&mut self) {
        self.left = self.left.max(self.most.min(2));
    }
}

impl Receiver {
    /// A receiver that expects byte 0.
    pub fn new(transport: &Transport) -> Self {
        Receiver {
            delayed_ack: transport.delayed_ack,
            delayed_ack_for: transport.delayed_ack_for,
            quick_acks: QuickAcks {
                most: transport.quick_acks,
                left: transport.quick_acks,
                pause: transport.min_rto,
                last_at: Instant::ZERO,
            },
            push_acks: transport.push_acks,
            is_pushed: false,
            reads_at_once: transport.receive_buffer.is_none(),
            compression: None,
            growth: None,
            sack: transport.peer_sack,
            dsack: transport.peer_sack && transport.dsack,
            next: 0,
            out_of_order: RangeSet::default(),
            recent: [(0, 0); MAX_SACK_BLOCKS],
            unacknowledged: 0,
            ack_deadline: None,
            timer_tick: transport.timer_tick,
            last_ack_sent: 0,
            ts_recent: Instant::ZERO,
            paws: transport.paws && transport.timestamps,
            ecn: transport.ecn,
            ce_count: 0,
            echoes: false,
            has_seen_ect: false,
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
            buffer: Buffer::new(transport).map(Box::new),
        }
    }

    /// The receiver of a path with this propagation delay in both directions.
    pub fn on_path(transport: &Transport, base_rtt: Duration) -> Self {
        // Without quick ACKs, and with a fixed buffer, the growth has no effect.
        let grows = transport.window_growth_acks && transport.quick_acks > 0 && transport.receive_buffer.is_none();
        let growth = grows.then(|| Box::new(WindowGrowth::new(transport, base_rtt)));
        let compresses = transport.sack_compression && transport.peer_sack && transport.delayed_ack.is_some();
        let compression = compresses.then(|| Box::new(Compression::new(transport.mss, base_rtt)));
        Receiver { growth, compression, ..Self::new(transport) }
    }

    /// Data will arrive soon. The receiver itself is already in the cache.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.out_of_order.prefetch();
    }

    /// Bytes received in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// RCV.NXT + RCV.WND, if there is a bound.
    pub fn window_edge(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| buffer.admitted(u64::MAX))
    }

    /// From now on an ACK is delayed by at most `delay`, or not at all.
    pub fn set_delayed_ack(&mut self, delay: Option<Duration>) {
        self.delayed_ack = delay;
    }

    /// From now on the application reads by [`read`](Self::read), and not by itself.
    pub fn read_by_hand(&mut self) {
        self.reads_at_once = false;
        self.buffer.iter_mut().for_each(|buffer| buffer.read_by_hand());
    }

    /// The application reads this many bytes, perhaps all that have arrived. Returns the ACK that this causes.
    pub fn read(&mut self, bytes: u64, reads_all: bool) -> Option<AckSegment> {
        self.buffer.iter_mut().for_each(|buffer| buffer.read(bytes));
        if reads_all && self.is_pushed { Some(self.acknowledge()) } else { self.window_update() }
    }

    /// True if the receiver may send something though nothing arrives and no ACK is delayed.
    #[inline]
    pub fn acts_by_itself(&self) -> bool {
        self.peer.is_some() || self.buffer.is_some()
    }

    /// The ACK after a read, which tells of a window that has advanced, or of data with PSH.
    fn window_update(&mut self) -> Option<AckSegment> {
        let advances = self.buffer.as_ref().is_some_and(|buffer| buffer.advances());
        if advances { Some(self.acknowledge()) } else { self.pushed_ack() }
    }

    /// The ACK of data with PSH, if the application has read everything.
    fn pushed_ack(&mut self) -> Option<AckSegment> {
        let is_empty = self.buffer.as_ref().is_some_and(|buffer| buffer.is_empty(self.next));
        (self.is_pushed && is_empty).then(|| self.acknowledge())
    }

    /// A segment arrives. Returns the ACK to send at once, if one is due.
    #[inline]
    pub fn on_data(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> Option<AckSegment> {
        if self.buffer.is_none() {
            return self.on_segment(now, segment, ecn);
        }
        self.on_data_in_window(now, segment, ecn)
    }

    /// A segment arrives at a receiver with a buffer, which accepts data within its window.
    #[cold]
    fn on_data_in_window(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> Option<AckSegment> {
        let end = segment.seq + u64::from(segment.len);
        let admitted = self.buffer.as_ref().map_or(end, |buffer| buffer.admitted(end));
        if segment.len > 0 && admitted <= segment.seq {
            // RFC 9293 §3.8.6.1: "When the receiving TCP peer has a zero window and a segment arrives, it must still send an
            // acknowledgment showing its next expected sequence number and current window (zero)."
            return Some(self.acknowledge());
        }
        let len = (u64::from(segment.len)).saturating_sub(end - admitted) as u32;
        let flags = segment.ecn.with_fin(segment.ecn.fin() && admitted == end);
        let ack = self.on_segment(now, &DataSegment { len, ecn: flags, ..*segment }, ecn);
        let window = self.read_due(now);
        match ack {
            Some(ack) => Some(ack.with_window(window?)),
            None => self.pushed_ack(),
        }
    }

    /// The application reads the data that it may read by now. Returns the window then.
    fn read_due(&mut self, now: Instant) -> Option<u64> {
        let (next, buffer) = (self.next, self.buffer.as_mut()?);
        buffer.read_due(now, next);
        Some(buffer.window(next))
    }

    #[inline]
    fn on_segment(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> Option<AckSegment> {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        if let Some(peer) = &mut self.peer
            && !segment.ecn.syn()
        {
            (peer.is_open, peer.again_at) = (true, None);
            peer.fin = peer.fin.or(segment.ecn.fin().then_some(end));
        }
        if segment.len == 0 {
            return self.on_control(now, segment);
        }
        if segment.sent_at < self.ts_recent && self.paws && self.is_old(segment) {
            return Some(self.refuse(start, end));
        }
        if self.dsack {
            self.note_duplicate(start, end);
        }
        if self.ack_deadline.is_some()
            && (self.ecn == EcnMode::Dctcp && self.shows_change(segment, ecn)
                || start > self.next && self.compression.is_some() && self.adds_third_block(start, end))
        {
            return Some(self.report_before(now, segment, ecn));
        }
        self.on_payload(now, segment, ecn)
    }

    /// Data that the receiver accepts arrive.
    #[inline]
    fn on_payload(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> Option<AckSegment> {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        let mark_is_news = self.ecn != EcnMode::Off && self.note_ecn(segment, ecn);
        self.note_timestamp(segment);
        let advances = start <= self.next && end > self.next;
        let in_order = advances && self.out_of_order.is_empty();
        let is_duplicate = end <= self.next;
        let may_delay = in_order || self.delays_out_of_order(start, end);
        if in_order {
            self.next = end;
        } else {
            self.reassemble(start, end + u64::from(segment.ecn.fin() && start > self.next));
        }
        let grows = self.growth.is_some() && self.grow_window(now, segment, advances);
        let is_quick = self.quick_acks.most > 0 && self.quick_acks.take(now, is_duplicate, grows);
        // RFC 5681 §4.2: out-of-order segments, and those that fill a gap, are acknowledged at once.
        if may_delay {
            self.unacknowledged += 1;
            self.is_pushed |= self.push_acks && segment.ecn.psh();
            if let Some(delay) = self.delayed_ack
                && self.unacknowledged < 2
                && !mark_is_news
                && !is_quick
                && !(self.is_pushed && self.reads_at_once)
                && !segment.ecn.fin()
            {
                self.ack_deadline = Some(expiry(now, delay, self.timer_tick));
                return None;
            }
        }
        if self.compression.is_some() && !is_quick && !mark_is_news && self.compress(now) {
            return None;
        }
        Some(self.acknowledge())
    }

    /// A segment arrives while data may be missing. Returns true if its ACK waits.
    #[cold]
    fn compress(&mut self, now: Instant) -> bool {
        let advance = self.next - self.last_ack_sent;
        let waits = self.ack_deadline.is_some();
        let Some(compression) = self.compression.as_mut().filter(|_| !self.out_of_order.is_empty()) else {
            return false;
        };
        let Some(delay) = compression.delay(self.next, advance, waits) else { return false };
        let until = now + delay;
        self.ack_deadline = Some(self.ack_deadline.map_or(until, |deadline| deadline.min(until)));
        true
    }

    /// A segment without payload arrives: SYN, FIN, a window probe or an ACK. Returns the answer, if there is one.
    #[cold]
    fn on_control(&mut self, now: Instant, segment: &DataSegment) -> Option<AckSegment> {
        if segment.ecn.probe() {
            // RFC 9293 §3.10.7.4: "If an incoming segment is not acceptable, an acknowledgment should be sent in reply".
            return Some(self.acknowledge());
        }
        let peer = self.peer.as_mut()?;
        if segment.ecn.syn() {
            if peer.is_open {
                return Some(self.acknowledge());
            }
            self.ts_recent = self.ts_recent.max(segment.sent_at);
            return Some(self.answer_syn(now));
        }
        let is_fin = segment.ecn.fin();
        self.note_timestamp(segment);
        // RFC 2018 §3: a block consists of sequence numbers, and FIN has one.
        if is_fin && segment.seq > self.next {
            self.reassemble(segment.seq, segment.seq + 1);
        }
        is_fin.then(|| self.acknowledge())
    }

    /// The echo comes from the segment that advances the left edge, and never goes back. RFC 7323 §4.3: "If: SEG.TSval >=
    /// TS.Recent and SEG.SEQ <= Last.ACK.sent, then SEG.TSval is copied to TS.Recent".
    ///
    /// §5.3 rejects old data before (R2). As in Linux (`tcp_sequence`) data that end at the left edge still count.
    #[inline]
    fn note_timestamp(&mut self, segment: &DataSegment) {
        if segment.seq <= self.last_ack_sent
            && segment.sent_at >= self.ts_recent
            && segment.seq + u64::from(segment.len) >= self.last_ack_sent
        {
            self.ts_recent = segment.sent_at;
        }
    }

    /// Whether PAWS refuses the timestamp of a segment. Linux (`tcp_paws_check`) accepts a difference of one tick.
    #[cold]
    fn is_old(&self, segment: &DataSegment) -> bool {
        let ticks = |at: Instant| at.as_nanos() / TIMESTAMP_TICK.as_nanos();
        ticks(segment.sent_at) + 1 < ticks(self.ts_recent)
    }

    /// PAWS refuses a segment. RFC 7323 §5.3, R1: "Send an acknowledgment in reply", and "drop the segment". As in Linux
    /// (`tcp_send_dupack`), only data below the expected byte are reported as duplicates.
    #[cold]
    fn refuse(&mut self, start: u64, end: u64) -> AckSegment {
        if start < self.next {
            self.quick_acks.left = self.quick_acks.most;
            if self.dsack {
                self.note_duplicate(start, end);
            }
        }
        self.acknowledge()
    }

    /// The answer to a SYN, which is sent again until something follows it (RFC 6298 §5).
    fn answer_syn(&mut self, now: Instant) -> AckSegment {
        if let Some(peer) = &mut self.peer {
            peer.again_at = Some(now + peer.rto);
            peer.rto = peer.rto * 2;
        }
        AckSegment { ecn: EcnFeedback::SynAck.into(), ..self.acknowledge() }
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
        if !self.acts_by_itself() {
            return self.ack_deadline;
        }
        let again_at = self.peer.as_ref().and_then(|peer| peer.again_at);
        let read_at = self.buffer.as_ref().and_then(|buffer| buffer.next_read(self.next));
        let [first, second, third] = [self.ack_deadline, again_at, read_at].map(|at| at.unwrap_or(Instant::MAX));
        Some(first.min(second).min(third)).filter(|at| *at < Instant::MAX)
    }

    /// The delayed ACK, if it is due by `now`, or a window update after reads of the application.
    pub fn on_deadline(&mut self, now: Instant) -> Option<AckSegment> {
        if self.peer.as_ref().and_then(|peer| peer.again_at).is_some_and(|at| at <= now) {
            return Some(self.answer_syn(now));
        }
        let next = self.next;
        self.buffer.iter_mut().for_each(|buffer| buffer.read_due(now, next));
        if self.ack_deadline.is_none_or(|deadline| deadline > now) {
            return self.window_update();
        }
        Some(self.acknowledge())
    }

    /// A segment arrives. Returns true if it is marked and must be acknowledged at once.
    fn note_ecn(&mut self, segment: &DataSegment, ecn: Ecn) -> bool {
        let has_reacted = segment.ecn.cwr();
        if has_reacted && self.ecn != EcnMode::Dctcp {
            self.echoes = false;
        }
        // RFC 3168 §6.1.5: "the TCP data receiver SHOULD ignore the ECN field on arriving data packets that are
        // outside of the receiver's current window."
        if segment.seq + u64::from(segment.len) <= self.next {
            return false;
        }
        let is_marked = ecn == Ecn::Ce;
        self.ce_count += u32::from(is_marked);
        self.hurry_for_ecn(ecn);
        // Linux acknowledges a segment with CWR at once, because the sender's window may be very low (`tcp_ecn_accept_cwr`).
        let is_urgent = has_reacted && self.quick_acks.most > 0;
        if self.ecn == EcnMode::Dctcp {
            return std::mem::replace(&mut self.echoes, is_marked) != is_marked || is_urgent;
        }
        if is_marked {
            self.echoes = true;
            self.ce_unacknowledged = true;
        }
        self.ecn == EcnMode::AccEcn && self.received.note(segment, ecn) || is_urgent
    }

    /// Linux does not delay the next ACKs after a mark that is not yet echoed. Nor does it after a segment without ECT among
    /// others, which is probably a retransmission (`__tcp_ecn_check_ce`).
    fn hurry_for_ecn(&mut self, ecn: Ecn) {
        let is_first_mark = self.ecn == EcnMode::Classic && ecn == Ecn::Ce && !self.echoes;
        if is_first_mark || ecn == Ecn::NotEct && self.has_seen_ect {
            self.quick_acks.hurry();
        }
        self.has_seen_ect |= ecn != Ecn::NotEct;
    }

    /// Whether marks begin or end with the next segment in order, under DCTCP's feedback.
    fn shows_change(&self, segment: &DataSegment, ecn: Ecn) -> bool {
        segment.seq == self.next && self.echoes != (ecn == Ecn::Ce)
    }

    /// Whether a segment above a gap is neither in the first block nor in the second. Linux then sends the compressed ACK
    /// first, because further blocks could displace one that no ACK has reported (`tcp_sack_new_ofo_skb`).
    #[cold]
    fn adds_third_block(&self, start: u64, end: u64) -> bool {
        let is_apart = |block: &(u64, u64)| end < block.0 || block.1 < start;
        self.blocks().take(SACK_BLOCKS_EXPECTED).filter(is_apart).count() == SACK_BLOCKS_EXPECTED
    }

    /// An ACK of the packets before waits, and a segment arrives that it must not cover.
    ///
    /// RFC 8257 §3.2: "an implementation MAY choose to send two ACKs". The timer sends the second one at the same time.
    fn report_before(&mut self, now: Instant, segment: &DataSegment, ecn: Ecn) -> AckSegment {
        let before = self.acknowledge();
        if self.on_payload(now, segment, ecn).is_some() {
            self.ack_deadline = Some(now);
        }
        before
    }

    /// A segment has arrived, which lets the application read or not. Returns true if the receive window grows.
    #[inline]
    fn grow_window(&mut self, now: Instant, segment: &DataSegment, advances: bool) -> bool {
        let Some(growth) = &mut self.growth else { return false };
        let grows = growth.grows(segment.len.into());
        if advances || self.out_of_order.is_empty() {
            growth.on_read(now, segment.sent_at, self.next);
        }
        grows
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
        // FIN may have waited behind the gap. It is no data.
        self.next = self.next.min(self.fin().unwrap_or(u64::MAX));
    }

    /// The number of the byte that FIN takes, once it has arrived.
    fn fin(&self) -> Option<u64> {
        self.peer.as_ref().and_then(|peer| peer.fin)
    }

    /// RCV.NXT, in which FIN counts as a byte.
    fn expected(&self) -> u64 {
        self.next + u64::from(self.fin().is_some_and(|fin| fin <= self.next))
    }

    /// RFC 2018 §4: the first SACK block contains the segment that triggered this ACK. The others repeat the blocks
    /// reported most recently.
    fn note_recent(&mut self, range: (u64, u64)) {
        let is_part = |other: &(u64, u64)| range.0 <= other.0 && other.1 <= range.1;
        let blocks = iter::once(range).chain(self.blocks().filter(|other| !is_part(other)));
        let mut kept = [(0, 0); MAX_SACK_BLOCKS];
        kept.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        self.recent = kept;
    }

    /// RFC 2883 §4, rule (1): a D-SACK block reports only a duplicate sequence in the most recent packet. By §4.2 only
    /// the first of several duplicate sequences is reported.
    #[cold]
    fn note_duplicate(&mut self, start: u64, end: u64) {
        let duplicate = if start < self.next {
            Some((start, end.min(self.next)))
        } else {
            self.out_of_order.first_overlap(start, end)
        };
        // A compressed ACK reports it later.
        self.duplicate = duplicate.or(self.duplicate);
    }

    /// The ranges that an ACK may report, the most recent first.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let expected = self.expected();
        self.recent.into_iter().filter(move |range| range.1 > expected)
    }

    /// The acknowledgement to send now, also with data of the other direction. It ends any delay.
    #[inline]
    pub fn acknowledge(&mut self) -> AckSegment {
        self.unacknowledged = 0;
        self.is_pushed = false;
        self.ack_deadline = None;
        self.last_ack_sent = self.next;
        let may_report = self.sack && (!self.out_of_order.is_empty() || self.dsack);
        let sack = if may_report { self.sack_blocks() } else { SackBlocks::default() };
        let ecn = self.feedback().into();
        self.ce_unacknowledged = false;
        let ack = AckSegment { ack: self.expected(), sack, echo: self.ts_recent, ecn };
        match &mut self.buffer {
            None => ack,
            Some(buffer) => ack.with_window(buffer.window(self.next)),
        }
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
            // RFC 8257 §3.2: "the ECE flag MUST be set if and only if DCTCP.CE is true."
            EcnMode::Dctcp => EcnFeedback::Classic { ece: self.echoes },
            EcnMode::AccEcn => self.received.feedback(),
        }
    }

    #[cold]
    fn sack_blocks(&mut self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        // RFC 2883 §4, rule (4): the block after it is the one that holds it, which has just been reported on.
        let blocks = self.duplicate.take().into_iter().chain(self.blocks());
        blocks.take(self.most_blocks.into()).for_each(|(start, end)| sack.push(self.expected(), start, end));
        sack
    }
}

#[cfg(test)]
mod tests;
