//! Judges an algorithm against others by the values of runs.

use std::collections::BTreeMap;

use ackclock::score::{
    self, Algorithm, Beside, Best, Board, Contender, Costs, EnvironmentResult, Metric, Neighbours, Objective, Rival,
    Score, Table,
};
use pyo3::prelude::*;

use super::estimates::Estimate;
use super::runs::read;
use ackclock::score::Environment;

/// Values per replicate, their estimate, the difference of costs to the reference.
type Scored = (Vec<f64>, Estimate, Option<Estimate>);
/// The contribution of each environment to a score, per replicate or by metric.
type ByName<T> = Vec<(String, T)>;
/// A competitor: its place, the difference of scores, the ratio of delays, the places of environments with its flows.
type FoundRival = (usize, Option<Estimate>, Option<f64>, Vec<usize>);
/// An environment with flows of a competitor: its title, the share of the competitor and the share of the candidate.
type Shares = (String, Estimate, Estimate, f64);

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

/// The regret of an algorithm among so many that equal it.
#[pyfunction]
pub fn noise_floor(costs: Vec<Vec<f64>>, rivals: usize) -> Noise {
    let units = vec![1.0; costs.len()];
    noise(score::noise_floor(&costs, rivals, &units, None, false))
}

/// Heading and digits of a score, and the weight of a unit of regret by environment and metric.
#[pyfunction]
pub fn objective(
    environments: Vec<String>,
    metric: &str,
    best: Best,
    worst: Best,
) -> PyResult<(String, usize, ByName<ByName<f64>>)> {
    let environments: Vec<Environment> = environments.iter().map(|text| read(text)).collect::<PyResult<_>>()?;
    let found = Objective::new(&environments, metric, &best, &worst);
    Ok((found.heading, found.digits, found.weights))
}

/// The contribution of each environment to a score, per replicate.
#[pyfunction]
pub fn score_parts(weights: ByName<ByName<f64>>, costs: Costs, best: Best) -> ByName<Vec<f64>> {
    Objective { heading: String::new(), digits: 0, weights }.parts(&costs, &best)
}

/// A score per replicate, its estimate, and the contribution of each environment.
#[pyfunction]
#[pyo3(signature = (parts, stored = None, *, paired = false))]
pub fn scored(parts: Vec<Vec<f64>>, stored: Option<Vec<Vec<f64>>>, paired: bool) -> (Vec<f64>, Estimate, Vec<f64>) {
    let stored = stored.map(|parts| score::Stored { parts, paired });
    let found = score::Scored::new(&parts, stored.as_ref());
    (found.values, found.value.into(), found.by_environment)
}

/// The least mean costs over algorithms, by metric and environment.
#[pyfunction]
pub fn best_costs(every: Vec<Costs>) -> BTreeMap<String, BTreeMap<String, f64>> {
    score::best_of(every.iter())
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

/// The competitors of the first candidate: place in `algorithms`, difference of scores, ratio of delays, and
/// environments. The environments with flows of a competitor are given by their places.
///
/// `algorithms`: label and JSON, first the algorithms of the board, then any others. `panel`: places among them and
/// scores per replicate. `neighbours`: by environment, the place of the competitor, the number of its flows, and the
/// number of all flows.
#[pyfunction]
pub fn rivals(
    board: GivenBoard,
    algorithms: ByName<String>,
    best: Vec<f64>,
    panel: Vec<(usize, Vec<f64>)>,
    neighbours: Vec<Option<(usize, usize, usize)>>,
) -> PyResult<Vec<FoundRival>> {
    let board = board.read()?;
    let read_one = |(label, json): (String, String)| Ok(Algorithm { label, cc: read(&json)? });
    let algorithms: Vec<Algorithm> = algorithms.into_iter().map(read_one).collect::<PyResult<_>>()?;
    let contender = |(at, values): (usize, Vec<f64>)| Contender { algorithm: algorithms[at].clone(), values };
    let panel: Vec<Contender> = panel.into_iter().map(contender).collect();
    let met =
        |(at, of_rival, flows): (usize, usize, usize)| Neighbours { rival: algorithms[at].clone(), of_rival, flows };
    let neighbours: Vec<Option<Neighbours>> = neighbours.into_iter().map(|each| each.map(met)).collect();
    let found = score::rivals(&board, &algorithms[..board.labels.len()], &best, &panel, &neighbours);
    let place = |rival: &Rival| algorithms.iter().position(|each| *each == rival.algorithm);
    Ok(found
        .iter()
        .filter_map(|rival| {
            let beside = rival.beside.iter().map(|beside| beside.place).collect();
            Some((place(rival)?, rival.difference.map(Estimate::from), rival.delay_ratio, beside))
        })
        .collect())
}

/// Sentences on competitors: label, difference, and environments. Each environment gives its title, the shares of
/// competitor and candidate, and the harm to the competitor.
#[pyfunction]
pub fn rival_sentences(found: Vec<(String, Option<Estimate>, Vec<Shares>)>, heading: &str, least: f64) -> Vec<String> {
    let mut titles = Vec::new();
    let mut beside = |(title, theirs, ours, harm): Shares| {
        titles.push(title);
        Beside { place: titles.len() - 1, theirs: theirs.into(), ours: ours.into(), harm }
    };
    let rivals: Vec<Rival> = found
        .into_iter()
        .map(|(label, difference, places)| Rival {
            algorithm: Algorithm { label, cc: serde_json::Value::Null },
            difference: difference.map(score::Estimate::from),
            delay_ratio: None,
            beside: places.into_iter().map(&mut beside).collect(),
        })
        .collect();
    score::sentences(&rivals, &titles, heading, least)
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
