//! Hand-computed values of single formulas. `tests/test_score.py` tests whole evaluations.

mod race;
mod words;

use serde_json::{Value, from_value, json};

use super::mersenne::Mersenne;
use super::text::{general, joined};
use super::*;

const DRAWN: [f64; 3] = [0.044717192733188416, 0.297835610487425, 0.006481402397762404];
const THE_THOUSANDTH: f64 = 0.6822880637695504;

#[test]
fn a_sum_is_rounded_once() {
    assert_eq!(sum([1e100, 1.0, -1e100, 1e-100]), 1.0);
    assert_eq!(sum([0.1; 10]), 1.0);
    // 2^53 + 1 + 2^-53 lies above the middle of two doubles, 2^53 + 1 in it: to even, down.
    assert_eq!(sum([9_007_199_254_740_992.0, 1.0, 1.2e-16]), 9_007_199_254_740_994.0);
    assert_eq!(sum([9_007_199_254_740_992.0, 1.0]), 9_007_199_254_740_992.0);
    assert_eq!(sum([]), 0.0);
    assert_eq!(sum([f64::INFINITY, 1.0]), f64::INFINITY);
}

#[test]
fn draws_are_those_of_python() {
    // python3 -c "import random; g = random.Random(20260101); print([g.random() for _ in range(3)])"
    let mut generator = Mersenne::new(20_260_101);
    let drawn = [generator.unit(), generator.unit(), generator.unit()];
    assert_eq!(drawn, DRAWN);
    for _ in 3..999 {
        generator.unit();
    }
    assert_eq!(generator.unit(), THE_THOUSANDTH);
}

#[test]
fn quantiles_are_those_of_the_tables() {
    for (degrees, quantile) in [(1, 12.706), (2, 4.303), (9, 2.262), (30, 2.042)] {
        assert!((student_t_quantile(degrees, CONFIDENCE) - quantile).abs() < 6e-4);
    }
}

#[test]
fn numbers_are_written_as_printf_does() {
    for (value, text) in [
        (1.0, "1"),
        (4.0 / 3.0, "1.33"),
        (123.4, "123"),
        (1234.0, "1.23e+03"),
        (0.000_123_4, "0.000123"),
        (0.000_012_34, "1.23e-05"),
        (0.9999, "1"),
        (999.9, "1e+03"),
        (100.0, "100"),
    ] {
        assert_eq!(general(value, 3), text);
    }
    let parts = ["a", "b", "c"].map(str::to_owned);
    assert_eq!([joined(&parts), joined(&parts[..2]), joined(&parts[..1])], ["a, b and c", "a and b", "a"]);
}

#[test]
fn a_single_replicate_stands_for_all_and_says_something_only_where_nothing_is_random() {
    assert_eq!(compared(&[2.0], &[1.0], false), None);
    assert_eq!(compared(&[2.0], &[1.0], true).unwrap().judgement(), Judgement::Worse);
    assert_eq!(compared(&[5.0], &[1.0, 2.0, 3.0], false).unwrap().mean, 3.0);
    assert_eq!(compared(&[5.0, 6.0, 7.0], &[1.0, 2.0], false).unwrap().mean, 4.0);
}

#[test]
fn candidates_are_ranked_in_one_round_and_those_that_fail_come_last() {
    let algorithm = |label: &str| json!({ "label": label, "cc": { "kind": label } });
    let environment = json!({
        "id": "e", "title": "E", "question": "?", "fairness": false, "watch": null, "scored": [], "neighbours": null,
    });
    let baseline = json!({
        "title": "here", "stored": false, "algorithms": [], "reason": "", "best": {}, "reference_costs": {},
    });
    let suite = json!({
        "name": "s", "version": 1, "environments": [environment], "panel": [algorithm("p")], "baseline": baseline,
    });
    // Efficiency, segments lost, mean queueing delay, goodput, delay score and queueing delay p95 of two replicates. A run of
    // `c` failed.
    let values = |efficiency: f64| {
        json!([[efficiency, 1.0, 5.0, 9.0, 80.0, 20.0], [efficiency + 1.0, 2.0, 6.0, 8.0, 70.0, 30.0]])
    };
    let algorithms = json!(["a", "b", "c", "p"].map(algorithm));
    let plan = json!({
        "build": "b", "seed": 1, "sets": [], "metric": "efficiency",
        "algorithms": algorithms, "candidates": [1, 0, 2, 0], "random": [[true, true, true, true]],
        "limits": { "most": 2, "settled": 2, "budget": null },
    });
    let results = json!({
        "values": [
            [0, 0, values(90.0)], [0, 1, values(80.0)], [0, 2, [[70.0, 1.0, 5.0, 9.0, 80.0, 20.0]]], [0, 3, values(95.0)],
        ],
        "failures": [{ "environment": 0, "algorithm": 2, "replicate": 1, "message": "too much" }],
    });
    let mut race =
        Race::new(from_value(suite).unwrap(), from_value(plan).unwrap()).unwrap_or_else(|_| panic!("no budget"));
    assert_eq!(race.wanted(), Some(Wanted { replicates: 2, algorithms: vec![0, 1, 2, 3] }));
    race.add(from_value(results).unwrap());
    assert_eq!(race.wanted(), None);
    let found = Evaluation::new(race, from_value(json!({ "invalid": [1, 4], "warnings": [] })).unwrap());
    let document = found.document();
    let of = |key: &str| -> Vec<Value> {
        document["ranking"].as_array().unwrap().iter().map(|entry| entry[key].clone()).collect()
    };
    assert_eq!(json!(of("candidate")), json!(["a", "a", "b", "c"]));
    assert_eq!(json!(of("standing")), json!(["best", "tied", "worse", "failed"]));
    assert_eq!(json!(of("rank")), json!([1, 2, 3, null]));
    // The best of the panel carries 95 and 96 %.
    assert_eq!(json!(of("score")), json!([5.0, 5.0, 15.0, null]));
    assert_eq!(of("difference")[2], json!({ "mean": 10.0, "low": 10.0, "to": "a" }));
    assert_eq!(of("failure")[3], json!({ "environment": "e", "replicate": 1, "message": "too much" }));
    let round = &document["rounds"][0];
    assert_eq!((&round["dropped"], &round["failed"]), (&json!([0]), &json!([2])));
    assert_eq!(round["alpha"], json!(ALPHA / (4.0 * 3.0)));
    assert_eq!(document["score"]["ended"], "all replicates were run");
    let labels: Vec<&Value> =
        document["candidates"].as_array().unwrap().iter().map(|candidate| &candidate["label"]).collect();
    assert_eq!(labels, ["a", "b", "p"]);
    assert!(document["verdict"].as_str().unwrap().starts_with("NOT VALID (1 of 4 runs missed their times):"));
    let overview = found.overview();
    let lines = &overview["summary"]["lines"];
    assert_eq!(
        lines[0],
        "VERDICT  NOT VALID (1 of 4 runs missed their times): a is worse than p in 1 of 1 environments and better in 0 \
         (by score, 2 replicates, after Holm's correction)."
    );
    let row: Vec<Value> =
        overview["maps"][0]["cells"][0].as_array().unwrap().iter().map(|cell| cell["judgement"].clone()).collect();
    assert_eq!(json!(row), json!(["worse", "worse", "worse", "failed", "reference"]));
}

#[test]
fn holm_rejects_from_the_smallest_on() {
    // 0.01 x 3 is below 0.05, 0.03 x 2 is not, and so nothing behind it is.
    assert_eq!(holm(&[0.04, 0.01, 0.03]), [false, true, false]);
    assert_eq!(holm(&[0.02, 0.01]), [true, true]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn the_chance_of_a_difference_is_that_of_its_interval() {
    // t = 2.776 of 4 degrees of freedom leaves 5 % outside.
    let at = |mean: f64| Estimate { mean, low: Some(mean - 2.0), high: Some(mean + 2.0), count: 5 };
    assert!((at(2.0).p_value() - 0.05).abs() < 1e-9 && (at(-2.0).p_value() - 0.05).abs() < 1e-9);
    assert!(at(4.0).p_value() < 0.01 && at(1.0).p_value() > 0.2);
    assert_eq!([Estimate::single(1.0).p_value(), Estimate::single(0.0).p_value()], [0.0, 1.0]);
}

#[test]
fn stored_scores_have_an_error_of_their_own() {
    let values = [1.0, 2.0, 3.0];
    // The same draws, and the same algorithm: nothing is left to chance.
    assert_eq!(against_stored(&values, &values, true).half_width(), Some(0.0));
    // Variances of 1/3 each, 4 degrees of freedom: 2.776 sqrt(2/3).
    let apart = against_stored(&values, &values, false).half_width().unwrap();
    assert!((apart - 2.776 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-3, "{apart}");
    // Of four stored replicates three are paired: 3 of differences 1/3 v - 1/4 v = v/12, and one alone of variance 5/3.
    let more = against_stored(&values, &[1.0, 2.0, 3.0, 4.0], true).half_width().unwrap();
    let (paired, alone) = (3.0 / 144.0, 5.0 / 3.0 / 16.0);
    let degrees = (paired + alone) * (paired + alone) / (paired * paired / 2.0 + alone * alone / 3.0);
    let expected = student_t_quantile(degrees as usize, CONFIDENCE) * f64::sqrt(paired + alone);
    assert!((more - expected).abs() < 1e-9, "{more} {expected}");
}

/// The ends of the interval of a worst case, for the first candidate.
fn worst_case(costs: &[&[&[f64]]], best: Option<Vec<f64>>, stored: Option<&[&[f64]]>) -> [f64; 3] {
    let table = Table {
        costs: costs.iter().map(|row| row.iter().map(|values| values.to_vec()).collect()).collect(),
        relative: vec![false; costs.len()],
        algorithms: 2,
        best,
        best_costs: stored.map(|rows| rows.iter().map(|values| values.to_vec()).collect()),
        paired: true,
        reference_costs: None,
        reference: 0,
    };
    let found = regrets(&table)[0].worst_case;
    [found.low.unwrap(), found.mean, found.high.unwrap()]
}

fn assert_close(found: [f64; 3], expected: [f64; 3]) {
    for (one, other) in found.into_iter().zip(expected) {
        assert!((one - other).abs() < 1e-4, "{found:?} {expected:?}");
    }
}

/// Student's t of two degrees of freedom is c sqrt(2 / (1 - c^2)): 4.30265 for 0.95, 6.20535 for 0.975.
#[test]
fn each_end_of_a_worst_case_comes_from_the_environment_that_decides_it() {
    // Standard errors of 1/sqrt(3) and 4/sqrt(3): 5 - 6.20535 x 0.57735, and 4 + 4.30265 x 2.30940.
    let (near, wide): (&[f64], &[f64]) = (&[4.0, 5.0, 6.0], &[0.0, 4.0, 8.0]);
    assert_close(worst_case(&[&[near], &[wide]], Some(vec![0.0, 0.0]), None), [1.41734, 5.0, 13.93656]);
    // A single environment needs no correction, and neither does one in which nothing is random.
    assert_close(worst_case(&[&[near]], Some(vec![0.0]), None), [2.51587, 5.0, 7.48413]);
    assert_close(worst_case(&[&[near], &[&[1.0]]], Some(vec![0.0, 0.0]), None), [2.51587, 5.0, 7.48413]);
    assert_close(worst_case(&[&[near], &[&[6.0]]], Some(vec![0.0, 0.0]), None), [6.0, 6.0, 7.48413]);
    // The same draws leave a difference of 1 without an error.
    assert_close(worst_case(&[&[near]], Some(vec![4.0]), Some(&[&[3.0, 4.0, 5.0]])), [1.0, 1.0, 1.0]);
}

#[test]
fn a_worst_case_within_a_table_is_the_largest_distance_to_any_other_candidate() {
    // The distances are 3 without an error, 3 with the differences 4, 2 and 3, and the zero to itself.
    let own: &[f64] = &[4.0, 5.0, 6.0];
    assert_close(worst_case(&[&[own, &[1.0, 2.0, 3.0], &[0.0, 3.0, 3.0]]], None, None), [3.0, 3.0, 5.48413]);
    // The best of a table may be worse than the next one: -1 + 4.30265 x 0.57735, but no less than zero.
    assert_close(worst_case(&[&[own, &[5.0, 7.0, 6.0]]], None, None), [0.0, 0.0, 1.48413]);
    // A single value has no error: 1 +- 4.30265 x 0.57735, and not below zero.
    assert_close(worst_case(&[&[&[6.0], own]], None, None), [0.0, 1.0, 3.48413]);
}

#[test]
fn shares_have_three_bands_and_a_harm() {
    let share = |mean: f64, half: f64| Estimate { mean, low: Some(mean - half), high: Some(mean + half), count: 9 };
    for (mean, half, word) in [
        (0.1, 0.05, "starved"),
        (0.2, 0.05, "maybe-starved"),
        (0.27, 0.05, "harmed"),
        (0.65, 0.05, "maybe-harmed"),
        (0.75, 0.05, "fair"),
        (1.4, 0.05, "fair"),
    ] {
        assert_eq!(band(&share(mean, half)).word(), word);
    }
    // Two of four flows: alone they have a share of 2.
    assert_eq!([harm(1.0, 2, 4), harm(0.0, 2, 4)], [0.5, 1.0]);
}

#[test]
fn no_environment_adds_more_than_three_times_the_median() {
    let environments: Vec<Environment> = ["a", "b", "c"]
        .map(|id| json!({ "id": id, "title": id, "fairness": false, "watch": null, "scored": [] }))
        .into_iter()
        .map(|each| serde_json::from_value(each).unwrap())
        .collect();
    let of = |efficiencies: [f64; 3]| -> Best {
        let row = |values: [f64; 3]| ["a", "b", "c"].map(str::to_owned).into_iter().zip(values).collect();
        let others = ["loss_rate", "delay_score"].map(|name| (name.to_owned(), row([0.0; 3])));
        others.into_iter().chain([("efficiency".to_owned(), row(efficiencies))]).collect()
    };
    let (best, worst) = (of([-90.0; 3]), of([-88.0, -86.0, -30.0]));
    // The worst algorithm loses 2, 4 and 60 points: the last counts as 3 x 4.
    let weight = |objective: &Objective, at: usize| objective.weights[at].1[0].1;
    let plain = Objective::new(&environments, SHARES, &Weights::new(), &best, &Best::new());
    let capped = Objective::new(&environments, SHARES, &Weights::new(), &best, &worst);
    for (at, factor) in [(0, 1.0), (1, 1.0), (2, 0.2)] {
        assert!((weight(&capped, at) / weight(&plain, at) - factor).abs() < 1e-12);
    }
}
