//! Scenarios: read, described, run.

use std::path::Path;

use pyo3::prelude::*;

use crate::cancel::Cancel;
use crate::catalog::to_json;
use crate::error::Error;
use crate::run::Run;

/// A checked scenario.
#[pyclass(frozen, module = "ackclock._core")]
pub struct Scenario {
    inner: ackclock::scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// Reads TOML; `source` is the file's name in messages, `sets` are `KEY=VALUE` texts as of `--set`.
    #[staticmethod]
    #[pyo3(signature = (text, source = "<string>", sets = Vec::new()))]
    fn from_toml(text: &str, source: &str, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: ackclock::scenario::Scenario::from_toml_with(text, source, &sets, &beside(source))? })
    }

    /// Reads the same tree from JSON.
    #[staticmethod]
    #[pyo3(signature = (text, source = "<string>", sets = Vec::new()))]
    fn from_json(text: &str, source: &str, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: ackclock::scenario::Scenario::from_json_with(text, source, &sets, &beside(source))? })
    }

    /// This scenario with some keys changed.
    fn with_sets(&self, sets: Vec<String>) -> Result<Self, Error> {
        Ok(Scenario { inner: self.inner.with_sets_and(&sets, &beside(self.inner.source()))? })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The canonical hash: equal for scenarios that give equal results; name and seed do not count.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash()
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed()
    }

    /// True if replicates differ.
    #[getter]
    fn is_random(&self) -> bool {
        self.inner.is_random()
    }

    /// Warnings: properties to check before trusting a result.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    /// The resolved scenario as JSON that reads back as the same scenario.
    fn resolved_json(&self) -> String {
        self.inner.resolved_json()
    }

    /// Links, flows and random inputs in full, as JSON; of `most` flows a group, or all.
    #[pyo3(signature = (most = None))]
    fn describe_json(&self, py: Python<'_>, most: Option<u32>) -> PyResult<String> {
        py.detach(|| to_json(&self.inner.describe_first(most.unwrap_or(u32::MAX))))
    }

    /// Runs one replicate, without holding the GIL. Ctrl-C in the main thread ends it.
    ///
    /// Without `samples` nothing is sampled over time, whatever the scenario says; the other results are the same.
    #[pyo3(signature = (seed = None, replicate = 0, cancel = None, *, samples = true))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        replicate: u64,
        cancel: Option<&Cancel>,
        samples: bool,
    ) -> PyResult<Run> {
        let flag = cancel.map(Cancel::flag).unwrap_or_default();
        let mut plan = py.detach(|| self.inner.plan(seed, replicate));
        if !samples {
            plan.sampling.interval = None;
        }
        Run::execute(py, &plan, &flag, |outcome| Run {
            scenario: self.inner.name().to_owned(),
            scenario_hash: self.inner.hash(),
            seed: seed.unwrap_or_else(|| self.inner.seed()),
            replicate,
            duration_s: plan.duration.as_secs_f64(),
            outcome,
        })
    }

    fn __repr__(&self) -> String {
        format!("Scenario(name={:?}, hash={:?})", self.inner.name(), self.inner.hash())
    }
}

/// Reads files by names that are relative to the folder of `source`.
fn beside(source: &str) -> impl Fn(&str) -> Result<String, String> {
    let folder = Path::new(source).parent().unwrap_or(Path::new("")).to_owned();
    move |name| {
        let bytes = std::fs::read(folder.join(name)).map_err(|error| format!("cannot be read: {error}"))?;
        String::from_utf8(bytes).map_err(|_| "is not text; a trace has a number in every line".to_owned())
    }
}
