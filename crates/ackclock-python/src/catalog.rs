//! The parts of scenarios: the schema, its keys, and all names.

use ackclock::cc::{CcSpec, RuleSource};
use ackclock_scenario::{CATALOGS, Hint, catalog, document_schema, keys, kind_of_file, printable};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::ScenarioError;

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

/// The algorithm that a rule on one line is, as JSON of the table `cc`.
#[pyfunction]
pub fn rule_json(line: &str) -> PyResult<String> {
    let source = RuleSource::from_line(line)
        .map_err(|error| ScenarioError::new_err(printable(&format!("rule: {}", error.in_one_line()))))?;
    to_json(&CcSpec::Rule(source.into()))
}

/// The table of a name or of a label such as `codel(target=10 ms)`, as JSON. `first` is the key of a first value
/// without a key.
#[pyfunction]
#[pyo3(signature = (text, first = None))]
pub fn label_json(text: &str, first: Option<&str>) -> PyResult<String> {
    ackclock_scenario::label_json(text, first).map_err(PyValueError::new_err)
}

/// The kind of the algorithm in a file and the key that names the file, by the file's name. Other names give none.
#[pyfunction]
pub fn kind_of_code(name: &str) -> Option<(&'static str, &'static str)> {
    kind_of_file(name)
}

/// JSON of something whose serialisation cannot fail but for a mistake in it.
pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
