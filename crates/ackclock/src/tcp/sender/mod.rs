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
//! `acks` processes ACKs step by step, and `expected` has the short path of most of them. `transmit` contains the send
//! decision. `recovery` contains the reaction to losses and the timer, with a file for each strategy. `ecn` handles marks, `window` the peer's window, and `validation` the use of
//! the window. Estimators, deadlines and pacing are in `transport`.
//!
//! Deviations: windows count segments and not bytes, as in Linux, and are compared with flights in segments.
//! Algorithms get both. Without timestamps, the round-trip time enters the estimate once per round.

mod acks;
mod connection;
mod ecn;
mod expected;
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
use self::ecn::EcnState;
use self::push::Burst;
use self::recovery::{AnyStrategy, Doubt, Dsack, Frto, Halving, Prr, State, Tlp};
use self::usage::Usage;
use self::validation::Validation;
use self::window::PeerWindow;
use super::scoreboard::Scoreboard;
use crate::cc::{Cc, IdleWindow, MediaFrame, PathView, Phase, PhaseChange};
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
    /// ACKs of the next data may take the short path.
    predicts: bool,
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
        let mut sender = Sender {
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
            dsack: transport.undo.by_duplicates().then(|| Box::new(Dsack::new(transport.undo))),
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
            predicts: false,
        };
        sender.predicts = sender.may_predict();
        sender
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
        self.connection.note_write(now);
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
