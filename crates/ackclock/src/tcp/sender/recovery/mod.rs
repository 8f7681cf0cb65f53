//! Loss recovery: the effect of ACKs, duplicates and the timer on the state, for every strategy.
//!
//! Each strategy is a file and a name in `any_strategy`. `strategy` defines the decisions of strategies.

mod again;
mod any_strategy;
mod dsack;
mod duplicate_acks;
mod fack;
mod frto;
mod halving;
mod newreno;
mod prr;
mod rack;
mod reno;
mod sack;
mod strategy;
mod tahoe;
mod tlp;
mod undo;

pub(super) use any_strategy::AnyStrategy;
pub(super) use dsack::Dsack;
pub(super) use frto::Frto;
pub(super) use halving::Halving;
pub(super) use prr::Prr;
pub(super) use strategy::{BeforeNew, News, Next, View};
pub(super) use tlp::Tlp;
pub(super) use undo::{Doubt, DuplicateNews};

use self::strategy::OnPartialAck;
use super::Sender;
use crate::cc::{Congestion, CongestionKind, Recovery, Restart};
use crate::tcp::scoreboard::DUP_THRESH;
use crate::transport::{RepeatedTimeout, SecondLoss, Timer};
use crate::units::Instant;

/// How far the repair of losses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    FastRecovery {
        /// The end of the sent data at the detection of the loss: RFC 6675's RecoveryPoint.
        point: u64,
        /// The end of the sent data at the restart that preceded this recovery, or 0 for none.
        restarted: u64,
    },
    /// Everything in flight was given up, and is sent again in slow start.
    Restarted {
        /// The end of the data sent by then.
        point: u64,
        /// The acknowledged data at the last timeout, or none for Tahoe's fast retransmit.
        expired_at: Option<u64>,
    },
}

impl State {
    /// True from a timeout to the next ACK of new data. `una` is the end of the acknowledged data.
    #[inline]
    pub(super) fn is_backed_off(self, una: u64) -> bool {
        matches!(self, State::Restarted { expired_at: Some(at), .. } if at == una)
    }

    /// True if this is a repair of losses that ends when all below `una` is acknowledged.
    #[inline]
    pub(super) fn is_ended_by(self, una: u64) -> bool {
        match self {
            State::Open => false,
            State::FastRecovery { point, .. } | State::Restarted { point, .. } => una >= point,
        }
    }

    #[inline]
    pub(super) fn is_fast_recovery(self) -> bool {
        matches!(self, State::FastRecovery { .. })
    }
}

impl Sender {
    /// An ACK of new data advances recovery. Returns the number of newly lost segments.
    #[inline]
    pub(super) fn on_new_ack(&mut self, now: Instant, acked_segments: u32, echo: Instant) -> u32 {
        self.dup_acks = 0;
        if self.board.outstanding() == 0 {
            // RFC 6298 §5.2: "When all outstanding data has been acknowledged, turn off the retransmission timer."
            self.timers.stop(Timer::Retransmission);
        } else if !self.state.is_fast_recovery() || self.strategy.restarts_timer() {
            self.restart_retransmission_timer(now);
        }
        if self.state != State::Open {
            self.undo_if_spurious(now, echo);
        }
        match self.state {
            State::Open => 0,
            State::FastRecovery { point, .. } if self.snd_una >= point => {
                self.leave_recovery(now);
                0
            }
            State::FastRecovery { .. } => match self.strategy.on_partial_ack(acked_segments, self.inflation) {
                OnPartialAck::GoesOn => 0,
                OnPartialAck::Retransmits { inflation } => {
                    self.inflation = self.plausible(inflation);
                    self.retransmit_now = true;
                    self.board.lose_front()
                }
                OnPartialAck::Ends => {
                    self.leave_recovery(now);
                    0
                }
            },
            State::Restarted { point, .. } => {
                if self.snd_una >= point {
                    self.state = State::Open;
                }
                0
            }
        }
    }

    /// Processes a duplicate ACK. Returns the number of newly lost segments.
    pub(super) fn on_duplicate_ack(&mut self, now: Instant) -> u32 {
        self.dup_acks += 1;
        if self.detects_by_time {
            return 0;
        }
        match self.state {
            State::Open => {
                if self.dup_acks < DUP_THRESH && !self.strategy.knows_of_loss(&self.board) {
                    return 0;
                }
                self.enter_recovery(now)
            }
            State::FastRecovery { .. } => {
                if self.strategy.inflates() {
                    // RFC 5681 §3.2: "For each additional duplicate ACK received ... cwnd MUST be incremented
                    // by SMSS."
                    self.inflation = self.plausible(self.inflation + 1);
                }
                0
            }
            State::Restarted { .. } if self.dup_acks == DUP_THRESH => self.enter_recovery(now),
            State::Restarted { .. } => 0,
        }
    }

    /// Whether duplicate ACKs mean a new loss.
    fn may_begin_recovery(&self) -> bool {
        let Some(recover) = self.recover else { return true };
        let mss = u64::from(self.transport.mss);
        match self.transport.second_loss {
            SecondLoss::Always => true,
            SecondLoss::LessCareful => self.snd_una >= recover,
            // RFC 6582 §4.1: "if the congestion window is greater than SMSS bytes and if the difference between
            // highest_ack and prev_highest_ack is at most 4*SMSS bytes".
            SecondLoss::AckHeuristic if self.cc.cwnd() > 1.0 && self.snd_una - self.previous_una <= 4 * mss => true,
            // RFC 6582 §4.2: "if the echoed timestamp in the last non-duplicate acknowledgment equals the stored
            // timestamp".
            SecondLoss::TimestampHeuristic if self.echo_is_latest => true,
            _ => self.strategy.covers(self.snd_una, recover),
        }
    }

    /// True if the present ACK ends a recovery whose end may begin the next one. `before` is the state before the ACK.
    #[inline]
    pub(super) fn begins_again(&self, before: State) -> bool {
        before != State::Open && self.state == State::Open && self.strategy.begins_again()
    }

    /// Time has shown losses, or a recovery has ended: another one begins for segments that are still missing.
    pub(super) fn on_found_losses(&mut self, now: Instant) {
        if self.state == State::Open && self.board.counts().1 > 0 {
            self.enter_recovery(now);
        }
    }

    /// The reordering timer expires: segments that are still missing are lost.
    pub(super) fn on_reordering_timer(&mut self, now: Instant) {
        let Sender { strategy, board, rtt, state, snd_una, snd_nxt, .. } = self;
        let retransmits = self.counters.retransmits;
        let (is_new, una, next) = (false, *snd_una, *snd_nxt);
        let mut view = View { board, rtt, state: *state, una, is_new, next, now, retransmits };
        let lost = strategy.on_settled(&mut view);
        self.set_reordering_timer(now);
        if lost > 0 {
            let was_recovering = self.state.is_fast_recovery();
            self.on_found_losses(now);
            if self.is_reducing() && !was_recovering {
                self.reduce_by_timer();
            }
            self.tell_losses(now);
        }
    }

    /// Losses are looked for again when the strategy says so.
    pub(super) fn set_reordering_timer(&mut self, now: Instant) {
        match self.strategy.settles_at() {
            Some(at) => self.start_timer(Timer::Reordering, now, at.since(now) + self.transport.timer_slack),
            None => self.timers.stop(Timer::Reordering),
        }
    }

    /// Fast retransmit. Returns the number of newly lost segments.
    fn enter_recovery(&mut self, now: Instant) -> u32 {
        if !self.may_begin_recovery() {
            return 0;
        }
        let restarts = self.strategy.restarts();
        let was_cut = !restarts && self.take_cut_for_mark();
        // As in Linux, a reduction for a mark continues.
        let goes_on = std::mem::take(&mut self.reduces_for_mark) && was_cut;
        if restarts {
            self.signal(now, CongestionKind::Loss, self.slow_start());
        } else if !was_cut {
            self.signal(now, CongestionKind::Loss, Restart::Reduced);
        }
        self.recover = (!self.strategy.forgets_at_start()).then_some(self.snd_nxt);
        self.begin_doubt();
        if restarts {
            self.timed = None;
            self.state = State::Restarted { point: self.snd_nxt, expired_at: None };
            self.restart_retransmission_timer(now);
            return self.board.lose_all();
        }
        let lost = if self.detects_by_time { 0 } else { self.board.lose_front() };
        self.reset_probe();
        self.frto = Frto::Off;
        // Retransmission after a timeout continues behind the first segment.
        let restarted = match self.state {
            State::Restarted { point, .. } => point,
            State::Open | State::FastRecovery { .. } => 0,
        };
        if restarted == 0 {
            self.board.begin_recovery();
        }
        self.retransmit_now = true;
        self.timed = None;
        // RFC 6675 §6: "a more careful variant that re-arms the RTO timer on each retransmission that is sent
        // during recovery MAY be used." Without it the timer, which runs since the last new ACK, mostly expires
        // before the ACK of the first retransmission: at a steady RTT the RTO is hardly more than one.
        self.restart_retransmission_timer(now);
        let first_end = self.board.front().map_or(self.snd_una, |front| front.seq + u64::from(front.len));
        self.state = State::FastRecovery { point: self.snd_nxt, restarted };
        self.strategy.on_enter(&self.board, first_end);
        if !goes_on {
            self.begin_reduction();
        }
        if self.strategy.inflates() {
            // RFC 5681 §3.2: "cwnd MUST be set to ssthresh plus 3*SMSS".
            self.inflation = self.plausible(DUP_THRESH as i32);
        }
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_recovery_enter(&recovery);
        lost
    }

    fn leave_recovery(&mut self, now: Instant) {
        self.state = match self.state {
            State::FastRecovery { restarted: point, .. } if self.snd_una < point => {
                State::Restarted { point, expired_at: None }
            }
            _ => State::Open,
        };
        self.inflation = 0;
        self.retransmit_now = false;
        if self.strategy.forgets_at_end() {
            self.recover = None;
        }
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_recovery_exit(&recovery);
        self.end_unvalidated(true);
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.reduces_for_mark = false;
        self.begin_frto();
        // RFC 5681 §3.1: for a segment that "has already been retransmitted by way of the retransmission timer at
        // least once, the value of ssthresh is held constant".
        let restart = match self.transport.repeated_timeout {
            // In Linux ssthresh is cut once in a window of data.
            RepeatedTimeout::HoldInRecovery if self.state.is_fast_recovery() => Some(Restart::SlowStartAgain),
            _ if !self.is_backed_off() => Some(self.slow_start()),
            RepeatedTimeout::Hold | RepeatedTimeout::HoldInRecovery => None,
            RepeatedTimeout::Cut => Some(self.slow_start()),
            RepeatedTimeout::One => Some(Restart::OneSegment),
        };
        if let Some(restart) = restart {
            self.signal(now, CongestionKind::Timeout, restart);
        }
        self.rtt.back_off();
        self.begin_doubt();
        // RFC 2018 §5: the timeout "might indicate that the data receiver has reneged". As in Linux it has if it holds the first
        // segment by its blocks and not by its cumulative ACK.
        if self.board.front().is_some_and(|front| front.sacked) {
            self.board.forget_sacks();
        }
        self.strategy.on_timeout(&mut self.board);
        self.strategy.lose_on_timeout(&mut self.board, &self.rtt, now);
        self.tell_losses(now);
        self.reset_probe();
        self.dup_acks = 0;
        self.inflation = 0;
        // Where not all was given up, what is in flight may fill the window.
        self.retransmit_now = self.detects_by_time;
        self.recover = Some(self.snd_nxt);
        self.timed = None;
        self.state = State::Restarted { point: self.snd_nxt, expired_at: Some(self.snd_una) };
        self.restart_retransmission_timer(now);
    }

    /// True from an expiry of the timer to the next ACK of new data.
    pub(super) fn is_backed_off(&self) -> bool {
        self.state.is_backed_off(self.snd_una)
    }

    pub(super) fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        self.counters.ecn_events += u64::from(kind == CongestionKind::Ecn);
        self.note_reduction(kind);
        let congestion = Congestion { now, kind, restart, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_congestion(&congestion);
        match kind {
            // RFC 7661 §4.4: "It then resumes using the standard TCP RTO mechanism".
            CongestionKind::Timeout => self.end_unvalidated(false),
            CongestionKind::Loss => self.respond_unvalidated(now, true),
            CongestionKind::Ecn => self.respond_unvalidated(now, false),
        }
    }
}
