//! The parameters of an algorithm, and what they build.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{CcContext, CongestionControl, Windowed};
use crate::rule::{ParameterError, RuleParameters};

/// The parameters of an algorithm, as in a scenario file.
pub trait CcParameters: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The algorithm with its state.
    type Controller: CongestionControl;

    /// Where the algorithm was published.
    const REFERENCE: &'static str;

    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter that is out of its range.
    fn check(&self) -> Result<(), ParameterError>;

    /// The algorithm at the start of a connection.
    fn controller(&self, context: CcContext) -> Self::Controller;

    /// Passes the parameters of the window rule to `visitor`, if the algorithm is only a rule.
    fn visit<V: ParametersVisitor>(&self, _visitor: V) -> Option<V::Output> {
        None
    }
}

/// A visitor of the parameters of any window rule.
pub trait ParametersVisitor {
    /// The result of the visit.
    type Output;

    /// Visits the parameters.
    fn visit<P: RuleParameters>(self, parameters: &P) -> Self::Output;
}

impl<P: RuleParameters> CcParameters for P {
    type Controller = Windowed<P::Rule>;
    const REFERENCE: &'static str = <P as RuleParameters>::REFERENCE;

    fn check(&self) -> Result<(), ParameterError> {
        RuleParameters::check(self)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        Windowed::new(self.rule(), context)
    }

    fn visit<V: ParametersVisitor>(&self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(self))
    }
}
