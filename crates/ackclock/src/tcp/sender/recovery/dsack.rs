//! Spurious retransmissions, as D-SACK blocks prove them or as Linux counts them.
//!
//! Reference: RFC 3708 §3, whose steps are named.
//!
//! Deviations: a recovery is found spurious only after all segments that it considered lost were sent again.
//! Retransmissions of this recovery and the previous one are remembered. Blocks below them do not indicate
//! duplication by the network.

use std::collections::VecDeque;

use crate::transport::{RangeSet, Undo};

/// A D-SACK block on an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Duplicate {
    /// Bytes that arrived twice.
    pub(super) block: (u64, u64),
    /// Their segments.
    pub(super) segments: u32,
    /// The data acknowledged before the ACK.
    pub(super) una: u64,
    /// Data above were selectively acknowledged.
    pub(super) sacked: bool,
    /// The segments were sent again, as far as they are outstanding.
    pub(super) may_be_retransmission: bool,
}

/// The rule that finds a recovery spurious.
#[derive(Debug)]
pub(in crate::tcp::sender) enum Dsack {
    Proved(Proofs),
    Counted(Counts),
}

impl Dsack {
    /// The rule of a key.
    pub(in crate::tcp::sender) fn new(undo: Undo) -> Self {
        if undo == Undo::Counted { Dsack::Counted(Counts::default()) } else { Dsack::Proved(Proofs::default()) }
    }

    /// A recovery begins. `una` is the end of the acknowledged data, and some segments that were sent `again` are in
    /// flight.
    pub(super) fn begin(&mut self, una: u64, again: u32) {
        match self {
            Dsack::Proved(proofs) => proofs.begin(una),
            Dsack::Counted(counts) => (counts.marker, counts.left) = (Some(una), (again > 0).then_some(again)),
        }
    }

    /// This recovery can no longer be undone.
    pub(super) fn end_doubt(&mut self) {
        match self {
            Dsack::Proved(proofs) => proofs.in_doubt = false,
            Dsack::Counted(counts) => counts.marker = None,
        }
    }

    /// The bytes `start .. end` are sent for the `transmissions`-th time.
    pub(super) fn note_retransmission(&mut self, start: u64, end: u64, transmissions: u8) {
        match self {
            Dsack::Proved(proofs) => proofs.note_retransmission(start, end, transmissions),
            Dsack::Counted(counts) => counts.left = Some(counts.left.unwrap_or(0) + 1),
        }
    }

    /// A block reports so many duplicates, and so many segments were ever sent again. Returns false if the block has no
    /// effect.
    pub(super) fn heeds(&mut self, segments: u32, retransmits: u64) -> bool {
        match self {
            Dsack::Proved(_) => true,
            Dsack::Counted(counts) => {
                counts.duplicates += u64::from(segments);
                counts.duplicates <= retransmits
            }
        }
    }

    /// Whether duplicates count as deliveries.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Dsack::Counted(_))
    }

    /// A block reports duplicates. Returns true if the recovery was spurious.
    pub(super) fn prove(&mut self, duplicate: Duplicate) -> bool {
        match self {
            Dsack::Proved(proofs) => proofs.prove(duplicate.block, duplicate.una, duplicate.sacked),
            Dsack::Counted(counts) => counts.count(duplicate),
        }
    }
}

/// Linux's `undo_marker`, `undo_retrans` and `dsack_dups`.
#[derive(Debug, Default)]
pub(in crate::tcp::sender) struct Counts {
    /// The acknowledged data at the beginning of a recovery that may be undone.
    marker: Option<u64>,
    /// Retransmissions that have not arrived twice, by their number. None before the first.
    left: Option<u32>,
    /// Segments that arrived twice, of the whole connection.
    duplicates: u64,
}

impl Counts {
    /// `tcp_check_dsack` and `tcp_sacktag_one`: any duplicate of data above the marker counts.
    fn count(&mut self, duplicate: Duplicate) -> bool {
        let Some(marker) = self.marker else { return false };
        let counts = duplicate.block.1 > marker && duplicate.may_be_retransmission;
        if let Some(left) = self.left.as_mut().filter(|_| counts) {
            *left = left.saturating_sub(duplicate.segments);
        }
        self.left == Some(0)
    }
}

/// The retransmissions, and the duplicates among them.
#[derive(Debug, Default)]
pub(in crate::tcp::sender) struct Proofs {
    /// All that was sent again in this recovery and the one before.
    sent_again: RangeSet,
    /// The acknowledged data at the beginning of this recovery.
    begun_at: u64,
    /// From here on `sent_again` is complete.
    known_from: u64,
    /// The retransmissions of this recovery that have not arrived twice yet.
    unproved: VecDeque<(u64, u64)>,
    /// This recovery may turn out to be spurious.
    in_doubt: bool,
    /// The network makes copies of its own: blocks prove nothing.
    is_distrusted: bool,
}

impl Proofs {
    /// A recovery begins. `una` is the end of the acknowledged data.
    fn begin(&mut self, una: u64) {
        self.sent_again.remove_below(self.begun_at);
        (self.known_from, self.begun_at) = (self.begun_at, una);
        self.unproved.clear();
        self.in_doubt = !self.is_distrusted;
    }

    /// The bytes `start .. end` are sent for the `transmissions`-th time.
    fn note_retransmission(&mut self, start: u64, end: u64, transmissions: u8) {
        self.sent_again.insert(start, end, |_, _, _| {});
        // (A.3): "If the segment was retransmitted more than once (...) the congestion control state MUST NOT be reverted
        // to its previous state during the current window of data."
        self.in_doubt &= transmissions <= 2;
        if self.in_doubt {
            self.unproved.push_back((start, end));
        }
    }

    /// A block reports that `start .. end` arrived twice, on an ACK. Before the ACK `una` was acknowledged, and data
    /// above it were `sacked` or not. Returns true if all retransmissions of this recovery have arrived twice.
    fn prove(&mut self, (start, end): (u64, u64), una: u64, sacked: bool) -> bool {
        if start < self.known_from {
            return false;
        }
        // (A.1): "This clause intends to cover the case when an entire window of acknowledgments have been dropped by the
        // network."
        if !sacked && start == una {
            self.in_doubt = false;
        }
        // (A.4): "If the segment was not retransmitted the incoming DSACK indicates that the network duplicated the segment
        // (...) the algorithm specified in this document MUST NOT be used for the remainder of the connection".
        else if self.sent_again.containing(start).is_none_or(|range| range.1 < end) {
            (self.in_doubt, self.is_distrusted) = (false, true);
        }
        // (A.2) and (B).
        else if let Some(position) = self.unproved.iter().position(|one| start <= one.0 && one.1 <= end) {
            self.unproved.remove(position);
            return self.in_doubt && self.unproved.is_empty();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recovery that begins at byte 100 and sends two segments of ten bytes again.
    fn two_sent_again() -> Proofs {
        let mut dsack = Proofs::default();
        dsack.begin(100);
        dsack.note_retransmission(100, 110, 2);
        dsack.note_retransmission(140, 150, 2);
        dsack
    }

    #[test]
    fn a_recovery_is_spurious_when_all_that_it_sent_again_has_come_twice() {
        let mut dsack = two_sent_again();
        assert!(!dsack.prove((140, 150), 160, false));
        assert!(!dsack.prove((140, 150), 160, false), "the same once more");
        assert!(dsack.prove((100, 110), 160, false));
        // A part proves nothing of the whole.
        let mut dsack = two_sent_again();
        dsack.prove((140, 150), 160, false);
        assert!(!dsack.prove((100, 105), 160, false));
    }

    #[test]
    fn what_was_sent_a_third_time_ends_all_doubt() {
        let mut dsack = two_sent_again();
        dsack.note_retransmission(100, 110, 3);
        assert!(!dsack.prove((140, 150), 160, false) && !dsack.prove((100, 110), 160, false));
        dsack.begin(200);
        dsack.note_retransmission(200, 210, 2);
        assert!(dsack.prove((200, 210), 210, false), "the next recovery is another one");
    }

    #[test]
    fn a_window_of_lost_acks_is_a_sign_of_congestion() {
        for (una, sacked, is_spurious) in [(100, false, false), (100, true, true), (110, false, true)] {
            let mut dsack = two_sent_again();
            let first = dsack.prove((100, 110), una, sacked);
            assert_eq!((first, dsack.prove((140, 150), 160, sacked)), (false, is_spurious), "{una} {sacked}");
        }
    }

    #[test]
    fn a_copy_of_what_was_sent_once_ends_all_trust() {
        let mut dsack = two_sent_again();
        dsack.prove((120, 130), 160, false);
        assert!(!dsack.prove((100, 110), 160, false) && !dsack.prove((140, 150), 160, false));
        dsack.begin(200);
        dsack.note_retransmission(200, 210, 2);
        assert!(!dsack.prove((200, 210), 210, false));
    }

    #[test]
    fn what_is_forgotten_is_no_sign_of_duplication() {
        let mut dsack = two_sent_again();
        dsack.begin(200);
        dsack.prove((140, 150), 200, false);
        dsack.begin(300);
        // No record shows whether segments below the previous recovery were retransmitted.
        dsack.prove((140, 150), 300, false);
        dsack.note_retransmission(300, 310, 2);
        assert!(dsack.prove((300, 310), 310, false));
    }

    /// The rules of Linux 6.12, `tcp_input.c`.
    #[test]
    fn linux_counts_duplicates_and_does_not_ask_for_their_origin() {
        let duplicate = |block, una, may_be_retransmission| Duplicate {
            block,
            segments: 1,
            una,
            sacked: false,
            may_be_retransmission,
        };
        let mut counted = Dsack::new(Undo::Counted);
        // More duplicates than retransmissions have no effect.
        assert!(!counted.heeds(1, 0) && counted.heeds(1, 2) && !counted.heeds(1, 2));
        counted.begin(100, 0);
        assert!(!counted.prove(duplicate((110, 120), 130, true)), "no retransmission yet");
        counted.note_retransmission(100, 110, 2);
        counted.note_retransmission(140, 150, 2);
        assert!(!counted.prove(duplicate((90, 100), 160, true)), "below the marker");
        assert!(!counted.prove(duplicate((170, 180), 160, false)), "outstanding, and sent once");
        assert!(!counted.prove(duplicate((120, 130), 160, true)), "a copy by the network counts");
        assert!(counted.prove(duplicate((130, 140), 160, true)));
        counted.begin(200, 2);
        assert!(!counted.prove(duplicate((210, 220), 230, true)), "two were in flight");
        counted.end_doubt();
        assert!(!counted.prove(duplicate((220, 230), 230, true)));
    }
}
