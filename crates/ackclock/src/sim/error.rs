//! The reasons for which a run does not complete.

use super::limits::{MOST_PACKETS, MOST_RECORDED};
use crate::units::Duration;

/// The reason for which a run did not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The run was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// The scenario contains something that only a kernel has.
    #[error("{key}: {what}; use --backend kernel")]
    NeedsKernel {
        /// The key.
        key: String,
        /// The reason.
        what: String,
    },
    /// A window grew without bound.
    #[error(
        "flow {flow} has {limit} segments in flight at {at}. Its window grows without bound; set \
         transport.max_window, or correct the algorithm"
    )]
    TooMuchInFlight {
        /// The flow.
        flow: String,
        /// The time since the start of the run.
        at: Duration,
        /// The largest permitted number of segments in flight.
        limit: u32,
    },
    /// The algorithm of a flow cannot continue.
    #[error("flow {flow}: the algorithm failed at {at}: {what}")]
    AlgorithmFailed {
        /// The flow.
        flow: String,
        /// The time since the start of the run.
        at: Duration,
        /// The reason.
        what: String,
    },
    /// A capture contains too many packets.
    #[error(
        "the capture exceeds its limit of {MOST_RECORDED} packets at {at}; capture fewer flows, or make `duration` \
         shorter"
    )]
    TooMuchCaptured {
        /// The time since the start of the run.
        at: Duration,
    },
    /// The network holds too many packets.
    #[error(
        "the packets in flight exceed the limit of {MOST_PACKETS} at {at}; reduce rates, delays, queues or the number \
         of flows"
    )]
    TooManyPackets {
        /// The time since the start of the run.
        at: Duration,
    },
}
