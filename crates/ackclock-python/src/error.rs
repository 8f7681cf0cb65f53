//! Exceptions, and the one place where errors of the core become exceptions.

use ackclock::sim;
use ackclock::sim::CaptureError as NoCapture;
use pyo3::create_exception;
use pyo3::exceptions::{PyBaseException, PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    ackclock._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be used; the message has the place."
);
create_exception!(ackclock._core, Interrupted, PyException, "A run was cancelled.");
create_exception!(
    ackclock._core,
    Overdue,
    PyBaseException,
    "Raised in a callback that takes no end; no callback should catch it."
);
create_exception!(
    ackclock._core,
    RunError,
    PyException,
    "A run that would take too much memory; the message has the flow and the time."
);

create_exception!(
    ackclock._core,
    BackendError,
    PyException,
    "The backend lacks a feature, or the system does not permit it."
);
create_exception!(
    ackclock._core,
    CaptureError,
    PyValueError,
    "A capture of a missing item. Its arguments are `link` or `flow`, the name, and the existing names."
);

/// An error of the core that has an exception of its own.
pub enum Error {
    /// A mistake in a scenario.
    Scenario(ackclock_scenario::ScenarioError),
    /// A run that did not come to its end.
    Run(sim::RunError),
    /// A backend that cannot run it.
    Backend(String),
}

impl From<ackclock_scenario::ScenarioError> for Error {
    fn from(error: ackclock_scenario::ScenarioError) -> Self {
        Error::Scenario(error)
    }
}

impl From<sim::RunError> for Error {
    fn from(error: sim::RunError) -> Self {
        Error::Run(error)
    }
}

/// The exception, with its mistakes one by one as its attribute `mistakes_json`.
fn scenario_error(error: &ackclock_scenario::ScenarioError) -> PyErr {
    let mistakes: Vec<_> = error
        .mistakes()
        .iter()
        .map(|mistake| {
            serde_json::json!({
                "file": ackclock_scenario::printable(mistake.file()),
                "line": mistake.line(),
                "set": mistake.set().map(ackclock_scenario::printable),
                "key": ackclock_scenario::printable(mistake.path()),
                "message": ackclock_scenario::printable(&mistake.problem().to_string()),
            })
        })
        .collect();
    let document = serde_json::json!({ "mistakes": mistakes, "more": error.more() }).to_string();
    let exception = ScenarioError::new_err(error.to_string());
    Python::attach(|py| match exception.value(py).setattr("mistakes_json", document) {
        Ok(()) => exception.clone_ref(py),
        Err(failure) => failure,
    })
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Scenario(error) => scenario_error(&error),
            Error::Run(error @ sim::RunError::Interrupted) => Interrupted::new_err(error.to_string()),
            Error::Run(error @ sim::RunError::NeedsKernel { .. }) => BackendError::new_err(error.to_string()),
            Error::Run(error) => RunError::new_err(error.to_string()),
            Error::Backend(message) => BackendError::new_err(message),
        }
    }
}

/// The exception.
pub fn capture_error(error: NoCapture) -> PyErr {
    match error {
        NoCapture::Link { known } => CaptureError::new_err(("link", None::<String>, known)),
        NoCapture::Flow { name, known } => CaptureError::new_err(("flow", Some(name), known)),
        NoCapture::NothingPasses => CaptureError::new_err(("passes", None::<String>, Vec::<String>::new())),
    }
}
