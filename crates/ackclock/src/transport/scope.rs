//! The protocols that read a key.

use super::rules::Protocol;

/// The protocols that read a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// TCP, QUIC and RTP.
    Both,
    /// TCP alone.
    Tcp,
    /// QUIC alone.
    Quic,
    /// QUIC and RTP, whose packets have numbers.
    Numbered,
}

impl Scope {
    /// True if the protocol reads the key.
    pub fn includes(self, protocol: Protocol) -> bool {
        match self {
            Scope::Both => true,
            Scope::Tcp => protocol == Protocol::Tcp,
            Scope::Quic => protocol == Protocol::Quic,
            Scope::Numbered => matches!(protocol, Protocol::Quic | Protocol::Rtp),
        }
    }
}
