//! # Example: the rule in a few words
//!
//! `cc = "example"`
//!
//! ## Reference
//!
//! The paper or standard that defines it.
//!
//! ## Equations
//!
//! `w <- w + increase` per RTT, and `w <- remaining w` at a congestion event.
//!
//! ## Parameters
//!
//! ## Deviations
//!
//! None.
//!
//! ## Validation
//!
//! Hand-computed formula tests and the contract suites.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Rule, RuleParameters, require, require_segments};

/// One sentence that `ackclock list cc` shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Example {
    /// Segments per round trip, at least 0.
    pub increase: f64,
    /// The share of the window that remains after a congestion event, above 0 and at most 1.
    pub remaining: f64,
}

impl Default for Example {
    fn default() -> Self {
        Example { increase: 1.0, remaining: 0.5 }
    }
}

impl RuleParameters for Example {
    type Rule = ExampleRule;
    const REFERENCE: &'static str = "The paper or standard";

    fn check(&self) -> Result<(), ParameterError> {
        require_segments("increase", self.increase)?;
        let holds = self.remaining > 0.0 && self.remaining <= 1.0;
        require("remaining", self.remaining, holds, "above 0 and at most 1")
    }

    fn rule(&self) -> ExampleRule {
        ExampleRule { increase: self.increase, remaining: self.remaining }
    }
}

/// The rule with its state.
#[derive(Clone, Debug)]
pub struct ExampleRule {
    increase: f64,
    remaining: f64,
}

impl Rule for ExampleRule {
    fn grow(&mut self, w: f64, acked: f64) -> f64 {
        w + self.increase * acked / w
    }

    fn cut(&mut self, w: f64) -> f64 {
        w * self.remaining
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_adds_the_increase_and_congestion_leaves_the_rest() {
        let mut rule = Example::default().rule();
        assert_eq!((rule.grow(10.0, 10.0), rule.cut(10.0)), (11.0, 5.0));
    }
}
