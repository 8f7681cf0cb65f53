//! The input of an evaluation: its algorithms, its limits, and the runs of all algorithms.

use serde::Deserialize;

use super::objective::{Scored, Weights};
use super::rivals::Algorithm;

/// Simulated events that count as one second of one core.
const EVENTS_PER_S: f64 = 4e6;

/// An evaluation before its first run.
#[derive(Clone, Debug, Deserialize)]
pub struct Plan {
    /// The build that runs it: version and fingerprint of the sources.
    pub(super) build: String,
    pub(super) seed: u64,
    /// Changes to every scenario.
    pub(super) sets: Vec<String>,
    /// The metric of the score.
    pub(super) metric: String,
    /// The weights of metrics in the combined score.
    #[serde(default)]
    pub(super) weights: Weights,
    /// The algorithms of the runs, without duplicates.
    pub(super) algorithms: Vec<Algorithm>,
    /// The places of the candidates among `algorithms`, in the order of the command.
    pub(super) candidates: Vec<usize>,
    /// Whether replicates differ, by environment and algorithm.
    pub(super) random: Vec<Vec<bool>>,
    pub(super) limits: Limits,
}

/// The limits of a race.
#[derive(Clone, Debug, Deserialize)]
pub struct Limits {
    /// The largest number of replicates.
    pub(super) most: usize,
    /// The number of replicates for the last remaining candidate.
    pub(super) settled: usize,
    pub(super) budget: Option<Budget>,
}

/// The limit of all runs. It counts simulated events, so decisions do not depend on the machine.
#[derive(Clone, Debug, Deserialize)]
pub struct Budget {
    /// The budget as the user wrote it.
    pub(super) text: String,
    /// A number of runs, or of seconds of one core.
    pub(super) amount: f64,
    /// The events of a run of the reference, by environment. Budgets of runs have none.
    pub(super) events: Option<Vec<u64>>,
}

impl Budget {
    /// The work of a run in an environment, in the unit of the budget.
    pub(super) fn weight(&self, environment: usize) -> f64 {
        self.events.as_ref().map_or(1.0, |events| events[environment] as f64 / EVENTS_PER_S)
    }
}

/// The runs that the next round needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The number of replicates, including earlier rounds.
    pub replicates: usize,
    /// The places of the algorithms that take part.
    pub algorithms: Vec<usize>,
}

/// The new runs of a round.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Results {
    /// Values by replicate and metric, for each environment and algorithm with new runs.
    pub(super) values: Vec<(usize, usize, Vec<Vec<f64>>)>,
    /// The failed runs of candidates.
    pub(super) failures: Vec<Failure>,
}

impl Results {
    /// Takes values by replicate and metric, for each environment and algorithm, and failed runs.
    pub fn new(values: Vec<(usize, usize, Vec<Vec<f64>>)>, failures: Vec<Failure>) -> Self {
        Results { values, failures }
    }
}

/// Facts about the runs that appear in the document.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Notes {
    /// The number of emulated runs that missed their times, and of all runs.
    #[serde(default)]
    pub(super) invalid: (usize, usize),
    /// The distinct warnings of scenarios.
    #[serde(default)]
    pub(super) warnings: serde_json::Value,
}

/// A run that failed, by the places of its environment and algorithm.
#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    /// The place of the environment.
    pub environment: usize,
    /// The place of the algorithm.
    pub algorithm: usize,
    /// The number of the replicate.
    pub replicate: usize,
    /// The message.
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
