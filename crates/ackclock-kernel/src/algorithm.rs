//! Congestion controls of a plan in a guest, and the records that register those that the kernel lacks.

use std::path::Path;

use ackclock::sim::Plan;
use ackclock_bpf::BpfObject;
use ackclock_bpf::guest::{GuestTypes, record};
use ackclock_wire::{Algorithms, InKernel, Refused};

use crate::error::KernelError;
use crate::run::BACKEND;

/// The congestion controls of a plan, with the objects of those that the kernel lacks.
pub type InGuest = Algorithms<Option<(String, BpfObject)>>;

/// Reads the congestion controls that the kernel lacks. `folder` contains the objects of ours.
///
/// # Errors
/// One that cannot be read.
pub fn read(plan: &Plan, folder: &Path) -> Result<InGuest, KernelError> {
    Algorithms::new(plan, &BACKEND, |number, flow, wanted| {
        Ok(match wanted {
            InKernel::Own(name) => (name.clone(), None),
            program => {
                let object = program.object(folder).map_err(|message| Refused::algorithm(flow, message))?;
                (format!("ackclock{number}"), Some((format!("flows.{}.cc", flow.group), object)))
            }
        })
    })
}

/// The records that register the objects in a guest.
///
/// # Errors
/// One that does not run in a guest.
pub fn records(algorithms: &InGuest, types: &GuestTypes) -> Result<Vec<Vec<u8>>, KernelError> {
    let objects = algorithms.iter().filter_map(|(wanted, name, object)| Some((wanted, name, object.as_ref()?)));
    let records = objects.map(|(wanted, name, (key, object))| {
        record(object, name, types)
            .map_err(|error| Refused { key: key.clone(), message: format!("{}: {error}", wanted.title()) }.into())
    });
    records.collect()
}
