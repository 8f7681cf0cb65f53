//! # Rule text: an algorithm written as formulas
//!
//! `cc = "rule"`, with formulas:
//! `cc = { kind = "rule", grow = "a / w", cut = "b * w", a = 1, b = 0.5 }`
//!
//! A rule describes an algorithm by formulas for its increase and its cut. Use it to try an idea
//! without writing code. The sender adds slow start, floors and timeouts.
//!
//! ## Reference
//!
//! The formulas are yours. RFC 5681 defines the rest, as for the built-in window rules. The
//! [rule reference](../reference/rules.md) contains the grammar, the variables and examples.
//!
//! ## Equations
//!
//! | event | equation |
//! |---|---|
//! | ACK in congestion avoidance that counts for `acked` segments | `w <- w + acked grow` |
//! | the same, if `acked` occurs in `grow` | `w <- w + grow` |
//! | congestion event | `w <- cut`: the formula gives the part that **remains** |
//!
//! The defaults are AIMD(1, 0.5).
//!
//! ## Parameters
//!
//! Any other key is a parameter with a number.
//!
//! ## Deviations
//!
//! Slow start, the floors of window and ssthresh, and timeouts are the same as for [AIMD](aimd.md).
//! A spurious congestion event is undone as for AIMD, except for a rule with `on_undo`.
//!
//! ## Validation
//!
//! Every built-in window rule, written as a rule, gives the same outputs under the same random
//! events. AIMD, AIAD and MIMD also give the same runs.
//!
//! ## Behaviour
//!
//! A run fails if a value is not finite. It also fails at a window below zero or a pacing rate
//! below 1 bit/s. The message contains the formula, the time and the values of its variables.

mod compiled;
mod controller;
mod rule;
mod source;

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{CcContext, CcMistake, CcParameters, ParametersVisitor};
use crate::rule::{ParameterError, RuleParameters};
use compiled::Compiled;

pub use compiled::{Compiled as CompiledRule, VARIABLES as RULE_VARIABLES};
pub use controller::TextController;
pub use rule::TextRule;
pub use source::RuleSource;

const REFERENCE: &str = "Rule text: formulas of the user";

/// A rule as text: formulas for the increase and the window after a cut, with its own parameters and states.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "RuleSource", into = "RuleSource")]
pub struct RuleText {
    source: Arc<RuleSource>,
    compiled: Result<Arc<Compiled>, Box<CcMistake>>,
}

impl RuleText {
    /// The texts that it is made of.
    pub fn source(&self) -> &RuleSource {
        &self.source
    }

    /// Its formulas as operations.
    ///
    /// # Errors
    /// The first mistake in its texts.
    pub fn compiled(&self) -> Result<&CompiledRule, &CcMistake> {
        self.compiled.as_deref().map_err(|mistake| &**mistake)
    }

    /// The window rule at the start of a connection.
    ///
    /// # Panics
    /// If the texts have a mistake, which [`CcParameters::check`] finds.
    fn fresh(&self) -> TextRule {
        let compiled = self.compiled.as_ref().expect("invariant: a rule is checked before it is used");
        TextRule::new(compiled.clone())
    }
}

impl From<RuleSource> for RuleText {
    fn from(source: RuleSource) -> Self {
        let compiled = Compiled::new(&source).map(Arc::new).map_err(Box::new);
        RuleText { source: Arc::new(source), compiled }
    }
}

impl From<RuleText> for RuleSource {
    fn from(text: RuleText) -> Self {
        Arc::unwrap_or_clone(text.source)
    }
}

impl JsonSchema for RuleText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        RuleSource::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RuleSource::json_schema(generator)
    }
}

impl Default for RuleText {
    fn default() -> Self {
        RuleSource::default().into()
    }
}

impl PartialEq for RuleText {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl CcParameters for RuleText {
    type Controller = TextController;
    const REFERENCE: &'static str = REFERENCE;

    fn check(&self) -> Result<(), CcMistake> {
        self.compiled.as_ref().map(|_| ()).map_err(|mistake| CcMistake::clone(mistake))
    }

    fn controller(&self, context: CcContext) -> TextController {
        TextController::new(self.fresh(), context)
    }

    fn visit<V: ParametersVisitor>(&self, visitor: V) -> Option<V::Output> {
        let is_pure = self.compiled.as_ref().is_ok_and(|compiled| compiled.is_for_the_model());
        is_pure.then(|| visitor.visit(&PureRuleText(self.clone())))
    }
}

/// A rule given as text that needs neither clock nor path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct PureRuleText(RuleText);

impl RuleParameters for PureRuleText {
    type Rule = TextRule;
    const REFERENCE: &'static str = REFERENCE;

    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    fn rule(&self) -> TextRule {
        self.0.fresh()
    }
}
