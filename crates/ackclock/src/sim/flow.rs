//! A flow of TCP or QUIC: its two ends, its application, and the packets they send.

use super::delays::QueueingDelay;
use super::endpoint::{Answer, ReceivingEnd, SendingEnd};
use super::index::FlowRank;
use super::measures::OutsideFlow;
use super::network::{Network, Route};
use super::outcome::Direction;
use super::packet::{Body, Flags, PacketMeta};
use super::plan::FlowPlan;
use super::source::Application;
use super::transfer::{Slot, TransferLog};
use crate::cc::CongestionControl;
use crate::prefetch::prefetch;
use crate::qdisc::{Ecn, Tag};
use crate::quic;
use crate::tcp::{AckSegment, DataSegment, PackedFeedback};
use crate::units::Instant;

/// The SACK option: two bytes of kind and length, two of padding, eight a block (RFC 2018 §3).
const SACK_OPTION_LEN: u32 = 4;
const SACK_BLOCK_LEN: u32 = 8;

/// A sender, its application, and its receiver. Fields that packets use are adjacent.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Flow {
    pub(super) receiver: ReceivingEnd,
    /// The offset of the first byte of this connection. Sequence numbers on the wire continue if a slot is used
    /// again.
    pub(super) base: u64,
    /// The bytes that must arrive before the client continues.
    pub(super) awaited: u64,
    rank: FlowRank,
    /// The flags of the flow's packets when they leave.
    flags: Flags,
    /// The tag of packets to the receiver.
    tag: Tag,
    /// The last acknowledgement, and the marks that it reported.
    last_ack: (u64, PackedFeedback),
    pub(super) reverse: Route,
    pub(super) ack_len: u32,
    /// The waiting times of its data since the window of measurement began, and where their histogram is.
    pub(super) queueing_delay: QueueingDelay,
    pub(super) place: u32,
    forward: Route,
    /// When everything was acknowledged, and the integral of cwnd up to then.
    pub(super) finished: Option<(Instant, f64)>,
    /// Bytes on the wire beyond the payload.
    data_overhead: u32,
    /// The ECN field of data that a queue may mark.
    codepoint: Ecn,
    pub(super) sender: SendingEnd,
    pub(super) application: Application,
    /// The start of the flow or of a slot's transfer, or the future for one that has not begun.
    pub(super) started: Instant,
    pub(super) slot: Option<Slot>,
    /// At the end of the run, the measures of ends outside of the simulation.
    pub(super) outside: Option<Box<OutsideFlow>>,
}

impl Flow {
    /// A flow before its start. `key` belongs to its name.
    pub(super) fn new(
        plan: &FlowPlan,
        key: u64,
        rank: FlowRank,
        (flags, tag): (Flags, Tag),
        application: Application,
        [forward, reverse]: [Route; 2],
        place: u32,
    ) -> Self {
        let overhead = plan.transport.data_overhead();
        let sender = SendingEnd::new(plan, key);
        Flow {
            rank,
            codepoint: sender.cc().codepoint(),
            sender,
            receiver: ReceivingEnd::new(plan),
            // A slot is idle.
            finished: matches!(application, Application::Slot).then_some((Instant::ZERO, 0.0)),
            application,
            forward,
            reverse,
            data_overhead: overhead,
            ack_len: overhead,
            place,
            queueing_delay: QueueingDelay::default(),
            flags,
            tag,
            last_ack: (0, PackedFeedback::default()),
            base: 0,
            awaited: u64::MAX,
            started: plan.start,
            slot: None,
            outside: None,
        }
    }

    /// Whether the flow has begun, by its schedule or by a call.
    pub(super) fn has_begun(&self) -> bool {
        self.started != FlowPlan::ON_REQUEST
    }

    /// A slot carries a transfer of this many bytes over a new connection. `key` belongs to the name of the slot.
    pub(super) fn carry(&mut self, now: Instant, plan: &FlowPlan, key: u64, bytes: u64) {
        // Segments of the last transfer that are still in flight have lower numbers, so they are not mistaken for
        // this one's. FIN has its own number, and its ACK the next.
        self.base += self.sender.numbers() + 1 + u64::from(plan.transport.handshake);
        let most_outstanding = self.sender.most_outstanding();
        // Each connection draws numbers of its own.
        self.sender = SendingEnd::new(plan, key.wrapping_add(self.base));
        self.sender.set_most_outstanding(most_outstanding);
        self.receiver = ReceivingEnd::new(plan);
        self.started = now;
        self.finished = None;
        self.sender.open(now);
        self.sender.write(now, bytes);
        self.sender.close();
    }

    /// Data will come soon.
    #[inline]
    pub(super) fn prefetch_receiver(&self) {
        prefetch(&self.receiver);
        prefetch(&self.base);
    }

    /// An ACK will come soon, or the timer will expire.
    #[inline]
    pub(super) fn prefetch_sender(&self) {
        prefetch(&self.base);
        prefetch(&self.sender);
    }

    /// Whether an ACK may come to the sender ahead of time: nothing else is to happen there until then.
    #[inline]
    pub(super) fn arrives_ahead(&self, at: Instant) -> bool {
        let timers = [self.sender.next_deadline(), self.application.next_deadline()];
        timers.into_iter().flatten().all(|deadline| at <= deadline)
    }

    /// Whether this is data that the receiver lacks in part.
    pub(super) fn awaits(&self, body: &Body) -> bool {
        let is_data = matches!(body, Body::Data(_) | Body::Quic(quic::Packet::Data(_)));
        let (start, len) = body.position();
        is_data && start + u64::from(len) > self.base + self.receiver.delivered()
    }

    /// The properties of a packet to the receiver other than its body.
    #[inline]
    fn meta(&self, wire_len: u32) -> PacketMeta {
        let Flow { rank: flow, forward: route, flags, tag, .. } = *self;
        PacketMeta { flow, route, flags, tag, ecn: Ecn::NotEct, wire_len }
    }

    /// The properties of a packet to the sender other than its body.
    #[inline]
    pub(super) fn reverse_meta(&self, wire_len: u32) -> PacketMeta {
        // RFC 3168 §6.1.4: "pure acknowledgement packets (...) MUST be sent with the not-ECT codepoint."
        PacketMeta { route: self.reverse, tag: self.tag.reversed(), ..self.meta(wire_len) }
    }

    /// The sender has another algorithm.
    pub(super) fn on_new_algorithm(&mut self) {
        self.codepoint = self.sender.cc().codepoint();
    }

    /// The properties of a packet that its ends outside of the simulation send.
    pub(super) fn outside_meta(&self, direction: Direction, wire_len: u32, ecn: Ecn) -> PacketMeta {
        let meta = match direction {
            Direction::Forward => self.meta(wire_len),
            Direction::Reverse => self.reverse_meta(wire_len),
        };
        PacketMeta { ecn, ..meta }
    }

    /// Sends all permitted packets at `now`.
    #[inline]
    pub(super) fn send_all(&mut self, now: Instant, network: &mut Network) {
        while let SendingEnd::Tcp(sender) = &mut self.sender {
            let Some(segment) = sender.poll_transmit(now) else { return };
            self.send_data(now, segment, network);
        }
        while let Some(packet) = self.sender.poll_packet(now) {
            self.send_packet(now, packet, network);
        }
    }

    /// Sends an acknowledgement of either transport.
    #[inline]
    pub(super) fn answer(&mut self, now: Instant, answer: Answer, network: &mut Network) {
        match answer {
            Answer::Segment(ack) => self.send_ack(now, ack, network),
            Answer::Packet(ack) => {
                let body = Body::Quic(quic::Packet::Ack(quic::AckPacket { connection: self.base, ..ack }));
                let meta = self.reverse_meta(self.ack_len + ack.more_len);
                network.send_with(now, meta, body, self.receiver.ranges());
            }
        }
    }

    /// Sends a packet of QUIC to the receiver.
    fn send_packet(&self, now: Instant, packet: quic::DataPacket, network: &mut Network) {
        let ecn = if packet.ect { self.codepoint } else { Ecn::NotEct };
        let meta = PacketMeta { ecn, ..self.meta(packet.len + self.data_overhead) };
        let packet = quic::DataPacket { connection: self.base, ..packet };
        network.send(now, meta, Body::Quic(quic::Packet::Data(packet)));
    }

    /// Sends a segment to the receiver.
    #[inline]
    fn send_data(&self, now: Instant, mut segment: DataSegment, network: &mut Network) {
        segment.seq += self.base;
        let ecn = if segment.ecn.ect() { self.codepoint } else { Ecn::NotEct };
        let meta = PacketMeta { ecn, ..self.meta(segment.len + self.data_overhead) };
        network.send(now, meta, Body::Data(segment));
    }

    /// Sends an acknowledgement to the sender.
    #[inline]
    fn send_ack(&mut self, now: Instant, mut ack: AckSegment, network: &mut Network) {
        ack.ack += self.base;
        let sack_len = match ack.sack.len() as u32 {
            0 => 0,
            blocks => SACK_OPTION_LEN + SACK_BLOCK_LEN * blocks,
        };
        let ecn_len = ack.ecn.option().map_or(0, |option| option.len_on_wire());
        let mut meta = self.reverse_meta(self.ack_len + sack_len + ecn_len);
        // Duplicates, SACK blocks and changes of marks are news that a later ACK need not repeat.
        if ack.ack > self.last_ack.0 && ack.ecn == self.last_ack.1 && sack_len == 0 {
            meta.tag = meta.tag.covered_by_next();
        }
        self.last_ack = (ack.ack, ack.ecn);
        network.send(now, meta, Body::Ack(ack));
    }

    /// A packet of RTP comes to the player.
    #[inline]
    pub(super) fn play(&mut self, now: Instant, packet: &quic::DataPacket) {
        if let ReceivingEnd::Rtp(receiver) = &self.receiver
            && receiver.is_new(packet)
            && let Application::Video(video) = &mut self.application
        {
            video.on_packet(now, packet.offset, packet.len);
        }
    }

    /// The answers of a flow that has many.
    pub(super) fn transfer_log(&self) -> Option<&TransferLog> {
        match &self.application {
            Application::Client(client) => Some(client.responses()),
            Application::Interactive(interactive) => Some(&interactive.log),
            Application::Video(video) => Some(&video.log),
            Application::Writer(_) | Application::Slot | Application::None => None,
        }
    }

    /// The window of measurement begins at `now`.
    pub(super) fn begin_log(&mut self, now: Instant) {
        match &mut self.application {
            Application::Client(client) => client.begin(now),
            Application::Interactive(interactive) => interactive.log = TransferLog::default(),
            Application::Video(video) => video.log = TransferLog::default(),
            Application::Writer(_) | Application::Slot | Application::None => {}
        }
    }

    /// The answers of a flow that has many, at the end of the run.
    pub(super) fn transfer_log_at(&self, end: Instant) -> TransferLog {
        match &self.application {
            Application::Client(client) => client.log_at(end),
            Application::Interactive(interactive) => interactive.log_at(end),
            Application::Video(video) => video.log_at(end),
            _ => self.transfer_log().cloned().unwrap_or_default(),
        }
    }

    /// Transfers in progress of a flow that has many.
    pub(super) fn pending(&self) -> u64 {
        match &self.application {
            Application::Client(client) => u64::from(self.awaited != u64::MAX || client.lacks_objects()),
            Application::Interactive(interactive) => interactive.pending(),
            Application::Video(video) => video.pending(),
            _ => u64::from(self.awaited != u64::MAX),
        }
    }

    /// The receiver reports the first keystroke or frame in flight. A receiver of RTP reports each packet instead.
    pub(super) fn await_write(&mut self) {
        match (&self.application, &self.receiver) {
            (Application::Interactive(interactive), _) => {
                self.awaited = interactive.awaited().unwrap_or(u64::MAX);
            }
            (Application::Video(video), ReceivingEnd::Tcp(_) | ReceivingEnd::Quic(_)) => {
                self.awaited = video.awaited().unwrap_or(u64::MAX);
            }
            _ => {}
        }
    }

    /// Payload delivered, and bytes on the wire of all data sent so far. Of ends outside of the simulation, only within
    /// the window.
    pub(super) fn volume(&self) -> (u64, u64) {
        match &self.outside {
            Some(outside) => (outside.measures.delivered, outside.measures.wire_bytes),
            None => (self.receiver.delivered(), self.wire_bytes_sent()),
        }
    }

    /// Bytes on the wire of all data sent so far.
    pub(super) fn wire_bytes_sent(&self) -> u64 {
        let counters = self.sender.counters();
        counters.payload_bytes + counters.segments * u64::from(self.data_overhead)
    }
}
