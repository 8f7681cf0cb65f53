//! Algorithms whose code comes with the scenario, as factories of the core.

pub mod class;
pub mod compiled;
pub mod controller;
pub mod event;
pub mod library;
pub mod progress;
mod window;

use ackclock::cc::{Algorithm, CcSpec};
use ackclock::sim::{FlowPlan, Plan};
use pyo3::prelude::*;

use controller::PythonFactory;
use library::LibraryFactory;
use progress::Cells;

/// The module of the Python package that reads, loads and describes such code.
const PACKAGE: &str = "ackclock.foreign";

/// The resources that a plan needs to run.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Needs {
    /// The interpreter, held for the whole run.
    pub interpreter: bool,
}

/// Puts the user's code into a plan.
pub fn bind(
    py: Python<'_>,
    plan: &mut Plan,
    is_chosen: impl Fn(&FlowPlan) -> bool,
    cells: &'static Cells,
) -> PyResult<Needs> {
    let mut needs = Needs::default();
    plan.bind(is_chosen, |spec| -> PyResult<Algorithm> {
        match spec {
            CcSpec::Python(class) => {
                needs.interpreter = true;
                Ok(Algorithm::new(spec.title(), PythonFactory::new(py, class, cells)?))
            }
            CcSpec::Library(library) => Ok(Algorithm::new(spec.title(), LibraryFactory::new(library, cells)?)),
            CcSpec::Bpf(program) => Ok(Algorithm::new(spec.title(), compiled::factory(program)?)),
            built_in => Ok(Algorithm::from(built_in.clone())),
        }
    })?;
    Ok(needs)
}

/// The table of a user-supplied algorithm with its code and its parameters, or the invalid key and its mistake.
pub fn complete(cc: &serde_json::Value, folder: &str) -> Result<serde_json::Value, (String, String)> {
    let wrong = |error: &dyn std::fmt::Display| (String::new(), error.to_string());
    let completed: PyResult<Result<String, (String, String)>> = Python::attach(|py| {
        let package = py.import(PACKAGE)?;
        let done = package.call_method1("complete_json", (cc.to_string(), folder))?;
        let (full, key, message): (Option<String>, String, String) = done.extract()?;
        Ok(full.ok_or((key, message)))
    });
    let text = completed.map_err(|error| wrong(&error))??;
    serde_json::from_str(&text).map_err(|error| wrong(&error))
}
