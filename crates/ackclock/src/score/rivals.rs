//! Compares a candidate with competing algorithms: its score against theirs, and the fair-share ratio of their flows.
//!
//! `docs/learn/how-algorithms-are-compared.md` defines starvation and names the environments that test it.

use serde::Deserialize;

use super::board::Board;
use super::environment::WATCH;
use super::estimate::{CONFIDENCE, Estimate, compared, estimate};

/// Flows below this fair-share ratio starve. Among an equal number of competing flows, each of those gets nine times as much.
pub const STARVED: f64 = 0.2;

/// Flows at or above this fair-share ratio are treated fairly. Among an equal number of competing flows, each of those gets at
/// most twice as much. RFC 5348 §1 calls a flow "reasonably fair" if it is "within a factor of two".
pub const FAIR: f64 = 2.0 / 3.0;

/// The treatment of flows, by the interval of their fair-share ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// At or above `FAIR`.
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
    /// The word in documents.
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

/// The band of a fair-share ratio.
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

/// The harm to flows with this fair-share ratio, after Ware et al. (HotNets 2019).
///
/// Harm is the lost part of the goodput that the flows achieve alone. Alone, the competing flows would achieve the total goodput.
/// A fair share among an equal number of other flows is a harm of 0.5.
pub fn harm(share: f64, of_rival: usize, flows: usize) -> f64 {
    1.0 - share * of_rival as f64 / flows as f64
}

/// Whether flows starve: the interval of their fair-share ratio is below `STARVED`, contains it, or is above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starved {
    /// The interval is below `STARVED`.
    Yes,
    /// The interval contains `STARVED`.
    Maybe,
    /// The interval is above `STARVED`.
    No,
}

impl Starved {
    /// The word in documents.
    pub fn word(self) -> &'static str {
        match self {
            Starved::Yes => "yes",
            Starved::Maybe => "maybe",
            Starved::No => "no",
        }
    }
}

/// An algorithm, identified by its kind and all parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Algorithm {
    /// The name in tables.
    pub label: String,
    /// The kind with all parameters.
    pub cc: serde_json::Value,
}

/// An algorithm with its score.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The score of each replicate.
    pub values: Vec<f64>,
}

/// The flows of another algorithm that share the link with those under test.
#[derive(Clone, Debug, Deserialize)]
pub struct Neighbours {
    /// The competing algorithm.
    pub rival: Algorithm,
    /// The number of flows that run it.
    pub of_rival: usize,
    /// The number of all flows.
    pub flows: usize,
}

/// An environment in which competing flows share the link with the flows under test.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// The place of the environment.
    pub place: usize,
    /// The fair-share ratio of the competing flows against the first candidate.
    pub theirs: Estimate,
    /// The fair-share ratio of the first candidate.
    pub ours: Estimate,
    /// The harm of the first candidate to the competing flows.
    pub harm: f64,
}

/// The comparison of the first candidate with a competing algorithm.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The competing algorithm.
    pub algorithm: Algorithm,
    /// The candidate's score minus the competitor's score, negative if the candidate is better. Algorithms outside the panel and
    /// single random replicates have no difference.
    pub difference: Option<Estimate>,
    /// The ratio of the candidate's queueing delay to the competitor's, as a geometric mean over environments.
    pub delay_ratio: Option<f64>,
    /// The environments with flows of the competitor, sorted by their fair-share ratio.
    pub beside: Vec<Beside>,
}

impl Rival {
    /// The environment in which the competing flows get least.
    pub fn worst(&self) -> Option<&Beside> {
        self.beside.first()
    }

    /// The environment in which the candidate gets least.
    pub fn hardest(&self) -> Option<&Beside> {
        self.beside.iter().min_by(|one, other| one.ours.mean.total_cmp(&other.ours.mean))
    }
}

/// Whether flows with this fair-share ratio starve.
pub fn starves(share: &Estimate) -> Starved {
    let (low, high) = (share.low.unwrap_or(share.mean), share.high.unwrap_or(share.mean));
    match (low < STARVED, high < STARVED) {
        (_, true) => Starved::Yes,
        (true, false) => Starved::Maybe,
        (false, false) => Starved::No,
    }
}

/// The mean fair-share ratio of all other flows, if `of_rival` flows have this one. The ratios add up to the number of flows.
pub fn rest_of(share: &Estimate, of_rival: usize, flows: usize) -> Estimate {
    let rest = |value: f64| (flows as f64 - of_rival as f64 * value) / (flows - of_rival) as f64;
    Estimate { mean: rest(share.mean), low: share.high.map(rest), high: share.low.map(rest), count: share.count }
}

/// The panel in its order, then all other competing algorithms, without the candidate itself.
///
/// `algorithms` are the algorithms of the board, starting with the candidate. `neighbours` has an entry per environment.
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

/// The environments that watch the fair-share ratio of another algorithm, sorted by that ratio.
///
/// The intervals are simultaneous (Bonferroni). All of them contain the true ratios at once with a probability of `CONFIDENCE`.
/// They therefore cover the choice of the lowest ratio.
fn met<'a>(board: &Board, neighbours: &'a [Option<Neighbours>]) -> Vec<(Beside, &'a Neighbours)> {
    let watched = |place: usize| board.results[place].metric(WATCH).map(|at| &board.results[place].scores[0][at]);
    let count =
        neighbours.iter().enumerate().filter(|(place, each)| each.is_some() && watched(*place).is_some()).count();
    let confidence = 1.0 - (1.0 - CONFIDENCE) / count.max(1) as f64;
    let of = |(place, neighbours): (usize, &'a Option<Neighbours>)| {
        let neighbours = neighbours.as_ref()?;
        let theirs = estimate(&watched(place)?.values, confidence);
        let ours = rest_of(&theirs, neighbours.of_rival, neighbours.flows);
        let harm = harm(theirs.mean, neighbours.of_rival, neighbours.flows);
        Some((Beside { place, theirs, ours, harm }, neighbours))
    };
    let mut found: Vec<_> = neighbours.iter().enumerate().filter_map(of).collect();
    found.sort_by(|(one, _), (other, _)| one.theirs.mean.total_cmp(&other.theirs.mean));
    found
}
