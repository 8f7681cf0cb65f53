//! The state of the sender for observers.

use super::{Sender, State};
use crate::cc::CaState;
use crate::transport::{EcnMode, SenderInfo};

impl Sender {
    /// How far the repair of losses is.
    #[inline]
    pub(super) fn ca_state(&self) -> CaState {
        match self.state {
            State::Open if self.reduces_for_mark => CaState::Cwr,
            State::Open if self.transport.ecn != EcnMode::Off && self.has_cut_for_mark() => CaState::Cwr,
            State::Open if self.dup_acks > 0 || self.board.has_sacked() => CaState::Disorder,
            State::Open => CaState::Open,
            State::FastRecovery { .. } => CaState::Recovery,
            State::Restarted { .. } => CaState::Loss,
        }
    }

    /// A look at the sender.
    pub fn info(&self) -> SenderInfo {
        let (sacked, lost, retransmitted) = self.board.counts();
        let seen = self.strategy.reorderings();
        SenderInfo {
            cwnd: self.cwnd(),
            ssthresh: self.cc.ssthresh(),
            unacked: self.board.outstanding(),
            sacked,
            lost,
            retransmitted,
            state: self.ca_state(),
            backoff: self.rtt.backoff(),
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.rtt.min(),
            window_probes: self.peer_window.probes(),
            reordering: seen.degree,
            reorderings: seen.times,
            timer: self.timers.next(),
        }
    }
}
