//! The sender: sequence numbers, the send decision, loss recovery, timers.
//!
//! Reference: RFC 5681 (Reno), RFC 6582 (NewReno), RFC 6675 (SACK), RFC 3042 (limited transmit), RFC 6298 (timer).
//! Marks follow RFC 3168 and 9768. Tahoe is RFC 5681 without fast recovery. The algorithm owns the window.
//!
//! ```text
//!            3 duplicate ACKs                     all acknowledged
//!   open ─────────────────────▶ fast recovery ───────────────────▶ open
//!     │                              │
//!     │ timer                        │ timer        all acknowledged
//!     └──────────────▶ restarted ◀───┘           ┌─────────────▶ open
//!                        │ ▲ └───────────────────┘
//!                        └─┘ timer (backed off)
//! ```
//!
//! `transmit` contains the send decision. `recovery` contains the reaction to ACKs and the
//! timer, with a file for each strategy. `ecn` handles marks, `window` the peer's window, and `validation` the use of
//! the window. Estimators, deadlines and pacing are in `transport`.
//!
//! Deviations: windows count segments and not bytes, as in Linux, and are compared with flights in segments.
//! Algorithms get both. Without timestamps, the round-trip time enters the estimate once per round.

mod connection;
mod ecn;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod growth;
mod info;
mod push;
mod recovery;
mod samples;
mod takeover;
mod transmit;
mod usage;
mod validation;
mod window;

use std::sync::Arc;

use self::connection::Connection;
use self::ecn::{EcnState, Marks};
use self::push::Burst;
use self::recovery::{AnyStrategy, Doubt, Dsack, Frto, Halving, News, Prr, State, Tlp, View};
use self::usage::Usage;
use self::validation::Validation;
use self::window::PeerWindow;
use super::scoreboard::{Delivered, Scoreboard};
use super::segment::AckSegment;
use crate::cc::{Ack, Cc, IdleWindow, MediaFrame, PathView, Phase, PhaseChange};
use crate::transport::{
    Controller, ExitGrowth, LossRecovery, Pacer, Pacing, Reduction, Rtt, RttSamples, SenderCounters, Timer, Timers,
    Transport, WindowGrowth, WindowMean, expiry,
};
use crate::units::{Duration, Instant, Rate};

/// A sender and its algorithm.
///
/// The fields have the order of their use. With thousands of senders an ACK finds none of them in a cache. Loading a
/// cache line costs more than computing with it.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    snd_una: u64,
    snd_nxt: u64,
    /// The present end of the application's data, or `None` for unlimited data.
    written: Option<u64>,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    /// The cumulative ACK before the last ACK of new data.
    previous_una: u64,
    /// Segments by which duplicate ACKs widen the window (Reno and NewReno), and partial ACKs narrow it.
    inflation: i32,
    /// The most outstanding segments, regardless of the window.
    most_outstanding: u32,
    dup_acks: u32,
    /// Segments that the last event let go.
    burst: u32,
    timers: Timers,
    cc: Controller,
    /// A retransmission that leaves regardless of the window.
    retransmit_now: bool,
    /// The last ACK of new data echoed when the last segment it covers was sent.
    echo_is_latest: bool,
    /// A measurement is due for the RTT estimate.
    sample_due: bool,
    /// Growth does not ask whether the window was used.
    grows_unused: bool,
    /// The ACK that ends a fast recovery grows the window of every sender.
    grows_at_exit: bool,
    /// The rate of an algorithm that sets none, from the window and the round trip.
    window_rate: Option<Rate>,
    /// There is one.
    paces_windows: bool,
    /// In slow start, using half of the window is sufficient, and the largest use in a round counts.
    grows_half_used: bool,
    /// The last segment of a burst gets PSH.
    pushes: bool,
    /// Each ACK times the first segment that was sent once.
    times_each_ack: bool,
    /// Bursts wait for the next ACK.
    defers: bool,
    /// One segment at a time is timed for the RTT estimate, instead of every ACK's report.
    times_one_segment: bool,
    /// Timestamps show which recoveries were spurious.
    detects_spurious: bool,
    /// ACKs may have D-SACK blocks.
    takes_dsack: bool,
    /// The algorithm asks for the state of delivery.
    needs_rate_samples: bool,
    /// Selectively acknowledged segments count as in flight until recovery begins.
    hides_sacked: bool,
    /// In fast recovery, departures follow arrivals, and possibly also after a mark.
    reduces: bool,
    /// It does so after a mark, until more is acknowledged than was sent by then.
    reduces_for_mark: bool,
    /// Losses are detected by later deliveries.
    detects_by_time: bool,
    /// Probes ask for overdue ACKs.
    probes: bool,
    tlp: Tlp,
    frto: Frto,
    /// F-RTO looks for spurious timeouts.
    uses_frto: bool,
    /// Whether the window was used, where that matters.
    validation: Option<Box<Validation>>,
    /// The window exceeds the most outstanding segments, or the algorithm cannot continue.
    wants_too_much: bool,
    phase: Phase,
    transport: Arc<Transport>,
    board: Scoreboard,
    state: State,
    strategy: AnyStrategy,
    rtt: Rtt,
    window_mean: WindowMean,
    last_sent_at: Instant,
    counters: SenderCounters,
    /// The one segment that is timed, where samples are taken so: its end, and when it was sent.
    timed: Option<(u64, Instant)>,
    /// The first byte beyond the peer's window: RFC 9293's SND.UNA + SND.WND.
    window_edge: u64,
    ecn: EcnState,
    connection: Connection,
    /// Everything below was sent before the last loss or timeout was found: RFC 6582's recover.
    recover: Option<u64>,
    doubt: Doubt,
    prr: Prr,
    halving: Halving,
    usage: Usage,
    /// The present burst, where PSH ends it.
    pushed: Burst,
    /// In a box, as hardly any connection has it.
    dsack: Option<Box<Dsack>>,
    pacer: Pacer,
    peer_window: PeerWindow,
}

impl Sender {
    /// A connection that is open and has nothing to send yet.
    ///
    /// Many may share their `transport`.
    pub fn new(transport: impl Into<Arc<Transport>>, cc: Cc) -> Self {
        let transport = transport.into();
        let cc = Controller::new(cc);
        let strategy = AnyStrategy::new(&transport);
        let rtt = Rtt::new(&transport);
        let times_one = transport.rtt_samples == RttSamples::TimedSegment && !transport.timestamps;
        let validates = transport.idle_restart && transport.idle_window == IdleWindow::Validate;
        let peer_window = PeerWindow::of(transport.receive_buffer);
        Sender {
            window_edge: transport.receive_buffer.unwrap_or(u64::MAX),
            peer_window,
            grows_unused: transport.window_growth == WindowGrowth::Always,
            grows_at_exit: transport.exit_growth == ExitGrowth::Always,
            grows_half_used: transport.window_growth == WindowGrowth::HalfUsed,
            pushes: transport.push_acks,
            times_each_ack: transport.rtt_samples == RttSamples::EachAck,
            defers: transport.push_acks && transport.tso_defer,
            window_rate: None,
            paces_windows: transport.pacing != Pacing::Off,
            times_one_segment: times_one,
            detects_spurious: transport.undo.by_timestamps() && transport.timestamps,
            takes_dsack: transport.dsack,
            doubt: Doubt::None,
            dsack: transport.undo.by_duplicates().then(Box::default),
            hides_sacked: strategy.hides_sacked(),
            reduces: may_reduce(&transport, &strategy, &cc),
            reduces_for_mark: false,
            prr: Prr::default(),
            halving: Halving::default(),
            usage: Usage::default(),
            pushed: Burst::default(),
            detects_by_time: strategy.detects_by_time(),
            probes: transport.tlp && transport.recovery == LossRecovery::Sack && transport.peer_sack,
            tlp: Tlp::default(),
            frto: Frto::Off,
            uses_frto: transport.frto && transport.recovery == LossRecovery::Sack && transport.peer_sack,
            validation: validates.then(Box::default),
            strategy,
            transport,
            snd_una: 0,
            snd_nxt: 0,
            written: Some(0),
            board: Scoreboard::new(cc.needs_rate_samples()),
            needs_rate_samples: cc.needs_rate_samples(),
            cc,
            rtt,
            timers: Timers::default(),
            state: State::Open,
            recover: None,
            dup_acks: 0,
            inflation: 0,
            retransmit_now: false,
            burst: 0,
            previous_una: 0,
            echo_is_latest: false,
            round_end: 0,
            sample_due: false,
            timed: None,
            ecn: EcnState::default(),
            connection: Connection::default(),
            pacer: Pacer::default(),
            last_sent_at: Instant::ZERO,
            phase: Phase::SlowStart,
            counters: SenderCounters::default(),
            window_mean: WindowMean::default(),
            most_outstanding: u32::MAX,
            wants_too_much: false,
        }
    }

    fn may_reduce(&self) -> bool {
        may_reduce(&self.transport, &self.strategy, &self.cc)
    }

    /// No more than this many segments are ever outstanding: a bound for the memory, which no window should reach.
    pub fn set_most_outstanding(&mut self, segments: u32) {
        self.most_outstanding = segments;
    }

    /// The bound on outstanding segments.
    pub fn most_outstanding(&self) -> u32 {
        self.most_outstanding
    }

    /// Whether the window would have let more go than the bound on outstanding segments, or the algorithm has a
    /// [`fault`](crate::cc::CongestionControl::fault).
    #[inline]
    pub fn wants_too_much(&self) -> bool {
        self.wants_too_much
    }

    /// An ACK will arrive soon. The sender itself is already in the cache.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.board.prefetch();
    }

    // ---- the application ----

    /// The application starts: from now on the window counts.
    pub fn open(&mut self, now: Instant) {
        self.window_mean = WindowMean { since: now, cwnd: self.cc.cwnd(), integral: 0.0 };
        if self.transport.handshake {
            self.connect(now);
        } else if !self.transport.handshake_rtt.is_zero() {
            self.on_handshake(now, self.transport.handshake_rtt);
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.burst = 0;
        self.resume_if_idle(now);
        if let Some(written) = &mut self.written {
            *written += bytes;
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.written = None;
    }

    /// The application stops: data that was never sent is discarded.
    pub fn stop_writing(&mut self) {
        // The octet of a window probe was written, and may still be acknowledged.
        self.written = Some(self.acceptable_ack());
    }

    /// True if everything written was acknowledged.
    pub fn is_done(&self) -> bool {
        self.written == Some(self.snd_una)
    }

    /// The encoder hands over a frame. The frame itself is written separately.
    pub(crate) fn on_frame(&mut self, frame: &MediaFrame) {
        self.cc.tell_media(|cc| cc.on_frame(frame));
    }

    /// The rate of an encoder, from an algorithm that sets it.
    pub(crate) fn target_rate(&mut self) -> Option<Rate> {
        self.cc.target_rate()
    }

    // ---- the network ----

    /// The handshake took `rtt`: the first measurement.
    pub fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.rtt.observe(rtt);
        self.rtt.update(now, rtt);
        self.tlp.note_sample();
    }

    /// An ACK arrives.
    pub fn on_ack(&mut self, now: Instant, ack: &AckSegment) {
        if self.connection.is_busy() && self.on_control_ack(now, ack) {
            return;
        }
        if ack.ack < self.snd_una || ack.ack > self.snd_nxt && !self.takes_probe(ack.ack) {
            return;
        }
        self.burst = 0;
        if ack.window().is_some_and(|window| self.is_window_update(now, ack, window)) {
            return;
        }
        let in_flight_before = self.in_flight_for_window();
        let cwnd_limited = self.grows_unused || self.uses_window(in_flight_before);
        let shows_needless = self.takes_dsack && self.take_dsack(ack);
        let mut delivered = Delivered::default();
        let duplicates = self.dup_acks;
        let acked_bytes = ack.ack - self.snd_una;
        let acked_from = self.board.outstanding();
        self.board.acknowledge(ack.ack, &mut delivered);
        let acked_segments = acked_from - self.board.outstanding();
        if acked_bytes > 0 {
            self.previous_una = self.snd_una;
            self.echo_is_latest = delivered.last.is_some_and(|sent_at| sent_at == ack.echo);
        }
        self.snd_una = ack.ack;
        let round_ended = ack.ack > self.round_end;
        if round_ended {
            self.begin_round();
        }
        let News { may_be_duplicate, lost: mut newly_lost } = self.hear(now, ack, acked_bytes > 0, &mut delivered);
        if let Some(newest) = &delivered.newest {
            self.measure_rtt(now, ack, acked_bytes, newest, delivered.lowest_once.map(|(.., sent_at)| sent_at));
        }
        if self.needs_rate_samples {
            self.board.sample_rate(now, &delivered);
        }
        self.measure_timed(now);
        if self.frto != Frto::Off {
            self.advance_frto(now, acked_bytes > 0, &delivered);
        }
        let before = self.state;
        let inflation = self.inflation;
        if acked_bytes > 0 {
            newly_lost += self.on_new_ack(now, acked_segments, ack.echo);
        } else if may_be_duplicate && self.board.outstanding() > 0 {
            // RFC 5681 §2: "(a) the receiver of the ACK has outstanding data".
            newly_lost += self.on_duplicate_ack(now);
        }
        let may_begin = newly_lost > 0 || self.begins_again(before);
        self.look_after_losses(now, ack, acked_bytes > 0, may_begin, shows_needless);
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

    /// When the sender wants to be woken, once [`poll_transmit`](Self::poll_transmit) gives no more.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// The timers that go off if the time is `now`, the first one first.
    pub fn due_timers(&self, now: Instant) -> impl Iterator<Item = Timer> {
        self.timers.due(now)
    }

    /// The algorithm asks for something else, though there was no event.
    pub(crate) fn refresh(&mut self, now: Instant) {
        self.cc.ask();
        self.after_event(now);
    }

    /// The time is `now`. Due timers expire.
    pub fn on_deadline(&mut self, now: Instant) {
        self.burst = 0;
        for timer in Timer::ALL {
            if self.timers.fires(timer, now) {
                self.on_timer(now, timer);
            }
        }
    }

    fn on_timer(&mut self, now: Instant, timer: Timer) {
        match timer {
            Timer::Retransmission => {
                if self.connection.is_busy() && self.on_control_timeout(now) {
                    return;
                }
                self.on_timeout(now);
                self.after_event(now);
            }
            Timer::Persist => self.on_persist_timer(),
            Timer::Probe => self.on_probe_timer(now),
            Timer::Reordering => {
                self.on_reordering_timer(now);
                self.after_event(now);
            }
            // What they held back is polled for.
            Timer::DelayedStart | Timer::Pacing => {}
        }
    }

    // ---- what others may know ----

    /// The algorithm.
    pub fn cc(&self) -> &Cc {
        self.cc.cc()
    }

    /// The window in force, in segments: the algorithm's, or in fast recovery the reduced one.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        if self.is_reducing() { self.reduced_window() as f64 } else { self.cc.cwnd() }
    }

    /// The counters so far.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Bytes acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.snd_una
    }

    /// Bytes sent so far, each counted once.
    pub fn sent_once(&self) -> u64 {
        self.snd_nxt
    }

    /// Transmissions taken for lost so far.
    pub fn losses(&self) -> u64 {
        self.board.losses()
    }

    /// The first bytes of the segments that are taken for lost and were not sent again since.
    pub fn lost(&self) -> impl Iterator<Item = u64> {
        self.board.lost().map(|segment| segment.seq)
    }

    /// Segments in flight, as the sender estimates them.
    pub fn in_flight(&self) -> u32 {
        self.board.pipe()
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The integral of cwnd over time since the application started, in segments times nanoseconds.
    pub fn window_integral(&mut self, now: Instant) -> f64 {
        self.window_mean.step(now, self.cwnd());
        self.window_mean.integral
    }

    // ---- acknowledgements ----

    #[inline]
    fn hear(&mut self, now: Instant, ack: &AckSegment, is_new: bool, delivered: &mut Delivered) -> News {
        let Sender { strategy, board, rtt, state, snd_una, snd_nxt, .. } = self;
        let mut view = View { board, rtt, state: *state, una: *snd_una, is_new, next: *snd_nxt, now };
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

    // ---- bookkeeping ----

    /// RFC 6298 §5.3: "restart the retransmission timer so that it will expire after RTO seconds".
    #[inline]
    fn restart_retransmission_timer(&mut self, now: Instant) {
        self.start_timer(Timer::Retransmission, now, self.rtt.rto());
    }

    /// The timer goes off after this time, at a tick of the sender's clock.
    #[inline]
    fn start_timer(&mut self, timer: Timer, now: Instant, timeout: Duration) {
        self.timers.set(timer, expiry(now, timeout, self.transport.timer_tick));
    }

    /// Adds the delivery rate that an ACK shows, which reports `ce_bytes` more that came with a mark. Losses come before it.
    #[inline]
    fn add_rate(&mut self, event: &mut Ack, ce_bytes: u32) {
        if self.needs_rate_samples {
            self.tell_losses(event.now);
            event.rate = self.board.take_sample(ce_bytes);
        }
    }

    /// Reports each lost transmission to an algorithm that needs them.
    #[inline(never)]
    fn tell_losses(&mut self, now: Instant) {
        while let Some(lost) = self.board.next_unreported() {
            let loss = lost.event(now, self.path());
            self.cc.on_loss(&loss);
        }
    }

    #[inline]
    fn path(&self) -> PathView {
        PathView {
            in_flight: self.board.pipe(),
            in_flight_bytes: self.board.bytes_in_flight(),
            mss: self.transport.mss,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
        }
    }

    #[inline]
    fn after_event(&mut self, now: Instant) {
        let cwnd = self.cc.cwnd();
        if cwnd.is_nan() {
            self.wants_too_much = true;
            return;
        }
        debug_assert!(cwnd.is_finite() && cwnd >= 1.0, "invariant: cwnd is finite and at least one segment");
        self.window_mean.step(now, self.cwnd());
        if self.paces_windows {
            self.set_window_rate();
        }
        let phase = match self.state {
            State::FastRecovery { .. } => Phase::FastRecovery,
            _ if self.is_backed_off() => Phase::RtoRecovery,
            _ if cwnd < self.cc.ssthresh() => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        };
        if phase != self.phase {
            let change = PhaseChange { now, from: self.phase, to: phase };
            self.phase = phase;
            self.cc.on_phase(&change);
        }
    }
}

/// Whether departures follow arrivals in fast recovery.
fn may_reduce(transport: &Transport, strategy: &AnyStrategy, cc: &Controller) -> bool {
    transport.prr != Reduction::AtOnce && strategy.reduces() && !cc.owns_recovery()
}

#[cfg(test)]
mod tests;
