//! Congestion controls of a plan in a guest, and the records that register those that the kernel lacks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ackclock::cc::KernelModule;
use ackclock::quantity::Hint;
use ackclock::sim::{FlowPlan, Plan};
use ackclock_bpf::BpfObject;
use ackclock_bpf::guest::{GuestTypes, record};
use ackclock_wire::{Algorithms, InKernel, Refused};

use crate::backend::{BACKEND, Image};
use crate::error::KernelError;
use crate::settings::words_of;

/// The largest file of a module.
const LARGEST_MODULE: usize = 4 << 20;

/// An addition to a guest's kernel.
#[derive(Debug)]
pub enum Addition {
    /// The kernel has the congestion control.
    Nothing,
    /// Programs of eBPF, and the key of the scenario.
    Object(String, Box<BpfObject>),
    /// The record of a module, and the flow that names it.
    Module(u16, Vec<u8>),
}

/// The congestion controls of a plan, with the additions to the kernel.
pub type InGuest = Algorithms<Addition>;

/// Reads the congestion controls that the kernel lacks.
///
/// # Errors
/// One that cannot be read.
pub fn read(plan: &Plan, image: &Image) -> Result<InGuest, KernelError> {
    Algorithms::new(plan, &BACKEND, |index, flow, wanted| {
        Ok(match wanted {
            InKernel::Own(name) => (name.clone(), Addition::Nothing),
            // The guest reports its name.
            InKernel::Module(module) => {
                (String::new(), Addition::Module(index as u16, module_record(flow, module, &image.modules)?))
            }
            program => {
                let object = program.object(&image.objects).map_err(|message| Refused::algorithm(flow, message))?;
                (format!("ackclock{index}"), Addition::Object(format!("flows.{}.cc", flow.group), Box::new(object)))
            }
        })
    })
}

/// `struct ackclock_module` of guest/agent/shared.h.
fn module_record(
    flow: &FlowPlan,
    module: &KernelModule,
    built: &BTreeMap<String, PathBuf>,
) -> Result<Vec<u8>, Refused> {
    let refuse = |message: String| Refused::algorithm(flow, format!("{}: {message}", module.source));
    let path =
        built.get(&module.code).ok_or_else(|| refuse("only the Python package can build a module".to_owned()))?;
    let file = read_module(path).map_err(|error| refuse(format!("{}: {error}", path.display())))?;
    let known = parameters_of(&file);
    let mut text = String::new();
    for (key, value) in words_of(&module.parameters) {
        if !known.contains(&&*key) {
            let message = format!("no module parameter {key}; {}", Hint::for_name(&key, known.iter().copied()));
            let key = format!("flows.{}.cc.{key}", flow.group);
            return Err(Refused::new(key, format!("{} has {message}", module.source)));
        }
        text += &format!("{key}={value} ");
    }
    let len = (text.len() + 1).next_multiple_of(8);
    let mut record: Vec<_> = [len as u32, file.len() as u32].iter().flat_map(|number| number.to_ne_bytes()).collect();
    record.extend(text.bytes().chain(std::iter::repeat(0)).take(len));
    record.extend(file);
    Ok(record)
}

fn read_module(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::read(path).map_err(|error| error.to_string())?;
    if file.len() > LARGEST_MODULE {
        return Err(format!("has {} B, and a module has at most {LARGEST_MODULE} B", file.len()));
    }
    Ok(file)
}

/// The parameters of a compiled module. Its section `.modinfo` contains a text `parmtype=NAME:TYPE` for each.
fn parameters_of(file: &[u8]) -> Vec<&str> {
    let texts = file.split(|byte| *byte == 0).filter_map(|text| text.strip_prefix(b"parmtype="));
    texts.filter_map(|text| std::str::from_utf8(text).ok()?.split(':').next()).collect()
}

/// The records that register the objects in a guest.
///
/// # Errors
/// One that does not run in a guest.
pub fn objects(algorithms: &InGuest, types: &GuestTypes) -> Result<Vec<Vec<u8>>, KernelError> {
    let mut records = Vec::new();
    for (wanted, name, addition) in algorithms.iter() {
        if let Addition::Object(key, object) = addition {
            let record = record(object, name, types)
                .map_err(|error| Refused::new(key.clone(), format!("{}: {error}", wanted.title())))?;
            records.push(record);
        }
    }
    Ok(records)
}

/// The flows and records of the modules.
pub fn modules(algorithms: &InGuest) -> Vec<(u16, &[u8])> {
    let modules = algorithms.iter().filter_map(|(_, _, addition)| match addition {
        Addition::Module(flow, record) => Some((*flow, record.as_slice())),
        _ => None,
    });
    modules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_modules_section() {
        let file = b"\x7fELF\0license=GPL\0parmtype=beta:int\0parm=beta:text\0parmtype=slow:bool\0rest";
        assert_eq!(parameters_of(file), ["beta", "slow"]);
    }
}
