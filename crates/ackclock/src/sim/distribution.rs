//! Random sizes and times with a given mean.

use crate::rng::Rng;
use crate::units::Duration;

/// A distribution of positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Its mean: bytes, or nanoseconds.
    pub mean: f64,
    /// Its shape.
    pub kind: DistributionKind,
}

/// The shape of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DistributionKind {
    /// Always the mean.
    Fixed,
    /// Without memory.
    Exponential,
    /// `P(X > x) = (k / x)^shape` for x above the smallest value, `k = mean (shape - 1) / shape`.
    Pareto {
        /// Above 1, so that a mean exists. The variance is finite above 2 only.
        shape: f64,
    },
    /// `ln X` is normal.
    Lognormal {
        /// The standard deviation of `ln X`.
        sigma: f64,
    },
}

impl Distribution {
    /// Always `value`.
    pub fn fixed(value: f64) -> Self {
        Distribution { mean: value, kind: DistributionKind::Fixed }
    }

    /// True if values differ.
    pub fn is_random(&self) -> bool {
        self.kind != DistributionKind::Fixed
    }

    /// A value.
    pub fn draw(&self, stream: &mut Rng) -> f64 {
        match self.kind {
            DistributionKind::Fixed => self.mean,
            DistributionKind::Exponential => self.mean * stream.next_exponential(),
            DistributionKind::Pareto { shape } => {
                let smallest = self.mean * (shape - 1.0) / shape;
                smallest * libm::pow(1.0 - stream.next_f64(), -1.0 / shape)
            }
            DistributionKind::Lognormal { sigma } => {
                // The mean is exp(mu + sigma^2 / 2).
                self.mean * libm::exp(sigma * normal(stream) - sigma * sigma / 2.0)
            }
        }
    }

    /// A value as a number of bytes, the nearest one and at least one.
    pub fn draw_bytes(&self, stream: &mut Rng) -> u64 {
        (self.draw(stream).round() as u64).max(1)
    }

    /// A value as a length of time, the nearest number of nanoseconds.
    pub fn draw_time(&self, stream: &mut Rng) -> Duration {
        // Longer than any run, and short enough to be added to any time in it.
        const LONGEST: u64 = u64::MAX / 4;
        Duration::from_nanos((self.draw(stream).round() as u64).min(LONGEST))
    }
}

/// Normal with mean 0 and variance 1 (Box & Muller 1958).
fn normal(stream: &mut Rng) -> f64 {
    let radius = libm::sqrt(2.0 * stream.next_exponential());
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.next_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStreams;

    const DRAWS: usize = 100_000;

    fn sorted(kind: DistributionKind) -> Vec<f64> {
        let mut stream = RngStreams::new(1, 0).stream("x", "test");
        let distribution = Distribution { mean: 20_000.0, kind };
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| distribution.draw(&mut stream)).collect();
        draws.sort_unstable_by(f64::total_cmp);
        draws
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    /// Whether the share of draws up to `value` equals the distribution's within four standard errors.
    fn holds(draws: &[f64], value: f64, share: f64) -> bool {
        let found = draws.partition_point(|draw| *draw <= value) as f64 / draws.len() as f64;
        (found - share).abs() <= 4.0 * (share * (1.0 - share) / draws.len() as f64).sqrt()
    }

    #[test]
    fn exponential_draws_have_mean_and_median() {
        let draws = sorted(DistributionKind::Exponential);
        // The standard deviation is the mean: four standard errors are 4 / sqrt(100 000) = 1.3 %.
        assert!((mean(&draws) / 20_000.0 - 1.0).abs() < 0.0127);
        assert!(holds(&draws, 20_000.0 * std::f64::consts::LN_2, 0.5));
    }

    #[test]
    fn pareto_draws_have_mean_and_percentiles() {
        // Shape 3: k = 20 000 * 2 / 3, the standard deviation is k / 2 * sqrt 3 = 11 547.
        let draws = sorted(DistributionKind::Pareto { shape: 3.0 });
        assert!((mean(&draws) - 20_000.0).abs() < 4.0 * 11_547.0 / (DRAWS as f64).sqrt());
        // Shape 1.2: k = 20 000 / 6. Half of the draws are below k 2^(1/1.2), 99 % below k 100^(1/1.2), none below k.
        let draws = sorted(DistributionKind::Pareto { shape: 1.2 });
        let smallest = 20_000.0 / 6.0;
        assert!(draws[0] >= smallest && draws[0] < 1.001 * smallest);
        assert!(holds(&draws, smallest * libm::pow(2.0, 1.0 / 1.2), 0.5));
        assert!(holds(&draws, smallest * libm::pow(100.0, 1.0 / 1.2), 0.99));
    }

    #[test]
    fn lognormal_draws_have_mean_and_median() {
        // The median is mean / exp(sigma^2 / 2), the standard deviation mean * sqrt(exp(sigma^2) - 1).
        let draws = sorted(DistributionKind::Lognormal { sigma: 1.0 });
        let deviation = 20_000.0 * (libm::exp(1.0) - 1.0).sqrt();
        assert!((mean(&draws) - 20_000.0).abs() < 4.0 * deviation / (DRAWS as f64).sqrt());
        assert!(holds(&draws, 20_000.0 / libm::exp(0.5), 0.5));
        // One standard deviation above the median of ln X.
        assert!(holds(&draws, 20_000.0 * libm::exp(0.5), 0.841_344_7));
    }

    #[test]
    fn fixed_values_draw_nothing_and_bytes_are_at_least_one() {
        let mut stream = RngStreams::new(1, 0).stream("x", "test");
        let before = stream.clone().next_u64();
        assert_eq!(Distribution::fixed(0.2).draw_bytes(&mut stream), 1);
        assert_eq!(Distribution::fixed(1_499.6).draw_time(&mut stream), Duration::from_nanos(1_500));
        assert_eq!(stream.next_u64(), before);
    }
}
