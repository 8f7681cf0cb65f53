//! Nodes, routes, traffic: the plan of a run, and the run.

mod components;
mod counters;
mod datagram;
mod delays;
mod endpoint;
mod ends;
mod flow;
mod flow_hash;
mod group;
mod impairments;
mod ledger;
mod limits;
mod lookahead;
mod measure;
mod meter;
mod network;
mod order;
mod packet;
mod plan;
mod rates;
mod result;
mod sampler;
mod simulation;
mod source;
mod trace;
mod transfer;
mod view;

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
pub use simulation::Simulation;
pub use source::{Distribution, Law, SourcePopulation};
pub use view::{ChangeError, FlowView, LinkView, Progress};

use std::sync::atomic::AtomicBool;

use crate::units::{Duration, Instant};

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// It was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A window grew beyond all bounds.
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

/// The last moment before a time; none before the start.
fn before(at: Instant) -> Option<Instant> {
    at.as_nanos().checked_sub(1).map(Instant::from_nanos)
}
