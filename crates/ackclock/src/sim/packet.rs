//! A packet: a segment on its way through the links of a route.

use crate::qdisc::{Ecn, Queued};
use crate::tcp::{AckSegment, DataSegment};

/// What travels through links.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The flow it belongs to, as the simulation numbers them.
    pub flow: u32,
    /// Index of the next hop in the table of routes.
    pub next_hop: u32,
    /// Hops that are left.
    pub hops_left: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes on the wire.
    pub wire_len: u32,
    /// What it carries.
    pub body: Body,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Data, to the receiver.
    Data(DataSegment),
    /// An acknowledgement, to the sender.
    Ack(AckSegment),
}

impl Queued for Packet {
    #[inline]
    fn wire_len(&self) -> u32 {
        self.wire_len
    }

    fn flow_hash(&self) -> u64 {
        u64::from(self.flow)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
}
