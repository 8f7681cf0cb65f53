//! The rivals of a candidate: whether it is better than each of them, and whether it starves them.
//!
//! `docs/learn/how-algorithms-are-compared.md` says which environments show that, and what starving means.

use serde::Deserialize;

use super::board::Board;
use super::environment::WATCH;
use super::estimate::{Estimate, compared};

/// Flows with less than this part of a fair share starve: of as many others each has nine times as much.
pub const STARVED: f64 = 0.2;

/// Flows with this part of a fair share or more are treated fairly: beside as many others each of these has at most twice as much,
/// as RFC 5348 §1 has it: "reasonably fair [...] within a factor of two".
pub const FAIR: f64 = 2.0 / 3.0;

/// What is left to flows, by the interval of their share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// From `FAIR` on.
    Fair,
    /// The interval contains `FAIR`.
    MaybeHarmed,
    /// From `STARVED` to `FAIR`.
    Harmed,
    /// The interval contains `STARVED`.
    MaybeStarved,
    /// Below `STARVED`.
    Starved,
}

impl Band {
    /// The word of documents.
    pub fn word(self) -> &'static str {
        match self {
            Band::Fair => "fair",
            Band::MaybeHarmed => "maybe-harmed",
            Band::Harmed => "harmed",
            Band::MaybeStarved => "maybe-starved",
            Band::Starved => "starved",
        }
    }
}

/// The band of a share of a fair share.
pub fn band(share: &Estimate) -> Band {
    let (low, high) = (share.low.unwrap_or(share.mean), share.high.unwrap_or(share.mean));
    match starves(share) {
        Starved::Yes => Band::Starved,
        Starved::Maybe => Band::MaybeStarved,
        Starved::No if high < FAIR => Band::Harmed,
        Starved::No if low < FAIR => Band::MaybeHarmed,
        Starved::No => Band::Fair,
    }
}

/// The harm to flows with this share (Ware et al., HotNets 2019): what they lose of their goodput alone, as a part of it.
///
/// Alone the flows of the rival would have all the goodput there is. A fair share among as many others is a harm of one half.
pub fn harm(share: f64, of_rival: usize, flows: usize) -> f64 {
    1.0 - share * of_rival as f64 / flows as f64
}

/// Whether flows starve: the interval of their share is below `STARVED`, contains it, or is above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starved {
    /// Beyond doubt.
    Yes,
    /// The interval leaves it open.
    Maybe,
    /// They do not.
    No,
}

impl Starved {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Starved::Yes => "yes",
            Starved::Maybe => "maybe",
            Starved::No => "no",
        }
    }
}

/// An algorithm, and what tells it from others: its kind with all parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Algorithm {
    /// What it is called.
    pub label: String,
    /// The kind with all parameters.
    pub cc: serde_json::Value,
}

/// An algorithm with its score.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Which.
    pub algorithm: Algorithm,
    /// The score of each replicate.
    pub values: Vec<f64>,
}

/// The flows of another algorithm that share the link with those under test.
#[derive(Clone, Debug, Deserialize)]
pub struct Neighbours {
    /// Which.
    pub rival: Algorithm,
    /// How many flows run it.
    pub of_rival: usize,
    /// How many flows there are altogether.
    pub flows: usize,
}

/// An environment in which flows of a rival stand beside those under test.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// The place of the environment.
    pub place: usize,
    /// The rival's share of a fair share beside the first candidate.
    pub theirs: Estimate,
    /// The share of the first candidate.
    pub ours: Estimate,
    /// The harm to the rival beside the first candidate.
    pub harm: f64,
}

/// How the first candidate compares with another algorithm, and what it leaves to it.
#[derive(Clone, Debug)]
pub struct Rival {
    /// Which.
    pub algorithm: Algorithm,
    /// The score of the candidate less that of the rival, below zero if the candidate is better. None for an algorithm that is not
    /// in the panel, and where one replicate shows no difference.
    pub difference: Option<Estimate>,
    /// The candidate's queueing delay over the rival's: the geometric mean over environments.
    pub delay_ratio: Option<f64>,
    /// The environments that have flows of the rival, the one with the least share first.
    pub beside: Vec<Beside>,
}

impl Rival {
    /// Where the rival gets least.
    pub fn worst(&self) -> Option<&Beside> {
        self.beside.first()
    }

    /// Where the candidate itself gets least beside it.
    pub fn hardest(&self) -> Option<&Beside> {
        self.beside.iter().min_by(|one, other| one.ours.mean.total_cmp(&other.ours.mean))
    }
}

/// Whether flows with this share of a fair share starve.
pub fn starves(share: &Estimate) -> Starved {
    let (low, high) = (share.low.unwrap_or(share.mean), share.high.unwrap_or(share.mean));
    match (low < STARVED, high < STARVED) {
        (_, true) => Starved::Yes,
        (true, false) => Starved::Maybe,
        (false, false) => Starved::No,
    }
}

/// The mean share of all other flows, where `of_rival` flows have this one: all shares together are as many as there are flows.
pub fn rest_of(share: &Estimate, of_rival: usize, flows: usize) -> Estimate {
    let rest = |value: f64| (flows as f64 - of_rival as f64 * value) / (flows - of_rival) as f64;
    Estimate { mean: rest(share.mean), low: share.high.map(rest), high: share.low.map(rest), count: share.count }
}

/// The panel in the order that was given, and what else the candidate met, without that candidate itself.
///
/// `algorithms` are those of the board, the candidate first; `neighbours` are by environment.
pub fn rivals(
    board: &Board,
    algorithms: &[Algorithm],
    best: &[f64],
    panel: &[Contender],
    neighbours: &[Option<Neighbours>],
) -> Vec<Rival> {
    let met = met(board, neighbours);
    let exact = board.results.iter().all(|result| result.exact);
    let mut others: Vec<&Algorithm> = Vec::new();
    let candidates = panel.iter().map(|contender| &contender.algorithm);
    for other in candidates.chain(met.iter().map(|(_, neighbours)| &neighbours.rival)) {
        if other.cc != algorithms[0].cc && others.iter().all(|known| known.label != other.label) {
            others.push(other);
        }
    }
    let rival = |algorithm: &Algorithm| {
        let same = panel.iter().find(|contender| contender.algorithm.cc == algorithm.cc);
        let of_board = algorithms.iter().position(|each| each.cc == algorithm.cc);
        let beside = met.iter().filter(|(_, neighbours)| neighbours.rival.cc == algorithm.cc);
        Rival {
            algorithm: algorithm.clone(),
            difference: same.and_then(|same| compared(best, &same.values, exact)),
            delay_ratio: of_board.and_then(|at| board.mean_ratio("queue_delay", at)),
            beside: beside.map(|(beside, _)| *beside).collect(),
        }
    };
    others.into_iter().map(rival).collect()
}

/// The environments that watch the share of another algorithm, the least share first.
fn met<'a>(board: &Board, neighbours: &'a [Option<Neighbours>]) -> Vec<(Beside, &'a Neighbours)> {
    let of = |(place, neighbours): (usize, &'a Option<Neighbours>)| {
        let (result, neighbours) = (&board.results[place], neighbours.as_ref()?);
        let at = result.metric(WATCH)?;
        let theirs = result.scores[0][at].value;
        let ours = rest_of(&theirs, neighbours.of_rival, neighbours.flows);
        let harm = harm(theirs.mean, neighbours.of_rival, neighbours.flows);
        Some((Beside { place, theirs, ours, harm }, neighbours))
    };
    let mut found: Vec<_> = neighbours.iter().enumerate().filter_map(of).collect();
    found.sort_by(|(one, _), (other, _)| one.theirs.mean.total_cmp(&other.theirs.mean));
    found
}
