//! The counters and sums of a sender.

use std::ops::AddAssign;

use crate::units::Instant;

/// The counters of a sender, from the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Congestion events signalled to the algorithm.
    pub congestion_events: u64,
    /// Congestion events for marks, part of `congestion_events`.
    pub ecn_events: u64,
    /// Marked packets that AccECN has reported.
    pub ce_reported: u64,
    /// D-SACK blocks.
    pub duplicates_reported: u64,
    /// Recoveries that were spurious.
    pub undos: u64,
}

impl AddAssign for SenderCounters {
    fn add_assign(&mut self, other: SenderCounters) {
        self.segments += other.segments;
        self.payload_bytes += other.payload_bytes;
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
        self.congestion_events += other.congestion_events;
        self.ecn_events += other.ecn_events;
        self.ce_reported += other.ce_reported;
        self.duplicates_reported += other.duplicates_reported;
        self.undos += other.undos;
    }
}

/// The integral of cwnd over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowMean {
    pub(crate) since: Instant,
    pub(crate) cwnd: f64,
    /// Segments times nanoseconds.
    pub(crate) integral: f64,
}

impl WindowMean {
    #[inline]
    pub(crate) fn step(&mut self, now: Instant, cwnd: f64) {
        self.integral += self.cwnd * now.since(self.since).as_nanos() as f64;
        self.since = now;
        self.cwnd = cwnd;
    }
}
