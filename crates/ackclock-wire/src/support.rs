//! Checks whether a backend with the TCP of a kernel supports a plan, and the settings of such a kernel.

use ackclock::cc::CcSpec;
use ackclock::sim::{FlowId, FlowPlan, Plan, Stack, Traffic};
use ackclock::tcp::{FIRST_RECEIVE_MEMORY, MOST_RECEIVE_MEMORY};
use ackclock::transport::{EcnMode, LossRecovery, Protocol, TIMESTAMPS_LEN, Transport};

use crate::backend::{Backend, Refused, kernels_flows};
use crate::in_kernel::InKernel;
use crate::packet::IP_LEN;

/// Connections that are made at most.
const MOST_FLOWS: usize = 1000;
/// A send buffer that no path of a scenario fills.
const SEND_MEMORY: u64 = 1 << 28;

/// A feature that a backend does not support.
///
/// # Errors
/// The first key that says such a thing.
pub fn check(plan: &Plan, backend: &Backend) -> Result<(), Refused> {
    let subject = backend.subject;
    let refuse = |key: String, message: &str| Err(Refused::new(key, format!("{message} (--backend {})", backend.name)));
    if !backend.simulates {
        check_without_simulation(plan, subject, refuse)?;
    }
    if let Some(name) = plan.kernel.sysctls.keys().next().filter(|_| !backend.has_settings) {
        return refuse(format!("kernel.sysctl.{name}"), "sysctls need --backend kernel");
    }
    if !plan.kernel.subflows.is_empty() && !backend.has_settings {
        return refuse("kernel.mptcp".to_owned(), "Multipath TCP needs --backend kernel");
    }
    if let Some((link, _)) = plan.kernel_queues().next().filter(|_| !backend.has_settings) {
        return refuse(plan.links[link].queue_key(), "a queue of the kernel needs --backend kernel");
    }
    let is_simulated = |flow: &&FlowId| plan.flows[**flow].stack == Stack::Simulated;
    if let Some(flow) = plan.kernel.subflows.iter().find(is_simulated) {
        let message = "a subflow needs the TCP of the kernel; remove stack = \"simulated\"";
        return refuse(format!("flows.{}.stack", plan.flows[*flow].group), message);
    }
    let is_kernels = |slot: &FlowPlan| slot.stack != Stack::Simulated;
    let is_in_kernel = |flow: &&FlowPlan| matches!(flow.cc.spec(), Some(CcSpec::Kernel(_) | CcSpec::Module(_)));
    if let Some(flow) = plan.tcp_flows().filter(|flow| !is_kernels(flow)).find(is_in_kernel) {
        let message = format!("{} runs in a kernel only; remove stack = \"simulated\"", flow.cc.name());
        return refuse(format!("flows.{}.cc", flow.group), &message);
    }
    if let Some(group) = plan.arrivals.iter().find(|group| group.slots.iter().any(is_kernels)) {
        let hint = if backend.simulates { "; to simulate them, set stack = \"simulated\"" } else { "" };
        return refuse(
            format!("flows.{}.traffic", group.name),
            &format!("{subject} has no arrivals, but bulk, transfer and rate-limited{hint}"),
        );
    }
    if plan.sampling.packets {
        return refuse("sampling.packets".to_owned(), &format!("{subject} traces no packets; use --pcap"));
    }
    let Some((_, first)) = kernels_flows(plan).next() else {
        if plan.kernel_queues().next().is_some() {
            return Ok(());
        }
        return refuse("flows".to_owned(), "the kernel runs no flow of this scenario; use --backend sim");
    };
    if kernels_flows(plan).count() > MOST_FLOWS {
        return refuse("flows".to_owned(), &format!("{subject} has at most {MOST_FLOWS} flows"));
    }
    kernels_flows(plan).try_for_each(|(_, flow)| check_flow(flow, &first.transport, backend))
}

/// Checks a plan for a backend without a simulation.
fn check_without_simulation(
    plan: &Plan,
    subject: &str,
    refuse: impl Fn(String, &str) -> Result<(), Refused>,
) -> Result<(), Refused> {
    if let Some(channel) = plan.channels.first() {
        return refuse(format!("channels.{}", channel.name), &format!("{subject} has no channels"));
    }
    if let Some(meter) = plan.meters.first() {
        return refuse(format!("meters.{}", meter.name), &format!("{subject} has no meters"));
    }
    if let Some(row) = plan.datagrams.first() {
        return refuse(format!("flows.{}.traffic", row.group), &format!("{subject} sends no datagrams"));
    }
    match plan.flows.iter().find(|flow| flow.stack == Stack::Simulated) {
        Some(flow) => refuse(format!("flows.{}.stack", flow.group), &format!("{subject} simulates no flow")),
        None => Ok(()),
    }
}

fn check_flow(flow: &FlowPlan, first: &Transport, backend: &Backend) -> Result<(), Refused> {
    let subject = backend.subject;
    let refuse = |key: &str, message: &str| {
        Err(Refused::new(format!("flows.{}.{key}", flow.group), format!("{message} (--backend {})", backend.name)))
    };
    match flow.transport.protocol {
        Protocol::Tcp => {}
        Protocol::Quic => return refuse("protocol", backend.quic),
        Protocol::Rtp => return refuse("protocol", &format!("{subject} has TCP; only the simulator has RTP")),
    }
    InKernel::of(flow, backend)?;
    if !backend.has_settings && matches!(flow.cc.spec(), Some(CcSpec::Module(_))) {
        return refuse("cc", "kernel modules need --backend kernel");
    }
    if let Some(CcSpec::Kernel(algorithm)) = flow.cc.spec()
        && let Some(parameter) = algorithm.parameters.keys().next().filter(|_| !backend.has_settings)
    {
        return refuse(&format!("cc.{parameter}"), "module parameters need --backend kernel");
    }
    if !matches!(flow.traffic, Traffic::Bulk | Traffic::Transfer { .. } | Traffic::RateLimited { .. }) {
        let hint = if backend.simulates { "; to simulate the flow, set stack = \"simulated\"" } else { "" };
        return refuse("traffic", &format!("{subject} has bulk, transfer and rate-limited{hint}"));
    }
    if flow.start == FlowPlan::ON_REQUEST {
        return refuse("start", &format!("{subject} has no flows on request"));
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
        return refuse("ecn", &format!("{subject} has \"off\", \"classic\" and, for DCTCP, \"dctcp\""));
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
fn has_sack(transport: &Transport) -> bool {
    transport.recovery == LossRecovery::Sack && transport.peer_sack
}

/// Bytes of the options of a segment, which the kernel counts as part of its segment size.
pub fn options_len(transport: &Transport) -> u32 {
    if transport.timestamps { TIMESTAMPS_LEN } else { 0 }
}

/// Bytes of IP of the largest packet that a flow sends.
pub fn largest_packet(plan: &Plan) -> u32 {
    let of_flow = |transport: &Transport| transport.mss + 2 * IP_LEN as u32 + options_len(transport);
    kernels_flows(plan).map(|(_, flow)| of_flow(&flow.transport)).max().unwrap_or(1500)
}

/// The common settings of the flows of a supported plan, as sysctls below `net`. None without flows of the kernel.
///
/// A scenario has no send buffers, so none limits a flow. Applications bound their unsent data.
pub fn sysctls(plan: &Plan) -> Vec<(&'static str, String)> {
    let Some((_, flow)) = kernels_flows(plan).next() else { return Vec::new() };
    let transport = &flow.transport;
    let switch = |is_on: bool| if is_on { "1" } else { "0" }.to_owned();
    let mut found = vec![
        ("ipv4.tcp_no_metrics_save", switch(true)),
        ("ipv4.tcp_rmem", format!("4096 {FIRST_RECEIVE_MEMORY} {MOST_RECEIVE_MEMORY}")),
        ("ipv4.tcp_wmem", format!("4096 {SEND_MEMORY} {SEND_MEMORY}")),
        ("ipv4.tcp_timestamps", switch(transport.timestamps)),
        ("ipv4.tcp_sack", switch(has_sack(transport))),
        ("ipv4.tcp_ecn", switch(transport.ecn != EcnMode::Off)),
    ];
    // A SYN of DCTCP is ECN-capable. Only a listener of DCTCP then agrees to ECN, and its sockets give DCTCP's feedback.
    if transport.ecn == EcnMode::Dctcp {
        found.push(("ipv4.tcp_congestion_control", "dctcp".to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

    const EMULATOR: Backend = Backend {
        name: "linux",
        subject: "the emulator",
        quic: "the emulator has TCP",
        simulates: false,
        has_settings: false,
    };

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
        check(&scenario.plan(None, 0), &EMULATOR).err().map(|error| error.to_string())
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
