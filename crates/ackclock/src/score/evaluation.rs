//! Compares algorithms with the panel of a suite. The result is the document that `ackclock evaluate --json` prints.

use serde_json::{Value, json};

use super::board::{Board, EnvironmentResult, Score, scores};
use super::environment::{Metric, WATCH, common, delay_score};
use super::estimate::CONFIDENCE;
use super::objective::{ALPHA, SHARES, complete, least_difference};
use super::race::{Difference, Measure, Place, Race, Round, place_of};
use super::regret::{Regret, Table, regrets};
use super::rivals::{Algorithm, Contender, Rival, band, rivals, starves};
use super::runs::{Failure, Notes, Tried};
use super::suite::Entry;
use super::sum::mean;
use super::verdict::{sentences, verdict};

/// The version of the document.
const SCHEMA: u32 = 1;
/// The number of candidates, from the top of the ranking, whose scores appear in full.
const SHOWN: usize = 3;

/// A finished comparison of candidates with a panel.
pub struct Evaluation {
    pub(super) race: Race,
    notes: Notes,
    pub(super) measure: Measure,
    /// The outcome of each entrant.
    pub(super) tried: Vec<Tried>,
    /// The candidates, best first.
    pub(super) ranking: Vec<Place>,
    /// The panel, best first.
    pub(super) panel: Vec<Place>,
    /// The algorithms of the scoreboard: the top of the ranking, then the panel.
    pub(super) shown: Vec<usize>,
    pub(super) board: Board,
    pub(super) rivals: Vec<Rival>,
}

impl Evaluation {
    /// Scores and ranks all runs of a race that is over.
    pub fn new(race: Race, notes: Notes) -> Self {
        let measure = race.measure();
        let tried: Vec<Tried> = (0..race.entrants.len()).map(|at| race.tried(at, &measure)).collect();
        let ranking = race.ranking(&tried);
        let mut panel: Vec<Place> = race.panel().enumerate().map(|(index, at)| Place::of_panel(index, at)).collect();
        panel.sort_by(|one, other| tried[one.entrant].mean().total_cmp(&tried[other.entrant].mean()));
        let mut shown = first(&race, &ranking);
        let of_panel: Vec<usize> = race.panel().map(|at| race.entrants[at].algorithm).collect();
        let candidates = shown.clone();
        shown.extend(of_panel.into_iter().filter(|at| !candidates.contains(at)));
        let board = board(&race, &shown);
        let mut found = Evaluation { race, notes, measure, tried, ranking, panel, shown, board, rivals: Vec::new() };
        found.rivals = found.competitors();
        found
    }

    /// The candidate with the best score, or none if all failed.
    pub(super) fn best(&self) -> Option<&Place> {
        self.ranking.first().filter(|place| place.rank.is_some())
    }

    /// The algorithm of a place.
    pub(super) fn algorithm(&self, place: &Place) -> &Algorithm {
        &self.race.plan.algorithms[self.race.entrants[place.entrant].algorithm]
    }

    /// The whole evaluation, as `ackclock evaluate --json` prints it.
    pub fn document(&self) -> Value {
        let plan = &self.race.plan;
        let candidates = self.shown.iter().map(|at| &plan.algorithms[*at]);
        json!({
            "schema": SCHEMA,
            "build": plan.build,
            "suite": {
                "name": self.race.suite.name, "version": self.race.suite.version, "subject": self.race.suite.subject,
            },
            "seed": plan.seed,
            "sets": plan.sets,
            "confidence": CONFIDENCE,
            "candidates": candidates.map(|each| json!({ "label": each.label, "cc": each.cc })).collect::<Value>(),
            "reference": self.board.labels[self.board.reference],
            "verdict": self.verdict(),
            "warnings": self.notes.warnings,
            "regret_baseline": self.baseline(),
            "regrets": self.regrets(),
            "environments": self.environments(),
            "score": {
                "metric": plan.metric, "heading": self.measure.objective.heading, "better": "lower", "alpha": ALPHA,
                "weights": (plan.metric == SHARES).then(|| complete(&plan.weights)),
                "budget": plan.limits.budget.as_ref().map(|budget| &budget.text), "ended": self.race.ended(),
            },
            "ranking": self.ranking.iter().map(|place| self.entry(place)).collect::<Value>(),
            "panel": self.panel.iter().map(|place| self.entry(place)).collect::<Value>(),
            "competitors": self.rivals.iter().map(|rival| self.rival(rival)).collect::<Value>(),
            "rounds": self.race.rounds.iter().map(round).collect::<Value>(),
        })
    }

    fn verdict(&self) -> String {
        if self.best().is_none() {
            return "Every candidate failed.".to_owned();
        }
        let titles: Vec<String> = self.board.results.iter().map(|result| result.title.clone()).collect();
        let mut told = Vec::from_iter(self.invalid().map(|text| format!("{text}:")));
        told.push(verdict(&self.board));
        let least = least_difference(&self.race.plan.metric);
        told.extend(sentences(&self.rivals, &titles, &self.measure.objective.heading, least));
        told.join(" ")
    }

    /// A mark for an evaluation with invalid runs.
    pub(super) fn invalid(&self) -> Option<String> {
        let (invalid, runs) = self.notes.invalid;
        (invalid > 0).then(|| format!("NOT VALID ({invalid} of {runs} runs missed their times)"))
    }

    fn competitors(&self) -> Vec<Rival> {
        let Some(best) = self.best().and_then(|place| self.tried[place.entrant].scored.as_ref()) else {
            return Vec::new();
        };
        let contender = |at: usize| {
            let algorithm = self.race.plan.algorithms[self.race.entrants[at].algorithm].clone();
            Some(Contender { algorithm, values: self.tried[at].scored.as_ref()?.values.clone() })
        };
        let panel: Vec<Contender> = self.race.panel().filter_map(contender).collect();
        let neighbours: Vec<_> = self.race.suite.environments.iter().map(|entry| entry.neighbours.clone()).collect();
        let algorithms: Vec<Algorithm> = self.shown.iter().map(|at| self.race.plan.algorithms[*at].clone()).collect();
        rivals(&self.board, &algorithms, &best.values, &panel, &neighbours)
    }

    fn baseline(&self) -> Value {
        let baseline = &self.race.suite.baseline;
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
        self.race.suite.environments.iter().zip(&self.board.results).map(of).collect()
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
        let environment = |place: &usize| &self.race.suite.environments[*place].environment;
        let id = |place: &usize| &environment(place).id;
        let baseline = &self.race.suite.baseline;
        let table = Table {
            costs: places.iter().map(costs).collect(),
            best: baseline
                .stored
                .then(|| places.iter().map(|place| self.measure.best[&scale.name][id(place)]).collect()),
            best_costs: (baseline.stored && !baseline.best_costs.is_empty())
                .then(|| places.iter().map(|place| baseline.best_costs[id(place)][&scale.name].clone()).collect()),
            paired: baseline.seed == Some(self.race.plan.seed),
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
        let id = |at: usize| self.race.suite.environments[scale.places[at]].environment.id.clone();
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
        let Tried { values, parts, scored } = &self.tried[place.entrant];
        let environment = |(at, (entry, result)): (usize, (&Entry, &EnvironmentResult))| {
            let id = &entry.environment.id;
            let score = parts.iter().find(|(name, _)| name == id).map_or(0.0, |(_, values)| mean(values));
            let rows = values[at].as_ref().expect("what has a score has values everywhere");
            let metrics = result.metrics.iter().zip(rows).map(|(metric, values)| {
                let regret = mean(&metric.better.costs(values)) - self.measure.best[&metric.name][id];
                (metric.name.clone(), json!({ "mean": mean(values), "regret": regret }))
            });
            (id.clone(), json!({ "score": score, "metrics": metrics.collect::<Value>() }))
        };
        let rows = self.race.suite.environments.iter().zip(&self.board.results).enumerate();
        let environments: Value = if scored.is_some() { rows.map(environment).collect() } else { json!({}) };
        let algorithm = self.algorithm(place);
        let failure = |failure: &Failure| {
            let id = &self.race.suite.environments[failure.environment].environment.id;
            json!({ "environment": id, "replicate": failure.replicate, "message": failure.message })
        };
        let difference = |difference: &Difference| json!({ "mean": difference.mean, "low": difference.low, "to": self.race.plan.algorithms[difference.leader].label });
        let failed = self.race.first_failure(self.race.entrants[place.entrant].algorithm);
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
            "replicates": self.race.entrants[place.entrant].replicates,
            "round": place.round,
            "difference": place.difference.as_ref().map(difference),
            "failure": failed.map(failure),
            "worst": scored.as_ref().map(|scored| &parts[scored.worst].0),
            "environments": environments,
        })
    }

    fn rival(&self, rival: &Rival) -> Value {
        let beside = rival.beside.iter().map(|beside| {
            let id = &self.race.suite.environments[beside.place].environment.id;
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
        found.push(scale(&delay_score().name, delay_score().heading()));
        found.push(scale(WATCH, "watched metric (relative)".to_owned()));
        found
    }
}

fn round(round: &Round) -> Value {
    json!({
        "replicates": round.replicates, "candidates": round.candidates, "alpha": round.alpha, "work": round.work,
        "dropped": round.dropped, "failed": round.failed,
    })
}

/// The first few algorithms of the ranking that finished the last round, without duplicates.
fn first(race: &Race, ranking: &[Place]) -> Vec<usize> {
    let last = race.rounds.last().map_or(0, |round| round.replicates);
    let mut found = Vec::new();
    for place in ranking.iter().filter(|place| place.rank.is_some()) {
        let entrant = &race.entrants[place.entrant];
        if entrant.replicates == last && !found.contains(&entrant.algorithm) {
            found.push(entrant.algorithm);
        }
    }
    found.truncate(SHOWN);
    found
}

/// The scoreboard of some algorithms. The first of the panel is the reference.
fn board(race: &Race, shown: &[usize]) -> Board {
    let algorithms = &race.plan.algorithms;
    let is_reference = |at: &usize| race.suite.panel.first().is_some_and(|first| place_of(algorithms, first) == *at);
    let reference = shown.iter().position(is_reference).unwrap_or(0);
    let result = |(place, entry): (usize, &Entry)| {
        let metrics = entry.environment.metrics();
        let values: Vec<Vec<Vec<f64>>> = shown.iter().map(|at| race.values[place][*at].clone()).collect();
        let exact = !shown.iter().any(|at| race.plan.random[place][*at]);
        EnvironmentResult {
            title: entry.environment.title.clone(),
            scores: scores(&metrics, &values, reference, exact),
            metrics,
            exact,
        }
    };
    Board {
        labels: shown.iter().map(|at| algorithms[*at].label.clone()).collect(),
        reference,
        results: race.suite.environments.iter().enumerate().map(result).collect(),
    }
}
