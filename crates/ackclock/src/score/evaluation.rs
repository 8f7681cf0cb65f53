//! An algorithm against the panel of a suite, from the values of all runs: what `ackclock evaluate --json` prints of one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::board::{Board, EnvironmentResult, Score, by_replicate, scores};
use super::environment::{Environment, Metric, WATCH, common};
use super::estimate::{CONFIDENCE, compared, estimate};
use super::objective::{ALPHA, Best, Costs, Objective, SHARES, Scored};
use super::regret::{Regret, Table, regrets};
use super::rivals::{Algorithm, Contender, Neighbours, Rival, rivals, starves};
use super::sum::mean;
use super::verdict::{sentences, verdict};

/// The version of the document.
const SCHEMA: u32 = 1;

/// What scores need to know of a suite.
#[derive(Clone, Debug, Deserialize)]
pub struct Suite {
    name: String,
    version: u32,
    environments: Vec<Entry>,
    panel: Vec<Algorithm>,
    baseline: Baseline,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    #[serde(flatten)]
    environment: Environment,
    question: String,
    neighbours: Option<Neighbours>,
}

/// What regret is measured against: stored scores, unless there is a reason why not.
#[derive(Clone, Debug, Deserialize)]
struct Baseline {
    title: String,
    stored: bool,
    algorithms: Vec<String>,
    reason: String,
    /// By metric and environment.
    best: Best,
    /// Costs per replicate of the reference, by metric and environment.
    reference_costs: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

/// All runs of an evaluation.
#[derive(Clone, Debug, Deserialize)]
pub struct Runs {
    /// What ran them: version and fingerprint of the sources.
    build: String,
    seed: u64,
    replicates: u64,
    /// The candidate, then the algorithms of the panel that are not the same.
    algorithms: Vec<Algorithm>,
    /// Whether replicates differ, by environment and algorithm.
    random: Vec<Vec<bool>>,
    /// By environment, algorithm, replicate and metric.
    values: Vec<Vec<Vec<Vec<f64>>>>,
}

/// What environments add to a score, per replicate.
type Parts = Vec<(String, Vec<f64>)>;

/// An algorithm against a panel, judged.
pub struct Evaluation {
    suite: Suite,
    runs: Runs,
    board: Board,
    best: Best,
    objective: Objective,
    /// By algorithm: what each environment adds, and the score.
    scored: Vec<(Parts, Scored)>,
}

impl Evaluation {
    /// Judges all runs.
    pub fn new(suite: Suite, runs: Runs) -> Self {
        let is_reference = |other: &Algorithm| other.cc == suite.panel[0].cc;
        let reference = runs.algorithms.iter().position(is_reference).unwrap_or(0);
        let result = |(place, entry): (usize, &Entry)| {
            let metrics = entry.environment.metrics();
            let exact = !runs.random[place].contains(&true);
            EnvironmentResult {
                title: entry.environment.title.clone(),
                scores: scores(&metrics, &runs.values[place], reference, exact),
                metrics,
                exact,
            }
        };
        let board = Board {
            labels: runs.algorithms.iter().map(|algorithm| algorithm.label.clone()).collect(),
            reference,
            results: suite.environments.iter().enumerate().map(result).collect(),
        };
        let environments: Vec<Environment> = suite.environments.iter().map(|entry| entry.environment.clone()).collect();
        let costs: Vec<Costs> = (0..board.labels.len()).map(|at| costs_of(&environments, &board, at)).collect();
        let best = if suite.baseline.stored {
            suite.baseline.best.clone()
        } else {
            let in_panel = |at: &usize| suite.panel.iter().any(|other| other.cc == runs.algorithms[*at].cc);
            best_of((0..costs.len()).filter(in_panel).map(|at| &costs[at]))
        };
        let objective = Objective::new(&environments, SHARES, &best);
        let score = |costs: &Costs| {
            let parts = objective.parts(costs, &best);
            let rows: Vec<Vec<f64>> = parts.iter().map(|(_, values)| values.clone()).collect();
            (parts, Scored::new(&rows))
        };
        let scored = costs.iter().map(score).collect();
        Evaluation { suite, runs, board, best, objective, scored }
    }

    /// Everything of it, as the command's `--json` has it.
    pub fn document(&self) -> Value {
        let rivals = self.rivals();
        let titles: Vec<String> = self.board.results.iter().map(|result| result.title.clone()).collect();
        let mut told = vec![verdict(&self.board)];
        told.extend(sentences(&rivals, &titles, &self.objective.heading));
        let random = self.runs.random.iter().flatten().any(|random| *random);
        let ended =
            if random { "all replicates were run" } else { "nothing is random, so that one replicate says all" };
        let mut panel: Vec<(usize, usize)> =
            self.suite.panel.iter().enumerate().map(|(index, other)| (index, self.place(other))).collect();
        panel.sort_by(|(_, one), (_, other)| {
            self.scored[*one].1.value.mean.total_cmp(&self.scored[*other].1.value.mean)
        });
        let candidates = self.runs.algorithms.iter();
        json!({
            "schema": SCHEMA,
            "build": self.runs.build,
            "suite": { "name": self.suite.name, "version": self.suite.version },
            "seed": self.runs.seed,
            "sets": [],
            "confidence": CONFIDENCE,
            "candidates": candidates.map(|each| json!({ "label": each.label, "cc": each.cc })).collect::<Value>(),
            "reference": self.board.labels[self.board.reference],
            "verdict": told.join(" "),
            "regret_baseline": self.baseline(),
            "regrets": self.regrets(),
            "environments": self.environments(),
            "score": {
                "metric": SHARES, "heading": self.objective.heading, "better": "lower", "alpha": ALPHA, "budget": null, "ended": ended,
            },
            "ranking": [self.entry(0, 0, "best")],
            "panel": panel.into_iter().map(|(index, at)| self.entry(index, at, "panel")).collect::<Value>(),
            "rivals": rivals.iter().map(|rival| self.rival(rival)).collect::<Value>(),
            "rounds": [{
                "replicates": self.runs.replicates, "candidates": 1, "alpha": ALPHA, "work": 0.0, "dropped": [], "failed": [],
            }],
        })
    }

    /// The same at a glance: by environment and algorithm what its part of the score says beside the reference; and throughput
    /// against delay, means over environments.
    pub fn overview(&self) -> Value {
        let algorithms = 0..self.board.labels.len();
        let cell = |place: usize, at: usize| {
            let id = &self.suite.environments[place].environment.id;
            let part = |at: usize| self.scored[at].0.iter().find(|(name, _)| name == id).map(|(_, values)| values);
            let (ours, theirs) = (part(at)?, part(self.board.reference)?);
            let exact = !self.runs.random[place][at] && !self.runs.random[place][self.board.reference];
            let difference = compared(ours, theirs, exact);
            let judgement = difference.map_or("", |difference| difference.judgement().word());
            Some(json!({ "score": mean(ours), "difference": difference, "judgement": judgement }))
        };
        let rows = 0..self.board.results.len();
        let spot = |at: usize| {
            let over_environments = |name: &str| {
                let rows = self.board.results.iter().map(|result| {
                    let metric = result.metrics.iter().position(|metric| metric.name == name);
                    result.scores[at][metric.expect("every environment has it")].values.clone()
                });
                let rows: Vec<Vec<f64>> = rows.collect();
                let count = rows.len() as f64;
                let means: Vec<f64> = by_replicate(&rows).iter().map(|sum| sum / count).collect();
                estimate(&means, CONFIDENCE)
            };
            json!({ "throughput": over_environments("efficiency"), "delay": over_environments("queue_delay") })
        };
        json!({
            "cells": rows.map(|place| algorithms.clone().map(|at| cell(place, at)).collect::<Value>()).collect::<Value>(),
            "plane": algorithms.clone().map(spot).collect::<Value>(),
        })
    }

    fn place(&self, algorithm: &Algorithm) -> usize {
        let same = self.runs.algorithms.iter().position(|each| each.cc == algorithm.cc);
        same.expect("every algorithm of the panel was run")
    }

    fn rivals(&self) -> Vec<Rival> {
        let contender = |algorithm: &Algorithm| Contender {
            algorithm: algorithm.clone(),
            values: self.scored[self.place(algorithm)].1.values.clone(),
        };
        let panel: Vec<Contender> = self.suite.panel.iter().map(contender).collect();
        let neighbours: Vec<_> = self.suite.environments.iter().map(|entry| entry.neighbours.clone()).collect();
        rivals(&self.board, &self.runs.algorithms, &self.scored[0].1.values, &panel, &neighbours)
    }

    fn baseline(&self) -> Value {
        let baseline = &self.suite.baseline;
        let algorithms = if baseline.stored { &baseline.algorithms } else { &self.board.labels };
        json!({ "title": baseline.title, "stored": baseline.stored, "algorithms": algorithms, "reason": baseline.reason })
    }

    fn environments(&self) -> Value {
        let score = |metric: &Metric, score: &Score| {
            json!({
                "heading": metric.heading(),
                "mean": score.value.mean, "low": score.value.low, "high": score.value.high,
                "cost_difference": score.cost_difference,
                "values": score.values,
                "judgement": score.judgement().word(),
            })
        };
        let of = |(entry, result): (&Entry, &EnvironmentResult)| {
            let row = |(label, row): (&String, &Vec<Score>)| {
                let metrics =
                    result.metrics.iter().zip(row).map(|(metric, each)| (metric.name.clone(), score(metric, each)));
                json!({ "candidate": label, "metrics": metrics.collect::<Value>() })
            };
            let rows = self.board.labels.iter().zip(&result.scores).map(row).collect::<Value>();
            json!({
                "id": entry.environment.id, "title": entry.environment.title, "question": entry.question, "scores": rows,
            })
        };
        self.suite.environments.iter().zip(&self.board.results).map(of).collect()
    }

    /// Regret by candidate and metric.
    fn regrets(&self) -> Value {
        let found: Vec<(Scale, Vec<Regret>)> = Scale::all()
            .into_iter()
            .filter_map(|scale| {
                let table = self.table(&scale);
                (!table.1.costs.is_empty()).then(|| (Scale { places: table.0, ..scale }, regrets(&table.1)))
            })
            .collect();
        let of = |(at, label): (usize, &String)| {
            let metrics = found.iter().map(|(scale, row)| (scale.name.clone(), self.regret(scale, &row[at])));
            json!({ "candidate": label, "metrics": metrics.collect::<Value>() })
        };
        self.board.labels.iter().enumerate().map(of).collect()
    }

    /// The environments that have a metric, and its costs in them.
    fn table(&self, scale: &Scale) -> (Vec<usize>, Table) {
        let at = |result: &EnvironmentResult| result.metrics.iter().position(|metric| metric.name == scale.name);
        let places: Vec<usize> =
            (0..self.board.results.len()).filter(|place| at(&self.board.results[*place]).is_some()).collect();
        let costs = |place: &usize| {
            let result = &self.board.results[*place];
            let at = at(result).expect("these environments have the metric");
            let better = result.metrics[at].better;
            result.scores.iter().map(|row| row[at].values.iter().map(|value| better.cost(*value)).collect()).collect()
        };
        let environment = |place: &usize| &self.suite.environments[*place].environment;
        let id = |place: &usize| &environment(place).id;
        let baseline = &self.suite.baseline;
        let table = Table {
            costs: places.iter().map(costs).collect(),
            best: baseline.stored.then(|| places.iter().map(|place| self.best[&scale.name][id(place)]).collect()),
            relative: places.iter().map(|place| environment(place).is_relative(&scale.name)).collect(),
            algorithms: if baseline.stored { baseline.algorithms.len() } else { self.board.labels.len() },
            reference_costs: baseline
                .reference_costs
                .get(&scale.name)
                .map(|costs| places.iter().map(|place| costs[id(place)].clone()).collect()),
            reference: self.board.reference,
        };
        (places, table)
    }

    fn regret(&self, scale: &Scale, regret: &Regret) -> Value {
        let id = |at: usize| self.suite.environments[scale.places[at]].environment.id.clone();
        let by_environment = regret.by_environment.iter().enumerate().map(|(at, value)| (id(at), json!(value)));
        json!({
            "heading": scale.heading,
            "worst_case": regret.worst_case,
            "total": regret.total,
            "mean": regret.total.mean / regret.by_environment.len() as f64,
            "worst": id(regret.worst),
            "by_environment": by_environment.collect::<Value>(),
            "noise_floor": regret.noise_floor,
        })
    }

    /// An algorithm with its score.
    fn entry(&self, index: usize, at: usize, standing: &str) -> Value {
        let (parts, scored) = &self.scored[at];
        let environment = |(entry, result): (&Entry, &EnvironmentResult)| {
            let id = &entry.environment.id;
            let score = parts.iter().position(|(name, _)| name == id).map_or(0.0, |part| scored.by_environment[part]);
            let metrics = result.metrics.iter().zip(&result.scores[at]).map(|(metric, score)| {
                let costs: Vec<f64> = score.values.iter().map(|value| metric.better.cost(*value)).collect();
                let regret = mean(&costs) - self.best[&metric.name][id];
                (metric.name.clone(), json!({ "mean": mean(&score.values), "regret": regret }))
            });
            (id.clone(), json!({ "score": score, "metrics": metrics.collect::<Value>() }))
        };
        let algorithm = &self.runs.algorithms[at];
        json!({
            "rank": if standing == "best" { Some(1) } else { None },
            "index": index,
            "candidate": algorithm.label,
            "cc": algorithm.cc,
            "standing": standing,
            "score": scored.value.mean, "low": scored.value.low, "high": scored.value.high,
            "values": scored.values,
            "replicates": self.runs.replicates,
            "round": null, "difference": null, "failure": null,
            "worst": parts[scored.worst].0,
            "environments": self.suite.environments.iter().zip(&self.board.results).map(environment).collect::<Value>(),
        })
    }

    fn rival(&self, rival: &Rival) -> Value {
        let beside = rival.beside.iter().map(|beside| {
            let id = &self.suite.environments[beside.place].environment.id;
            json!({ "environment": id, "share": beside.theirs, "candidate_share": beside.ours })
        });
        json!({
            "rival": rival.algorithm.label,
            "cc": rival.algorithm.cc,
            "difference": rival.difference,
            "judgement": rival.difference.map_or("", |difference| difference.judgement().word()),
            "delay_ratio": rival.delay_ratio,
            "starved": rival.worst().map(|beside| starves(&beside.theirs).word()),
            "starves_candidate": rival.hardest().map(|beside| starves(&beside.ours).word()),
            "beside": beside.collect::<Value>(),
        })
    }
}

/// A metric of regret, and the environments that have it.
struct Scale {
    name: String,
    heading: String,
    places: Vec<usize>,
}

impl Scale {
    fn all() -> Vec<Scale> {
        let common = common();
        let scale = |name: &str, heading: String| Scale { name: name.to_owned(), heading, places: Vec::new() };
        let mut found: Vec<Scale> = common.iter().map(|metric| scale(&metric.name, metric.heading())).collect();
        found.push(scale(WATCH, "watched metric".to_owned()));
        found
    }
}

fn costs_of(environments: &[Environment], board: &Board, at: usize) -> Costs {
    let of = |(environment, result): (&Environment, &EnvironmentResult)| {
        let costs = result.metrics.iter().zip(&result.scores[at]).map(|(metric, score)| {
            (metric.name.clone(), score.values.iter().map(|value| metric.better.cost(*value)).collect())
        });
        (environment.id.clone(), costs.collect())
    };
    environments.iter().zip(&board.results).map(of).collect()
}

/// The least mean costs, by metric and environment.
pub fn best_of<'a>(every: impl Iterator<Item = &'a Costs>) -> Best {
    let mut best = Best::new();
    for costs in every {
        for (environment, row) in costs {
            for (name, values) in row {
                let there = best.entry(name.clone()).or_default().entry(environment.clone()).or_insert(f64::INFINITY);
                *there = there.min(mean(values));
            }
        }
    }
    best
}
