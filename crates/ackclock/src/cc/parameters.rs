//! The parameters of an algorithm, and the algorithm that they build.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{CcContext, CongestionControl, Windowed};
use crate::formula::FormulaError;
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
    /// The first parameter that is out of its range, or the first mistake in a formula.
    fn check(&self) -> Result<(), CcMistake>;

    /// The algorithm at the start of a connection.
    fn controller(&self, context: CcContext) -> Self::Controller;

    /// False for an algorithm that has no response to ECN at all.
    fn responds_to_marks(&self) -> bool {
        true
    }

    /// Feedback on marks without which the algorithm does not work.
    fn needs_ecn(&self) -> EcnNeed {
        EcnNeed::None
    }

    /// Passes the parameters of the window rule to `visitor`, if the algorithm is only a rule.
    fn visit<V: ParametersVisitor>(&self, _visitor: V) -> Option<V::Output> {
        None
    }
}

/// Feedback on marks that an algorithm needs (Linux's `TCP_CONG_NEEDS_ECN`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// It works without ECN.
    None,
    /// An echo per ACK is sufficient.
    PerAck,
    /// Counts of marked packets.
    Counts,
}

/// A mistake in the parameters of an algorithm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CcMistake {
    /// A number out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// An invalid formula, or an invalid name of a parameter.
    #[error("`{key}`: {error}\n{}", .error.pointer())]
    Formula {
        /// The key of the text.
        key: String,
        /// The mistake and its place.
        error: FormulaError,
    },
    /// Missing user-supplied code.
    #[error("`{key}`: {message}")]
    Foreign {
        /// The key of the code.
        key: String,
        /// The mistake.
        message: String,
    },
}

impl CcMistake {
    /// The key of the parameter or formula.
    pub fn key(&self) -> &str {
        match self {
            CcMistake::Parameter(error) => error.key,
            CcMistake::Formula { key, .. } => key,
            CcMistake::Foreign { key, .. } => key,
        }
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

    fn check(&self) -> Result<(), CcMistake> {
        Ok(RuleParameters::check(self)?)
    }

    fn controller(&self, context: CcContext) -> Self::Controller {
        Windowed::new(self.rule(), context)
    }

    fn visit<V: ParametersVisitor>(&self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(self))
    }
}
