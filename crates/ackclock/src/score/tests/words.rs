//! Texts of cells, counts of environments, and sentences on competitors.

use serde_json::json;

use super::super::environment::{Better, Metric};
use super::super::rivals::{Beside, Contender, Rival, harm, rest_of, rivals, starves};
use super::super::{Algorithm, Board, EnvironmentResult, Estimate, cell_text, compared, counts, sentences};

const SCORE: &str = "mean regret %";

fn share(mean: f64, half: f64) -> Estimate {
    Estimate { mean, low: Some(mean - half), high: Some(mean + half), count: 10 }
}

fn algorithm(label: &str) -> Algorithm {
    Algorithm { label: label.to_owned(), cc: json!({ "kind": label }) }
}

fn metric(label: &str, unit: &str, better: Better, digits: usize) -> Metric {
    Metric { name: "m".to_owned(), label: label.to_owned(), unit: unit.to_owned(), better, digits }
}

#[test]
fn a_cell_names_the_side_of_the_reference() {
    let difference = |mean, low, high| Estimate { mean, low: Some(low), high: Some(high), count: 3 };
    let efficiency = metric("efficiency", "%", Better::Higher, 2);
    let delay = metric("queueing delay", "ms", Better::Lower, 1);
    let watch = metric("CUBIC's share", "", Better::ReachOne, 3);
    for (metric, value, difference, text) in [
        (
            Some(&efficiency),
            96.28,
            Some(difference(0.25, 0.14, 0.37)),
            "efficiency 96.28 % (0.25 points below aimd, 95 % CI 0.14 to 0.37)",
        ),
        (
            Some(&delay),
            20.0,
            Some(difference(-5.0, -7.0, -3.0)),
            "queueing delay 20.0 ms (5.0 ms below aimd, 95 % CI 3.0 to 7.0)",
        ),
        (
            Some(&watch),
            0.9,
            Some(difference(0.05, -0.1, 0.2)),
            "CUBIC's share 0.900 (0.050 farther below 1 than aimd, 95 % CI -0.100 to 0.200, not significant)",
        ),
        (None, 8.705, Some(Estimate::single(8.1)), "score 8.705 (8.100 above aimd)"),
        (None, 0.5, None, "score 0.500"),
    ] {
        let digits = metric.map_or(3, |metric| metric.digits);
        assert_eq!(cell_text(&Estimate::single(value), difference.as_ref(), metric, digits, "aimd"), text);
    }
}

/// By their own intervals 4 of 22 environments are worse. Holm's procedure keeps the smallest p-values.
#[test]
fn counts_follow_holms_procedure() {
    let mut costs = vec![[1.0, 1.01, 0.99]; 2];
    costs.extend([[1.0, 1.4, 0.9]; 2]);
    costs.push([-1.0, -1.01, -0.99]);
    costs.extend([[0.1, -0.1, 0.0]; 17]);
    let found: Vec<Estimate> = costs.iter().map(|row| compared(row, &[0.0; 3], false).unwrap()).collect();
    let words: Vec<&str> = found.iter().map(|each| each.judgement().word()).collect();
    let count = |word| words.iter().filter(|each| **each == word).count();
    assert_eq!((count("better"), count("worse")), (1, 4));
    assert_eq!(counts(&found), (1, 2));
}

/// A competitor without a score. `shares` are in the environments `plain`, `deep` and `flat`, by their places.
fn rival(label: &str, shares: &[(usize, Estimate)]) -> Rival {
    let beside = |(place, theirs): &(usize, Estimate)| Beside {
        place: *place,
        theirs: *theirs,
        ours: rest_of(theirs, 2, 4),
        harm: harm(theirs.mean, 2, 4),
    };
    Rival {
        algorithm: algorithm(label),
        difference: None,
        delay_ratio: None,
        beside: shares.iter().map(beside).collect(),
    }
}

fn told(found: &[Rival]) -> Vec<String> {
    sentences(found, &["plain", "deep", "flat"].map(str::to_owned), SCORE, 0.2)
}

#[test]
fn shares_become_sentences() {
    let found = [
        rival("cubic", &[(1, share(0.05, 0.02)), (2, share(0.9, 0.0))]),
        rival("bbr3", &[(2, share(0.8, 0.1)), (1, share(1.95, 0.01))]),
        rival("aimd", &[(0, share(0.25, 0.1))]),
    ];
    let words = |rival: &Rival| {
        (starves(&rival.worst().unwrap().theirs).word(), starves(&rival.hardest().unwrap().ours).word())
    };
    assert_eq!(found.each_ref().map(words), [("yes", "no"), ("no", "yes"), ("maybe", "no")]);
    assert_eq!(
        told(&found),
        [
            "It starves cubic (fair-share ratio 0.05 [0.03, 0.07], harm 0.97, in “deep”).",
            "It may starve aimd (fair-share ratio 0.25 [0.15, 0.35], harm 0.88, in “plain”).",
            "It is fair to bbr3, which keeps at least 0.80 [0.70, 0.90] of a fair share.",
            "It is starved by bbr3 (fair-share ratio 0.05 [0.04, 0.06], in “deep”).",
        ]
    );
}

#[test]
fn a_quarter_of_a_fair_share_is_harm() {
    assert_eq!(
        told(&[rival("aimd", &[(0, share(0.27, 0.02))]), rival("cubic", &[(2, share(0.66, 0.05))])]),
        [
            "It harms aimd (fair-share ratio 0.27 [0.25, 0.29], harm 0.86, in “plain”).",
            "It may harm cubic (fair-share ratio 0.66 [0.61, 0.71], harm 0.67, in “flat”).",
        ]
    );
}

fn against(ours: &[f64], panel: &[(&str, &[f64])]) -> Vec<Rival> {
    let random =
        EnvironmentResult { title: "random".to_owned(), metrics: Vec::new(), scores: vec![Vec::new()], exact: false };
    let board = Board { labels: vec!["aimd".to_owned()], reference: 0, results: vec![random] };
    let contender =
        |(label, values): &(&str, &[f64])| Contender { algorithm: algorithm(label), values: values.to_vec() };
    let panel: Vec<Contender> = panel.iter().map(contender).collect();
    rivals(&board, &[algorithm("aimd")], ours, &panel, &[])
}

/// Replicates differ by more than the algorithms. The paired differences are 4, 4, 5 and -4, -4, -5.
#[test]
fn scores_are_compared_by_replicate() {
    let found = against(
        &[5.0, 50.0, 500.0],
        &[("cubic", &[1.0, 46.0, 495.0]), ("bbr3", &[9.0, 54.0, 505.0]), ("mimd", &[4.0, 51.0, 500.0])],
    );
    let words: Vec<&str> = found.iter().map(|rival| rival.difference.unwrap().judgement().word()).collect();
    assert_eq!(words, ["worse", "better", ""]);
    assert!((found[0].difference.unwrap().mean - 13.0 / 3.0).abs() < 1e-12);
    assert_eq!(
        told(&found),
        ["By score (mean regret %, differences of 0.2 or more), it is better than bbr3, worse than cubic and not \
          significantly different from mimd."]
    );
}

#[test]
fn an_algorithm_does_not_compete_with_itself() {
    assert!(against(&[5.0, 6.0], &[("aimd", &[5.0, 6.0])]).is_empty());
    let alone = against(&[5.0], &[("cubic", &[4.0])]);
    assert!(alone[0].difference.is_none() && told(&alone).is_empty());
}

/// A difference of 0.1 is significant and too small. Of four comparisons one at 1.3 % is chance.
#[test]
fn small_and_chance_differences_of_scores_do_not_count() {
    let small = against(&[5.0, 50.0, 500.0], &[("cubic", &[5.1, 50.1, 500.1])]);
    assert_eq!(small[0].difference.unwrap().judgement().word(), "better");
    assert!(told(&small)[0].ends_with("it is not significantly different from cubic."));
    let chance = against(
        &[5.0, 50.0, 500.0],
        &[
            ("cubic", &[3.0, 47.5, 497.0]),
            ("bbr3", &[6.0, 49.0, 501.0]),
            ("mimd", &[4.0, 52.0, 499.0]),
            ("aiad", &[7.0, 48.0, 500.0]),
        ],
    );
    let difference = chance[0].difference.unwrap();
    assert_eq!(difference.judgement().word(), "worse");
    assert!(0.05 / 4.0 < difference.p_value() && difference.p_value() < 0.05);
    assert!(!told(&chance)[0].contains("better") && !told(&chance)[0].contains("worse"));
}
