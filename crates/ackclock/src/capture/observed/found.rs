//! The raw findings of a connection.

use super::counts::{Counts, Kind};
use crate::units::{Duration, Instant};

/// The raw findings.
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
    /// Retransmissions, and whether their data had already arrived.
    pub(super) repairs: Vec<(Instant, Kind, bool)>,
    /// The time with a full receive window, or none with an unknown scale.
    pub(super) receiver_limited: Option<Duration>,
}
