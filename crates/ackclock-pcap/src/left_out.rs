//! Why packets of a file are not used.

/// Connections of a file that are followed.
pub const MAX_CONNECTIONS: usize = 100_000;

/// Why a packet is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// An interface that is not known, or no time.
    NoTime,
    /// A link type that is not known.
    Link(i32),
    /// ARP and the like.
    NotIp,
    Udp,
    /// ICMP and the like.
    NotTcp,
    Fragment,
    /// The snap length cuts the TCP header.
    HeaderCut,
    /// Headers that contradict themselves.
    Malformed,
    /// The same packet, captured again.
    Copy,
    /// A sequence number that no other packet confirms.
    Stray,
    /// A connection beyond those that are followed.
    Connection,
}

impl LeftOut {
    /// The end of a sentence that begins with a number of packets.
    pub(crate) fn text(self) -> String {
        match self {
            LeftOut::NoTime => "without a time".into(),
            LeftOut::Link(number) => format!("of link type {number}, which is not read"),
            LeftOut::NotIp => "not of IP".into(),
            LeftOut::Udp => "of UDP".into(),
            LeftOut::NotTcp => "of neither TCP nor UDP".into(),
            LeftOut::Fragment => "that are fragments".into(),
            LeftOut::HeaderCut => "whose TCP header is cut; capture at least 128 bytes of each packet".into(),
            LeftOut::Malformed => "with malformed headers".into(),
            LeftOut::Copy => "captured again, as on a second interface; the first copy counts".into(),
            LeftOut::Stray => "with sequence numbers far from the range of their connection".into(),
            LeftOut::Connection => format!("of connections after the first {MAX_CONNECTIONS}"),
        }
    }
}
