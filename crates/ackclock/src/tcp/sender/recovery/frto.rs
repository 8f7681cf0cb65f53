//! F-RTO: after a timeout, whether the next ACKs acknowledge earlier transmissions.
//!
//! Reference: RFC 5682 §3, the SACK-enhanced version, whose steps are named.

use crate::tcp::scoreboard::Delivered;
use crate::tcp::segment::DataSegment;
use crate::tcp::sender::{Sender, State};
use crate::units::Instant;

/// RFC 5682 §3.1, step 2b: "transmit up to two new (previously unsent) segments".
const NEW_SEGMENTS: u8 = 2;

/// How far the algorithm is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tcp::sender) enum Frto {
    /// It is not running: recovery is the conventional one, or there is none.
    #[default]
    Off,
    /// Step 2: it waits for the ACK of the retransmission.
    Waits,
    /// Step 3: two new segments leave, and the next ACK tells.
    Tries {
        /// RecoveryPoint.
        point: u64,
        /// Segments that have not left yet.
        left: u8,
    },
}

impl Frto {
    /// Only new data leave.
    #[inline]
    pub(in crate::tcp::sender) fn is_trying(self) -> bool {
        matches!(self, Frto::Tries { .. })
    }

    /// A segment of step 3 has not left yet.
    #[inline]
    pub(in crate::tcp::sender) fn has_trial(self) -> bool {
        matches!(self, Frto::Tries { left: 1.., .. })
    }
}

impl Sender {
    /// Step 1: the timer has expired in this state. Decides whether step 2 follows.
    pub(super) fn begin_frto(&mut self) {
        let is_repeated = self.frto != Frto::Off && self.is_backed_off();
        // "If "RecoveryPoint" is larger than or equal to SND.UNA, do not enter step 2 of this algorithm."
        let is_first = self.state == State::Open && self.recover.is_none_or(|recover| recover < self.snd_una);
        self.frto = if self.uses_frto && (is_first || is_repeated) { Frto::Waits } else { Frto::Off };
    }

    /// An ACK arrives that makes `is_new` progress, or is a duplicate.
    #[cold]
    pub(in crate::tcp::sender) fn advance_frto(&mut self, now: Instant, is_new: bool, delivered: &Delivered) {
        match self.frto {
            Frto::Waits if is_new => {
                let point = self.snd_nxt;
                let goes_on = self.snd_una < point && self.next_new().is_some();
                self.frto = if goes_on { Frto::Tries { point, left: NEW_SEGMENTS } } else { Frto::Off };
                self.retransmit_now = goes_on;
            }
            Frto::Tries { point, .. } => {
                self.frto = Frto::Off;
                self.retransmit_now = false;
                let covers_more = self.board.highest_delivered(self.snd_una) > point;
                if !covers_more && delivered.segments > 0 {
                    self.recover = Some(self.snd_una);
                    self.undo(now);
                }
            }
            Frto::Waits | Frto::Off => {}
        }
    }

    /// The next of the new segments.
    pub(in crate::tcp::sender) fn send_trial(&mut self, now: Instant) -> Option<DataSegment> {
        let Frto::Tries { left, .. } = &mut self.frto else { return None };
        *left -= 1;
        self.retransmit_now = *left > 0;
        let Some(len) = self.next_new() else {
            self.retransmit_now = false;
            return None;
        };
        Some(self.send_new(now, len))
    }
}
