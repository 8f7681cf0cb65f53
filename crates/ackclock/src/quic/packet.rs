//! Packets: one STREAM frame to the receiver, one ACK frame back.

use crate::units::Duration;

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Data, or a PING.
    Data(DataPacket),
    /// An acknowledgement, whose ranges are stored separately.
    Ack(AckPacket),
}

/// A packet with a STREAM frame, or a PING without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPacket {
    /// Which connection of its flow it belongs to.
    pub connection: u64,
    /// Its packet number, which no other packet of the connection ever has.
    pub number: u64,
    /// First byte of the frame.
    pub offset: u64,
    /// Bytes of the frame.
    pub len: u32,
    /// Whether it is ECN-capable: ECT(0).
    pub ect: bool,
    /// The receiver's packets with numbers below this may have arrived, and the last one has.
    pub acks_below: u64,
    /// Whether it is the last one of a media frame (RTP's marker bit). QUIC has no such packets.
    pub is_marker: bool,
}

/// A packet with an ACK frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPacket {
    /// Which connection of its flow it belongs to.
    pub connection: u64,
    /// Its own packet number.
    pub number: u64,
    /// The largest packet number acknowledged.
    pub largest: u64,
    /// How long the receiver has had that one.
    pub delay: Duration,
    /// Packets received by their ECN fields, if the receiver counts them.
    pub ecn: Option<EcnCounts>,
    /// Bytes of the frame beyond its first range.
    pub more_len: u32,
}

/// The ECN counts of an ACK frame (RFC 9000 §19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Packets that came as ECT(0).
    pub ect0: u32,
    /// Packets that came as ECT(1).
    pub ect1: u32,
    /// Packets that came with a mark.
    pub ce: u32,
}

impl EcnCounts {
    /// Bytes of the three counts.
    pub fn encoded_len(self) -> u32 {
        varint_len(u64::from(self.ect0)) + varint_len(u64::from(self.ect1)) + varint_len(u64::from(self.ce))
    }
}

/// Bytes of a range of packet numbers `start .. end` behind one that begins at `above` (RFC 9000 §19.3.1).
pub fn range_len(above: u64, (start, end): (u64, u64)) -> u32 {
    // "The number of contiguous unacknowledged packets preceding the packet number one lower than the smallest in the preceding
    // ACK Range", and "the number of contiguous acknowledged packets preceding the largest packet number".
    varint_len(above - end - 1) + varint_len(end - start - 1)
}

/// RFC 9000 §16, table 4.
fn varint_len(value: u64) -> u32 {
    match value {
        0..=63 => 1,
        64..=16_383 => 2,
        16_384..=1_073_741_823 => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_counts_take_what_their_integers_take() {
        // Received: 0 to 9 and 12: the gap of 10 and 11 is coded as 1, ten packets as 9.
        assert_eq!(range_len(12, (0, 10)), 2);
        // 0 to 99, and from 200 on: 99 and 99.
        assert_eq!(range_len(200, (0, 100)), 4);
        // 64 packets, and 65; 63 missing, and 64.
        assert_eq!((range_len(228, (100, 164)), range_len(228, (99, 164)), range_len(229, (100, 164))), (2, 3, 3));
        assert_eq!(EcnCounts { ect0: 63, ect1: 0, ce: 0 }.encoded_len(), 3);
        assert_eq!(EcnCounts { ect0: 64, ect1: 0, ce: 20_000 }.encoded_len(), 2 + 1 + 4);
        assert_eq!([varint_len(16_383), varint_len(16_384), varint_len(1 << 30)], [2, 4, 8]);
    }
}
