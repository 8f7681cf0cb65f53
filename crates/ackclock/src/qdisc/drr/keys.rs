//! The keys of DRR.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Drr, DrrParameters};
use crate::qdisc::{self, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued};
use crate::quantity::{Limit, Problem, Size};
use crate::rng::Rng;

/// Deficit round robin: flows take turns, and each sends as many bytes a round as the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrrKeys {
    /// The limit of all flows together. Beyond it the longest flow loses its first packet.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// Bytes that a flow may send in a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Number of queues, to which flows are hashed. By default each flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub buckets: Option<u32>,
}

fn one_bdp() -> Limit {
    ONE_BDP
}

impl QueueKeys for DrrKeys {
    type Parameters = DrrParameters;

    fn limit(&self) -> Limit {
        self.limit
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<DrrParameters, Misfit> {
        Ok(DrrParameters { quantum: quantum_at(self.quantum, place)?, buckets: self.buckets })
    }
}

impl QueueParameters for DrrParameters {
    type Queue<T: Queued> = Drr<T>;

    fn build<T: Queued>(&self, limit: qdisc::Limit, _stream: &dyn Fn(&str) -> Rng) -> Drr<T> {
        Drr::new(limit, *self)
    }

    fn in_words(&self) -> String {
        format!(", {}", turns_in_words(self))
    }
}

/// How long a turn is, and whose.
pub(in crate::qdisc) fn turns_in_words(DrrParameters { quantum, buckets }: &DrrParameters) -> String {
    let queues = buckets.map_or("a queue for each flow".to_owned(), |buckets| format!("{buckets} queues"));
    format!("quantum {quantum} B, {queues}")
}

/// Bytes that a queue may send per round at a link. By default it is the largest packet.
///
/// # Errors
/// The key is zero or too large.
pub(in crate::qdisc) fn quantum_at(quantum: Option<Size>, place: &Place) -> Result<u32, Misfit> {
    let quantum = quantum.map_or(place.packet_bytes, |size| size.0);
    match u32::try_from(quantum) {
        Ok(quantum) if quantum > 0 => Ok(quantum),
        _ => {
            let expected = "at least 1 B and below 4 GB".to_owned();
            Err(("quantum", Problem::OutOfRange { value: Size(quantum).to_string(), expected }))
        }
    }
}
