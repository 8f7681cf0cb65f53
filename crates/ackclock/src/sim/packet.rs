//! Packets: a small value that links move, and its body, which stays in place.

use super::index::FlowRank;
use crate::link::Impairable;
use crate::prefetch::prefetch;
use crate::qdisc::{Ecn, Queued, Tag};
use crate::quic;
use crate::tcp::{AckSegment, DataSegment};
use crate::units::{Duration, Instant};

/// The value that travels through links. It contains all data that a hop needs, in two words, which stay in
/// registers.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The place of its body, and above it the index of the next hop in the table of routes.
    route_hop_body: u64,
    /// Flags, above them the bytes on the wire, the tag, and on top the ECN field.
    header: u64,
}

impl Packet {
    const HOP_SHIFT: u32 = 32;
    const LEN_SHIFT: u32 = 32;
    const LEN_BITS: u32 = 18;
    const TAG_SHIFT: u32 = Self::LEN_SHIFT + Self::LEN_BITS;
    const ECN_SHIFT: u32 = Self::TAG_SHIFT + Tag::BITS;

    /// A packet that sets out.
    #[inline]
    pub fn new(body: BodyId, meta: &PacketMeta) -> Self {
        let PacketMeta { route, flags, tag, ecn, wire_len, .. } = *meta;
        debug_assert!(wire_len >> Self::LEN_BITS == 0, "invariant: a packet is below 256 KiB");
        Packet {
            route_hop_body: u64::from(route) << Self::HOP_SHIFT | u64::from(body.0),
            header: u64::from(ecn.bits()) << Self::ECN_SHIFT
                | u64::from(tag.bits()) << Self::TAG_SHIFT
                | u64::from(wire_len) << Self::LEN_SHIFT
                | u64::from(flags.0),
        }
    }

    /// A packet without a body and a route, by its number. Flows whose lowest 29 bits are equal are one.
    pub fn alone(number: u32, wire_len: u32, flow: u64, ecn: Ecn) -> Self {
        let flags = Flags::new(flow as u32 & Flags::MOST_HASH, true);
        let meta = PacketMeta { flow: FlowRank::new(0), route: 0, flags, tag: Tag::default(), ecn, wire_len };
        Packet::new(BodyId(number), &meta)
    }

    /// Where its body is kept.
    #[inline]
    pub fn body(self) -> BodyId {
        BodyId(self.route_hop_body as u32)
    }

    /// From now on its body is this one.
    pub fn set_body(&mut self, body: BodyId) {
        self.route_hop_body = self.route_hop_body >> Self::HOP_SHIFT << Self::HOP_SHIFT | u64::from(body.0);
    }

    /// Index of the next hop in the table of routes.
    #[inline]
    pub fn next_hop(self) -> usize {
        (self.route_hop_body >> Self::HOP_SHIFT) as usize
    }

    /// It enters the next hop.
    #[inline]
    pub fn enter_hop(&mut self) {
        self.route_hop_body += 1 << Self::HOP_SHIFT;
    }

    fn flags(self) -> Flags {
        Flags(self.header as u32)
    }

    /// From now on it is in profile, or out of it.
    pub fn set_in_profile(&mut self, in_profile: bool) {
        let others = self.header & !u64::from(Flags::IN_PROFILE);
        self.header = others | if in_profile { u64::from(Flags::IN_PROFILE) } else { 0 };
    }

    /// The flags. Clears the impairments of the link.
    pub fn take_impairments(&mut self) -> Flags {
        let all = self.flags();
        self.header &= !u64::from(Flags::HARM);
        all
    }
}

/// All properties of a packet in one word: its owner, its profile, and the impairments of the present link. Those
/// take effect when the packet leaves the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    const CORRUPTED: u32 = 1;
    const DOUBLED: u32 = 2;
    const HARM: u32 = Self::CORRUPTED | Self::DOUBLED;
    const IN_PROFILE: u32 = 4;

    /// Where the hash of the flow begins.
    const HASH_SHIFT: u32 = 3;

    /// The largest hash of a flow.
    pub const MOST_HASH: u32 = u32::MAX >> Self::HASH_SHIFT;

    /// The flags of an unimpaired packet of the flow with this hash.
    pub fn new(hash: u32, in_profile: bool) -> Self {
        debug_assert!(hash <= Self::MOST_HASH, "invariant: a hash has {} bits", u32::BITS - Self::HASH_SHIFT);
        let profile = if in_profile { Self::IN_PROFILE } else { 0 };
        Flags(hash << Self::HASH_SHIFT | profile)
    }

    /// Whether some of its bits are wrong.
    pub fn is_corrupted(self) -> bool {
        self.0 & Self::CORRUPTED != 0
    }

    /// Whether a second packet with the same body comes right after it.
    pub fn is_doubled(self) -> bool {
        self.0 & Self::DOUBLED != 0
    }
}

impl Queued for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        (self.header >> Self::LEN_SHIFT) as u32 & ((1 << Self::LEN_BITS) - 1)
    }

    fn flow_hash(&self) -> u64 {
        u64::from(self.flags().0 >> Flags::HASH_SHIFT)
    }

    fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.header >> Self::ECN_SHIFT) as u8)
    }

    fn mark(&mut self) {
        self.header |= u64::from(Ecn::Ce.bits()) << Self::ECN_SHIFT;
    }

    #[inline]
    fn in_profile(&self) -> bool {
        self.flags().0 & Flags::IN_PROFILE != 0
    }

    #[inline]
    fn tag(&self) -> Tag {
        Tag::from_bits((self.header >> Self::TAG_SHIFT) as u16)
    }
}

impl Impairable for Packet {
    fn corrupt(&mut self) {
        self.header |= u64::from(Flags::CORRUPTED);
    }

    fn clear_ecn(&mut self) {
        self.header &= !(u64::from(Ecn::Ce.bits()) << Self::ECN_SHIFT);
    }

    /// The second packet has the body, and the first needs a copy of it when it comes out.
    fn double(&mut self) -> Self {
        let second = *self;
        self.header |= u64::from(Flags::DOUBLED);
        second
    }
}

/// The properties of a new packet other than its body.
#[derive(Clone, Copy, Debug)]
pub struct PacketMeta {
    /// Whose it is.
    pub flow: FlowRank,
    /// Index of its first hop in the table of routes.
    pub route: u32,
    /// The common flags of all packets of the flow.
    pub flags: Flags,
    /// The group of the flow, and the direction.
    pub tag: Tag,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes on the wire.
    pub wire_len: u32,
}

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The number of the packet at its source, from 0.
    pub number: u64,
    /// Bytes on the wire.
    pub len: u32,
    /// When it left its source.
    pub sent_at: Instant,
}

/// The contents of a packet of a flow whose ends are outside of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct OutsideBody {
    /// Its identity for its owner.
    pub token: u32,
    /// Its kind for counters.
    pub kind: Kind,
    /// Whether some of its bits are wrong.
    pub is_corrupted: bool,
}

/// The contents of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Data, to the receiver.
    Data(DataSegment),
    /// An acknowledgement, to the sender.
    Ack(AckSegment),
    /// A packet of QUIC or RTP. The ranges of an acknowledgement, and the reports of feedback, are stored separately.
    Quic(quic::Packet),
    /// A datagram, to its receiver.
    Datagram(Datagram),
    /// A request of a client at the receiver, to the sender.
    Request {
        /// Its number, from 1.
        number: u64,
        /// Its payload.
        len: u32,
    },
    /// A packet of a flow whose ends are outside of the simulation.
    Outside(OutsideBody),
    /// Any of the others with wrong bits.
    Corrupted {
        /// The kind of the packet.
        kind: Kind,
        /// Its position, as it was.
        seq: u64,
        /// Its payload.
        len: u32,
    },
}

/// The kind of packet for counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data of a sender, or a datagram.
    Data,
    /// An acknowledgement.
    Ack,
    /// A request of a client.
    Request,
}

impl Body {
    /// The first byte of data and the payload. For an ACK, the next expected byte (over QUIC, the next packet number)
    /// and 0. For a datagram or a request, its number and its length.
    pub fn position(&self) -> (u64, u32) {
        match self {
            Body::Data(segment) => (segment.seq, segment.len),
            Body::Ack(ack) => (ack.ack, 0),
            Body::Quic(quic::Packet::Data(packet)) => (packet.connection + packet.offset, packet.len),
            Body::Quic(quic::Packet::Ack(ack)) => (ack.connection + ack.largest + 1, 0),
            Body::Datagram(datagram) => (datagram.number, datagram.len),
            Body::Request { number, len } => (*number, *len),
            Body::Outside(body) => (u64::from(body.token), 0),
            Body::Corrupted { seq, len, .. } => (*seq, *len),
        }
    }

    /// The kind of packet for counters.
    pub fn kind(&self) -> Kind {
        match self {
            Body::Data(_) | Body::Datagram(_) | Body::Quic(quic::Packet::Data(_)) => Kind::Data,
            Body::Ack(_) | Body::Quic(quic::Packet::Ack(_)) => Kind::Ack,
            Body::Request { .. } => Kind::Request,
            Body::Outside(OutsideBody { kind, .. }) | Body::Corrupted { kind, .. } => *kind,
        }
    }
}

/// The number of bodies that fit into the caches near the processor. With more bodies, the next ones are prefetched.
const CACHED_BODIES: usize = 2048;

/// A place in [`Bodies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyId(u32);

impl BodyId {
    /// The place among all bodies. The next packet may reuse it after this one has left.
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// Whose a packet is, and its queueing delay so far, in one word.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u64);

impl Owner {
    const FLOW_BITS: u32 = 22;
    /// More than an hour. Longer delays count as this long.
    const LONGEST_NS: u64 = (1 << (u64::BITS - Self::FLOW_BITS)) - 1;
    /// Flows are numbered below.
    pub const FLOWS: usize = 1 << Self::FLOW_BITS;

    fn new(flow: FlowRank) -> Self {
        debug_assert!(flow.number() < Self::FLOWS, "invariant: a plan has no more flows");
        Owner(flow.number() as u64)
    }

    /// The flow.
    #[inline]
    pub fn flow(self) -> FlowRank {
        FlowRank::new((self.0 & (Self::FLOWS as u64 - 1)) as usize)
    }

    /// The queueing delay of the packet so far.
    #[inline]
    pub fn queueing_delay(self) -> Duration {
        Duration::from_nanos(self.0 >> Self::FLOW_BITS)
    }

    #[inline]
    fn add_queueing_delay(&mut self, sojourn: Duration) {
        let left = Self::LONGEST_NS - (self.0 >> Self::FLOW_BITS);
        self.0 += sojourn.as_nanos().min(left) << Self::FLOW_BITS;
    }
}

/// The bodies of all packets in flight, and whose they are. A place that was given back is used again.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    places: Vec<Body>,
    owners: Vec<Owner>,
    free: Vec<BodyId>,
    /// The ranges of QUIC's acknowledgements, by place.
    ranges: Vec<Vec<(u64, u64)>>,
}

impl Bodies {
    /// Keeps a body of this flow until it is taken.
    #[inline(always)]
    pub fn keep(&mut self, flow: FlowRank, body: Body) -> BodyId {
        self.keep_of(Owner::new(flow), body)
    }

    #[inline(always)]
    fn keep_of(&mut self, owner: Owner, body: Body) -> BodyId {
        if let Some(id) = self.free.pop() {
            self.places[id.0 as usize] = body;
            self.owners[id.0 as usize] = owner;
            return id;
        }
        let id = BodyId(self.places.len() as u32);
        self.places.push(body);
        self.owners.push(owner);
        id
    }

    /// Stores these ranges with a body.
    pub fn keep_ranges(&mut self, id: BodyId, ranges: &[(u64, u64)]) {
        let place = id.place();
        if self.ranges.len() <= place {
            self.ranges.resize_with(place + 1, Vec::new);
        }
        self.ranges[place].clear();
        self.ranges[place].extend_from_slice(ranges);
    }

    /// The ranges stored with a body, until its place is used again.
    pub fn ranges(&self, id: BodyId) -> &[(u64, u64)] {
        self.ranges.get(id.place()).map_or(&[], Vec::as_slice)
    }

    /// Whose a packet is, and its queueing delay.
    #[inline]
    pub fn owner(&self, id: BodyId) -> Owner {
        self.owners[id.0 as usize]
    }

    /// The flow that a packet belongs to.
    #[inline]
    pub fn flow(&self, id: BodyId) -> FlowRank {
        self.owner(id).flow()
    }

    /// Adds the sojourn time of a packet in a queue.
    #[inline]
    pub fn add_queueing_delay(&mut self, id: BodyId, sojourn: Duration) {
        self.owners[id.0 as usize].add_queueing_delay(sojourn);
    }

    /// A body that is kept.
    #[inline]
    pub fn get(&self, id: BodyId) -> &Body {
        &self.places[id.0 as usize]
    }

    /// Whether bodies are too many for the caches near the processor.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.places.len() > CACHED_BODIES
    }

    /// This body will be needed soon.
    #[inline]
    pub fn prefetch(&self, id: BodyId) {
        prefetch(&self.places[id.0 as usize]);
    }

    /// Keeps another body like this one.
    pub fn keep_copy(&mut self, id: BodyId) -> BodyId {
        let copy = self.keep_of(self.owner(id), *self.get(id));
        if matches!(self.get(id), Body::Quic(quic::Packet::Ack(_))) {
            let ranges = self.ranges(id).to_vec();
            self.keep_ranges(copy, &ranges);
        }
        copy
    }

    /// Some bits of a body have become wrong.
    pub fn corrupt(&mut self, id: BodyId) {
        let body = &mut self.places[id.0 as usize];
        if let Body::Outside(body) = body {
            body.is_corrupted = true;
            return;
        }
        let ((seq, len), kind) = (body.position(), body.kind());
        *body = Body::Corrupted { kind, seq, len };
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: BodyId) -> &mut Body {
        &mut self.places[id.0 as usize]
    }

    /// Frees the place of a body. The body stays there until another one is kept.
    #[inline]
    pub fn release(&mut self, id: BodyId) {
        self.free.push(id);
    }

    /// Gives a body back, and frees its place.
    pub fn take(&mut self, id: BodyId) -> Body {
        self.release(id);
        self.places[id.0 as usize]
    }

    /// Places, those that are free among them.
    #[inline]
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Calls `visit` with the flow and the body of everything that is kept.
    pub fn for_each(&self, mut visit: impl FnMut(FlowRank, &Body)) {
        let mut is_kept = vec![true; self.places.len()];
        self.free.iter().for_each(|id| is_kept[id.place()] = false);
        for (place, _) in is_kept.iter().enumerate().filter(|(_, is_kept)| **is_kept) {
            visit(self.owners[place].flow(), &self.places[place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::DataEcn;
    use crate::units::Instant;

    #[test]
    fn a_packet_is_what_it_was_made_of_whatever_happens_to_it() {
        let flags = Flags::new(0x1abc_def0, true);
        let tag = Tag::new(Tag::MOST).reversed().covered_by_next();
        let route = u32::MAX - 1;
        let cover = PacketMeta { flow: FlowRank::new(0), route, flags, tag, ecn: Ecn::Ect1, wire_len: 65_535 };
        let mut packet = Packet::new(BodyId(u32::MAX), &cover);
        let told = |packet: &Packet| (packet.wire_len(), packet.flow_hash(), packet.in_profile());
        assert_eq!(
            (packet.body(), packet.next_hop(), packet.ecn()),
            (BodyId(u32::MAX), u32::MAX as usize - 1, Ecn::Ect1)
        );
        assert_eq!((told(&packet), packet.tag()), ((65_535, 0x1abc_def0, true), tag));
        packet.set_in_profile(false);
        assert_eq!(told(&packet), (65_535, 0x1abc_def0, false));
        packet.set_in_profile(true);
        packet.mark();
        packet.corrupt();
        let mut second = packet.double();
        packet.enter_hop();
        packet.set_body(BodyId(0));
        assert_eq!((packet.body(), packet.next_hop(), packet.ecn()), (BodyId(0), u32::MAX as usize, Ecn::Ce));
        for (packet, doubled) in [(&mut packet, true), (&mut second, false)] {
            let met = packet.take_impairments();
            assert_eq!((met.is_corrupted(), met.is_doubled()), (true, doubled));
            assert_eq!((packet.take_impairments(), told(packet)), (flags, (65_535, 0x1abc_def0, true)));
        }
    }

    #[test]
    fn places_are_used_again() {
        let body = |seq| Body::Data(DataSegment { seq, len: 1, sent_at: Instant::ZERO, ecn: DataEcn::default() });
        let mut bodies = Bodies::default();
        let (first, second) = (bodies.keep(FlowRank::new(0), body(1)), bodies.keep(FlowRank::new(7), body(2)));
        assert!(matches!(bodies.take(first), Body::Data(DataSegment { seq: 1, .. })));
        assert_eq!(bodies.keep(FlowRank::new(8), body(3)), first);
        bodies.add_queueing_delay(second, Duration::from_nanos(40));
        let copy = bodies.keep_copy(second);
        assert!(matches!(bodies.take(second), Body::Data(DataSegment { seq: 2, .. })));
        bodies.add_queueing_delay(copy, Duration::from_nanos(2));
        let owners = [first, copy].map(|id| (bodies.flow(id).number(), bodies.owner(id).queueing_delay().as_nanos()));
        assert_eq!(owners, [(8, 0), (7, 42)]);
        let mut kept = Vec::new();
        bodies.for_each(|flow, body| kept.push((flow.number(), body.position().0)));
        assert_eq!((kept, bodies.places()), (vec![(8, 3), (7, 2)], 3));
    }

    #[test]
    fn a_packet_that_waits_for_hours_keeps_its_flow() {
        let mut owner = Owner::new(FlowRank::new(Owner::FLOWS - 1));
        for hours in [1, 3] {
            owner.add_queueing_delay(Duration::from_secs(3600));
            assert_eq!(
                (owner.flow().number(), owner.queueing_delay() >= Duration::from_secs(3600)),
                (Owner::FLOWS - 1, true),
                "{hours}"
            );
        }
    }
}
