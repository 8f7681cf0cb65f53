//! Hand-computed scores and differences, and how often a race drops the best candidate.

use serde_json::{from_value, json};

use super::super::mersenne::Mersenne;
use super::super::objective::{ALPHA, Best, Costs, Objective, SHARES, Scored, Weights};
use super::super::{Environment, estimate, paired_bound, student_t_quantile};

fn environments() -> Vec<Environment> {
    let time = json!({
        "metric": "completion-time", "group": "short", "label": "time", "better": "lower", "unit": "s", "scale": 1.0,
    });
    from_value(json!([
        { "id": "shared", "title": "Shared", "fairness": true, "watch": null, "scored": [] },
        { "id": "short", "title": "Short", "fairness": false, "watch": time, "scored": [] },
    ]))
    .unwrap()
}

fn best() -> Best {
    from_value(json!({
        "efficiency": { "shared": -90.0, "short": -80.0 },
        "loss_rate": { "shared": 1.0, "short": 2.0 },
        "queue_delay": { "shared": 10.0, "short": 5.0 },
        "jain_index": { "shared": -1.0 },
        "goodput": { "shared": -9.0, "short": -8.0 },
        "delay_score": { "shared": -90.0, "short": -95.0 },
        "watch": { "short": 4.0 },
    }))
    .unwrap()
}

/// Nothing is random in `short`, which therefore has one replicate.
fn costs() -> Costs {
    from_value(json!({
        "shared": {
            "efficiency": [-87.0, -84.0], "loss_rate": [1.0, 4.0], "queue_delay": [12.0, 16.0],
            "jain_index": [-0.97, -0.94], "goodput": [-4.5, -9.0],
            "delay_score": [-86.0, -82.0],
        },
        "short": {
            "efficiency": [-79.0], "loss_rate": [2.0], "queue_delay": [6.0], "goodput": [-8.0], "watch": [5.0],
            "delay_score": [-93.0],
        },
    }))
    .unwrap()
}

fn scored(metric: &str) -> Scored {
    weighted(metric, &Weights::new())
}

fn weighted(metric: &str, weights: &Weights) -> Scored {
    let objective = Objective::new(&environments(), metric, weights, &best(), &Best::new());
    let parts: Vec<Vec<f64>> = objective.parts(&costs(), &best()).into_iter().map(|(_, values)| values).collect();
    Scored::new(&parts, None)
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9), "{found:?} {expected:?}");
}

#[test]
fn a_score_is_the_mean_lost_share() {
    // In `shared` (3 + 0 + 4 + 3) / 4 and (6 + 3 + 8 + 6) / 4 percent. In `short` (1 + 0 + 2 + 25) / 4.
    let found = scored(SHARES);
    assert_close(&found.values, &[f64::midpoint(2.5, 7.0), f64::midpoint(5.75, 7.0)]);
    assert_close(&found.by_environment, &[4.125 / 2.0, 3.5]);
    assert_close(&[found.value.mean], &[f64::midpoint(4.125, 7.0)]);
    assert_eq!(found.worst, 1);
}

#[test]
fn weights_change_the_parts_of_a_score() {
    // Without delay (3 + 0 + 3) / 3 and (6 + 3 + 6) / 3, and (1 + 0 + 25) / 3.
    let found = weighted(SHARES, &[("delay_score".to_owned(), 0.0)].into());
    assert_close(&found.values, &[f64::midpoint(2.0, 26.0 / 3.0), f64::midpoint(5.0, 26.0 / 3.0)]);
    // Delay counts twice: (3 + 0 + 8 + 3) / 5 and (6 + 3 + 16 + 6) / 5, and (1 + 0 + 4 + 25) / 5.
    let found = weighted(SHARES, &[("delay_score".to_owned(), 2.0)].into());
    assert_close(&found.values, &[f64::midpoint(2.8, 6.0), f64::midpoint(6.2, 6.0)]);
    // The score of a single metric has no weights.
    let found = weighted("efficiency", &[("efficiency".to_owned(), 0.0)].into());
    assert_close(&found.values, &scored("efficiency").values);
}

#[test]
fn a_score_of_one_metric_is_its_mean_regret() {
    for (metric, values) in [
        ("efficiency", vec![2.0, 3.5]),
        ("queue_delay", vec![1.5, 3.5]),
        ("jain_index", vec![0.03, 0.06]),
        ("goodput", vec![0.25, 0.0]),
        ("delay_score", vec![3.0, 5.0]),
        ("watch", vec![0.25]),
    ] {
        assert_close(&scored(metric).values, &values);
    }
}

#[test]
fn the_bound_of_a_difference_is_one_sided() {
    let (ours, theirs) = ([3.0, 5.0, 4.0, 8.0], [1.0, 2.0, 3.0, 4.0]);
    let (mean, low) = paired_bound(&ours, &theirs, 0.025, false);
    assert_eq!((mean, low), (2.5, estimate(&[2.0, 3.0, 1.0, 4.0], 0.95).low));
    // Student's one-sided quantile at 1 % with 3 degrees of freedom, from tables: 4.541.
    assert!((student_t_quantile(3, 0.98) - 4.541).abs() < 5e-4);
    assert!(low.unwrap() > 0.0 && paired_bound(&ours, &theirs, 0.01, false).1.unwrap() < 0.0);
}

#[test]
fn one_replicate_decides_only_without_randomness() {
    assert_eq!(paired_bound(&[2.0], &[1.0], 0.05, false), (1.0, None));
    assert_eq!(paired_bound(&[2.0], &[1.0], 0.05, true), (1.0, Some(1.0)));
    assert_eq!(paired_bound(&[5.0], &[1.0, 2.0, 3.0], 0.05, false).0, 3.0);
}

/// The first of ten candidates is slightly better. Tests follow 4, 8 and 16 replicates.
///
/// Each replicate moves all candidates together, and each of them a little.
#[test]
fn a_race_rarely_drops_the_best_candidate() {
    let (races, others) = (400, 9);
    let mut generator = Mersenne::new(7);
    // A sum of twelve uniform numbers is nearly normal.
    let mut normal = || (0..12).map(|_| generator.unit()).sum::<f64>() - 6.0;
    let (mut lost, mut uncorrected) = (0, 0);
    for _ in 0..races {
        let together: Vec<f64> = (0..16).map(|_| 3.0 * normal()).collect();
        let scores: Vec<Vec<f64>> = (0..=others)
            .map(|number| {
                let shift = if number > 0 { 0.01 } else { 0.0 };
                together.iter().map(|each| shift + each + normal()).collect()
            })
            .collect();
        lost += usize::from(is_first_dropped(&scores, true));
        uncorrected += usize::from(is_first_dropped(&scores, false));
    }
    assert!(lost as f64 / f64::from(races) <= ALPHA, "{lost}");
    assert!(uncorrected as f64 / f64::from(races) > 3.0 * ALPHA, "{uncorrected}");
}

fn is_first_dropped(scores: &[Vec<f64>], is_corrected: bool) -> bool {
    [4, 8, 16].into_iter().enumerate().any(|(look, count)| {
        let means: Vec<f64> = scores.iter().map(|row| row[..count].iter().sum()).collect();
        let leader = (0..means.len()).min_by(|one, other| means[*one].total_cmp(&means[*other])).unwrap();
        let corrected = ALPHA / ((look + 1) * (look + 2)) as f64 / (scores.len() - 1) as f64;
        let alpha = if is_corrected { corrected } else { ALPHA };
        let low = paired_bound(&scores[0][..count], &scores[leader][..count], alpha, false).1;
        leader > 0 && low.unwrap() > 0.0
    })
}
