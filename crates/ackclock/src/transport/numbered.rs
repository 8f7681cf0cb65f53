//! A sender that numbers its packets and uses no number twice, by RFC 9002.
//!
//! It contains the packets in flight, RTT, timers, pacing, recovery periods and the events of congestion control. A
//! protocol adds its data, its send decision, and its reactions to acknowledgements and the probe timeout.

use std::sync::Arc;

use super::controller::Controller;
use super::counters::{SenderCounters, WindowMean};
use super::info::SenderInfo;
use super::keys::Transport;
use super::pacer::{Pacer, window_quantum};
use super::rtt::Rtt;
use super::rules::Pacing;
use super::sent::{Decided, Frame, NewlyAcked, SentPackets};
use super::timers::{Timer, Timers};
use crate::cc::{
    Ack, CaState, Cc, Congestion, CongestionKind, IdleWindow, MediaFrame, PathView, Phase, PhaseChange, Recovery,
    Restart, Sent, is_alone,
};
use crate::units::{Duration, Instant, Rate};

/// RFC 9002 §6.1.2: "The RECOMMENDED value of the timer granularity (kGranularity) is 1 millisecond."
pub(crate) const GRANULARITY: Duration = Duration::from_millis(1);
/// The probe timeouts for which lost packets are remembered, so that a late acknowledgement finds them.
pub(crate) const KEEPS_LOST_FOR: u64 = 3;
/// The largest number of probe-timeout doublings. RFC 9002 leaves the bound to the idle timeout.
pub(crate) const MOST_BACKOFF: u32 = 16;

/// The reason for a recovery period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Marks,
    Losses,
}

/// The packets that one event shows to be lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewlyLost {
    pub(crate) count: u32,
    /// Bytes of their frames.
    pub(crate) bytes: u64,
    /// The smallest number and the largest one.
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The parts of an acknowledgement that the protocol reads.
pub(crate) struct Told {
    pub(crate) ce_count: u32,
    pub(crate) newly_lost: u32,
    pub(crate) round_ended: bool,
    pub(crate) cwnd_limited: bool,
    pub(crate) state: CaState,
}

/// A sender and its algorithm. `P` is the state of its protocol.
#[derive(Debug)]
pub struct NumberedSender<P> {
    pub(crate) transport: Arc<Transport>,
    pub(crate) cc: Controller,
    pub(crate) sent: SentPackets,
    pub(crate) rtt: Rtt,
    /// RFC 9002 §5.2's min_rtt.
    pub(crate) min_rtt: Duration,
    /// When the first RTT sample was taken.
    pub(crate) first_sample: Option<Instant>,
    pub(crate) timers: Timers,
    /// Probe timeouts since something was acknowledged.
    pub(crate) pto_count: u32,
    /// The reason for the present recovery period.
    pub(crate) period: Option<Cause>,
    /// The round ends when a packet with this number or a larger one is acknowledged.
    round_end: u64,
    /// RFC 9002 §7.8: the window is underutilised, for lack of data or of flow-control credit.
    pub(crate) underutilized: bool,
    /// The rate of an algorithm that sets none.
    window_rate: Option<Rate>,
    pacer: Pacer,
    phase: Phase,
    pub(crate) last_sent_at: Instant,
    /// The time between the last two departures.
    departure_gap: Option<Duration>,
    window_mean: WindowMean,
    pub(crate) counters: SenderCounters,
    /// Packets taken for lost.
    pub(crate) losses: u64,
    most_outstanding: u32,
    wants_too_much: bool,
    /// The state that only the protocol has.
    pub(crate) own: P,
}

impl<P> NumberedSender<P> {
    /// A sender before its first packet.
    pub(crate) fn with(transport: Arc<Transport>, cc: Controller, own: P) -> Self {
        NumberedSender {
            sent: SentPackets::new(cc.needs_rate_samples()),
            rtt: Rtt::new(&transport),
            min_rtt: Duration::ZERO,
            first_sample: None,
            timers: Timers::default(),
            pto_count: 0,
            period: None,
            round_end: 0,
            underutilized: false,
            window_rate: None,
            pacer: Pacer::default(),
            phase: Phase::SlowStart,
            last_sent_at: Instant::ZERO,
            departure_gap: None,
            window_mean: WindowMean::default(),
            counters: SenderCounters::default(),
            losses: 0,
            most_outstanding: u32::MAX,
            wants_too_much: false,
            own,
            cc,
            transport,
        }
    }

    // ---- the application ----

    /// The application starts: from now on the window counts. The handshake may have measured the RTT.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.window_mean = WindowMean { since: now, cwnd: self.cc.cwnd(), integral: 0.0 };
        let handshake_rtt = self.transport.handshake_rtt;
        if !handshake_rtt.is_zero() {
            self.take_rtt(now, handshake_rtt, Duration::ZERO);
            self.after_event(now);
        }
    }

    /// The encoder hands over a frame. The frame itself is written separately.
    pub(crate) fn on_frame(&mut self, frame: &MediaFrame) {
        self.cc.tell_media(|cc| cc.on_frame(frame));
    }

    /// The rate of an encoder, from an algorithm that sets it.
    pub(crate) fn target_rate(&mut self) -> Option<Rate> {
        self.cc.target_rate()
    }

    /// RFC 9002 keeps the window of an idle sender. The transport key `idle_restart` shrinks it after `timeout`. It
    /// does so at most `most` times.
    pub(crate) fn resume_if_idle(&mut self, now: Instant, timeout: Duration, most: u64) {
        let idle = self.sent.in_flight() == 0 && self.counters.segments > 0;
        let idle_for = now.since(self.last_sent_at);
        if idle && self.transport.idle_restart && idle_for > timeout {
            let times = match self.transport.idle_window {
                IdleWindow::Restart | IdleWindow::Validate => 1,
                IdleWindow::Halve => (idle_for.as_nanos() / timeout.as_nanos().max(1)).min(most),
            };
            (0..times).for_each(|_| self.cc.on_resume(now));
            self.after_event(now);
        }
    }

    // ---- the send decision ----

    /// Whether the bound on packets in flight is reached, for a packet that the window lets go.
    pub(crate) fn is_at_bound(&mut self) -> bool {
        let is_at_bound = self.sent.in_flight() >= self.most_outstanding;
        self.wants_too_much |= is_at_bound;
        is_at_bound
    }

    /// When the pacer lets a packet of `len` bytes go, if not now.
    pub(crate) fn paced_until(&self, now: Instant, len: u32) -> Option<Instant> {
        (self.pacing_rate().is_some() && self.pacer.holds(now, len)).then(|| self.pacer.next_send_at())
    }

    /// The algorithm's rate, or else a rate from its window.
    fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate().or(self.window_rate)
    }

    /// A packet leaves. Returns its number.
    #[inline]
    pub(crate) fn push(&mut self, now: Instant, frame: Frame, ect: bool) -> u64 {
        self.departure_gap = (self.counters.segments > 0).then(|| now.since(self.last_sent_at));
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(frame.len);
        self.counters.retransmits += u64::from(frame.again);
        self.last_sent_at = now;
        self.sent.push(now, frame, ect)
    }

    /// The pacer and the algorithm learn of a packet that left.
    #[inline]
    pub(crate) fn tell_sent(&mut self, now: Instant, Frame { len, again, .. }: Frame) {
        if let Some(rate) = self.pacing_rate() {
            let (gap, _) = rate.transmission(u64::from(len + self.transport.data_overhead()));
            let quantum = match self.cc.pacing_rate() {
                Some(_) => self.cc.send_quantum(),
                None => window_quantum(rate, self.transport.mss),
            };
            self.pacer.on_sent(now, len, gap, quantum, false);
        }
        let in_flight = self.sent.in_flight();
        if self.cc.learns_of_departure(in_flight) {
            let idle_for = self.departure_gap.filter(|_| is_alone(in_flight));
            let path = self.path();
            self.cc.on_sent(&Sent { now, bytes: len, retransmission: again, idle_for, path });
        }
    }

    // ---- acknowledgements ----

    /// A measurement. RFC 9002 §5.3 takes the delay of the receiver off, unless that makes it less than the smallest
    /// one.
    pub(crate) fn take_rtt(&mut self, now: Instant, latest: Duration, ack_delay: Duration) {
        self.rtt.observe(latest);
        if self.first_sample.is_none() {
            (self.first_sample, self.min_rtt) = (Some(now), latest);
        }
        self.min_rtt = self.min_rtt.min(latest);
        // "MUST use the lesser of the acknowledgment delay and the peer's max_ack_delay after the handshake is
        // confirmed".
        let ack_delay = ack_delay.min(self.max_ack_delay());
        let adjusted = if latest >= self.min_rtt + ack_delay { latest - ack_delay } else { latest };
        self.rtt.update(now, adjusted);
    }

    /// Samples the delivery rate of newly acknowledged packets up to number `largest`. Returns true if a round ended.
    pub(crate) fn end_round(&mut self, now: Instant, newly: &NewlyAcked, largest: u64) -> bool {
        let round_ended = largest >= self.round_end;
        if round_ended {
            self.round_end = self.sent.next_number();
        }
        self.sent.sample_rate(now, newly);
        round_ended
    }

    /// The algorithm learns of an acknowledgement that the protocol has processed. Old packets are forgotten.
    pub(crate) fn tell_ack(&mut self, now: Instant, newly: &NewlyAcked, told: Told) {
        let Told { ce_count, newly_lost, round_ended, cwnd_limited, state } = told;
        self.tell_losses(now);
        let event = Ack {
            now,
            // RFC 9002 §B.5: the window grows by bytes, of packets that were not sent before the recovery period.
            acked: newly.growing_bytes as f64 / f64::from(self.transport.mss),
            newly_delivered: newly.packets,
            newly_lost,
            ce_count,
            ece: ce_count > 0,
            round_ended,
            cwnd_limited,
            in_recovery: self.period.is_some(),
            reduced_window: None,
            rate: self.sent.take_sample(ce_count * self.transport.mss),
            state,
            path: self.path(),
        };
        self.cc.on_ack(&event);
        let kept = self.pto_period() * KEEPS_LOST_FOR;
        self.sent.forget(Instant::from_nanos(now.as_nanos().saturating_sub(kept.as_nanos())));
        self.after_event(now);
    }

    // ---- losses and recovery periods ----

    /// RFC 9002 §A.10: finds the lost packets after an acknowledgement or an expired timer. Sets the timer of the next
    /// loss by time.
    pub(crate) fn find_losses(&mut self, now: Instant, mut on_decided: impl FnMut(&mut P, &Decided)) -> NewlyLost {
        // RFC 9002 §6.1.2: "max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)".
        let rtt = self.rtt.srtt().max(self.rtt.latest());
        let loss_delay = rtt.mul_f64_floor(self.transport.time_threshold).max(GRANULARITY);
        let threshold = u64::from(self.transport.packet_threshold);
        let (own, mut lost) = (&mut self.own, NewlyLost { first: u64::MAX, ..NewlyLost::default() });
        let next = self.sent.detect_lost(now, loss_delay, threshold, |decided| {
            if let Decided::Lost(number, packet) = decided {
                lost.count += 1;
                lost.bytes += u64::from(packet.frame.len);
                (lost.first, lost.last) = (lost.first.min(number), number);
            }
            on_decided(own, &decided);
        });
        match next {
            Some(at) => self.timers.set(Timer::Reordering, at),
            None => self.timers.stop(Timer::Reordering),
        }
        self.losses += u64::from(lost.count);
        lost
    }

    /// Reports each lost packet to an algorithm that needs them.
    pub(crate) fn tell_losses(&mut self, now: Instant) {
        while let Some(lost) = self.sent.next_unreported() {
            let loss = lost.event(now, self.path());
            self.cc.on_loss(&loss);
        }
    }

    /// A congestion event.
    pub(crate) fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        self.counters.ecn_events += u64::from(kind == CongestionKind::Ecn);
        let congestion = Congestion { now, kind, restart, flight_size: self.sent.in_flight(), path: self.path() };
        self.cc.on_congestion(&congestion);
    }

    /// A recovery period for losses begins, or the one for marks becomes one.
    pub(crate) fn enter_recovery(&mut self, now: Instant) {
        self.period = Some(Cause::Losses);
        let recovery = self.recovery(now);
        self.cc.on_recovery_enter(&recovery);
    }

    /// A recovery period ends, if there is one.
    pub(crate) fn leave_recovery(&mut self, now: Instant) {
        if self.period.take() == Some(Cause::Losses) {
            let recovery = self.recovery(now);
            self.cc.on_recovery_exit(&recovery);
        }
    }

    // ---- times ----

    /// RFC 9002 §6.2.1: "PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay", without back-off.
    pub(crate) fn pto_period(&self) -> Duration {
        if self.first_sample.is_none() {
            return self.transport.initial_rto;
        }
        self.rtt.srtt() + (self.rtt.rttvar() * 4).max(GRANULARITY) + self.max_ack_delay()
    }

    /// The probe timeout, including back-off. RFC 9002 §6.2.1: "When a PTO timer expires, the PTO backoff MUST be
    /// increased".
    #[inline]
    pub(crate) fn pto(&self) -> Duration {
        self.pto_period() * (1 << self.pto_count.min(MOST_BACKOFF))
    }

    fn max_ack_delay(&self) -> Duration {
        self.transport.delayed_ack.unwrap_or(Duration::ZERO)
    }

    // ---- the view of the algorithm ----

    /// How far the repair of losses is.
    pub(crate) fn state_of_period(&self) -> CaState {
        match self.period {
            Some(Cause::Losses) => CaState::Recovery,
            Some(Cause::Marks) => CaState::Cwr,
            None if self.pto_count > 0 => CaState::Loss,
            None if self.sent.has_gap() => CaState::Disorder,
            None => CaState::Open,
        }
    }

    fn path(&self) -> PathView {
        PathView {
            in_flight: self.sent.in_flight(),
            in_flight_bytes: self.sent.bytes_in_flight(),
            mss: self.transport.mss,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.min_rtt,
        }
    }

    pub(crate) fn recovery(&self, now: Instant) -> Recovery {
        Recovery { now, flight_size: self.sent.in_flight(), path: self.path() }
    }

    /// The algorithm asks for something else, though there was no event.
    pub(crate) fn refresh(&mut self, now: Instant) {
        self.cc.ask();
        self.after_event(now);
    }

    /// Another algorithm decides from now on. A recovery period continues, as if it had begun now for the new
    /// algorithm.
    pub(crate) fn replace_cc(&mut self, now: Instant, cc: Cc) {
        self.cc = Controller::new(cc);
        self.sent.keep_delivery(now, self.cc.needs_rate_samples());
        if self.period == Some(Cause::Losses) {
            self.enter_recovery(now);
        }
        self.after_event(now);
    }

    /// The algorithm has had an event, and may ask for another window.
    pub(crate) fn after_event(&mut self, now: Instant) {
        let cwnd = self.cc.cwnd();
        if cwnd.is_nan() {
            self.wants_too_much = true;
            return;
        }
        debug_assert!(cwnd.is_finite() && cwnd >= 1.0, "invariant: cwnd is finite and at least one packet");
        self.window_mean.step(now, cwnd);
        if self.transport.pacing != Pacing::Off {
            let packet_bytes = self.transport.mss + self.transport.data_overhead();
            let srtt = self.rtt.srtt();
            self.window_rate = self.transport.pacing.rate(cwnd, self.cc.ssthresh(), packet_bytes, srtt);
        }
        let phase = match self.period {
            Some(Cause::Losses) => Phase::FastRecovery,
            _ if self.pto_count > 0 => Phase::RtoRecovery,
            _ if cwnd < self.cc.ssthresh() => Phase::SlowStart,
            _ => Phase::CongestionAvoidance,
        };
        if phase != self.phase {
            let change = PhaseChange { now, from: self.phase, to: phase };
            self.phase = phase;
            self.cc.on_phase(&change);
        }
    }

    // ---- what others may know ----

    /// No more than this many packets are ever in flight: a bound for the memory, which no window should reach.
    pub fn set_most_outstanding(&mut self, packets: u32) {
        self.most_outstanding = packets;
    }

    /// The bound on packets in flight.
    pub fn most_outstanding(&self) -> u32 {
        self.most_outstanding
    }

    /// Whether the window would have let more go than that, or the algorithm has a
    /// [`fault`](crate::cc::CongestionControl::fault).
    #[inline]
    pub fn wants_too_much(&self) -> bool {
        self.wants_too_much
    }

    /// An ACK will arrive soon. The sender itself is already in the cache.
    #[inline]
    pub(crate) fn prefetch_lists(&self) {
        self.sent.prefetch();
    }

    /// When the sender wants to be woken, once it has sent all that may leave.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// The timers that go off if the time is `now`, the first one first.
    pub fn due_timers(&self, now: Instant) -> impl Iterator<Item = Timer> {
        self.timers.due(now)
    }

    /// The algorithm.
    pub fn cc(&self) -> &Cc {
        self.cc.cc()
    }

    /// The window in full packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd()
    }

    /// The counters so far. The timer [`Timer::Probe`] gives the timeouts.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Round-trip times.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// The number of the next packet.
    pub fn next_number(&self) -> u64 {
        self.sent.next_number()
    }

    /// Packets taken for lost so far.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.sent.in_flight()
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The integral of cwnd over time since the application started, in packets times nanoseconds.
    pub fn window_integral(&mut self, now: Instant) -> f64 {
        self.window_mean.step(now, self.cc.cwnd());
        self.window_mean.integral
    }

    /// The state of the sender, with the parts that the protocol defines.
    pub(crate) fn info_with(&self, state: CaState, rto: Duration, lost: u32) -> SenderInfo {
        SenderInfo {
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
            unacked: self.sent.in_flight(),
            sacked: 0,
            lost,
            retransmitted: 0,
            state,
            backoff: self.pto_count,
            rto,
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.min_rtt,
            reordering: self.transport.packet_threshold,
            reorderings: 0,
            window_probes: 0,
            timer: self.timers.next(),
        }
    }
}
