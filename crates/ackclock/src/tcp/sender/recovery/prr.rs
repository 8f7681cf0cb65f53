//! Proportional Rate Reduction: departures in fast recovery follow arrivals. In the end the data in flight equal the
//! window that the algorithm requests.
//!
//! Reference: RFC 9937 §6, whose names are used. As in Linux a mark that reduces the window also begins a reduction.
//! It continues in a recovery from losses of the same window.
//!
//! Deviations: counts are segments and not bytes, and SndCnt is never negative, as in Linux. RecoverFS excludes the
//! duplicate ACKs before recovery, with and without SACK. It also excludes segments that had been SACKed before the ACK
//! that begins recovery acknowledges them. They "will not be marked as delivered during recovery". A rescue
//! retransmission does not count as a further loss. The variable ssthresh is the requested window in whole segments,
//! and a rule may cut further.

use super::halving::Halving;
use crate::tcp::sender::Sender;
use crate::transport::Reduction;

/// The state of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::sender) struct Prr {
    /// The segments that can still be delivered when recovery begins, or 0 before its first ACK.
    recover_fs: i64,
    delivered: i64,
    out: i64,
    /// The window: data in flight plus the permitted segments.
    window: i64,
}

/// The progress that an ACK reports.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// DeliveredData.
    delivered: i64,
    in_flight: i64,
    ssthresh: i64,
    /// The ACK advances SND.UNA and shows no further loss.
    is_safe: bool,
}

impl Prr {
    /// Begins a recovery with `recover_fs`, the segments that can still be delivered.
    fn new(recover_fs: i64) -> Self {
        Prr { recover_fs: recover_fs.max(1), ..Prr::default() }
    }

    fn on_ack(&mut self, progress: Progress) {
        let Progress { delivered, in_flight, ssthresh, is_safe } = progress;
        // §6.2: "if (DeliveredData is 0) Return"; but the first ACK may be a timer.
        if delivered == 0 && self.out > 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if in_flight > ssthresh {
            // "out = DIV_ROUND_UP(prr_delivered * ssthresh, RecoverFS); SndCnt = out - prr_out".
            let share = self.delivered * ssthresh;
            (share + self.recover_fs - 1) / self.recover_fs - self.out
        } else {
            // "SndCnt = MAX(prr_delivered - prr_out, DeliveredData); if (SafeACK) SndCnt += SMSS; SndCnt = MIN(ssthresh - inflight,
            // SndCnt)".
            let conserved = (self.delivered - self.out).max(delivered);
            (conserved + i64::from(is_safe)).min(ssthresh - in_flight)
        };
        // "if (prr_out is 0 AND SndCnt is 0) SndCnt = SMSS".
        let least = i64::from(self.out == 0);
        self.window = in_flight + allowed.max(least);
    }

    /// The segments that may still be delivered. Without SACK, §6.2 limits DeliveredData to the data outstanding at the
    /// beginning of recovery (RecoverFS).
    fn undelivered(&self) -> i64 {
        (self.recover_fs - self.delivered).max(0)
    }
}

impl Sender {
    /// Departures follow arrivals from now on.
    pub(in crate::tcp::sender) fn begin_reduction(&mut self) {
        self.prr = Prr::default();
        self.halving = Halving::default();
    }

    /// A reduction continues by an ACK that begins or continues a recovery, or by the timer that begins it. It
    /// delivers this many segments.
    #[cold]
    pub(in crate::tcp::sender) fn reduce(&mut self, delivered: u32, is_safe: bool) {
        if self.transport.prr == Reduction::Halving {
            return self.halve();
        }
        if self.prr.recover_fs == 0 {
            self.start_reduction(delivered);
        }
        let in_flight = self.in_flight_for_window() - i64::from(self.inflation);
        let ssthresh = self.cc.whole_segments();
        let most = if self.strategy.inflates() { self.prr.undelivered() } else { i64::MAX };
        self.prr.on_ack(Progress { delivered: i64::from(delivered).min(most), in_flight, ssthresh, is_safe });
    }

    /// The reordering timer begins a recovery. As in Linux it counts for a segment that arrives, so that something
    /// leaves.
    pub(super) fn reduce_by_timer(&mut self) {
        if self.prr.recover_fs == 0 {
            self.start_reduction(0);
        }
        self.reduce(1, false);
    }

    /// A recovery begins. The ACK that begins it delivers this many segments.
    fn start_reduction(&mut self, delivered: u32) {
        // Of duplicate ACKs without blocks each reports a segment, and widens the window.
        let reported = i64::from(self.board.sacked()) + i64::from(self.inflation);
        self.prr = Prr::new(i64::from(self.board.outstanding()) - reported + i64::from(delivered));
    }

    /// The number of segments that duplicate ACKs can report: at most all existing ones except the lost one.
    pub(super) fn plausible(&self, duplicates: i32) -> i32 {
        if self.reduces { duplicates.clamp(0, self.board.outstanding().cast_signed() - 1) } else { duplicates }
    }

    /// Segments that an ACK in recovery shows to have arrived, before which `duplicates` were reported without SACK.
    pub(in crate::tcp::sender) fn arrived(&self, delivered: u32, duplicates: i32) -> u32 {
        match delivered {
            _ if !self.strategy.inflates() => delivered,
            // Without SACK a duplicate ACK counts for one segment, and the ACK that fills the hole for those that are left.
            0 => u32::from(self.inflation > duplicates),
            _ => delivered.saturating_sub(duplicates.unsigned_abs()).max(1),
        }
    }

    /// The window in a reduction.
    pub(in crate::tcp::sender) fn reduced_window(&self) -> i64 {
        if self.transport.prr == Reduction::Halving { self.halved_window() } else { self.prr.window }
    }

    /// A segment leaves in a reduction.
    pub(in crate::tcp::sender) fn note_reduction_sent(&mut self) {
        if self.transport.prr == Reduction::Halving { self.note_halving() } else { self.prr.out += 1 }
    }

    /// Whether a reduction determines the departures in fast recovery.
    #[inline]
    pub(in crate::tcp::sender) fn is_reducing(&self) -> bool {
        self.reduces && self.state.is_fast_recovery() || self.reduces_for_mark
    }
}
