//! Loss recovery: what ACKs, duplicates and the timer make of the state.

use super::{CountedPipe, Sender, State, Timer};
use crate::cc::{Congestion, CongestionKind, Recovery, Restart};
use crate::tcp::scoreboard::{DUP_THRESH, Delivered};
use crate::tcp::segment::AckSegment;
use crate::tcp::transport::{LossRecovery, PartialAck, PartialAckTimer, RepeatedTimeout, SecondLoss};
use crate::units::Instant;

impl Sender {
    /// An ACK of new data moves recovery on; returns how many segments it finds lost.
    #[inline]
    pub(super) fn on_new_ack(&mut self, now: Instant, acked_segments: u32) -> u32 {
        self.dup_acks = 0;
        let pairs = self.pairs_on_partial_ack();
        if self.board.outstanding() == 0 {
            // RFC 6298 §5.2: "When all outstanding data has been acknowledged, turn off the retransmission timer."
            self.timers.stop(Timer::Retransmission);
        } else if !matches!(self.state, State::FastRecovery { partial_ack: true, .. })
            || self.transport.variations.partial_ack_timer == PartialAckTimer::Each
        {
            self.restart_retransmission_timer(now);
        }
        match self.state {
            State::Open => 0,
            State::FastRecovery { point, .. } if self.snd_una >= point => {
                self.leave_recovery(now);
                0
            }
            State::FastRecovery { ref mut partial_ack, ref mut counted, .. } => match self.transport.recovery {
                LossRecovery::Sack => {
                    if pairs {
                        *partial_ack = true;
                        counted.owed = 2;
                    }
                    0
                }
                LossRecovery::NewReno => {
                    *partial_ack = true;
                    // RFC 6582 §3.2: "retransmit the first unacknowledged segment. Deflate the congestion window
                    // by the amount of new data acknowledged ... then add back one SMSS".
                    self.inflation = match self.transport.variations.partial_ack {
                        PartialAck::Deflate => self.inflation - (acked_segments as i32 - 1),
                        PartialAck::Reset => 0,
                    };
                    self.retransmit_now = true;
                    self.board.lose_front()
                }
                LossRecovery::Tahoe | LossRecovery::Reno => {
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

    /// RFC 5681 §2; with SACK only an ACK that reports something new counts (RFC 6675 §2).
    pub(super) fn is_duplicate(&self, sack_news: bool) -> bool {
        self.board.outstanding() > 0 && (self.transport.recovery != LossRecovery::Sack || sack_news)
    }

    /// Fall and Floyd's sender listens to blocks in recovery and on the duplicate ACKs before it; true for news.
    pub(super) fn note_blocks(&mut self, is_new_ack: bool, ack: &AckSegment, delivered: &mut Delivered) -> bool {
        match self.state {
            State::Open if is_new_ack => false,
            State::Restarted { .. } => !is_new_ack && !self.is_backed_off(),
            State::Open | State::FastRecovery { .. } => {
                let before = delivered.segments;
                self.board.acknowledge_selectively(ack.ack, &ack.sack, delivered);
                delivered.segments > before
            }
        }
    }

    /// Fall and Floyd's count of what is in flight: each ACK tells of one segment that left, a partial ACK of two.
    #[inline]
    pub(super) fn count_ack(&mut self, is_new_ack: bool) {
        if !self.counts_duplicates {
            return;
        }
        let pairs = self.pairs_on_partial_ack();
        match &mut self.state {
            State::FastRecovery { counted, point, .. } => {
                counted.holds = false;
                counted.segments -= 1;
                if is_new_ack {
                    counted.segments += if pairs { 1 } else { -1 };
                    self.rtt.end_backoff();
                    if self.snd_una >= *point {
                        self.board.forget_sacks();
                    }
                }
            }
            State::Open | State::Restarted { .. } if is_new_ack => self.board.forget_sacks(),
            State::Open | State::Restarted { .. } => {}
        }
    }

    /// A duplicate ACK; returns how many segments it finds lost.
    pub(super) fn on_duplicate_ack(&mut self, now: Instant) -> u32 {
        self.dup_acks += 1;
        match self.state {
            State::Open => {
                let sack = self.transport.recovery == LossRecovery::Sack;
                if self.dup_acks < DUP_THRESH && !(sack && self.board.front_is_lost()) {
                    return 0;
                }
                self.enter_recovery(now)
            }
            State::FastRecovery { .. } => {
                if matches!(self.transport.recovery, LossRecovery::Reno | LossRecovery::NewReno) {
                    // RFC 5681 §3.2: "For each additional duplicate ACK received ... cwnd MUST be incremented
                    // by SMSS."
                    self.inflation += 1;
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
        match (self.transport.variations.second_loss, self.transport.recovery) {
            (SecondLoss::Always, _) => true,
            (SecondLoss::LessCareful, _) => self.snd_una >= recover,
            // RFC 6582 §4.1: "if the congestion window is greater than SMSS bytes and if the difference between
            // highest_ack and prev_highest_ack is at most 4*SMSS bytes".
            (SecondLoss::AckHeuristic, _) if self.cc.cwnd() > 1.0 && self.snd_una - self.previous_una <= 4 * mss => {
                true
            }
            // RFC 6582 §4.2: "if the echoed timestamp in the last non-duplicate acknowledgment equals the stored
            // timestamp".
            (SecondLoss::TimestampHeuristic, _) if self.echo_is_latest => true,
            // RFC 6675 §5.1: a new recovery "MUST NOT be initiated until HighACK is greater than or equal to the
            // new value of RecoveryPoint".
            (_, LossRecovery::Sack) if !self.counts_duplicates => self.snd_una >= recover,
            // RFC 6582 §3.2: "check to see if the Cumulative Acknowledgment field covers more than recover".
            _ => self.snd_una > recover,
        }
    }

    /// Fast retransmit; returns how many segments it finds lost.
    fn enter_recovery(&mut self, now: Instant) -> u32 {
        if !self.may_begin_recovery() {
            return 0;
        }
        let tahoe = self.transport.recovery == LossRecovery::Tahoe;
        if tahoe {
            self.signal(now, CongestionKind::Loss, self.slow_start());
        } else if !self.take_cut_for_mark() {
            self.signal(now, CongestionKind::Loss, Restart::Reduced);
        }
        // Reno forgets the window it just cut for: a second loss in it is a second event (Fall & Floyd 1996).
        let forgets = self.transport.recovery == LossRecovery::Reno
            && self.transport.variations.second_loss == SecondLoss::Standard;
        self.recover = (!forgets).then_some(self.snd_nxt);
        if tahoe {
            self.timed = None;
            self.state = State::Restarted { point: self.snd_nxt, expired_at: None };
            self.restart_retransmission_timer(now);
            return self.board.lose_all();
        }
        let lost = self.board.lose_front();
        // What a timeout gave up goes on being sent again behind the first segment.
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
        self.state = State::FastRecovery {
            point: self.snd_nxt,
            partial_ack: false,
            rescue_rxt: Some(first_end),
            counted: CountedPipe {
                segments: i64::from(self.board.outstanding()) - i64::from(DUP_THRESH),
                holds: true,
                owed: 0,
                owed_next: 0,
            },
            restarted,
        };
        if self.transport.recovery != LossRecovery::Sack {
            // RFC 5681 §3.2: "cwnd MUST be set to ssthresh plus 3*SMSS".
            self.inflation = DUP_THRESH as i32;
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
        if self.counts_duplicates {
            self.recover = None;
        }
        let recovery = Recovery { now, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_recovery_exit(&recovery);
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        // RFC 5681 §3.1: for a segment that "has already been retransmitted by way of the retransmission timer at
        // least once, the value of ssthresh is held constant".
        let restart = match self.transport.variations.repeated_timeout {
            _ if !self.is_backed_off() => Some(self.slow_start()),
            RepeatedTimeout::Hold => None,
            RepeatedTimeout::Cut => Some(self.slow_start()),
            RepeatedTimeout::One => Some(Restart::OneSegment),
        };
        if let Some(restart) = restart {
            self.signal(now, CongestionKind::Timeout, restart);
        }
        self.rtt.back_off();
        if self.counts_duplicates {
            self.board.forget_sacks();
        }
        self.board.lose_all();
        self.dup_acks = 0;
        self.inflation = 0;
        self.retransmit_now = false;
        self.recover = Some(self.snd_nxt);
        self.timed = None;
        self.state = State::Restarted { point: self.snd_nxt, expired_at: Some(self.snd_una) };
        self.restart_retransmission_timer(now);
    }

    /// True from an expiry of the timer to the next ACK of new data.
    pub(super) fn is_backed_off(&self) -> bool {
        matches!(self.state, State::Restarted { expired_at: Some(una), .. } if una == self.snd_una)
    }

    pub(super) fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        self.counters.ecn_events += u64::from(kind == CongestionKind::Ecn);
        self.note_reduction(kind);
        let congestion = Congestion { now, kind, restart, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_congestion(&congestion);
    }
}
