//! The keys of queues in which flows take turns: DRR and SFQ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::quantity::{Limit, Size};
use super::red::Place;
use crate::qdisc::DrrParameters;
use crate::units::Duration;

/// Deficit round robin: flows take turns, and each sends as many bytes a round as the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drr {
    /// How much waits at most, all flows together; where it is more the longest flow loses its first packet.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// What a flow may send a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// How many queues there are, which flows share by their hashes. By default each flow has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub buckets: Option<u32>,
}

/// Stochastic fairness queueing: flows are hashed into a few queues, which take turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sfq {
    /// How much waits at most, all flows together; where it is more the longest queue loses its first packet.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// What a queue may send a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// How many queues there are.
    #[serde(default = "buckets_of_sfq")]
    #[schemars(range(min = 1, max = 65_536))]
    pub buckets: u32,
    /// How often flows are hashed anew; "0 s" for never.
    #[serde(default = "perturbation")]
    pub perturbation: Duration,
}

fn one_bdp() -> Limit {
    Limit::Bdp(1.0)
}

/// As in Linux.
fn buckets_of_sfq() -> u32 {
    128
}

fn perturbation() -> Duration {
    Duration::from_secs(10)
}

/// The parameters of turns at a link.
///
/// # Errors
/// The key that does not fit, and why.
pub fn turns(
    quantum: Option<Size>,
    buckets: Option<u32>,
    place: &Place,
) -> Result<DrrParameters, (&'static str, Problem)> {
    let quantum = quantum.map_or(place.packet_bytes, |size| size.0);
    match u32::try_from(quantum) {
        Ok(quantum) if quantum > 0 => Ok(DrrParameters { quantum, buckets }),
        _ => {
            let expected = "at least 1 B and below 4 GB".to_owned();
            Err(("quantum", Problem::OutOfRange { value: Size(quantum).to_string(), expected }))
        }
    }
}
