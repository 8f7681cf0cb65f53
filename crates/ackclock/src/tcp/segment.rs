//! Segments: data in one direction, acknowledgements in the other.

use crate::units::Instant;

/// SACK blocks in one ACK; timestamps leave room for three (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// A segment of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSegment {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// The sender's clock, which the receiver echoes (RFC 7323).
    pub sent_at: Instant,
    /// What it says of marks.
    pub ecn: DataEcn,
}

/// ECN flags of a data segment, in one byte, so that a later copy does not stall on the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataEcn(u8);

impl DataEcn {
    const ECT: u8 = 1;
    const CWR: u8 = 2;

    /// Of data that are ECN-capable or not, and say that the sender has reduced its window or not.
    #[inline]
    pub fn new(ect: bool, cwr: bool) -> Self {
        DataEcn((u8::from(ect) * Self::ECT) | (u8::from(cwr) * Self::CWR))
    }

    /// Whether the packet is ECN-capable: a router may mark it.
    #[inline]
    pub fn ect(self) -> bool {
        self.0 & Self::ECT != 0
    }

    /// RFC 3168's CWR: the sender has reduced its window.
    #[inline]
    pub fn cwr(self) -> bool {
        self.0 & Self::CWR != 0
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSegment {
    /// The next byte expected.
    pub ack: u64,
    /// What was received above it.
    pub sack: SackBlocks,
    /// The echoed clock of the sender.
    pub echo: Instant,
    /// The marks that it reports.
    pub ecn: EcnFeedback,
}

/// The marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// Nothing: ECN was not agreed on.
    #[default]
    None,
    /// RFC 3168's ECN-Echo: a data packet came with a mark, and the sender has not said yet that it has reacted.
    Classic {
        /// The flag.
        ece: bool,
    },
    /// RFC 9768.
    AccEcn {
        /// Packets that came with a mark, modulo 8, plus 5.
        ace: u8,
        /// The counters of the AccECN option, if the ACK has it.
        option: Option<AccEcnOption>,
    },
}

/// The counters of the AccECN option (RFC 9768 §3.2.3), each modulo 2^24. That of ECT(1), which is never sent, is left
/// out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// Payload bytes that came as ECT(0), plus 1.
    pub e0b: u32,
    /// Payload bytes that came with a mark.
    pub ceb: u32,
}

/// Up to three blocks above the cumulative acknowledgement, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// A whole word, as all of it, so that processors copy it without waiting for what was just written.
    count: usize,
    /// Distance of the start from the acknowledgement, and length.
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
}

impl SackBlocks {
    /// Adds a block, given as it stands in a header; `ack` is the acknowledgement it goes with.
    ///
    /// A block beyond the third, or one more than 4 GiB above `ack`, is left out.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let distance = start.checked_sub(ack).and_then(|distance| u32::try_from(distance).ok());
        let len = end.checked_sub(start).and_then(|len| u32::try_from(len).ok());
        if let (Some(distance), Some(len), Some(block)) = (distance, len, self.blocks.get_mut(self.count)) {
            *block = (distance, len);
            self.count += 1;
        }
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True without blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks as `start .. end`.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        self.blocks[..self.len()].iter().map(move |(distance, len)| {
            let start = ack + u64::from(*distance);
            (start, start + u64::from(*len))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_they_were_given() {
        let mut sack = SackBlocks::default();
        sack.push(100, 300, 400);
        sack.push(100, 150, 200);
        assert_eq!(sack.iter(100).collect::<Vec<_>>(), [(300, 400), (150, 200)]);
        sack.push(100, 50, 60);
        assert_eq!(sack.len(), 2, "a block below the acknowledgement is left out");
    }
}
