//! Congestion controls of a plan in a kernel. The kernel's own have names. All others are programs of eBPF.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ackclock::cc::{CcSpec, ForeignValue, KernelModule, RuleText};
use ackclock::sim::{FlowPlan, Plan};
use ackclock_bpf::{BpfObject, compile_rule};

use crate::backend::{Backend, Refused, kernels_flows};

/// Algorithms that also exist as eBPF programs, by their names in scenarios.
const PROGRAMS: [&str; 8] = ["aimd", "aiad", "mimd", "miad", "aimd-fc", "aimd-fc+", "new-aimd", "mr-aimd"];

/// The congestion control that the kernel runs for a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum InKernel {
    /// An algorithm that the kernel has.
    Own(String),
    /// One of [`PROGRAMS`], with its parameters.
    Program(CcSpec),
    /// A rule given as text.
    Rule(RuleText),
    /// A compiled object of a user.
    Object(PathBuf, BTreeMap<String, ForeignValue>),
    /// A kernel module of a user.
    Module(KernelModule),
}

impl InKernel {
    /// The congestion control of a flow.
    ///
    /// # Errors
    /// If there is none that does the same.
    pub fn of(flow: &FlowPlan, backend: &Backend) -> Result<InKernel, Refused> {
        let backend = backend.name;
        let spec = flow.cc.spec();
        if let Some(name) = spec.and_then(own) {
            return Ok(InKernel::Own(name.to_owned()));
        }
        match spec {
            Some(CcSpec::Kernel(algorithm)) => Ok(InKernel::Own(algorithm.name.clone())),
            Some(CcSpec::Module(module)) => Ok(InKernel::Module((**module).clone())),
            Some(CcSpec::Bpf(program)) => Ok(InKernel::Object((&*program.object).into(), program.parameters.clone())),
            Some(CcSpec::Rule(rule)) => Ok(InKernel::Rule(rule.clone())),
            Some(spec) if PROGRAMS.contains(&spec.name()) => Ok(InKernel::Program(spec.clone())),
            Some(spec) if kernel_name(spec.name()).is_some() => {
                let name = spec.name();
                Err(Refused::algorithm(
                    flow,
                    format!(
                        "the kernel has {name} with its default parameters only; to set module parameters, write kind = \
                         \"kernel\" (--backend {backend})"
                    ),
                ))
            }
            _ => Err(Refused::algorithm(
                flow,
                format!(
                    "the kernel contains no {}; use with --backend {backend}: reno, cubic, bbr1, {}, rules, kind = \"bpf\" \
                     or kind = \"kernel\"",
                    flow.cc.name(),
                    PROGRAMS.join(", ")
                ),
            )),
        }
    }

    /// The name for users.
    pub fn title(&self) -> String {
        match self {
            InKernel::Own(name) => name.clone(),
            InKernel::Program(spec) => format!("{} (eBPF)", spec.name()),
            InKernel::Rule(_) => "rule (eBPF)".to_owned(),
            InKernel::Object(path, _) => format!("{} (eBPF)", path.display()),
            InKernel::Module(module) => format!("{} (module)", module.source),
        }
    }

    /// The program with its parameters.
    ///
    /// # Errors
    /// The obstacle to reading it, or a parameter that it lacks.
    pub fn object(&self, folder: &Path) -> Result<BpfObject, String> {
        let said = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match self {
            InKernel::Own(_) | InKernel::Module(_) => Err("it is not an eBPF program".to_owned()),
            InKernel::Object(path, parameters) => {
                let mut object = BpfObject::read(path).map_err(|error| said(path, &error))?;
                object.set_all(parameters).map_err(|error| said(path, &error))?;
                Ok(object)
            }
            InKernel::Rule(rule) => {
                let path = folder.join("rule.bpf.o");
                let program =
                    ackclock_input::read(&path, ackclock_input::OBJECT).map_err(|error| said(&path, &error))?;
                let object = compile_rule(&program, rule).map_err(|error| error.to_string())?;
                BpfObject::parse(&object).map_err(|error| said(&path, &error))
            }
            InKernel::Program(spec) => {
                let file = spec.name().replace('+', "-plus").replace('-', "_");
                let path = folder.join(file).with_extension("bpf.o");
                let mut object = BpfObject::read(&path).map_err(|error| said(&path, &error))?;
                set(&mut object, spec)?;
                Ok(object)
            }
        }
    }
}

/// Algorithms that Linux calls by the same name.
const SAME_NAME: [&str; 16] = [
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// The kernel's name of an algorithm.
fn kernel_name(name: &str) -> Option<&'static str> {
    match name {
        "bbr1" => Some("bbr"),
        _ => SAME_NAME.into_iter().find(|same| *same == name),
    }
}

/// The kernel's name of an algorithm, if both do the same.
fn own(spec: &CcSpec) -> Option<&'static str> {
    let is_default = CcSpec::by_name(spec.name()).as_ref() == Some(spec);
    match spec {
        CcSpec::Aimd(_) if is_default => Some("reno"),
        CcSpec::Cubic(cubic) => {
            // The arithmetic is not a parameter of the kernel's CUBIC.
            let ackclock::cc::Cubic { arithmetic, hz, .. } = *cubic;
            let same = ackclock::cc::Cubic { arithmetic, hz, ..Default::default() };
            (*cubic == same).then_some("cubic")
        }
        _ if is_default => kernel_name(spec.name()),
        _ => None,
    }
}

/// Sets the parameters of an algorithm of [`PROGRAMS`]. Parameters that the program lacks must keep their default.
fn set(object: &mut BpfObject, spec: &CcSpec) -> Result<(), String> {
    let table = |spec: &CcSpec| serde_json::to_value(spec).map_err(|error| error.to_string());
    let (given, defaults) = (table(spec)?, table(&CcSpec::by_name(spec.name()).unwrap_or_else(|| spec.clone()))?);
    for (key, value) in given.as_object().into_iter().flatten().filter(|(key, _)| *key != "kind") {
        let number = value.as_f64().or_else(|| value.as_bool().map(f64::from));
        let is_parameter = object.variables.iter().any(|variable| variable.name == *key);
        match number {
            Some(number) if is_parameter => object.set(key, number).map_err(|error| error.to_string())?,
            _ if Some(value) == defaults.get(key) => {}
            _ => {
                let default = defaults.get(key).unwrap_or(&serde_json::Value::Null);
                return Err(format!("{key} is {value}, and the kernel's {} has {default} only", spec.name()));
            }
        }
    }
    Ok(())
}

/// The congestion controls of a plan, each once. `T` is the state that a backend keeps of each.
#[derive(Debug)]
pub struct Algorithms<T> {
    known: Vec<(InKernel, String, T)>,
    /// The index of each flow's algorithm. A simulated flow has none.
    of_flows: Vec<Option<usize>>,
}

impl<T> Algorithms<T> {
    /// Prepares the congestion controls of a plan. `prepare` gets each with the first flow that uses it, and the index of
    /// the flow. It returns the kernel's name.
    ///
    /// # Errors
    /// A congestion control that does not run in the kernel, or the error of `prepare`.
    pub fn new<E: From<Refused>>(
        plan: &Plan,
        backend: &Backend,
        mut prepare: impl FnMut(usize, &FlowPlan, &InKernel) -> Result<(String, T), E>,
    ) -> Result<Self, E> {
        let mut all = Algorithms { known: Vec::new(), of_flows: vec![None; plan.flows.len()] };
        for (index, flow) in kernels_flows(plan) {
            let wanted = InKernel::of(flow, backend)?;
            let place = match all.known.iter().position(|(known, ..)| *known == wanted) {
                Some(place) => place,
                None => {
                    let (name, state) = prepare(index, flow, &wanted)?;
                    all.known.push((wanted, name, state));
                    all.known.len() - 1
                }
            };
            all.of_flows[index] = Some(place);
        }
        Ok(all)
    }

    /// The name of a flow's, as `TCP_CONGESTION` takes it. Empty for a simulated flow.
    pub fn name(&self, flow: usize) -> &str {
        self.of_flows[flow].map_or("", |place| &self.known[place].1)
    }

    /// Gives the congestion control of a flow the name that the kernel has for it.
    pub fn set_name(&mut self, flow: usize, name: &str) {
        if let Some(place) = self.of_flows.get(flow).copied().flatten() {
            self.known[place].1 = name.to_owned();
        }
    }

    /// Each congestion control with its name and its state.
    pub fn iter(&self) -> impl Iterator<Item = (&InKernel, &str, &T)> {
        self.known.iter().map(|(known, name, state)| (known, &**name, state))
    }

    /// The congestion control of each group of flows, for users.
    pub fn titles(&self, plan: &Plan) -> BTreeMap<String, String> {
        let rows = plan.flows.iter().zip(&self.of_flows);
        rows.filter_map(|(flow, place)| Some((flow.group.to_string(), self.known[(*place)?].0.title()))).collect()
    }
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

    fn objects() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ackclock/kernel/objects")
    }

    fn in_kernel(cc: &str) -> Result<InKernel, String> {
        let text = "
            schema = 1
            duration = '1 s'
            topology = { kind = 'dumbbell', rate = '10 Mbit/s', delay = '10 ms' }
            [[flows]]
            name = 'test'
            cc = 'reno'
        ";
        let scenario = Scenario::from_toml(text, "s.toml", &[format!("flows.test.cc={cc}")]).unwrap();
        InKernel::of(&scenario.plan(None, 0).flows[0], &EMULATOR).map_err(|error| error.to_string())
    }

    #[test]
    fn what_the_kernel_has_is_its_own() {
        assert_eq!(in_kernel("aimd"), Ok(InKernel::Own("reno".to_owned())));
        assert_eq!(
            in_kernel("{ kind = 'cubic', arithmetic = 'linux', hz = 250 }"),
            Ok(InKernel::Own("cubic".to_owned()))
        );
        assert_eq!(in_kernel("bbr1"), Ok(InKernel::Own("bbr".to_owned())));
        let message = in_kernel("{ kind = 'cubic', remaining = 0.6 }").unwrap_err();
        assert!(message.starts_with("flows.test.cc: the kernel has cubic with its default"), "{message}");
        for name in
            ["bic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "veno", "westwood", "yeah"]
        {
            assert_eq!(in_kernel(name), Ok(InKernel::Own(name.to_owned())));
        }
        let message = in_kernel("{ kind = 'vegas', alpha = 3 }").unwrap_err();
        assert!(message.starts_with("flows.test.cc: the kernel has vegas with its default"), "{message}");
        assert_eq!(in_kernel("{ kind = 'kernel', name = 'westwood' }"), Ok(InKernel::Own("westwood".to_owned())));
        let message = in_kernel("aild").unwrap_err();
        assert!(message.starts_with("flows.test.cc: the kernel contains no aild; "), "{message}");
    }

    #[test]
    fn every_program_takes_the_parameters_of_its_algorithm() {
        for name in PROGRAMS {
            let spec = CcSpec::by_name(name).unwrap();
            let object = InKernel::Program(spec).object(&objects());
            assert!(object.is_ok(), "{name}: {object:?}");
        }
        let InKernel::Program(spec) = in_kernel("{ kind = 'aimd', increase = 2, remaining = 0.8 }").unwrap() else {
            panic!("a program")
        };
        let object = InKernel::Program(spec).object(&objects()).unwrap();
        let values: Vec<_> = object.variables.iter().map(|row| (row.name.as_str(), object.value(row))).collect();
        assert_eq!(values.len(), 2);
        assert!(values.contains(&("increase", 2.0)));
        assert!(values.iter().any(|(name, value)| *name == "remaining" && (value - 0.8).abs() < 1e-9));
    }

    #[test]
    fn what_a_program_has_not_is_named() {
        for (cc, expected) in [
            (
                "{ kind = 'new-aimd', base = 'recovery' }",
                "base is \"recovery\", and the kernel's new-aimd has \"slow-start\" only",
            ),
            ("{ kind = 'aimd', increase = 70000 }", "the parameter increase is 70000, but must be at least 0"),
            ("{ kind = 'mr-aimd', rtt_scaled = true }", "rtt_scaled is true, and the kernel's mr-aimd has false only"),
        ] {
            let message = in_kernel(cc).unwrap().object(&objects()).unwrap_err();
            assert!(message.starts_with(expected), "{message}");
        }
        let message = in_kernel("{ kind = 'rule', grow = 'log(w)' }").unwrap().object(&objects()).unwrap_err();
        assert!(
            message.starts_with("grow: character 1 of `log(w)`: the program in the kernel has no log"),
            "{message}"
        );
        assert!(in_kernel("{ kind = 'rule', grow = 'a / w', a = 2 }").unwrap().object(&objects()).is_ok());
        let missing = InKernel::Object("/nowhere.bpf.o".into(), BTreeMap::new());
        assert!(missing.object(&objects()).unwrap_err().starts_with("/nowhere.bpf.o: cannot be read"));
    }
}
