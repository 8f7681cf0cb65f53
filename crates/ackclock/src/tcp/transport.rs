//! What a connection is configured with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// The transport of one flow, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Payload bytes in a full segment.
    pub mss: u32,
    /// Bytes of TCP and IP header on every packet.
    pub header: u32,
    /// Bytes that the link layer adds to every packet.
    pub framing: u32,
    /// Segments that the receiver's window allows; `None` for no bound.
    pub max_window: Option<u32>,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Duration,
    /// Longest delay of an ACK; `None` for an ACK per packet.
    pub delayed_ack: Option<Duration>,
    /// RFC 3042: new data on the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// RFC 7323: an RTT measurement with every ACK.
    pub timestamps: bool,
    /// RFC 3465: growth counts acknowledged segments (at most two an ACK) and not ACKs.
    pub byte_counting: bool,
    /// RFC 5681 §4.1: the window falls back to the initial one after an idle RTO.
    pub idle_restart: bool,
    /// How losses are found and repaired.
    pub recovery: LossRecovery,
    /// Whether the receiver sends SACK blocks; a SACK sender without them behaves as Reno.
    pub peer_sack: bool,
}

impl Default for Transport {
    fn default() -> Self {
        Transport {
            mss: 1460,
            header: 40,
            framing: 0,
            max_window: None,
            min_rto: Duration::from_millis(200),
            delayed_ack: None,
            limited_transmit: true,
            timestamps: false,
            byte_counting: false,
            idle_restart: true,
            recovery: LossRecovery::Sack,
            peer_sack: true,
        }
    }
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossRecovery {
    /// Fast retransmit, then slow start.
    Tahoe,
    /// RFC 5681: fast recovery until the first new ACK.
    Reno,
    /// RFC 6582: fast recovery until everything sent before it is acknowledged.
    NewReno,
    /// RFC 6675: recovery from a scoreboard.
    #[default]
    Sack,
}

impl LossRecovery {
    /// The name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            LossRecovery::Tahoe => "tahoe",
            LossRecovery::Reno => "reno",
            LossRecovery::NewReno => "newreno",
            LossRecovery::Sack => "sack",
        }
    }
}
