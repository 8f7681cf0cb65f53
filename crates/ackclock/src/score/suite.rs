//! The suite of an evaluation, its baseline of regret, and costs from its scores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::objective::{Best, Costs, Objective, Stored};
use super::rivals::{Algorithm, Neighbours};
use super::sum::mean;

/// The parts of a suite that scores need.
#[derive(Clone, Debug, Deserialize)]
pub struct Suite {
    pub(super) name: String,
    pub(super) version: u32,
    #[serde(default)]
    pub(super) subject: Subject,
    pub(super) environments: Vec<Entry>,
    pub(super) panel: Vec<Algorithm>,
    pub(super) baseline: Baseline,
}

/// The part of scenarios that candidates take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Subject {
    /// The algorithm of some flows.
    #[default]
    Algorithm,
    /// The queue of the bottleneck.
    Queue,
}

impl Subject {
    /// The noun in sentences.
    pub fn noun(self) -> &'static str {
        match self {
            Subject::Algorithm => "algorithm",
            Subject::Queue => "queue",
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    pub environment: Environment,
    pub question: String,
    pub neighbours: Option<Neighbours>,
}

/// The baseline of regret: stored scores, or the best of the table if `reason` rules them out.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Baseline {
    pub title: String,
    pub stored: bool,
    pub algorithms: Vec<String>,
    pub reason: String,
    /// The least mean costs, by metric and environment.
    pub best: Best,
    /// The largest mean costs, which cap the weights of environments.
    #[serde(default)]
    pub worst: Best,
    /// Costs of the best algorithm per replicate, by environment and metric.
    #[serde(default)]
    pub best_costs: Costs,
    /// The seed of the stored runs.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Costs of the reference per replicate, by metric and environment.
    pub reference_costs: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

/// Costs in the environments without a failed run.
pub(super) fn costs_of(environments: &[Environment], values: &[Option<Vec<Vec<f64>>>]) -> Costs {
    let of = |(environment, rows): (&Environment, &Option<Vec<Vec<f64>>>)| {
        let metrics = environment.metrics().into_iter().zip(rows.as_ref()?);
        let costs = metrics.map(|(metric, values)| (metric.name, metric.better.costs(values)));
        Some((environment.id.clone(), costs.collect()))
    };
    environments.iter().zip(values).filter_map(of).collect()
}

/// The contribution of the stored best scores per replicate, if the replicates of the panel are stored.
pub(super) fn stored_parts(baseline: &Baseline, objective: &Objective, best: &Best, seed: u64) -> Option<Stored> {
    if !baseline.stored || baseline.best_costs.is_empty() {
        return None;
    }
    let parts = objective.parts(&baseline.best_costs, best).into_iter().map(|(_, values)| values).collect();
    Some(Stored { parts, paired: baseline.seed == Some(seed) })
}

/// The least mean costs, by metric and environment.
pub fn best_of<'a>(every: impl Iterator<Item = &'a Costs>) -> Best {
    extreme(every, f64::min)
}

/// The largest mean costs, by metric and environment.
pub fn worst_of<'a>(every: impl Iterator<Item = &'a Costs>) -> Best {
    extreme(every, f64::max)
}

fn extreme<'a>(every: impl Iterator<Item = &'a Costs>, chosen: fn(f64, f64) -> f64) -> Best {
    let mut found = Best::new();
    for costs in every {
        for (environment, row) in costs {
            for (name, values) in row {
                let cost = mean(values);
                let there = found.entry(name.clone()).or_default().entry(environment.clone()).or_insert(cost);
                *there = chosen(*there, cost);
            }
        }
    }
    found
}

/// The costs per replicate of the algorithm with the least mean, by environment and metric.
pub fn costs_of_best(every: &[Costs]) -> Costs {
    let mut found = Costs::new();
    for costs in every {
        for (environment, row) in costs {
            for (name, values) in row {
                let there = found.entry(environment.clone()).or_default();
                if there.get(name).is_none_or(|known| mean(values) < mean(known)) {
                    there.insert(name.clone(), values.clone());
                }
            }
        }
    }
    found
}
