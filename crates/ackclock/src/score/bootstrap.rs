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
/// Every caller gets the same draws, so that environments, metrics and algorithms are resampled jointly. Replicate 3 of one
/// goes with replicate 3 of all others.
#[derive(Default)]
pub struct Bootstrap {
    /// Draws by the number of replicates and the size of a resample.
    drawn: BTreeMap<(usize, usize), Drawn>,
}

struct Drawn {
    /// The distinct resamples, each with sorted indices.
    distinct: Vec<Vec<usize>>,
    /// For each resample, its place in `distinct`.
    places: Vec<usize>,
}

impl Drawn {
    fn new(count: usize, size: usize) -> Self {
        let mut generator = Mersenne::new(SEED);
        let mut known = BTreeMap::new();
        let (mut distinct, mut places) = (Vec::new(), Vec::with_capacity(RESAMPLES));
        for _ in 0..RESAMPLES {
            let mut chosen: Vec<usize> = (0..size).map(|_| generator.below(count)).collect();
            // Resamples that differ only in order have the same mean. With few replicates that is most of them.
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
    /// The mean of each resample of the values.
    ///
    /// A resample takes `draws` values, by default as many as there are.
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

/// A figure with the basic interval of its resamples, which is the percentile interval reflected at the figure.
///
/// It suits a maximum of means, which noise raises. Resampling raises the maximum again, and the reflection removes that bias
/// (Davison & Hinkley 1997, section 5.2). If the reflected interval excludes the figure, it is extended to the figure.
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
/// The plain percentile interval is too short for few replicates. Wider levels make it agree with Student's t for normal values
/// (Hesterberg 2015, section 5.3).
fn ends(mut resampled: Vec<f64>, count: usize) -> (f64, f64) {
    let reach = (count as f64 / (count - 1) as f64).sqrt() * student_t_quantile(count - 1, CONFIDENCE);
    let level = 0.5 * libm::erfc(reach / std::f64::consts::SQRT_2);
    resampled.sort_unstable_by(f64::total_cmp);
    (quantile(&resampled, level), quantile(&resampled, 1.0 - level))
}

/// The quantile of at least two ordered values at `level`, by linear interpolation.
pub fn quantile(ordered: &[f64], level: f64) -> f64 {
    let place = level * (ordered.len() - 1) as f64;
    let at = (place as usize).min(ordered.len() - 2);
    let (low, high) = (ordered[at], ordered[at + 1]);
    // Interpolation between equal values could round.
    if low == high { low } else { low + (place - at as f64) * (high - low) }
}
