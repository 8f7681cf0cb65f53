//! The verdict in plain words, from the scores alone.

use super::board::{Board, EnvironmentResult};
use super::environment::Metric;
use super::estimate::{Estimate, Judgement};
use super::rivals::{Rival, Starved, starves};
use super::text::{general, joined, share_text};

/// How the first candidate compares with the reference, and where it does worst.
pub fn verdict(board: &Board) -> String {
    let (name, reference) = (&board.labels[0], &board.labels[board.reference]);
    if board.reference == 0 {
        return format!("{name} is the reference itself: its scores stand for themselves.");
    }
    if board.results.iter().flat_map(|result| &result.scores[0]).all(|score| score.cost_difference.is_none()) {
        return format!("One replicate cannot show how {name} differs from {reference}; use --replicates 2 or more.");
    }
    let count = |metric: &str, judgement| board.count(metric, judgement);
    let mut parts = vec![format!(
        "Against {reference}, {name} uses the link better in {} of {} environments and worse in {}",
        count("efficiency", Judgement::Better),
        board.results.len(),
        count("efficiency", Judgement::Worse)
    )];
    if let Some(ratio) = board.mean_ratio("loss_rate", board.reference) {
        parts.push(format!("has {} times the loss rate (geometric mean)", general(ratio, 3)));
    }
    let (fairer, less_fair) = (count("jain_index", Judgement::Better), count("jain_index", Judgement::Worse));
    let sentence = format!("{}, and is fairer in {fairer} and less fair in {less_fair}", parts.join(", "));
    let Some((result, at)) = worst(board) else {
        return format!("{sentence}; in no environment is it clearly worse.");
    };
    let result = &board.results[result];
    let metric = &result.metrics[at];
    let text = |candidate: usize| metric.text(result.scores[candidate][at].value.mean);
    format!(
        "{sentence}; its worst is “{}”: {} {} where {reference} has {}.",
        result.heading(),
        metric.label,
        text(0),
        text(board.reference)
    )
}

/// The environment and metric in which the first candidate is most clearly worse.
///
/// Worseness is a share: of the capacity, of a fair share, of Jain's index; loss and delay have no natural whole and do not
/// compete here.
pub fn worst(board: &Board) -> Option<(usize, usize)> {
    let mut found: Option<(f64, usize, usize)> = None;
    for (place, result) in board.results.iter().enumerate() {
        for (at, share) in worse_shares(result) {
            if found.is_none_or(|(most, ..)| share > most) {
                found = Some((share, place, at));
            }
        }
    }
    found.map(|(_, place, at)| (place, at))
}

/// The metrics in which the first candidate is worse, and by which share.
fn worse_shares(result: &EnvironmentResult) -> impl Iterator<Item = (usize, f64)> {
    result.metrics.iter().zip(&result.scores[0]).enumerate().filter_map(|(at, (metric, score))| {
        let difference = score.cost_difference.filter(|_| score.judgement() == Judgement::Worse)?;
        Some((at, difference.mean / whole(metric)?))
    })
}

fn whole(metric: &Metric) -> Option<f64> {
    match metric.name.as_str() {
        "efficiency" => Some(100.0),
        "jain_index" => Some(1.0),
        _ => metric.better.is_share().then_some(1.0),
    }
}

/// Answers in words: is it better than its rivals, does it starve them, do they starve it?
///
/// `titles`: of the environments that `Beside::place` names; `heading`: of the score.
pub fn sentences(found: &[Rival], titles: &[String], heading: &str) -> Vec<String> {
    let names =
        |chosen: Vec<&Rival>| joined(&chosen.iter().map(|rival| rival.algorithm.label.clone()).collect::<Vec<_>>());
    let mut said = Vec::new();
    let told: Vec<String> =
        [(Judgement::Better, "better than"), (Judgement::Worse, "worse than"), (Judgement::Open, "not told from")]
            .into_iter()
            .filter_map(|(judgement, words)| {
                let judged =
                    |rival: &&Rival| rival.difference.is_some_and(|difference| difference.judgement() == judgement);
                let chosen: Vec<&Rival> = found.iter().filter(judged).collect();
                (!chosen.is_empty()).then(|| format!("{words} {}", names(chosen)))
            })
            .collect();
    if !told.is_empty() {
        said.push(format!("By its score ({heading}) it is {}.", joined(&told)));
    }
    let place = |rival: &Rival, place: usize, share: &Estimate| {
        format!("{} ({} of a fair share in “{}”)", rival.algorithm.label, share_text(share), titles[place])
    };
    for (answer, starts) in [(Starved::Yes, "It starves"), (Starved::Maybe, "It may starve")] {
        let starved = found.iter().filter_map(|rival| Some((rival, rival.worst()?)));
        let starved = starved.filter(|(_, worst)| starves(&worst.theirs) == answer);
        let places: Vec<String> = starved.map(|(rival, worst)| place(rival, worst.place, &worst.theirs)).collect();
        if !places.is_empty() {
            said.push(format!("{starts} {}.", joined(&places)));
        }
    }
    let spared: Vec<(&Rival, Estimate)> = found
        .iter()
        .filter_map(|rival| Some((rival, rival.worst()?.theirs)))
        .filter(|(_, share)| starves(share) == Starved::No)
        .collect();
    if let Some((_, least)) = spared.iter().min_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean)) {
        let have = if spared.len() == 1 { "has" } else { "have" };
        let names = names(spared.iter().map(|(rival, _)| *rival).collect());
        said.push(format!("It does not starve {names}, which {have} {} of a fair share or more.", share_text(least)));
    }
    let hard = found.iter().filter_map(|rival| Some((rival, rival.hardest()?)));
    let hard = hard.filter(|(_, hardest)| starves(&hardest.ours) == Starved::Yes);
    let places: Vec<String> = hard.map(|(rival, hardest)| place(rival, hardest.place, &hardest.ours)).collect();
    if !places.is_empty() {
        said.push(format!("It is starved itself by {}.", joined(&places)));
    }
    said
}
