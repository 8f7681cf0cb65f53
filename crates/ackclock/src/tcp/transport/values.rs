//! Types of transport keys, beside quantities and the names of rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::quantity::{Problem, Size};
use crate::units::Duration;

/// As long as an ACK waits where the scenario only says that it does; the default of ns-2.
const DELAYED_ACK: Duration = Duration::from_millis(100);
/// The largest packet of IP, in bytes.
const LARGEST_PACKET: u64 = 65_535;

/// The slow-start threshold to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// None.
    #[default]
    Unbounded,
    /// The receiver's window.
    MaxWindow,
}

/// Which window is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutWindowName {
    /// cwnd with its fraction.
    #[default]
    Exact,
    /// cwnd bounded by the receiver's window.
    Capped,
    /// Whole segments of what the receiver's window leaves of it.
    Whole,
}

/// A bound of the window, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaxWindow {
    /// So many segments.
    Segments(#[schemars(range(min = 1, max = 16_777_216))] u32),
    /// No bound.
    Word(NoneWord),
}

impl MaxWindow {
    /// The bound.
    pub fn segments(self) -> Option<u32> {
        match self {
            MaxWindow::Segments(segments) => Some(segments),
            MaxWindow::Word(NoneWord::None) => None,
        }
    }
}

/// The word "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoneWord {
    /// None.
    None,
}

/// Whether ACKs are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DelayedAck {
    /// Not at all, or for 100 ms at most.
    Switch(bool),
    /// For so long at most.
    Longest(Duration),
}

impl DelayedAck {
    /// The longest delay.
    pub fn longest(self) -> Option<Duration> {
        match self {
            DelayedAck::Switch(false) => None,
            DelayedAck::Switch(true) => Some(DELAYED_ACK),
            DelayedAck::Longest(longest) => Some(longest),
        }
    }
}

/// A value as a file has it.
pub fn written(value: &impl Serialize) -> Json {
    serde_json::to_value(value).expect("invariant: keys of the transport are no tables")
}

/// The bytes of a size that was checked.
pub fn up_to_a_packet(size: Size) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

fn out_of_range(value: impl ToString, expected: String) -> Result<(), Problem> {
    Err(Problem::OutOfRange { value: value.to_string(), expected })
}

/// A part of a packet of IP, of so many bytes at least.
pub fn bytes(size: Size, least: u64) -> Result<(), Problem> {
    match size.0 {
        bytes if bytes < least => out_of_range(size, format!("at least {least} B")),
        bytes if bytes > LARGEST_PACKET => out_of_range(size, format!("at most {LARGEST_PACKET} B")),
        _ => Ok(()),
    }
}

/// A length of time above zero.
pub fn not_zero(length: Duration) -> Result<(), Problem> {
    if length.is_zero() { out_of_range(length, "above zero".to_owned()) } else { Ok(()) }
}

/// A delay above zero, if there is one.
pub fn wait_not_zero(delay: DelayedAck) -> Result<(), Problem> {
    delay.longest().map_or(Ok(()), not_zero)
}
