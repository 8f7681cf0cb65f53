//! The score of a candidate: mean regret over replicates, environments and metrics.

use std::collections::BTreeMap;

use super::board::by_replicate;
use super::environment::{DELAY_SCORE, Environment, GOODPUT, Metric, WATCH, common, delay_score};
use super::estimate::{CONFIDENCE, Estimate, against_stored, estimate};
use super::regret::largest;
use super::sum::{mean, sum};

/// The default score, which combines all metrics that are shares.
pub const SHARES: &str = "shares";
/// The probability, over all rounds of an evaluation, that the best candidate is dropped.
pub const ALPHA: f64 = 0.05;
/// The largest contribution of one environment to the score, as a multiple of the median contribution.
///
/// The contributions are taken from the panel's worst algorithm.
const CAP: f64 = 3.0;

/// The weights of metrics in the combined score, by name. Absent metrics weigh 1.
pub type Weights = BTreeMap<String, f64>;

/// The least mean cost, by metric and environment.
pub type Best = BTreeMap<String, BTreeMap<String, f64>>;

/// The definition of a candidate's score. A lower score is better.
#[derive(Clone, Debug)]
pub struct Objective {
    /// The column heading.
    pub heading: String,
    /// Displayed digits after the decimal point.
    pub digits: usize,
    /// The weight of regret in the score of a replicate, by environment and metric.
    pub weights: Vec<(String, Vec<(String, f64)>)>,
}

impl Objective {
    /// Takes a metric that some environment scores, or `SHARES`.
    ///
    /// `shares`: the weights of metrics if `metric` is `SHARES`. `worst`: the largest mean costs of the panel. They bound the contribution of each environment. With `SHARES` they cap its
    /// weight.
    pub fn new(environments: &[Environment], metric: &str, shares: &Weights, best: &Best, worst: &Best) -> Self {
        let mut weights = Vec::new();
        for environment in environments {
            let parts: Vec<Metric> =
                environment.metrics().into_iter().filter(|each| is_part(&each.name, metric)).collect();
            let importance = |part: &Metric| if metric == SHARES { weight_of(shares, &part.name) } else { 1.0 };
            let total = sum(parts.iter().map(importance));
            let weight = |part: &Metric| {
                let best = best[&part.name][&environment.id].abs();
                let is_relative = part.name == GOODPUT || environment.is_relative(&part.name);
                let unit = if is_relative && best != 0.0 { best } else { 1.0 };
                let unit = if metric == SHARES { unit * whole(&part.name).unwrap_or(1.0) / 100.0 } else { unit };
                importance(part) / unit / total
            };
            if total > 0.0 {
                let row: Vec<_> = parts.iter().map(|part| (part.name.clone(), weight(part))).collect();
                weights.push((environment.id.clone(), row));
            }
        }
        let count = weights.len() as f64;
        weights.iter_mut().flat_map(|(_, row)| row).for_each(|(_, weight)| *weight /= count);
        if metric == SHARES {
            cap(&mut weights, best, worst);
        }
        let (heading, digits) = heading(metric);
        Objective { heading, digits, weights }
    }

    /// The contribution of each environment with costs to the score, per replicate.
    pub fn parts(&self, costs: &Costs, best: &Best) -> Vec<(String, Vec<f64>)> {
        let of = |environment: &String, row: &[(String, f64)]| {
            let found = costs.get(environment)?;
            let regrets: Vec<Vec<f64>> = row
                .iter()
                .map(|(name, weight)| {
                    found[name].iter().map(|cost| weight * (cost - best[name][environment])).collect()
                })
                .collect();
            let count = regrets.iter().map(Vec::len).min()?;
            let values = (0..count).map(|replicate| sum(regrets.iter().map(|row| row[replicate]))).collect();
            Some((environment.clone(), values))
        };
        self.weights.iter().filter_map(|(environment, row)| of(environment, row)).collect()
    }
}

/// Scales down the weights of environments that would contribute more than `CAP` times the median.
fn cap(weights: &mut [(String, Vec<(String, f64)>)], best: &Best, worst: &Best) {
    let of = |(id, row): &(String, Vec<(String, f64)>)| {
        let part = |(name, weight): &(String, f64)| {
            let most = worst.get(name).and_then(|costs| costs.get(id));
            most.map_or(0.0, |most| weight * (most - best[name][id]).max(0.0))
        };
        sum(row.iter().map(part))
    };
    let added: Vec<f64> = weights.iter().map(of).collect();
    let mut ordered: Vec<f64> = added.iter().copied().filter(|added| *added > 0.0).collect();
    ordered.sort_unstable_by(f64::total_cmp);
    let Some(median) =
        (!ordered.is_empty()).then(|| (ordered[(ordered.len() - 1) / 2] + ordered[ordered.len() / 2]) / 2.0)
    else {
        return;
    };
    for ((_, row), added) in weights.iter_mut().zip(added).filter(|(_, added)| *added > CAP * median) {
        row.iter_mut().for_each(|(_, weight)| *weight *= CAP * median / added);
    }
}

/// The weight of a metric in the combined score.
fn weight_of(weights: &Weights, name: &str) -> f64 {
    weights.get(name).copied().unwrap_or(1.0)
}

/// The weights of all metrics in the combined score.
pub fn complete(weights: &Weights) -> Weights {
    let names = common().map(|metric| metric.name).into_iter().chain([DELAY_SCORE.to_owned(), WATCH.to_owned()]);
    names.filter(|name| is_part(name, SHARES)).map(|name| (name.clone(), weight_of(weights, &name))).collect()
}

/// The smallest difference of scores that the verdict mentions, in the unit of the score.
pub fn least_difference(metric: &str) -> f64 {
    match metric {
        SHARES => 0.2,
        "efficiency" => 0.5,
        "loss_rate" => 0.1,
        DELAY_SCORE => 0.5,
        "queue_delay" => 1.0,
        "jain_index" => 0.02,
        GOODPUT => 0.01,
        _ => 0.05,
    }
}

/// Costs per replicate, by environment and metric. A deterministic environment has one replicate.
pub type Costs = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

impl Environment {
    /// Whether regret is relative to the best score, because the metric has no common unit.
    pub fn is_relative(&self, metric: &str) -> bool {
        metric == WATCH && self.watch.as_ref().is_some_and(|watch| !watch.better.is_share())
    }
}

/// Whether a metric is part of a score.
pub(super) fn is_part(name: &str, metric: &str) -> bool {
    if metric == SHARES { whole(name).is_some() } else { name == metric }
}

/// The maximum of a metric that is a share, such as the capacity, the sent segments or a perfect index.
fn whole(name: &str) -> Option<f64> {
    match name {
        "efficiency" | "loss_rate" | DELAY_SCORE => Some(100.0),
        "jain_index" | WATCH => Some(1.0),
        _ => None,
    }
}

fn heading(metric: &str) -> (String, usize) {
    match metric {
        SHARES => ("mean regret %".to_owned(), 3),
        GOODPUT => ("mean regret: goodput, share".to_owned(), 4),
        WATCH => ("mean regret: watched metric".to_owned(), 4),
        name => {
            let found = common().into_iter().chain([delay_score()]).find(|each| each.name == name);
            let metric = found.expect("the metric of a score is a common one");
            (format!("mean regret: {}", metric.heading()), metric.digits + 1)
        }
    }
}

/// The contribution of the stored best scores per replicate. They have their own sampling error.
pub struct Stored {
    /// Contributions by environment.
    pub parts: Vec<Vec<f64>>,
    /// Whether the stored replicates use the same random draws as the scored ones.
    pub paired: bool,
}

/// The score of an algorithm.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The score of each replicate.
    pub values: Vec<f64>,
    /// The mean score.
    pub value: Estimate,
    /// The contribution of each environment to the score.
    pub by_environment: Vec<f64>,
    /// The environment with the largest contribution.
    pub worst: usize,
}

impl Scored {
    /// Adds the contributions of the environments per replicate, and subtracts the contributions of the `stored` best scores.
    pub fn new(parts: &[Vec<f64>], stored: Option<&Stored>) -> Self {
        let values = by_replicate(parts);
        let value = match stored {
            Some(stored) => against_stored(&values, &by_replicate(&stored.parts), stored.paired),
            None => estimate(&values, CONFIDENCE),
        };
        let by_environment: Vec<f64> = parts.iter().map(|part| mean(part)).collect();
        Scored { value, worst: largest(&by_environment), values, by_environment }
    }
}
