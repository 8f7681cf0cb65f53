//! FACK: the highest selectively acknowledged segment shows the losses.
//!
//! Reference: Mathis and Mahdavi 1996, "Forward Acknowledgement: Refining TCP Congestion Control", as ns-2's `Agent/TCP/Linux` has it.
//!
//! Segments that are [`MARGIN`] or more below the highest one are lost. Segments arrive in the order of transmission.
//! A retransmission is lost once a later first transmission has been delivered, or the [`MARGIN`]th retransmission
//! after the next one. Both searches begin at the front, so each transmission is examined once.
//!
//! Deviations from the paper: there three segments above one make it lost, here four.

use std::collections::VecDeque;

use super::State;
use super::again::{Again, LostQueue};
use super::strategy::{BeforeNew, News, OnPartialAck, Strategy, View};
use crate::tcp::scoreboard::{DUP_THRESH, Delivered, Scoreboard, SentSegment};
use crate::tcp::segment::AckSegment;
use crate::transport::{Rtt, Transport};
use crate::units::Instant;

/// The distance to the highest segment from which on one is lost.
const MARGIN: u64 = DUP_THRESH as u64 + 1;

/// FACK-based recovery.
#[derive(Debug, Default)]
pub(in crate::tcp::sender) struct Fack {
    /// Selectively acknowledged segments make no room until recovery begins: limited transmit is off.
    hides_sacked: bool,
    /// Retransmissions in their order. Those that are no longer in flight are skipped.
    again: VecDeque<Again>,
    /// How many were before them.
    gone: u64,
    /// The number of the last retransmission that was delivered.
    delivered: u64,
    /// No segment below this index that was sent once may be lost.
    edge: u64,
    queue: LostQueue,
}

impl Fack {
    pub(super) fn new(transport: &Transport) -> Self {
        Fack { hides_sacked: !transport.limited_transmit, ..Fack::default() }
    }

    /// A retransmission arrived.
    fn note_delivered(&mut self, segment: &SentSegment) {
        let mut end = self.again.partition_point(|again| again.sent_at <= segment.sent_at);
        while end > 0 && self.again[end - 1].sent_at == segment.sent_at {
            end -= 1;
            if self.again[end].end == segment.end() {
                self.delivered = self.delivered.max(self.gone + end as u64);
            }
        }
    }

    /// Returns how many segments are newly lost, where all from the index `above` on are still to be acknowledged.
    fn detect(&mut self, board: &mut Scoreboard, above: u64) -> u32 {
        let mut lost = 0;
        while let Some(again) = self.again.front().copied() {
            if board.was_last_sent(again.index, again.sent_at) {
                if again.end_index >= above && self.gone + MARGIN >= self.delivered {
                    break;
                }
                lost += self.lose(board, again.index);
            }
            self.again.pop_front();
            self.gone += 1;
        }
        let Some(first) = board.front_index() else { return lost };
        self.edge = self.edge.max(first);
        while self.edge < above.saturating_sub(MARGIN) {
            if board.is_waiting_once(self.edge) {
                lost += self.lose(board, self.edge);
            }
            self.edge += 1;
        }
        lost
    }

    fn lose(&mut self, board: &mut Scoreboard, index: u64) -> u32 {
        self.queue.push(index);
        board.lose(index)
    }
}

impl Strategy for Fack {
    fn hides_sacked(&self) -> bool {
        self.hides_sacked
    }

    #[inline]
    fn on_ack(&mut self, view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> News {
        let before = delivered.segments;
        if !ack.sack.is_empty() {
            view.board.acknowledge_selectively(ack.ack, &ack.sack, delivered);
        }
        if let Some(newest) = delivered.newest.filter(|newest| newest.transmissions > 1) {
            self.note_delivered(&newest);
        }
        let above = view.board.index_of(view.board.highest_delivered(view.una));
        News { may_be_duplicate: delivered.segments > before, lost: self.detect(view.board, above) }
    }

    fn detects_by_time(&self) -> bool {
        true
    }

    /// Detected losses are lost regardless of earlier transmissions.
    fn covers(&self, _una: u64, _recover: u64) -> bool {
        true
    }

    fn makes_room(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn on_partial_ack(&mut self, _acked: u32, _inflation: i32) -> OnPartialAck {
        OnPartialAck::GoesOn
    }

    fn lose_on_timeout(&mut self, board: &mut Scoreboard, _rtt: &Rtt, _now: Instant) -> u32 {
        let Some(first) = board.front_index() else { return 0 };
        self.queue = LostQueue::from(first);
        (first..board.end_index()).filter(|index| !board.at(*index).sacked).for_each(|index| self.queue.push(index));
        self.edge = board.end_index();
        board.lose_all()
    }

    fn on_undo(&mut self) {
        self.queue = LostQueue::default();
        self.edge = 0;
    }

    fn on_sent_again(&mut self, board: &Scoreboard, index: u64, sent_at: Instant) {
        self.again.push_back(Again { index, sent_at, end: board.at(index).end(), end_index: board.end_index() });
    }

    fn first_again(&mut self, board: &Scoreboard) -> Option<u64> {
        self.queue.next(board)
    }

    fn before_new(&mut self, board: &mut Scoreboard, _state: State) -> BeforeNew {
        self.queue.next(board).map_or(BeforeNew::Nothing, BeforeNew::Again)
    }
}
