//! AILD: additive increase, and a decrease that is linear in what was lost.
//!
//! Reference: Venkitaraman, Kim, Lee, Lu & Bharghavan 1999, as reddy-aimd-aiad quotes it (section 5):
//!
//! * a round trip without loss: `w <- w + a`, that is `a/w` per ACK of one segment
//! * one with loss: `w <- w - beta f`, `f` the part of the window that was lost
//!
//! A sender knows of one lost segment when it has to cut, and of the others when recovery ends. So the cut is by
//! `beta/w`, and the end of recovery takes `beta/w` for each segment beyond the first that was sent again. A model that
//! knows `f` says so before the cut.
//!
//! Deviations: none, but `f` is left open there: over what it is measured, and what counts as lost. A mark counts as one
//! lost segment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require_segments};

/// Additive increase, decrease in proportion to the part of the window that was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aild {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
    /// Segments removed if the whole window was lost, and in proportion if less was (beta), at least 0 and at most 16777216.
    pub removed_per_loss_ratio: f64,
}

impl Default for Aild {
    fn default() -> Self {
        // A loss of 1 % takes what a round trip adds.
        Aild { increase: 1.0, removed_per_loss_ratio: 100.0 }
    }
}

impl RuleParameters for Aild {
    type Rule = AildRule;
    const REFERENCE: &'static str = "Venkitaraman, Kim, Lee, Lu & Bharghavan 1999, Design and evaluation of congestion control algorithms in the future Internet";

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)?;
        require_segments("removed_per_loss_ratio", self.removed_per_loss_ratio)
    }

    fn rule(&self) -> AildRule {
        AildRule { parameters: self.clone(), loss_ratio: None, pending: None }
    }
}

/// The state of AILD.
#[derive(Clone, Debug)]
pub struct AildRule {
    parameters: Aild,
    /// What a model says of the next cut.
    loss_ratio: Option<f64>,
    /// The last cut, until recovery ends.
    pending: Option<PendingCut>,
}

/// A cut for one segment, of a window that may have lost more.
#[derive(Clone, Copy, Debug)]
struct PendingCut {
    /// The window that was cut, in segments.
    window: f64,
    /// Segments that were sent again since.
    sent_again: f64,
}

impl Rule for AildRule {
    fn restart(&mut self, _w: f64) {
        self.pending = None;
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.parameters.increase / w)
    }

    fn on_loss_ratio(&mut self, ratio: f64) {
        self.loss_ratio = Some(ratio);
    }

    fn cut(&mut self, w: f64) -> f64 {
        self.pending = Some(PendingCut { window: w, sent_again: 0.0 });
        let ratio = self.loss_ratio.take().unwrap_or(1.0 / w);
        w - self.parameters.removed_per_loss_ratio * ratio
    }

    fn counts_retransmissions(&self) -> bool {
        true
    }

    #[inline]
    fn on_retransmission(&mut self) {
        if let Some(cut) = &mut self.pending {
            cut.sent_again += 1.0;
        }
    }

    fn on_losses_known(&mut self, w: f64) -> f64 {
        let Some(PendingCut { window, sent_again }) = self.pending.take() else { return w };
        // The cut was for the first of them; no more than the window can have been lost.
        let beyond = (sent_again.min(window) - 1.0).max(0.0);
        w - self.parameters.removed_per_loss_ratio * beyond / window
    }

    fn on_timeout(&mut self) {
        self.pending = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(removed_per_loss_ratio: f64) -> AildRule {
        Aild { removed_per_loss_ratio, ..Aild::default() }.rule()
    }

    #[test]
    fn the_increase_is_that_of_aimd() {
        // 10 + 2 after a round trip, 10 + 2/10 after one ACK.
        let mut rule = Aild { increase: 2.0, ..Aild::default() }.rule();
        assert_eq!((rule.grow(10.0, 10.0), rule.grow(10.0, 1.0)), (12.0, 10.2));
    }

    #[test]
    fn one_loss_takes_beta_over_the_window_and_the_others_as_much_when_they_are_known() {
        // 80/40 = 2 for one of 40 segments, and for each of the two others that were sent again.
        let mut rule = rule(80.0);
        assert_eq!(rule.cut(40.0), 38.0);
        for _ in 0..3 {
            rule.on_retransmission();
        }
        assert_eq!(rule.on_losses_known(38.0), 34.0);
        // That was all of this window.
        rule.on_retransmission();
        assert_eq!(rule.on_losses_known(34.0), 34.0);
    }

    #[test]
    fn a_window_that_lost_one_segment_gives_up_nothing_more() {
        let mut rule = rule(80.0);
        assert_eq!(rule.cut(40.0), 38.0);
        assert_eq!(rule.clone().on_losses_known(38.0), 38.0);
        rule.on_retransmission();
        assert_eq!(rule.on_losses_known(38.0), 38.0);
    }

    #[test]
    fn no_more_than_the_window_counts_as_lost() {
        // 8 of 8 segments: 4/8 at once, and 7 times as much.
        let mut rule = rule(4.0);
        assert_eq!(rule.cut(8.0), 7.5);
        for _ in 0..20 {
            rule.on_retransmission();
        }
        assert_eq!(rule.on_losses_known(7.5), 4.0);
    }

    #[test]
    fn a_window_that_begins_again_owes_nothing() {
        let mut rule = rule(80.0);
        rule.cut(40.0);
        rule.on_retransmission();
        rule.on_retransmission();
        let mut timed_out = rule.clone();
        rule.restart(10.0);
        timed_out.on_timeout();
        assert_eq!((rule.on_losses_known(10.0), timed_out.on_losses_known(10.0)), (10.0, 10.0));
    }

    #[test]
    fn a_model_says_how_much_was_lost() {
        // 5 % of 100; then one segment again, 100/50.
        let mut rule = rule(100.0);
        rule.on_loss_ratio(0.05);
        assert_eq!((rule.cut(50.0), rule.cut(50.0)), (45.0, 48.0));
    }

    #[test]
    fn parameters_have_their_ranges() {
        let check = |increase, removed_per_loss_ratio| Aild { increase, removed_per_loss_ratio }.check();
        assert_eq!(check(0.0, 0.0), Ok(()));
        assert_eq!(check(-0.1, 1.0).unwrap_err().key, "increase");
        assert_eq!(check(1.0, -0.1).unwrap_err().key, "removed_per_loss_ratio");
    }
}
