//! The settings of a guest's kernel, as words of its command line: sysctls, and parameters of modules.

use std::collections::BTreeMap;

use ackclock::cc::{CcSpec, ForeignValue, KernelAlgorithm};
use ackclock::quantity::Hint;
use ackclock::sim::{FlowPlan, Plan};
use ackclock_wire::{InKernel, Refused, kernels_flows, sysctls};

use crate::backend::BACKEND;
use crate::error::KernelError;

/// Sysctls that keys of the transport set.
const OF_TRANSPORT: [(&str, &str); 3] =
    [("net.ipv4.tcp_timestamps", "timestamps"), ("net.ipv4.tcp_sack", "recovery"), ("net.ipv4.tcp_ecn", "ecn")];

/// The settings of a plan, as words of the kernel's command line. A later word overrides an earlier one.
pub fn words(plan: &Plan) -> Vec<String> {
    let backlog = ("core.netdev_max_backlog", "100000".to_owned());
    let own = sysctls(plan).into_iter().chain([backlog]).map(|(name, value)| (format!("net.{name}"), value));
    let sysctls = own.chain(plan.kernel.sysctls.iter().map(|(key, value)| (sysctl(key), written(value))));
    let sysctls = sysctls.map(|(name, value)| format!("sysctl.{name}=\"{value}\""));
    let algorithms = kernels_flows(plan).filter_map(|(_, flow)| of_kernel(flow));
    let parameters: BTreeMap<_, _> = algorithms.flat_map(parameters).collect();
    sysctls.chain(parameters.into_iter().map(|(name, value)| format!("{name}={value}"))).collect()
}

/// Checks the settings of a plan, as far as that needs no kernel.
pub fn check(plan: &Plan) -> Result<(), Refused> {
    for (key, value) in &plan.kernel.sysctls {
        let refuse = |message: String| {
            Err(Refused::new(format!("kernel.sysctl.{key}"), format!("{message} (--backend kernel)")))
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
        if name != *key && plan.kernel.sysctls.contains_key(&name) {
            return refuse(format!("kernel.sysctl.{name} is the same sysctl; give one of them"));
        }
        if written(value).contains(|char: char| char == '"' || char.is_control()) {
            return refuse("a value has no quotes and no control characters".to_owned());
        }
    }
    // A module has its parameters once in a kernel.
    let mut first: BTreeMap<String, (&FlowPlan, BTreeMap<String, String>)> = BTreeMap::new();
    for (_, flow) in kernels_flows(plan) {
        let (name, own) = match InKernel::of(flow, &BACKEND)? {
            InKernel::Own(name) => (name, of_kernel(flow).into_iter().flat_map(parameters).collect()),
            InKernel::Module(module) => (module.source.clone(), words_of(&module.parameters).collect()),
            _ => continue,
        };
        let own: BTreeMap<_, _> = own;
        let (other, common) = first.entry(name).or_insert_with(|| (flow, own.clone()));
        if let Some(parameter) = own.keys().chain(common.keys()).find(|key| own.get(*key) != common.get(*key)) {
            let parameter = parameter.rsplit('.').next().unwrap_or_default();
            return Err(Refused::new(
                format!("flows.{}.cc.{parameter}", flow.group),
                format!(
                    "the parameter is a setting of the whole kernel, so flows.{}.cc must have the same value \
                     (--backend kernel)",
                    other.group
                ),
            ));
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
        if name == "module" {
            let message = match -error {
                libc::EEXIST => "the kernel already contains a module or an algorithm of this name".to_owned(),
                _ => format!("the kernel refuses the module ({reason})"),
            };
            return refused_module(flow, message);
        }
        if known.is_empty() {
            return KernelError::Denied { flow: flow.name.to_string(), message: format!("{name} ({reason})") };
        }
        let key = format!("flows.{}.cc", flow.group);
        return Refused::new(key, message(&format!("algorithm {name}"), name)).into();
    }
    let with = |algorithm: &KernelAlgorithm| parameters(algorithm).iter().any(|(parameter, _)| parameter == name);
    let of_group = plan.flows.iter().find(|flow| of_kernel(flow).is_some_and(with));
    let key = match (of_group, plan.kernel.sysctls.keys().find(|key| sysctl(key) == name)) {
        (Some(flow), _) => format!("flows.{}.cc.{last}", flow.group),
        (None, Some(key)) => format!("kernel.sysctl.{key}"),
        (None, None) => "kernel".to_owned(),
    };
    let what = if of_group.is_some() { "module parameter" } else { "sysctl" };
    Refused::new(key, message(&format!("{what} {name}"), last)).into()
}

/// The error for the module of a flow.
pub fn refused_module(flow: &FlowPlan, message: String) -> KernelError {
    let source_file = match flow.cc.spec() {
        Some(CcSpec::Module(module)) => module.source.clone(),
        _ => String::new(),
    };
    KernelError::Module { key: format!("flows.{}.cc", flow.group), source_file, message, lines: Vec::new() }
}

fn of_kernel(flow: &FlowPlan) -> Option<&KernelAlgorithm> {
    match flow.cc.spec() {
        Some(CcSpec::Kernel(algorithm)) => Some(algorithm),
        _ => None,
    }
}

/// The parameters of an algorithm, by the name of its module.
fn parameters(algorithm: &KernelAlgorithm) -> Vec<(String, String)> {
    let module = algorithm.name.replace('-', "_");
    words_of(&algorithm.parameters).map(|(key, value)| (format!("tcp_{module}.{key}"), value)).collect()
}

/// Parameters of a module, as the kernel reads them.
pub fn words_of(parameters: &BTreeMap<String, ForeignValue>) -> impl Iterator<Item = (String, String)> {
    parameters.iter().map(|(key, value)| (key.replace('-', "_"), written(value)))
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
