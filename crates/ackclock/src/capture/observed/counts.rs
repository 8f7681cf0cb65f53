//! The counts of an analysed connection.

use serde::Serialize;

/// Why a segment was sent again, as far as packets show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Later data were acknowledged selectively, or by duplicate ACKs.
    Fast,
    /// The first segment in flight was sent again after a silence of an RTT, at least 200 ms.
    Timeout,
    /// Data in flight at such a timeout were sent again after it.
    AfterTimeout,
    /// The last segment was sent again after a round trip without news (a tail loss probe).
    Probe,
    /// No other kind applies.
    Other,
}

/// Packets and events of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Segments of data that were sent, retransmissions too.
    pub segments: u64,
    /// Segments that were sent before.
    pub retransmissions: u64,
    /// Fast retransmissions.
    pub fast: u64,
    /// Timeouts: each sends one segment again.
    pub timeouts: u64,
    /// Sent again after a timeout.
    pub after_timeout: u64,
    /// Tail loss probes that repeat data.
    pub probes: u64,
    /// Others.
    pub other: u64,
    /// Retransmissions of data that had arrived: by D-SACK, by the echoed clock, or acknowledged too soon.
    pub spurious: u64,
    /// Transmissions that the network lost.
    pub lost: u64,
    /// Fast recoveries: fast retransmissions, from the first one until all that was sent before it is acknowledged.
    pub recoveries: u64,
    /// ACKs that repeat the one before while data are in flight.
    pub duplicate_acks: u64,
    /// Segments that came to the place out of order.
    pub reordered: u64,
    /// Segments that were acknowledged, but are not in the capture.
    pub not_captured: u64,
}

impl Counts {
    /// Counts a retransmission.
    pub(super) fn add(&mut self, kind: Kind) {
        self.retransmissions += 1;
        *match kind {
            Kind::Fast => &mut self.fast,
            Kind::Timeout => &mut self.timeouts,
            Kind::AfterTimeout => &mut self.after_timeout,
            Kind::Probe => &mut self.probes,
            Kind::Other => &mut self.other,
        } += 1;
    }
}
