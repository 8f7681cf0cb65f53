//! `NewReno`: fast recovery until everything is acknowledged that was sent before it, a loss per round trip.
//!
//! Reference: RFC 6582.

use super::strategy::{OnPartialAck, Strategy};
use crate::tcp::scoreboard::Scoreboard;
use crate::transport::{ExitGrowth, PartialAck, PartialAckTimer, Transport};

/// `NewReno`, with the options of a connection.
#[derive(Debug)]
pub(in crate::tcp::sender) struct NewReno {
    partial_ack: PartialAck,
    timer: PartialAckTimer,
    grows_at_exit: bool,
    /// A partial ACK has come in this recovery.
    had_partial_ack: bool,
}

impl NewReno {
    pub(super) fn new(transport: &Transport) -> Self {
        NewReno {
            partial_ack: transport.partial_ack,
            timer: transport.partial_ack_timer,
            grows_at_exit: transport.exit_growth == ExitGrowth::OneAck,
            had_partial_ack: false,
        }
    }
}

impl Strategy for NewReno {
    fn inflates(&self) -> bool {
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn on_enter(&mut self, _board: &Scoreboard, _first_end: u64) {
        self.had_partial_ack = false;
    }

    /// RFC 6582 §3.2: "For the first partial ACK that arrives during fast recovery, also reset the retransmit timer."
    fn restarts_timer(&self) -> bool {
        !self.had_partial_ack || self.timer == PartialAckTimer::Each
    }

    fn on_partial_ack(&mut self, acked: u32, inflation: i32) -> OnPartialAck {
        self.had_partial_ack = true;
        // RFC 6582 §3.2: "retransmit the first unacknowledged segment. Deflate the congestion window by the amount of
        // new data acknowledged ... then add back one SMSS".
        let inflation = match self.partial_ack {
            PartialAck::Deflate => inflation - (acked as i32 - 1),
            PartialAck::Reset => 0,
        };
        OnPartialAck::Retransmits { inflation }
    }

    fn grows_at_exit(&self) -> bool {
        self.grows_at_exit
    }
}
