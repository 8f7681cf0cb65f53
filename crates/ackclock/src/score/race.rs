//! A race gives candidates more and more replicates, drops the significantly worse ones, and ranks them.
//!
//! `docs/learn/how-algorithms-are-compared.md` explains the rules. Without a budget a race has a single round.

use std::collections::BTreeMap;

use super::environment::Environment;
use super::estimate::estimate;
use super::objective::{ALPHA, Best, Costs, Objective, Scored, Stored};
use super::rivals::Algorithm;
use super::runs::{Failure, Plan, Results, Tried, Wanted};
use super::suite::{Suite, best_of, costs_of, stored_parts, worst_of};
use super::sum::sum;

/// The number of replicates in the first round. With fewer, intervals are too wide to drop candidates.
const FIRST: usize = 4;
/// A round that the budget shortens must still add this share of replicates.
const LEAST_GROWTH: f64 = 0.5;

/// The paired difference between a score and the leader's score.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub mean: f64,
    /// The lower confidence bound of the difference, or none for one random replicate.
    pub low: Option<f64>,
    /// The place of the leader among all algorithms.
    pub leader: usize,
}

impl Difference {
    /// Whether the candidate is significantly worse.
    fn is_clear(&self) -> bool {
        self.low.is_some_and(|low| low > 0.0)
    }
}

/// A candidate or a member of the panel. The candidates come first. An algorithm may be both.
#[derive(Clone, Debug)]
pub(super) struct Entrant {
    /// The place among all algorithms.
    pub algorithm: usize,
    pub replicates: usize,
}

/// One round of a race.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// The number of replicates, including earlier rounds.
    pub replicates: usize,
    /// The number of participating candidates.
    pub candidates: usize,
    /// The level of each comparison with the leader.
    pub alpha: f64,
    /// The work of the round, in the unit of the budget.
    pub work: f64,
    /// The significantly worse candidates, by their places in the list of candidates.
    pub dropped: Vec<usize>,
    pub failed: Vec<usize>,
}

/// A candidate in the ranking, or an algorithm of the panel.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The place in the list of candidates or in the panel.
    pub index: usize,
    /// The place among all entrants.
    pub entrant: usize,
    pub standing: &'static str,
    pub rank: Option<usize>,
    /// The round in which the candidate was dropped or failed.
    pub round: Option<usize>,
    /// The difference to the leader, or none for the best and for failed candidates.
    pub difference: Option<Difference>,
}

/// The definition of scores, and their baseline.
pub(super) struct Measure {
    pub objective: Objective,
    pub best: Best,
    stored: Option<Stored>,
}

/// A candidate that left the race.
#[derive(Clone, Debug)]
struct Left {
    round: usize,
    standing: &'static str,
    difference: Option<Difference>,
}

/// A race of candidates against each other, alongside the panel of a suite.
pub struct Race {
    pub(super) suite: Suite,
    pub(super) plan: Plan,
    pub(super) environments: Vec<Environment>,
    pub(super) entrants: Vec<Entrant>,
    /// Values by environment, algorithm, replicate and metric.
    pub(super) values: Vec<Vec<Vec<Vec<f64>>>>,
    pub(super) failures: Vec<Failure>,
    pub(super) rounds: Vec<Round>,
    /// The candidates that still take part.
    alive: Vec<usize>,
    left: BTreeMap<usize, Left>,
    /// The differences of the last round.
    last: BTreeMap<usize, Difference>,
    used: f64,
    /// The number of replicates of the next round, or the reason for the end.
    next: Result<usize, &'static str>,
}

impl Race {
    /// Prepares a race. A budget that the first round exceeds is an error, which contains the work of that round.
    pub fn new(suite: Suite, plan: Plan) -> Result<Self, f64> {
        let panel = suite.panel.iter().map(|other| place_of(&plan.algorithms, other));
        let every = plan.candidates.iter().copied().chain(panel);
        let entrants = every.map(|algorithm| Entrant { algorithm, replicates: 0 }).collect();
        let first = if plan.limits.budget.is_some() { FIRST.min(plan.limits.most) } else { plan.limits.most };
        let environments: Vec<Environment> = suite.environments.iter().map(|entry| entry.environment.clone()).collect();
        let race = Race {
            values: vec![vec![Vec::new(); plan.algorithms.len()]; environments.len()],
            alive: (0..plan.candidates.len()).collect(),
            suite,
            plan,
            environments,
            entrants,
            failures: Vec::new(),
            rounds: Vec::new(),
            left: BTreeMap::new(),
            last: BTreeMap::new(),
            used: 0.0,
            next: Ok(first),
        };
        let work = race.work(first);
        let is_affordable = race.plan.limits.budget.as_ref().is_none_or(|budget| work <= budget.amount);
        if is_affordable { Ok(race) } else { Err(work) }
    }

    /// The runs of the next round, or none if the race is over.
    pub fn wanted(&self) -> Option<Wanted> {
        let replicates = self.next.ok()?;
        let mut algorithms: Vec<usize> = self.taking_part().map(|at| self.entrants[at].algorithm).collect();
        algorithms.sort_unstable();
        algorithms.dedup();
        Some(Wanted { replicates, algorithms })
    }

    /// Takes the runs of the wanted round, drops failed and significantly worse candidates, and plans the next round.
    pub fn add(&mut self, results: Results) {
        let replicates = self.next.expect("a race that is over takes no runs");
        let work = self.work(replicates);
        self.used += work;
        for (environment, algorithm, rows) in results.values {
            self.values[environment][algorithm].extend(rows);
        }
        self.failures.extend(results.failures);
        let taking_part: Vec<usize> = self.taking_part().collect();
        taking_part.into_iter().for_each(|at| self.entrants[at].replicates = replicates);
        let number = self.rounds.len() + 1;
        let candidates = self.alive.len();
        let (failed, alive): (Vec<usize>, Vec<usize>) =
            self.alive.iter().partition(|at| self.first_failure(self.entrants[**at].algorithm).is_some());
        for at in &failed {
            self.left.insert(*at, Left { round: number, standing: "failed", difference: None });
        }
        self.alive = alive;
        // The levels of all rounds add up to at most ALPHA, as 1/2 + 1/6 + 1/12 + ... = 1.
        let is_budgeted = self.plan.limits.budget.is_some();
        let spent = if is_budgeted { ALPHA / (number * (number + 1)) as f64 } else { ALPHA };
        // Chance selects the leader, so the family has every ordered pair of candidates.
        let count = self.plan.candidates.len();
        let alpha = spent / (count * (count - 1)).max(1) as f64;
        self.last = self.differences(alpha);
        let clear = self.last.iter().filter(|(_, difference)| difference.is_clear());
        let dropped: Vec<usize> = clear.map(|(at, _)| *at).collect();
        for at in &dropped {
            let difference = Some(self.last[at].clone());
            self.left.insert(*at, Left { round: number, standing: "dropped", difference });
        }
        self.alive.retain(|at| !dropped.contains(at));
        self.rounds.push(Round { replicates, candidates, alpha, work, dropped, failed });
        self.next = self.following(replicates);
    }

    /// The reason for the end of the race.
    pub(super) fn ended(&self) -> &'static str {
        self.next.expect_err("an evaluation follows the last round")
    }

    /// The first run of an algorithm that failed, in the order of environments and replicates.
    pub(super) fn first_failure(&self, algorithm: usize) -> Option<&Failure> {
        let own = self.failures.iter().filter(|failure| failure.algorithm == algorithm);
        own.min_by(|one, other| {
            let key = |each: &Failure| (each.environment, each.replicate);
            key(one).cmp(&key(other)).then_with(|| one.message.cmp(&other.message))
        })
    }

    /// The places of the panel among all entrants.
    pub(super) fn panel(&self) -> impl Iterator<Item = usize> + use<> {
        self.plan.candidates.len()..self.entrants.len()
    }

    fn taking_part(&self) -> impl Iterator<Item = usize> + '_ {
        self.alive.iter().copied().chain(self.panel())
    }

    /// Whether any environment is random for an algorithm.
    fn is_random(&self, algorithm: usize) -> bool {
        self.plan.random.iter().any(|row| row[algorithm])
    }

    /// The work of all participants up to a number of replicates.
    fn work(&self, replicates: usize) -> f64 {
        let Some(budget) = &self.plan.limits.budget else { return 0.0 };
        let of = |at: usize| {
            let Entrant { algorithm, replicates: done } = self.entrants[at];
            let rows = self.plan.random.iter().enumerate();
            rows.map(move |(place, row)| {
                let wanted = if row[algorithm] { replicates } else { 1 };
                budget.weight(place) * wanted.saturating_sub(done) as f64
            })
        };
        sum(self.taking_part().flat_map(of))
    }

    /// The number of replicates of the next round, or the reason for the end of the race.
    fn following(&self, replicates: usize) -> Result<usize, &'static str> {
        let limits = &self.plan.limits;
        if self.alive.is_empty() {
            return Err("all candidates failed");
        }
        if !self.taking_part().any(|at| self.is_random(self.entrants[at].algorithm)) {
            return Err("nothing is random, so one replicate is enough");
        }
        let most = if self.alive.len() == 1 { limits.settled } else { limits.most };
        let Some(budget) = limits.budget.as_ref().filter(|_| replicates < most) else {
            let is_alone = self.alive.len() == 1 && self.plan.candidates.len() > 1;
            return Err(if is_alone { "one candidate is left" } else { "all replicates were run" });
        };
        let wanted = most.min(2 * replicates);
        let least = wanted.min(replicates + (LEAST_GROWTH * replicates as f64).ceil() as usize);
        let affordable = ((budget.amount - self.used) / self.work(replicates + 1)).floor();
        let affordable = replicates + affordable.max(0.0) as usize;
        if affordable >= least { Ok(wanted.min(affordable)) } else { Err("the budget is used up") }
    }

    /// The difference of each remaining candidate to the leader.
    fn differences(&self, alpha: f64) -> BTreeMap<usize, Difference> {
        if self.alive.is_empty() {
            return BTreeMap::new();
        }
        let measure = self.measure();
        let tried: BTreeMap<usize, Tried> = self.alive.iter().map(|at| (*at, self.tried(*at, &measure))).collect();
        let by_score = |one: &&usize, other: &&usize| tried[*one].mean().total_cmp(&tried[*other].mean());
        let leader = *self.alive.iter().min_by(by_score).expect("some candidate remains");
        let values = |at: usize| &tried[&at].scored.as_ref().expect("remaining candidates have scores").values;
        let others = self.alive.iter().filter(|at| **at != leader);
        others.map(|at| (*at, self.difference((*at, values(*at)), (leader, values(leader)), alpha))).collect()
    }

    /// The paired difference of two scores, with its one-sided lower bound at level `alpha`.
    fn difference(&self, (at, ours): (usize, &[f64]), (leader, theirs): (usize, &[f64]), alpha: f64) -> Difference {
        let (algorithm, leader) = (self.entrants[at].algorithm, self.entrants[leader].algorithm);
        let exact = !self.is_random(algorithm) && !self.is_random(leader);
        let (mean, low) = paired_bound(ours, theirs, alpha, exact);
        Difference { mean, low, leader }
    }

    /// The definition of scores, and the best scores from the store or from the panel.
    pub(super) fn measure(&self) -> Measure {
        let baseline = &self.suite.baseline;
        let (best, worst) = if baseline.stored {
            (baseline.best.clone(), baseline.worst.clone())
        } else {
            let panel: Vec<usize> = self.panel().collect();
            let whole = |at: &usize| self.first_failure(self.entrants[*at].algorithm).is_none();
            let every = if panel.is_empty() { (0..self.plan.candidates.len()).filter(whole).collect() } else { panel };
            let costs: Vec<Costs> = every.iter().map(|at| costs_of(&self.environments, &self.values_of(*at))).collect();
            (best_of(costs.iter()), worst_of(costs.iter()))
        };
        let objective = Objective::new(&self.environments, &self.plan.metric, &self.plan.weights, &best, &worst);
        let stored = stored_parts(baseline, &objective, &best, self.plan.seed);
        Measure { objective, best, stored }
    }

    /// The outcome of an entrant's runs.
    pub(super) fn tried(&self, at: usize, measure: &Measure) -> Tried {
        let values = self.values_of(at);
        let parts = measure.objective.parts(&costs_of(&self.environments, &values), &measure.best);
        let rows: Vec<Vec<f64>> = parts.iter().map(|(_, values)| values.clone()).collect();
        let is_whole = values.iter().all(Option::is_some);
        Tried { values, parts, scored: is_whole.then(|| Scored::new(&rows, measure.stored.as_ref())) }
    }

    /// Values by environment, metric and replicate, in environments without a failed run.
    fn values_of(&self, at: usize) -> Vec<Option<Vec<Vec<f64>>>> {
        let Entrant { algorithm, replicates } = self.entrants[at];
        let failed = |place| self.failures.iter().any(|each| (each.environment, each.algorithm) == (place, algorithm));
        let of = |place: usize| {
            let rows = &self.values[place][algorithm];
            (!failed(place)).then(|| by_metric(&rows[..rows.len().min(replicates)]))
        };
        (0..self.environments.len()).map(of).collect()
    }

    /// All candidates, by score in the last round, then by earlier rounds. Failed ones are last.
    pub(super) fn ranking(&self, tried: &[Tried]) -> Vec<Place> {
        let last = self.rounds.len();
        let place = |at: usize| {
            let plain = Place::of(at, at, "tied");
            let Some(left) = self.left.get(&at).cloned() else {
                return Place { difference: self.last.get(&at).cloned(), ..plain };
            };
            let is_last = left.standing == "dropped" && left.round == last;
            let standing = if is_last { "worse" } else { left.standing };
            Place { standing, round: Some(left.round), difference: left.difference, ..plain }
        };
        let reached = |place: &Place| match place.standing {
            "failed" => 0,
            "tied" | "worse" => last + 1,
            _ => place.round.unwrap_or(0),
        };
        let mut places: Vec<Place> = (0..self.plan.candidates.len()).map(place).collect();
        places.sort_by(|one, other| {
            let by_score = tried[one.entrant].mean().total_cmp(&tried[other.entrant].mean());
            reached(other).cmp(&reached(one)).then(by_score)
        });
        for (at, place) in places.iter_mut().enumerate().filter(|(_, place)| place.standing != "failed") {
            place.rank = Some(at + 1);
            place.standing = if at == 0 { "best" } else { place.standing };
        }
        places
    }
}

impl Place {
    fn of(index: usize, entrant: usize, standing: &'static str) -> Self {
        Place { index, entrant, standing, rank: None, round: None, difference: None }
    }

    /// An algorithm of the panel, which has no rank.
    pub fn of_panel(index: usize, entrant: usize) -> Self {
        Place::of(index, entrant, "panel")
    }
}

/// The mean paired difference of two scores, and its one-sided lower bound at level `alpha`.
///
/// A single value counts for every replicate of the other score. `exact`: whether nothing is random, so that one replicate is
/// enough.
pub fn paired_bound(ours: &[f64], theirs: &[f64], alpha: f64, exact: bool) -> (f64, Option<f64>) {
    let count = ours.len().max(theirs.len());
    let at = |row: &[f64], replicate: usize| if row.len() == count { row[replicate] } else { row[0] };
    let differences: Vec<f64> = (0..count).map(|replicate| at(ours, replicate) - at(theirs, replicate)).collect();
    // A two-sided interval at 1 - 2 alpha has a one-sided lower bound at alpha.
    let found = estimate(&differences, 1.0 - 2.0 * alpha);
    (found.mean, if count == 1 { exact.then_some(found.mean) } else { found.low })
}

/// The place of an algorithm in a list.
pub(super) fn place_of(every: &[Algorithm], algorithm: &Algorithm) -> usize {
    let same = every.iter().position(|each| each.cc == algorithm.cc);
    same.expect("every algorithm of the panel was run")
}

/// Values by metric and replicate.
fn by_metric(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = values.first().map_or(0, Vec::len);
    (0..count).map(|metric| values.iter().map(|row| row[metric]).collect()).collect()
}
