//! The simulation: the plan of a run with links, routes and traffic, and the run.

mod bounds;
mod capture;
mod change;
mod components;
mod counters;
mod datagram;
mod delays;
mod distribution;
mod document;
mod endpoint;
mod ends;
mod error;
mod flow;
mod flow_hash;
mod group;
mod impairments;
mod index;
mod kernel_only;
mod ledger;
mod limits;
mod lookahead;
mod measure;
mod measures;
mod meter;
mod network;
mod order;
mod outcome;
mod outside;
mod packet;
mod plan;
mod population;
mod rates;
mod recorder;
mod result;
mod sampler;
mod simulation;
#[cfg(test)]
mod sizes;
mod source;
mod trace;
mod traffic;
mod transfer;
mod view;

pub use crate::link::{AfterFailure, ChannelState, Countdown, Dcf, Script};
pub use crate::qdisc::{Limit as QueueLimit, QueuePlan};
pub use capture::CaptureError;
pub use delays::{DelayPercentiles, QueueingDelay};
pub use distribution::{Distribution, DistributionKind};
pub use document::{Drawn, ResultDocument, RunOf, SojournTimes};
pub use error::RunError;
pub use impairments::{ImpairmentsPlan, LossPlan, ReorderingPlan};
pub use index::{FlowId, FlowRank, LinkId, LinkRank};
pub use limits::{MOST_IN_FLIGHT, MOST_PACKETS};
pub use measures::{FlowMeasures, LinkMeasures, OutsideFlow, SummaryMeasures};
pub use outcome::{Direction, Outcome, OutcomeEvent};
pub use outside::OutsidePacket;
pub use packet::{Kind as PacketKind, Packet};
pub use plan::{
    ArrivalsPlan, CapturePlan, CapturePoint, ChannelPlan, DatagramPlan, Emission, FlowPlan, KernelPlan, LinkPlan,
    MeterPlan, MeterScope, OnOffPlan, Plan, Sampling, SourcePlan, Spacing, Stack,
};
pub use population::SourcePopulation;
pub use result::{
    Attempts, ColourCounts, DatagramResult, FlowResult, Histogram, ImpairmentCounts, Lateness, LinkResult, MeterResult,
    Playing, Reasons, RunResult, Streaming, Summary, Totals, TransferResult, TransferTimes, Volume, metrics,
    summary_metric,
};
pub use simulation::Simulation;
pub use traffic::{AbrPlan, Adaptation, InteractivePlan, PagePlan, Traffic, VideoPlan, WebPlan};
pub use view::{ChangeError, FlowView, LinkView, PacketView, Progress};

use std::sync::atomic::AtomicBool;

/// Runs a plan to its end.
///
/// # Errors
/// [`RunError::Interrupted`] soon after `stop` became true, and [`RunError::NeedsKernel`] for a plan of a kernel. The
/// others occur where a run would take too much memory.
pub fn run(plan: &Plan, stop: &AtomicBool) -> Result<RunResult, RunError> {
    plan.check_simulated()?;
    Simulation::new(plan).finish(stop)
}
