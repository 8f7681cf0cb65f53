//! How much a queue holds.

use crate::quantity;

/// The capacity of a queue, without the item in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Items of any size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
}

impl Limit {
    /// Whether one more item of `len` bytes fits.
    #[inline]
    pub(super) fn fits(self, packets: u32, bytes: u64, len: u32) -> bool {
        match self {
            Limit::Packets(limit) => packets < limit,
            Limit::Bytes(limit) => bytes + u64::from(len) <= limit,
        }
    }

    /// The rest of the limit after one item of `len` bytes.
    pub(super) fn without(self, len: u32) -> Limit {
        match self {
            Limit::Packets(limit) => Limit::Packets(limit.saturating_sub(1)),
            Limit::Bytes(limit) => Limit::Bytes(limit.saturating_sub(u64::from(len))),
        }
    }

    /// Whether a backlog is within the limit.
    pub(super) fn holds(self, packets: u32, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets <= limit,
            Limit::Bytes(limit) => bytes <= limit,
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Packets(1) => f.write_str("1 packet"),
            Limit::Packets(packets) => write!(f, "{packets} packets"),
            Limit::Bytes(bytes) => write!(f, "{bytes} B"),
        }
    }
}

/// The limit of a queue that should hardly ever drop: access links and the path of the ACKs.
pub const AMPLE: quantity::Limit = quantity::Limit::Packets(10_000);

/// The limit of the queue of a link that flows share.
pub const ONE_BDP: quantity::Limit = quantity::Limit::Bdp(1.0);
