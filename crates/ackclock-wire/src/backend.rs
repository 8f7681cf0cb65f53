//! A backend with the TCP of a kernel in messages, and its refusals.

use ackclock::sim::{FlowPlan, Plan, Stack};

/// A feature of the scenario that a backend does not support.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {message}")]
pub struct Refused {
    /// The key of the scenario.
    pub key: String,
    /// The error, and a hint.
    pub message: String,
}

impl Refused {
    /// The key and the error.
    pub fn new(key: String, message: String) -> Self {
        Refused { key, message }
    }

    /// The congestion control of a flow.
    pub fn algorithm(flow: &FlowPlan, message: String) -> Self {
        Refused::new(format!("flows.{}.cc", flow.group), message)
    }
}

/// A backend in messages.
#[derive(Clone, Copy, Debug)]
pub struct Backend {
    /// The value of `--backend`.
    pub name: &'static str,
    /// The subject of sentences.
    pub subject: &'static str,
    /// The message for flows of QUIC.
    pub quic: &'static str,
    /// Whether the simulation runs the other flows, and with them channels, meters, arrivals and datagrams.
    pub simulates: bool,
    /// Whether sysctls and module parameters can be set, because the kernel serves this run only.
    pub has_settings: bool,
}

/// The flows of a plan that a kernel runs, with their indices.
pub fn kernels_flows(plan: &Plan) -> impl Iterator<Item = (usize, &FlowPlan)> {
    plan.flows.iter().enumerate().filter(|(_, flow)| flow.stack != Stack::Simulated)
}
