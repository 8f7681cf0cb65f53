//! The sender: packet numbers, the stream, acknowledgements, RTT, the events of congestion control.
//!
//! `transmit` contains the send decision. `recovery` contains the reaction to losses, marks, the probe timeout and
//! late acknowledgements. `info` contains the visible state.
//!
//! ```text
//!          a loss, or more marks                  a packet sent in the period is acknowledged
//!   open ─────────────────────────▶ recovery period ─────────────────────────────────────────▶ open
//! ```
//!
//! The probe timeout changes neither the window nor the data in flight. Two losses that are further apart than the
//! persistent congestion duration reduce the window to its minimum.

#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
mod info;
mod recovery;
mod transmit;

use std::sync::Arc;

use self::recovery::{Episode, Period, Repairs};
use super::ecn::EcnValidation;
use super::packet::AckPacket;
use super::sent::{Counting, NewlyAcked, SentPackets};
use super::stream::SendStream;
use crate::cc::{Ack, Cc, Loss, MediaFrame, PacketsAcked, PathView, Phase, PhaseChange, RttSample};
use crate::transport::{
    Controller, EcnMode, LostTransmission, Pacer, Pacing, Rtt, SenderCounters, Timer, Timers, Transport, Undo,
    WindowMean,
};
use crate::units::{Duration, Instant, Rate};

/// RFC 9002 §6.1.2: "The RECOMMENDED value of the timer granularity (kGranularity) is 1 millisecond."
const GRANULARITY: Duration = Duration::from_millis(1);
/// Lost packets are remembered for so many probe timeouts, so that a late acknowledgement finds them.
const KEEPS_LOST_FOR: u64 = 3;

/// A sender and its algorithm.
#[derive(Debug)]
pub struct Sender {
    transport: Arc<Transport>,
    cc: Controller,
    sent: SentPackets,
    stream: SendStream,
    rtt: Rtt,
    /// RFC 9002 §5.2's min_rtt, which restarts after persistent congestion.
    min_rtt: Duration,
    /// When the first RTT sample was taken.
    first_sample: Option<Instant>,
    timers: Timers,
    /// Probe timeouts since something was acknowledged.
    pto_count: u32,
    /// Probes that leave regardless of the window, and the number from which on they repeat data in flight.
    probes: u32,
    probe_from: u64,
    period: Period,
    repairs: Repairs,
    episode: Option<Episode>,
    /// The first of the last losses between which nothing was acknowledged, and when it was sent.
    lost_since: Option<(u64, Instant)>,
    /// RFC 9002 §7.3.2: "a single packet can be sent prior to reduction".
    one_beyond: bool,
    /// The round ends when a packet with this number or a larger one is acknowledged.
    round_end: u64,
    /// RFC 9002 §7.8: the window is underutilised, for lack of data or of flow-control credit.
    underutilized: bool,
    ecn: EcnValidation,
    /// The receiver's packets below this number have arrived.
    acks_below: u64,
    needs_rate_samples: bool,
    /// Whether the algorithm observes single packets, and the lost packets that were not yet reported to it.
    sees_packets: bool,
    lost_packets: Vec<(u64, u32)>,
    /// The rate of an algorithm that sets none.
    window_rate: Option<Rate>,
    pacer: Pacer,
    phase: Phase,
    last_sent_at: Instant,
    window_mean: WindowMean,
    counters: SenderCounters,
    /// Packets taken for lost.
    losses: u64,
    most_outstanding: u32,
    wants_too_much: bool,
}

impl Sender {
    /// A connection that is open and has nothing to send yet.
    pub fn new(transport: impl Into<Arc<Transport>>, cc: Cc) -> Self {
        let (transport, mut cc) = (transport.into(), Controller::new(cc));
        let needs_rate_samples = cc.needs_rate_samples();
        Sender {
            sent: SentPackets::new(needs_rate_samples),
            stream: SendStream::new(),
            rtt: Rtt::new(&transport),
            min_rtt: Duration::ZERO,
            first_sample: None,
            timers: Timers::default(),
            pto_count: 0,
            probes: 0,
            probe_from: 0,
            period: Period::default(),
            repairs: Repairs::default(),
            episode: None,
            lost_since: None,
            one_beyond: false,
            round_end: 0,
            underutilized: false,
            ecn: EcnValidation::new(transport.ecn == EcnMode::Counts),
            acks_below: 0,
            needs_rate_samples,
            sees_packets: cc.sees_packets(),
            lost_packets: Vec::new(),
            window_rate: None,
            pacer: Pacer::default(),
            phase: Phase::SlowStart,
            last_sent_at: Instant::ZERO,
            window_mean: WindowMean::default(),
            counters: SenderCounters::default(),
            losses: 0,
            most_outstanding: u32::MAX,
            wants_too_much: false,
            cc,
            transport,
        }
    }

    // ---- the application ----

    /// The application starts: from now on the window counts.
    pub fn open(&mut self, now: Instant) {
        self.window_mean = WindowMean { since: now, cwnd: self.cc.cwnd(), integral: 0.0 };
        let handshake_rtt = self.transport.handshake_rtt;
        if !handshake_rtt.is_zero() {
            self.take_rtt(now, handshake_rtt, Duration::ZERO);
            self.after_event(now);
        }
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.resume_if_idle(now);
        if let Some(written) = &mut self.stream.written {
            *written += bytes;
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.stream.written = None;
    }

    /// The application stops: data that was never sent is discarded.
    pub fn stop_writing(&mut self) {
        self.stream.written = Some(self.stream.next);
    }

    /// The connection ends silently after the written data.
    pub fn close(&mut self) {}

    /// True if everything written was acknowledged.
    pub fn is_done(&self) -> bool {
        self.stream.written == Some(self.stream.una)
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

    /// An ACK arrives, with these ranges `start .. end` of packet numbers, the newest first.
    pub fn on_ack(&mut self, now: Instant, ack: &AckPacket, ranges: &[(u64, u64)]) {
        self.acks_below = self.acks_below.max(ack.number + 1);
        let cwnd_limited = !self.underutilized;
        let before = self.sent.largest_acked();
        let from =
            Counting { growing: self.period_end(), late: self.episode.map_or(u64::MAX, |episode| episode.first) };
        let stream = &mut self.stream;
        let newly =
            self.sent.acknowledge(ranges, from, |_, packet| stream.deliver(packet.frame.offset, packet.frame.len));
        // RFC 9002 §A.7: "Nothing to do if there are no newly acked packets."
        let Some((largest, sent_at)) = newly.largest else { return };
        // RFC 9002 §5.1: "the largest acknowledged packet number is newly acknowledged".
        if largest == ack.largest {
            self.take_rtt(now, now.since(sent_at), ack.delay);
        }
        let round_ended = largest >= self.round_end;
        if round_ended {
            self.round_end = self.sent.next_number();
        }
        if self.needs_rate_samples {
            self.sent.sample_rate(now, &newly);
        }
        if largest >= self.period_end() {
            self.leave_recovery(now);
        }
        if newly.late_end > 0 {
            self.on_late(now, &newly);
        }
        let ce_count =
            if before.is_none_or(|before| largest > before) { self.on_counts(now, ack, largest, newly.ect) } else { 0 };
        let newly_lost = self.detect_losses(now);
        self.advance_repairs(largest + 1, newly_lost);
        // RFC 9002 §6.2.1: "The PTO backoff factor is reset when an acknowledgment is received".
        self.pto_count = 0;
        self.set_loss_timer();
        self.tell_ack(now, &newly, Told { ce_count, newly_lost, round_ended, cwnd_limited });
        let kept = self.pto_period() * KEEPS_LOST_FOR;
        self.sent.forget(Instant::from_nanos(now.as_nanos().saturating_sub(kept.as_nanos())));
        self.after_event(now);
    }

    fn tell_ack(&mut self, now: Instant, newly: &NewlyAcked, told: Told) {
        let Told { ce_count, newly_lost, round_ended, cwnd_limited } = told;
        if let Some((newest, newest_sent_at)) = newly.largest_in_flight.filter(|_| self.sees_packets) {
            let acked = PacketsAcked {
                now,
                newest,
                newest_sent_at,
                bytes: newly.bytes_in_flight,
                settled: self.sent.undecided(),
            };
            self.cc.tell_packet(|cc| cc.on_packets_acked(&acked));
        }
        let mut event = Ack {
            now,
            // RFC 9002 §B.5: the window grows by bytes, of packets that were not sent before the recovery period.
            acked: newly.growing_bytes as f64 / f64::from(self.transport.mss),
            newly_delivered: newly.packets,
            newly_lost,
            ce_count,
            ece: ce_count > 0,
            round_ended,
            cwnd_limited,
            in_recovery: self.is_in_period(),
            rate: None,
            state: self.ca_state(),
            path: self.path(),
        };
        if self.needs_rate_samples {
            self.tell_losses(now);
            event.rate = self.sent.take_sample(ce_count * self.transport.mss);
        }
        self.cc.on_ack(&event);
    }

    /// A measurement. RFC 9002 §5.3 takes the delay of the receiver off, unless that makes it less than the smallest one.
    fn take_rtt(&mut self, now: Instant, latest: Duration, ack_delay: Duration) {
        self.rtt.observe(latest);
        if self.sees_packets {
            self.cc.tell_packet(|cc| cc.on_rtt(&RttSample { now, rtt: latest, ack_delay }));
        }
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            self.min_rtt = latest;
            self.rtt.update(now, latest);
            return;
        }
        self.min_rtt = self.min_rtt.min(latest);
        // "MUST use the lesser of the acknowledgment delay and the peer's max_ack_delay after the handshake is confirmed".
        let ack_delay = ack_delay.min(self.max_ack_delay());
        let adjusted = if latest >= self.min_rtt + ack_delay { latest - ack_delay } else { latest };
        self.rtt.update(now, adjusted);
    }

    /// When the sender wants to be woken, once [`poll_transmit`](Self::poll_transmit) gives no more.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next_deadline()
    }

    /// The timers that go off if the time is `now`, the first one first.
    pub fn due_timers(&self, now: Instant) -> impl Iterator<Item = Timer> {
        Timer::ALL.into_iter().filter(move |timer| self.timers.is_due(*timer, now))
    }

    /// The algorithm asks for something else, though there was no event.
    pub(crate) fn refresh(&mut self, now: Instant) {
        self.cc.ask();
        self.after_event(now);
    }

    /// Another algorithm decides from now on. A recovery period continues, as if it had begun now for the new
    /// algorithm. Actions of the old algorithm are not undone.
    pub(crate) fn set_cc(&mut self, now: Instant, cc: Cc) {
        self.cc = Controller::new(cc);
        self.needs_rate_samples = self.cc.needs_rate_samples();
        self.sees_packets = self.cc.sees_packets();
        self.sent.keep_delivery(now, self.needs_rate_samples);
        self.lost_packets.clear();
        self.episode = None;
        if self.is_repairing() {
            let recovery = self.recovery(now);
            self.cc.on_recovery_enter(&recovery);
        }
        self.after_event(now);
    }

    /// The time is `now`. Due timers expire.
    pub fn on_deadline(&mut self, now: Instant) {
        if self.timers.fires(Timer::Reordering, now) {
            self.detect_losses(now);
            self.set_loss_timer();
            self.tell_losses(now);
            self.after_event(now);
        }
        if self.timers.fires(Timer::Probe, now) {
            self.on_probe_timeout();
            self.after_event(now);
        }
        // What it held back is polled for.
        self.timers.fires(Timer::Pacing, now);
    }

    // ---- bookkeeping ----

    /// RFC 9002 §6.2.1: "PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay", without back-off.
    fn pto_period(&self) -> Duration {
        if self.first_sample.is_none() {
            return self.transport.initial_rto;
        }
        self.rtt.srtt() + (self.rtt.rttvar() * 4).max(GRANULARITY) + self.max_ack_delay()
    }

    fn max_ack_delay(&self) -> Duration {
        self.transport.delayed_ack.unwrap_or(Duration::ZERO)
    }

    /// Reports each lost packet to an algorithm that needs them.
    fn tell_losses(&mut self, now: Instant) {
        while let Some(lost) = self.sent.next_unreported() {
            let LostTransmission { bytes, retransmission, tx_in_flight, lost, app_limited } = lost;
            let path = self.path();
            self.cc.on_loss(&Loss { now, bytes, retransmission, tx_in_flight, lost, app_limited, path });
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

    fn after_event(&mut self, now: Instant) {
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
        let phase = if self.is_repairing() {
            Phase::FastRecovery
        } else if self.pto_count > 0 {
            Phase::RtoRecovery
        } else if cwnd < self.cc.ssthresh() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        };
        if phase != self.phase {
            let change = PhaseChange { now, from: self.phase, to: phase };
            self.phase = phase;
            self.cc.on_phase(&change);
        }
    }

    fn undoes(&self) -> bool {
        self.transport.undo == Undo::LateAcks
    }
}

/// The contents of an ACK other than its acknowledged packets.
struct Told {
    ce_count: u32,
    newly_lost: u32,
    round_ended: bool,
    cwnd_limited: bool,
}

#[cfg(test)]
mod tests;
