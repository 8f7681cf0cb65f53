//! The state of a sender, as in Linux's `struct tcp_info`.

use super::timers::Timer;
use crate::cc::CaState;
use crate::units::{Duration, Instant};

/// A look at a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderInfo {
    /// The window in segments, fractions included.
    pub cwnd: f64,
    /// The slow-start threshold in segments, infinite before the first congestion event.
    pub ssthresh: f64,
    /// Segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Selectively acknowledged segments, part of `unacked`.
    pub sacked: u32,
    /// Segments that are considered lost, part of `unacked`.
    pub lost: u32,
    /// Retransmitted segments that are not considered lost again, part of `unacked`.
    pub retransmitted: u32,
    /// How far the repair of losses is: `tcpi_ca_state`.
    pub state: CaState,
    /// Doublings of the retransmission timeout.
    pub backoff: u32,
    /// The retransmission timeout, back-off included.
    pub rto: Duration,
    /// Smoothed RTT, zero before the first measurement.
    pub srtt: Duration,
    /// How much the RTT varies.
    pub rttvar: Duration,
    /// The smallest RTT seen.
    pub min_rtt: Duration,
    /// Probes of the peer's window since it was open.
    pub window_probes: u32,
    /// The largest reordering in segments that RACK has detected, and 3 before.
    pub reordering: u32,
    /// ACKs that showed it.
    pub reorderings: u32,
    /// The timer that goes off next, and when, as `ss -o` shows it.
    pub timer: Option<(Timer, Instant)>,
}
