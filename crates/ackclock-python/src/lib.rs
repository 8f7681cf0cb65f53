//! Python binding of the core library, without simulation logic.

mod cancel;
mod capture_file;
mod catalog;
mod emulator;
mod episode;
mod error;
mod exchange;
mod foreign;
mod model;
mod queue;
mod run;
mod scenario;
mod score;
mod table;

use pyo3::prelude::*;

/// The compiled half of the Python package `ackclock`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    const VERSION: &str = ackclock::VERSION;
    #[pymodule_export]
    const BUILD: &str = env!("ACKCLOCK_BUILD");
    #[pymodule_export]
    const CONFIDENCE: f64 = ackclock::score::CONFIDENCE;
    #[pymodule_export]
    const RESAMPLES: usize = ackclock::score::RESAMPLES;
    #[pymodule_export]
    const STARVED: f64 = ackclock::score::STARVED;
    #[pymodule_export]
    const FAIR: f64 = ackclock::score::FAIR;

    #[pymodule_export]
    use crate::cancel::Cancel;
    #[pymodule_export]
    use crate::capture_file::CaptureFile;
    #[pymodule_export]
    use crate::catalog::{keys_json, kind_of_code, label_json, list_json, metrics_json, rule_json, schema_json};
    #[pymodule_export]
    use crate::emulator::enter_user_namespace;
    #[pymodule_export]
    use crate::episode::Episodes;
    #[pymodule_export]
    use crate::error::{BackendError, CaptureError, Interrupted, Overdue, RunError, ScenarioError};
    #[pymodule_export]
    use crate::exchange::exchange_json;
    #[pymodule_export]
    use crate::foreign::class::CongestionControl;
    #[pymodule_export]
    use crate::foreign::compiled::{
        KernelLink, compile_rule, describe_bpf, kernel_attach, kernel_list, kernel_load, kernel_unload,
    };
    #[pymodule_export]
    use crate::foreign::event::{Ack, Congestion, Event, Loss, Recovery, Sent};
    #[pymodule_export]
    use crate::foreign::library::describe_library;
    #[pymodule_export]
    use crate::foreign::progress::{callback_limit_s, callback_names, share_progress};
    #[pymodule_export]
    use crate::model::model_json;
    #[pymodule_export]
    use crate::queue::{queue_json, serve_kernel_queue, serve_queue};
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::score::estimates::{
        Estimate, compared, estimate, paired_difference, quantile, reflected_estimate, resampled_means, share_text,
        student_t_quantile,
    };
    #[pymodule_export]
    use crate::score::judged::{
        FoundRegret, costs_of_best, least_difference, noise_floor, regrets, scores, that_count, verdict, worst_costs,
        worst_result,
    };
    #[pymodule_export]
    use crate::score::race::{BudgetError, Race};
    #[pymodule_export]
    use crate::score::runs::{
        UnderTest, common_metrics_json, cost, is_relative, measured_in_run, metrics_of_json, share_weights,
        values_of_run, weighted_metrics,
    };
    #[pymodule_export]
    use crate::table::Table;
}
