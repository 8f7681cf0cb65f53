//! The keys of meters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use ackclock::meter::Profile;
use ackclock::quantity::{Problem, Size};
use ackclock::units::Rate;

/// Holds flows to a profile where they enter a link: green packets are in profile, yellow ones are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Meter {
    /// One rate and two bursts (RFC 2697). Without an excess burst it is a token bucket.
    Srtcm(SingleRate),
    /// Two rates, each with its burst (RFC 2698).
    Trtcm(TwoRates),
}

/// One rate and two bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SingleRate {
    /// Rate of green packets, in bits on the wire.
    pub committed_rate: Rate,
    /// Committed burst size: bytes above that rate that are still green.
    pub committed_burst: Size,
    /// Excess burst size: bytes that are yellow. Its bucket fills once the bucket of the committed burst is full.
    #[serde(default = "nothing")]
    pub excess_burst: Size,
    /// Its place and its actions.
    #[serde(flatten)]
    pub edge: Edge,
}

/// Two rates, each with its burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TwoRates {
    /// Rate of green packets, in bits on the wire.
    pub committed_rate: Rate,
    /// Committed burst size: bytes above that rate that are still green.
    pub committed_burst: Size,
    /// Rate of green and yellow packets, in bits on the wire. It is at least the committed rate.
    pub peak_rate: Rate,
    /// Peak burst size: bytes above that rate that are still green or yellow.
    pub peak_burst: Size,
    /// Its place and its actions.
    #[serde(flatten)]
    pub edge: Edge,
}

/// The place and the actions of a meter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Edge {
    /// Name of the link in front of whose queue the meter is placed. By default it is the first link on the path of its
    /// flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether all flows of the meter share one profile, or each flow has its own.
    pub per: Per,
    /// Whether the meter respects the colour that packets already have. `aware`: packets that arrive out of profile
    /// count as yellow. `blind`: it ignores their colour.
    pub colour: Sight,
    /// Whether red packets are dropped, or forwarded out of profile like yellow ones.
    pub red: Fate,
}

/// Whom a meter holds to its profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// All its flows together.
    #[default]
    Aggregate,
    /// Each flow.
    Flow,
}

/// Whether the colour that packets have counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sight {
    /// It does not.
    #[default]
    Blind,
    /// It does.
    Aware,
}

/// The treatment of red packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They are dropped.
    #[default]
    Drop,
    /// They are forwarded out of profile.
    Out,
}

fn nothing() -> Size {
    Size(0)
}

impl Meter {
    /// Its place and its actions.
    pub fn edge(&self) -> &Edge {
        match self {
            Meter::Srtcm(SingleRate { edge, .. }) | Meter::Trtcm(TwoRates { edge, .. }) => edge,
        }
    }

    /// The profile to which it holds packets.
    pub fn profile(&self) -> Profile {
        match self {
            Meter::Srtcm(SingleRate { committed_rate, committed_burst, excess_burst, .. }) => Profile::SingleRate {
                committed_rate: *committed_rate,
                committed_burst: committed_burst.0,
                excess_burst: excess_burst.0,
            },
            Meter::Trtcm(TwoRates { committed_rate, committed_burst, peak_rate, peak_burst, .. }) => {
                Profile::TwoRates {
                    committed_rate: *committed_rate,
                    committed_burst: committed_burst.0,
                    peak_rate: *peak_rate,
                    peak_burst: peak_burst.0,
                }
            }
        }
    }

    /// Checks the keys without knowledge of the network. An error names the key and the problem.
    pub fn check(&self) -> Result<(), (&'static str, Problem)> {
        let below = |key, value: String, expected: String| Err((key, Problem::OutOfRange { value, expected }));
        match self {
            // RFC 2697 §2: "At least one of them must be larger than 0."
            Meter::Srtcm(SingleRate { committed_burst: Size(0), excess_burst: Size(0), .. }) => {
                below("committed_burst", "0 B".to_owned(), "above 0 B, or the excess burst".to_owned())
            }
            Meter::Trtcm(TwoRates { committed_rate, peak_rate, .. }) if peak_rate < committed_rate => {
                below("peak_rate", peak_rate.to_string(), format!("at least the committed rate, {committed_rate}"))
            }
            Meter::Trtcm(TwoRates { committed_burst: Size(0), .. }) => {
                below("committed_burst", "0 B".to_owned(), "above 0 B".to_owned())
            }
            Meter::Trtcm(TwoRates { peak_burst: Size(0), .. }) => {
                below("peak_burst", "0 B".to_owned(), "above 0 B".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Bursts that must hold a whole packet to be of use.
    pub fn bursts(&self) -> [(&'static str, Size); 2] {
        match self {
            Meter::Srtcm(SingleRate { committed_burst, excess_burst, .. }) => {
                [("committed_burst", *committed_burst), ("excess_burst", *excess_burst)]
            }
            Meter::Trtcm(TwoRates { committed_burst, peak_burst, .. }) => {
                [("committed_burst", *committed_burst), ("peak_burst", *peak_burst)]
            }
        }
    }
}
