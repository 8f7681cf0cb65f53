//! Congestion controls of a plan in a guest. The kernel's own have names. All others are programs of eBPF.

use std::collections::BTreeMap;
use std::path::Path;

use ackclock::sim::{FlowPlan, Plan};
use ackclock_bpf::BpfObject;
use ackclock_bpf::guest::{GuestTypes, record};
use ackclock_linux::InKernel;

use crate::error::KernelError;

/// The congestion controls of a plan.
#[derive(Debug, Default)]
pub struct Algorithms {
    /// With their names in the guest, and the objects of those that the kernel lacks.
    known: Vec<(InKernel, String, Option<BpfObject>)>,
    /// By flow.
    of_flows: Vec<usize>,
}

/// The congestion control that a flow uses in a guest.
///
/// # Errors
/// If there is none that does the same.
pub fn of(flow: &FlowPlan) -> Result<InKernel, KernelError> {
    let message = |error: ackclock_linux::EmulationError| match error {
        ackclock_linux::EmulationError::Refused { key, message } => KernelError::Refused { key, message },
        other => refused(flow, other.to_string()),
    };
    InKernel::of(flow, "kernel").map_err(message)
}

fn refused(flow: &FlowPlan, message: String) -> KernelError {
    KernelError::Refused { key: format!("flows.{}.cc", flow.group), message }
}

impl Algorithms {
    /// Reads the congestion controls that the kernel lacks. `folder` contains the objects of ours.
    ///
    /// # Errors
    /// One that cannot be read.
    pub fn read(plan: &Plan, folder: &Path) -> Result<Self, KernelError> {
        let mut all = Algorithms::default();
        for flow in &plan.flows {
            let wanted = of(flow)?;
            let place = match all.known.iter().position(|(known, ..)| *known == wanted) {
                Some(place) => place,
                None => {
                    let (name, object) = match &wanted {
                        InKernel::Own(name) => ((*name).to_owned(), None),
                        program => {
                            let object = program.object(folder).map_err(|message| refused(flow, message))?;
                            (format!("ackclock{}", all.known.len()), Some(object))
                        }
                    };
                    all.known.push((wanted, name, object));
                    all.known.len() - 1
                }
            };
            all.of_flows.push(place);
        }
        Ok(all)
    }

    /// The names of the flows' congestion controls in the guest.
    pub fn names(&self) -> Vec<&str> {
        self.of_flows.iter().map(|place| &*self.known[*place].1).collect()
    }

    /// The records that register those that the kernel lacks.
    ///
    /// # Errors
    /// One that does not run in a guest.
    pub fn records(&self, plan: &Plan, types: &GuestTypes) -> Result<Vec<Vec<u8>>, KernelError> {
        let programs = self.known.iter().enumerate().filter_map(|(place, (wanted, name, object))| {
            let object = object.as_ref()?;
            let flow = self.of_flows.iter().position(|other| *other == place)?;
            let title = wanted.title();
            Some(record(object, name, types).map_err(|error| refused(&plan.flows[flow], format!("{title}: {error}"))))
        });
        programs.collect()
    }

    /// The congestion control of each group of flows, for users.
    pub fn titles(&self, plan: &Plan) -> BTreeMap<String, String> {
        let rows = plan.flows.iter().zip(&self.of_flows);
        rows.map(|(flow, place)| (flow.group.to_string(), self.known[*place].0.title())).collect()
    }
}
