//! From documents of runs to the values of metrics.

use std::collections::BTreeMap;

use ackclock::score::{self, Better, Environment};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The metrics of every environment that the scoreboard shows, as JSON, and those that it omits.
#[pyfunction]
pub fn common_metrics_json() -> PyResult<(String, String)> {
    Ok((
        crate::catalog::to_json(&score::common())?,
        crate::catalog::to_json(&[score::goodput(), score::delay_score()])?,
    ))
}

/// The weight of each metric's regret in the default score of one environment, in percent.
///
/// `best` are the least costs of the environment by metric, and `weights` the weights of metrics.
#[pyfunction]
pub fn share_weights(
    environment: &str,
    best: BTreeMap<String, f64>,
    weights: score::Weights,
) -> PyResult<Vec<(String, f64)>> {
    let environment = read::<Environment>(environment)?;
    let by_place = |(name, cost)| (name, [(environment.id.clone(), cost)].into());
    let best: score::Best = best.into_iter().map(by_place).collect();
    let found =
        score::Objective::new(std::slice::from_ref(&environment), score::SHARES, &weights, &best, &score::Best::new());
    Ok(found.weights.into_iter().flat_map(|(_, row)| row).collect())
}

/// The names of the metrics of the default score.
#[pyfunction]
pub fn weighted_metrics() -> Vec<String> {
    score::complete(&score::Weights::new()).into_keys().collect()
}

/// The metrics of an environment, as JSON.
#[pyfunction]
pub fn metrics_of_json(environment: &str) -> PyResult<String> {
    crate::catalog::to_json(&read::<Environment>(environment)?.metrics())
}

/// The value of each metric of an environment in a run, whose document is JSON.
#[pyfunction]
pub fn values_of_run(environment: &str, document: &str) -> PyResult<Vec<f64>> {
    read::<Environment>(environment)?.values(&read(document)?).map_err(PyValueError::new_err)
}

/// The value of each metric of an environment in a run, then the queueing delay p95 in ms.
#[pyfunction]
pub fn measured_in_run(environment: &str, document: &str) -> PyResult<Vec<f64>> {
    read::<Environment>(environment)?.measured(&read(document)?).map_err(PyValueError::new_err)
}

/// How bad a value is, by which way is better.
#[pyfunction]
pub fn cost(better: &str, value: f64) -> PyResult<f64> {
    Ok(read::<Better>(&format!("{better:?}"))?.cost(value))
}

/// Whether regret in a metric of an environment is a share of the best score.
#[pyfunction]
pub fn is_relative(environment: &str, metric: &str) -> PyResult<bool> {
    Ok(read::<Environment>(environment)?.is_relative(metric))
}

/// The flows of some groups in the document of a run, where others take their part of the link.
#[pyclass(frozen, module = "ackclock._core")]
pub struct UnderTest {
    run: Value,
    groups: Vec<String>,
}

impl UnderTest {
    fn flows(&self) -> score::UnderTest<'_> {
        score::UnderTest::new(&self.run, &self.groups)
    }
}

#[pymethods]
impl UnderTest {
    #[new]
    fn new(document: &str, groups: Vec<String>) -> PyResult<Self> {
        Ok(UnderTest { run: read(document)?, groups })
    }

    /// Goodput over the capacity that datagrams and other transfers leave. It may exceed one if these lose packets.
    #[pyo3(signature = (taken = "offered_bps"))]
    fn goodput_fraction(&self, taken: &str) -> Option<f64> {
        self.flows().goodput_fraction(taken)
    }

    /// Segments lost over segments sent, all flows together, or 0 without segments.
    #[getter]
    fn loss_rate(&self) -> f64 {
        self.flows().loss_rate()
    }

    /// Mean queueing delay of data packets on their paths, over all flows, or 0 without arrivals.
    #[getter]
    fn queue_delay_mean_s(&self) -> f64 {
        self.flows().queue_delay_mean_s()
    }

    /// Jain's index of the goodputs, 1 where all are zero.
    #[getter]
    fn jain_index(&self) -> f64 {
        self.flows().jain_index()
    }

    /// (max - min) / mean of the goodputs, 0 where all are zero.
    #[getter]
    fn spread(&self) -> f64 {
        self.flows().spread()
    }
}

pub fn read<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}
