//! Random values for cases.

use crate::rng::{Rng, RngStreams};
use crate::units::Duration;

/// The random numbers of one case.
#[derive(Debug)]
pub struct Draw(Rng);

impl Draw {
    /// The random numbers of the case with number `case` of the checks of `subject`.
    pub(super) fn new(subject: &str, case: u64) -> Self {
        Draw(RngStreams::new(case, 0).stream(subject, "contract"))
    }

    /// A whole number in `least ..= most`.
    pub(super) fn whole(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.next_u64() % (most - least + 1)
    }

    /// A number in `least .. most`.
    pub(super) fn real(&mut self, least: f64, most: f64) -> f64 {
        least + self.0.next_f64() * (most - least)
    }

    /// A number in `least .. most`, as likely between 1 and 10 as between 10 and 100.
    pub(super) fn scale(&mut self, least: f64, most: f64) -> f64 {
        libm::exp(self.real(libm::log(least), libm::log(most)))
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.whole(1, 100) <= percent
    }

    /// One of `choices`.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.whole(0, choices.len() as u64 - 1) as usize]
    }

    /// A length of time below `most`.
    pub(super) fn time(&mut self, most: Duration) -> Duration {
        most.mul_f64_floor(self.0.next_f64())
    }
}
