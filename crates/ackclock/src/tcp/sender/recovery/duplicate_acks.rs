//! SACK as in ns-2: duplicate ACKs give the data in flight, and blocks the missing segments.
//!
//! Reference: Fall and Floyd 1996, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP".

use super::State;
use super::strategy::{BeforeNew, News, Next, OnPartialAck, Strategy, View};
use crate::tcp::scoreboard::{DUP_THRESH, Delivered, Scoreboard};
use crate::tcp::segment::AckSegment;
use crate::transport::{PartialAckTimer, SackSender, Transport};

/// Fall and Floyd's sender, with the options of a connection.
#[derive(Debug)]
pub(in crate::tcp::sender) struct DuplicateAcks {
    /// A partial ACK sends two segments.
    sends_pairs: bool,
    timer: PartialAckTimer,
    /// Segments in flight in this recovery.
    pipe: i64,
    /// The duplicate ACK that begins recovery sends the one retransmission and nothing else.
    holds: bool,
    /// A partial ACK has come in this recovery.
    had_partial_ack: bool,
    /// Segments that a partial ACK sends regardless of the window.
    owed: u32,
    /// Index of the segment after the last one that was sent so.
    owed_next: u64,
}

impl DuplicateAcks {
    pub(super) fn new(transport: &Transport) -> Self {
        DuplicateAcks {
            sends_pairs: transport.sack_sender == SackSender::PairOnPartialAck,
            timer: transport.partial_ack_timer,
            pipe: 0,
            holds: false,
            had_partial_ack: false,
            owed: 0,
            owed_next: 0,
        }
    }

    /// Processes blocks in recovery, and on the duplicate ACKs before it. Returns true for new information.
    fn note_blocks(view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> bool {
        match view.state {
            State::Open if view.is_new => false,
            State::Restarted { .. } => !view.is_new && !view.state.is_backed_off(view.una),
            State::Open | State::FastRecovery { .. } => {
                let before = delivered.segments;
                view.board.acknowledge_selectively(ack.ack, &ack.sack, delivered);
                delivered.segments > before
            }
        }
    }

    /// Each ACK reports one segment that left, a partial ACK two.
    fn count(&mut self, view: &mut View) {
        let State::FastRecovery { point, .. } = view.state else {
            if view.is_new {
                view.board.forget_sacks();
            }
            return;
        };
        self.holds = false;
        self.pipe -= 1;
        if view.is_new {
            self.pipe += if self.sends_pairs { 1 } else { -1 };
            view.rtt.end_backoff();
            if view.una >= point {
                view.board.forget_sacks();
            }
        }
    }
}

impl Strategy for DuplicateAcks {
    fn hides_sacked(&self) -> bool {
        true
    }

    fn in_flight(&self, _board: &Scoreboard) -> i64 {
        self.pipe
    }

    fn on_ack(&mut self, view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> News {
        let has_news = !ack.sack.is_empty() && Self::note_blocks(view, ack, delivered);
        self.count(view);
        News { may_be_duplicate: has_news, lost: 0 }
    }

    fn knows_of_loss(&self, board: &Scoreboard) -> bool {
        board.front_is_lost()
    }

    fn on_enter(&mut self, board: &Scoreboard, _first_end: u64) {
        self.pipe = i64::from(board.outstanding()) - i64::from(DUP_THRESH);
        (self.holds, self.had_partial_ack, self.owed, self.owed_next) = (true, false, 0, 0);
    }

    fn forgets_at_end(&self) -> bool {
        true
    }

    fn restarts_timer(&self) -> bool {
        !self.had_partial_ack || self.timer == PartialAckTimer::Each
    }

    fn on_partial_ack(&mut self, _acked: u32, _inflation: i32) -> OnPartialAck {
        if self.sends_pairs {
            self.had_partial_ack = true;
            self.owed = 2;
        }
        OnPartialAck::GoesOn
    }

    fn on_timeout(&mut self, board: &mut Scoreboard) {
        board.forget_sacks();
    }

    /// Every hole once, then new data.
    fn before_new(&mut self, board: &mut Scoreboard, state: State) -> BeforeNew {
        let is_fast = state.is_fast_recovery();
        if is_fast && self.holds {
            return BeforeNew::Holds;
        }
        let next = if is_fast { board.next_hole() } else { board.next_lost() };
        next.map_or(BeforeNew::Nothing, BeforeNew::Again)
    }

    fn on_sent(&mut self, _next: Next, _point: u64) {
        self.pipe += 1;
    }

    fn owes(&self) -> bool {
        self.owed > 0
    }

    fn take_owed(&mut self, board: &Scoreboard) -> Option<u64> {
        self.owed -= 1;
        let missing = board.next_unsacked(self.owed_next);
        self.owed_next = missing.unwrap_or(board.end_index()) + 1;
        missing
    }
}
