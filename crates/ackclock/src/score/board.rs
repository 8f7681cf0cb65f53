//! The scoreboard: every metric of every environment and candidate, with what replicates show against the reference.

use super::environment::Metric;
use super::estimate::{CONFIDENCE, Estimate, Judgement, estimate, paired_difference};
use super::sum::{mean, sum};

/// One metric of one candidate in one environment.
#[derive(Clone, Debug)]
pub struct Score {
    /// Per replicate.
    pub values: Vec<f64>,
    /// Their mean.
    pub value: Estimate,
    /// Paired difference of costs to the reference: above zero is worse. None for the reference, and where nothing can be said.
    pub cost_difference: Option<Estimate>,
}

impl Score {
    /// What the candidate is beside the reference.
    pub fn judgement(&self) -> Judgement {
        self.cost_difference.map_or(Judgement::Open, |difference| difference.judgement())
    }
}

/// Results of an environment.
#[derive(Clone, Debug)]
pub struct EnvironmentResult {
    /// What people call it.
    pub title: String,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    /// By candidate and metric.
    pub scores: Vec<Vec<Score>>,
    /// Whether nothing is random in it, so that a single replicate says all.
    pub exact: bool,
}

impl EnvironmentResult {
    /// Its title, with a word where nothing is random in it.
    pub fn heading(&self) -> String {
        if self.exact { format!("{} (fixed)", self.title) } else { self.title.clone() }
    }

    /// The place of a metric among its metrics.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }
}

/// All results of an evaluation: the candidate first.
#[derive(Clone, Debug)]
pub struct Board {
    /// What the candidates are called.
    pub labels: Vec<String>,
    /// The place of the one that all are compared with.
    pub reference: usize,
    /// By environment.
    pub results: Vec<EnvironmentResult>,
}

impl Board {
    /// The first candidate's metric over another's, as a geometric mean over environments.
    ///
    /// Environments in which one of the two is zero are left out; none if all are.
    pub fn mean_ratio(&self, name: &str, other: usize) -> Option<f64> {
        let logs: Vec<f64> = self
            .results
            .iter()
            .filter_map(|result| {
                let at = result.metric(name)?;
                let (ours, theirs) = (result.scores[0][at].value.mean, result.scores[other][at].value.mean);
                (ours > 0.0 && theirs > 0.0).then(|| libm::log(ours / theirs))
            })
            .collect();
        (!logs.is_empty()).then(|| libm::exp(mean(&logs)))
    }
}

/// Scores `runs[candidate][replicate][metric]` against the candidate at index `reference`.
///
/// A single replicate is judged only where it is `exact`, nothing being random.
pub fn scores(metrics: &[Metric], runs: &[Vec<Vec<f64>>], reference: usize, exact: bool) -> Vec<Vec<Score>> {
    let values = |candidate: usize, at: usize| -> Vec<f64> { runs[candidate].iter().map(|run| run[at]).collect() };
    let score = |candidate: usize, at: usize| {
        let (metric, values, theirs) = (&metrics[at], values(candidate, at), values(reference, at));
        let is_told = candidate != reference && (exact || values.len() > 1);
        Score {
            value: estimate(&values, CONFIDENCE),
            cost_difference: is_told
                .then(|| paired_difference(&metric.better.costs(&values), &metric.better.costs(&theirs))),
            values,
        }
    };
    let row = |candidate| (0..metrics.len()).map(|at| score(candidate, at)).collect();
    (0..runs.len()).map(row).collect()
}

/// The sums of rows, replicate by replicate; a single value, where nothing is random, stands for all.
pub(super) fn by_replicate(rows: &[Vec<f64>]) -> Vec<f64> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let at = |row: &Vec<f64>, replicate: usize| if row.len() > 1 { row[replicate] } else { row[0] };
    (0..count).map(|replicate| sum(rows.iter().map(|row| at(row, replicate)))).collect()
}
