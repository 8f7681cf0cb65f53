//! Named random streams.
//!
//! A stream is identified by the seed, the replicate, the name of a component and a purpose. The order of
//! declarations and draws does not matter, and a new component does not change the draws of others.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The root from which all streams of one run are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RngStreams(u64);

impl RngStreams {
    /// The streams of one replicate under one seed.
    pub fn new(seed: u64, replicate: u64) -> Self {
        RngStreams(xxh3_64_with_seed(&replicate.to_le_bytes(), seed))
    }

    /// The streams with this root, as a plan carries it.
    pub const fn from_root(root: u64) -> Self {
        RngStreams(root)
    }

    /// The root.
    pub const fn root(self) -> u64 {
        self.0
    }

    /// A number for the component of this name, which orders simultaneous events.
    pub fn key(&self, component: &str) -> u64 {
        xxh3_64_with_seed(component.as_bytes(), self.0)
    }

    /// The stream from which `component` draws for `purpose`.
    pub fn stream(&self, component: &str, purpose: &str) -> Rng {
        let seed = xxh3_64_with_seed(purpose.as_bytes(), self.key(component));
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

/// A stream of pseudo-random numbers (xoshiro256++, seeded by splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        const ULP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * ULP
    }

    /// A number from the exponential distribution with mean 1.
    #[inline]
    pub fn next_exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.next_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_seed_and_replicate_all_matter() {
        let draw = |seed, replicate, component: &str, purpose: &str| {
            RngStreams::new(seed, replicate).stream(component, purpose).next_u64()
        };
        let mut draws = vec![
            draw(1, 0, "test.0", "start"),
            draw(2, 0, "test.0", "start"),
            draw(1, 1, "test.0", "start"),
            draw(1, 0, "test.1", "start"),
            draw(1, 0, "test.0", "rtt"),
            draw(1, 0, "test.0start", ""),
        ];
        assert_eq!(draws[0], draw(1, 0, "test.0", "start"));
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), 6);
    }

    #[test]
    fn the_root_is_enough_to_find_a_stream_again() {
        let rngs = RngStreams::new(7, 3);
        let again = RngStreams::from_root(rngs.root());
        assert_eq!(rngs.stream("x", "loss").next_u64(), again.stream("x", "loss").next_u64());
        assert_eq!(rngs.key("x"), again.key("x"));
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval_and_leave_out_one() {
        let mut stream = RngStreams::new(1, 0).stream("x", "test");
        let draws: Vec<f64> = (0..10_000).map(|_| stream.next_f64()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        // Six standard errors: 6 * sqrt(1/12 / 10_000) = .0173.
        assert!((mean - 0.5).abs() < 0.0173, "{mean}");
    }
}
