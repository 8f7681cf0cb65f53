//! The part of delivered packets that came with a mark, over an observation window (RFC 8257 §3.3).

use super::{Ack, CcMistake};
use crate::rule::require;

/// Packets of an observation window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkedFraction {
    delivered: u64,
    marked: u64,
}

impl MarkedFraction {
    /// Adds the packets of an ACK.
    #[inline]
    pub(super) fn note(&mut self, ack: &Ack) {
        self.delivered += u64::from(ack.newly_delivered);
        self.marked += u64::from(marked_packets(ack));
    }

    /// Packets that were delivered, and how many came with a mark. The window ends.
    pub(super) fn take(&mut self) -> (u64, u64) {
        let MarkedFraction { delivered, marked } = std::mem::take(self);
        // Counts of lost ACKs arrive late.
        let delivered = delivered.max(1);
        (delivered, marked.min(delivered))
    }
}

/// The packets that an ACK reports as marked. An echo without a count stands for all that the ACK delivers.
#[inline]
pub(super) fn marked_packets(ack: &Ack) -> u32 {
    match ack.ce_count {
        0 if ack.ece => ack.newly_delivered,
        count => count,
    }
}

/// Checks the gain and the first value of the estimate of marks.
pub(super) fn check_estimate(g: f64, alpha_on_init: f64) -> Result<(), CcMistake> {
    require("g", g, g > 0.0 && g <= 1.0, "above 0 and at most 1")?;
    require("alpha_on_init", alpha_on_init, (0.0..=1.0).contains(&alpha_on_init), "at least 0 and at most 1")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_marks_by_number_or_by_echo() {
        let mut fraction = MarkedFraction::default();
        fraction.note(&Ack { newly_delivered: 5, ..Ack::of(1.0) });
        fraction.note(&Ack { newly_delivered: 4, ece: true, ce_count: 1, ..Ack::of(1.0) });
        fraction.note(&Ack { newly_delivered: 1, ece: true, ..Ack::of(1.0) });
        assert_eq!(fraction.take(), (10, 2));
        fraction.note(&Ack { newly_delivered: 1, ece: true, ce_count: 3, ..Ack::of(1.0) });
        assert_eq!(fraction.take(), (1, 1), "never more than all");
        assert_eq!(fraction.take(), (1, 0));
    }
}
