//! The sizes on the page about the memory of a packet (`docs/project/packet-memory.md`).

use super::flow::Flow;
use super::network::Packets;
use super::packet::{Body, Owner, Packet};
use crate::tcp::{AckSegment, DataSegment, Receiver, Sender, SentSegment};
use crate::units::Instant;

#[test]
fn sizes_are_those_of_the_page() {
    // `tests/test_bench.py` compares these numbers with the page.
    let sizes = [
        ("Packet", size_of::<Packet>(), 16),
        ("Timed", size_of::<(Instant, Packet)>(), 24),
        ("Body", size_of::<Body>(), 72),
        ("Owner", size_of::<Owner>(), 8),
        ("DataSegment", size_of::<DataSegment>(), 24),
        ("AckSegment", size_of::<AckSegment>(), 64),
        ("SentSegment", size_of::<SentSegment>(), 24),
        ("Link", size_of::<Packets>(), 256),
        ("Sender", size_of::<Sender>(), 1496),
        ("Receiver", size_of::<Receiver>(), 264),
        ("Flow", size_of::<Flow>(), 1984),
    ];
    for (name, bytes, page) in sizes {
        assert_eq!(bytes, page, "{name}");
    }
}
