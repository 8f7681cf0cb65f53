//! Regret: how far a score is below the best one, in the worst environment and in total over all of them.
//!
//! Reddy et al. call them C and D: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`, `D_a = sum over e of d_a(e)`.
//! Scores become costs first (`Better::cost`), so less is better throughout. `docs/learn/how-algorithms-are-compared.md`.

use serde::Serialize;

use super::bootstrap::{Bootstrap, RESAMPLES, quantile, reflected_estimate};
use super::estimate::Estimate;
use super::mersenne::Mersenne;
use super::sum::{mean, sum};

/// Tables of equal algorithms that the noise floor is computed from.
const NOISE_FLOOR_TABLES: usize = 500;
const NOISE_FLOOR_SEED: u32 = 20_260_102;

/// One metric in all environments, and what it is measured against.
pub struct Table {
    /// Costs by environment, candidate and replicate.
    pub costs: Vec<Vec<Vec<f64>>>,
    /// The stored best cost of each environment; none if the table decides.
    pub best: Option<Vec<f64>>,
    /// The costs per replicate of the stored best, by environment, if they are known: the best has a sampling error, too.
    pub best_costs: Option<Vec<Vec<f64>>>,
    /// Whether these have the same random draws as replicates here.
    pub paired: bool,
    /// The environments in which regret is a share of the best score, for want of a common unit.
    pub relative: Vec<bool>,
    /// How many algorithms the best is taken over.
    pub algorithms: usize,
    /// Stored costs of the reference by environment, which the noise floor is computed from.
    pub reference_costs: Option<Vec<Vec<f64>>>,
    /// The candidate that it is computed from where there are none.
    pub reference: usize,
}

/// The regret that equal algorithms would show, each with random draws of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// How many algorithms the table has, the judged one included.
    pub algorithms: usize,
    /// Mean of the worst case over tables.
    pub worst_case_mean: f64,
    /// 95 % of the tables show less.
    pub worst_case_high: f64,
    /// Mean of the total.
    pub total_mean: f64,
    /// 95 % of the tables show less.
    pub total_high: f64,
}

/// The regret of one candidate in one metric. Below zero it is better than the best.
#[derive(Clone, Debug)]
pub struct Regret {
    /// Regret in the worst environment.
    pub worst_case: Estimate,
    /// The sum over the environments.
    pub total: Estimate,
    /// The place of the worst environment.
    pub worst: usize,
    /// Regret by environment.
    pub by_environment: Vec<f64>,
    /// None where there is a single replicate.
    pub noise_floor: Option<NoiseFloor>,
    /// The worst case of each resample; the same replicates are drawn for every candidate and metric.
    pub drawn_worst_case: Vec<f64>,
    /// The total of each resample.
    pub drawn_total: Vec<f64>,
}

/// The regret of each candidate.
///
/// Intervals resample the replicates jointly over environments; `reflected_estimate` says how. The stored best is resampled with
/// its own replicates, those with the same random draws together; the best of the table is found again in each resample.
pub fn regrets(table: &Table) -> Vec<Regret> {
    let mut bootstrap = Bootstrap::default();
    let means: Vec<Vec<f64>> = table.costs.iter().map(|row| row.iter().map(|values| mean(values)).collect()).collect();
    let best = table.best.clone().unwrap_or_else(|| means.iter().map(|row| least(row.iter().copied())).collect());
    let units: Vec<f64> = best
        .iter()
        .zip(&table.relative)
        .map(|(best, relative)| if *relative && *best != 0.0 { best.abs() } else { 1.0 })
        .collect();
    let resampled: Vec<Vec<Vec<f64>>> =
        table.costs.iter().map(|row| row.iter().map(|values| bootstrap.means(values, None)).collect()).collect();
    let stored_drawn: Option<Vec<Vec<f64>>> = table.best_costs.as_ref().map(|rows| {
        let judged = |place: usize| table.costs[place].iter().map(Vec::len).max().unwrap_or(0);
        let drawn = rows.iter().enumerate();
        drawn.map(|(place, row)| table.stored_means(&mut bootstrap, row, judged(place))).collect()
    });
    let best_drawn = |place: usize, draw: usize| match (&table.best, &stored_drawn) {
        (Some(_), Some(drawn)) => drawn[place][draw],
        (Some(stored), None) => stored[place],
        (None, _) => least(resampled[place].iter().map(|means| means[draw])),
    };
    let count = table.costs.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let noise_floor = (count > 1).then(|| table.noise_floor(&units));
    let regret = |candidate: usize| {
        let by_environment: Vec<f64> =
            means.iter().enumerate().map(|(place, row)| (row[candidate] - best[place]) / units[place]).collect();
        let (mut drawn_worst_case, mut drawn_total) = (Vec::with_capacity(RESAMPLES), Vec::with_capacity(RESAMPLES));
        let of_draw =
            |place: usize, draw: usize| (resampled[place][candidate][draw] - best_drawn(place, draw)) / units[place];
        for draw in 0..RESAMPLES {
            let drawn: Vec<f64> = (0..means.len()).map(|place| of_draw(place, draw)).collect();
            drawn_worst_case.push(drawn[largest(&drawn)]);
            drawn_total.push(sum(drawn));
        }
        let worst = largest(&by_environment);
        Regret {
            worst_case: reflected_estimate(by_environment[worst], drawn_worst_case.clone(), count),
            total: reflected_estimate(sum(by_environment.iter().copied()), drawn_total.clone(), count),
            worst,
            by_environment,
            noise_floor,
            drawn_worst_case,
            drawn_total,
        }
    };
    (0..means.first().map_or(0, Vec::len)).map(regret).collect()
}

impl Table {
    /// The mean of each resample of the replicates of a stored best: those of so many judged replicates with the same draws are
    /// drawn with these, others on their own.
    fn stored_means(&self, bootstrap: &mut Bootstrap, row: &[f64], judged: usize) -> Vec<f64> {
        let common = if self.paired && judged > 1 { judged.min(row.len()) } else { 0 };
        // The same number of values has the same draws everywhere: other draws are those of half of the resamples later.
        let alone = |bootstrap: &mut Bootstrap, row: &[f64]| {
            let mut means = if row.is_empty() { vec![0.0; RESAMPLES] } else { bootstrap.means(row, None) };
            means.rotate_left(RESAMPLES / 2);
            means
        };
        let together = if common > 0 { bootstrap.means(&row[..common], None) } else { vec![0.0; RESAMPLES] };
        let rest = alone(bootstrap, &row[common..]);
        let weight = common as f64 / row.len() as f64;
        together.iter().zip(rest).map(|(one, other)| weight * one + (1.0 - weight) * other).collect()
    }

    /// The regret of the last of a table of equal algorithms.
    ///
    /// With stored scores the best is that of the stored algorithms, and the judged one comes on top of them.
    fn noise_floor(&self, units: &[f64]) -> NoiseFloor {
        let of_table: Vec<Vec<f64>>;
        let costs = match &self.reference_costs {
            Some(stored) => stored,
            None => {
                of_table = self.costs.iter().map(|row| row[self.reference].clone()).collect();
                &of_table
            }
        };
        let judged: Vec<usize> = self.costs.iter().map(|row| row[0].len()).collect();
        let is_stored = self.best.is_some();
        let rivals = if is_stored { self.algorithms } else { self.algorithms - 1 };
        noise_floor(costs, rivals, units, Some(&judged), is_stored)
    }
}

/// The regret of an algorithm among `rivals` that equal it, from one algorithm's replicates, by environment.
///
/// Each algorithm of a table is a resample of the replicates, joint over environments. `draws`: replicates of the judged one; as
/// many as of the others by default. `ahead`: whether it may be better than the best, which is then taken over the others only.
pub fn noise_floor(
    costs: &[Vec<f64>],
    rivals: usize,
    units: &[f64],
    draws: Option<&[usize]>,
    ahead: bool,
) -> NoiseFloor {
    let mut bootstrap = Bootstrap::default();
    let pools: Vec<Vec<f64>> = costs.iter().map(|values| bootstrap.means(values, None)).collect();
    let mine: Vec<Vec<f64>> = costs
        .iter()
        .enumerate()
        .map(|(place, values)| bootstrap.means(values, draws.map(|draws| draws[place])))
        .collect();
    let mut generator = Mersenne::new(NOISE_FLOOR_SEED);
    let (mut worst_cases, mut totals) = (Vec::new(), Vec::new());
    for _ in 0..NOISE_FLOOR_TABLES {
        let own = generator.below(RESAMPLES);
        let others: Vec<usize> = (0..rivals).map(|_| generator.below(RESAMPLES)).collect();
        let regret: Vec<f64> = (0..costs.len())
            .map(|place| {
                let cost = mine[place][own];
                let of_others = least(others.iter().map(|&other| pools[place][other]));
                let best = if ahead && !others.is_empty() { of_others } else { of_others.min(cost) };
                (cost - best) / units[place]
            })
            .collect();
        worst_cases.push(regret[largest(&regret)]);
        totals.push(sum(regret));
    }
    let high = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        quantile(values, 0.95)
    };
    NoiseFloor {
        algorithms: rivals + 1,
        worst_case_mean: mean(&worst_cases),
        worst_case_high: high(&mut worst_cases),
        total_mean: mean(&totals),
        total_high: high(&mut totals),
    }
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// The place of the first of the largest values; 0 of none.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |most, at| if values[at] > values[most] { at } else { most })
}
