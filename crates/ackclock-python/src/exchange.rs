//! Exchange scripts: text in, a report out.

use pyo3::prelude::*;

/// Runs the exchange script `text`, called `name` in messages, without holding the GIL; the report as JSON.
#[pyfunction]
pub fn exchange_json(py: Python<'_>, text: &str, name: &str) -> String {
    py.detach(|| ackclock::exchange::json(text, name))
}
