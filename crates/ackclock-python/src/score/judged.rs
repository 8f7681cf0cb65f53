//! Judges an algorithm against others by the values of runs.

use std::collections::BTreeMap;

use ackclock::score::{self, Board, Costs, EnvironmentResult, Metric, Score, Table};
use pyo3::prelude::*;

use super::estimates::Estimate;
use super::runs::read;
use ackclock::score::Environment;

/// Values per replicate, their estimate, the difference of costs to the reference.
type Scored = (Vec<f64>, Estimate, Option<Estimate>);

/// Scores `runs[candidate][replicate][metric]` of an environment: `[candidate][metric]`.
#[pyfunction]
pub fn scores(
    environment: &str,
    runs: Vec<Vec<Vec<f64>>>,
    reference: usize,
    exact: bool,
) -> PyResult<Vec<Vec<Scored>>> {
    let metrics = read::<Environment>(environment)?.metrics();
    let found = score::scores(&metrics, &runs, reference, exact);
    let told = |each: Score| (each.values, each.value.into(), each.cost_difference.map(Estimate::from));
    Ok(found.into_iter().map(|row| row.into_iter().map(told).collect()).collect())
}

/// Which differences count: significant after Holm's correction for all of them, and at least as large as given.
#[pyfunction]
pub fn that_count(differences: Vec<(Estimate, f64)>) -> Vec<bool> {
    let family: Vec<_> = differences.into_iter().map(|(difference, least)| (difference.into(), least)).collect();
    score::that_count(&family)
}

/// The regret of one candidate in one metric. Environments are given by their places.
#[pyclass(frozen, get_all, module = "ackclock._core")]
pub struct FoundRegret {
    worst_case: Estimate,
    total: Estimate,
    worst: usize,
    by_environment: Vec<f64>,
    /// Algorithms, then mean and 95 % quantile of the worst case and of the total.
    noise_floor: Option<Noise>,
    drawn_worst_case: Vec<f64>,
    drawn_total: Vec<f64>,
}

/// How many algorithms, then mean and 95 % quantile of the worst case and of the total.
type Noise = (usize, f64, f64, f64, f64);

fn noise(found: score::NoiseFloor) -> Noise {
    (found.algorithms, found.worst_case_mean, found.worst_case_high, found.total_mean, found.total_high)
}

/// The regret of each candidate. `costs` are by environment, candidate and replicate.
#[pyfunction]
#[pyo3(signature = (costs, *, best, best_costs, paired, relative, algorithms, reference_costs, reference))]
#[allow(clippy::too_many_arguments)]
pub fn regrets(
    costs: Vec<Vec<Vec<f64>>>,
    best: Option<Vec<f64>>,
    best_costs: Option<Vec<Vec<f64>>>,
    paired: bool,
    relative: Vec<bool>,
    algorithms: usize,
    reference_costs: Option<Vec<Vec<f64>>>,
    reference: usize,
) -> Vec<FoundRegret> {
    let table = Table { costs, best, best_costs, paired, relative, algorithms, reference_costs, reference };
    score::regrets(&table)
        .into_iter()
        .map(|found| FoundRegret {
            worst_case: found.worst_case.into(),
            total: found.total.into(),
            worst: found.worst,
            by_environment: found.by_environment,
            noise_floor: found.noise_floor.map(noise),
            drawn_worst_case: found.drawn_worst_case,
            drawn_total: found.drawn_total,
        })
        .collect()
}

/// The regret of an algorithm among equal competitors.
#[pyfunction]
pub fn noise_floor(costs: Vec<Vec<f64>>, rivals: usize) -> Noise {
    let units = vec![1.0; costs.len()];
    noise(score::noise_floor(&costs, rivals, &units, None, false))
}

/// The largest mean costs over algorithms, by metric and environment.
#[pyfunction]
pub fn worst_costs(every: Vec<Costs>) -> BTreeMap<String, BTreeMap<String, f64>> {
    score::worst_of(every.iter())
}

/// The costs per replicate of the algorithm with the least mean cost, by environment and metric.
#[pyfunction]
pub fn costs_of_best(every: Vec<Costs>) -> Costs {
    score::costs_of_best(&every)
}

/// The least difference of scores that a sentence is worth.
#[pyfunction]
pub fn least_difference(metric: &str) -> f64 {
    score::least_difference(metric)
}

/// The sentence on a scoreboard.
#[pyfunction]
pub fn verdict(board: GivenBoard) -> PyResult<String> {
    Ok(score::verdict(&board.read()?))
}

/// The places of environment and metric in which the first candidate is most clearly worse.
#[pyfunction]
pub fn worst_result(board: GivenBoard) -> PyResult<Option<(usize, usize)>> {
    Ok(score::worst(&board.read()?))
}

/// A scoreboard as Python has it.
#[derive(FromPyObject)]
pub struct GivenBoard {
    candidates: Vec<GivenCandidate>,
    reference: usize,
    results: Vec<GivenResult>,
}

#[derive(FromPyObject)]
struct GivenCandidate {
    label: String,
}

#[derive(FromPyObject)]
struct GivenResult {
    environment: GivenEnvironment,
    metrics: Vec<GivenMetric>,
    scores: Vec<Vec<GivenScore>>,
    exact: bool,
}

#[derive(FromPyObject)]
struct GivenEnvironment {
    title: String,
}

#[derive(FromPyObject)]
struct GivenMetric {
    name: String,
    label: String,
    unit: String,
    better: String,
    digits: usize,
}

#[derive(FromPyObject)]
struct GivenScore {
    values: Vec<f64>,
    value: Estimate,
    cost_difference: Option<Estimate>,
}

impl GivenBoard {
    fn read(self) -> PyResult<Board> {
        let results = self.results.into_iter().map(GivenResult::read).collect::<PyResult<_>>()?;
        let labels = self.candidates.into_iter().map(|candidate| candidate.label).collect();
        Ok(Board { labels, reference: self.reference, results })
    }
}

impl GivenResult {
    fn read(self) -> PyResult<EnvironmentResult> {
        let metric = |given: GivenMetric| {
            Ok(Metric {
                better: read(&format!("{:?}", given.better))?,
                name: given.name,
                label: given.label,
                unit: given.unit,
                digits: given.digits,
            })
        };
        let score = |given: GivenScore| Score {
            values: given.values,
            value: given.value.into(),
            cost_difference: given.cost_difference.map(score::Estimate::from),
        };
        Ok(EnvironmentResult {
            title: self.environment.title,
            metrics: self.metrics.into_iter().map(metric).collect::<PyResult<_>>()?,
            scores: self.scores.into_iter().map(|row| row.into_iter().map(score).collect()).collect(),
            exact: self.exact,
        })
    }
}
