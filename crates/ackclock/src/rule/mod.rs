//! Pure window rules: how a window grows without congestion and what a congestion event leaves of it.
//!
//! A rule knows no packets and no clock. The synchronous model and TCP use the same object, so that
//! they cannot disagree about an algorithm.

pub mod aild;
pub mod fast_convergence;
pub mod linear;
pub mod mr_aimd;
pub mod new_aimd;
pub mod reno;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::units::{Duration, show_number};

/// The window part of a congestion-control algorithm. Windows are in segments, fractions count.
pub trait Rule: Send {
    /// Congestion avoidance begins, or begins again, at window `w`: whatever was gained before counts as old.
    fn restart(&mut self, _w: f64) {}

    /// The window after `acked` segments were acknowledged at window `w` without congestion.
    ///
    /// A whole window of them (`acked == w`) gives the rule per round trip.
    fn grow(&mut self, w: f64, acked: f64) -> f64;

    /// The window that a congestion event at window `w` leaves. The caller applies the floor.
    fn cut(&mut self, w: f64) -> f64;

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

    /// Recovery ends at window `w`, and all that was sent again is known: the window that is left, no more than `w`.
    fn on_losses_known(&mut self, w: f64) -> f64 {
        w
    }

    /// True for a rule whose cut can leave a larger window.
    fn cut_may_raise(&self) -> bool {
        false
    }

    /// True for a rule whose increase itself grows with what is acknowledged.
    fn accelerates(&self) -> bool {
        false
    }

    /// What marks by routers mean to the rule.
    fn marks(&self) -> Marks {
        Marks::Cut
    }

    /// The last measured round-trip time, called before the ACK that measures it; the synchronous model measures none.
    #[inline]
    fn on_rtt(&mut self, _latest: Duration) {}

    /// An ACK came that echoes a mark, or does not, and that ends a round trip, or does not.
    #[inline]
    fn on_ack(&mut self, _marked: bool, _round_ended: bool) {}

    /// Marks are echoed; at most once per window of data, for a rule with [`Marks::Observed`].
    fn on_mark(&mut self) {}

    /// The retransmission timer expired; called after the cut.
    fn on_timeout(&mut self) {}

    /// Why the rule cannot go on; its windows are NaN then.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// Reports named numbers of the rule for samples, the unit in each name.
    fn probe(&self, _report: &mut dyn FnMut(&str, f64)) {}
}

/// What marks by routers mean to a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Congestion like any other: a cut.
    Cut,
    /// An event that does not cut the window.
    Observed,
}

/// Parameters of a rule: what a scenario file says of it.
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
    /// What it was.
    pub value: f64,
    /// What it may be, in words: "above 0".
    pub expected: &'static str,
}

/// The largest window, increase or decrease, in segments, that a scenario may name: 2^24, which is 24 GB in segments of
/// 1460 B. Windows beyond it lose their fractions to rounding, and the machine its memory.
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
