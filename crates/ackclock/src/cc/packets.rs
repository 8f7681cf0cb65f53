//! Packets one by one, for an algorithm that keeps something of each packet until it is acknowledged or lost.

use crate::units::{Duration, Instant};

/// Events of single packets, in addition to the events that all transports report.
///
/// Only QUIC reports them, because they need packet numbers. The order is round-trip time, marks, losses,
/// acknowledged packets. Each precedes the event of [`CongestionControl`](super::CongestionControl) that belongs to
/// it. A packet is acknowledged or lost once. An acknowledgement after the loss is not reported.
pub trait PacketControl {
    /// A packet with data leaves.
    fn on_packet_sent(&mut self, packet: &PacketSent);

    /// A round-trip time was measured.
    fn on_rtt(&mut self, sample: &RttSample);

    /// An ACK reports `count` more marked packets.
    fn on_marks(&mut self, now: Instant, count: u32);

    /// A packet is lost.
    fn on_packet_lost(&mut self, packet: &PacketLost);

    /// Packets in flight were acknowledged.
    fn on_packets_acked(&mut self, packets: &PacketsAcked);

    /// No packet leaves before this time. A pacing rate does not affect it.
    fn earliest_departure(&self) -> Option<Instant> {
        None
    }
}

/// A packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSent {
    /// When.
    pub now: Instant,
    /// Its packet number.
    pub number: u64,
    /// Payload bytes.
    pub bytes: u32,
    /// True if the application has nothing more to send.
    pub app_limited: bool,
}

/// A round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// When it was measured.
    pub now: Instant,
    /// How long it was.
    pub rtt: Duration,
    /// How long the receiver held the ACK back, as it says.
    pub ack_delay: Duration,
}

/// A packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLost {
    /// When it is detected.
    pub now: Instant,
    /// Its packet number.
    pub number: u64,
    /// Payload bytes.
    pub bytes: u32,
    /// True if the losses that are detected now show persistent congestion (RFC 9002 §7.6).
    pub persistent_congestion: bool,
}

/// Packets were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketsAcked {
    /// When.
    pub now: Instant,
    /// The largest packet number of them.
    pub newest: u64,
    /// When that packet left.
    pub newest_sent_at: Instant,
    /// Payload bytes of all.
    pub bytes: u64,
    /// All packets with numbers below were acknowledged or lost.
    pub settled: u64,
}
