//! Collects a capture: the packets of some flows at one place, as they are there.

use std::sync::Arc;

use typed_index_collections::{TiSlice, TiVec};

use super::endpoint::SendingEnd;
use super::index::{FlowId, FlowRank, LinkId, LinkRank};
use super::packet::{Bodies, Body, BodyId, Kind, Packet};
use super::plan::{CapturePlan, CapturePoint, Plan, Stack};
use crate::capture::{Connection, Declared, Lost, Packet as Seen, Recording, Segment, SenderState};
use crate::qdisc::Queued;
use crate::quic;
use crate::tcp::AckSegment;
use crate::transport::Protocol;
use crate::transport::Transport;
use crate::units::{Duration, Instant};

/// A capture in progress.
#[derive(Debug)]
pub(super) struct Recorder {
    point: Point,
    /// Whether the states of senders are captured.
    has_senders: bool,
    flows: TiVec<FlowRank, Recorded>,
    /// Properties that bodies lack, by their places.
    sent: Vec<Sent>,
    recording: Recording,
}

/// The place.
#[derive(Clone, Copy, Debug)]
enum Point {
    Sender,
    Receiver,
    /// Where one link ends and another one, in the other direction, begins.
    Link {
        ends: LinkRank,
        begins: Option<LinkRank>,
    },
}

/// A flow that may be captured.
#[derive(Debug)]
struct Recorded {
    is_chosen: bool,
    /// The last links. A source of datagrams has no reverse path.
    last_forward: LinkRank,
    last_reverse: Option<LinkRank>,
    /// The common properties of its connections.
    model: Connection,
    /// The offset of the first byte of each connection, and the index of the connection in the recording.
    connections: Vec<(u64, Option<u32>)>,
    /// Payload of the requests that left the receiver, and of those that came to the sender.
    asked: u64,
    served: u64,
    /// The last ACK that left.
    ack: Option<AckSegment>,
    /// When the last ACK left that the sender has got.
    echo: Option<Instant>,
    /// The last state of the sender, and the transmissions that it had taken for lost.
    state: Option<SenderState>,
    losses: u64,
}

/// A packet as it left its host.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Instant,
    /// Data: the next byte expected from the other end. From the receiver: its own first byte.
    other: u64,
    echo: Option<Instant>,
    /// Goes with a request.
    ack: Option<AckSegment>,
}

impl Recorder {
    /// `flow_rank` and `link_rank` map flows and links of the plan. `streams` contains the names and paths of the
    /// sources of datagrams in their present order.
    pub(super) fn new(
        plan: &Plan,
        capture: &CapturePlan,
        flow_rank: &TiSlice<FlowId, FlowRank>,
        streams: &[(&str, &[LinkId])],
        link_rank: &TiSlice<LinkId, LinkRank>,
    ) -> Self {
        let mut flows: TiVec<FlowRank, Option<Recorded>> = TiVec::new();
        flows.resize_with(flow_rank.len(), || None);
        for ((index, rank), flow) in flow_rank.iter_enumerated().zip(plan.tcp_flows()) {
            // Their owner captures the packets of ends outside.
            let is_chosen = flow.stack != Stack::Outside && capture.takes(&flow.name, &flow.group);
            let paths = [&*flow.forward, &*flow.reverse];
            let model =
                connection(plan, capture.point, (flow.name.clone(), index.number()), paths, Some(&flow.transport));
            flows[*rank] = Some(Recorded::new(is_chosen, paths, link_rank, model));
        }
        flows.extend(streams.iter().enumerate().map(|(index, (name, path))| {
            let group = plan.datagrams.iter().find(|row| row.sources.iter().any(|source| source.name == **name));
            let is_chosen = capture.takes(name, group.map_or("", |row| &row.group));
            let paths = [*path, &[][..]];
            let model = connection(plan, capture.point, ((*name).into(), flow_rank.len() + index), paths, None);
            Some(Recorded::new(is_chosen, paths, link_rank, model))
        }));
        let rank = |link: LinkId| link_rank[link];
        let point = match capture.point {
            CapturePoint::Sender => Point::Sender,
            CapturePoint::Receiver => Point::Receiver,
            CapturePoint::Link(link) => Point::Link { ends: rank(link), begins: plan.opposite(link).map(rank) },
        };
        let flows = flows.into_iter().flatten().collect();
        let recording = Recording { at: capture.point.name(plan).to_owned(), ..Recording::default() };
        Recorder { point, has_senders: capture.senders, flows, sent: Vec::new(), recording }
    }

    /// Packets so far.
    pub(super) fn len(&self) -> usize {
        self.recording.packets.len()
    }

    /// The next connection of a flow begins. `base` is the offset of its first byte.
    pub(super) fn connected(&mut self, flow: FlowRank, base: u64) {
        let flow = &mut self.flows[flow];
        flow.connections.push((base, None));
        (flow.asked, flow.served, flow.ack, flow.echo, flow.losses) = (0, 0, None, None, 0);
    }

    /// A packet sets out.
    #[cold]
    pub(super) fn sent(&mut self, now: Instant, packet: Packet, bodies: &Bodies) {
        let number = bodies.flow(packet.body());
        let flow = &mut self.flows[number];
        if !flow.is_chosen {
            return;
        }
        let mut sent = Sent { at: now, ..Sent::default() };
        let mut is_data = true;
        match bodies.get(packet.body()) {
            Body::Data(_) => (sent.other, sent.echo) = (flow.served, flow.echo),
            Body::Ack(ack) => {
                sent.other = flow.asked;
                flow.ack = Some(*ack);
                is_data = false;
            }
            Body::Request { len, .. } => {
                (sent.other, sent.ack) = (flow.asked, flow.ack);
                flow.asked += u64::from(*len);
                is_data = false;
            }
            Body::Quic(quic::Packet::Ack(_)) => is_data = false,
            Body::Quic(quic::Packet::Data(_)) | Body::Datagram(_) | Body::Outside(_) | Body::Corrupted { .. } => {}
        }
        self.note_sent(packet.body(), sent);
        let is_here = match self.point {
            Point::Sender => is_data,
            Point::Receiver => !is_data,
            Point::Link { .. } => false,
        };
        self.open(now, number, packet, bodies);
        if is_here {
            self.see(now, number, packet, bodies);
        }
    }

    /// A packet enters a link.
    #[cold]
    pub(super) fn entered(&mut self, now: Instant, link: LinkRank, packet: Packet, bodies: &Bodies) {
        let number = bodies.flow(packet.body());
        if matches!(self.point, Point::Link { begins, .. } if begins == Some(link)) && self.flows[number].is_chosen {
            self.see(now, number, packet, bodies);
        }
    }

    /// A packet comes out of a link.
    #[cold]
    pub(super) fn left(&mut self, now: Instant, link: LinkRank, packet: Packet, bodies: &Bodies) {
        let number = bodies.flow(packet.body());
        let flow = &mut self.flows[number];
        if !flow.is_chosen {
            return;
        }
        let is_here = match self.point {
            Point::Sender => flow.last_reverse == Some(link),
            Point::Receiver => flow.last_forward == link,
            Point::Link { ends, .. } => ends == link,
        };
        if flow.last_reverse == Some(link) {
            let sent = self.sent[packet.body().place()];
            match bodies.get(packet.body()) {
                Body::Ack(_) => flow.echo = flow.echo.max(Some(sent.at)),
                Body::Request { len, .. } => {
                    flow.served = flow.served.max(sent.other + u64::from(*len));
                    flow.echo = flow.echo.max(Some(sent.at));
                }
                Body::Data(_) | Body::Quic(_) | Body::Datagram(_) | Body::Outside(_) | Body::Corrupted { .. } => {}
            }
        }
        if is_here {
            self.see(now, number, packet, bodies);
        }
    }

    /// A packet will not arrive.
    #[cold]
    pub(super) fn lost(&mut self, packet: Packet, bodies: &Bodies) {
        let (number, body) = (bodies.flow(packet.body()), bodies.get(packet.body()));
        let flow = &self.flows[number];
        if !self.has_senders || !flow.is_chosen || body.kind() != Kind::Data || flow.last_reverse.is_none() {
            return;
        }
        let (seq, _) = body.position();
        if let (base, Some(connection)) = flow.connections[flow.connection_at(seq)] {
            let sent_at = self.sent[packet.body().place()].at;
            self.recording.lost.push(Lost { sent_at, connection, seq: seq - base });
        }
    }

    /// The state of the sender of a flow after an event.
    #[cold]
    pub(super) fn sender(&mut self, now: Instant, flow: FlowRank, sender: &SendingEnd) {
        let flow = &mut self.flows[flow];
        if !self.has_senders || !flow.is_chosen {
            return;
        }
        let Some((_, Some(connection))) = flow.connections.last().copied() else { return };
        let place = self.recording.packets.len();
        if sender.losses() != flow.losses {
            flow.losses = sender.losses();
            let declared = |seq| Declared { time: now, connection, place, seq };
            self.recording.declared.extend(sender.lost().map(declared));
        }
        let info = sender.info();
        let state = SenderState {
            time: now,
            connection,
            place,
            cwnd: info.cwnd,
            ssthresh: info.ssthresh,
            in_flight: sender.in_flight(),
            srtt: info.srtt,
            rttvar: info.rttvar,
            min_rtt: info.min_rtt,
            phase: sender.phase(),
        };
        let before = flow.state.map(|last| SenderState { time: now, place: state.place, ..last });
        if before != Some(state) {
            flow.state = Some(state);
            self.recording.senders.push(state);
        }
    }

    /// A doubled packet has got a body of its own.
    pub(super) fn doubled(&mut self, from: BodyId, to: BodyId) {
        if let Some(sent) = self.sent.get(from.place()) {
            self.note_sent(to, *sent);
        }
    }

    fn note_sent(&mut self, body: BodyId, sent: Sent) {
        let place = body.place();
        if self.sent.len() <= place {
            self.sent.resize(place + 1, Sent::default());
        }
        self.sent[place] = sent;
    }

    /// The connection of a packet is in the recording from its first packet on.
    fn open(&mut self, now: Instant, number: FlowRank, packet: Packet, bodies: &Bodies) {
        let (flow, connections) = (&mut self.flows[number], &mut self.recording.connections);
        let last = flow.connection_of(bodies.get(packet.body()));
        if flow.connections[last].1.is_none() {
            flow.connections[last].1 = Some(connections.len() as u32);
            let successor = flow.connections[..last].iter().filter(|(_, place)| place.is_some()).count() as u32;
            connections.push(Connection { successor, opened: now, ..flow.model.clone() });
        }
    }

    /// A packet is at the place of the capture. A host does not take one with wrong bits.
    fn see(&mut self, now: Instant, number: FlowRank, packet: Packet, bodies: &Bodies) {
        let (flow, body) = (&self.flows[number], bodies.get(packet.body()));
        let (base, Some(connection)) = flow.connections[flow.connection_of(body)] else { return };
        let Sent { at: sent_at, other, echo, ack } = self.sent[packet.body().place()];
        let relative = |ack: &AckSegment| AckSegment { ack: ack.ack - base, ..*ack };
        let segment = match body {
            Body::Data(data) => {
                Segment::Data { seq: data.seq - base, len: data.len, sent_at, flags: data.ecn, ack: other, echo }
            }
            Body::Ack(ack) => Segment::Ack { seq: other, len: 0, sent_at, ack: Some(relative(ack)) },
            Body::Quic(quic::Packet::Data(data)) if flow.model.protocol() == Some(Protocol::Rtp) => {
                let quic::DataPacket { number, offset, len, is_marker, .. } = *data;
                Segment::RtpData { number, offset, len, sent_at, is_marker }
            }
            Body::Quic(quic::Packet::Data(data)) => {
                Segment::QuicData { number: data.number, offset: data.offset, len: data.len, sent_at }
            }
            Body::Quic(quic::Packet::Ack(ack)) => {
                let first = self.recording.ranges.len() as u32;
                self.recording.ranges.extend_from_slice(bodies.ranges(packet.body()));
                let ranges = (first, self.recording.ranges.len() as u32);
                if flow.model.protocol() == Some(Protocol::Rtp) {
                    Segment::RtpFeedback { list: ranges }
                } else {
                    Segment::QuicAck { number: ack.number, ranges, delay: ack.delay }
                }
            }
            Body::Request { len, .. } if flow.model.protocol() == Some(Protocol::Quic) => {
                Segment::QuicRequest { len: *len }
            }
            Body::Request { len, .. } => {
                let ack = ack.as_ref().map(|ack| AckSegment { sack: Default::default(), ..relative(ack) });
                Segment::Ack { seq: other, len: *len, sent_at, ack }
            }
            Body::Datagram(datagram) => Segment::Datagram { len: datagram.len },
            Body::Outside(_) | Body::Corrupted { .. } => return,
        };
        let (ecn, wire_len) = (packet.ecn(), packet.wire_len());
        self.recording.packets.push(Seen { time: now, connection, ecn, wire_len, segment });
    }

    /// The recording of the time before `end`.
    pub(super) fn into_recording(self, end: Instant) -> Recording {
        let mut recording = self.recording;
        recording.packets.sort_by_key(|packet| packet.time);
        recording.packets.retain(|packet| packet.time < end);
        recording.senders.retain(|state| state.time < end);
        recording.declared.retain(|declared| declared.time < end);
        recording
    }
}

impl Recorded {
    fn new(
        is_chosen: bool,
        [forward, reverse]: [&[LinkId]; 2],
        link_rank: &TiSlice<LinkId, LinkRank>,
        model: Connection,
    ) -> Self {
        let last = |path: &[LinkId]| path.last().map(|link| link_rank[*link]);
        Recorded {
            is_chosen,
            last_forward: last(forward).expect("invariant: a path has a link"),
            last_reverse: last(reverse),
            model,
            connections: vec![(0, None)],
            asked: 0,
            served: 0,
            ack: None,
            echo: None,
            state: None,
            losses: 0,
        }
    }

    /// Which of its connections a packet belongs to: packets of an earlier one may still be in flight.
    fn connection_of(&self, body: &Body) -> usize {
        let position = match body {
            Body::Data(segment) => segment.seq,
            Body::Ack(ack) => ack.ack,
            Body::Quic(quic::Packet::Data(packet)) => packet.connection,
            Body::Quic(quic::Packet::Ack(ack)) => ack.connection,
            Body::Request { .. } | Body::Datagram(_) | Body::Outside(_) | Body::Corrupted { .. } => {
                return self.connections.len() - 1;
            }
        };
        self.connection_at(position)
    }

    /// Which of its connections has this byte.
    fn connection_at(&self, byte: u64) -> usize {
        self.connections.partition_point(|(base, _)| *base <= byte) - 1
    }
}

/// A connection of a flow, from its paths and the distance of the capture from its sender.
fn connection(
    plan: &Plan,
    point: CapturePoint,
    (flow, number): (Arc<str>, usize),
    [forward, reverse]: [&[LinkId]; 2],
    transport: Option<&Arc<Transport>>,
) -> Connection {
    let propagation = |links: &[LinkId]| links.iter().fold(Duration::ZERO, |sum, link| sum + plan.links[*link].delay);
    let up_to = |link: LinkId, path: &[LinkId]| path.iter().position(|other| *other == link).map(|place| place + 1);
    let distance = match point {
        CapturePoint::Sender => Duration::ZERO,
        CapturePoint::Receiver => propagation(forward),
        CapturePoint::Link(link) => match (up_to(link, forward), up_to(link, reverse)) {
            (Some(end), _) => propagation(&forward[..end]),
            (None, Some(end)) => propagation(&reverse[end..]),
            (None, None) => Duration::ZERO,
        },
    };
    let base_rtt = propagation(forward) + propagation(reverse);
    let transport = transport.cloned();
    Connection { flow, number: number as u32, successor: 0, opened: Instant::ZERO, base_rtt, distance, transport }
}
