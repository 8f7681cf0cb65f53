//! The overview of an evaluation: heat maps, throughput against delay, and the wins and losses of the best candidate.
//!
//! The report shows them in addition to the document.

use serde_json::{Value, json};

use super::board::by_replicate;
use super::environment::{Metric, WATCH, common};
use super::estimate::{CONFIDENCE, Estimate, compared, estimate};
use super::evaluation::Evaluation;
use super::sum::{mean, sum};
use super::verdict::worst;

/// The largest number of algorithms in the table of wins and losses.
const OTHERS: usize = 6;
const GOODPUT: &str = "goodput";

impl Evaluation {
    /// The additional parts of a report. The algorithms are the ranking, then the rest of the panel.
    pub fn overview(&self) -> Value {
        let mut entries: Vec<usize> = self.ranking.places.iter().map(|place| place.algorithm).collect();
        let ranked = entries.clone();
        entries.extend(self.panel().into_iter().map(|(_, at)| at).filter(|at| !ranked.contains(at)));
        let of_board = self.shown[self.board.reference];
        let reference = entries.iter().position(|at| *at == of_board).expect("the reference was run");
        let environments = 0..self.suite.environments.len();
        let every = environments.clone().map(|place| Some(self.spots(&entries, &[place], GOODPUT)));
        let worst = worst(&self.board).map(|(place, metric)| json!({ "environment": place, "metric": metric }));
        json!({
            "entries": entries,
            "algorithms": entries.iter().map(|at| &self.runs.algorithms[*at]).map(|each| json!({ "label": each.label, "cc": each.cc })).collect::<Value>(),
            "reference": reference,
            "digits": self.objective.digits,
            "metrics": self.board.results.iter().map(|result| json!(result.metrics)).collect::<Value>(),
            "maps": self.maps(&entries, reference),
            "plane": self.spots(&entries, &environments.collect::<Vec<_>>(), "efficiency"),
            "planes": every.collect::<Value>(),
            "worst": worst,
            "wins": self.wins(),
        })
    }

    /// Heat maps, one by the score and one by each metric that some environment scores.
    fn maps(&self, entries: &[usize], reference: usize) -> Value {
        let places = 0..self.suite.environments.len();
        let part = |place: usize, at: usize| {
            let id = &self.suite.environments[place].environment.id;
            self.tried[at].parts.iter().find(|(name, _)| name == id).map(|(_, values)| values.clone())
        };
        let theirs = entries[reference];
        let by_score = |place: usize| {
            let cell = |at: &usize| {
                let ours = part(place, *at);
                self.cell(ours.as_deref(), ours.as_deref(), part(place, theirs).as_deref(), (*at, theirs), place)
            };
            entries.iter().map(cell).collect::<Value>()
        };
        let score = places.clone().map(by_score).collect::<Value>();
        let mut maps = vec![json!({
            "name": "score", "heading": self.objective.heading, "digits": self.objective.digits, "cells": score,
        })];
        let heads = common().into_iter().map(|metric| (metric.name.clone(), metric.heading(), metric.digits));
        for (name, heading, digits) in heads.chain([(WATCH.to_owned(), "watched metric".to_owned(), 3)]) {
            let metric = |place: usize| self.board.results[place].metric(&name);
            if places.clone().all(|place| metric(place).is_none()) {
                continue;
            }
            let row = |place: usize| {
                let found = metric(place);
                let cell = |at: &usize| match found {
                    Some(metric) => self.cell_by(metric, (*at, theirs), place),
                    None => json!({ "judgement": "none", "value": null, "difference": null }),
                };
                entries.iter().map(cell).collect::<Value>()
            };
            let cells = places.clone().map(row).collect::<Value>();
            maps.push(json!({ "name": name, "heading": heading, "digits": digits, "cells": cells }));
        }
        json!(maps)
    }

    /// The cell of one algorithm in one environment, by a metric.
    fn cell_by(&self, metric: usize, (ours, theirs): (usize, usize), place: usize) -> Value {
        let values = |at: usize| self.tried[at].values[place].as_ref().map(|rows| rows[metric].clone());
        let better = self.board.results[place].metrics[metric].better;
        let costs = |at: usize| Some(better.costs(&values(at)?));
        let (shown, own, others) = (values(ours), costs(ours), costs(theirs));
        self.cell(shown.as_deref(), own.as_deref(), others.as_deref(), (ours, theirs), place)
    }

    /// Compares costs per replicate. `shown` are the values that the cell displays.
    fn cell(
        &self,
        shown: Option<&[f64]>,
        ours: Option<&[f64]>,
        theirs: Option<&[f64]>,
        (at, reference): (usize, usize),
        place: usize,
    ) -> Value {
        let (Some(shown), Some(ours)) = (shown, ours) else {
            let judgement = if self.tried[at].scored.is_none() { "failed" } else { "none" };
            return json!({ "judgement": judgement, "value": null, "difference": null });
        };
        let value = estimate(shown, CONFIDENCE);
        if at == reference {
            return json!({ "judgement": "reference", "value": value, "difference": null });
        }
        let exact = !self.runs.random[place][at] && !self.runs.random[place][reference];
        let difference = theirs.and_then(|theirs| compared(ours, theirs, exact));
        let word = difference.map_or("", |difference| difference.judgement().word());
        json!({ "judgement": if word.is_empty() { "open" } else { word }, "value": value, "difference": difference })
    }

    /// Throughput against delay, as means over some environments. Algorithms with a failed run are missing.
    fn spots(&self, entries: &[usize], places: &[usize], throughput: &str) -> Value {
        let over = |at: usize, name: &str| {
            let row = |place: &usize| {
                let metric = self.board.results[*place].metric(name);
                Some(self.tried[at].values[*place].as_ref()?[metric.expect("every environment has it")].clone())
            };
            let rows: Vec<Vec<f64>> = places.iter().map(row).collect::<Option<_>>()?;
            let count = rows.len() as f64;
            let sums = by_replicate(&rows);
            Some(sums.iter().map(|sum| sum / count).collect::<Vec<f64>>())
        };
        let spot = |at: &usize| {
            let (delays, throughputs) = (over(*at, "queue_delay")?, over(*at, throughput)?);
            let half = |estimate: &Estimate| estimate.half_width().unwrap_or(0.0);
            let (delay, rate) = (estimate(&delays, CONFIDENCE), estimate(&throughputs, CONFIDENCE));
            Some(json!({
                "name": self.runs.algorithms[*at].label,
                "delay": delay.mean, "throughput": rate.mean,
                "delay_half": half(&delay), "throughput_half": half(&rate),
                "correlation": correlation(&delays, &throughputs),
            }))
        };
        entries.iter().filter_map(spot).collect()
    }

    /// The metrics in which the first algorithm is significantly better or worse, by environment and by other algorithm.
    fn wins(&self) -> Value {
        let others = 1..self.board.labels.len().min(1 + OTHERS);
        let of = |place: usize, other: usize| {
            let result = &self.board.results[place];
            let costs = |metric: &Metric, at: usize, row: usize| metric.better.costs(&result.scores[row][at].values);
            let (mut better, mut worse) = (Vec::new(), Vec::new());
            for (at, metric) in result.metrics.iter().enumerate().filter(|(_, metric)| metric.name != GOODPUT) {
                let found = compared(&costs(metric, at, 0), &costs(metric, at, other), result.exact);
                match found.map_or("", |difference| difference.judgement().word()) {
                    "better" => better.push(&metric.label),
                    "worse" => worse.push(&metric.label),
                    _ => {}
                }
            }
            json!({ "better": better, "worse": worse })
        };
        let row = |place: usize| others.clone().map(|other| of(place, other)).collect::<Value>();
        (0..self.board.results.len()).map(row).collect()
    }
}

/// Pearson's correlation, 0 if one of the samples is constant.
fn correlation(first: &[f64], second: &[f64]) -> f64 {
    let deviations = |row: &[f64]| -> Vec<f64> {
        let mean = mean(row);
        row.iter().map(|value| value - mean).collect()
    };
    let (first, second) = (deviations(first), deviations(second));
    let product = |one: &[f64], other: &[f64]| sum(one.iter().zip(other).map(|(one, other)| one * other));
    let spread = (product(&first, &first) * product(&second, &second)).sqrt();
    if spread == 0.0 { 0.0 } else { product(&first, &second) / spread }
}
