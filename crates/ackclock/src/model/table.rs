//! The figures that any correct implementation must show, computed: `ackclock model`.
//!
//! Each number has the name of its convention, which [`Table::conventions`] explains. Closed forms are the limit of
//! fine steps, so integer steps deviate by about a segment per user.

use serde::Serialize;

use super::closed_form::{self, Convergence};
use super::cycles::{Cycle, cycles};
use super::expansion::{Expansion, expansion};
use super::long_run::{Averages, Horizon, long_run};
use super::synchronous::{Peak, Setup, Synchronous};
use crate::cc::CcSpec;
use crate::metric::jain_index;
use crate::rule::{fast_convergence, linear, new_aimd};

/// Capacities at which integer steps are shown, in segments.
const X_GOALS: [f64; 3] = [100.0, 1_000.0, 10_000.0];
/// The capacity of everything else.
const X_GOAL: f64 = 100.0;
/// Starts of the two users, as parts of `X_goal`.
const STARTS: [f64; 2] = [0.1, 0.5];
const FINE_STEP: f64 = 0.01;
const FAIR: f64 = 0.99;
/// Long enough for every rule to settle, short enough for the differences not to drown in rounding.
const EXACT_CYCLES: u64 = 64;
const SHOWN_CYCLES: usize = 6;
/// Cycles after which users count as permanently unfair.
const FAIR_CYCLES: usize = 128;
/// A bound for searches that may not end.
const MAX_STEPS: usize = 1_000_000;

/// All figures of the synchronous model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The meanings of the names in the rows.
    pub conventions: Vec<Convention>,
    /// Efficiency and the window after the cut.
    pub efficiency: Vec<EfficiencyRow>,
    /// How two unequal users come together, or do not.
    pub fairness: Vec<FairnessRow>,
    /// How fast one user takes up capacity that others have left.
    pub expansion: Vec<Expansion>,
}

/// How a figure was computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Convention {
    /// The key of a row that uses it.
    pub name: &'static str,
    /// In words.
    pub meaning: &'static str,
}

/// Two users of one rule in the long run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EfficiencyRow {
    /// The rule as papers write it: `AIMD(1, 0.5)`.
    pub rule: &'static str,
    /// The algorithm with its parameters.
    pub cc: CcSpec,
    /// The formula. None for a rule without one.
    pub closed_form: Option<ClosedForm>,
    /// Peaks that hit `X_goal`.
    pub exact_peak: Averages,
    /// Steps of a hundredth of a round trip.
    pub fine_step: Averages,
    /// Steps of one round trip.
    pub integer_step: Vec<IntegerStep>,
}

/// The limit of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClosedForm {
    /// Window after the cut over the peak.
    pub remaining: f64,
    /// Mean load over `X_goal`.
    pub efficiency: f64,
}

/// Integer steps at one capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntegerStep {
    /// The capacity in segments.
    pub x_goal: f64,
    /// Steps of the run, whose second half counts.
    pub steps: u64,
    /// The figures.
    #[serde(flatten)]
    pub averages: Averages,
}

/// Two users of one rule that start at 10 and 50, `X_goal` 100.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FairnessRow {
    /// The rule as papers write it: `AIMD(1, 0.5)`.
    pub rule: &'static str,
    /// The algorithm with its parameters.
    pub cc: CcSpec,
    /// The convergence of the windows. None without a simple formula.
    pub law: Option<Convergence>,
    /// Difference of the windows at the first exact peaks.
    pub differences: Vec<f64>,
    /// Ratio of the windows at the first exact peaks.
    pub ratios: Vec<f64>,
    /// The time at which Jain's index passes 0.99. None for a rule that never reaches it.
    pub fair: Option<Fair>,
}

/// When two users have become equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fair {
    /// Cycles until then, the current one included.
    pub cycles: usize,
    /// Steps to the end of that cycle, with exact peaks. Cuts take no step.
    pub exact_peak_steps: f64,
    /// Integer steps until Jain's index is above 0.99. A cut is a step.
    pub integer_steps: u64,
}

/// Computes the table. Takes a few hundredths of a second.
pub fn table() -> Table {
    Table {
        conventions: CONVENTIONS.to_vec(),
        efficiency: efficiency_rules().into_iter().map(|(rule, cc)| efficiency_row(rule, cc)).collect(),
        fairness: fairness_rules().into_iter().map(|(rule, cc)| fairness_row(rule, cc)).collect(),
        expansion: expansion(),
    }
}

const CONVENTIONS: [Convention; 8] = [
    Convention {
        name: "efficiency",
        meaning: "mean load over X_goal, over the steps at or below X_goal; two users, feedback y = 1 above X_goal, strictly",
    },
    Convention { name: "closed_form", meaning: "the limit of fine steps: (1 + remaining) / 2" },
    Convention {
        name: "exact_peak",
        meaning: "the step that would cross X_goal ends at it, and the cut takes no time. X_goal is 100, and the starts are 10 and 50. The load is averaged over time in the second half of 64 cycles",
    },
    Convention {
        name: "fine_step",
        meaning: "as integer_step, with steps of 0.01 RTT. X_goal is 100, and the starts are 10 and 50. The second half of 200 000 steps counts",
    },
    Convention {
        name: "integer_step",
        meaning: "steps of one RTT, a cut is a step, and peaks overshoot. The starts are X_goal/10 and X_goal/2. The second half of 20 000 steps counts (20 X_goal steps if that is more)",
    },
    Convention {
        name: "congested_share",
        meaning: "share of the steps above X_goal, in the second half of the run, and from its start",
    },
    Convention {
        name: "expansion",
        meaning: "windows of 20 segments by RTTs after others have left, without marks and losses. The columns are equation 3 of psaras-mr-aimd, and its equation 1 at every ACK",
    },
    Convention {
        name: "fair",
        meaning: "steps until Jain's index passes 0.99, with starts 10 and 50 and X_goal 100. With exact peaks: growing steps to the end of that cycle. With integer steps: all steps to the first above 0.99",
    },
];

fn efficiency_rules() -> Vec<(&'static str, CcSpec)> {
    let aimd = |remaining| CcSpec::Aimd(linear::Aimd { increase: 1.0, remaining });
    vec![
        ("AIMD(1, 0.5)", aimd(0.5)),
        ("AIMD(1, 0.65)", aimd(0.65)),
        ("AIMD(1, 0.8)", aimd(0.8)),
        ("AIMD(1, 0.875)", aimd(0.875)),
        ("AIMD-FC", CcSpec::AimdFc(fast_convergence::AimdFc::default())),
        ("AIMD-FC+", CcSpec::AimdFcPlus(fast_convergence::AimdFcPlus::default())),
        ("New-AIMD", CcSpec::NewAimd(new_aimd::NewAimd::default())),
    ]
}

fn fairness_rules() -> Vec<(&'static str, CcSpec)> {
    let mut rules = efficiency_rules();
    rules.extend([
        ("AIAD(1, 3)", CcSpec::Aiad(linear::Aiad { increase: 1.0, removed: 3.0 })),
        ("AIAD(1, 3) and 2 %", aiad_and(0.98)),
        ("AIAD(1, 3) and 5 %", aiad_and(0.95)),
        ("AIAD(1, 3) and 10 %", aiad_and(0.9)),
        ("MIMD(0.1, 0.5)", CcSpec::Mimd(linear::Mimd { increase: 0.1, remaining: 0.5 })),
        ("MIAD(0.1, 3)", CcSpec::Miad(linear::Miad { increase: 0.1, removed: 3.0 })),
    ]);
    rules
}

/// AIAD(1, 3) with a small multiplicative part in its decrease, as the summary of reddy-aimd-aiad proposes.
fn aiad_and(decrease_mul: f64) -> CcSpec {
    CcSpec::Linear(linear::Linear { increase_add: 1.0, increase_mul: 1.0, decrease_add: -3.0, decrease_mul })
}

fn setup(cc: &CcSpec, x_goal: f64) -> Setup {
    Setup::alike(cc, &STARTS.map(|part| part * x_goal), x_goal)
}

fn efficiency_row(rule: &'static str, cc: CcSpec) -> EfficiencyRow {
    let run = |setup: Setup, horizon| long_run(setup, horizon).expect("invariant: the table is valid");
    let exact = Setup { peak: Peak::Exact, ..setup(&cc, X_GOAL) };
    let fine = Setup { step: FINE_STEP, ..setup(&cc, X_GOAL) };
    let integer_step = X_GOALS.map(|x_goal| {
        let steps = (20.0 * x_goal).max(20_000.0) as u64;
        IntegerStep { x_goal, steps, averages: run(setup(&cc, x_goal), Horizon::Steps(steps)) }
    });
    EfficiencyRow {
        rule,
        closed_form: closed_form::remaining(&cc)
            .map(|remaining| ClosedForm { remaining, efficiency: closed_form::efficiency(remaining) }),
        exact_peak: run(exact, Horizon::Cycles(EXACT_CYCLES)),
        fine_step: run(fine, Horizon::Steps(200_000)),
        integer_step: integer_step.to_vec(),
        cc,
    }
}

fn fairness_row(rule: &'static str, cc: CcSpec) -> FairnessRow {
    let exact = Setup { peak: Peak::Exact, ..setup(&cc, X_GOAL) };
    let first = cycles(exact, SHOWN_CYCLES, MAX_STEPS).expect("invariant: the table is valid");
    FairnessRow {
        rule,
        law: closed_form::convergence(&cc),
        differences: first.iter().map(|cycle| cycle.difference).collect(),
        ratios: first.iter().map(|cycle| cycle.ratio).collect(),
        fair: fair(&cc),
        cc,
    }
}

/// The time at which the users become equal. The search ends with the cycles or steps of a long run.
fn fair(cc: &CcSpec) -> Option<Fair> {
    let exact = Setup { peak: Peak::Exact, ..setup(cc, X_GOAL) };
    let ends: Vec<Cycle> = cycles(exact, FAIR_CYCLES, MAX_STEPS).ok()?;
    let last = ends.iter().position(|cycle| cycle.jain_index > FAIR)?;
    let mut model = Synchronous::new(setup(cc, X_GOAL)).ok()?;
    let mut integer_steps = 0;
    while jain_index(&model.active_windows()) <= FAIR {
        if integer_steps == 20_000 {
            return None;
        }
        model.advance();
        integer_steps += 1;
    }
    Some(Fair { cycles: last + 1, exact_peak_steps: ends[last].growing_time, integer_steps })
}
