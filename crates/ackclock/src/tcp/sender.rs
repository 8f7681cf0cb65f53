//! The sender: sequence numbers, the send decision, loss recovery, timers.
//!
//! Reference: RFC 5681 (Reno), RFC 6582 (NewReno), RFC 6675 (SACK), RFC 3042 (limited transmit),
//! RFC 6298 (timer); Tahoe is RFC 5681 without fast recovery. The window is the algorithm's.
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
//! Deviations: windows and flights count segments and not bytes, as Linux does; the round-trip time enters
//! the estimate once per round unless timestamps are on.

use super::delivery::DeliverySampler;
use super::rtt::{RtoTimer, Rtt};
use super::scoreboard::{DUP_THRESH, Delivered, Scoreboard, SentSegment};
use super::segment::{AckSegment, DataSegment};
use super::transport::{LossRecovery, Transport};
use crate::cc::{
    Ack, Cc, Congestion, CongestionControl, CongestionKind, PathView, Phase, PhaseChange, Recovery, Restart, Sent,
};
use crate::units::Instant;

/// A sender and its algorithm.
#[derive(Debug)]
pub struct Sender {
    transport: Transport,
    cc: Cc,
    snd_una: u64,
    snd_nxt: u64,
    /// Where the application's data end so far; `None` while there is always more.
    written: Option<u64>,
    board: Scoreboard,
    rtt: Rtt,
    timer: RtoTimer,
    state: State,
    /// Everything below was sent before the last loss or timeout was found: RFC 6582's recover.
    recover: Option<u64>,
    dup_acks: u32,
    /// Segments by which duplicate ACKs widen the window (Reno and NewReno), and partial ACKs narrow it.
    inflation: i64,
    /// A retransmission that goes out whatever the window says.
    retransmit_now: bool,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    /// A measurement is due for the RTT estimate.
    sample_due: bool,
    delivery: DeliverySampler,
    ce_seen: u32,
    next_send_at: Instant,
    last_sent_at: Instant,
    phase: Phase,
    counters: SenderCounters,
    window_mean: WindowMean,
}

/// How losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    FastRecovery {
        /// What was sent when the loss was found: RFC 6675's RecoveryPoint.
        point: u64,
        /// A partial ACK has come (RFC 6582 restarts the timer on the first one only).
        partial_ack: bool,
        /// RFC 6675's RescueRxt: the rescue retransmission waits for an ACK above.
        rescue_after: Option<u64>,
    },
    /// Everything in flight was given up, and is sent again in slow start.
    Restarted {
        /// What was sent by then.
        point: u64,
        /// What was acknowledged when the timer last expired; none for Tahoe's fast retransmit.
        expired_at: Option<u64>,
    },
}

/// What a sender counts, from the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Congestion events signalled to the algorithm.
    pub congestion_events: u64,
}

/// The integral of cwnd over time.
#[derive(Clone, Copy, Debug, Default)]
struct WindowMean {
    since: Instant,
    cwnd: f64,
    /// Segments times nanoseconds.
    integral: f64,
}

impl WindowMean {
    #[inline]
    fn step(&mut self, now: Instant, cwnd: f64) {
        self.integral += self.cwnd * now.since(self.since).as_nanos() as f64;
        self.since = now;
        self.cwnd = cwnd;
    }
}

impl Sender {
    /// A connection that is open and has nothing to send yet.
    pub fn new(transport: Transport, cc: Cc) -> Self {
        let rtt = Rtt::new(transport.min_rto);
        let mut sender = Sender {
            transport,
            cc,
            snd_una: 0,
            snd_nxt: 0,
            written: Some(0),
            board: Scoreboard::default(),
            rtt,
            timer: RtoTimer::default(),
            state: State::Open,
            recover: None,
            dup_acks: 0,
            inflation: 0,
            retransmit_now: false,
            round_end: 0,
            sample_due: true,
            delivery: DeliverySampler::default(),
            ce_seen: 0,
            next_send_at: Instant::ZERO,
            last_sent_at: Instant::ZERO,
            phase: Phase::SlowStart,
            counters: SenderCounters::default(),
            window_mean: WindowMean::default(),
        };
        // Without blocks from the peer a SACK sender behaves as Reno.
        if sender.transport.recovery == LossRecovery::Sack && !sender.transport.peer_sack {
            sender.transport.recovery = LossRecovery::Reno;
        }
        sender
    }

    // ---- the application ----

    /// The application starts: from now on the window counts.
    pub fn open(&mut self, now: Instant) {
        self.window_mean = WindowMean { since: now, cwnd: self.cc.cwnd(), integral: 0.0 };
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.resume_if_idle(now);
        if let Some(written) = &mut self.written {
            *written += bytes;
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.written = None;
    }

    /// The application stops: what was never sent will not be.
    pub fn stop_writing(&mut self) {
        self.written = Some(self.snd_nxt);
    }

    /// True if everything written was acknowledged.
    pub fn is_done(&self) -> bool {
        self.written == Some(self.snd_una)
    }

    // ---- the network ----

    /// The next segment to send at `now`, if any may be sent.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataSegment> {
        if self.retransmit_now {
            self.retransmit_now = false;
            if let Some(index) = self.board.front_index() {
                return Some(self.retransmit(now, index, true));
            }
        }
        if i64::from(self.in_flight_for_window()) >= self.window() {
            return None;
        }
        if self.pacing_holds(now) {
            return None;
        }
        let lost = if self.state == State::Open { None } else { self.board.next_lost() };
        if let Some(index) = lost {
            return Some(self.retransmit(now, index, true));
        }
        if let Some(segment) = self.send_new(now) {
            return Some(segment);
        }
        self.retransmit_on_suspicion(now)
    }

    /// An ACK arrives.
    pub fn on_ack(&mut self, now: Instant, ack: &AckSegment) {
        if ack.ack < self.snd_una || ack.ack > self.snd_nxt {
            return;
        }
        let in_flight_before = self.in_flight_for_window();
        let cwnd_limited = i64::from(in_flight_before) >= self.window();
        let mut delivered = Delivered::default();
        let acked_bytes = ack.ack - self.snd_una;
        let acked_from = self.board.outstanding();
        self.board.acknowledge(ack.ack, &mut delivered);
        let acked_segments = acked_from - self.board.outstanding();
        self.snd_una = ack.ack;
        let mut newly_lost = 0;
        let mut news = false;
        if self.transport.recovery == LossRecovery::Sack && !ack.sack.is_empty() {
            let before = delivered.segments;
            self.board.acknowledge_selectively(ack.ack, &ack.sack, &mut delivered);
            news = delivered.segments > before;
            newly_lost += self.board.find_losses();
        }
        let rate = delivered.newest.and_then(|newest| {
            self.measure_rtt(now, ack, &newest);
            self.delivery.on_delivered(now, delivered.bytes, &newest)
        });
        let was_in_recovery = matches!(self.state, State::FastRecovery { .. });
        if acked_bytes > 0 {
            newly_lost += self.on_new_ack(now, acked_segments);
        } else if self.is_duplicate(news) {
            newly_lost += self.on_duplicate_ack(now);
        }
        let round_ended = acked_bytes > 0 && ack.ack > self.round_end;
        if round_ended {
            self.round_end = self.snd_nxt;
            self.sample_due = true;
        }
        let ce_count = ack.ce_count.wrapping_sub(self.ce_seen);
        self.ce_seen = ack.ce_count;
        let event = Ack {
            now,
            acked: self.growth(acked_bytes, acked_segments),
            newly_delivered: delivered.segments,
            newly_lost,
            ce_count,
            round_ended,
            cwnd_limited,
            // The ACK that ends fast recovery does not also grow the window.
            in_recovery: was_in_recovery || matches!(self.state, State::FastRecovery { .. }),
            rate,
            path: self.path(),
        };
        self.cc.on_ack(&event);
        self.after_event(now);
    }

    /// When the sender wants to be woken.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        let paced = self.cc.pacing_rate().is_some() && self.wants_to_send();
        match (self.timer.deadline(), paced.then_some(self.next_send_at)) {
            (Some(timer), Some(send)) => Some(timer.min(send)),
            (timer, send) => timer.or(send),
        }
    }

    /// The time is `now`; timers that are due go off.
    pub fn on_deadline(&mut self, now: Instant) {
        if self.timer.deadline().is_some_and(|deadline| deadline <= now) {
            self.on_timeout(now);
            self.after_event(now);
        }
    }

    // ---- what others may know ----

    /// The algorithm.
    pub fn cc(&self) -> &Cc {
        &self.cc
    }

    /// What was counted so far.
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
        self.window_mean.step(now, self.cc.cwnd());
        self.window_mean.integral
    }

    // ---- the send decision ----

    /// The one place where a window in fractions becomes whole segments.
    #[inline]
    fn window(&self) -> i64 {
        let limited_transmit = match self.state {
            // RFC 3042 §2: "Upon receiving the first and second duplicate ACKs ... send new data", with the
            // flight "no more than 2*SMSS" beyond cwnd. The SACK sender's pipe makes that room by itself.
            State::Open if self.transport.limited_transmit && self.transport.recovery != LossRecovery::Sack => {
                i64::from(self.dup_acks.min(DUP_THRESH - 1))
            }
            _ => 0,
        };
        (self.cc.cwnd() as i64 + self.inflation).max(1) + limited_transmit
    }

    /// What the window is compared with.
    #[inline]
    fn in_flight_for_window(&self) -> u32 {
        let hides_sacked = self.transport.recovery == LossRecovery::Sack && !self.transport.limited_transmit;
        if hides_sacked && self.state == State::Open { self.board.outstanding() } else { self.board.pipe() }
    }

    #[inline]
    fn send_new(&mut self, now: Instant) -> Option<DataSegment> {
        let mss = u64::from(self.transport.mss);
        let unsent = self.written.map_or(mss, |written| written - self.snd_nxt);
        if unsent == 0 {
            let in_flight_bytes = self.snd_nxt - self.snd_una;
            self.delivery.note_app_limited(in_flight_bytes);
            return None;
        }
        let len = unsent.min(mss);
        if let Some(max_window) = self.transport.max_window
            && self.snd_nxt + len > self.snd_una + u64::from(max_window) * mss
        {
            return None;
        }
        let stamp = self.delivery.stamp(now, self.board.outstanding() == 0);
        self.board.push(self.snd_nxt, len as u32, now, stamp);
        let segment = DataSegment { seq: self.snd_nxt, len: len as u32, sent_at: now };
        self.snd_nxt += len;
        self.note_sent(now, &segment, false);
        Some(segment)
    }

    /// RFC 6675 §4, rules 3 and 4 of NextSeg: what may be lost, when nothing else can be sent.
    fn retransmit_on_suspicion(&mut self, now: Instant) -> Option<DataSegment> {
        let State::FastRecovery { point, rescue_after, .. } = &mut self.state else { return None };
        if self.transport.recovery != LossRecovery::Sack {
            return None;
        }
        if let Some(index) = self.board.next_suspect() {
            return Some(self.retransmit(now, index, true));
        }
        if rescue_after.is_some_and(|bound| self.snd_una <= bound) {
            return None;
        }
        let index = self.board.last_unsacked()?;
        // RFC 6675 §4, rule 4: "set RescueRxt to RecoveryPoint".
        *rescue_after = Some(*point);
        Some(self.retransmit(now, index, false))
    }

    fn retransmit(&mut self, now: Instant, index: u64, advance: bool) -> DataSegment {
        let stamp = self.delivery.stamp(now, false);
        let SentSegment { seq, len, .. } = self.board.retransmit(index, advance, now, stamp);
        let segment = DataSegment { seq, len, sent_at: now };
        self.note_sent(now, &segment, true);
        segment
    }

    #[inline]
    fn note_sent(&mut self, now: Instant, segment: &DataSegment, retransmission: bool) {
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(segment.len);
        self.counters.retransmits += u64::from(retransmission);
        self.last_sent_at = now;
        // RFC 6298 §5.1: "Every time a packet containing data is sent (including a retransmission), if the
        // timer is not running, start it".
        self.timer.start(now, &self.rtt);
        if let Some(rate) = self.cc.pacing_rate() {
            let wire = segment.len + self.transport.header + self.transport.framing;
            let (gap, _) = rate.transmission(u64::from(wire));
            self.next_send_at = self.next_send_at.max(now) + gap;
        }
        let path = self.path();
        self.cc.on_sent(&Sent { now, bytes: segment.len, retransmission, path });
    }

    #[inline]
    fn pacing_holds(&self, now: Instant) -> bool {
        self.next_send_at > now && self.cc.pacing_rate().is_some()
    }

    /// True if pacing, and nothing else, may be what holds the next segment back.
    fn wants_to_send(&self) -> bool {
        let has_data = self.written.is_none_or(|written| written > self.snd_nxt);
        (has_data || self.state != State::Open) && i64::from(self.in_flight_for_window()) < self.window()
    }

    fn resume_if_idle(&mut self, now: Instant) {
        let idle = self.board.outstanding() == 0 && self.counters.segments > 0;
        // RFC 5681 §4.1: "if the TCP has not sent data in an interval exceeding the retransmission timeout".
        if idle && self.transport.idle_restart && now.since(self.last_sent_at) > self.rtt.rto() {
            self.cc.on_resume(now);
            self.after_event(now);
        }
    }

    // ---- acknowledgements ----

    #[inline]
    fn measure_rtt(&mut self, now: Instant, ack: &AckSegment, newest: &SentSegment) {
        let rtt = match (self.transport.timestamps, newest.ambiguous) {
            (true, _) => now.since(ack.echo),
            (false, false) => now.since(newest.sent_at),
            (false, true) => return,
        };
        self.rtt.observe(rtt);
        if self.sample_due || self.transport.timestamps {
            self.sample_due = false;
            self.rtt.update(rtt);
        }
    }

    /// RFC 3465 §2.2 limits the growth of an ACK to two segments; RFC 5681 counts one per ACK.
    #[inline]
    fn growth(&self, acked_bytes: u64, acked_segments: u32) -> f64 {
        const BYTE_COUNTING_LIMIT: u32 = 2;
        if acked_bytes == 0 {
            0.0
        } else if self.transport.byte_counting {
            f64::from(acked_segments.clamp(1, BYTE_COUNTING_LIMIT))
        } else {
            1.0
        }
    }

    /// An ACK of new data moves recovery on; returns how many segments it finds lost.
    #[inline]
    fn on_new_ack(&mut self, now: Instant, acked_segments: u32) -> u32 {
        self.dup_acks = 0;
        if self.board.outstanding() == 0 {
            self.timer.stop();
        } else if !matches!(self.state, State::FastRecovery { partial_ack: true, .. })
            || self.transport.recovery == LossRecovery::Sack
        {
            self.timer.restart(now, &self.rtt);
        }
        match self.state {
            State::Open => 0,
            State::FastRecovery { point, .. } if self.snd_una >= point => {
                self.leave_recovery(now);
                0
            }
            State::FastRecovery { ref mut partial_ack, .. } => match self.transport.recovery {
                LossRecovery::Sack => 0,
                LossRecovery::NewReno => {
                    *partial_ack = true;
                    // RFC 6582 §3.2: "retransmit the first unacknowledged segment. Deflate the congestion window
                    // by the amount of new data acknowledged ... then add back one SMSS".
                    self.inflation -= i64::from(acked_segments) - 1;
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
    fn is_duplicate(&self, sack_news: bool) -> bool {
        self.board.outstanding() > 0 && (self.transport.recovery != LossRecovery::Sack || sack_news)
    }

    /// A duplicate ACK; returns how many segments it finds lost.
    fn on_duplicate_ack(&mut self, now: Instant) -> u32 {
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
            State::Restarted { .. } => 0,
        }
    }

    // ---- recovery ----

    /// Fast retransmit; returns how many segments it finds lost.
    fn enter_recovery(&mut self, now: Instant) -> u32 {
        let covered = match (self.recover, self.transport.recovery) {
            (None, _) => true,
            // RFC 6675 §5.1: a new recovery "MUST NOT be initiated until HighACK is greater than or equal to the
            // new value of RecoveryPoint".
            (Some(recover), LossRecovery::Sack) => self.snd_una >= recover,
            // RFC 6582 §3.2: "check to see if the Cumulative Acknowledgment field covers more than recover".
            (Some(recover), _) => self.snd_una > recover,
        };
        if !covered || self.dup_acks > DUP_THRESH && self.transport.recovery != LossRecovery::Sack {
            return 0;
        }
        let tahoe = self.transport.recovery == LossRecovery::Tahoe;
        let restart = if tahoe { Restart::SlowStart } else { Restart::Reduced };
        self.signal(now, CongestionKind::Loss, restart);
        // Reno forgets the window it just cut for: a second loss in it is a second event (Fall & Floyd 1996).
        self.recover = (self.transport.recovery != LossRecovery::Reno).then_some(self.snd_nxt);
        let mut lost = 0;
        if tahoe {
            lost += self.board.lose_all();
            self.dup_acks = 0;
            self.state = State::Restarted { point: self.snd_nxt, expired_at: None };
            self.timer.restart(now, &self.rtt);
            return lost;
        }
        lost += self.board.lose_front();
        self.board.begin_recovery();
        self.retransmit_now = true;
        // RFC 6675 §6: "a more careful variant that re-arms the RTO timer on each retransmission that is sent
        // during recovery MAY be used." Without it the timer, which runs since the last new ACK, mostly expires
        // before the ACK of the first retransmission: at a steady RTT the RTO is hardly more than one.
        self.timer.restart(now, &self.rtt);
        let first_end = self.board.front().map_or(self.snd_una, |front| front.seq + u64::from(front.len));
        self.state = State::FastRecovery { point: self.snd_nxt, partial_ack: false, rescue_after: Some(first_end) };
        if self.transport.recovery != LossRecovery::Sack {
            // RFC 5681 §3.2: "cwnd MUST be set to ssthresh plus 3*SMSS".
            self.inflation = i64::from(DUP_THRESH);
        }
        let recovery = Recovery { now, path: self.path() };
        self.cc.on_recovery_enter(&recovery);
        lost
    }

    fn leave_recovery(&mut self, now: Instant) {
        self.state = State::Open;
        self.inflation = 0;
        self.retransmit_now = false;
        let recovery = Recovery { now, path: self.path() };
        self.cc.on_recovery_exit(&recovery);
    }

    fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        // RFC 5681 §3.1: for a segment that "has already been retransmitted by way of the retransmission timer at
        // least once, the value of ssthresh is held constant".
        let again = self.is_backed_off();
        if !again {
            self.signal(now, CongestionKind::Timeout, Restart::SlowStart);
        }
        self.rtt.back_off();
        self.board.lose_all();
        self.dup_acks = 0;
        self.inflation = 0;
        self.retransmit_now = false;
        self.recover = Some(self.snd_nxt);
        self.state = State::Restarted { point: self.snd_nxt, expired_at: Some(self.snd_una) };
        self.timer.restart(now, &self.rtt);
    }

    /// True from an expiry of the timer to the next ACK of new data.
    fn is_backed_off(&self) -> bool {
        matches!(self.state, State::Restarted { expired_at: Some(una), .. } if una == self.snd_una)
    }

    fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        let congestion = Congestion { now, kind, restart, flight_size: self.board.outstanding(), path: self.path() };
        self.cc.on_congestion(&congestion);
    }

    // ---- bookkeeping ----

    #[inline]
    fn path(&self) -> PathView {
        PathView {
            in_flight: self.board.pipe(),
            mss: self.transport.mss,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
        }
    }

    #[inline]
    fn after_event(&mut self, now: Instant) {
        let cwnd = self.cc.cwnd();
        debug_assert!(cwnd.is_finite() && cwnd >= 1.0, "invariant: cwnd is finite and at least one segment");
        self.window_mean.step(now, cwnd);
        let phase = match self.state {
            State::FastRecovery { .. } => Phase::FastRecovery,
            _ if self.is_backed_off() => Phase::ExponentialBackoff,
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

#[cfg(test)]
mod tests;
