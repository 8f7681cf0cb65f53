//! The sender: frames that wait, packets in flight, feedback, and the events of congestion control.
//!
//! `info` contains the visible state.

mod info;

use std::collections::VecDeque;
use std::sync::Arc;

use super::feedback;
use crate::cc::{
    Ack, CaState, Cc, Congestion, CongestionKind, Loss, MediaFrame, PacketReport, PathView, Phase, PhaseChange,
    Recovery, Restart, Sent,
};
use crate::ecn::Ecn;
use crate::quic::sent::{Counting, Decided, NewlyAcked, SentPackets};
use crate::quic::stream::Frame;
use crate::quic::{AckPacket, DataPacket};
use crate::transport::{
    Controller, EcnMode, LostTransmission, Pacer, Pacing, Rtt, SenderCounters, Timer, Timers, Transport, WindowMean,
    window_quantum,
};
use crate::units::{Duration, Instant, Rate};

/// RFC 9002 §6.1.2: the timer granularity.
const GRANULARITY: Duration = Duration::from_millis(1);
/// Lost packets are remembered for so many probe timeouts.
const KEEPS_LOST_FOR: u64 = 3;
/// The largest number of doublings of the time without feedback.
const MOST_BACKOFF: u32 = 16;

/// The cause of a recovery period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Marks,
    Losses,
}

/// A sender and its algorithm.
#[derive(Debug)]
pub struct Sender {
    transport: Arc<Transport>,
    cc: Controller,
    sent: SentPackets,
    /// The present end of the application's data, or `None` for unlimited data.
    written: Option<u64>,
    /// The next byte to send.
    next: u64,
    /// Where the frames that wait end, in order.
    frame_ends: VecDeque<u64>,
    is_closed: bool,
    rtt: Rtt,
    min_rtt: Duration,
    timers: Timers,
    /// Times without feedback since the last one.
    backoff: u32,
    /// Losses and marks of packets below this number belong to an earlier congestion event.
    period_end: u64,
    period: Option<Cause>,
    /// The round ends when a packet with this number or a larger one is reported.
    round_end: u64,
    /// Data are lacking, not window.
    underutilized: bool,
    needs_rate_samples: bool,
    /// The rate of an algorithm that sets none.
    window_rate: Option<Rate>,
    pacer: Pacer,
    phase: Phase,
    last_sent_at: Instant,
    window_mean: WindowMean,
    counters: SenderCounters,
    losses: u64,
    /// Bytes of packets that arrived, and of those that are lost.
    settled: u64,
    most_outstanding: u32,
    wants_too_much: bool,
    /// The new reports of the last feedback.
    reports: Vec<PacketReport>,
}

impl Sender {
    /// A session that has nothing to send yet.
    pub fn new(transport: impl Into<Arc<Transport>>, cc: Cc) -> Self {
        let (transport, cc) = (transport.into(), Controller::new(cc));
        let needs_rate_samples = cc.needs_rate_samples();
        Sender {
            sent: SentPackets::new(needs_rate_samples),
            written: Some(0),
            next: 0,
            frame_ends: VecDeque::new(),
            is_closed: false,
            rtt: Rtt::new(&transport),
            min_rtt: Duration::ZERO,
            timers: Timers::default(),
            backoff: 0,
            period_end: 0,
            period: None,
            round_end: 0,
            underutilized: false,
            needs_rate_samples,
            window_rate: None,
            pacer: Pacer::default(),
            phase: Phase::SlowStart,
            last_sent_at: Instant::ZERO,
            window_mean: WindowMean::default(),
            counters: SenderCounters::default(),
            losses: 0,
            settled: 0,
            most_outstanding: u32::MAX,
            wants_too_much: false,
            reports: Vec::new(),
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
            self.take_rtt(now, handshake_rtt);
            self.after_event(now);
        }
    }

    /// The application hands over a frame of so many bytes. Packets do not share frames.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.resume_if_idle(now);
        if let Some(written) = &mut self.written
            && bytes > 0
        {
            *written += bytes;
            self.frame_ends.push_back(*written);
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.written = None;
    }

    /// The application stops: data that was never sent is discarded.
    pub fn stop_writing(&mut self) {
        self.written = Some(self.next);
        self.frame_ends.clear();
    }

    /// The session ends silently after the written data.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// True if everything written has arrived or is lost, and nothing more will be written.
    pub fn is_done(&self) -> bool {
        self.is_closed && self.written == Some(self.next) && self.sent.in_flight() == 0
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

    /// Feedback arrives, with its time and its reports in `list`.
    pub fn on_feedback(&mut self, now: Instant, feedback: &AckPacket, list: &[(u64, u64)]) {
        let cwnd_limited = !self.underutilized;
        let newly = self.take_reports(list);
        let Some((largest, sent_at)) = newly.largest else { return };
        if largest == feedback.largest
            && let Some((_, value)) = list.last()
        {
            self.take_rtt(now, now.since(sent_at + feedback::held(*value)));
        }
        let round_ended = largest >= self.round_end;
        if round_ended {
            self.round_end = self.sent.next_number();
        }
        if self.needs_rate_samples {
            self.sent.sample_rate(now, &newly);
        }
        if largest >= self.period_end {
            self.leave_recovery(now);
        }
        let ce_count = self.reports.iter().filter(|report| report.is_marked).count() as u32;
        self.on_marks(now, ce_count, largest);
        let newly_lost = self.detect_losses(now);
        self.settled += newly.bytes_in_flight;
        self.backoff = 0;
        self.set_feedback_timer();
        if !self.reports.is_empty() {
            let reports = std::mem::take(&mut self.reports);
            self.cc.tell_media(|cc| cc.on_reports(now, &reports));
            self.reports = reports;
        }
        self.tell_losses(now);
        let mut event = Ack {
            now,
            acked: newly.growing_bytes as f64 / f64::from(self.transport.mss),
            newly_delivered: newly.packets,
            newly_lost,
            ce_count,
            ece: ce_count > 0,
            round_ended,
            cwnd_limited,
            in_recovery: self.period.is_some(),
            rate: None,
            state: self.ca_state(),
            path: self.path(),
        };
        if self.needs_rate_samples {
            event.rate = self.sent.take_sample(ce_count * self.transport.mss);
        }
        self.cc.on_ack(&event);
        let kept = self.probe_timeout() * KEEPS_LOST_FOR;
        self.sent.forget(Instant::from_nanos(now.as_nanos().saturating_sub(kept.as_nanos())));
        self.after_event(now);
    }

    /// Notes the arrivals of a feedback packet. Reports of them remain in `reports`.
    fn take_reports(&mut self, list: &[(u64, u64)]) -> NewlyAcked {
        self.reports.clear();
        let mut ranges = feedback::reported(list);
        // In the order of numbers, as the list is.
        ranges.reverse();
        let from = Counting { growing: self.period_end, late: u64::MAX };
        let reports = &mut self.reports;
        let mut arrivals = feedback::read(list);
        self.sent.acknowledge(&ranges, from, |number, packet| {
            let arrival = arrivals.find(|arrival| arrival.number == number);
            reports.extend(arrival.map(|arrival| PacketReport {
                number,
                bytes: packet.frame.len,
                sent_at: packet.sent_at,
                arrived_at: arrival.at,
                is_marked: arrival.ecn == Ecn::Ce,
            }));
        })
    }

    fn take_rtt(&mut self, now: Instant, rtt: Duration) {
        self.rtt.observe(rtt);
        self.min_rtt = if self.min_rtt.is_zero() { rtt } else { self.min_rtt.min(rtt) };
        self.rtt.update(now, rtt);
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

    /// Another algorithm decides from now on.
    pub(crate) fn set_cc(&mut self, now: Instant, cc: Cc) {
        self.cc = Controller::new(cc);
        self.needs_rate_samples = self.cc.needs_rate_samples();
        self.sent.keep_delivery(now, self.needs_rate_samples);
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
            self.set_feedback_timer();
            self.tell_losses(now);
            self.after_event(now);
        }
        if self.timers.fires(Timer::Probe, now) {
            self.on_silence(now);
            self.after_event(now);
        }
        // What it held back is polled for.
        self.timers.fires(Timer::Pacing, now);
    }

    // ---- the send decision ----

    /// The next packet to send at `now`, if any may be sent.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataPacket> {
        self.timers.stop(Timer::Pacing);
        let (len, is_marker) = self.next_packet();
        let has_room = self.has_room(len.max(1));
        if len == 0 {
            self.underutilized = has_room;
            self.sent.note_app_limited();
            return None;
        }
        self.underutilized = false;
        if !has_room {
            return None;
        }
        if self.sent.in_flight() >= self.most_outstanding {
            self.wants_too_much = true;
            return None;
        }
        if self.pacing_rate().is_some() && self.pacer.holds(now, len) {
            self.timers.set(Timer::Pacing, self.pacer.next_send_at());
            return None;
        }
        Some(self.send(now, len, is_marker))
    }

    /// Bytes of the next packet, 0 for none, and whether it is the last one of a frame.
    fn next_packet(&self) -> (u32, bool) {
        let mss = u64::from(self.transport.mss);
        let end = match (self.written, self.frame_ends.front()) {
            (None, None) => self.next + mss,
            (_, Some(end)) => *end,
            (Some(written), None) => written,
        };
        let len = (end - self.next).min(mss);
        (len as u32, self.next + len == end && self.written.is_some())
    }

    /// Whether the window has room for so many bytes. One packet may always be in flight.
    fn has_room(&self, len: u32) -> bool {
        let in_flight = self.sent.bytes_in_flight() + u64::from(len);
        self.sent.in_flight() == 0 || in_flight as f64 <= self.cc.cwnd() * f64::from(self.transport.mss)
    }

    fn send(&mut self, now: Instant, len: u32, is_marker: bool) -> DataPacket {
        let offset = self.next;
        self.next += u64::from(len);
        if is_marker {
            self.frame_ends.pop_front();
        }
        let ect = self.transport.ecn == EcnMode::Counts;
        let number = self.sent.push(now, Frame { offset, len, again: false }, ect);
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(len);
        self.last_sent_at = now;
        self.set_feedback_timer();
        if let Some(rate) = self.pacing_rate() {
            let (gap, _) = rate.transmission(u64::from(len + self.transport.data_overhead()));
            let quantum = match self.cc.pacing_rate() {
                Some(_) => self.cc.send_quantum(),
                None => window_quantum(rate, self.transport.mss),
            };
            self.pacer.on_sent(now, len, gap, quantum, false);
        }
        if self.cc.needs_on_sent() {
            let path = self.path();
            self.cc.on_sent(&Sent { now, bytes: len, retransmission: false, path });
        }
        DataPacket { connection: 0, number, offset, len, ect, acks_below: 0, is_marker }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate().or(self.window_rate)
    }

    fn resume_if_idle(&mut self, now: Instant) {
        let idle = self.sent.in_flight() == 0 && self.counters.segments > 0;
        if idle && self.transport.idle_restart && now.since(self.last_sent_at) > self.probe_timeout() {
            self.cc.on_resume(now);
            self.after_event(now);
        }
    }

    // ---- losses and marks ----

    /// Reports say that so many packets more were marked, up to number `largest`.
    fn on_marks(&mut self, now: Instant, count: u32, largest: u64) {
        self.counters.ce_reported += u64::from(count);
        if count == 0 || largest < self.period_end {
            return;
        }
        self.signal(now, CongestionKind::Ecn, Restart::Reduced);
        if self.cc.responds_to_ecn() {
            self.period_end = self.sent.next_number();
            self.period = Some(Cause::Marks);
        }
    }

    /// Finds the lost packets after feedback or an expired timer. Returns their number.
    fn detect_losses(&mut self, now: Instant) -> u32 {
        let (loss_delay, threshold) = (self.loss_delay(), u64::from(self.transport.packet_threshold));
        let (mut count, mut last, mut bytes) = (0, 0, 0);
        let next = self.sent.detect_lost(now, loss_delay, threshold, |decided| {
            if let Decided::Lost(number, packet) = decided {
                (count, last) = (count + 1, number);
                bytes += u64::from(packet.frame.len);
            }
        });
        match next {
            Some(at) => self.timers.set(Timer::Reordering, at),
            None => self.timers.stop(Timer::Reordering),
        }
        self.on_lost(now, count, bytes, last);
        count
    }

    fn on_lost(&mut self, now: Instant, count: u32, bytes: u64, last: u64) {
        self.losses += u64::from(count);
        self.settled += bytes;
        if count == 0 || last < self.period_end {
            return;
        }
        self.signal(now, CongestionKind::Loss, Restart::Reduced);
        self.period_end = self.sent.next_number();
        self.period = Some(Cause::Losses);
        let recovery = self.recovery(now);
        self.cc.on_recovery_enter(&recovery);
    }

    fn leave_recovery(&mut self, now: Instant) {
        if self.period.take() == Some(Cause::Losses) {
            let recovery = self.recovery(now);
            self.cc.on_recovery_exit(&recovery);
        }
    }

    /// No feedback has come for so long that everything in flight is lost.
    fn on_silence(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.backoff += 1;
        let bytes = self.sent.bytes_in_flight();
        let count = self.sent.lose_all();
        self.losses += u64::from(count);
        self.settled += bytes;
        self.timers.stop(Timer::Reordering);
        self.signal(now, CongestionKind::Timeout, Restart::SlowStart);
        self.leave_recovery(now);
        self.period_end = self.sent.next_number();
        self.tell_losses(now);
    }

    fn signal(&mut self, now: Instant, kind: CongestionKind, restart: Restart) {
        self.counters.congestion_events += 1;
        self.counters.ecn_events += u64::from(kind == CongestionKind::Ecn);
        let congestion = Congestion { now, kind, restart, flight_size: self.sent.in_flight(), path: self.path() };
        self.cc.on_congestion(&congestion);
    }

    fn tell_losses(&mut self, now: Instant) {
        while let Some(lost) = self.sent.next_unreported() {
            let LostTransmission { bytes, retransmission, tx_in_flight, lost, app_limited } = lost;
            let path = self.path();
            self.cc.on_loss(&Loss { now, bytes, retransmission, tx_in_flight, lost, app_limited, path });
        }
    }

    // ---- times ----

    /// RFC 9002 §6.1.2: "max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)".
    fn loss_delay(&self) -> Duration {
        let rtt = self.rtt.srtt().max(self.rtt.latest());
        rtt.mul_f64_floor(self.transport.time_threshold).max(GRANULARITY)
    }

    /// RFC 9002 §6.2.1: "PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay".
    fn probe_timeout(&self) -> Duration {
        if self.rtt.srtt().is_zero() {
            return self.transport.initial_rto;
        }
        let longest_delay = self.transport.delayed_ack.unwrap_or(Duration::ZERO);
        self.rtt.srtt() + (self.rtt.rttvar() * 4).max(GRANULARITY) + longest_delay
    }

    /// The time without feedback after which everything in flight is lost.
    fn silence(&self) -> Duration {
        let timeouts = u64::from(self.transport.persistent_congestion_threshold);
        self.probe_timeout() * timeouts * (1 << self.backoff.min(MOST_BACKOFF))
    }

    fn set_feedback_timer(&mut self) {
        match self.sent.in_flight() {
            0 => self.timers.stop(Timer::Probe),
            _ => self.timers.set(Timer::Probe, self.last_sent_at + self.silence()),
        }
    }

    // ---- the view of the algorithm ----

    fn is_repairing(&self) -> bool {
        self.period == Some(Cause::Losses)
    }

    fn ca_state(&self) -> CaState {
        match self.period {
            Some(Cause::Losses) => CaState::Recovery,
            Some(Cause::Marks) => CaState::Cwr,
            None if self.backoff > 0 => CaState::Loss,
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

    fn recovery(&self, now: Instant) -> Recovery {
        Recovery { now, flight_size: self.sent.in_flight(), path: self.path() }
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
        let phase = match self.period {
            Some(Cause::Losses) => Phase::FastRecovery,
            _ if self.backoff > 0 => Phase::RtoRecovery,
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
