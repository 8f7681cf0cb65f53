//! The use of the window in a round. As in Linux, it distinguishes limits by the window from limits by the
//! application.
//!
//! The largest amount of outstanding data counts, not the amount when an ACK arrives. Thus the ACKs of a flight that
//! filled the window let it grow while the flight drains.

use super::Sender;

/// The use of the window since the last round began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// All of it was in use.
    is_limited: bool,
    /// The most segments outstanding, unless all of it was.
    most_out: u32,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
}

impl Sender {
    /// New data have left, or the window prevented it. `is_limited` is true if all of the window is in use.
    pub(super) fn note_use(&mut self, is_limited: bool) {
        let outstanding = self.board.outstanding();
        let Usage { is_limited: was_limited, most_out, round_end } = self.usage;
        if self.snd_una >= round_end || is_limited || !was_limited && outstanding > most_out {
            self.usage = Usage { is_limited, most_out: outstanding, round_end: self.snd_nxt };
        }
    }

    /// Whether enough of the window was used to let it grow. That is all of it, or more than half in slow start.
    pub(super) fn used_enough(&self) -> bool {
        let window = self.cc.whole_segments();
        let is_slow_start = self.cc.cwnd() < self.cc.ssthresh();
        self.usage.is_limited || is_slow_start && window < 2 * i64::from(self.usage.most_out)
    }

    /// There are data that have not left yet.
    pub(super) fn has_unsent(&self) -> bool {
        self.written.is_none_or(|written| written > self.snd_nxt)
    }
}
