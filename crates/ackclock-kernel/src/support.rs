//! Checks whether the backend supports a plan.

use ackclock::sim::{FlowPlan, Plan, Traffic};
use ackclock::tcp::{EcnMode, LossRecovery, Protocol, Transport};

use crate::algorithm;
use crate::error::KernelError;
use crate::settings;

/// Connections that are made at most.
const MOST_FLOWS: usize = 1000;

/// A feature that the backend does not support.
///
/// # Errors
/// The first key that says such a thing.
pub fn check(plan: &Plan) -> Result<(), KernelError> {
    let refuse = |key: String, message: &str| {
        Err(KernelError::Refused { key, message: format!("{message} (--backend kernel)") })
    };
    if let Some(channel) = plan.channels.first() {
        return refuse(format!("channels.{}", channel.name), "the kernel in virtual time has no channels yet");
    }
    if let Some(meter) = plan.meters.first() {
        return refuse(format!("meters.{}", meter.name), "the kernel in virtual time has no meters yet");
    }
    if let Some(group) = plan.arrivals.first() {
        return refuse(
            format!("flows.{}.traffic", group.name),
            "the kernel in virtual time has no arrivals yet; it has bulk, transfer and rate-limited",
        );
    }
    if let Some(row) = plan.datagrams.first() {
        return refuse(format!("flows.{}.traffic", row.group), "the kernel in virtual time sends no datagrams yet");
    }
    if plan.sampling.packets {
        return refuse("sampling.packets".to_owned(), "the kernel in virtual time traces no packets; use --pcap");
    }
    if plan.flows.is_empty() {
        return refuse("flows".to_owned(), "there is nothing to run without a flow");
    }
    if plan.flows.len() > MOST_FLOWS {
        return refuse("flows".to_owned(), &format!("the kernel in virtual time has at most {MOST_FLOWS} flows"));
    }
    plan.flows.iter().try_for_each(|flow| check_flow(flow, &plan.flows[0].transport))?;
    settings::check(plan)
}

fn check_flow(flow: &FlowPlan, first: &Transport) -> Result<(), KernelError> {
    let refuse = |key: &str, message: &str| {
        let key = format!("flows.{}.{key}", flow.group);
        Err(KernelError::Refused { key, message: format!("{message} (--backend kernel)") })
    };
    if flow.transport.protocol == Protocol::Quic {
        return refuse("protocol", "the kernel has TCP only");
    }
    algorithm::of(flow)?;
    if !matches!(flow.traffic, Traffic::Bulk | Traffic::Transfer { .. } | Traffic::RateLimited { .. }) {
        return refuse("traffic", "the kernel in virtual time has bulk, transfer and rate-limited");
    }
    if flow.start == FlowPlan::ON_REQUEST {
        return refuse("start", "the kernel in virtual time has no flows on request");
    }
    let transport = &*flow.transport;
    if transport.max_window.is_some() {
        return refuse("max_window", "the kernel sets its receive window by itself");
    }
    if transport.header < 40 {
        return refuse("header", "the kernel's headers of TCP and IP have 40 B");
    }
    if !(88..=65_000).contains(&transport.mss) {
        return refuse("mss", "the kernel takes 88 B to 65000 B");
    }
    if transport.ecn == EcnMode::AccEcn {
        return refuse("ecn", "the kernel in virtual time has \"off\" and \"classic\"");
    }
    let common = [
        ("timestamps", transport.timestamps == first.timestamps),
        ("ecn", transport.ecn == first.ecn),
        ("recovery", has_sack(transport) == has_sack(first)),
    ];
    match common.iter().find(|(_, is_common)| !is_common) {
        Some((key, _)) => refuse(key, "it is a setting of the host, so it must be the same in all flows"),
        None => Ok(()),
    }
}

/// Whether both ends use selective acknowledgements.
pub fn has_sack(transport: &Transport) -> bool {
    transport.recovery == LossRecovery::Sack && transport.peer_sack
}
