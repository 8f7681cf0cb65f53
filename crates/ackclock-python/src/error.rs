//! Exceptions, and the one place where errors of the core become exceptions.

use ackclock::{scenario, sim};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    ackclock._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be used; the message has the place."
);
create_exception!(ackclock._core, Interrupted, PyException, "A run was told to stop.");
create_exception!(
    ackclock._core,
    RunError,
    PyException,
    "A run that would take too much memory; the message has the flow and the time."
);

/// An error of the core that has an exception of its own.
pub enum Error {
    /// A mistake in a scenario.
    Scenario(scenario::ScenarioError),
    /// A run that did not come to its end.
    Run(sim::RunError),
}

impl From<scenario::ScenarioError> for Error {
    fn from(error: scenario::ScenarioError) -> Self {
        Error::Scenario(error)
    }
}

impl From<sim::RunError> for Error {
    fn from(error: sim::RunError) -> Self {
        Error::Run(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Scenario(error) => ScenarioError::new_err(error.to_string()),
            Error::Run(error @ sim::RunError::Interrupted) => Interrupted::new_err(error.to_string()),
            Error::Run(error) => RunError::new_err(error.to_string()),
        }
    }
}
