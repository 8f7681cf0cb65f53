//! The synchronous model: a request in, an answer out, both JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Answers a request to the model, without holding the GIL. `ackclock::model::json` defines both sides.
#[pyfunction]
pub fn model_json(py: Python<'_>, request: &str) -> PyResult<String> {
    py.detach(|| ackclock::model::json(request)).map_err(|error| PyValueError::new_err(error.to_string()))
}
