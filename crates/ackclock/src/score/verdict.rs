//! The verdict in plain words, from the scores alone.

use super::board::{Board, EnvironmentResult};
use super::environment::Metric;
use super::estimate::{Estimate, Judgement};
use super::multiple::that_count;
use super::rivals::{Band, Rival, band};
use super::text::{general, joined, share_text};

/// Ratios within this of one are no news.
const RATIO_OF_NOTE: f64 = 1.05;
/// The metric that is stored and compared with a baseline, and not shown.
const GOODPUT: &str = "goodput";

/// A difference to the reference that counts: significant among all comparisons of the board, and large enough.
struct Difference {
    /// Of the environment.
    place: usize,
    /// Of the metric in it.
    at: usize,
    difference: Estimate,
}

/// How the first candidate compares with the reference, and where it does worst.
pub fn verdict(board: &Board) -> String {
    let (name, reference) = (&board.labels[0], &board.labels[board.reference]);
    if board.reference == 0 {
        return format!("{name} is the reference itself: its scores stand for themselves.");
    }
    if board.results.iter().flat_map(|result| &result.scores[0]).all(|score| score.cost_difference.is_none()) {
        return format!("One replicate cannot show how {name} differs from {reference}; use --replicates 2 or more.");
    }
    let (found, compared) = differences(board);
    if found.is_empty() {
        return format!(
            "Against {reference}, {name} shows no difference that counts, in {compared} comparisons. {}",
            smallest()
        );
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
        "Against {reference}, {name} has a higher efficiency in {higher} of {environments} environments and a lower one in {lower}."
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
        said.push(format!("Jain's index is higher in {fairer} and lower in {less_fair}."));
    }
    if let Some((place, at)) = worst_of(board, &found) {
        let result = &board.results[place];
        let metric = &result.metrics[at];
        let text = |candidate: usize| metric.text(result.scores[candidate][at].value.mean);
        let (ours, theirs) = (text(0), text(board.reference));
        said.push(format!("Its worst is “{}”: {} {ours} instead of {theirs}.", result.title, metric.label));
    }
    said.push(smallest());
    said.join(" ")
}

/// What a difference must be to count, in words.
fn smallest() -> String {
    "Differences count from 0.5 points of efficiency, 0.1 points of loss, 5 % and 1 ms of delay, 0.02 of Jain's index and 0.05 of a \
     share, after Holm's correction."
        .to_owned()
}

/// The environment and metric in which the first candidate is most clearly worse.
///
/// Worseness is a share: of the capacity, of a fair share, of Jain's index; loss and delay have no natural whole and do not
/// compete here. Only differences that count do, so that the choice of the largest is corrected for the number of comparisons.
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

/// The differences that count, and how many comparisons there were.
fn differences(board: &Board) -> (Vec<Difference>, usize) {
    let of = |(place, result): (usize, &EnvironmentResult)| {
        let rows = result.metrics.iter().zip(&result.scores[0]).enumerate();
        rows.filter(|(_, (metric, _))| metric.name != GOODPUT)
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

/// Answers in words: is it better than its rivals, what does it leave to them, and they to it?
///
/// `titles`: of the environments that `Beside::place` names; `heading` and `least`: of the score, and the least difference of it
/// that counts.
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
        said.push(format!("By its score ({heading}, differences from {least}) it is {}.", joined(&told)));
    }
    let place = |rival: &Rival, place: usize, share: &Estimate, harm: Option<f64>| {
        let harm = harm.map_or_else(String::new, |harm| format!(", harm {harm:.2}"));
        format!("{} ({} of a fair share{harm} in “{}”)", rival.algorithm.label, share_text(share), titles[place])
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
        said.push(format!("It is fair to {names}, which {keeps} {keep} of a fair share or more."));
    }
    let hard = found.iter().filter_map(|rival| Some((rival, rival.hardest()?)));
    let hard = hard.filter(|(_, hardest)| band(&hardest.ours) == Band::Starved);
    let places: Vec<String> = hard.map(|(rival, hardest)| place(rival, hardest.place, &hardest.ours, None)).collect();
    if !places.is_empty() {
        said.push(format!("It is starved itself by {}.", joined(&places)));
    }
    said
}
