//! The sender: frames that wait, the send decision, feedback, and silence.

use std::collections::VecDeque;
use std::sync::Arc;

use super::feedback;
use crate::cc::{Cc, CongestionKind, PacketReport, Restart};
use crate::ecn::Ecn;
use crate::quic::{AckPacket, DataPacket};
use crate::transport::numbered::{Cause, Told};
use crate::transport::{
    Controller, Counting, EcnMode, Frame, NewlyAcked, NumberedSender, SenderInfo, Timer, Transport,
};
use crate::units::{Duration, Instant};

/// A sender and its algorithm. Its probe timer measures the time without feedback.
pub type Sender = NumberedSender<RtpState>;

/// The state of a sender that only RTP has.
#[derive(Debug)]
pub struct RtpState {
    /// The present end of the application's data, or `None` for unlimited data.
    written: Option<u64>,
    /// The next byte to send.
    next: u64,
    /// Where the frames that wait end, in order.
    frame_ends: VecDeque<u64>,
    is_closed: bool,
    /// Losses and marks of packets below this number belong to an earlier congestion event.
    period_end: u64,
    /// Bytes of packets that arrived, and of those that are lost.
    settled: u64,
    /// The new reports of the last feedback.
    reports: Vec<PacketReport>,
}

impl Sender {
    /// A session that has nothing to send yet.
    pub fn new(transport: impl Into<Arc<Transport>>, cc: Cc) -> Self {
        let own = RtpState {
            written: Some(0),
            next: 0,
            frame_ends: VecDeque::new(),
            is_closed: false,
            period_end: 0,
            settled: 0,
            reports: Vec::new(),
        };
        Self::with(transport.into(), Controller::new(cc), own)
    }

    // ---- the application ----

    /// The application starts: from now on the window counts.
    pub fn open(&mut self, now: Instant) {
        self.begin(now);
    }

    /// The application writes a frame. A packet contains data of one frame only.
    pub fn write(&mut self, now: Instant, bytes: u64) {
        self.resume_if_idle(now, self.pto_period(), 1);
        if let Some(written) = &mut self.own.written
            && bytes > 0
        {
            *written += bytes;
            self.own.frame_ends.push_back(*written);
        }
    }

    /// The application always has more to send.
    pub fn write_forever(&mut self) {
        self.own.written = None;
    }

    /// The application stops: data that was never sent is discarded.
    pub fn stop_writing(&mut self) {
        self.own.written = Some(self.own.next);
        self.own.frame_ends.clear();
    }

    /// The session ends silently after the written data.
    pub fn close(&mut self) {
        self.own.is_closed = true;
    }

    /// True if everything written has arrived or is lost, and nothing more will be written.
    pub fn is_done(&self) -> bool {
        self.own.is_closed && self.own.written == Some(self.own.next) && self.sent.in_flight() == 0
    }

    // ---- the network ----

    /// Feedback arrives, with its time and its reports in `list`.
    pub fn on_feedback(&mut self, now: Instant, feedback: &AckPacket, list: &[(u64, u64)]) {
        let cwnd_limited = !self.underutilized;
        let (newly, held) = self.take_reports(list);
        let Some((largest, sent_at)) = newly.largest else { return };
        if largest == feedback.largest {
            self.take_rtt(now, now.since(sent_at + held), Duration::ZERO);
        }
        let round_ended = self.end_round(now, &newly, largest);
        if largest >= self.own.period_end {
            self.leave_recovery(now);
        }
        let ce_count = self.own.reports.iter().filter(|report| report.is_marked).count() as u32;
        self.on_marks(now, ce_count, largest);
        let newly_lost = self.detect_losses(now);
        self.own.settled += newly.bytes_in_flight;
        self.pto_count = 0;
        self.set_feedback_timer();
        let reports = &self.own.reports;
        if !reports.is_empty() {
            self.cc.tell_media(|cc| cc.on_reports(now, reports));
        }
        let state = self.state_of_period();
        self.tell_ack(now, &newly, Told { ce_count, newly_lost, round_ended, cwnd_limited, state });
    }

    /// Notes the arrivals of a feedback packet, whose reports remain in `reports`. Also returns how long the receiver
    /// has had the last one.
    fn take_reports(&mut self, list: &[(u64, u64)]) -> (NewlyAcked, Duration) {
        let from = Counting { growing: self.own.period_end, late: u64::MAX };
        let (mut newly, mut last_held) = (NewlyAcked::default(), Duration::ZERO);
        let reports = &mut self.own.reports;
        reports.clear();
        for (arrival, held) in feedback::read(list) {
            last_held = held;
            self.sent.acknowledge((arrival.number, arrival.number + 1), from, &mut newly, |number, packet| {
                reports.push(PacketReport {
                    number,
                    bytes: packet.frame.len,
                    sent_at: packet.sent_at,
                    arrived_at: arrival.at,
                    is_marked: arrival.ecn == Ecn::Ce,
                });
            });
        }
        (newly, last_held)
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
        if !has_room || self.is_at_bound() {
            return None;
        }
        if let Some(at) = self.paced_until(now, len) {
            self.timers.set(Timer::Pacing, at);
            return None;
        }
        Some(self.send(now, len, is_marker))
    }

    /// Bytes of the next packet, 0 for none, and whether it is the last one of a frame.
    fn next_packet(&self) -> (u32, bool) {
        let mss = u64::from(self.transport.mss);
        let end = match (self.own.written, self.own.frame_ends.front()) {
            (None, None) => self.own.next + mss,
            (_, Some(end)) => *end,
            (Some(written), None) => written,
        };
        let len = (end - self.own.next).min(mss);
        (len as u32, self.own.next + len == end && self.own.written.is_some())
    }

    /// Whether the window has room for `len` bytes. One packet may always be in flight.
    fn has_room(&self, len: u32) -> bool {
        let in_flight = self.sent.bytes_in_flight() + u64::from(len);
        self.sent.in_flight() == 0 || in_flight as f64 <= self.cc.cwnd() * f64::from(self.transport.mss)
    }

    fn send(&mut self, now: Instant, len: u32, is_marker: bool) -> DataPacket {
        let offset = self.own.next;
        self.own.next += u64::from(len);
        if is_marker {
            self.own.frame_ends.pop_front();
        }
        let ect = self.transport.ecn == EcnMode::Counts;
        let frame = Frame { offset, len, again: false };
        let number = self.push(now, frame, ect);
        self.set_feedback_timer();
        self.tell_sent(now, frame);
        DataPacket { connection: 0, number, offset, len, ect, acks_below: 0, is_marker }
    }

    // ---- losses and marks ----

    /// Feedback reports `count` more marked packets, up to number `largest`.
    fn on_marks(&mut self, now: Instant, count: u32, largest: u64) {
        self.counters.ce_reported += u64::from(count);
        if count == 0 || largest < self.own.period_end {
            return;
        }
        self.signal(now, CongestionKind::Ecn, Restart::Reduced);
        if self.cc.responds_to_ecn() {
            self.own.period_end = self.sent.next_number();
            self.period = Some(Cause::Marks);
        }
    }

    /// Finds the lost packets after feedback or an expired timer. Returns their number.
    fn detect_losses(&mut self, now: Instant) -> u32 {
        let lost = self.find_losses(now, |_, _| {});
        self.own.settled += lost.bytes;
        if lost.count > 0 && lost.last >= self.own.period_end {
            self.signal(now, CongestionKind::Loss, Restart::Reduced);
            self.own.period_end = self.sent.next_number();
            self.enter_recovery(now);
        }
        lost.count
    }

    /// The time without feedback is so long that all packets in flight count as lost.
    fn on_silence(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.pto_count += 1;
        let bytes = self.sent.bytes_in_flight();
        let count = self.sent.lose_all();
        self.losses += u64::from(count);
        self.own.settled += bytes;
        self.timers.stop(Timer::Reordering);
        self.signal(now, CongestionKind::Timeout, Restart::SlowStart);
        self.leave_recovery(now);
        self.own.period_end = self.sent.next_number();
        self.tell_losses(now);
    }

    /// The time without feedback after which everything in flight is lost.
    fn silence(&self) -> Duration {
        self.pto() * u64::from(self.transport.persistent_congestion_threshold)
    }

    fn set_feedback_timer(&mut self) {
        match self.sent.in_flight() {
            0 => self.timers.stop(Timer::Probe),
            _ => self.timers.set(Timer::Probe, self.last_sent_at + self.silence()),
        }
    }

    // ---- what others may know ----

    /// Bytes sent so far that have arrived or are lost.
    pub fn acknowledged(&self) -> u64 {
        self.own.settled
    }

    /// Bytes sent so far.
    pub fn sent_once(&self) -> u64 {
        self.own.next
    }

    /// The state of the sender. The retransmission timeout is the time without feedback after which all packets in
    /// flight are lost.
    pub fn info(&self) -> SenderInfo {
        self.info_with(self.state_of_period(), self.silence(), 0)
    }
}

#[cfg(test)]
mod tests;
