//! The retransmissions and their order, if losses are detected by later deliveries.

use std::collections::VecDeque;

use crate::tcp::scoreboard::Scoreboard;
use crate::units::Instant;

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    pub(super) index: u64,
    pub(super) sent_at: Instant,
    /// The byte after it.
    pub(super) end: u64,
    /// Index of the segment that was to be sent first next, under RACK before all retransmissions of this time.
    pub(super) end_index: u64,
}

/// Lost segments that wait to be sent again, in order: those below `next` by themselves.
#[derive(Debug, Default)]
pub(super) struct LostQueue {
    below: VecDeque<u64>,
    next: u64,
    end: u64,
}

impl LostQueue {
    /// One to which no segment below this index waits by itself.
    pub(super) fn from(next: u64) -> Self {
        LostQueue { next, ..LostQueue::default() }
    }

    /// Another one waits.
    pub(super) fn push(&mut self, index: u64) {
        if index < self.next {
            self.below.push_back(index);
        }
        self.end = self.end.max(index + 1);
    }

    /// The next one.
    pub(super) fn next(&mut self, board: &Scoreboard) -> Option<u64> {
        while let Some(index) = self.below.front() {
            if board.awaits_retransmission(*index) {
                return Some(*index);
            }
            self.below.pop_front();
        }
        self.next = self.next.max(board.front_index()?);
        while self.next < self.end {
            if board.awaits_retransmission(self.next) {
                return Some(self.next);
            }
            self.next += 1;
        }
        None
    }
}
