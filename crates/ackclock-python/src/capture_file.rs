//! Captures made elsewhere: files of pcap and pcapng, and the TCP connections in them.

use std::path::Path;

use ackclock::units::Instant;
use ackclock_pcap::{Capture, NoCapture};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::catalog::to_json;

/// A capture: a file, or the captured packets of a run.
#[pyclass(frozen, module = "ackclock._core")]
pub struct CaptureFile {
    capture: Capture,
}

#[pymethods]
impl CaptureFile {
    /// Reads a file, given by its path or its bytes, for the connections in it.
    #[new]
    #[pyo3(signature = (path = None, content = None))]
    fn new(py: Python<'_>, path: Option<String>, content: Option<Vec<u8>>) -> PyResult<Self> {
        let read = match (path, content) {
            (Some(path), None) => py.detach(|| Capture::from_file(Path::new(&path))),
            (None, Some(content)) => py.detach(|| Capture::from_bytes(content)),
            _ => return Err(PyValueError::new_err("give a path or the content")),
        };
        let capture = read.map_err(|error| match error {
            NoCapture::Unreadable(error) => PyErr::from(error),
            error => PyValueError::new_err(error.to_string()),
        })?;
        Ok(CaptureFile { capture })
    }

    /// Packets, those that are left out and why, how the file ends, and the connections, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        to_json(&self.capture.summary())
    }

    /// The measurements of the connection with this number, from 0, at its sender, as JSON.
    ///
    /// Raises `ValueError` where it shows nothing.
    fn observe_json(&self, py: Python<'_>, flow: usize) -> PyResult<String> {
        let seen = py.detach(|| self.capture.observe(flow));
        to_json(&seen.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }

    /// The time-sequence plot of a connection, by its number from 0, as JSON. Times count from its first packet.
    ///
    /// Raises `ValueError` where it has no data.
    fn sequence_json(&self, py: Python<'_>, flow: usize, from_ns: u64, to_ns: u64) -> PyResult<String> {
        let within = Instant::from_nanos(from_ns)..Instant::from_nanos(to_ns);
        let plot = py.detach(|| self.capture.sequence(flow, &within));
        to_json(&plot.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }
}
