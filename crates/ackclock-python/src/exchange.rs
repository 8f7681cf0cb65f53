//! Exchange scripts: text in, a report out.

use std::path::{Path, PathBuf};

use ackclock::exchange::Report;
use ackclock::transport::Profile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;

/// Runs the exchange script `text` without holding the GIL, and returns the report as JSON. `name` is the script's
/// name in messages, and `profile` gives its first settings. With `kernel`, the script runs against that kernel in
/// virtual time.
#[pyfunction]
#[pyo3(signature = (text, name, profile, kernel=None))]
pub fn exchange_json(
    py: Python<'_>,
    text: &str,
    name: &str,
    profile: &str,
    kernel: Option<PathBuf>,
) -> PyResult<String> {
    let known = Profile::ALL.iter().find(|(known, _)| *known == profile);
    let Some((_, profile)) = known else {
        let names: Vec<_> = Profile::ALL.iter().map(|(known, _)| *known).collect();
        return Err(PyValueError::new_err(format!("unknown profile `{profile}`; there are {}", names.join(", "))));
    };
    let report = py.detach(|| match &kernel {
        Some(kernel) => in_kernel(text, *profile, kernel),
        None => Ok(ackclock::exchange::run(text, *profile)),
    });
    Ok(report?.to_json(name))
}

#[cfg(target_os = "linux")]
fn in_kernel(text: &str, profile: Profile, kernel: &Path) -> Result<Report, Error> {
    ackclock_kernel::exchange::run(text, profile, kernel).map_err(|error| Error::Backend(error.to_string()))
}

/// There is none.
#[cfg(not(target_os = "linux"))]
fn in_kernel(_text: &str, _profile: Profile, _kernel: &Path) -> Result<Report, Error> {
    Err(Error::Backend("this build of ackclock has no backend kernel: it needs Linux".to_owned()))
}
