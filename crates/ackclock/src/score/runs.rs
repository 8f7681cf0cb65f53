//! What goes into an evaluation: the runs of all algorithms, and what those of each came to.

use serde::Deserialize;

use super::objective::Scored;
use super::rivals::Algorithm;

/// All runs of an evaluation.
#[derive(Clone, Debug, Deserialize)]
pub struct Runs {
    /// What ran them: version and fingerprint of the sources.
    pub(super) build: String,
    pub(super) seed: u64,
    /// Changes to every scenario.
    pub(super) sets: Vec<String>,
    /// What the score is made of.
    pub(super) metric: String,
    pub(super) replicates: u64,
    /// The algorithms that were run, each once.
    pub(super) algorithms: Vec<Algorithm>,
    /// The places of the candidates among them, in the order that was given.
    pub(super) candidates: Vec<usize>,
    /// Whether replicates differ, by environment and algorithm.
    pub(super) random: Vec<Vec<bool>>,
    /// By environment, algorithm, replicate and metric.
    pub(super) values: Vec<Vec<Vec<Vec<f64>>>>,
    /// The runs of candidates that failed.
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

/// What environments add to a score, per replicate.
pub(super) type Parts = Vec<(String, Vec<f64>)>;

/// What the runs of an algorithm came to.
pub(super) struct Tried {
    /// Values per replicate, by environment and metric; none of an environment in which a run failed.
    pub values: Vec<Option<Vec<Vec<f64>>>>,
    /// What each environment without a failure adds to the score.
    pub parts: Parts,
    /// The score; none where a run failed.
    pub scored: Option<Scored>,
}

impl Tried {
    /// The mean score; infinite where a run failed.
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
