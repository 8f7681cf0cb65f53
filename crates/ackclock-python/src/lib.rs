//! Python binding of the core library; holds no simulation logic.

mod cancel;
mod catalog;
mod error;
mod exchange;
mod model;
mod queue;
mod run;
mod scenario;
mod table;

use pyo3::prelude::*;

/// The compiled half of the Python package `ackclock`.
#[pymodule]
mod _core {
    #[pymodule_export]
    const VERSION: &str = ackclock::VERSION;
    #[pymodule_export]
    const BUILD: &str = env!("ACKCLOCK_BUILD");

    #[pymodule_export]
    use crate::cancel::Cancel;
    #[pymodule_export]
    use crate::catalog::{keys_json, list_json, metrics_json, schema_json};
    #[pymodule_export]
    use crate::error::{Interrupted, RunError, ScenarioError};
    #[pymodule_export]
    use crate::exchange::exchange_json;
    #[pymodule_export]
    use crate::model::model_json;
    #[pymodule_export]
    use crate::queue::serve_queue;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::table::Table;
}
