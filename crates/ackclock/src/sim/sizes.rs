//! The sizes on the page about the memory of a packet.

use super::flow::Flow;
use super::network::Packets;
use super::packet::{Body, Owner, Packet};
use crate::tcp::{AckSegment, DataSegment, Receiver, Sender, SentSegment};
use crate::units::Instant;

const PAGE: &str = include_str!("../../../../docs/project/packet-memory.md");

#[test]
fn sizes_are_those_of_the_page() {
    let rows = PAGE.lines().filter_map(|line| match line.split('|').map(str::trim).collect::<Vec<_>>().as_slice() {
        [_, _, name, bytes, _] => bytes.parse().ok().map(|bytes: usize| (name.trim_matches('`'), bytes)),
        _ => None,
    });
    let sizes = [
        ("Packet", size_of::<Packet>()),
        ("Timed", size_of::<(Instant, Packet)>()),
        ("Body", size_of::<Body>()),
        ("Owner", size_of::<Owner>()),
        ("DataSegment", size_of::<DataSegment>()),
        ("AckSegment", size_of::<AckSegment>()),
        ("SentSegment", size_of::<SentSegment>()),
        ("Link", size_of::<Packets>()),
        ("Sender", size_of::<Sender>()),
        ("Receiver", size_of::<Receiver>()),
        ("Flow", size_of::<Flow>()),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), sizes);
}
