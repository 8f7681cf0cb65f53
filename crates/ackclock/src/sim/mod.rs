//! Nodes, routes, traffic: the plan of a run, and the run.

mod components;
mod datagram;
mod flow;
mod foresight;
mod measure;
mod network;
mod packet;
mod plan;
mod result;
mod sampler;
mod simulation;
mod source;
mod trace;
mod transfer;
mod wire;

pub use crate::link::{ChannelState, Script};
pub use crate::qdisc::Limit as QueueLimit;
pub use plan::{
    ArrivalsPlan, DatagramPlan, Emission, FlowPlan, LinkPlan, OnOffPlan, Plan, QueuePlan, Sampling, SourcePlan,
    Spacing, Traffic, WebPlan,
};
pub use result::{
    DatagramResult, FlowResult, Histogram, LinkResult, Mishaps, Reasons, RunResult, Summary, Totals, TransferResult,
    TransferTimes, Volume,
};
pub use source::{Crowd, Distribution, Law};
pub use wire::{LossPlan, ReorderingPlan, WirePlan};

use std::sync::atomic::AtomicBool;

use crate::cc::Cc;
use simulation::Simulation;

/// A run was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Runs a plan to its end.
///
/// # Errors
/// [`Interrupted`], soon after `stop` became true.
pub fn run(plan: &Plan, stop: &AtomicBool) -> Result<RunResult, Interrupted> {
    run_with(plan, stop, &mut |flow| flow.cc.build(*flow.cc_context))
}

/// Runs a plan with algorithms of the caller's own.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    plan: &Plan,
    stop: &AtomicBool,
    build_cc: &mut dyn FnMut(&FlowPlan) -> Cc,
) -> Result<RunResult, Interrupted> {
    Simulation::new(plan, build_cc).run(stop)
}
