//! # AILD: additive increase, loss-dependent decrease
//!
//! `cc = "aild"`
//!
//! AILD grows its window like AIMD and shrinks it in proportion to the loss ratio. A window that
//! lost one segment is cut by little. A window that lost many segments is cut by a lot.
//!
//! ## Reference
//!
//! N. Venkitaraman et al.: Design and evaluation of congestion control algorithms in the future
//! Internet. It is a poster of ACM SIGMETRICS 1999. The poster is
//! known here through section 5 of the paper by Reddy and others. It has the increase of AIMD and
//! the decrease `w <- w - beta f`, where f is the loss ratio.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | round trip without congestion | `w <- w + a` |
//! | ACK of one segment | `w <- w + a / w` |
//! | first loss detected | `w <- w - beta / w` |
//! | each further segment retransmitted before recovery ends | `w <- w - beta / w` |
//!
//! A window of w segments that lost n of them is therefore cut by `beta n / w`. In the
//! [synchronous model](../reference/synchronous-model.md) the loss ratio is the share of the load
//! above `X_goal`: `f = 1 - X_goal / X`. The model knows it before the cut.
//!
//! ## Parameters
//!
//! ## Constants
//!
//! `removed_per_loss_ratio` is beta. With the default of 100, a loss ratio of 1 % removes one
//! segment. That is the increase of one round trip.
//!
//! ## Open in the paper
//!
//! The source leaves three points open: the interval of the loss ratio, the definition of a loss,
//! and beta. Here the interval is the window of data that a congestion event belongs to. The
//! equation is one step of a control whose step is a round trip. Every retransmitted segment counts
//! as lost, and so does every mark. The
//! [decision on AILD's loss ratio](../project/decisions/0027-aild.md) gives the reasons.
//!
//! ## Deviations
//!
//! The rule has none. Inside TCP the window never falls below one segment, and ssthresh never below
//! two (RFC 5681). A window that the flow does not use does not grow. A timeout halves the window
//! by default (`timeout_ssthresh`).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values. In packets, the time-mean window under
//! periodic loss matches the balance of growth and cut, `1/p - beta/a`.
//! [Validation](../validation/README.md) lists all comparisons of the simulator.
//!
//! ## Behaviour
//!
//! A single loss reduces a large window by fewer segments than a small one. In the model two users
//! lose the same, so the difference of their windows never changes. Windows whose losses coincide
//! stay unequal, as at a full drop-tail queue. `ackclock reproduce reddy-linear --extended` prints
//! tables of this. Under random loss, as with RED, the windows converge. A larger window has fewer
//! round trips without loss in which to grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require_segments};

/// Additive increase, loss-proportional decrease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aild {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
    /// Segments removed if the whole window was lost (beta), at least 0 and at most 16777216. A smaller loss removes
    /// proportionally fewer.
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
    /// Loss ratio of the next cut, if a model provides it.
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
