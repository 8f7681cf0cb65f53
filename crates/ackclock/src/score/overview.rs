//! The overview of an evaluation: heat maps, throughput against delay, and the wins and losses of the best candidate.
//!
//! The report shows them in addition to the document.

use serde_json::{Value, json};

use super::board::{EnvironmentResult, Score, by_replicate};
use super::environment::{GOODPUT, Metric, WATCH, common};
use super::estimate::{CONFIDENCE, Estimate, compared, estimate};
use super::evaluation::Evaluation;
use super::objective::Objective;
use super::rivals::STARVED;
use super::sum::{mean, sum};
use super::summary::{cell_text, counts};
use super::verdict::worst;

/// The largest number of algorithms in the table of wins and losses.
const OTHERS: usize = 6;
/// Significant differences below this part of the metric are small.
const SMALL: f64 = 0.01;
/// Delays below this one count as this one in geometric means, in ms.
const LEAST_DELAY_MS: f64 = 0.01;
/// Fair-share ratios in this range count as fair in the table of shares.
const LESS: f64 = 0.8;
const MORE: f64 = 1.25;

impl Evaluation {
    /// The additional parts of a report. The algorithms are the ranking, then the rest of the panel.
    pub fn overview(&self) -> Value {
        let (entries, reference) = self.entries();
        let algorithm = |at: &usize| self.race.entrants[*at].algorithm;
        let environments: Vec<usize> = (0..self.race.environments.len()).collect();
        let every = environments.iter().map(|place| Some(self.spots(&entries, &[*place], GOODPUT)));
        let plane = self.spots(&entries, &environments, "efficiency");
        let worst = worst(&self.board).map(|(place, metric)| json!({ "environment": place, "metric": metric }));
        let maps = self.maps(&entries, reference);
        json!({
            "entries": entries.iter().map(algorithm).collect::<Vec<_>>(),
            "algorithms": entries.iter().map(|at| &self.race.plan.algorithms[algorithm(at)]).map(|each| json!({ "label": each.label, "cc": each.cc })).collect::<Value>(),
            "reference": reference,
            "digits": self.measure.objective.digits,
            "metrics": self.board.results.iter().map(|result| json!(result.metrics)).collect::<Value>(),
            "summary": self.summary(&maps[0].differences(), &plane),
            "tiles": self.tiles(),
            "maps": maps.iter().map(|map| map.shown(reference, &self.board.labels[self.board.reference])).collect::<Value>(),
            "plane": plane,
            "planes": every.collect::<Value>(),
            "worst": worst,
            "wins": self.wins(),
            "shares": self.shares(),
        })
    }

    /// The entrants of the overview: the ranking, then the rest of the panel. The reference is given by its place among them.
    pub(super) fn entries(&self) -> (Vec<usize>, usize) {
        let algorithm = |at: usize| self.race.entrants[at].algorithm;
        let mut entries: Vec<usize> = self.ranking.iter().map(|place| place.entrant).collect();
        let ranked: Vec<usize> = entries.iter().map(|at| algorithm(*at)).collect();
        let panel = self.panel.iter().map(|place| place.entrant);
        entries.extend(panel.filter(|at| !ranked.contains(&algorithm(*at))));
        let of_board = self.shown[self.board.reference];
        let reference = entries.iter().position(|at| algorithm(*at) == of_board);
        (entries, reference.expect("the reference was run"))
    }

    /// Heat maps, one by the score and one by each metric that some environment scores.
    fn maps(&self, entries: &[usize], reference: usize) -> Vec<Map> {
        let places = 0..self.race.environments.len();
        let part = |place: usize, at: usize| {
            let id = &self.race.environments[place].id;
            self.tried[at].parts.iter().find(|(name, _)| name == id).map(|(_, values)| values.clone())
        };
        let theirs = entries[reference];
        let by_score = |place: usize| {
            let cell = |at: &usize| {
                let ours = part(place, *at);
                self.cell(ours.as_deref(), ours.as_deref(), part(place, theirs).as_deref(), (*at, theirs), place)
            };
            entries.iter().map(cell).collect()
        };
        let Objective { heading, digits, .. } = &self.measure.objective;
        let cells = places.clone().map(by_score).collect();
        let score =
            Map { name: "score".to_owned(), heading: heading.clone(), digits: *digits, metrics: Vec::new(), cells };
        let of = |(name, heading, digits): (String, String, usize)| {
            let metric = |place: usize| self.board.results[place].metric(&name);
            if places.clone().all(|place| metric(place).is_none()) {
                return None;
            }
            let row = |place: usize| {
                let cell = |at: &usize| match metric(place) {
                    Some(metric) => self.cell_by(metric, (*at, theirs), place),
                    None => Cell::without("none"),
                };
                entries.iter().map(cell).collect()
            };
            let metrics = places.clone().map(|place| Some(self.board.results[place].metrics[metric(place)?].clone()));
            Some(Map {
                heading,
                digits,
                metrics: metrics.collect(),
                cells: places.clone().map(row).collect(),
                name: name.clone(),
            })
        };
        let heads = common().into_iter().map(|metric| (metric.name.clone(), metric.heading(), metric.digits));
        let others = heads.chain([(WATCH.to_owned(), "watched metric".to_owned(), 3)]).filter_map(of);
        [score].into_iter().chain(others).collect()
    }

    /// The cell of one algorithm in one environment, by a metric.
    fn cell_by(&self, metric: usize, (ours, theirs): (usize, usize), place: usize) -> Cell {
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
    ) -> Cell {
        let (Some(shown), Some(ours)) = (shown, ours) else {
            return Cell::without(if self.tried[at].scored.is_none() { "failed" } else { "none" });
        };
        let value = Some(estimate(shown, CONFIDENCE));
        let (own, other) = (self.race.entrants[at].algorithm, self.race.entrants[reference].algorithm);
        if own == other {
            return Cell { judgement: "reference", value, difference: None };
        }
        let exact = !self.race.plan.random[place][own] && !self.race.plan.random[place][other];
        let difference = theirs.and_then(|theirs| compared(ours, theirs, exact));
        let word = difference.map_or("", |difference| difference.judgement().word());
        Cell { judgement: if word.is_empty() { "open" } else { word }, value, difference }
    }

    /// The fair-share ratio of each competitor against each algorithm of the scoreboard, by competitor.
    fn shares(&self) -> Value {
        let of = |(place, result): (usize, &EnvironmentResult)| {
            let neighbours = self.race.suite.environments[place].neighbours.as_ref()?;
            let at = result.metric(WATCH)?;
            let share = |row: &Vec<Score>| json!({ "share": row[at].value, "part": part(row[at].value.mean) });
            Some((
                neighbours.rival.label.clone(),
                json!({
                    "competitor": neighbours.rival.label, "environment": self.race.environments[place].id,
                    "shares": result.scores.iter().map(share).collect::<Value>(),
                }),
            ))
        };
        let mut found: Vec<(String, Value)> = self.board.results.iter().enumerate().filter_map(of).collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.into_iter().map(|(_, row)| row).collect()
    }

    /// Throughput against delay, as means over some environments. Means of delays are geometric. Algorithms with a failed run are missing.
    fn spots(&self, entries: &[usize], places: &[usize], throughput: &str) -> Vec<Value> {
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
            let (delays, throughputs) =
                (self.delays(*at, places, EnvironmentResult::queue_delay)?, over(*at, throughput)?);
            let half = |estimate: &Estimate| estimate.half_width().unwrap_or(0.0);
            let (delay, rate) = (estimate(&delays, CONFIDENCE), estimate(&throughputs, CONFIDENCE));
            Some(json!({
                "name": self.race.plan.algorithms[self.race.entrants[*at].algorithm].label,
                "delay": delay.mean, "throughput": rate.mean,
                "delay_half": half(&delay), "throughput_half": half(&rate),
                "correlation": correlation(&delays, &throughputs),
            }))
        };
        entries.iter().filter_map(spot).collect()
    }

    /// The delay of an entrant per replicate, as geometric means over some environments. Deep buffers do not decide such a mean.
    ///
    /// `of` chooses the delay among the values of an environment. An entrant with a failed run there has none.
    pub(super) fn delays(
        &self,
        at: usize,
        places: &[usize],
        of: impl Fn(&EnvironmentResult) -> usize,
    ) -> Option<Vec<f64>> {
        let is_single = places.len() == 1;
        let to_sum = |value: f64| if is_single { value } else { libm::log(value.max(LEAST_DELAY_MS)) };
        let row = |place: &usize| {
            let values = &self.tried[at].values[*place].as_ref()?[of(&self.board.results[*place])];
            Some(values.iter().map(|value| to_sum(*value)).collect::<Vec<f64>>())
        };
        let rows: Vec<Vec<f64>> = places.iter().map(row).collect::<Option<_>>()?;
        let count = rows.len() as f64;
        let back = |sum: f64| if is_single { sum } else { libm::exp(sum / count) };
        Some(by_replicate(&rows).into_iter().map(back).collect())
    }

    /// The metrics in which the first algorithm is significantly better or worse, by environment and by other algorithm.
    fn wins(&self) -> Value {
        let others = 1..self.board.labels.len().min(1 + OTHERS);
        let of = |place: usize, other: usize| {
            let result = &self.board.results[place];
            let costs = |metric: &Metric, at: usize, row: usize| metric.better.costs(&result.scores[row][at].values);
            let (mut better, mut worse) = (Vec::new(), Vec::new());
            for (at, metric) in result.metrics.iter().enumerate().filter(|(_, metric)| metric.is_shown()) {
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

/// A heat map: the cells of one metric, by environment and algorithm.
struct Map {
    name: String,
    heading: String,
    digits: usize,
    /// The metric of each environment. The map by score has none.
    metrics: Vec<Option<Metric>>,
    cells: Vec<Vec<Cell>>,
}

/// One algorithm in one environment, by one metric.
struct Cell {
    judgement: &'static str,
    /// The value of the metric, or the contribution of the environment to the score.
    value: Option<Estimate>,
    /// The paired difference of costs to the reference. A negative difference is better.
    difference: Option<Estimate>,
}

impl Cell {
    fn without(judgement: &'static str) -> Self {
        Cell { judgement, value: None, difference: None }
    }

    fn is_significant(&self) -> bool {
        matches!(self.judgement, "better" | "worse")
    }

    /// The size of the difference to the reference, relative to the larger of both values.
    fn effect(&self, reference: &Cell) -> Option<f64> {
        let largest = self.value?.mean.abs().max(reference.value?.mean.abs());
        let size = self.difference?.mean.abs();
        Some(if largest == 0.0 { 0.0 } else { (size / largest).min(1.0) })
    }
}

impl Map {
    /// The differences to the reference, by algorithm.
    fn differences(&self) -> Vec<Vec<Estimate>> {
        let count = self.cells.first().map_or(0, Vec::len);
        (0..count).map(|at| self.cells.iter().filter_map(|row| row[at].difference).collect()).collect()
    }

    /// `reference`: the place of the reference among the algorithms. `label` is its label.
    fn shown(&self, reference: usize, label: &str) -> Value {
        let cell = |place: usize, cell: &Cell| {
            let metric = self.metrics.get(place).and_then(Option::as_ref);
            let text = |value| cell_text(value, cell.difference.as_ref(), metric, self.digits, label);
            let effect = cell.effect(&self.cells[place][reference]);
            let is_small = cell.is_significant() && effect.is_some_and(|effect| effect < SMALL);
            json!({
                "judgement": cell.judgement, "value": cell.value, "difference": cell.difference,
                "mark": if is_small { "small" } else { cell.judgement }, "effect": effect,
                "text": cell.value.as_ref().map_or_else(String::new, text),
            })
        };
        let row = |(place, row): (usize, &Vec<Cell>)| row.iter().map(|each| cell(place, each)).collect::<Value>();
        json!({
            "name": self.name, "heading": self.heading, "digits": self.digits,
            "cells": self.cells.iter().enumerate().map(row).collect::<Value>(),
            "counts": self.differences().iter().map(|each| json!(counts(each))).collect::<Value>(),
        })
    }
}

/// The class of a fair-share ratio: `starved`, `less`, `fair` or `more`.
fn part(share: f64) -> &'static str {
    match share {
        share if share < STARVED => "starved",
        share if share < LESS => "less",
        share if share > MORE => "more",
        _ => "fair",
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
