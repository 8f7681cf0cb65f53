//! Spurious retransmissions, as D-SACK blocks prove them.
//!
//! Reference: RFC 3708 §3, whose steps are named.
//!
//! Deviations: a recovery is found spurious only after all segments that it considered lost were sent again.
//! Retransmissions of this recovery and the previous one are remembered. Blocks below them do not indicate
//! duplication by the network.

use std::collections::VecDeque;

use crate::transport::RangeSet;

/// The retransmissions, and the duplicates among them.
#[derive(Debug, Default)]
pub(in crate::tcp::sender) struct Dsack {
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

impl Dsack {
    /// A recovery begins. `una` is the end of the acknowledged data.
    pub(super) fn begin(&mut self, una: u64) {
        self.sent_again.remove_below(self.begun_at);
        (self.known_from, self.begun_at) = (self.begun_at, una);
        self.unproved.clear();
        self.in_doubt = !self.is_distrusted;
    }

    /// This recovery can no longer be undone.
    pub(super) fn end_doubt(&mut self) {
        self.in_doubt = false;
    }

    /// The bytes `start .. end` are sent for the `transmissions`-th time.
    pub(super) fn note_retransmission(&mut self, start: u64, end: u64, transmissions: u8) {
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
    pub(super) fn prove(&mut self, (start, end): (u64, u64), una: u64, sacked: bool) -> bool {
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
    fn two_sent_again() -> Dsack {
        let mut dsack = Dsack::default();
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
        // Of what lies below the recovery before nobody knows any more whether it was sent again.
        dsack.prove((140, 150), 300, false);
        dsack.note_retransmission(300, 310, 2);
        assert!(dsack.prove((300, 310), 310, false));
    }
}
