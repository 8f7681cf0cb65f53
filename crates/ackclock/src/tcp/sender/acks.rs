//! The processing of an ACK, step by step.

use super::Sender;
use super::ecn::Marks;
use super::recovery::{DuplicateNews, Frto, News, View};
use crate::cc::Ack;
use crate::tcp::scoreboard::Delivered;
use crate::tcp::segment::AckSegment;
use crate::units::Instant;

/// An acknowledgement, as the parts of the sender have processed it so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    pub(super) delivered: Delivered,
    /// Cumulatively acknowledged.
    pub(super) acked_bytes: u64,
    pub(super) acked_segments: u32,
    /// Duplicate ACKs before it.
    pub(super) duplicates: u32,
    pub(super) round_ended: bool,
    pub(super) cwnd_limited: bool,
    /// Segments delivered a second time that count as deliveries.
    pub(super) again: u32,
    /// It shows that the last recovery was unnecessary.
    pub(super) shows_needless: bool,
    pub(super) news: News,
}

impl Sender {
    /// An ACK arrives.
    pub fn on_ack(&mut self, now: Instant, ack: &AckSegment) {
        if self.expects(ack) {
            self.on_expected_ack(now, ack);
        } else {
            self.on_any_ack(now, ack);
        }
    }

    /// An ACK arrives that the short path does not process.
    #[inline(never)]
    pub(super) fn on_any_ack(&mut self, now: Instant, ack: &AckSegment) {
        if self.connection.is_busy() && self.on_control_ack(now, ack) {
            return;
        }
        if ack.ack < self.snd_una {
            return self.on_old_ack(now, ack);
        }
        if ack.ack > self.snd_nxt && !self.takes_probe(ack.ack) {
            return;
        }
        self.burst = 0;
        if ack.window().is_some_and(|window| self.is_window_update(now, ack, window)) {
            return;
        }
        let cwnd_limited = self.grows_unused || self.uses_window(self.in_flight_for_window());
        let DuplicateNews { again, shows_needless } =
            if self.takes_dsack { self.take_dsack(now, ack) } else { DuplicateNews::default() };
        let duplicates = self.dup_acks;
        let acked_from = self.board.outstanding();
        let delivered = self.board.acknowledge(ack.ack);
        let acked_segments = acked_from - self.board.outstanding();
        let arrival = Arrival {
            delivered,
            acked_segments,
            cwnd_limited,
            shows_needless,
            duplicates,
            again,
            ..Arrival::default()
        };
        self.process(now, ack, arrival);
    }

    /// An ACK arrives behind a later one. Its blocks may show losses all the same. As in Linux (`tcp_ack`, label
    /// `old_ack`) it gives no measurement, and neither the algorithm nor a reduction learns of it.
    #[cold]
    fn on_old_ack(&mut self, now: Instant, ack: &AckSegment) {
        let old = ack.after(self.snd_una);
        if old.sack.is_empty() {
            return;
        }
        let before = self.state;
        let mut delivered = Delivered::default();
        let News { may_be_duplicate, lost } = self.hear(now, &old, false, &mut delivered);
        if let Some(newest) = delivered.newest.filter(|_| self.needs_rate_samples) {
            self.board.sample_rate(now, delivered.bytes, newest.sent_at);
            self.board.take_sample(0);
        }
        let is_duplicate = may_be_duplicate && self.board.outstanding() > 0;
        let newly_lost = lost + if is_duplicate { self.on_duplicate_ack(now) } else { 0 };
        self.look_after_losses(now, &old, false, newly_lost > 0, false);
        if self.is_reducing() && !before.is_fast_recovery() {
            self.reduce(delivered.segments, false);
        }
        if self.needs_rate_samples {
            self.tell_losses(now);
        }
        self.after_event(now);
    }

    /// Processes an ACK that the scoreboard has processed.
    pub(super) fn process(&mut self, now: Instant, ack: &AckSegment, mut arrival: Arrival) {
        arrival.acked_bytes = ack.ack - self.snd_una;
        arrival.round_ended = self.advance(ack, arrival.delivered.last);
        arrival.news = self.hear(now, ack, arrival.acked_bytes > 0, &mut arrival.delivered);
        arrival.delivered.segments += arrival.again;
        self.conclude(now, ack, arrival);
    }

    /// The second part of an ACK: timers, the state of recovery, and the algorithm.
    pub(super) fn conclude(&mut self, now: Instant, ack: &AckSegment, arrival: Arrival) {
        let Arrival { delivered, acked_bytes, acked_segments, round_ended, cwnd_limited, duplicates, .. } = arrival;
        let mut newly_lost = arrival.news.lost;
        if let Some(newest) = &delivered.newest {
            self.measure_rtt(now, ack, acked_bytes, newest, delivered.lowest_once.map(|(.., sent_at)| sent_at));
            if self.needs_rate_samples {
                self.board.sample_rate(now, delivered.bytes, newest.sent_at);
            }
        }
        self.measure_timed(now);
        if self.frto != Frto::Off {
            self.advance_frto(now, acked_bytes > 0, &delivered);
        }
        let before = self.state;
        let reduced_window = self.is_reducing().then(|| self.reduced_window().max(0) as u32);
        let inflation = self.inflation;
        if acked_bytes > 0 {
            newly_lost += self.on_new_ack(now, acked_segments, ack.echo);
        } else if arrival.news.may_be_duplicate && self.board.outstanding() > 0 {
            // RFC 5681 §2: "(a) the receiver of the ACK has outstanding data".
            newly_lost += self.on_duplicate_ack(now);
        }
        let may_begin = newly_lost > 0 || self.begins_again(before);
        self.look_after_losses(now, ack, acked_bytes > 0, may_begin, arrival.shows_needless);
        let is_safe = acked_bytes > 0 && newly_lost == 0;
        self.end_reduction_for_mark();
        if self.is_reducing() {
            self.reduce(self.arrived(delivered.segments, inflation), is_safe);
        }
        let Marks { ece, packets: ce_count, bytes: ce_bytes } = self.on_feedback(now, ack, &delivered, is_safe);
        let mut event = Ack {
            now,
            acked: self.growth(acked_bytes, acked_segments, delivered.segments, duplicates),
            newly_delivered: delivered.segments,
            newly_lost,
            ce_count,
            ece,
            round_ended,
            cwnd_limited,
            in_recovery: before.is_fast_recovery() && !(self.grows_at_exit || self.strategy.grows_at_exit())
                || self.state.is_fast_recovery()
                || self.reduces_for_mark,
            reduced_window,
            rate: None,
            state: self.ca_state(),
            path: self.path(),
        };
        self.add_rate(&mut event, ce_bytes);
        self.cc.on_ack(&event);
        self.sample_use(now, acked_bytes > 0, round_ended);
        self.after_event(now);
        if self.connection.is_busy() {
            self.watch_fin(now);
        }
    }

    /// The left edge of the window moves to the acknowledgement, and a round may end. `last` is the time when the last
    /// segment left that is now acknowledged.
    #[inline(always)]
    pub(super) fn advance(&mut self, ack: &AckSegment, last: Option<Instant>) -> bool {
        if ack.ack > self.snd_una {
            self.previous_una = self.snd_una;
            self.echo_is_latest = last == Some(ack.echo);
        }
        self.snd_una = ack.ack;
        let round_ended = ack.ack > self.round_end;
        if round_ended {
            self.begin_round();
        }
        round_ended
    }

    /// The strategy processes the ACK, which acknowledges new data or not. Each strategy is large, so there is one copy.
    #[inline(never)]
    pub(super) fn hear(&mut self, now: Instant, ack: &AckSegment, is_new: bool, delivered: &mut Delivered) -> News {
        let Sender { strategy, board, rtt, state, snd_una, snd_nxt, .. } = self;
        let retransmits = self.counters.retransmits;
        let mut view = View { board, rtt, state: *state, una: *snd_una, is_new, next: *snd_nxt, now, retransmits };
        strategy.on_ack(&mut view, ack, delivered)
    }

    /// Runs RACK and TLP, if enabled, after any ACK. It may have shown lost segments or an unnecessary recovery.
    #[inline]
    fn look_after_losses(
        &mut self,
        now: Instant,
        ack: &AckSegment,
        is_new: bool,
        may_begin: bool,
        shows_needless: bool,
    ) {
        if shows_needless {
            self.undo_needless(now);
        }
        if self.detects_by_time {
            if may_begin {
                self.on_found_losses(now);
            }
            self.set_reordering_timer(now);
        }
        if self.probes {
            self.after_ack_for_probes(now, ack, is_new);
        }
    }

    /// All that was sent when the last round began is acknowledged.
    #[inline]
    fn begin_round(&mut self) {
        self.round_end = self.snd_nxt;
        self.sample_due = true;
        self.rtt.end_round();
    }

    /// True if this flight uses all of the window, or if enough of it was used since the last check.
    #[inline]
    fn uses_window(&self, in_flight: i64) -> bool {
        // RFC 7661 §4.4: "A sender that is not cwnd-limited MUST NOT increase the cwnd when ACK packets are received in this phase".
        if self.grows_half_used && !self.is_unvalidated() { self.used_enough() } else { in_flight >= self.window() }
    }

    /// Adds the delivery rate that an ACK shows, which reports `ce_bytes` more that came with a mark. Losses come before it.
    #[inline]
    pub(super) fn add_rate(&mut self, event: &mut Ack, ce_bytes: u32) {
        if self.needs_rate_samples {
            self.tell_losses(event.now);
            event.rate = self.board.take_sample(ce_bytes);
        }
    }
}
