//! The scoreboard: every metric of every environment and candidate, each compared with the reference.

use super::environment::{Metric, QUEUE_DELAY};
use super::estimate::{CONFIDENCE, Estimate, Judgement, estimate, paired_difference};
use super::sum::{mean, sum};

/// One metric of one candidate in one environment.
#[derive(Clone, Debug)]
pub struct Score {
    /// One value per replicate.
    pub values: Vec<f64>,
    /// The mean of the values.
    pub value: Estimate,
    /// Paired difference of costs to the reference: above zero is worse. The reference and single random replicates have
    /// no difference.
    pub cost_difference: Option<Estimate>,
}

impl Score {
    /// Whether the candidate is better or worse than the reference.
    pub fn judgement(&self) -> Judgement {
        self.cost_difference.map_or(Judgement::Open, |difference| difference.judgement())
    }
}

/// Results of an environment.
#[derive(Clone, Debug)]
pub struct EnvironmentResult {
    /// The title of the environment.
    pub title: String,
    /// The metrics of the environment.
    pub metrics: Vec<Metric>,
    /// Scores by candidate and metric.
    pub scores: Vec<Vec<Score>>,
    /// Whether the environment is deterministic, so that one replicate is enough.
    pub exact: bool,
}

impl EnvironmentResult {
    /// The title, with "(fixed)" if the environment is deterministic.
    pub fn heading(&self) -> String {
        if self.exact { format!("{} (fixed)", self.title) } else { self.title.clone() }
    }

    /// The place of a metric among the metrics of the environment.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    /// The place of the mean queueing delay among the values.
    pub fn queue_delay(&self) -> usize {
        self.metric(QUEUE_DELAY).expect("every environment has a queueing delay")
    }
}

/// All results of an evaluation: the candidate first.
#[derive(Clone, Debug)]
pub struct Board {
    /// The names of the candidates.
    pub labels: Vec<String>,
    /// The place of the candidate that all others are compared with.
    pub reference: usize,
    /// One result per environment.
    pub results: Vec<EnvironmentResult>,
}

impl Board {
    /// The first candidate's metric over another's, as a geometric mean over environments.
    ///
    /// Environments in which either value is zero do not count. Without environments that count there is no ratio.
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
/// A single replicate is judged only if the environment is deterministic (`exact`).
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

/// The sums of rows, replicate by replicate. The single value of a deterministic environment counts for every replicate.
pub(super) fn by_replicate(rows: &[Vec<f64>]) -> Vec<f64> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let at = |row: &Vec<f64>, replicate: usize| if row.len() > 1 { row[replicate] } else { row[0] };
    (0..count).map(|replicate| sum(rows.iter().map(|row| at(row, replicate)))).collect()
}
