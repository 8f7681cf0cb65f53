//! SACK: recovery from a scoreboard, as the pipe allows.
//!
//! Reference: RFC 6675.

use super::State;
use super::strategy::{News, Next, OnPartialAck, Strategy, View};
use crate::tcp::scoreboard::{Delivered, Scoreboard};
use crate::tcp::segment::AckSegment;
use crate::transport::Transport;

/// SACK-based recovery.
#[derive(Debug)]
pub(in crate::tcp::sender) struct Sack {
    /// Selectively acknowledged segments make no room until recovery begins: limited transmit is off.
    hides_sacked: bool,
    /// RFC 6675's RescueRxt: the rescue retransmission needs an ACK above.
    rescue_rxt: Option<u64>,
}

impl Sack {
    pub(super) fn new(transport: &Transport) -> Self {
        Sack { hides_sacked: !transport.limited_transmit, rescue_rxt: None }
    }
}

impl Strategy for Sack {
    fn hides_sacked(&self) -> bool {
        self.hides_sacked
    }

    /// RFC 6675 §2: a duplicate "carries a SACK block that identifies previously unacknowledged and un-SACKed octets".
    #[inline]
    fn on_ack(&mut self, view: &mut View, ack: &AckSegment, delivered: &mut Delivered) -> News {
        if ack.sack.is_empty() {
            return News { may_be_duplicate: false, lost: 0 };
        }
        let before = delivered.segments;
        view.board.acknowledge_selectively(ack.ack, &ack.sack, delivered);
        News { may_be_duplicate: delivered.segments > before, lost: view.board.find_losses() }
    }

    /// RFC 6675 §5: "If DupAcks < DupThresh but IsLost (HighACK + 1) returns true".
    fn knows_of_loss(&self, board: &Scoreboard) -> bool {
        board.front_is_lost()
    }

    /// RFC 6675 §5.1: a new recovery begins only once HighACK has reached RecoveryPoint.
    fn covers(&self, una: u64, recover: u64) -> bool {
        una >= recover
    }

    fn makes_room(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn on_enter(&mut self, _board: &Scoreboard, first_end: u64) {
        self.rescue_rxt = Some(first_end);
    }

    fn on_partial_ack(&mut self, _acked: u32, _inflation: i32) -> OnPartialAck {
        OnPartialAck::GoesOn
    }

    /// RFC 6675 §4, rules 3 and 4 of NextSeg: segments that may be lost.
    fn after_new(&self, board: &Scoreboard, state: State, una: u64) -> Option<Next> {
        if !matches!(state, State::FastRecovery { .. }) {
            return None;
        }
        if let Some(index) = board.next_suspect() {
            return Some(Next::Again(index));
        }
        // Rule 4: "If HighACK is greater than RescueRxt (or RescueRxt is undefined)".
        let may_rescue = self.rescue_rxt.is_none_or(|bound| una > bound);
        may_rescue.then(|| board.last_unsacked()).flatten().map(Next::Rescue)
    }

    fn on_sent(&mut self, next: Next, point: u64) {
        if matches!(next, Next::Rescue(_)) {
            // RFC 6675 §4, rule 4: "set RescueRxt to RecoveryPoint".
            self.rescue_rxt = Some(point);
        }
    }
}
