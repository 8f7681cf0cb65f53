//! What a connection shows, before it is summed up.

use super::counts::{Counts, Kind};
use crate::units::{Duration, Instant};

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The first data, and the last packet.
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// The last ACK of new data.
    pub(super) last_acked: Instant,
    pub(super) acked_bytes: u64,
    pub(super) mss: u32,
    pub(super) counts: Counts,
    pub(super) losses: Vec<u64>,
    /// Bytes in flight from each time on.
    pub(super) in_flight: Vec<(Instant, u64)>,
    pub(super) rtt: Vec<(Instant, Duration)>,
    /// Bytes delivered up to each time.
    pub(super) delivered: Vec<(Instant, u64)>,
    /// Retransmissions, and whether what they repeat had arrived.
    pub(super) repairs: Vec<(Instant, Kind, bool)>,
    /// How long the receiver's window was full; none where its scale is not known.
    pub(super) receiver_limited: Option<Duration>,
}
