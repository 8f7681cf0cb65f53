//! An algorithm that holds its own flight down measures less than the path's capacity. Its samples count as
//! application-limited.

/// MarkConnectionAppLimited() of draft-ietf-ccwg-bbr, Linux's `tp->app_limited` in ProbeRTT, kept by the algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldDown {
    /// Segments sent at a delivered count within `begin..end` are held down.
    begin: u64,
    end: u64,
}

impl HeldDown {
    /// Marks segments sent from now on as held down, until the present flight is delivered.
    pub(super) fn mark(&mut self, delivered: u64, in_flight: u64) {
        if delivered >= self.end {
            self.begin = delivered;
        }
        self.end = delivered + in_flight + 1;
    }

    /// Whether a segment was limited. `prior_delivered` bytes were delivered when it left.
    pub(super) fn covers(&self, prior_delivered: u64) -> bool {
        (self.begin..self.end).contains(&prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_until_the_flight_is_delivered_is_held_down() {
        let mut held_down = HeldDown::default();
        assert!(!held_down.covers(0));
        held_down.mark(1000, 300);
        assert_eq!([999, 1000, 1300, 1301].map(|at| held_down.covers(at)), [false, true, true, false]);
        // The next ACK, and then one of a later time.
        held_down.mark(1100, 250);
        assert_eq!([999, 1000, 1350, 1351].map(|at| held_down.covers(at)), [false, true, true, false]);
        held_down.mark(5000, 0);
        assert_eq!([1000, 4999, 5000, 5001].map(|at| held_down.covers(at)), [false, false, true, false]);
    }
}
