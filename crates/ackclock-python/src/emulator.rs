//! Runs with the TCP of a kernel, in real time or in virtual time, on systems that have it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use ackclock::sim::Plan;
use pyo3::prelude::*;

use crate::error::Error;
use crate::run::Outcome;

/// Shell commands that replace the flows of a group: the group, the senders' command, and the receivers' command.
pub type Programs = Option<(String, String, Option<String>)>;

/// A kernel in virtual time: its image, its name for users, and modules by the text of their source.
pub type Kernel = Option<(PathBuf, String, BTreeMap<String, PathBuf>)>;

/// The inputs of an emulation in addition to its plan.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is emulated"))]
pub struct Needed {
    pub programs: Programs,
    pub snaplen: u32,
    /// The folder with compiled objects.
    pub objects: PathBuf,
    pub kernel: Kernel,
}

/// Runs a plan with the TCP of a given kernel in virtual time, or with the running kernel.
#[cfg(target_os = "linux")]
pub fn emulated(plan: &Plan, needed: Needed, stop: &AtomicBool) -> Result<Outcome, Error> {
    match needed.kernel.clone() {
        Some((kernel, title, modules)) => {
            let Needed { objects, snaplen, .. } = needed;
            let image = ackclock_kernel::Image { kernel, objects, modules, snaplen: snaplen as usize };
            in_virtual_time(plan, &image, &title, stop)
        }
        None => in_real_time(plan, needed, stop),
    }
}

#[cfg(target_os = "linux")]
fn in_virtual_time(
    plan: &Plan,
    image: &ackclock_kernel::Image,
    title: &str,
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    use ackclock::sim::RunError;
    use ackclock_kernel::{KernelError, KernelRun, run};

    let done = run(plan, image, stop).map_err(|error| match error {
        KernelError::Interrupted => Error::Run(RunError::Interrupted),
        other => Error::Backend(other.to_string()),
    })?;
    let KernelRun { result, capture, algorithms, cpu } = done;
    let emulation = serde_json::json!({
        "valid": true,
        "reasons": [],
        "kernel": title,
        "algorithms": algorithms,
    });
    Ok(Outcome::new(result, cpu.as_secs_f64(), Some(("kernel", emulation, capture))))
}

#[cfg(target_os = "linux")]
fn in_real_time(plan: &Plan, needed: Needed, stop: &AtomicBool) -> Result<Outcome, Error> {
    use ackclock::sim::RunError;
    use ackclock_linux::{Emulation, EmulationError, Options, run};

    let Needed { programs, snaplen, objects, .. } = needed;
    let programs = programs.map(|(group, command, server)| ackclock_linux::Programs { group, command, server });
    let done =
        run(plan, &Options { programs, snaplen: snaplen as usize, objects }, stop).map_err(|error| match error {
            EmulationError::Interrupted => Error::Run(RunError::Interrupted),
            other => Error::Backend(other.to_string()),
        })?;
    let Emulation { result, fidelity, forwarding_cpu, capture, algorithms, program } = done;
    let mut emulation = serde_json::to_value(fidelity).map_err(|error| Error::Backend(error.to_string()))?;
    emulation["algorithms"] = serde_json::to_value(algorithms).map_err(|error| Error::Backend(error.to_string()))?;
    if let Some(status) = program {
        emulation["program_exit"] = status.code().into();
    }
    Ok(Outcome::new(result, forwarding_cpu.as_secs_f64(), Some(("linux", emulation, capture))))
}

/// There is none.
#[cfg(not(target_os = "linux"))]
pub fn emulated(_plan: &Plan, _needed: Needed, _stop: &AtomicBool) -> Result<Outcome, Error> {
    Err(Error::Backend("this build of ackclock has no backend linux: it needs a Linux kernel".to_owned()))
}

/// Makes this process root of a user namespace of its own, so that it may emulate.
///
/// It must have one thread only. Raises `BackendError` where the system does not allow it, or has no such thing.
#[pyfunction]
pub fn enter_user_namespace() -> PyResult<()> {
    #[cfg(target_os = "linux")]
    let entered = ackclock_linux::enter_user_namespace().map_err(|error| error.to_string());
    #[cfg(not(target_os = "linux"))]
    let entered: Result<(), String> = Err("there are none on this system".to_owned());
    Ok(entered.map_err(Error::Backend)?)
}
