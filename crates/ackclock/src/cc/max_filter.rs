//! The maximum over a sliding window, in constant space: Kathleen Nichols' estimator.
//!
//! It keeps the largest value and up to two successors, each with its time. A successor replaces the largest value
//! when that leaves the window. The filter forgets values in between. Its maximum may therefore be below the window's
//! true maximum, and never above it.

/// A value and its time.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    at: u64,
    value: f64,
}

/// The maximum over the last few units of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    /// The largest value, the largest after it, and the largest after that.
    best: [Entry; 3],
}

impl MaxFilter {
    /// The maximum.
    #[inline]
    pub(super) fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Forgets everything but this value.
    pub(super) fn reset(&mut self, at: u64, value: f64) -> f64 {
        self.best = [Entry { at, value }; 3];
        value
    }

    /// Adds a value whose time is not before the last one. Returns the maximum of the last `window` units of time.
    #[inline]
    pub(super) fn update(&mut self, window: u64, at: u64, value: f64) -> f64 {
        let new = Entry { at, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || at - third.at > window {
            return self.reset(at, value);
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        let age = at - first.at;
        if age > window {
            (*first, *second, *third) = (*second, *third, new);
            if at - first.at > window {
                (*first, *second) = (*second, *third);
            }
        } else if second.at == first.at && age > window / 4 {
            // A quarter of the window has passed without a successor: this one is.
            (*second, *third) = (new, new);
        } else if third.at == second.at && age > window / 2 {
            *third = new;
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RngStreams;

    #[test]
    fn it_is_the_maximum_of_a_window_that_falls_or_rises() {
        let over = |values: &[f64]| {
            let mut filter = MaxFilter::default();
            let maxima = values.iter().enumerate().map(|(at, value)| filter.update(3, at as u64, *value));
            maxima.collect::<Vec<_>>()
        };
        assert_eq!(over(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        // A value counts for three more units of time. When 7 leaves, 6 is forgotten: there was no place for it.
        assert_eq!(over(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0]), [9.0, 9.0, 9.0, 9.0, 8.0, 7.0, 5.0]);
        assert_eq!(over(&[9.0, 1.0, 1.0, 1.0, 1.0, 1.0]), [9.0, 9.0, 9.0, 9.0, 1.0, 1.0]);
    }

    #[test]
    fn a_gap_forgets_all() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 5.0);
        assert_eq!(filter.update(10, 10, 1.0), 5.0);
        assert_eq!(filter.update(10, 100, 2.0), 2.0);
    }

    #[test]
    fn it_is_never_above_the_maximum_and_never_below_the_last_value() {
        let mut draw = RngStreams::new(1, 0).stream("max", "test");
        let (mut filter, mut past) = (MaxFilter::default(), Vec::new());
        let mut exact = 0;
        for step in 0..10_000u64 {
            let (at, value) = (step / 3, draw.next_f64());
            past.push((at, value));
            let maximum = past.iter().filter(|(then, _)| at - then <= 10).map(|(_, value)| *value).fold(0.0, f64::max);
            let estimate = filter.update(10, at, value);
            assert!((value..=maximum).contains(&estimate), "{estimate} of {value} to {maximum}");
            exact += u32::from(estimate == maximum);
        }
        assert!(exact > 9_000, "{exact}");
    }
}
