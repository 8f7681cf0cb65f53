//! The simulation: the plan of a run with links, routes and traffic, and the run.

mod components;
mod datagram;
mod delays;
mod flow;
mod flow_hash;
mod impairments;
mod ledger;
mod limits;
mod lookahead;
mod measure;
mod meter;
mod network;
mod packet;
mod plan;
mod rates;
mod result;
mod sampler;
mod session;
mod simulation;
mod source;
mod trace;
mod transfer;

pub use crate::link::{AfterFailure, ChannelState, Countdown, Dcf, Script};
pub use crate::qdisc::{Limit as QueueLimit, QueuePlan};
pub use impairments::{ImpairmentsPlan, LossPlan, ReorderingPlan};
pub use limits::{MOST_IN_FLIGHT, MOST_PACKETS};
pub use plan::{
    ArrivalsPlan, ChannelPlan, DatagramPlan, Emission, FlowPlan, InteractivePlan, LinkPlan, MeterPlan, MeterScope,
    OnOffPlan, Plan, Sampling, SourcePlan, Spacing, Traffic, WebPlan,
};
pub use result::{
    Attempts, ColourCounts, DatagramResult, FlowResult, Histogram, ImpairmentCounts, LinkResult, MeterResult, Reasons,
    RunResult, Summary, Totals, TransferResult, TransferTimes, Volume,
};
pub use session::{ChangeError, FlowView, LinkView, Progress};
pub use simulation::Simulation;
pub use source::{Distribution, DistributionKind, SourcePopulation};

use std::sync::atomic::AtomicBool;

use crate::cc::Cc;
use crate::units::{Duration, Instant};

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

/// Runs a plan to its end.
///
/// # Errors
/// [`RunError::Interrupted`] soon after `stop` became true, and the others where a run would take too much memory.
pub fn run(plan: &Plan, stop: &AtomicBool) -> Result<RunResult, RunError> {
    Simulation::new(plan).finish(stop)
}

/// Runs a plan with the caller's own algorithms.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    plan: &Plan,
    stop: &AtomicBool,
    build_cc: &mut dyn FnMut(&FlowPlan) -> Cc,
) -> Result<RunResult, RunError> {
    Simulation::with_cc(plan, build_cc).finish(stop)
}

/// The last moment before a time; none before the start.
fn before(at: Instant) -> Option<Instant> {
    at.as_nanos().checked_sub(1).map(Instant::from_nanos)
}
