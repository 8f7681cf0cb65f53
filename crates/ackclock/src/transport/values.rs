//! Types of transport keys, other than quantities and the names of rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::rules::Reduction;
use crate::quantity::{Problem, Size};
use crate::units::{Duration, Rate};

/// Delay of an ACK if the scenario only switches delayed ACKs on. It is the default of ns-2.
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
    /// The whole segments of the window that the receiver allows.
    Whole,
}

/// A bound of the window, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MaxWindow {
    /// A number of segments.
    Segments(#[schemars(range(min = 1, max = 16_777_216))] u32),
    /// No bound.
    Word(NoneWord),
}

impl From<MaxWindow> for Option<u32> {
    fn from(window: MaxWindow) -> Self {
        window.segments()
    }
}

impl MaxWindow {
    /// No bound.
    pub const NONE: Self = MaxWindow::Word(NoneWord::None);

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

/// The buffer of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReceiveBuffer {
    /// Of this size.
    Bytes(Size),
    /// Without a bound.
    Word(NoneWord),
}

impl From<ReceiveBuffer> for Option<u64> {
    fn from(buffer: ReceiveBuffer) -> Self {
        buffer.bytes()
    }
}

impl ReceiveBuffer {
    /// Without a bound.
    pub const NONE: Self = ReceiveBuffer::Word(NoneWord::None);

    /// Its size.
    pub fn bytes(self) -> Option<u64> {
        match self {
            ReceiveBuffer::Bytes(Size(bytes)) => Some(bytes),
            ReceiveBuffer::Word(NoneWord::None) => None,
        }
    }
}

/// How fast an application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReadRate {
    /// At this rate.
    Rate(Rate),
    /// All that there is.
    Word(NoneWord),
}

impl ReadRate {
    /// All that there is.
    pub const NONE: Self = ReadRate::Word(NoneWord::None);
}

impl From<ReadRate> for Option<Rate> {
    fn from(rate: ReadRate) -> Self {
        match rate {
            ReadRate::Rate(rate) => Some(rate),
            ReadRate::Word(NoneWord::None) => None,
        }
    }
}

/// Whether ACKs are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DelayedAck {
    /// Not at all, or for 100 ms at most.
    Switch(bool),
    /// At most for this time.
    Longest(Duration),
}

impl From<DelayedAck> for Option<Duration> {
    fn from(delay: DelayedAck) -> Self {
        delay.longest()
    }
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

/// RFC 3465 §2.3: L, the segments by which one ACK grows the window at most.
const BYTE_COUNTING_LIMIT: u32 = 2;

/// By how many segments one ACK grows the window in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ByteCounting {
    /// By one, or by two at most.
    Switch(bool),
    /// By all that it acknowledges, or by that in congestion avoidance alone.
    Word(ByteCountingWord),
}

impl From<ByteCounting> for u32 {
    /// The most segments. 0 means all in congestion avoidance and one in slow start.
    fn from(counting: ByteCounting) -> Self {
        match counting {
            ByteCounting::Word(ByteCountingWord::Avoidance) => 0,
            ByteCounting::Switch(false) => 1,
            ByteCounting::Switch(true) => BYTE_COUNTING_LIMIT,
            ByteCounting::Word(ByteCountingWord::Uncapped) => u32::MAX,
        }
    }
}

/// The words "uncapped" and "avoidance".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ByteCountingWord {
    /// Without a bound.
    Uncapped,
    /// Without a bound in congestion avoidance, and one segment in slow start: RFC 3465 with L = 1.
    Avoidance,
}

/// Reduction of the flight size after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReductionName {
    /// At once, or by Proportional Rate Reduction.
    Switch(bool),
    /// Otherwise.
    Word(HalvingWord),
}

impl From<ReductionName> for Reduction {
    fn from(name: ReductionName) -> Self {
        match name {
            ReductionName::Switch(false) => Reduction::AtOnce,
            ReductionName::Switch(true) => Reduction::Proportional,
            ReductionName::Word(HalvingWord::RateHalving) => Reduction::Halving,
        }
    }
}

/// The word "rate-halving".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HalvingWord {
    /// A segment leaves for every second one that arrives.
    RateHalving,
}

/// Part of the window that a mark leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EcnBeta {
    /// This factor.
    Factor(#[schemars(range(min = 0, max = 1))] f64),
    /// The decrease of the rule.
    Word(RuleWord),
}

impl EcnBeta {
    /// The factor, unless it is the rule's.
    pub fn factor(self) -> Option<f64> {
        match self {
            EcnBeta::Factor(factor) => Some(factor),
            EcnBeta::Word(RuleWord::Rule) => None,
        }
    }
}

/// The word "rule".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleWord {
    /// By the rule.
    Rule,
}

/// A factor above 0 and at most 1.
pub fn above_zero(beta: EcnBeta) -> Result<(), Problem> {
    match beta.factor() {
        Some(factor) if !(factor > 0.0 && factor <= 1.0) => out_of_range(factor, "above 0 and at most 1".to_owned()),
        _ => Ok(()),
    }
}

/// A value as a file has it.
pub fn written(value: &impl Serialize) -> Json {
    serde_json::to_value(value).expect("invariant: keys of the transport are no tables")
}

impl From<Size> for u32 {
    /// The bytes of a part of a packet.
    fn from(size: Size) -> Self {
        u32::try_from(size.0).unwrap_or(u32::MAX)
    }
}

fn out_of_range(value: impl ToString, expected: String) -> Result<(), Problem> {
    Err(Problem::OutOfRange { value: value.to_string(), expected })
}

/// Checks a part of an IP packet, of at least `least` bytes.
pub fn bytes(size: Size, least: u64) -> Result<(), Problem> {
    match size.0 {
        bytes if bytes < least => out_of_range(size, format!("at least {least} B")),
        bytes if bytes > LARGEST_PACKET => out_of_range(size, format!("at most {LARGEST_PACKET} B")),
        _ => Ok(()),
    }
}

/// RFC 7323 §2.3: a window of TCP is at most 1 GiB.
const LARGEST_WINDOW: u64 = 1 << 30;

/// A buffer that the window field can advertise.
pub fn window_of_tcp(buffer: ReceiveBuffer) -> Result<(), Problem> {
    match buffer.bytes() {
        Some(0) => out_of_range(Size(0), "at least 1 B".to_owned()),
        Some(bytes) if bytes > LARGEST_WINDOW => {
            out_of_range(Size(bytes), format!("at most {LARGEST_WINDOW} B (1 GiB)"))
        }
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
