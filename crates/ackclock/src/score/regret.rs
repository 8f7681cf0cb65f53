//! Regret is the distance of a score from the best score, in the worst environment and in total.
//!
//! Reddy et al. call these two C and D: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`, `D_a = sum over e of d_a(e)`.
//! Scores become costs first (`Better::cost`), so that lower values are always better. See
//! `docs/learn/how-algorithms-are-compared.md`.

use serde::Serialize;

use super::bootstrap::{Bootstrap, RESAMPLES, quantile, reflected_estimate};
use super::estimate::{CONFIDENCE, Estimate, SamplingError, difference_error};
use super::mersenne::Mersenne;
use super::sum::{mean, sum};

/// The number of tables of equal algorithms from which the noise floor is computed.
const NOISE_FLOOR_TABLES: usize = 500;
const NOISE_FLOOR_SEED: u32 = 20_260_102;

/// The costs of one metric in all environments, and the baseline of its regret.
pub struct Table {
    /// Costs by environment, candidate and replicate.
    pub costs: Vec<Vec<Vec<f64>>>,
    /// The stored best cost of each environment. Without it, the best cost of the table counts.
    pub best: Option<Vec<f64>>,
    /// Costs of the stored best per replicate, by environment. They give the sampling error of the best.
    pub best_costs: Option<Vec<Vec<f64>>>,
    /// Whether the stored replicates use the same random draws as the replicates in `costs`.
    pub paired: bool,
    /// Whether regret is relative to the best cost, by environment.
    pub relative: Vec<bool>,
    /// The number of algorithms that the best is chosen from.
    pub algorithms: usize,
    /// Stored costs of the reference by environment, for the noise floor.
    pub reference_costs: Option<Vec<Vec<f64>>>,
    /// The candidate that gives the noise floor without stored costs of the reference.
    pub reference: usize,
}

/// The regret of equal algorithms with independent random draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// The number of algorithms in the table, including the judged one.
    pub algorithms: usize,
    /// The mean worst case over the tables.
    pub worst_case_mean: f64,
    /// The 95th percentile of the worst case.
    pub worst_case_high: f64,
    /// The mean total over the tables.
    pub total_mean: f64,
    /// The 95th percentile of the total.
    pub total_high: f64,
}

/// The regret of one candidate in one metric. A candidate with negative regret is better than the best.
#[derive(Clone, Debug)]
pub struct Regret {
    /// The regret in the worst environment.
    pub worst_case: Estimate,
    /// The sum of regrets over the environments.
    pub total: Estimate,
    /// The place of the worst environment.
    pub worst: usize,
    /// The regret in each environment.
    pub by_environment: Vec<f64>,
    /// The noise floor, or none for a single replicate.
    pub noise_floor: Option<NoiseFloor>,
    /// The worst case of each resample. All candidates and metrics share the resampled replicates.
    pub drawn_worst_case: Vec<f64>,
    /// The total of each resample.
    pub drawn_total: Vec<f64>,
}

/// The regret of each candidate.
///
/// `largest_difference` describes the interval of the worst case. The interval of the total resamples the replicates jointly over
/// environments, as `reflected_estimate` describes. A stored best is resampled from its own replicates, jointly where the random
/// draws are the same. Otherwise each resample has its own best of the table.
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
            worst_case: largest_difference(by_environment[worst], &table.differences(candidate, &best, &units), count),
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

/// A difference of two mean costs.
struct Difference {
    mean: f64,
    /// The standard error, or none if nothing is random.
    error: Option<SamplingError>,
    unit: f64,
}

/// The largest of several true differences, whose estimate is `point`, with its confidence interval.
///
/// Both ends are the largest of the ends of single intervals. The largest true difference exceeds the upper end only if it exceeds
/// the end of its own interval. Half of the permitted error thus suffices for the upper end, without correction. The lower end is
/// wrong only if one of the intervals begins above its own difference. All of them share the other half (Bonferroni).
fn largest_difference(point: f64, differences: &[Difference], count: usize) -> Estimate {
    if count == 1 {
        return Estimate::single(point);
    }
    let random = differences.iter().filter(|each| each.error.is_some()).count().max(1);
    let end = |confidence: f64, sign: f64| {
        let reach =
            |each: &Difference| each.error.as_ref().map_or(0.0, |error| error.half_width(confidence) / each.unit);
        differences.iter().map(|each| each.mean + sign * reach(each)).fold(f64::NEG_INFINITY, f64::max)
    };
    let simultaneous = 1.0 - (1.0 - CONFIDENCE) / random as f64;
    Estimate { mean: point, low: Some(end(simultaneous, -1.0)), high: Some(end(CONFIDENCE, 1.0)), count }
}

impl Table {
    /// The differences whose largest is the worst-case regret of a candidate.
    ///
    /// With stored scores they are the distances to the stored best of each environment. Without them, a candidate
    /// has a difference to each other candidate, and the zero to itself. The best of the table is the largest of them.
    fn differences(&self, candidate: usize, best: &[f64], units: &[f64]) -> Vec<Difference> {
        let places = self.costs.iter().enumerate();
        let of = |(place, row): (usize, &Vec<Vec<f64>>)| {
            let (own, unit) = (&row[candidate], units[place]);
            let to = |cost: f64, others: &[f64], paired: bool| Difference {
                mean: (mean(own) - cost) / unit,
                error: (own.len().max(others.len()) > 1).then(|| difference_error(own, others, paired)),
                unit,
            };
            if self.best.is_some() {
                let stored = self.best_costs.as_ref().map_or(&[][..], |rows| &rows[place]);
                return vec![to(best[place], stored, self.paired)];
            }
            let itself = Difference { mean: 0.0, error: None, unit };
            let others = row.iter().enumerate().filter(|(at, _)| *at != candidate);
            others.map(|(_, costs)| to(mean(costs), costs, true)).chain([itself]).collect()
        };
        places.flat_map(of).collect()
    }

    /// The mean of each resample of a stored best. Replicates that share random draws with the judged ones are resampled jointly
    /// with them, all others independently.
    fn stored_means(&self, bootstrap: &mut Bootstrap, row: &[f64], judged: usize) -> Vec<f64> {
        let common = if self.paired && judged > 1 { judged.min(row.len()) } else { 0 };
        // Samples of equal size share their resamples. A rotation by half of the resamples makes them independent.
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
    /// With stored scores, the judged algorithm is not among the algorithms that give the best score.
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

/// The regret of an algorithm among `rivals` equal algorithms, from the replicates of one algorithm by environment.
///
/// Each algorithm of a table is a resample of the replicates, joint over environments. `draws`: the number of replicates of the
/// judged algorithm, by default the same as for the others. `ahead`: the best excludes the judged algorithm, which may be better.
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

/// The place of the first largest value, 0 if there are no values.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |most, at| if values[at] > values[most] { at } else { most })
}
