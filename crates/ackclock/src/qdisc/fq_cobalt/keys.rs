//! The keys of FQ-COBALT.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FqCobalt;
use crate::qdisc::cobalt::{CobaltKeys, CobaltParameters};
use crate::qdisc::drr::{quantum_at, turns_in_words};
use crate::qdisc::fair_queue::{FairQueueParameters, FairQueueVariant};
use crate::qdisc::{self, DrrParameters, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Size};
use crate::rng::Rng;
use crate::units::Duration;

/// Flow queue COBALT: flows are hashed into queues, which take turns, with COBALT in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCobaltKeys {
    /// The limit of all flows together. Beyond it the longest queue loses half of its packets.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Number of queues, to which flows are hashed.
    #[serde(default = "flows")]
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes that a queue may send in a round. Default: the largest packet that crosses the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Sojourn time that a standing queue may reach without drops.
    #[serde(default = "crate::qdisc::codel::target")]
    pub target: Duration,
    /// Time to the second signal: about the RTT of most flows.
    #[serde(default = "crate::qdisc::codel::interval")]
    pub interval: Duration,
    /// Increase of a probability when its queue is the longest one of a full queue.
    #[serde(default = "crate::qdisc::cobalt::increment")]
    #[schemars(range(min = 0, max = 1))]
    pub increment: f64,
    /// Decrease of a probability when its queue is empty.
    #[serde(default = "crate::qdisc::cobalt::decrement")]
    #[schemars(range(min = 0, max = 1))]
    pub decrement: f64,
    /// Sojourn time above which the probabilities rise as well. By default it is off. In ns-3 it is 400 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blue_threshold: Option<Duration>,
    /// Whether ECN-capable packets are marked instead of dropped. The probabilities still drop them.
    #[serde(default = "yes")]
    pub ecn: bool,
}

// As in ns-3 and FQ-CoDel.
fn limit() -> Limit {
    Limit::Packets(10_240)
}

fn flows() -> u32 {
    1024
}

fn yes() -> bool {
    true
}

/// The parameters of FQ-COBALT, resolved.
pub type FqCobaltParameters = FairQueueParameters<CobaltParameters>;

impl QueueKeys for FqCobaltKeys {
    type Parameters = FqCobaltParameters;

    const DRAWS: Option<&'static str> = Some("hash and drops of {link}: FQ-COBALT");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    /// FQ-COBALT marks by default, so `ecn` does not show that marks are expected.
    fn asks_for_ecn(&self) -> bool {
        false
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<FqCobaltParameters, Misfit> {
        let FqCobaltKeys { limit, target, interval, increment, decrement, blue_threshold, ecn, .. } = *self;
        let aqm = CobaltKeys { limit, target, interval, increment, decrement, blue_threshold, ecn }.resolved()?;
        let variant = FairQueueVariant::Rfc;
        Ok(FqCobaltParameters { variant, flows: self.flows, quantum: quantum_at(self.quantum, place)?, aqm })
    }
}

impl QueueParameters for FqCobaltParameters {
    type Queue<T: Queued> = FqCobalt<T>;

    const DROPS: &'static [Reason] = &[Reason::Sojourn, Reason::Early, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Sojourn];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> FqCobalt<T> {
        FqCobalt::new(limit, *self, stream("queue"))
    }

    fn in_words(&self) -> String {
        let turns = turns_in_words(&DrrParameters { quantum: self.quantum, buckets: Some(self.flows) });
        format!(", {turns}{}", self.aqm.in_words())
    }
}
