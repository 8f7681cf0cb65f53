//! The input of an evaluation: the runs of all algorithms, and their outcomes.

use serde::Deserialize;

use super::objective::Scored;
use super::rivals::Algorithm;

/// All runs of an evaluation.
#[derive(Clone, Debug, Deserialize)]
pub struct Runs {
    /// The build that ran them: version and fingerprint of the sources.
    pub(super) build: String,
    pub(super) seed: u64,
    /// Changes to every scenario.
    pub(super) sets: Vec<String>,
    /// The metric of the score.
    pub(super) metric: String,
    pub(super) replicates: u64,
    /// The algorithms of the runs, without duplicates.
    pub(super) algorithms: Vec<Algorithm>,
    /// The places of the candidates among `algorithms`, in the order of the command.
    pub(super) candidates: Vec<usize>,
    /// Whether replicates differ, by environment and algorithm.
    pub(super) random: Vec<Vec<bool>>,
    /// Values by environment, algorithm, replicate and metric.
    pub(super) values: Vec<Vec<Vec<Vec<f64>>>>,
    /// The failed runs of candidates.
    pub(super) failures: Vec<Failure>,
}

/// A run that failed, by the places of its environment and algorithm.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Failure {
    pub environment: usize,
    pub algorithm: usize,
    pub replicate: u64,
    pub message: String,
}

/// The contributions of environments to a score, per replicate.
pub(super) type Parts = Vec<(String, Vec<f64>)>;

/// The outcome of an algorithm's runs.
pub(super) struct Tried {
    /// Values per replicate, by environment and metric. An environment with a failed run has no values.
    pub values: Vec<Option<Vec<Vec<f64>>>>,
    /// The contribution of each environment without a failed run.
    pub parts: Parts,
    /// The score, or none if a run failed.
    pub scored: Option<Scored>,
}

impl Tried {
    /// The mean score, infinite if a run failed.
    pub fn mean(&self) -> f64 {
        self.scored.as_ref().map_or(f64::INFINITY, |scored| scored.value.mean)
    }
}

impl Runs {
    /// The first run of an algorithm that failed, in the order of environments and replicates.
    pub(super) fn first_failure(&self, algorithm: usize) -> Option<&Failure> {
        let own = self.failures.iter().filter(|failure| failure.algorithm == algorithm);
        own.min_by_key(|failure| (failure.environment, failure.replicate))
    }
}
