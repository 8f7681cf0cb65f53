//! The settings of a guest's kernel, as words of its command line: sysctls, and parameters of modules.

use std::collections::BTreeMap;

use ackclock::cc::{CcSpec, ForeignValue, KernelAlgorithm};
use ackclock::quantity::Hint;
use ackclock::sim::{FlowPlan, Plan};
use ackclock_wire::{InKernel, Refused, kernels_flows, sysctls};

use crate::error::KernelError;
use crate::run::BACKEND;

/// Sysctls that keys of the transport set.
const OF_TRANSPORT: [(&str, &str); 3] =
    [("net.ipv4.tcp_timestamps", "timestamps"), ("net.ipv4.tcp_sack", "recovery"), ("net.ipv4.tcp_ecn", "ecn")];

/// The settings of a plan, as words of the kernel's command line. A later word overrides an earlier one.
pub fn words(plan: &Plan) -> Vec<String> {
    let backlog = ("core.netdev_max_backlog", "100000".to_owned());
    let own = sysctls(plan).into_iter().chain([backlog]).map(|(name, value)| (format!("net.{name}"), value));
    let all = own.chain(plan.sysctls.iter().map(|(key, value)| (sysctl(key), written(value))));
    let all = all.map(|(name, value)| format!("sysctl.{name}=\"{value}\""));
    let parameters: BTreeMap<_, _> =
        kernels_flows(plan).filter_map(|(_, flow)| of_kernel(flow)).flat_map(parameters).collect();
    all.chain(parameters.into_iter().map(|(name, value)| format!("{name}={value}"))).collect()
}

/// Checks the settings of a plan, as far as that needs no kernel.
pub fn check(plan: &Plan) -> Result<(), KernelError> {
    for (key, value) in &plan.sysctls {
        let refuse = |message: String| {
            let (key, message) = (format!("kernel.sysctl.{key}"), format!("{message} (--backend kernel)"));
            Err(Refused { key, message }.into())
        };
        let name = sysctl(key);
        let is_path = name.split('.').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        });
        if !is_path || !name.starts_with("net.") {
            return refuse("expected a name below net, such as tcp_recovery or net.core.default_qdisc".to_owned());
        }
        if let Some((_, other)) = OF_TRANSPORT.iter().find(|(known, _)| *known == name) {
            return refuse(format!("the key {other} of the transport sets it"));
        }
        if name != *key && plan.sysctls.contains_key(&name) {
            return refuse(format!("kernel.sysctl.{name} is the same sysctl; give one of them"));
        }
        if written(value).contains(|char: char| char == '"' || char.is_control()) {
            return refuse("a value has no quotes and no control characters".to_owned());
        }
    }
    // A module has its parameters once in a kernel.
    let mut first: BTreeMap<String, (&FlowPlan, BTreeMap<String, String>)> = BTreeMap::new();
    for (_, flow) in kernels_flows(plan) {
        let InKernel::Own(name) = InKernel::of(flow, &BACKEND)? else { continue };
        let own: BTreeMap<_, _> = of_kernel(flow).into_iter().flat_map(parameters).collect();
        let (other, common) = first.entry(name).or_insert_with(|| (flow, own.clone()));
        if let Some(parameter) = own.keys().chain(common.keys()).find(|key| own.get(*key) != common.get(*key)) {
            let parameter = parameter.rsplit('.').next().unwrap_or_default();
            let refused = Refused {
                key: format!("flows.{}.cc.{parameter}", flow.group),
                message: format!(
                    "the parameter is a setting of the whole kernel, so flows.{}.cc must have the same value \
                     (--backend kernel)",
                    other.group
                ),
            };
            return Err(refused.into());
        }
    }
    Ok(())
}

/// The error for a setting or an algorithm that the kernel denies: three lines, as the agent writes them. `flow` is the
/// flow of a command.
pub fn denied(plan: &Plan, flow: Option<&FlowPlan>, content: &[u8]) -> KernelError {
    let text = String::from_utf8_lossy(content);
    let mut lines = text.splitn(3, '\n').map(str::trim);
    let (name, error) =
        (lines.next().unwrap_or_default(), lines.next().and_then(|number| number.parse().ok()).unwrap_or(0_i32));
    let reason = std::io::Error::from_raw_os_error(-error);
    let known: Vec<_> = lines.next().unwrap_or_default().split_whitespace().collect();
    let message = |what: &str, short: &str| match -error {
        libc::ENOENT => format!("the kernel has no {what}; {}", Hint::for_name(short, known.iter().copied())),
        libc::EINVAL | libc::ERANGE => format!("the kernel does not take this value of {what} ({reason})"),
        _ => format!("the kernel denies {what} ({reason})"),
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    if let Some(flow) = flow {
        if known.is_empty() {
            return KernelError::Denied { flow: flow.name.to_string(), message: format!("{name} ({reason})") };
        }
        let key = format!("flows.{}.cc", flow.group);
        return Refused { key, message: message(&format!("algorithm {name}"), name) }.into();
    }
    let with = |algorithm: &KernelAlgorithm| parameters(algorithm).iter().any(|(parameter, _)| parameter == name);
    let of_group = plan.flows.iter().find(|flow| of_kernel(flow).is_some_and(with));
    let key = match (of_group, plan.sysctls.keys().find(|key| sysctl(key) == name)) {
        (Some(flow), _) => format!("flows.{}.cc.{last}", flow.group),
        (None, Some(key)) => format!("kernel.sysctl.{key}"),
        (None, None) => "kernel".to_owned(),
    };
    let what = if of_group.is_some() { "module parameter" } else { "sysctl" };
    Refused { key, message: message(&format!("{what} {name}"), last) }.into()
}

fn of_kernel(flow: &FlowPlan) -> Option<&KernelAlgorithm> {
    match flow.cc.spec() {
        Some(CcSpec::Kernel(algorithm)) => Some(algorithm),
        _ => None,
    }
}

/// The parameters of an algorithm, by the name of its module.
fn parameters(algorithm: &KernelAlgorithm) -> Vec<(String, String)> {
    let word = |text: &str| text.replace('-', "_");
    let module = word(&algorithm.name);
    let row = |(key, value): (&String, &ForeignValue)| (format!("tcp_{module}.{}", word(key)), written(value));
    algorithm.parameters.iter().map(row).collect()
}

/// The full name of a sysctl.
fn sysctl(key: &str) -> String {
    if key.contains('.') { key.to_owned() } else { format!("net.ipv4.{key}") }
}

fn written(value: &ForeignValue) -> String {
    match value {
        ForeignValue::Bool(is_on) => u8::from(*is_on).to_string(),
        ForeignValue::Integer(number) => number.to_string(),
        ForeignValue::Number(number) => number.to_string(),
        ForeignValue::Text(text) => text.clone(),
    }
}
