//! Bootstrap intervals: replicates are resampled with a fixed seed, jointly over environments.

use std::collections::BTreeMap;

use super::estimate::{CONFIDENCE, Estimate, student_t_quantile};
use super::mersenne::Mersenne;
use super::sum::sum;

/// The number of resamples.
pub const RESAMPLES: usize = 2000;
const SEED: u32 = 20_260_101;

/// Draws with replacement from the indices of replicates.
///
/// The same for every caller, so that environments, metrics and algorithms are resampled jointly: replicate 3 of one goes with
/// replicate 3 of all others.
#[derive(Default)]
pub struct Bootstrap {
    /// By the number of replicates, and how many each resample takes of them.
    drawn: BTreeMap<(usize, usize), Drawn>,
}

struct Drawn {
    /// Resamples that differ, their indices in order.
    distinct: Vec<Vec<usize>>,
    /// Which of them each resample is.
    places: Vec<usize>,
}

impl Drawn {
    fn new(count: usize, size: usize) -> Self {
        let mut generator = Mersenne::new(SEED);
        let mut known = BTreeMap::new();
        let (mut distinct, mut places) = (Vec::new(), Vec::with_capacity(RESAMPLES));
        for _ in 0..RESAMPLES {
            let mut chosen: Vec<usize> = (0..size).map(|_| generator.below(count)).collect();
            // Those that differ in order alone, most of those of few replicates, have one mean.
            chosen.sort_unstable();
            places.push(*known.entry(chosen).or_insert_with_key(|chosen| {
                distinct.push(chosen.clone());
                distinct.len() - 1
            }));
        }
        Drawn { distinct, places }
    }
}

impl Bootstrap {
    /// The mean of each resample, which takes `draws` of the values, all by default; a single value stays as it is.
    pub fn means(&mut self, values: &[f64], draws: Option<usize>) -> Vec<f64> {
        let (count, size) = (values.len(), draws.unwrap_or(values.len()));
        if values.iter().all(|value| *value == values[0]) {
            return vec![values[0]; RESAMPLES];
        }
        let drawn = self.drawn.entry((count, size)).or_insert_with(|| Drawn::new(count, size));
        let means: Vec<f64> =
            drawn.distinct.iter().map(|chosen| sum(chosen.iter().map(|&index| values[index])) / size as f64).collect();
        drawn.places.iter().map(|&place| means[place]).collect()
    }
}

/// A figure with the basic interval of its resamples: the percentile one, reflected at the figure.
///
/// For a maximum of means, which noise raises: resampling raises it once more, and the reflection takes that off (Davison &
/// Hinkley 1997, section 5.2). Where it takes off so much that the figure itself is left out, the interval ends at the figure.
pub fn reflected_estimate(point: f64, resampled: Vec<f64>, count: usize) -> Estimate {
    if count == 1 {
        return Estimate::single(point);
    }
    let (low, high) = ends(resampled, count);
    let (low, high) = (point.min(2.0 * point - high), point.max(2.0 * point - low));
    Estimate { mean: point, low: Some(low), high: Some(high), count }
}

/// The ends of the percentile interval of a figure from `count` replicates.
///
/// Its levels are widened so that for normal values it agrees with Student's t (Hesterberg 2015, section 5.3): the plain one
/// is too short for few replicates.
fn ends(mut resampled: Vec<f64>, count: usize) -> (f64, f64) {
    let reach = (count as f64 / (count - 1) as f64).sqrt() * student_t_quantile(count - 1, CONFIDENCE);
    let level = 0.5 * libm::erfc(reach / std::f64::consts::SQRT_2);
    resampled.sort_unstable_by(f64::total_cmp);
    (quantile(&resampled, level), quantile(&resampled, 1.0 - level))
}

/// The value below which a share `level` of the ordered values lies, interpolated; there are at least two.
pub fn quantile(ordered: &[f64], level: f64) -> f64 {
    let place = level * (ordered.len() - 1) as f64;
    let at = (place as usize).min(ordered.len() - 2);
    let (low, high) = (ordered[at], ordered[at + 1]);
    // Equal neighbours are returned as they are: no rounding.
    if low == high { low } else { low + (place - at as f64) * (high - low) }
}
