//! The send decision: the next packet, and the permission to send it.

use super::Sender;
use crate::cc::PacketSent;
use crate::quic::packet::DataPacket;
use crate::transport::{Frame, Timer};
use crate::units::Instant;

impl Sender {
    /// The next packet to send at `now`, if any may be sent.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<DataPacket> {
        self.timers.stop(Timer::Pacing);
        if self.own.probes > 0 {
            return self.send_probe(now);
        }
        let has_room = i64::from(self.sent.in_flight()) < self.window();
        if !has_room && !self.own.one_beyond {
            self.underutilized = false;
            return None;
        }
        let Some(frame) = self.next_frame() else {
            (self.underutilized, self.own.one_beyond) = (has_room, false);
            return None;
        };
        if let Some(at) = self.held_until(now, frame.len) {
            self.underutilized = false;
            self.timers.set(Timer::Pacing, at);
            return None;
        }
        self.own.one_beyond = false;
        Some(self.send(now, frame))
    }

    /// When the pacer, or the algorithm itself, lets a frame of `len` bytes go, if not now.
    fn held_until(&mut self, now: Instant, len: u32) -> Option<Instant> {
        if self.own.sees_packets
            && let Some(at) = self.cc.earliest_departure()
        {
            return (at > now).then_some(at);
        }
        self.paced_until(now, len)
    }

    /// The one place where a window in fractions becomes whole packets.
    fn window(&self) -> i64 {
        self.cc.whole_segments().max(1)
    }

    /// The next frame: lost data first, then new data.
    fn next_frame(&mut self) -> Option<Frame> {
        self.own.stream.next_lost().or_else(|| self.next_new())
    }

    /// The next frame of new data, if the receiver's window lets it go.
    fn next_new(&mut self) -> Option<Frame> {
        let (offset, mss) = (self.own.stream.next, u64::from(self.transport.mss));
        let len = self.own.stream.unsent(self.transport.mss);
        if len == 0 {
            self.sent.note_app_limited();
            return None;
        }
        let most = self.transport.max_window.map(|segments| self.own.stream.una + u64::from(segments) * mss);
        if most.is_some_and(|edge| offset + u64::from(len) > edge) {
            return None;
        }
        if self.is_at_bound() {
            return None;
        }
        Some(Frame { offset, len, again: false })
    }

    /// RFC 9002 §6.2.4: "An endpoint SHOULD include new data in packets that are sent on PTO expiration. Previously sent data MAY
    /// be sent if no new data can be sent."
    fn send_probe(&mut self, now: Instant) -> Option<DataPacket> {
        self.own.probes -= 1;
        let frame = self.next_new().or_else(|| self.own.stream.next_lost()).or_else(|| self.next_unacknowledged());
        // "When there is no data to send, the sender SHOULD send a PING or other ack-eliciting frame in a single packet".
        let ping = Frame { offset: self.own.stream.next, len: 0, again: false };
        if frame.is_none() {
            self.own.probes = 0;
        }
        Some(self.send(now, frame.unwrap_or(ping)))
    }

    /// The oldest frame in flight that no probe of this timeout has repeated.
    fn next_unacknowledged(&mut self) -> Option<Frame> {
        let stream = &self.own.stream;
        let wanted = |frame: &Frame| frame.len > 0 && !stream.has(frame.offset, frame.len);
        let (number, frame) = self.sent.find_in_flight(self.own.probe_from, wanted)?;
        self.own.probe_from = number + 1;
        Some(Frame { again: true, ..frame })
    }

    fn send(&mut self, now: Instant, frame: Frame) -> DataPacket {
        let Frame { offset, len, again } = frame;
        if again {
            // A probe that repeats what is in flight takes nothing.
            if self.own.stream.next_lost() == Some(frame) {
                self.own.stream.take_lost();
            }
        } else {
            self.own.stream.next += u64::from(len);
        }
        let ect = self.own.ecn.is_on();
        let number = self.push(now, frame, ect);
        self.set_loss_timer();
        if self.own.sees_packets {
            let app_limited = self.own.stream.unsent(self.transport.mss) == 0;
            self.cc.tell_packet(|cc| cc.on_packet_sent(&PacketSent { now, number, bytes: len, app_limited }));
        }
        self.tell_sent(now, frame);
        DataPacket { connection: 0, number, offset, len, ect, acks_below: self.own.acks_below, is_marker: false }
    }
}
