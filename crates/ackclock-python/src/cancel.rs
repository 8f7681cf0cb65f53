//! The switch that stops a run from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// A switch that stops runs: pass it to `Scenario.run`, call `set()` from any thread.
#[pyclass(frozen, module = "ackclock._core")]
#[derive(Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops every run that was given this object, now or later.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// True after `set()`.
    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

impl Cancel {
    /// The flag that the engine checks.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}
