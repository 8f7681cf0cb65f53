//! Spurious recoveries: late segments were considered lost, and the response is undone.
//!
//! Reference: RFC 3522 (the Eifel detection algorithm), and `dsack` for the other methods. The response is the
//! algorithm's `on_undo` and RFC 4015 §3.2, step (4).
//!
//! Deviations: with RACK a fast recovery is undone only when none of its retransmissions is in flight, as in Linux. A
//! retransmission in flight may repair a real loss.

use super::dsack::Duplicate;
use super::{Frto, Sender, State};
use crate::cc::Recovery;
use crate::tcp::scoreboard::SentSegment;
use crate::tcp::segment::AckSegment;
use crate::units::Instant;

/// Whether timestamps may show that the last recovery was spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::sender) enum Doubt {
    /// They may not, or there was none.
    #[default]
    None,
    /// They may, once its first retransmission has left.
    Begins,
    /// They may: RFC 3522's RetransmitTS.
    Since(Instant),
}

/// The meaning of a D-SACK block.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp::sender) struct DuplicateNews {
    /// Segments that count as delivered again.
    pub(in crate::tcp::sender) again: u32,
    /// All retransmissions of the last recovery have arrived twice.
    pub(in crate::tcp::sender) shows_needless: bool,
}

impl Sender {
    /// A recovery begins. RFC 3522 §3.2, step (2): a recovery that begins during another doubtful one uses its time.
    /// The previous recovery may have retransmitted the first segment already. The next new ACK then belongs to that
    /// copy or to earlier data.
    pub(super) fn begin_doubt(&mut self) {
        if self.detects_spurious && self.doubt == Doubt::None {
            let front = self.board.front().filter(|front| front.transmissions > 1);
            self.doubt = front.map_or(Doubt::Begins, |front| Doubt::Since(front.sent_at));
        }
        if let Some(dsack) = &mut self.dsack {
            let (_, _, retransmitted) = self.board.counts();
            dsack.begin(self.snd_una, retransmitted + u32::from(self.tlp.has_retransmitted()));
        }
    }

    /// Later ACKs no longer show that the last congestion event was spurious, because it was undone or another one
    /// followed.
    pub(in crate::tcp::sender) fn end_doubt(&mut self) {
        self.doubt = Doubt::None;
        if let Some(dsack) = &mut self.dsack {
            dsack.end_doubt();
        }
    }

    /// A segment is sent again.
    #[inline]
    pub(in crate::tcp::sender) fn note_retransmission(&mut self, now: Instant, segment: &SentSegment) {
        if self.doubt == Doubt::Begins {
            self.doubt = Doubt::Since(now);
        }
        if let Some(dsack) = &mut self.dsack {
            dsack.note_retransmission(segment.seq, segment.end(), segment.transmissions);
        }
    }

    /// An ACK of new data in a recovery echoes a timestamp, which may belong to an original transmission.
    pub(super) fn undo_if_spurious(&mut self, now: Instant, echo: Instant) {
        // RFC 3522 §3.2, step (4): "If the value of the Timestamp Echo Reply field of the acceptable ACK's Timestamps option is
        // smaller than the value of RetransmitTS, then proceed to step (5)".
        let doubt = std::mem::take(&mut self.doubt);
        if !matches!(doubt, Doubt::Since(retransmitted_at) if echo < retransmitted_at) {
            return;
        }
        if self.state.is_fast_recovery() {
            // What was taken for lost came later than what was sent after it.
            self.strategy.on_reordering(self.previous_una);
            let (_, _, retransmitted) = self.board.counts();
            if self.detects_by_time && retransmitted > 0 {
                self.doubt = doubt;
                return;
            }
        }
        self.undo(now);
    }

    /// An ACK with blocks arrives, before any other processing. Its first block may report duplicates.
    #[cold]
    pub(in crate::tcp::sender) fn take_dsack(&mut self, now: Instant, ack: &AckSegment) -> DuplicateNews {
        let Some(block) = ack.sack.duplicate(ack.ack) else { return DuplicateNews::default() };
        self.counters.duplicates_reported += 1;
        let bytes = block.1 - block.0;
        let segments = bytes.div_ceil(u64::from(self.transport.mss)) as u32;
        let Some(dsack) = &mut self.dsack else {
            self.note_reordering_of(block.0);
            return DuplicateNews::default();
        };
        if !dsack.heeds(segments, self.counters.retransmits) {
            return DuplicateNews::default();
        }
        let (una, sacked) = (self.snd_una, self.board.has_sacked());
        let may_be_retransmission = block.1 <= una || self.board.was_sent_again(block.0);
        let shows_needless = dsack.prove(Duplicate { block, segments, una, sacked, may_be_retransmission });
        let counts = dsack.counts();
        self.note_reordering_of(block.0);
        if counts {
            self.board.note_duplicate(now, bytes);
        }
        DuplicateNews { again: if counts { segments } else { 0 }, shows_needless }
    }

    /// The segment that begins here arrived twice. If its retransmission was needless, it was late.
    fn note_reordering_of(&mut self, seq: u64) {
        if self.board.came_twice(seq) {
            self.strategy.on_reordering(seq);
        }
    }

    /// All that was sent again in the last recovery came twice.
    #[cold]
    pub(in crate::tcp::sender) fn undo_needless(&mut self, now: Instant) {
        let (_, lost, _) = self.board.counts();
        if lost == 0 {
            self.undo(now);
        }
    }

    /// The recovery was spurious: all segments that it considered lost had arrived.
    pub(super) fn undo(&mut self, now: Instant) {
        self.end_doubt();
        self.frto = Frto::Off;
        self.counters.undos += 1;
        if self.state.is_fast_recovery() {
            self.leave_recovery(now);
        }
        self.state = State::Open;
        // RFC 4015 §3.2, step (4): "resume transmission with the next unsent data".
        self.board.restore();
        self.strategy.on_undo();
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_undo(&recovery);
    }
}
