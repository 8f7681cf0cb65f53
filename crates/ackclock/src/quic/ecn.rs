//! The sender's side of ECN: the counts of ACK frames, and whether they can be believed (RFC 9000 §13.4.2).

use super::packet::EcnCounts;

/// The counts that ACK frames have reported.
#[derive(Clone, Copy, Debug)]
pub struct EcnValidation {
    /// Packets are ECN-capable.
    is_on: bool,
    counts: EcnCounts,
}

impl EcnValidation {
    /// No counts have been reported yet.
    pub fn new(is_on: bool) -> Self {
        EcnValidation { is_on, counts: EcnCounts::default() }
    }

    /// Whether packets are sent as ECN-capable.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Processes the counts of an ACK frame that increases the largest acknowledged number. It newly acknowledges
    /// this many packets that were sent as ECN-capable. Returns the number of additional marks.
    pub fn on_counts(&mut self, counts: Option<EcnCounts>, newly_acked: u32) -> u32 {
        if !self.is_on {
            return 0;
        }
        let Some(counts) = counts else {
            // RFC 9000 §13.4.2.1: "ECN validation fails if the corresponding ECN counts are not present in the ACK frame."
            self.is_on = newly_acked == 0;
            return 0;
        };
        let last = self.counts;
        let more = |now: u32, last: u32| now.checked_sub(last);
        let more = (more(counts.ect0, last.ect0), more(counts.ect1, last.ect1), more(counts.ce, last.ce));
        let (Some(ect0), Some(ect1), Some(ce)) = more else {
            self.is_on = false;
            return 0;
        };
        // "ECN validation also fails if the sum of the increase in ECT(0) and ECN-CE counts is less than the number of newly
        // acknowledged packets that were originally sent with an ECT(0) marking." The same holds for ECT(1).
        if ect0 + ect1 + ce < newly_acked {
            self.is_on = false;
            return 0;
        }
        self.counts = counts;
        ce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u32, ce: u32) -> Option<EcnCounts> {
        Some(EcnCounts { ect0, ect1: 0, ce })
    }

    #[test]
    fn marks_are_counted_as_they_are_reported() {
        let mut ecn = EcnValidation::new(true);
        assert_eq!(ecn.on_counts(counts(2, 0), 2), 0);
        assert_eq!(ecn.on_counts(counts(3, 1), 2), 1);
        // An ACK before was lost: the counts grow by more than is newly acknowledged.
        assert_eq!(ecn.on_counts(counts(5, 3), 2), 2);
        assert!(ecn.is_on());
    }

    #[test]
    fn counts_that_cannot_be_switch_ecn_off() {
        // Two packets were ECT(0), one of them came without; the counts are missing; a count falls.
        for (second, newly_acked) in [(counts(3, 0), 2), (None, 1), (counts(1, 9), 1)] {
            let mut ecn = EcnValidation::new(true);
            ecn.on_counts(counts(2, 0), 2);
            assert_eq!(ecn.on_counts(second, newly_acked), 0);
            assert!(!ecn.is_on(), "{second:?}");
            assert_eq!(ecn.on_counts(counts(90, 90), 1), 0, "after that nothing is believed");
        }
        let mut off = EcnValidation::new(false);
        assert_eq!((off.on_counts(counts(9, 9), 1), off.is_on()), (0, false));
    }
}
