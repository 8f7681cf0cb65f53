//! Packets: a small one that links move about, and what it carries, which stays where it is.

use super::datagram::Datagram;
use crate::link::Carried;
use crate::prefetch::prefetch;
use crate::qdisc::{Ecn, Queued};
use crate::tcp::{AckSegment, DataSegment};

/// What travels through links: everything a hop needs to know, in whole words, which copy fastest.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Where its body is kept.
    pub body: BodyId,
    /// The flow it belongs to, as the simulation numbers them.
    pub flow: u32,
    /// Index of the next hop in the table of routes.
    pub next_hop: u32,
    /// Bytes on the wire.
    pub wire_len: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// What else there is to say of it.
    pub flags: Flags,
}

/// What there is to say of a packet in one word: whose it is, its profile, and what the link that it crosses does to it,
/// which takes effect when it comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    const CORRUPTED: u32 = 1;
    const DOUBLED: u32 = 2;
    const IN_PROFILE: u32 = 4;

    /// Where the hash of the flow begins.
    const HASH_SHIFT: u32 = 3;

    /// Of a packet that nothing has happened to, of the flow with this key.
    ///
    /// The key of a flow comes from its name, so that queues that hash flows do not care how many others there are.
    pub fn new(key: u64, in_profile: bool) -> Self {
        let profile = if in_profile { Self::IN_PROFILE } else { 0 };
        Flags((key as u32) << Self::HASH_SHIFT | profile)
    }

    /// Whether some of its bits are wrong.
    pub fn is_corrupted(self) -> bool {
        self.0 & Self::CORRUPTED != 0
    }

    /// Whether a second packet with the same body comes right behind it.
    pub fn is_doubled(self) -> bool {
        self.0 & Self::DOUBLED != 0
    }

    /// These flags; what the link has done is forgotten.
    pub fn take_harm(&mut self) -> Self {
        let all = *self;
        self.0 &= !(Self::CORRUPTED | Self::DOUBLED);
        all
    }
}

impl Queued for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        self.wire_len
    }

    fn flow_hash(&self) -> u64 {
        u64::from(self.flags.0 >> Flags::HASH_SHIFT)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    #[inline]
    fn in_profile(&self) -> bool {
        self.flags.0 & Flags::IN_PROFILE != 0
    }
}

impl Carried for Packet {
    fn corrupt(&mut self) {
        self.flags.0 |= Flags::CORRUPTED;
    }

    /// The second packet has the body, and the first needs a copy of it when it comes out.
    fn double(&mut self) -> Self {
        let second = *self;
        self.flags.0 |= Flags::DOUBLED;
        second
    }
}

/// What a new packet has beside its body.
#[derive(Clone, Copy, Debug)]
pub struct Cover {
    /// Whose it is: a flow, or behind all flows a source of datagrams.
    pub flow: u32,
    /// Index of its first hop in the table of routes.
    pub route: u32,
    /// What all packets of the flow have.
    pub flags: Flags,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes on the wire.
    pub wire_len: u32,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Data, to the receiver.
    Data(DataSegment),
    /// An acknowledgement, to the sender.
    Ack(AckSegment),
    /// A datagram, to its receiver.
    Datagram(Datagram),
    /// A request of a client at the receiver, to the sender.
    Request {
        /// Its number, from 1.
        number: u64,
        /// Its payload.
        len: u32,
    },
    /// Any of them with wrong bits.
    Corrupted {
        /// Its position, as it was.
        seq: u64,
        /// Its payload.
        len: u32,
    },
}

impl Body {
    /// The first byte of data and the payload, the next byte that an ACK expects and nothing, or the number of a
    /// datagram or a request and its length.
    pub fn position(&self) -> (u64, u32) {
        match self {
            Body::Data(segment) => (segment.seq, segment.len),
            Body::Ack(ack) => (ack.ack, 0),
            Body::Datagram(datagram) => (datagram.number, datagram.len),
            Body::Request { number, len } => (*number, *len),
            Body::Corrupted { seq, len } => (*seq, *len),
        }
    }
}

/// A place in [`Bodies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyId(u32);

impl BodyId {
    /// Its place among all bodies; the next packet may have it once this one is gone.
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// The bodies of all packets under way. A place that was given back is used again.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    places: Vec<Body>,
    free: Vec<BodyId>,
}

impl Bodies {
    /// Keeps a body until it is taken.
    #[inline]
    pub fn keep(&mut self, body: Body) -> BodyId {
        if let Some(id) = self.free.pop() {
            self.places[id.0 as usize] = body;
            return id;
        }
        let id = BodyId(self.places.len() as u32);
        self.places.push(body);
        id
    }

    /// A body that is kept.
    #[inline]
    pub fn get(&self, id: BodyId) -> &Body {
        &self.places[id.0 as usize]
    }

    /// This body will be needed soon.
    #[inline]
    pub fn prefetch(&self, id: BodyId) {
        prefetch(&self.places[id.0 as usize]);
    }

    /// Keeps another body like this one.
    pub fn keep_copy(&mut self, id: BodyId) -> BodyId {
        self.keep(*self.get(id))
    }

    /// Some bits of a body have become wrong.
    pub fn corrupt(&mut self, id: BodyId) {
        let body = &mut self.places[id.0 as usize];
        let (seq, len) = body.position();
        *body = Body::Corrupted { seq, len };
    }

    /// Gives a body back, and its place free.
    #[inline]
    pub fn take(&mut self, id: BodyId) -> Body {
        self.free.push(id);
        self.places[id.0 as usize]
    }

    /// Bodies that are kept.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Instant;

    #[test]
    fn places_are_used_again() {
        let body = |seq| Body::Data(DataSegment { seq, len: 1, sent_at: Instant::ZERO, ect: false, cwr: false });
        let mut bodies = Bodies::default();
        let (first, second) = (bodies.keep(body(1)), bodies.keep(body(2)));
        assert!(matches!(bodies.take(first), Body::Data(DataSegment { seq: 1, .. })));
        assert_eq!(bodies.keep(body(3)), first);
        assert!(matches!(bodies.take(second), Body::Data(DataSegment { seq: 2, .. })));
        assert_eq!(bodies.len(), 1);
    }
}
