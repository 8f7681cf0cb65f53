//! Writes the verdict in sentences, from the scores alone.

use super::board::{Board, EnvironmentResult};
use super::environment::Metric;
use super::estimate::{Estimate, Judgement};
use super::multiple::that_count;
use super::rivals::{Band, Rival, band};
use super::text::{general, joined, share_text};

/// The verdict omits ratios that are within 5 % of one.
const RATIO_OF_NOTE: f64 = 1.05;

/// These words mark a verdict without a large and significant difference.
pub const SILENT: &str = "shows no large and significant difference";

/// A difference to the reference that counts: significant among all comparisons of the board, and large enough.
struct Difference {
    /// The place of the environment.
    place: usize,
    /// The place of the metric in the environment.
    at: usize,
    difference: Estimate,
}

/// Compares the first candidate with the reference, and names its worst environment.
pub fn verdict(board: &Board) -> String {
    let (name, reference) = (&board.labels[0], &board.labels[board.reference]);
    if board.reference == 0 {
        return format!("{name} is the reference itself, so there is nothing to compare it with.");
    }
    if board.results.iter().flat_map(|result| &result.scores[0]).all(|score| score.cost_difference.is_none()) {
        return format!("One replicate cannot show how {name} differs from {reference}; use --replicates 2 or more.");
    }
    let (found, compared) = differences(board);
    if found.is_empty() {
        return format!("{name} {SILENT} from {reference} in {compared} comparisons. {}", smallest());
    }
    let environments = board.results.len();
    let count = |metric: &str, judgement| {
        let of = |each: &&Difference| {
            board.results[each.place].metrics[each.at].name == metric && each.difference.judgement() == judgement
        };
        found.iter().filter(of).count()
    };
    let (higher, lower) = (count("efficiency", Judgement::Better), count("efficiency", Judgement::Worse));
    let mut said = vec![format!(
        "By efficiency, {name} is better than {reference} in {higher} of {environments} environments and worse in {lower}."
    )];
    let ratios: Vec<String> = [("loss_rate", "loss rate"), ("queue_delay", "queueing delay")]
        .into_iter()
        .filter_map(|(metric, words)| {
            let counts = count(metric, Judgement::Better) + count(metric, Judgement::Worse) > 0;
            let ratio = board.mean_ratio(metric, board.reference).filter(|_| counts)?;
            let is_news = !(1.0 / RATIO_OF_NOTE..=RATIO_OF_NOTE).contains(&ratio);
            is_news.then(|| format!("{words} is {} times as large", general(ratio, 3)))
        })
        .collect();
    if !ratios.is_empty() {
        let means = if ratios.len() == 1 { "geometric mean" } else { "geometric means" };
        said.push(format!("Its {} ({means}).", joined(&ratios).replace(" and ", ", and its ")));
    }
    let (fairer, less_fair) = (count("jain_index", Judgement::Better), count("jain_index", Judgement::Worse));
    if fairer + less_fair > 0 {
        said.push(format!("By Jain's index, it is better in {fairer} and worse in {less_fair}."));
    }
    if let Some((place, at)) = worst_of(board, &found) {
        let result = &board.results[place];
        let metric = &result.metrics[at];
        let text = |candidate: usize| metric.text(result.scores[candidate][at].value.mean);
        let (ours, theirs) = (text(0), text(board.reference));
        said.push(format!(
            "Its worst environment is “{}”: {} {ours} instead of {theirs}.",
            result.heading(),
            metric.label
        ));
    }
    said.push(smallest());
    said.join(" ")
}

/// The thresholds of large differences, in words.
fn smallest() -> String {
    "Only differences that are significant after Holm's correction and large enough count. The thresholds are \
     0.5 points of efficiency, 0.1 points of loss, and 5 % and 1 ms of delay. For Jain's index the threshold is 0.02, for \
     fair-share ratios 0.05."
        .to_owned()
}

/// The environment and metric in which the first candidate is worst.
///
/// Only metrics with a natural maximum compete: efficiency, shares and Jain's index. Loss and delay have none. Only differences
/// that count compete, so that the choice of the largest is corrected for the number of comparisons.
pub fn worst(board: &Board) -> Option<(usize, usize)> {
    worst_of(board, &differences(board).0)
}

fn worst_of(board: &Board, found: &[Difference]) -> Option<(usize, usize)> {
    let shares = found.iter().filter(|each| each.difference.judgement() == Judgement::Worse).filter_map(|each| {
        let metric = &board.results[each.place].metrics[each.at];
        Some((each.difference.mean / whole(metric)?, (each.place, each.at)))
    });
    shares
        .fold(None, |most: Option<(f64, _)>, (share, place)| match most {
            Some((known, _)) if share <= known => most,
            _ => Some((share, place)),
        })
        .map(|(_, place)| place)
}

/// The differences that count, and the number of comparisons.
fn differences(board: &Board) -> (Vec<Difference>, usize) {
    let of = |(place, result): (usize, &EnvironmentResult)| {
        let rows = result.metrics.iter().zip(&result.scores[0]).enumerate();
        rows.filter(|(_, (metric, _))| metric.is_shown())
            .filter_map(|(at, (metric, score))| {
                let reference = result.scores[board.reference][at].value.mean;
                Some((place, at, score.cost_difference?, metric.least_effect(reference)))
            })
            .collect::<Vec<_>>()
    };
    let every: Vec<_> = board.results.iter().enumerate().flat_map(of).collect();
    let family: Vec<(Estimate, f64)> = every.iter().map(|(_, _, difference, least)| (*difference, *least)).collect();
    let counts = that_count(&family);
    let found = every.into_iter().zip(counts).filter(|(_, counts)| *counts);
    (found.map(|((place, at, difference, _), _)| Difference { place, at, difference }).collect(), family.len())
}

fn whole(metric: &Metric) -> Option<f64> {
    match metric.name.as_str() {
        "efficiency" => Some(100.0),
        "jain_index" => Some(1.0),
        _ => metric.better.is_share().then_some(1.0),
    }
}

/// Compares the first candidate with competing algorithms, in sentences.
///
/// `titles` are the titles of the environments, by `Beside::place`. `heading` is the heading of the score, and `least` the smallest
/// difference that counts.
pub fn sentences(found: &[Rival], titles: &[String], heading: &str, least: f64) -> Vec<String> {
    let names =
        |chosen: &[&Rival]| joined(&chosen.iter().map(|rival| rival.algorithm.label.clone()).collect::<Vec<_>>());
    let mut said = Vec::new();
    let compared: Vec<(&Rival, Estimate)> = found.iter().filter_map(|rival| Some((rival, rival.difference?))).collect();
    let family: Vec<(Estimate, f64)> = compared.iter().map(|(_, difference)| (*difference, least)).collect();
    let counts = that_count(&family);
    let judged = |wanted: Judgement| -> Vec<&Rival> {
        let pairs = compared.iter().zip(&counts);
        pairs
            .filter(|((_, difference), counts)| {
                let judgement = if **counts { difference.judgement() } else { Judgement::Open };
                judgement == wanted
            })
            .map(|((rival, _), _)| *rival)
            .collect()
    };
    let told: Vec<String> = [
        (Judgement::Better, "better than"),
        (Judgement::Worse, "worse than"),
        (Judgement::Open, "not significantly different from"),
    ]
    .into_iter()
    .filter_map(|(judgement, words)| {
        let chosen = judged(judgement);
        (!chosen.is_empty()).then(|| format!("{words} {}", names(&chosen)))
    })
    .collect();
    if !told.is_empty() {
        said.push(format!("By score ({heading}, differences of {least} or more), it is {}.", joined(&told)));
    }
    let place = |rival: &Rival, place: usize, share: &Estimate, harm: Option<f64>| {
        let harm = harm.map_or_else(String::new, |harm| format!(", harm {harm:.2}"));
        format!("{} (fair-share ratio {}{harm}, in “{}”)", rival.algorithm.label, share_text(share), titles[place])
    };
    for (answer, starts) in [
        (Band::Starved, "It starves"),
        (Band::MaybeStarved, "It may starve"),
        (Band::Harmed, "It harms"),
        (Band::MaybeHarmed, "It may harm"),
    ] {
        let worst = found.iter().filter_map(|rival| Some((rival, rival.worst()?)));
        let worst = worst.filter(|(_, worst)| band(&worst.theirs) == answer);
        let places: Vec<String> =
            worst.map(|(rival, worst)| place(rival, worst.place, &worst.theirs, Some(worst.harm))).collect();
        if !places.is_empty() {
            said.push(format!("{starts} {}.", joined(&places)));
        }
    }
    let spared: Vec<(&Rival, Estimate)> = found
        .iter()
        .filter_map(|rival| Some((rival, rival.worst()?.theirs)))
        .filter(|(_, share)| band(share) == Band::Fair)
        .collect();
    if let Some((_, least)) = spared.iter().min_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean)) {
        let (names, keep) = (names(&spared.iter().map(|(rival, _)| *rival).collect::<Vec<_>>()), share_text(least));
        let keeps = if spared.len() == 1 { "keeps" } else { "keep" };
        said.push(format!("It is fair to {names}, which {keeps} at least {keep} of a fair share."));
    }
    let hard = found.iter().filter_map(|rival| Some((rival, rival.hardest()?)));
    let hard = hard.filter(|(_, hardest)| band(&hardest.ours) == Band::Starved);
    let places: Vec<String> = hard.map(|(rival, hardest)| place(rival, hardest.place, &hardest.ours, None)).collect();
    if !places.is_empty() {
        said.push(format!("It is starved by {}.", joined(&places)));
    }
    said
}
