//! Checks whether the emulator supports a plan.

use ackclock::cc::CcSpec;
use ackclock::sim::{FlowPlan, Plan, Traffic};
use ackclock::tcp::{EcnMode, LossRecovery, Protocol, Transport};

use crate::algorithm::InKernel;
use crate::error::EmulationError;

/// Connections that are made at most.
const MOST_FLOWS: usize = 1000;

/// A feature that the emulator does not support.
///
/// # Errors
/// The first key that says such a thing.
pub fn check(plan: &Plan) -> Result<(), EmulationError> {
    let refuse = |key: String, message: &str| {
        Err(EmulationError::Refused { key, message: format!("{message} (--backend linux)") })
    };
    if let Some(channel) = plan.channels.first() {
        return refuse(format!("channels.{}", channel.name), "the emulator has no channels");
    }
    if let Some(meter) = plan.meters.first() {
        return refuse(format!("meters.{}", meter.name), "the emulator has no meters");
    }
    if let Some(group) = plan.arrivals.first() {
        return refuse(
            format!("flows.{}.traffic", group.name),
            "the emulator has no arrivals; it has bulk, transfer and rate-limited",
        );
    }
    if let Some(row) = plan.datagrams.first() {
        return refuse(format!("flows.{}.traffic", row.group), "the emulator sends no datagrams");
    }
    if plan.sampling.packets {
        return refuse("sampling.packets".to_owned(), "the emulator traces no packets; use --pcap");
    }
    if let Some(name) = plan.sysctls.keys().next() {
        return refuse(format!("kernel.sysctl.{name}"), "sysctls need --backend kernel");
    }
    if plan.flows.is_empty() {
        return refuse("flows".to_owned(), "there is nothing to emulate without a flow");
    }
    if plan.flows.len() > MOST_FLOWS {
        return refuse("flows".to_owned(), &format!("the emulator has at most {MOST_FLOWS} flows"));
    }
    for flow in &plan.flows {
        check_flow(flow, &plan.flows[0].transport)?;
    }
    Ok(())
}

fn check_flow(flow: &FlowPlan, first: &Transport) -> Result<(), EmulationError> {
    let group = &flow.group;
    let refuse = |key: &str, message: &str| {
        let (key, message) = (format!("flows.{group}.{key}"), format!("{message} (--backend linux)"));
        Err(EmulationError::Refused { key, message })
    };
    if flow.transport.protocol == Protocol::Quic {
        return refuse(
            "protocol",
            "the emulator has the kernel's TCP; a pair of programs (--exec, --serve) may use QUIC",
        );
    }
    InKernel::of(flow, "linux")?;
    if let Some(CcSpec::Kernel(algorithm)) = flow.cc.spec()
        && let Some(parameter) = algorithm.parameters.keys().next()
    {
        return refuse(&format!("cc.{parameter}"), "module parameters need --backend kernel");
    }
    if !matches!(flow.traffic, Traffic::Bulk | Traffic::Transfer { .. } | Traffic::RateLimited { .. }) {
        return refuse("traffic", "the emulator has bulk, transfer and rate-limited");
    }
    if flow.start == FlowPlan::ON_REQUEST {
        return refuse("start", "the emulator has no flows on request");
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
        return refuse("ecn", "the emulator has \"off\" and \"classic\"");
    }
    let has_sack = |transport: &Transport| transport.recovery == LossRecovery::Sack && transport.peer_sack;
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

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

    fn refusal(sets: &[&str]) -> Option<String> {
        let text = "
            schema = 1
            duration = '1 s'
            topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms' }
            [[flows]]
            name = 'test'
            cc = 'reno'
            [[flows]]
            name = 'other'
            cc = 'cubic'
        ";
        let scenario = Scenario::from_toml(text, "s.toml", sets).unwrap();
        check(&scenario.plan(None, 0)).err().map(|error| error.to_string())
    }

    #[test]
    fn bulk_flows_of_the_kernels_algorithms_pass() {
        assert_eq!(refusal(&[]), None);
        assert_eq!(refusal(&["flows.test.cc=aimd", "flows.other.cc=bbr1"]), None);
        assert_eq!(refusal(&["flows.test.cc=new-aimd", "flows.other.cc=miad"]), None);
        assert_eq!(refusal(&["flows.test.traffic={ kind = 'transfer', size = '1 MB' }"]), None);
        assert_eq!(refusal(&["replicates.rtt=0.05", "replicates.rate=0.02"]), None);
    }

    #[test]
    fn what_the_emulator_has_not_is_named_by_its_key() {
        for (set, key) in [
            ("flows.test.cc=aild", "flows.test.cc"),
            ("flows.test.protocol=quic", "flows.test.protocol"),
            ("flows.test.max_window=10", "flows.test.max_window"),
            ("flows.other.timestamps=true", "flows.other.timestamps"),
            ("flows.other.ecn=classic", "flows.other.ecn"),
            ("flows.test.ecn=accecn", "flows.test.ecn"),
            ("sampling.packets=true", "sampling.packets"),
            ("flows.test.cc={ kind = 'kernel', name = 'cubic', hystart = 0 }", "flows.test.cc.hystart"),
            ("kernel={ sysctl = { tcp_recovery = 0 } }", "kernel.sysctl.tcp_recovery"),
            ("flows.test.mss=40 B", "flows.test.mss"),
        ] {
            let message = refusal(&[set]).unwrap_or_default();
            assert!(message.starts_with(&format!("{key}: ")), "{set}: {message}");
        }
    }
}
