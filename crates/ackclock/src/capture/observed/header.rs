//! The headers of a connection, and its sequence numbers as numbers of bytes.

use crate::units::Instant;

/// The analysed fields of a packet's headers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TcpHeader {
    /// When it was captured.
    pub time: Instant,
    /// Whether it comes from the sender of the data.
    pub forward: bool,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgement number, where the flag says that there is one.
    pub ack: Option<u32>,
    /// Payload bytes.
    pub len: u32,
    /// SYN.
    pub syn: bool,
    /// FIN or RST.
    pub ends: bool,
    /// The window, not scaled.
    pub window: u16,
    /// Option: MSS.
    pub mss: Option<u16>,
    /// Option: scale of the window.
    pub window_scale: Option<u8>,
    /// Option: the clock and the echoed clock.
    pub timestamps: Option<(u32, u32)>,
    /// Option: SACK blocks, those that are not there empty.
    pub sack: [(u32, u32); 4],
}

impl TcpHeader {
    /// Whether it is an ACK without data.
    pub(super) fn is_pure_ack(&self) -> bool {
        self.ack.is_some() && self.len == 0 && !self.syn && !self.ends
    }
}

/// From sequence numbers, which wrap, to numbers of bytes, so that there is room below the first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    origin: u32,
}

impl Numbers {
    /// The number of the first byte.
    pub(super) const FIRST: u64 = 1 << 32;

    /// The sequence numbers of the connection with these first data. The SYN counts as a byte before them.
    pub(super) fn new(headers: &[TcpHeader], first: &TcpHeader) -> Self {
        let syn = headers.iter().rfind(|header| header.forward && header.syn);
        Numbers { origin: syn.map_or(first.seq, |syn| syn.seq.wrapping_add(1)) }
    }

    /// The number next to `near` that wraps to this.
    pub(super) fn unwrap(self, number: u32, near: u64) -> u64 {
        let offset = number.wrapping_sub(self.origin).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(i64::from(offset))
    }
}

/// Whether a clock of timestamps is before another one (RFC 7323 §5.2).
pub(super) fn is_before(clock: u32, other: u32) -> bool {
    (clock.wrapping_sub(other) as i32) < 0
}
