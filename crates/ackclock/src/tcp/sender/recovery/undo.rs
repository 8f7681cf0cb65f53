//! Spurious recoveries: what was taken for lost was late, and what was done for it is undone.
//!
//! Reference: RFC 3522 (the Eifel detection algorithm); the algorithm's `on_undo` and RFC 4015 §3.2, step (4), are the
//! response.

use super::{Sender, State};
use crate::cc::Recovery;
use crate::units::Instant;

/// Whether the last recovery may turn out to be spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::sender) enum Doubt {
    /// It may not, or there was none.
    #[default]
    None,
    /// It may, once its first retransmission has left.
    Begins,
    /// It may: RFC 3522's RetransmitTS.
    Since(Instant),
}

impl Sender {
    /// A recovery begins. RFC 3522 §3.2, step (2): one that begins while another is in doubt has its time.
    pub(super) fn begin_doubt(&mut self) {
        if self.detects_spurious && self.doubt == Doubt::None {
            self.doubt = Doubt::Begins;
        }
    }

    /// A segment is sent again.
    #[inline]
    pub(in crate::tcp::sender) fn note_retransmission(&mut self, now: Instant) {
        if self.doubt == Doubt::Begins {
            self.doubt = Doubt::Since(now);
        }
    }

    /// The first ACK of new data in a recovery echoes a timestamp; true if it was sent for the original transmission.
    ///
    /// RFC 3522 §3.2, step (4): "If the value of the Timestamp Echo Reply field of the acceptable ACK's Timestamps option
    /// is smaller than the value of RetransmitTS, then proceed to step (5)".
    pub(super) fn is_spurious(&mut self, echo: Instant) -> bool {
        matches!(std::mem::take(&mut self.doubt), Doubt::Since(retransmitted_at) if echo < retransmitted_at)
    }

    /// The recovery was spurious: nothing of what it took for lost was.
    pub(super) fn undo(&mut self, now: Instant) {
        self.counters.undos += 1;
        if self.state.is_fast_recovery() {
            self.leave_recovery(now);
        }
        self.state = State::Open;
        // RFC 4015 §3.2, step (4): "resume transmission with the next unsent data".
        self.board.restore();
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_undo(&recovery);
    }
}
