//! How much an ACK counts for the growth of the window (RFC 5681, RFC 3465, Linux).

use super::Sender;
use crate::tcp::scoreboard::DUP_THRESH;
use crate::transport::LossRecovery;

impl Sender {
    /// RFC 3465 §2.2 limits the growth of an ACK to two segments. RFC 5681 counts one per ACK. Without a limit,
    /// segments reported before by SACK blocks or duplicate ACKs do not count again, as in Linux. After reordering
    /// beyond three duplicates, segments in blocks count at once. RFC 3465 §2.1 sets no limit for congestion
    /// avoidance.
    #[inline]
    pub(super) fn growth(&self, acked_bytes: u64, acked_segments: u32, delivered: u32, duplicates: u32) -> f64 {
        let is_uncapped = self.transport.byte_counting == u32::MAX;
        if acked_bytes == 0 && !(is_uncapped && self.strategy.reorderings().degree > DUP_THRESH) {
            return 0.0;
        }
        if self.transport.byte_counting == 0 {
            return if self.cc.cwnd() > self.cc.ssthresh() { f64::from(acked_segments.max(1)) } else { 1.0 };
        }
        if is_uncapped {
            let reads_blocks = self.transport.recovery == LossRecovery::Sack && self.transport.peer_sack;
            return f64::from(if reads_blocks { delivered } else { delivered.saturating_sub(duplicates).max(1) });
        }
        f64::from(acked_segments.clamp(1, self.transport.byte_counting))
    }
}
