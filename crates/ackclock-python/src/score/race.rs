//! Races: the rounds of an evaluation, and its document.

use ackclock::score::{self, Failure, Notes, Results};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use super::runs::read;

/// Values by replicate and metric, with the places of environment and algorithm.
type Values = (usize, usize, Vec<Vec<f64>>);
/// The places of environment and algorithm, the replicate, and the message.
type Failed = (usize, usize, usize, String);

/// A race of candidates alongside the panel of a suite. `suite` and `plan` are JSON.
#[pyclass(module = "ackclock._core")]
pub struct Race(Option<score::Race>);

#[pymethods]
impl Race {
    #[new]
    fn new(suite: &str, plan: &str) -> PyResult<Self> {
        let race = score::Race::new(read(suite)?, read(plan)?);
        Ok(Race(Some(race.map_err(|work| BudgetError::new_err((work,)))?)))
    }

    /// The replicates of the next round and the places of its algorithms. None if the race is over.
    fn wanted(&self) -> PyResult<Option<(usize, Vec<usize>)>> {
        let race = self.0.as_ref().ok_or_else(over)?;
        Ok(race.wanted().map(|each| (each.replicates, each.algorithms)))
    }

    /// Takes the runs of the wanted round.
    fn add(&mut self, values: Vec<Values>, failures: Vec<Failed>) -> PyResult<()> {
        let failure =
            |(environment, algorithm, replicate, message)| Failure { environment, algorithm, replicate, message };
        let results = Results::new(values, failures.into_iter().map(failure).collect());
        self.0.as_mut().ok_or_else(over)?.add(results);
        Ok(())
    }

    /// Ends the race. The result is JSON with the `document` and the `overview` of the evaluation.
    fn evaluation_json(&mut self, py: Python<'_>, notes: &str) -> PyResult<String> {
        let (race, notes) = (self.0.take().ok_or_else(over)?, read::<Notes>(notes)?);
        let told = |race: score::Race| {
            let found = score::Evaluation::new(race, notes);
            json!({ "document": found.document(), "overview": found.overview() }).to_string()
        };
        Ok(py.detach(|| told(race)))
    }
}

fn over() -> PyErr {
    PyValueError::new_err("the race is over")
}

pyo3::create_exception!(
    ackclock._core,
    BudgetError,
    PyValueError,
    "The first round exceeds the budget. The argument is its work."
);
