//! Congestion controls of a plan in the running kernel. The kernel holds programs during the life of this value, and no
//! longer than the process lives.

use std::path::Path;

use ackclock::sim::{FlowPlan, Plan};
use ackclock_bpf::kernel::{Link, attach_unnamed};
use ackclock_wire::{Algorithms, InKernel, Refused};

use crate::backend::BACKEND;
use crate::error::EmulationError;

/// Loads the congestion controls that the kernel lacks. `folder` contains the objects of ours.
///
/// # Errors
/// The obstacle to loading. Nothing stays loaded then.
pub fn load(plan: &Plan, folder: &Path) -> Result<Algorithms<Option<Link>>, EmulationError> {
    Algorithms::new(plan, &BACKEND, |_, flow, wanted| {
        Ok(match wanted {
            InKernel::Own(name) => (name.clone(), None),
            program => {
                let (name, link) = attach(flow, program, folder)?;
                (name, Some(link))
            }
        })
    })
}

fn attach(flow: &FlowPlan, program: &InKernel, folder: &Path) -> Result<(String, Link), Refused> {
    let object = program.object(folder).map_err(|message| Refused::algorithm(flow, message))?;
    let about = serde_json::json!({ "algorithm": program.title(), "parameters": {} }).to_string();
    attach_unnamed(&object, &about).map_err(|error| Refused::algorithm(flow, format!("{}: {error}", program.title())))
}
