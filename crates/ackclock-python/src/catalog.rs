//! What scenarios are made of: the schema, its keys, and everything that has a name.

use ackclock::scenario::{CATALOGS, Hint, catalog, document_schema, keys};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The entries of the list `kind` (cc, recovery, queue, loss, traffic, topology) as JSON.
#[pyfunction]
pub fn list_json(kind: &str) -> PyResult<String> {
    let entries = catalog(kind)
        .ok_or_else(|| PyValueError::new_err(format!("unknown list \"{kind}\"; {}", Hint::for_name(kind, CATALOGS))))?;
    to_json(&entries)
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema_json() -> PyResult<String> {
    to_json(document_schema())
}

/// Every key of a scenario with type, default and help, as JSON.
#[pyfunction]
pub fn keys_json() -> PyResult<String> {
    to_json(&keys())
}

/// Every metric of the results with unit, label and definition, as JSON.
#[pyfunction]
pub fn metrics_json() -> PyResult<String> {
    to_json(&ackclock::sim::metrics())
}

/// JSON of something whose serialisation cannot fail but for a mistake in it.
pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
