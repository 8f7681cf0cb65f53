//! How long packets waited, as a logarithmic histogram.

use hdrhistogram::Histogram;

use crate::units::Duration;

/// Longer waits count as this long.
const LONGEST: Duration = Duration::from_secs(3600);
/// Two significant digits bound the error of a percentile by 1 %.
const DIGITS: u8 = 2;

/// Waiting times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Waits {
    histogram: Histogram<u64>,
    /// Packets that did not wait, which are not in the histogram: on most links most of them.
    none: u64,
}

impl Default for Waits {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST.as_nanos(), DIGITS);
        Waits { histogram: histogram.expect("invariant: the bounds and the precision are valid"), none: 0 }
    }
}

impl Waits {
    /// A packet waited this long.
    #[inline]
    pub fn record(&mut self, wait: Duration) {
        if wait.is_zero() {
            self.none += 1;
        } else {
            self.histogram.saturating_record(wait.as_nanos());
        }
    }

    /// All waits since the last [`Waits::clear`].
    pub fn histogram(&self) -> Histogram<u64> {
        let mut all = self.histogram.clone();
        all.saturating_record_n(0, self.none);
        all
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.none = 0;
    }
}
