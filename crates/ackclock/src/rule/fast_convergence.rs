//! AIMD-FC and AIMD-FC+ halve only the part of the window that is older than the last decrease.
//!
//! # AIMD-FC: fast convergence
//!
//! `cc = "aimd-fc"`
//!
//! AIMD-FC halves only the old part of the window, which the flow already held after its last
//! decrease. Synchronised flows gain the same amount in a cycle, so this gain is already fair. The
//! flow keeps it, and the unequal old parts shrink.
//!
//! ## Reference
//!
//! A. Lahanas and V. Tsaoussidis: Exploiting the efficiency and fairness potential of AIMD-based
//! congestion avoidance and control, 2003. The interpretation is the one of
//! jasem-efficiency-fairness.
//!
//! ## Equations
//!
//! A flow stores `dw`, its window just after the last decrease. Growth is the growth of AIMD. At a
//! congestion event `dw <- dw/2 + (w - dw)`, then `w <- dw`.
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! The gain of slow start counts as old window. The paper does not define this case. Otherwise the
//! first decrease would remove nothing. The rule has no other deviation. Inside TCP the window
//! never falls below one segment, and ssthresh never below two (RFC 5681). A window that the flow
//! does not use does not grow. A timeout halves the window by default (`timeout_ssthresh`).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values: two thirds of the window remain in the
//! long run. In the [synchronous model](../reference/synchronous-model.md) the efficiency is 5/6.
//! [Validation](../validation/README.md) lists all comparisons of the simulator.
//!
//! # AIMD-FC+: fast convergence that keeps half of the gain
//!
//! `cc = "aimd-fc+"`
//!
//! AIMD-FC+ decreases like AIMD-FC and then adds back a part of the gain since the last decrease.
//! The flow uses more of the link between two congestion events.
//!
//! ## Reference
//!
//! A. Lahanas and V. Tsaoussidis: Exploiting the efficiency and fairness potential of AIMD-based
//! congestion avoidance and control, 2003. [AIMD-FC](aimd-fc.md) is from the same paper.
//!
//! ## Equations
//!
//! At a congestion event `dw <- dw/2 + (w - dw)`, then `w <- dw + f g`. Here `g` is the gain since
//! the window that the last decrease left, and `f` is `gain_kept`.
//!
//! Of a peak of 1, the window `r = (2/3 + f) / (1 + f)` remains in the long run. `dw` converges to
//! 2/3 and `r` to `2/3 + f (1 - r)`. The efficiency is `(1 + r)/2 = (5 + 6f)/(6 + 6f)`.
//!
//! | f | efficiency |
//! |---|---|
//! | 0 (AIMD-FC) | 5/6 |
//! | 1/2 (default) | 8/9 |
//! | towards 1 | 11/12, where `r` no longer converges |
//!
//! ## Parameters
//!
//! ## Constants
//!
//! The paper writes `f(q)` instead of `f g` and does not define it. `gain_kept = 0.5` yields the
//! efficiency of 88.9 % that the paper quotes.
//!
//! ## Deviations
//!
//! The deviations are the ones of [AIMD-FC](aimd-fc.md).
//!
//! ## Validation
//!
//! Tests compare the formulas with hand-computed values: seven ninths of the window remain in the
//! long run. In the [synchronous model](../reference/synchronous-model.md) the efficiency is 8/9.
//! The closed form holds there for four values of `gain_kept`.
//! [Validation](../validation/README.md) lists all comparisons of the simulator.
//!
//! ## Behaviour
//!
//! The decrease *raises* the window of a flow that more than doubled since its last decrease. The
//! rule is implemented as published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require, require_segments};

const LAHANAS: &str = "Lahanas & Tsaoussidis 2003, Exploiting the efficiency and fairness potential of AIMD-based congestion avoidance and control";

/// AIMD with fast convergence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AimdFc {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
}

impl Default for AimdFc {
    fn default() -> Self {
        AimdFc { increase: 1.0 }
    }
}

impl RuleParameters for AimdFc {
    type Rule = AimdFcRule;
    const REFERENCE: &'static str = LAHANAS;

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)
    }

    fn rule(&self) -> AimdFcRule {
        AimdFcRule { increase: self.increase, dw: 0.0 }
    }
}

/// The state of AIMD-FC.
#[derive(Clone, Debug)]
pub struct AimdFcRule {
    increase: f64,
    /// The window just after the last decrease.
    dw: f64,
}

impl Rule for AimdFcRule {
    fn restart(&mut self, w: f64) {
        self.dw = w;
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.increase / w)
    }

    fn cut(&mut self, w: f64) -> f64 {
        self.dw = halve_the_old(self.dw, w);
        self.dw
    }

    fn floored(&mut self, w: f64) {
        self.dw = w;
    }
}

/// AIMD with fast convergence that keeps part of the gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AimdFcPlus {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
    /// Part of the gain since the last decrease that the next decrease keeps, at least 0 and below 1. It is added to
    /// the window of AIMD-FC (f(q) in the paper).
    pub gain_kept: f64,
}

impl Default for AimdFcPlus {
    fn default() -> Self {
        AimdFcPlus { increase: 1.0, gain_kept: 0.5 }
    }
}

impl RuleParameters for AimdFcPlus {
    type Rule = AimdFcPlusRule;
    const REFERENCE: &'static str = LAHANAS;

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)?;
        // With all of the gain kept the window after a decrease never settles: a gain of g is followed by one of 1/3 - g.
        require("gain_kept", self.gain_kept, (0.0..1.0).contains(&self.gain_kept), "at least 0 and below 1")
    }

    fn rule(&self) -> AimdFcPlusRule {
        AimdFcPlusRule { parameters: self.clone(), dw: 0.0, after_cut: 0.0 }
    }
}

/// The state of AIMD-FC+.
#[derive(Clone, Debug)]
pub struct AimdFcPlusRule {
    parameters: AimdFcPlus,
    /// Window that AIMD-FC would have left at the last decrease.
    dw: f64,
    /// The window that the last decrease left.
    after_cut: f64,
}

impl Rule for AimdFcPlusRule {
    fn restart(&mut self, w: f64) {
        self.dw = w;
        self.after_cut = w;
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.parameters.increase / w)
    }

    fn cut(&mut self, w: f64) -> f64 {
        let gained = w - self.after_cut;
        self.dw = halve_the_old(self.dw, w);
        self.after_cut = self.dw + gained * self.parameters.gain_kept;
        self.after_cut
    }

    fn floored(&mut self, w: f64) {
        self.after_cut = w;
    }

    /// The kept gain may exceed the removed half of the old window.
    fn cut_may_raise(&self) -> bool {
        true
    }
}

fn halve_the_old(dw: f64, w: f64) -> f64 {
    dw / 2.0 + (w - dw)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window after the cut over the window before it, in a long run of cycles that peak at 100.
    fn remaining_in_the_long_run(mut rule: impl Rule) -> f64 {
        rule.restart(10.0);
        let mut left = 0.0;
        for _ in 0..100 {
            left = rule.cut(100.0);
        }
        left / 100.0
    }

    #[test]
    fn fc_cuts_to_two_thirds_and_fc_plus_to_seven_ninths() {
        assert!((remaining_in_the_long_run(AimdFc::default().rule()) - 2.0 / 3.0).abs() < 1e-12);
        assert!((remaining_in_the_long_run(AimdFcPlus::default().rule()) - 7.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn the_increase_is_that_of_aimd() {
        // 10 + 2 after a round trip, 10 + 2/10 after one ACK.
        let (mut fc, mut plus) =
            (AimdFc { increase: 2.0 }.rule(), AimdFcPlus { increase: 2.0, ..AimdFcPlus::default() }.rule());
        assert_eq!((fc.grow(10.0, 10.0), fc.grow(10.0, 1.0)), (12.0, 10.2));
        assert_eq!((plus.grow(10.0, 10.0), plus.grow(10.0, 1.0)), (12.0, 10.2));
        assert!(AimdFc { increase: 0.0 }.check().is_ok() && AimdFc { increase: -0.1 }.check().is_err());
        let plus = |increase, gain_kept| AimdFcPlus { increase, gain_kept }.check().map_err(|error| error.key);
        assert_eq!((plus(0.0, 0.0), plus(-0.1, 0.0)), (Ok(()), Err("increase")));
        assert_eq!((plus(1.0, 1.0), plus(1.0, -0.1)), (Err("gain_kept"), Err("gain_kept")));
    }

    #[test]
    fn the_first_cut_after_slow_start_halves() {
        let (mut fc, mut plus) = (AimdFc::default().rule(), AimdFcPlus::default().rule());
        fc.restart(40.0);
        plus.restart(40.0);
        assert_eq!((fc.cut(40.0), plus.cut(40.0)), (20.0, 20.0));
        // From 20 up to 30: FC 20/2 + 10 = 20; FC+ 20 + 10/2 = 25.
        assert_eq!((fc.cut(30.0), plus.cut(30.0)), (20.0, 25.0));
    }

    #[test]
    fn where_more_was_gained_than_was_old_fc_plus_leaves_more_than_there_was() {
        let (mut fc, mut plus) = (AimdFc::default().rule(), AimdFcPlus::default().rule());
        fc.restart(2.0);
        plus.restart(2.0);
        // From 2 up to 12: FC 2/2 + 10 = 11; FC+ 11 + 10/2 = 16.
        assert_eq!((fc.cut(12.0), plus.cut(12.0)), (11.0, 16.0));
        assert_eq!((fc.cut_may_raise(), plus.cut_may_raise()), (false, true));
    }

    #[test]
    fn fc_plus_keeps_as_much_of_the_gain_as_it_is_told_to() {
        let plus = |gain_kept| AimdFcPlus { gain_kept, ..AimdFcPlus::default() }.rule();
        let (mut none, mut quarter, mut fc) = (plus(0.0), plus(0.25), AimdFc::default().rule());
        none.restart(40.0);
        quarter.restart(40.0);
        fc.restart(40.0);
        assert_eq!((none.cut(40.0), quarter.cut(40.0), fc.cut(40.0)), (20.0, 20.0, 20.0));
        // From 20 up to 36: 20/2 + 16 = 26, and 16/4 on top; from there up to 40: none 13 + 14 = 27, a quarter 27 + 10/4.
        assert_eq!((none.cut(36.0), quarter.cut(36.0), fc.cut(36.0)), (26.0, 30.0, 26.0));
        assert_eq!((none.cut(40.0), quarter.cut(40.0), fc.cut(40.0)), (27.0, 29.5, 27.0));
        // In the long run (2/3 + f) / (1 + f) of the window remain: 11/15 with a quarter, 17/21 with three quarters.
        assert!((remaining_in_the_long_run(plus(0.25)) - 11.0 / 15.0).abs() < 1e-12);
        assert!((remaining_in_the_long_run(plus(0.75)) - 17.0 / 21.0).abs() < 1e-12);
    }

    #[test]
    fn what_the_floor_adds_was_not_gained() {
        let (mut fc, mut plus) = (AimdFc::default().rule(), AimdFcPlus::default().rule());
        fc.restart(2.0);
        plus.restart(2.0);
        assert_eq!((fc.cut(2.0), plus.cut(2.0)), (1.0, 1.0));
        fc.floored(2.0);
        plus.floored(2.0);
        // From 2 up to 4: FC 2/2 + 2 = 3; FC+ 1/2 + 3 + 2/2 = 4.5.
        assert_eq!((fc.cut(4.0), plus.cut(4.0)), (3.0, 4.5));
    }
}
