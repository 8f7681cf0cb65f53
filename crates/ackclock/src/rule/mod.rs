//! Window rules: growth without congestion, and the window after a congestion event.
//!
//! A rule knows no packets and no clock. The synchronous model and TCP use the same object, so that
//! they cannot disagree about an algorithm.

pub mod aild;
pub mod binomial;
pub mod fast_convergence;
pub mod gaimd;
pub mod linear;
pub mod mr_aimd;
pub mod new_aimd;
pub mod reno;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::units::{Duration, show_number};

/// The window part of a congestion-control algorithm. Windows are in segments, fractions count.
pub trait Rule: Send {
    /// Congestion avoidance begins, or begins again, at window `w`. All earlier gain counts as old.
    fn restart(&mut self, _w: f64) {}

    /// The window after `acked` segments were acknowledged at window `w` without congestion.
    ///
    /// A whole window of them (`acked == w`) gives the rule per round trip.
    fn grow(&mut self, w: f64, acked: f64) -> f64;

    /// The window that a congestion event at window `w` leaves. The caller applies the floor.
    fn cut(&mut self, w: f64) -> f64;

    /// The same for a congestion event that marks report.
    fn cut_for_mark(&mut self, w: f64) -> f64 {
        self.cut(w)
    }

    /// The floor left `w` of the last cut, which is more than the rule said.
    fn floored(&mut self, _w: f64) {}

    /// The part of the window that was lost, before the cut for it, where a model knows it.
    fn on_loss_ratio(&mut self, _ratio: f64) {}

    /// True for a rule that does anything in `on_retransmission`.
    fn counts_retransmissions(&self) -> bool {
        false
    }

    /// A segment is sent again, for a rule that counts retransmissions.
    #[inline]
    fn on_retransmission(&mut self) {}

    /// Returns the window after a recovery that ends at `w`, when all retransmissions are known.
    ///
    /// The result is at most `w`.
    fn on_losses_known(&mut self, w: f64) -> f64 {
        w
    }

    /// True for a rule whose cut can leave a larger window.
    fn cut_may_raise(&self) -> bool {
        false
    }

    /// True for a rule whose increase itself grows with acknowledged segments.
    fn accelerates(&self) -> bool {
        false
    }

    /// Meaning of ECN marks to the rule.
    fn marks(&self) -> Marks {
        Marks::Cut
    }

    /// Reports the last RTT sample, before the ACK that measures it. The synchronous model has none.
    #[inline]
    fn on_rtt(&mut self, _latest: Duration) {}

    /// An ACK came that echoes a mark, or does not, and that ends a round trip, or does not.
    #[inline]
    fn on_ack(&mut self, _marked: bool, _round_ended: bool) {}

    /// Marks are echoed. A rule with [`Marks::Observed`] is called at most once per window of data.
    fn on_mark(&mut self) {}

    /// The retransmission timer expired. The cut precedes this call.
    fn on_timeout(&mut self) {}

    /// Reason why the rule cannot continue. Its windows are NaN then.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Reports named numbers of the rule for samples, the unit in each name.
    fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {}
}

/// Meaning of ECN marks to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Congestion like any other: a cut.
    Cut,
    /// An event that does not cut the window.
    Observed,
}

/// Parameters of a rule, as in a scenario file.
pub trait RuleParameters:
    Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + schemars::JsonSchema
{
    /// The rule with its state.
    type Rule: Rule + Clone + std::fmt::Debug + 'static;

    /// Where the rule was published.
    const REFERENCE: &'static str;

    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter that is out of its range.
    fn check(&self) -> Result<(), ParameterError>;

    /// A fresh rule.
    fn rule(&self) -> Self::Rule;
}

/// A parameter out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{key}` is {}, but must be {expected}", show_number(*.value))]
pub struct ParameterError {
    /// The parameter's key.
    pub key: &'static str,
    /// The rejected value.
    pub value: f64,
    /// The permitted range in words, such as "above 0".
    pub expected: &'static str,
}

/// Largest window, increase or decrease of a scenario, in segments: 2^24.
///
/// This is 24 GB in segments of 1460 B. Larger windows lose their fractions to rounding.
pub const MOST_SEGMENTS: f64 = 16_777_216.0;
/// The largest factor by which a rule may multiply a window in a round trip.
pub(crate) const LARGEST_FACTOR: f64 = 1_000.0;

/// Checks one parameter: `holds` says whether `value` is in range.
pub(crate) fn require(
    key: &'static str,
    value: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), ParameterError> {
    if value.is_finite() && holds { Ok(()) } else { Err(ParameterError { key, value, expected }) }
}

/// Checks a parameter in segments that is not negative.
pub(crate) fn require_segments(key: &'static str, value: f64) -> Result<(), ParameterError> {
    require(key, value, (0.0..=MOST_SEGMENTS).contains(&value), "at least 0 and at most 16777216")
}
