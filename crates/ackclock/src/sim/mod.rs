//! Nodes, routes, traffic: the plan of a run, and the run.

mod plan;
mod result;

pub use plan::{FlowPlan, LinkPlan, LossPlan, Plan, QueueLimit, QueuePlan, Sampling, Traffic};
pub use result::{FlowResult, LinkResult, RunResult, Summary};

use std::sync::atomic::AtomicBool;

/// A run was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Runs a plan to its end.
///
/// # Errors
/// [`Interrupted`], soon after `stop` became true.
pub fn run(_plan: &Plan, _stop: &AtomicBool) -> Result<RunResult, Interrupted> {
    unimplemented!()
}
