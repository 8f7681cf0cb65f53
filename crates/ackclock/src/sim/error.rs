//! Why a run did not complete.

use super::limits::{MOST_PACKETS, MOST_RECORDED};
use crate::units::Duration;

/// Why a run did not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// It was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A window grew without bound.
    #[error(
        "{flow} has {limit} segments in flight {at} after the start, many times what its path holds, and would send more: \
         its window grows without bound; give transport.max_window a limit, or look at what the algorithm does"
    )]
    TooMuchInFlight {
        /// The flow.
        flow: String,
        /// When.
        at: Duration,
        /// Segments that it may have in flight.
        limit: u32,
    },
    /// The algorithm of a flow cannot continue.
    #[error("{flow}: the algorithm failed {at} after the start: {what}")]
    AlgorithmFailed {
        /// The flow.
        flow: String,
        /// When.
        at: Duration,
        /// Why.
        what: String,
    },
    /// A capture does not end.
    #[error(
        "more than {MOST_RECORDED} packets are captured {at} after the start, which is the most that a capture may have; \
         capture fewer flows, or make `duration` shorter"
    )]
    TooMuchCaptured {
        /// When.
        at: Duration,
    },
    /// The network holds too much.
    #[error(
        "{MOST_PACKETS} packets are in flight {at} after the start, which is the most that a run may have; make rates, \
         delays, queues or the number of flows smaller"
    )]
    TooManyPackets {
        /// When.
        at: Duration,
    },
}
