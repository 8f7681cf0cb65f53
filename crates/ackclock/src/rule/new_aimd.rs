//! New-AIMD: only the window of the beginning halves, never what was gained since.
//!
//! Reference: jasem-efficiency-fairness, jasem-utilization. `w = base + gained`, `base` the window when
//! congestion avoidance was entered from slow start. A congestion event does `base <- base/2` and leaves
//! `gained`, so after m cycles `base = x / 2^(m-1)` (eq. 1-4).
//!
//! Deviations: none. Taken literally the decrease tends to nothing and the algorithm stops yielding; flows
//! that come late are starved. That is the algorithm, and it is measured, not mended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require_segments};

/// New-AIMD: halves the base window only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewAimd {
    /// Segments added per round trip, at least 0 and at most 16777216.
    pub increase: f64,
}

impl Default for NewAimd {
    fn default() -> Self {
        NewAimd { increase: 1.0 }
    }
}

impl RuleParameters for NewAimd {
    type Rule = NewAimdRule;
    const REFERENCE: &'static str = "Jasem, Zukarnain, Othman & Subramaniam 2010, Efficiency and fairness of New-AIMD";

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)
    }

    fn rule(&self) -> NewAimdRule {
        NewAimdRule { increase: self.increase, base: 0.0 }
    }
}

/// The state of New-AIMD.
#[derive(Clone, Debug)]
pub struct NewAimdRule {
    increase: f64,
    /// What is left of the window at which congestion avoidance was entered.
    base: f64,
}

impl Rule for NewAimdRule {
    fn restart(&mut self, w: f64) {
        self.base = w;
    }

    #[inline]
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + acked * (self.increase / w)
    }

    fn cut(&mut self, w: f64) -> f64 {
        self.base /= 2.0;
        w - self.base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increase_is_that_of_aimd() {
        // 10 + 2 after a round trip, 10 + 2/10 after one ACK.
        let mut rule = NewAimd { increase: 2.0 }.rule();
        assert_eq!((rule.grow(10.0, 10.0), rule.grow(10.0, 1.0)), (12.0, 10.2));
        assert!(NewAimd { increase: 0.0 }.check().is_ok() && NewAimd { increase: -0.1 }.check().is_err());
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
}
