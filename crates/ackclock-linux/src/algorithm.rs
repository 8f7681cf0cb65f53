//! Congestion controls of a plan in the running kernel: its own by their names, ours and users' as programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ackclock::cc::{CcSpec, ForeignValue, RuleText};
use ackclock::sim::{FlowPlan, Plan};
use ackclock_bpf::kernel::{Link, attach_unnamed};
use ackclock_bpf::{BpfObject, compile_rule};

use crate::error::EmulationError;

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
}

impl InKernel {
    /// The congestion control of a flow. Messages name the backend.
    ///
    /// # Errors
    /// If there is none that does the same.
    pub fn of(flow: &FlowPlan, backend: &str) -> Result<InKernel, EmulationError> {
        let spec = flow.cc.spec();
        if let Some(name) = spec.and_then(own) {
            return Ok(InKernel::Own(name.to_owned()));
        }
        match spec {
            Some(CcSpec::Kernel(algorithm)) => Ok(InKernel::Own(algorithm.name.clone())),
            Some(CcSpec::Bpf(program)) => Ok(InKernel::Object((&*program.object).into(), program.parameters.clone())),
            Some(CcSpec::Rule(rule)) => Ok(InKernel::Rule(rule.clone())),
            Some(spec) if PROGRAMS.contains(&spec.name()) => Ok(InKernel::Program(spec.clone())),
            Some(spec) if matches!(spec.name(), "cubic" | "bbr1") => {
                let name = spec.name();
                refused(
                    flow,
                    format!(
                        "the kernel has {name} with its default parameters only; its own are those of kind = \"kernel\" \
                         (--backend {backend})"
                    ),
                )
            }
            _ => refused(
                flow,
                format!(
                    "the kernel has no {}; with --backend {backend} these run in it: reno, cubic, bbr1, {}, rules, \
                     compiled objects (kind = \"bpf\"), and the kernel's own (kind = \"kernel\")",
                    flow.cc.name(),
                    PROGRAMS.join(", ")
                ),
            ),
        }
    }

    /// The name for users.
    pub fn title(&self) -> String {
        match self {
            InKernel::Own(name) => name.clone(),
            InKernel::Program(spec) => format!("{} (eBPF)", spec.name()),
            InKernel::Rule(_) => "rule (eBPF)".to_owned(),
            InKernel::Object(path, _) => format!("{} (eBPF)", path.display()),
        }
    }

    /// The program with its parameters.
    ///
    /// # Errors
    /// The obstacle to reading it, or a parameter that it lacks.
    pub fn object(&self, folder: &Path) -> Result<BpfObject, String> {
        let said = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match self {
            InKernel::Own(_) => Err("the kernel has it".to_owned()),
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

/// The name that the kernel has for an algorithm, if it has the same.
fn own(spec: &CcSpec) -> Option<&'static str> {
    let is_default = CcSpec::by_name(spec.name()).as_ref() == Some(spec);
    match spec {
        CcSpec::Reno(_) | CcSpec::Aimd(_) if is_default => Some("reno"),
        CcSpec::Bbr1(_) if is_default => Some("bbr"),
        CcSpec::Cubic(cubic) => {
            // The arithmetic is not a parameter of the kernel's CUBIC.
            let ackclock::cc::Cubic { arithmetic, hz, .. } = *cubic;
            let same = ackclock::cc::Cubic { arithmetic, hz, ..Default::default() };
            (*cubic == same).then_some("cubic")
        }
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

fn refused<T>(flow: &FlowPlan, message: String) -> Result<T, EmulationError> {
    Err(EmulationError::Refused { key: format!("flows.{}.cc", flow.group), message })
}

/// The congestion controls of a plan. Its programs stay in the kernel during the life of this value, and end with the
/// process.
#[derive(Debug, Default)]
pub struct Algorithms {
    loaded: Vec<(InKernel, String, Option<Link>)>,
    /// By flow.
    of_flows: Vec<usize>,
}

impl Algorithms {
    /// Loads the congestion controls that the kernel lacks. `folder` contains the objects of [`PROGRAMS`].
    ///
    /// # Errors
    /// The obstacle to loading. Nothing stays loaded then.
    pub fn load(plan: &Plan, folder: &Path) -> Result<Self, EmulationError> {
        let mut all = Algorithms::default();
        for flow in &plan.flows {
            let wanted = InKernel::of(flow, "linux")?;
            let place = match all.loaded.iter().position(|(there, ..)| *there == wanted) {
                Some(place) => place,
                None => {
                    let (name, link) = match &wanted {
                        InKernel::Own(name) => (name.clone(), None),
                        program => {
                            let (name, link) = load(flow, program, folder)?;
                            (name, Some(link))
                        }
                    };
                    all.loaded.push((wanted, name, link));
                    all.loaded.len() - 1
                }
            };
            all.of_flows.push(place);
        }
        Ok(all)
    }

    /// The name of a flow's, as `TCP_CONGESTION` takes it.
    pub fn name(&self, flow: usize) -> &str {
        &self.loaded[self.of_flows[flow]].1
    }

    /// The congestion control of each group of flows.
    pub fn titles(&self, plan: &Plan) -> BTreeMap<String, String> {
        let rows = plan.flows.iter().zip(&self.of_flows);
        rows.map(|(flow, place)| (flow.group.to_string(), self.loaded[*place].0.title())).collect()
    }
}

fn load(flow: &FlowPlan, program: &InKernel, folder: &Path) -> Result<(String, Link), EmulationError> {
    let object = program.object(folder).or_else(|message| refused(flow, message))?;
    let about = serde_json::json!({ "algorithm": program.title(), "parameters": {} }).to_string();
    attach_unnamed(&object, &about).or_else(|error| refused(flow, format!("{}: {error}", program.title())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_scenario::Scenario;

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
        InKernel::of(&scenario.plan(None, 0).flows[0], "linux").map_err(|error| error.to_string())
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
        assert_eq!(in_kernel("{ kind = 'kernel', name = 'westwood' }"), Ok(InKernel::Own("westwood".to_owned())));
        let message = in_kernel("aild").unwrap_err();
        assert!(message.starts_with("flows.test.cc: the kernel has no aild; "), "{message}");
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
