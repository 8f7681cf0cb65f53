//! # New-AIMD: only the base of the window is halved
//!
//! `cc = "new-aimd"`
//!
//! New-AIMD splits the window into a base and the gain since the base was set. A congestion event
//! halves the base only and keeps the gain. The base shrinks in each cycle, so later cuts remove
//! less and less.
//!
//! ## Reference
//!
//! K. Jasem, Z. Zukarnain, M. Othman and S. Subramaniam: Efficiency and fairness of New-AIMD
//! (jasem-efficiency-fairness), equations 1 to 4. The same authors wrote a paper on bottleneck link
//! utilisation (`jasem-utilization`). The results of both papers are under
//! [efficiency](../papers/jasem-efficiency.md) and [utilisation](../papers/jasem-utilization.md).
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | always | `w = base + gained` |
//! | end of slow start | `base <- w`, `gained <- 0` |
//! | additive increase | `gained` grows by 1 per round trip |
//! | congestion event | `base <- base/2`, and `gained` stays |
//! | timeout | slow start, and so a new base |
//!
//! After m cycles `base = x / 2^(m-1)`, where x is the first base.
//!
//! ## Parameters
//!
//! ## Open in the paper
//!
//! The proof starts from windows `x_1` and `x_2` and has neither slow start nor timeouts. The paper
//! does not say which window of a TCP flow is x. The parameter `base` selects an interpretation:
//!
//! | `base` | the base is | evidence in the paper |
//! |---|---|---|
//! | `slow-start` | the window at which the last slow start ended | “congestion avoidance when the cwnd is increased to half its value before the timeout” |
//! | `first-slow-start` | the window at which the first slow start ended | eq. 4: `x / 2^(m-1)` in the m-th cycle, independent of the other cycles |
//! | `recovery` | the window that the last recovery left | “equal to half the value of the cwnd when the procedure of recovery started” |
//!
//! With `first-slow-start`, a cut removes half of the remaining base. If half of the window is
//! less, the cut removes that. With `recovery`, every decrease makes the gain old. This is
//! [AIMD-FC](aimd-fc.md), cut by cut. It contradicts eq. 3, whose third cycle has a quarter of x.
//! The base may be the window before the first congestion event or the window that fast recovery
//! leaves. The result is the same: the whole window is base, and half of it remains.
//!
//! ## Deviations
//!
//! The rule has none. Inside TCP the window never falls below one segment, and ssthresh never below
//! two (RFC 5681). A window that the flow does not use does not grow. A timeout halves the window
//! by default (`timeout_ssthresh`).
//!
//! ## Validation
//!
//! - Tests compare the formulas with hand-computed values.
//! - In the [synchronous model](../reference/synchronous-model.md) the paper's cycle algebra holds,
//!   and the efficiency tends to 1.
//! - [Linux validation](../validation/linux.md) compares it with an eBPF program in the running
//!   kernel.
//!
//! ## Behaviour
//!
//! The decrease tends to zero, so the algorithm stops yielding. In the synchronous model with
//! integer steps, more than 97 % of the steps are congested. A user that arrives late starves
//! there. Inside TCP it loses several times as many segments as standard TCP. It takes throughput
//! from standard TCP and does not give it back. To see this, run
//!
//! ```console no-test
//! $ ackclock evaluate new-aimd
//! ```
//!
//! The environments with standard TCP, with unequal RTTs and with a distant newcomer show it best.
//! The rule is implemented as published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require_segments};

/// New-AIMD: halves the base window only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewAimd {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
    /// The base window, which congestion events halve. `slow-start`: the window at the end of the last slow start.
    /// `first-slow-start`: the window at the end of the first slow start, kept for ever. `recovery`: the window that
    /// the last recovery left.
    pub base: Base,
}

impl Default for NewAimd {
    fn default() -> Self {
        NewAimd { increase: 1.0, base: Base::default() }
    }
}

/// The base window. A congestion event in slow start halves the whole window, since all of it is base. The base is then
/// half of the peak under each choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The window at which slow start ended. A timeout leads to a new one (jasem-efficiency-fairness, "Status of the
    /// exponential back-off").
    #[default]
    SlowStart,
    /// The window at which the first slow start ended, kept for ever. Eq. 4 of the paper has x / 2^(m-1) after m
    /// cycles. A cut takes half of the remaining base, or half of the window if that is less.
    FirstSlowStart,
    /// The window that the last recovery left. The paper's figure 1 enters congestion avoidance there. Every decrease
    /// includes the gained part in the base, so this is AIMD-FC.
    Recovery,
}

impl RuleParameters for NewAimd {
    type Rule = NewAimdRule;
    const REFERENCE: &'static str = "Jasem, Zukarnain, Othman & Subramaniam 2010, Efficiency and fairness of New-AIMD";

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)
    }

    fn rule(&self) -> NewAimdRule {
        NewAimdRule { parameters: self.clone(), base: None }
    }
}

/// The state of New-AIMD.
#[derive(Clone, Debug)]
pub struct NewAimdRule {
    parameters: NewAimd,
    /// Rest of the base. There is none before congestion avoidance begins.
    base: Option<f64>,
}

impl Rule for NewAimdRule {
    fn restart(&mut self, w: f64) {
        match self.parameters.base {
            Base::FirstSlowStart => self.base = self.base.or(Some(w)),
            Base::SlowStart | Base::Recovery => self.base = Some(w),
        }
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.parameters.increase / w)
    }

    fn cut(&mut self, w: f64) -> f64 {
        let base = self.base.unwrap_or_default();
        let (removed, base) = match self.parameters.base {
            Base::SlowStart => (base / 2.0, base / 2.0),
            Base::FirstSlowStart => (base.min(w) / 2.0, base.min(w) / 2.0),
            Base::Recovery => (base / 2.0, w - base / 2.0),
        };
        self.base = Some(base);
        w - removed
    }

    fn floored(&mut self, w: f64) {
        if self.parameters.base == Base::Recovery {
            self.base = Some(w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::fast_convergence::AimdFc;

    #[test]
    fn the_increase_is_that_of_aimd() {
        // 10 + 2 after a round trip, 10 + 2/10 after one ACK.
        let mut rule = NewAimd { increase: 2.0, ..NewAimd::default() }.rule();
        assert_eq!((rule.grow(10.0, 10.0), rule.grow(10.0, 1.0)), (12.0, 10.2));
        let with = |increase| NewAimd { increase, ..NewAimd::default() };
        assert!(with(0.0).check().is_ok() && with(-0.1).check().is_err());
    }

    #[test]
    fn the_base_halves_and_the_gain_stays() {
        let mut rule = NewAimd::default().rule();
        rule.restart(40.0);
        // 40 -> 20 + 0; up to 30: 10 + 10 = 20; up to 30: 5 + 20 = 25.
        assert_eq!(rule.cut(40.0), 20.0);
        assert_eq!(rule.cut(30.0), 20.0);
        assert_eq!(rule.cut(30.0), 25.0);
        // Entering congestion avoidance anew makes a fresh base.
        rule.restart(8.0);
        assert_eq!(rule.cut(8.0), 4.0);
        assert!(!rule.cut_may_raise());
    }

    fn rule(base: Base) -> NewAimdRule {
        NewAimd { base, ..NewAimd::default() }.rule()
    }

    #[test]
    fn the_first_base_may_be_kept_for_ever() {
        let mut kept = rule(Base::FirstSlowStart);
        kept.restart(40.0);
        assert_eq!(kept.cut(40.0), 20.0);
        // A timeout, and slow start ends at 30: 20 is left of the base, of which 10 goes, then 5.
        kept.restart(30.0);
        assert_eq!((kept.cut(30.0), kept.cut(30.0)), (20.0, 25.0));
        // The window has become less than what is left of the base, 5: half of it goes.
        kept.restart(2.0);
        assert_eq!(kept.cut(2.0), 1.0);
    }

    #[test]
    fn a_base_that_every_recovery_makes_anew_is_aimd_fc() {
        let (mut fresh, mut fc) = (rule(Base::Recovery), AimdFc::default().rule());
        fresh.restart(40.0);
        fc.restart(40.0);
        for peak in [40.0, 30.0, 30.0, 21.0, 100.0] {
            assert_eq!(fresh.cut(peak), fc.cut(peak), "{peak}");
        }
        fresh.floored(2.0);
        fc.floored(2.0);
        assert_eq!(fresh.cut(4.0), fc.cut(4.0));
        // 20 old ones of 30 halve: 20.
        let mut by_hand = rule(Base::Recovery);
        by_hand.restart(20.0);
        assert_eq!((by_hand.cut(30.0), by_hand.cut(30.0)), (20.0, 20.0));
    }

    #[test]
    fn the_floor_makes_no_base_unless_recovery_does() {
        for (base, left) in [(Base::SlowStart, 3.5), (Base::FirstSlowStart, 3.5), (Base::Recovery, 3.0)] {
            let mut it = rule(base);
            it.restart(2.0);
            assert_eq!(it.cut(2.0), 1.0);
            it.floored(2.0);
            // Half of 1 goes, or of 2.
            assert_eq!(it.cut(4.0), left, "{base:?}");
        }
    }
}
