//! Python binding of the core library; holds no simulation logic.

use pyo3::prelude::*;

/// The compiled half of the Python package `ackclock`.
#[pymodule]
mod _core {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
