//! Exchange scripts: text in, a report out.

use ackclock::transport::Profile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs the exchange script `text` without holding the GIL, and returns the report as JSON. `name` is the script's
/// name in messages, and `profile` gives its first settings.
#[pyfunction]
pub fn exchange_json(py: Python<'_>, text: &str, name: &str, profile: &str) -> PyResult<String> {
    let known = Profile::ALL.iter().find(|(known, _)| *known == profile);
    let Some((_, profile)) = known else {
        let names: Vec<_> = Profile::ALL.iter().map(|(known, _)| *known).collect();
        return Err(PyValueError::new_err(format!("there is no profile `{profile}`; there are {}", names.join(", "))));
    };
    Ok(py.detach(|| ackclock::exchange::run(text, *profile).to_json(name)))
}
