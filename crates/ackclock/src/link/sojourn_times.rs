//! Sojourn times of packets, as a logarithmic histogram.

use hdrhistogram::Histogram;

use crate::units::Duration;

/// Longer times count as this long.
const LONGEST: Duration = Duration::from_secs(3600);
/// Two significant digits bound the error of a percentile by 1 %.
const DIGITS: u8 = 2;
/// The digits require 2^8 steps up to the first power of two that needs rounding. Each later power requires half as
/// many.
const STEP_BITS: u32 = 8;

/// Sojourn times in nanoseconds, counted at the steps of [`Histogram`], which takes longer to find them.
#[derive(Clone, Debug)]
pub struct SojournTimes {
    counts: Box<[u64]>,
}

impl Default for SojournTimes {
    fn default() -> Self {
        SojournTimes { counts: vec![0; step(LONGEST.as_nanos()) + 1].into() }
    }
}

impl SojournTimes {
    /// Adds the sojourn time of a packet.
    #[inline]
    pub fn record(&mut self, sojourn: Duration) {
        self.counts[step(sojourn.min(LONGEST).as_nanos())] += 1;
    }

    /// All times since the last [`SojournTimes::clear`].
    pub fn histogram(&self) -> Histogram<u64> {
        let bounds = Histogram::new_with_bounds(1, LONGEST.as_nanos(), DIGITS);
        let mut all = bounds.expect("invariant: the bounds and the precision are valid");
        for (step, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            all.saturating_record_n(least(step), *count);
        }
        all
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &SojournTimes) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}

/// The step that a value belongs to.
#[inline]
fn step(nanos: u64) -> usize {
    let dropped = u64::BITS - STEP_BITS - (nanos | ((1 << STEP_BITS) - 1)).leading_zeros();
    ((dropped as usize) << (STEP_BITS - 1)) + (nanos >> dropped) as usize
}

/// The least value of a step.
fn least(step: usize) -> u64 {
    let dropped = (step >> (STEP_BITS - 1)).saturating_sub(1);
    ((step - (dropped << (STEP_BITS - 1))) as u64) << dropped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A step equals the histogram's representation of a value.
        #[test]
        fn steps_are_those_of_the_histogram(nanos in prop_oneof![0u64..600, 0..=LONGEST.as_nanos()]) {
            let times = SojournTimes::default().histogram();
            prop_assert_eq!(least(step(nanos)), times.lowest_equivalent(nanos));
            prop_assert_eq!(least(step(nanos) + 1), times.next_non_equivalent(nanos));
        }
    }

    #[test]
    fn what_is_recorded_is_in_the_histogram_until_it_is_cleared() {
        let mut times = SojournTimes::default();
        for seconds in [0, 1, 1, 5000] {
            times.record(Duration::from_secs(seconds));
        }
        let histogram = times.histogram();
        assert_eq!((histogram.len(), histogram.count_at(1_000_000_000), histogram.count_at(0)), (4, 2, 1));
        assert_eq!(histogram.count_at(LONGEST.as_nanos()), 1);
        let mut both = times.clone();
        both.add(&times);
        assert_eq!((both.histogram().len(), both.histogram().count_at(1_000_000_000)), (8, 4));
        times.clear();
        assert!(times.histogram().is_empty());
    }
}
