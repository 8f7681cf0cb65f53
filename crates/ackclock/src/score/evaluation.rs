//! Compares algorithms with the panel of a suite. The result is the document that `ackclock evaluate --json` prints.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::board::{Board, EnvironmentResult, Score, scores};
use super::environment::{Environment, Metric, WATCH, common};
use super::estimate::CONFIDENCE;
use super::objective::{ALPHA, Best, Costs, Objective, Scored, Stored, least_difference};
use super::ranking::{Difference, Place, Ranking};
use super::regret::{Regret, Table, regrets};
use super::rivals::{Algorithm, Contender, Neighbours, Rival, band, rivals, starves};
use super::runs::{Failure, Runs, Tried};
use super::sum::mean;
use super::verdict::{sentences, verdict};

/// The version of the document.
const SCHEMA: u32 = 1;
/// The number of candidates, from the top of the ranking, whose scores appear in full.
const SHOWN: usize = 3;

/// The parts of a suite that scores need.
#[derive(Clone, Debug, Deserialize)]
pub struct Suite {
    name: String,
    version: u32,
    pub(super) environments: Vec<Entry>,
    pub(super) panel: Vec<Algorithm>,
    baseline: Baseline,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    pub environment: Environment,
    question: String,
    neighbours: Option<Neighbours>,
}

/// The baseline of regret: stored scores, or the best of the table if `reason` rules them out.
#[derive(Clone, Debug, Deserialize)]
struct Baseline {
    title: String,
    stored: bool,
    algorithms: Vec<String>,
    reason: String,
    /// The least mean costs, by metric and environment.
    best: Best,
    /// The largest mean costs, which cap the weights of environments.
    #[serde(default)]
    worst: Best,
    /// Costs of the best algorithm per replicate, by environment and metric.
    #[serde(default)]
    best_costs: Costs,
    /// The seed of the stored runs.
    #[serde(default)]
    seed: Option<u64>,
    /// Costs of the reference per replicate, by metric and environment.
    reference_costs: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
}

/// A finished comparison of candidates with a panel.
pub struct Evaluation {
    pub(super) suite: Suite,
    pub(super) runs: Runs,
    best: Best,
    pub(super) objective: Objective,
    /// The outcome of each algorithm.
    pub(super) tried: Vec<Tried>,
    pub(super) ranking: Ranking,
    /// The places of the scoreboard's algorithms: the top of the ranking, then the panel.
    pub(super) shown: Vec<usize>,
    pub(super) board: Board,
}

impl Evaluation {
    /// Scores and ranks all runs.
    pub fn new(suite: Suite, runs: Runs) -> Self {
        let environments: Vec<Environment> = suite.environments.iter().map(|entry| entry.environment.clone()).collect();
        let algorithms = 0..runs.algorithms.len();
        let values = |at: usize| -> Vec<Option<Vec<Vec<f64>>>> {
            let failed = |place| runs.failures.iter().any(|each| (each.environment, each.algorithm) == (place, at));
            let of = |place: usize| (!failed(place)).then(|| by_metric(&runs.values[place][at]));
            (0..environments.len()).map(of).collect()
        };
        let values: Vec<_> = algorithms.clone().map(values).collect();
        let costs: Vec<Costs> = values.iter().map(|values| costs_of(&environments, values)).collect();
        let in_panel = |at: &usize| suite.panel.iter().any(|other| other.cc == runs.algorithms[*at].cc);
        let of_panel = || algorithms.clone().filter(in_panel).map(|at| &costs[at]);
        let (best, worst) = match suite.baseline.stored {
            true => (suite.baseline.best.clone(), suite.baseline.worst.clone()),
            false => (best_of(of_panel()), worst_of(of_panel())),
        };
        let objective = Objective::new(&environments, &runs.metric, &best, &worst);
        let stored = stored_parts(&suite.baseline, &objective, &best, runs.seed);
        let of = |(values, costs): (Vec<Option<Vec<Vec<f64>>>>, &Costs)| {
            let parts = objective.parts(costs, &best);
            let rows: Vec<Vec<f64>> = parts.iter().map(|(_, values)| values.clone()).collect();
            let is_whole = values.iter().all(Option::is_some);
            Tried { values, parts, scored: is_whole.then(|| Scored::new(&rows, stored.as_ref())) }
        };
        let tried: Vec<Tried> = values.into_iter().zip(&costs).map(of).collect();
        let ranking = Ranking::new(&runs, &suite.panel, &tried);
        let panel = suite.panel.iter().map(|other| place_of(&runs, other));
        let mut shown = ranking.first(SHOWN);
        let first: Vec<usize> = shown.clone();
        shown.extend(panel.filter(|at| !first.contains(at)));
        let board = board(&suite, &runs, &shown);
        Evaluation { suite, runs, best, objective, tried, ranking, shown, board }
    }

    /// The whole evaluation, as `ackclock evaluate --json` prints it.
    pub fn document(&self) -> Value {
        let rivals = self.rivals();
        let candidates = self.shown.iter().map(|at| &self.runs.algorithms[*at]);
        json!({
            "schema": SCHEMA,
            "build": self.runs.build,
            "suite": { "name": self.suite.name, "version": self.suite.version },
            "seed": self.runs.seed,
            "sets": self.runs.sets,
            "confidence": CONFIDENCE,
            "candidates": candidates.map(|each| json!({ "label": each.label, "cc": each.cc })).collect::<Value>(),
            "reference": self.board.labels[self.board.reference],
            "verdict": self.verdict(&rivals),
            "regret_baseline": self.baseline(),
            "regrets": self.regrets(),
            "environments": self.environments(),
            "score": {
                "metric": self.runs.metric, "heading": self.objective.heading, "better": "lower", "alpha": ALPHA, "budget": null,
                "ended": self.ranking.ended,
            },
            "ranking": self.ranking.places.iter().map(|place| self.entry(place)).collect::<Value>(),
            "panel": self.panel().into_iter().map(|(index, at)| self.entry(&Place::of_panel(index, at))).collect::<Value>(),
            "competitors": rivals.iter().map(|rival| self.rival(rival)).collect::<Value>(),
            "rounds": [{
                "replicates": self.runs.replicates, "candidates": self.runs.candidates.len(), "alpha": self.ranking.alpha, "work": 0.0,
                "dropped": self.ranking.dropped, "failed": self.ranking.failed,
            }],
        })
    }

    fn verdict(&self, rivals: &[Rival]) -> String {
        if self.ranking.best().is_none() {
            return "Every candidate failed.".to_owned();
        }
        let titles: Vec<String> = self.board.results.iter().map(|result| result.title.clone()).collect();
        let mut told = vec![verdict(&self.board)];
        told.extend(sentences(rivals, &titles, &self.objective.heading, least_difference(&self.runs.metric)));
        told.join(" ")
    }

    pub(super) fn place(&self, algorithm: &Algorithm) -> usize {
        place_of(&self.runs, algorithm)
    }

    /// The panel, best first. Each entry is a place in the panel's list and a place among all algorithms.
    pub(super) fn panel(&self) -> Vec<(usize, usize)> {
        let mut panel: Vec<(usize, usize)> =
            self.suite.panel.iter().enumerate().map(|(index, other)| (index, self.place(other))).collect();
        panel.sort_by(|(_, one), (_, other)| self.tried[*one].mean().total_cmp(&self.tried[*other].mean()));
        panel
    }

    fn rivals(&self) -> Vec<Rival> {
        let Some(best) = self.ranking.best().and_then(|place| self.tried[place.algorithm].scored.as_ref()) else {
            return Vec::new();
        };
        let contender = |algorithm: &Algorithm| {
            let scored = self.tried[self.place(algorithm)].scored.as_ref()?;
            Some(Contender { algorithm: algorithm.clone(), values: scored.values.clone() })
        };
        let panel: Vec<Contender> = self.suite.panel.iter().filter_map(contender).collect();
        let neighbours: Vec<_> = self.suite.environments.iter().map(|entry| entry.neighbours.clone()).collect();
        let algorithms: Vec<Algorithm> = self.shown.iter().map(|at| self.runs.algorithms[*at].clone()).collect();
        rivals(&self.board, &algorithms, &best.values, &panel, &neighbours)
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
                "id": entry.environment.id, "title": entry.environment.title, "question": entry.question, "fixed": result.exact,
                "scores": rows,
            })
        };
        self.suite.environments.iter().zip(&self.board.results).map(of).collect()
    }

    /// The regret by candidate and metric.
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

    /// The environments that score a metric, with its costs.
    fn table(&self, scale: &Scale) -> (Vec<usize>, Table) {
        let places: Vec<usize> = (0..self.board.results.len())
            .filter(|place| self.board.results[*place].metric(&scale.name).is_some())
            .collect();
        let costs = |place: &usize| {
            let result = &self.board.results[*place];
            let at = result.metric(&scale.name).expect("these environments have the metric");
            let better = result.metrics[at].better;
            result.scores.iter().map(|row| better.costs(&row[at].values)).collect()
        };
        let environment = |place: &usize| &self.suite.environments[*place].environment;
        let id = |place: &usize| &environment(place).id;
        let baseline = &self.suite.baseline;
        let table = Table {
            costs: places.iter().map(costs).collect(),
            best: baseline.stored.then(|| places.iter().map(|place| self.best[&scale.name][id(place)]).collect()),
            best_costs: (baseline.stored && !baseline.best_costs.is_empty())
                .then(|| places.iter().map(|place| baseline.best_costs[id(place)][&scale.name].clone()).collect()),
            paired: baseline.seed == Some(self.runs.seed),
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

    /// An algorithm with its score and rank.
    fn entry(&self, place: &Place) -> Value {
        let Tried { values, parts, scored } = &self.tried[place.algorithm];
        let environment = |(at, (entry, result)): (usize, (&Entry, &EnvironmentResult))| {
            let id = &entry.environment.id;
            let score = parts.iter().find(|(name, _)| name == id).map_or(0.0, |(_, values)| mean(values));
            let rows = values[at].as_ref().expect("what has a score has values everywhere");
            let metrics = result.metrics.iter().zip(rows).map(|(metric, values)| {
                let regret = mean(&metric.better.costs(values)) - self.best[&metric.name][id];
                (metric.name.clone(), json!({ "mean": mean(values), "regret": regret }))
            });
            (id.clone(), json!({ "score": score, "metrics": metrics.collect::<Value>() }))
        };
        let rows = self.suite.environments.iter().zip(&self.board.results).enumerate();
        let environments: Value = if scored.is_some() { rows.map(environment).collect() } else { json!({}) };
        let algorithm = &self.runs.algorithms[place.algorithm];
        let failure = |failure: &Failure| {
            let id = &self.suite.environments[failure.environment].environment.id;
            json!({ "environment": id, "replicate": failure.replicate, "message": failure.message })
        };
        let difference = |difference: &Difference| json!({ "mean": difference.mean, "low": difference.low, "to": self.runs.algorithms[difference.leader].label });
        json!({
            "rank": place.rank,
            "index": place.index,
            "candidate": algorithm.label,
            "cc": algorithm.cc,
            "standing": place.standing,
            "score": scored.as_ref().map(|scored| scored.value.mean),
            "low": scored.as_ref().and_then(|scored| scored.value.low),
            "high": scored.as_ref().and_then(|scored| scored.value.high),
            "values": scored.as_ref().map_or(Vec::new(), |scored| scored.values.clone()),
            "replicates": self.runs.replicates,
            "round": place.round,
            "difference": place.difference.as_ref().map(difference),
            "failure": self.runs.first_failure(place.algorithm).map(failure),
            "worst": scored.as_ref().map(|scored| &parts[scored.worst].0),
            "environments": environments,
        })
    }

    fn rival(&self, rival: &Rival) -> Value {
        let beside = rival.beside.iter().map(|beside| {
            let id = &self.suite.environments[beside.place].environment.id;
            json!({
                "environment": id, "share": beside.theirs, "candidate_share": beside.ours,
                "band": band(&beside.theirs).word(), "harm": beside.harm,
            })
        });
        json!({
            "competitor": rival.algorithm.label,
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

/// A metric of regret, and the environments that score it.
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
        found.push(scale(WATCH, "watched metric (relative)".to_owned()));
        found
    }
}

fn place_of(runs: &Runs, algorithm: &Algorithm) -> usize {
    let same = runs.algorithms.iter().position(|each| each.cc == algorithm.cc);
    same.expect("every algorithm of the panel was run")
}

/// The scoreboard of some algorithms. The first of the panel is the reference.
fn board(suite: &Suite, runs: &Runs, shown: &[usize]) -> Board {
    let is_reference = |at: &usize| runs.algorithms[*at].cc == suite.panel[0].cc;
    let reference = shown.iter().position(is_reference).unwrap_or(0);
    let result = |(place, entry): (usize, &Entry)| {
        let metrics = entry.environment.metrics();
        let values: Vec<Vec<Vec<f64>>> = shown.iter().map(|at| runs.values[place][*at].clone()).collect();
        let exact = !shown.iter().any(|at| runs.random[place][*at]);
        EnvironmentResult {
            title: entry.environment.title.clone(),
            scores: scores(&metrics, &values, reference, exact),
            metrics,
            exact,
        }
    };
    Board {
        labels: shown.iter().map(|at| runs.algorithms[*at].label.clone()).collect(),
        reference,
        results: suite.environments.iter().enumerate().map(result).collect(),
    }
}

/// Values by metric and replicate.
fn by_metric(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = values.first().map_or(0, Vec::len);
    (0..count).map(|metric| values.iter().map(|row| row[metric]).collect()).collect()
}

/// Costs in the environments without a failed run.
fn costs_of(environments: &[Environment], values: &[Option<Vec<Vec<f64>>>]) -> Costs {
    let of = |(environment, rows): (&Environment, &Option<Vec<Vec<f64>>>)| {
        let metrics = environment.metrics().into_iter().zip(rows.as_ref()?);
        let costs = metrics.map(|(metric, values)| (metric.name, metric.better.costs(values)));
        Some((environment.id.clone(), costs.collect()))
    };
    environments.iter().zip(values).filter_map(of).collect()
}

/// The contribution of the stored best scores per replicate, if the replicates of the panel are stored.
fn stored_parts(baseline: &Baseline, objective: &Objective, best: &Best, seed: u64) -> Option<Stored> {
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
