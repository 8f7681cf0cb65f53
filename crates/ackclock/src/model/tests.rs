//! The model against its closed forms: figures of the table, and properties of any configuration.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::cc::CcSpec;
use crate::rule::aild::Aild;
use crate::rule::{fast_convergence, linear};

static TABLE: LazyLock<Table> = LazyLock::new(table);

fn efficiency_row(rule: &str) -> &'static EfficiencyRow {
    TABLE.efficiency.iter().find(|row| row.rule == rule).unwrap()
}

fn fairness_row(rule: &str) -> &'static FairnessRow {
    TABLE.fairness.iter().find(|row| row.rule == rule).unwrap()
}

#[test]
fn exact_peaks_meet_the_closed_form() {
    for row in &TABLE.efficiency {
        let closed = row.closed_form.unwrap();
        assert!((row.exact_peak.efficiency.unwrap() - closed.efficiency).abs() < 1e-3, "{row:?}");
        assert!((row.exact_peak.remaining.unwrap() - closed.remaining).abs() < 1e-3, "{row:?}");
        assert_eq!(row.exact_peak.congested_share, 0.0, "{row:?}");
    }
}

#[test]
fn the_papers_quote_three_quarters_five_sixths_eight_ninths() {
    let exact = |rule| efficiency_row(rule).exact_peak.efficiency.unwrap();
    for (rule, expected) in [("AIMD(1, 0.5)", 3.0 / 4.0), ("AIMD-FC", 5.0 / 6.0), ("AIMD-FC+", 8.0 / 9.0)] {
        assert!((exact(rule) - expected).abs() < 1e-3, "{rule}: {}", exact(rule));
    }
    assert!(exact("New-AIMD") > 0.999);
}

#[test]
fn fc_plus_is_as_efficient_as_the_part_of_the_gain_it_keeps_says() {
    // (5 + 6f) / (6 + 6f): 5/6, 13/15, 8/9, 19/21.
    for (gain_kept, expected) in [(0.0, 5.0 / 6.0), (0.25, 13.0 / 15.0), (0.5, 8.0 / 9.0), (0.75, 19.0 / 21.0)] {
        let cc = CcSpec::AimdFcPlus(fast_convergence::AimdFcPlus { gain_kept, ..Default::default() });
        let closed = closed_form::efficiency(closed_form::remaining(&cc).unwrap());
        assert!((closed - expected).abs() < 1e-12, "{gain_kept}: {closed}");
        let exact = Setup { peak: Peak::Exact, ..Setup::alike(&cc, &[10.0, 50.0], 100.0) };
        let run = long_run(exact, Horizon::Cycles(200)).unwrap();
        assert!((run.efficiency.unwrap() - expected).abs() < 1e-9, "{gain_kept}: {run:?}");
    }
}

#[test]
fn integer_steps_come_within_two_segments_per_flow_of_the_closed_form() {
    for row in TABLE.efficiency.iter().filter(|row| row.rule != "New-AIMD") {
        let large = row.integer_step.iter().find(|run| run.x_goal == 10_000.0).unwrap();
        let off = large.averages.efficiency.unwrap() - row.closed_form.unwrap().efficiency;
        assert!(off.abs() < 2.0 * 2.0 / large.x_goal, "{}: {off}", row.rule);
        let off = row.fine_step.efficiency.unwrap() - row.closed_form.unwrap().efficiency;
        assert!(off.abs() < 2.0 * 2.0 * 0.01 / 100.0, "{}: {off}", row.rule);
    }
}

#[test]
fn integer_steps_give_the_known_figures() {
    let expected = [
        ("AIMD(1, 0.5)", 100.0, "0.741"),
        ("AIMD(1, 0.5)", 1000.0, "0.7486"),
        ("AIMD-FC", 100.0, "0.840"),
        ("AIMD-FC", 1000.0, "0.8345"),
        ("AIMD-FC+", 100.0, "0.8857"),
        ("AIMD-FC+", 1000.0, "0.8887"),
    ];
    for (rule, x_goal, figure) in expected {
        let run = efficiency_row(rule).integer_step.iter().find(|run| run.x_goal == x_goal).unwrap();
        let digits = figure.len() - 2;
        assert_eq!(format!("{:.digits$}", run.averages.efficiency.unwrap()), figure, "{rule}, {x_goal}");
    }
}

#[test]
fn new_aimd_stops_yielding_in_integer_steps() {
    for run in &efficiency_row("New-AIMD").integer_step {
        assert!(run.averages.congested_share_from_start > 0.97, "{run:?}");
        assert_eq!((run.averages.congested_share, run.averages.efficiency), (1.0, None));
    }
}

#[test]
fn everybody_who_becomes_fair_takes_three_cycles_from_10_and_50() {
    let expected = [("AIMD(1, 0.5)", 70.0, 73), ("AIMD-FC", 52.5, 55), ("AIMD-FC+", 40.0, 43), ("New-AIMD", 42.5, 45)];
    for (rule, exact_peak_steps, integer_steps) in expected {
        let fair = fairness_row(rule).fair.unwrap();
        assert!((fair.exact_peak_steps - exact_peak_steps).abs() < 1e-9, "{rule}: {fair:?}");
        assert_eq!((fair.cycles, fair.integer_steps), (3, integer_steps), "{rule}");
    }
    for rule in ["AIAD(1, 3)", "MIMD(0.1, 0.5)", "MIAD(0.1, 3)"] {
        assert_eq!(fairness_row(rule).fair, None, "{rule}");
    }
}

#[test]
fn a_small_multiplicative_part_makes_aiad_fair() {
    // At a load of 100 Jain's index is 100^2 / (100^2 + d^2), above .99 for d below 100 / sqrt(99) = 10.05; the m-th peak
    // has d = 40 b^(m-1).
    for (rule, b) in [("AIAD(1, 3) and 2 %", 0.98), ("AIAD(1, 3) and 5 %", 0.95), ("AIAD(1, 3) and 10 %", 0.9)] {
        let cycles = 1.0 + (libm::log(100.0 / 99.0_f64.sqrt() / 40.0) / libm::log(b)).ceil();
        let fair = fairness_row(rule).fair.unwrap();
        assert_eq!(fair.cycles, cycles as usize, "{rule}");
        // A cycle frees 2 x 3 segments and a part of 100, which two users take up again.
        let first_cycle = 20.0;
        let steps = first_cycle + (cycles - 1.0) * (6.0 + 100.0 * (1.0 - b)) / 2.0;
        assert!((fair.exact_peak_steps - steps).abs() < 1e-6, "{rule}: {fair:?}");
    }
    assert_eq!(fairness_row("AIAD(1, 3)").fair, None);
}

#[test]
fn windows_follow_the_law_of_their_row() {
    use closed_form::Convergence::{Difference, RatioDiverges, RatioKept};
    for row in &TABLE.fairness {
        let pairs = |values: &[f64]| values.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>();
        let holds = match row.law.unwrap() {
            Difference { factor } => {
                pairs(&row.differences).into_iter().all(|(one, next)| (next - factor * one).abs() < 1e-9)
            }
            RatioKept => pairs(&row.ratios).into_iter().all(|(one, next)| (next / one - 1.0).abs() < 1e-9),
            RatioDiverges => pairs(&row.ratios).into_iter().all(|(one, next)| next > one),
        };
        assert!(holds, "{row:?}");
    }
}

#[test]
fn exact_peaks_follow_the_cycle_algebra_of_new_aimd() {
    let cc = CcSpec::by_name("new-aimd").unwrap();
    let setup = Setup { peak: Peak::Exact, ..Setup::alike(&cc, &[10.0, 50.0], 100.0) };
    let ends = cycles(setup, 10, 1_000).unwrap();
    let mut before = 0.0;
    for (m, end) in (1..).zip(ends) {
        let steps = end.growing_time - before;
        before = end.growing_time;
        assert!((steps - closed_form::new_aimd_cycle(10.0, 50.0, 100.0, m).steps).abs() < 1e-9, "cycle {m}");
    }
}

#[test]
fn a_late_new_aimd_user_starves_where_aimd_makes_room() {
    let share_of_the_late = |name: &str| {
        let mut setup = Setup::alike(&CcSpec::by_name(name).unwrap(), &[10.0, 1.0], 100.0);
        setup.users[1].start = 500.0;
        let mut model = Synchronous::new(setup).unwrap();
        while model.time() < 1_000.0 {
            model.advance();
        }
        model.windows()[1].unwrap() / model.load()
    };
    assert!((share_of_the_late("aimd") - 0.5).abs() < 0.01);
    assert!(share_of_the_late("new-aimd") < 0.05);
}

#[test]
fn a_cut_of_fc_plus_raises_a_window_that_more_than_doubled_in_the_cycle() {
    // From 10 to 100: dw = 10/2 + 90 = 95, and 90/2 on top.
    let cc = CcSpec::by_name("aimd-fc+").unwrap();
    let first = &cycles(Setup { peak: Peak::Exact, ..Setup::alike(&cc, &[10.0], 100.0) }, 1, 1_000).unwrap()[0];
    assert_eq!((first.peak, first.after_cut), (100.0, 140.0));
}

#[test]
fn aild_takes_what_the_loss_ratio_says() {
    // 49 + 53, of which 2/102 are lost: 51 times that is one segment of each.
    let cc = spec(serde_json::json!({"kind": "aild", "removed_per_loss_ratio": 51}));
    let mut model = Synchronous::new(Setup::alike(&cc, &[49.0, 53.0], 100.0)).unwrap();
    assert_eq!(model.advance(), Advance::Cut);
    assert!(model.active_windows().iter().zip([48.0, 52.0]).all(|(w, expected)| (w - expected).abs() < 1e-12));
}

#[test]
fn a_departure_frees_its_share() {
    let mut setup = Setup::alike(&CcSpec::by_name("aimd").unwrap(), &[10.0, 50.0], 100.0);
    setup.users[1].stop = Some(1_000.0);
    let mut model = Synchronous::new(setup).unwrap();
    let mut peak: f64 = 0.0;
    while model.time() < 2_000.0 {
        model.advance();
        peak = peak.max(model.active_windows()[0]);
    }
    assert_eq!(model.active_windows().len(), 1);
    assert!(peak > 100.0 && peak <= 101.0, "{peak}");
}

#[test]
fn requests_are_answered_in_json() {
    let answer: serde_json::Value = serde_json::from_str(&json(r#"{"what": "table"}"#).unwrap()).unwrap();
    assert_eq!(answer["efficiency"][0]["rule"], "AIMD(1, 0.5)");
    assert_eq!(answer["efficiency"][0]["integer_step"][1]["x_goal"], 1000.0);

    let request = r#"{"what": "trajectory", "x_goal": 100, "duration": 30, "users": [
        {"cc": "new-aimd", "window": 10}, {"cc": {"kind": "aimd", "remaining": 0.8}, "window": 50, "start": 5}]}"#;
    let answer: serde_json::Value = serde_json::from_str(&json(request).unwrap()).unwrap();
    assert_eq!(answer["time"].as_array().unwrap().len(), 31);
    assert_eq!(answer["windows"][4], serde_json::json!([14.0, null]));
    assert_eq!(answer["windows"][5], serde_json::json!([15.0, 50.0]));
    assert_eq!(answer["complete"], true);

    let answer: serde_json::Value =
        serde_json::from_str(&json(r#"{"what": "load-curve", "points": 10}"#).unwrap()).unwrap();
    assert_eq!(answer["points"].as_array().unwrap().len(), 10);
}

#[test]
fn what_is_wrong_with_a_request_is_said() {
    let message = |request: &str| json(request).unwrap_err().to_string();
    assert_eq!(message(r#"{"what": "tables"}"#), r#"what: expected "table", "trajectory" or "load-curve""#);
    assert_eq!(message(r#"{"what": "table", "goal": 1}"#), "goal: unknown field `goal`, there are no fields");
    assert_eq!(
        message(r#"{"what": "load-curve", "buffers": 3}"#),
        "buffers: unknown field `buffers`, expected one of `buffer`, `timeout`, `max_load`, `points`"
    );
    let user = |user: &str| format!(r#"{{"what": "trajectory", "x_goal": 100, "duration": 30, "users": [{user}]}}"#);
    assert!(message(&user(r#"{"cc": "amd", "window": 1}"#)).starts_with(r#"users[0].cc: unknown algorithm "amd""#));
    assert_eq!(message(&user(r#"{"cc": "aimd", "window": -1}"#)), "`users.0.window` is -1, but must be above 0");
    assert_eq!(
        message(&user(r#"{"cc": "aimd", "window": 1}, {"cc": "cubic", "window": 1}"#)),
        r#"users.1.cc: "cubic" is more than a window rule, and the model has no clock; use another algorithm"#
    );
    assert_eq!(message(&user("")), "`users` is empty; give at least one user");
    assert!(message("[]").starts_with("invalid type"));
}

#[test]
fn a_trajectory_of_new_aimd_with_exact_peaks_ends() {
    let request = r#"{"what": "trajectory", "x_goal": 100, "duration": 1000, "peak": "exact", "users": [
        {"cc": "new-aimd", "window": 10}, {"cc": "new-aimd", "window": 50, "stop": 500}]}"#;
    let answer: serde_json::Value = serde_json::from_str(&json(request).unwrap()).unwrap();
    assert_eq!(answer["complete"], true);
    assert!(answer["load"].as_array().unwrap().iter().all(|load| load.as_f64().unwrap() <= 100.0 + 1e-9));
}

fn spec(json: serde_json::Value) -> CcSpec {
    serde_json::from_value(json).unwrap()
}

fn any_rule() -> impl Strategy<Value = CcSpec> {
    prop_oneof![
        (0.1..5.0, 0.1..1.0)
            .prop_map(|(a, b)| spec(serde_json::json!({"kind": "aimd", "increase": a, "remaining": b}))),
        (0.1..5.0, 0.1..9.0).prop_map(|(a, b)| spec(serde_json::json!({"kind": "aiad", "increase": a, "removed": b}))),
        (0.01..0.5, 0.1..1.0)
            .prop_map(|(a, b)| spec(serde_json::json!({"kind": "mimd", "increase": a, "remaining": b}))),
        (0.01..0.5, 0.1..9.0).prop_map(|(a, b)| spec(serde_json::json!({"kind": "miad", "increase": a, "removed": b}))),
        (0.1..5.0, 1.0..200.0).prop_map(|(a, beta)| spec(
            serde_json::json!({"kind": "aild", "increase": a, "removed_per_loss_ratio": beta})
        )),
        (0.1..5.0).prop_map(|a| spec(serde_json::json!({"kind": "aimd-fc", "increase": a}))),
        (0.1..5.0).prop_map(|a| spec(serde_json::json!({"kind": "aimd-fc+", "increase": a}))),
        (0.1..5.0).prop_map(|a| spec(serde_json::json!({"kind": "new-aimd", "increase": a}))),
    ]
}

fn any_setup() -> impl Strategy<Value = Setup> {
    let user = (any_rule(), 1.0..100.0, 0.0..50.0, prop::option::of(50.0..200.0))
        .prop_map(|(cc, window, start, stop)| User { cc, window, start, stop });
    let peak = prop_oneof![Just(Peak::Overshoot), Just(Peak::Exact)];
    (prop::collection::vec(user, 1..6), 10.0..1000.0, 0.01..1.0, peak).prop_map(|(users, x_goal, step, peak)| Setup {
        users,
        x_goal,
        step,
        floor: 1.0,
        peak,
    })
}

proptest! {
    #[test]
    fn the_difference_of_two_aimd_windows_is_multiplied_by_b(
        a in 0.1..5.0, b in 0.2..0.95, one in 1.0..40.0, other in 1.0..40.0
    ) {
        let cc = CcSpec::Aimd(linear::Aimd { increase: a, remaining: b });
        let setup = Setup { floor: 1e-6, ..Setup::alike(&cc, &[one, other], 100.0) };
        for pair in cycles(setup, 8, 100_000).unwrap().windows(2) {
            prop_assert!((pair[1].difference - b * pair[0].difference).abs() < 1e-9);
        }
    }

    #[test]
    fn the_difference_of_two_aiad_windows_is_constant(
        a in 0.1..5.0, removed in 0.1..9.0, one in 20.0..40.0, other in 20.0..40.0
    ) {
        let cc = CcSpec::Aiad(linear::Aiad { increase: a, removed });
        for cycle in cycles(Setup::alike(&cc, &[one, other], 100.0), 8, 100_000).unwrap() {
            prop_assert!((cycle.difference - f64::abs(one - other)).abs() < 1e-9);
        }
    }

    /// Users with the same loss ratio lose equal amounts, regardless of their windows.
    #[test]
    fn the_difference_of_two_aild_windows_is_constant(
        a in 0.1..5.0, beta in 10.0..100.0, one in 20.0..40.0, other in 20.0..40.0
    ) {
        let cc = CcSpec::Aild(Aild { increase: a, removed_per_loss_ratio: beta });
        for cycle in cycles(Setup::alike(&cc, &[one, other], 100.0), 8, 100_000).unwrap() {
            prop_assert!((cycle.difference - f64::abs(one - other)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_ratio_of_two_mimd_windows_is_constant(
        a in 0.01..0.5, b in 0.2..0.95, one in 10.0..40.0, other in 10.0..40.0
    ) {
        let cc = CcSpec::Mimd(linear::Mimd { increase: a, remaining: b });
        let setup = Setup { floor: 1e-6, ..Setup::alike(&cc, &[one, other], 100.0) };
        for cycle in cycles(setup, 8, 100_000).unwrap() {
            prop_assert!((cycle.ratio - f64::max(one / other, other / one)).abs() < 1e-9);
        }
    }

    #[test]
    fn the_ratio_of_two_miad_windows_grows(a in 0.01..0.5, removed in 0.5..9.0, one in 10.0..30.0) {
        let cc = CcSpec::Miad(linear::Miad { increase: a, removed });
        // A window far from any real floor, so that only the law acts.
        let setup = Setup { floor: 1e-6, ..Setup::alike(&cc, &[one, one + 10.0], 100.0) };
        let ends = cycles(setup, 8, 100_000).unwrap();
        for pair in ends.windows(2).take_while(|pair| pair[1].ratio < 50.0) {
            prop_assert!(pair[1].ratio > pair[0].ratio);
        }
    }

    #[test]
    fn exact_peaks_make_aimd_as_efficient_as_its_closed_form(
        a in 0.1..5.0, b in 0.2..0.95, users in 1_usize..8, step in 0.1..1.0
    ) {
        let cc = CcSpec::Aimd(linear::Aimd { increase: a, remaining: b });
        let starts: Vec<f64> = (1..=users).map(|i| i as f64).collect();
        let setup = Setup { peak: Peak::Exact, step, ..Setup::alike(&cc, &starts, 1_000.0) };
        let averages = long_run(setup, Horizon::Cycles(16)).unwrap();
        prop_assert!((averages.efficiency.unwrap() - closed_form::efficiency(b)).abs() < 1e-9);
        prop_assert!((averages.remaining.unwrap() - b).abs() < 1e-9);
    }

    #[test]
    fn time_moves_on_and_windows_stay_above_the_floor(setup in any_setup()) {
        let (step, exact, x_goal) = (setup.step, setup.peak == Peak::Exact, setup.x_goal);
        let last_arrival = setup.users.iter().map(|user| user.start).fold(0.0, f64::max) + step;
        // The one rule whose cut can raise the window.
        let has_fc_plus = setup.users.iter().any(|user| matches!(user.cc, CcSpec::AimdFcPlus(_)));
        let mut model = Synchronous::new(setup).unwrap();
        for _ in 0..2_000 {
            let (before, load) = (model.time(), model.load());
            let advance = model.advance();
            prop_assert!(model.time() >= before && model.time() <= before + step * 1.000_001);
            prop_assert!(model.active_windows().iter().all(|w| w.is_finite() && *w >= 1.0));
            if advance == Advance::Grew && exact && before > last_arrival {
                prop_assert!(model.load() <= x_goal * (1.0 + 1e-9));
            }
            if advance == Advance::Cut && before > last_arrival && !has_fc_plus {
                prop_assert!(model.load() <= load);
            }
        }
    }
}
