//! The send decision: the next packet, and the permission to send it.

use super::Sender;
use crate::cc::{IdleWindow, PacketSent, Sent};
use crate::quic::packet::DataPacket;
use crate::quic::stream::Frame;
use crate::transport::{Timer, window_quantum};
use crate::units::{Instant, Rate};

/// From any window so many halvings lead to the initial one.
const MOST_HALVINGS: u64 = 64;

impl Sender {
    /// The next packet to send at `now`, if any may be sent.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataPacket> {
        self.timers.stop(Timer::Pacing);
        if self.probes > 0 {
            return self.send_probe(now);
        }
        let has_room = i64::from(self.sent.in_flight()) < self.window();
        if !has_room && !self.one_beyond {
            self.underutilized = false;
            return None;
        }
        let Some(frame) = self.next_frame() else {
            (self.underutilized, self.one_beyond) = (has_room, false);
            return None;
        };
        if let Some(at) = self.held_until(now, frame.len) {
            self.underutilized = false;
            self.timers.set(Timer::Pacing, at);
            return None;
        }
        self.one_beyond = false;
        Some(self.send(now, frame))
    }

    /// When the pacer, or the algorithm itself, lets a frame of `len` bytes go, if not now.
    fn held_until(&mut self, now: Instant, len: u32) -> Option<Instant> {
        if self.sees_packets
            && let Some(at) = self.cc.earliest_departure()
        {
            return (at > now).then_some(at);
        }
        (self.pacing_rate().is_some() && self.pacer.holds(now, len)).then(|| self.pacer.next_send_at())
    }

    /// The one place where a window in fractions becomes whole packets.
    fn window(&self) -> i64 {
        self.cc.whole_segments().max(1)
    }

    /// The next frame: lost data first, then new data.
    fn next_frame(&mut self) -> Option<Frame> {
        self.stream.next_lost().or_else(|| self.next_new())
    }

    /// The next frame of new data, if the receiver's window lets it go.
    fn next_new(&mut self) -> Option<Frame> {
        let (offset, mss) = (self.stream.next, u64::from(self.transport.mss));
        let len = self.stream.unsent(self.transport.mss);
        if len == 0 {
            self.sent.note_app_limited();
            return None;
        }
        let most = self.transport.max_window.map(|segments| self.stream.una + u64::from(segments) * mss);
        if most.is_some_and(|edge| offset + u64::from(len) > edge) {
            return None;
        }
        if self.sent.in_flight() >= self.most_outstanding {
            self.wants_too_much = true;
            return None;
        }
        Some(Frame { offset, len, again: false })
    }

    /// RFC 9002 §6.2.4: "An endpoint SHOULD include new data in packets that are sent on PTO expiration. Previously sent data MAY
    /// be sent if no new data can be sent."
    fn send_probe(&mut self, now: Instant) -> Option<DataPacket> {
        self.probes -= 1;
        let frame = self.next_new().or_else(|| self.stream.next_lost()).or_else(|| self.next_unacknowledged());
        // "When there is no data to send, the sender SHOULD send a PING or other ack-eliciting frame in a single packet".
        let ping = Frame { offset: self.stream.next, len: 0, again: false };
        if frame.is_none() {
            self.probes = 0;
        }
        Some(self.send(now, frame.unwrap_or(ping)))
    }

    /// The oldest frame in flight that no probe of this timeout has repeated.
    fn next_unacknowledged(&mut self) -> Option<Frame> {
        let stream = &self.stream;
        let wanted = |frame: &Frame| frame.len > 0 && !stream.has(frame.offset, frame.len);
        let (number, frame) = self.sent.find_in_flight(self.probe_from, wanted)?;
        self.probe_from = number + 1;
        Some(Frame { again: true, ..frame })
    }

    fn send(&mut self, now: Instant, frame: Frame) -> DataPacket {
        let Frame { offset, len, again } = frame;
        if again {
            // A probe that repeats what is in flight takes nothing.
            if self.stream.next_lost() == Some(frame) {
                self.stream.take_lost();
            }
        } else {
            self.stream.next += u64::from(len);
        }
        let ect = self.ecn.is_on();
        let number = self.sent.push(now, frame, ect);
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(len);
        self.counters.retransmits += u64::from(again);
        self.last_sent_at = now;
        self.set_loss_timer();
        if self.sees_packets {
            let app_limited = self.stream.unsent(self.transport.mss) == 0;
            self.cc.tell_packet(|cc| cc.on_packet_sent(&PacketSent { now, number, bytes: len, app_limited }));
        }
        if let Some(rate) = self.pacing_rate() {
            self.pace(now, len, rate);
        }
        if self.cc.needs_on_sent() {
            let path = self.path();
            self.cc.on_sent(&Sent { now, bytes: len, retransmission: again, path });
        }
        DataPacket { connection: 0, number, offset, len, ect, acks_below: self.acks_below, is_marker: false }
    }

    fn pace(&mut self, now: Instant, len: u32, rate: Rate) {
        let (gap, _) = rate.transmission(u64::from(len + self.transport.data_overhead()));
        let quantum = match self.cc.pacing_rate() {
            Some(_) => self.cc.send_quantum(),
            None => window_quantum(rate, self.transport.mss),
        };
        self.pacer.on_sent(now, len, gap, quantum, false);
    }

    /// The algorithm's rate, or else a rate from its window.
    fn pacing_rate(&self) -> Option<Rate> {
        self.cc.pacing_rate().or(self.window_rate)
    }

    /// RFC 9002 keeps the window of an idle sender. The transport key `idle_restart` shrinks it after a probe
    /// timeout.
    pub(super) fn resume_if_idle(&mut self, now: Instant) {
        let idle = self.sent.in_flight() == 0 && self.counters.segments > 0;
        let idle_for = now.since(self.last_sent_at);
        if idle && self.transport.idle_restart && idle_for > self.pto() {
            let times = match self.transport.idle_window {
                IdleWindow::Restart | IdleWindow::Validate => 1,
                IdleWindow::Halve => (idle_for.as_nanos() / self.pto().as_nanos().max(1)).min(MOST_HALVINGS),
            };
            (0..times).for_each(|_| self.cc.on_resume(now));
            self.after_event(now);
        }
    }
}
