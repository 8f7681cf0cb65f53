//! Header prediction: while nothing is missing, ACKs of new data and new segments take a short path.
//!
//! Reference: V. Jacobson's "4BSD TCP Header Prediction" (1990). Linux's `tcp_rcv_established` has such a path too.
//!
//! The short path omits steps that have no effect. A test compares it with the general path.

use super::Sender;
use super::acks::Arrival;
use super::recovery::{AnyStrategy, Frto, State};
use crate::cc::{Ack, CaState};
use crate::tcp::scoreboard::{Delivered, Run};
use crate::tcp::segment::{AckSegment, DataSegment};
use crate::transport::{EcnMode, Timer};
use crate::units::Instant;

impl Sender {
    /// True if no option and no algorithm needs more than the short path does.
    pub(super) fn may_predict(&self) -> bool {
        self.transport.ecn == EcnMode::Off
            && !self.times_one_segment
            && self.validation.is_none()
            && !matches!(self.strategy, AnyStrategy::Fack(_) | AnyStrategy::DuplicateAcks(_))
    }

    /// True for an ACK of new data while nothing is missing. It has no SACK block and no window, and no probe is in flight.
    #[inline(always)]
    pub(super) fn expects(&self, ack: &AckSegment) -> bool {
        self.predicts
            && self.state == State::Open
            && ack.ack > self.snd_una
            && ack.ack <= self.snd_nxt
            && !ack.has_options()
            && self.dup_acks == 0
            && self.inflation == 0
            && !self.board.has_sacked()
            && self.frto == Frto::Off
            && !self.tlp.is_out()
            && !self.connection.is_busy()
    }

    /// Processes such an ACK.
    #[inline(always)]
    pub(super) fn on_expected_ack(&mut self, now: Instant, ack: &AckSegment) {
        self.burst = 0;
        let cwnd_limited = self.grows_unused || self.uses_open_window();
        let Some(run) = self.board.acknowledge_run(ack.ack) else {
            self.on_any_ack(now, ack);
            return;
        };
        if self.board.has_below(ack.ack) {
            self.on_mixed_ack(now, ack, &run, cwnd_limited);
            return;
        }
        let Run { segments, bytes, lowest, last } = run;
        let acked_bytes = ack.ack - self.snd_una;
        let round_ended = self.advance(ack, Some(last.sent_at));
        if self.detects_by_time {
            let mut delivered = Delivered::of_run(&run);
            let news = self.hear(now, ack, true, &mut delivered);
            if news.lost > 0 {
                let arrival =
                    Arrival { delivered, acked_bytes, acked_segments: segments, round_ended, ..Arrival::default() };
                self.conclude(now, ack, Arrival { cwnd_limited, news, ..arrival });
                return;
            }
        }
        self.measure_rtt(now, ack, acked_bytes, &last, Some(lowest.sent_at));
        if self.needs_rate_samples {
            self.board.sample_rate(now, bytes, last.sent_at);
        }
        if self.board.outstanding() == 0 {
            self.timers.stop(Timer::Retransmission);
        } else {
            self.restart_retransmission_timer(now);
        }
        if self.detects_by_time {
            self.set_reordering_timer(now);
        }
        if self.probes {
            self.tlp.note_progress();
        }
        let mut event = Ack {
            now,
            acked: self.growth(acked_bytes, segments, segments, 0),
            newly_delivered: segments,
            newly_lost: 0,
            ce_count: 0,
            ece: false,
            round_ended,
            cwnd_limited,
            in_recovery: false,
            reduced_window: None,
            rate: None,
            state: CaState::Open,
            path: self.path(),
        };
        self.add_rate(&mut event, 0);
        self.cc.on_ack(&event);
        self.after_event(now);
    }

    /// An expected ACK also covers segments that were sent again, or a part of a segment.
    #[cold]
    fn on_mixed_ack(&mut self, now: Instant, ack: &AckSegment, run: &Run, cwnd_limited: bool) {
        let mut delivered = Delivered::of_run(run);
        let left = self.board.outstanding();
        self.board.acknowledge_rest(ack.ack, &mut delivered);
        let acked_segments = run.segments + left - self.board.outstanding();
        self.process(now, ack, Arrival { delivered, acked_segments, cwnd_limited, ..Arrival::default() });
    }

    /// True if the flight uses the window, outside of recovery and without duplicate ACKs.
    #[inline(always)]
    fn uses_open_window(&self) -> bool {
        if self.grows_half_used { self.used_enough() } else { self.fills_open_window() }
    }

    #[inline(always)]
    fn fills_open_window(&self) -> bool {
        let in_flight = if self.hides_sacked { self.board.outstanding() } else { self.board.pipe() };
        i64::from(in_flight) >= self.cc.whole_segments().max(1)
    }

    /// True if nothing but the window and the application limits new data.
    #[inline(always)]
    pub(super) fn only_window_limits(&self) -> bool {
        self.pacing_rate().is_none()
            && self.state == State::Open
            && self.dup_acks == 0
            && self.inflation == 0
            && !self.retransmit_now
            && !self.reduces_for_mark
            && self.window_edge == u64::MAX
            && self.transport.max_burst.is_none()
            && !self.timers.runs(Timer::DelayedStart)
            && !self.connection.is_busy()
    }

    /// The next segment of such data.
    #[inline(always)]
    pub(super) fn next_in_window(&mut self, now: Instant) -> Option<DataSegment> {
        self.timers.stop(Timer::Pacing);
        if self.fills_open_window() {
            if self.grows_half_used && self.has_unsent() {
                self.note_use(true);
            }
            return None;
        }
        let len = self.next_new()?;
        if self.defers(now) {
            self.note_use(true);
            return None;
        }
        self.burst += 1;
        Some(self.send_new_in_place(now, len))
    }
}
