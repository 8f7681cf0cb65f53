//! Ranks the candidates of an evaluation and tests their differences, as a race of one round.
//!
//! `docs/learn/how-algorithms-are-compared.md` explains the rules.

use super::estimate::estimate;
use super::objective::ALPHA;
use super::rivals::Algorithm;
use super::runs::{Runs, Tried};

/// The paired difference between a score and the leader's score.
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

/// A candidate in the ranking, or an algorithm of the panel.
pub(super) struct Place {
    /// The place in the list of candidates or in the panel.
    pub index: usize,
    /// The place among all algorithms.
    pub algorithm: usize,
    pub standing: &'static str,
    pub rank: Option<usize>,
    pub round: Option<usize>,
    /// The difference to the leader, or none for the best and for failed candidates.
    pub difference: Option<Difference>,
}

impl Place {
    /// An algorithm of the panel, which has no rank.
    pub fn of_panel(index: usize, algorithm: usize) -> Self {
        Place { index, algorithm, standing: "panel", rank: None, round: None, difference: None }
    }
}

/// All candidates, best first and failed ones last.
pub(super) struct Ranking {
    pub places: Vec<Place>,
    /// The level of each comparison with the leader.
    pub alpha: f64,
    /// The significantly worse candidates, by their places in the list of candidates.
    pub dropped: Vec<usize>,
    /// The failed candidates, by their places in the list of candidates.
    pub failed: Vec<usize>,
    /// The reason for the end of the race.
    pub ended: &'static str,
}

impl Ranking {
    pub fn new(runs: &Runs, panel: &[Algorithm], tried: &[Tried]) -> Self {
        let alpha = ALPHA / runs.candidates.len().saturating_sub(1).max(1) as f64;
        let mut order: Vec<(usize, usize)> = runs.candidates.iter().copied().enumerate().collect();
        order.sort_by(|(_, one), (_, other)| tried[*one].mean().total_cmp(&tried[*other].mean()));
        let leader = order.first().filter(|(_, at)| tried[*at].scored.is_some()).copied();
        let place = |(rank, (index, algorithm)): (usize, &(usize, usize))| {
            let (index, algorithm) = (*index, *algorithm);
            if tried[algorithm].scored.is_none() {
                return Place { standing: "failed", round: Some(1), ..Place::of_panel(index, algorithm) };
            }
            let (_, first) = leader.expect("what has a score has a leader");
            let found = (rank > 0).then(|| difference(runs, tried, algorithm, first, alpha));
            let (standing, round) = match &found {
                None => ("best", None),
                Some(found) if found.is_clear() => ("worse", Some(1)),
                Some(_) => ("tied", None),
            };
            Place { index, algorithm, standing, rank: Some(rank + 1), round, difference: found }
        };
        let places: Vec<Place> = order.iter().enumerate().map(place).collect();
        let dropped = in_order(&places, "worse");
        let failed = in_order(&places, "failed");
        let ended = ended(runs, panel, &places);
        Ranking { places, alpha, dropped, failed, ended }
    }

    /// The candidate with the best score, or none if all failed.
    pub fn best(&self) -> Option<&Place> {
        self.places.first().filter(|place| place.rank.is_some())
    }

    /// The first few algorithms with a score, without duplicates.
    pub fn first(&self, most: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for place in self.places.iter().filter(|place| place.rank.is_some()) {
            if !found.contains(&place.algorithm) {
                found.push(place.algorithm);
            }
        }
        found.truncate(most);
        found
    }
}

fn in_order(places: &[Place], standing: &str) -> Vec<usize> {
    let mut found: Vec<usize> =
        places.iter().filter(|place| place.standing == standing).map(|place| place.index).collect();
    found.sort_unstable();
    found
}

/// The reason for the end of the race after one round.
fn ended(runs: &Runs, panel: &[Algorithm], places: &[Place]) -> &'static str {
    let alive: Vec<usize> =
        places.iter().filter(|place| matches!(place.standing, "best" | "tied")).map(|place| place.algorithm).collect();
    let in_panel = |at: usize| panel.iter().any(|other| other.cc == runs.algorithms[at].cc);
    let takes_part = |at: usize| alive.contains(&at) || in_panel(at);
    let is_random = |row: &Vec<bool>| row.iter().enumerate().any(|(at, random)| *random && takes_part(at));
    if alive.is_empty() {
        "all candidates failed"
    } else if !runs.random.iter().any(is_random) {
        "nothing is random, so one replicate is enough"
    } else if alive.len() == 1 && places.len() > 1 {
        "one candidate is left"
    } else {
        "all replicates were run"
    }
}

/// The paired difference of two scores, with its one-sided lower bound at level `alpha`.
fn difference(runs: &Runs, tried: &[Tried], ours: usize, leader: usize, alpha: f64) -> Difference {
    let values = |at: usize| &tried[at].scored.as_ref().expect("only what has a score is compared").values;
    let count = values(ours).len().max(values(leader).len());
    // The single replicate of a deterministic candidate counts for every replicate.
    let at = |row: &[f64], replicate: usize| if row.len() == count { row[replicate] } else { row[0] };
    let rows = 0..count;
    let differences: Vec<f64> =
        rows.map(|replicate| at(values(ours), replicate) - at(values(leader), replicate)).collect();
    // A two-sided interval at 1 - 2 alpha has a one-sided lower bound at alpha.
    let found = estimate(&differences, 1.0 - 2.0 * alpha);
    let exact = !runs.random.iter().any(|row| row[ours] || row[leader]);
    let low = if count == 1 { exact.then_some(found.mean) } else { found.low };
    Difference { mean: found.mean, low, leader }
}
