//! The keys of FQ-PIE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FqPie;
use crate::qdisc::drr::{quantum_at, turns_in_words};
use crate::qdisc::fair_queue::{FairQueueParameters, FairQueueVariant};
use crate::qdisc::pie::{PieKeys, PieParameters, PieVariant};
use crate::qdisc::{self, DrrParameters, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Size};
use crate::rng::Rng;
use crate::units::Duration;

/// Flow queue PIE: flows are hashed into queues, which take turns, with PIE in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqPieKeys {
    /// The limit of all flows together.
    #[serde(default = "limit")]
    pub limit: Limit,
    /// Number of queues, to which flows are hashed.
    #[serde(default = "flows")]
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Bytes that a queue may send in a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// The algorithm of each queue.
    #[serde(default)]
    pub variant: PieVariant,
    /// Queueing delay that the controllers approach. Default: 15 ms, with `docsis` 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// Time between two updates of the probabilities. Default: 15 ms, with `docsis` 16 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_update: Option<Duration>,
    /// Weight of the deviation from the target, per second. Default: 0.125, with `docsis` 0.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Weight of the change of the delay, per second. Default: 1.25, with `docsis` 2.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Length of a burst after an idle time that loses no packet early. Default: 150 ms, with `docsis` 142 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Duration>,
    /// A queue of at most two packets of this size loses none early. Default: the largest packet that crosses the link,
    /// with `docsis` 1024 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Size>,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
    /// Probability from which ECN-capable packets are dropped as well. `linux` still marks at exactly this probability.
    #[serde(default = "crate::qdisc::pie::mark_ecnth")]
    #[schemars(range(min = 0, max = 1))]
    pub mark_ecnth: f64,
}

// As in Linux.
fn limit() -> Limit {
    Limit::Packets(10_240)
}

fn flows() -> u32 {
    1024
}

/// The parameters of FQ-PIE, resolved.
pub type FqPieParameters = FairQueueParameters<PieParameters>;

impl QueueKeys for FqPieKeys {
    type Parameters = FqPieParameters;

    const DRAWS: Option<&'static str> = Some("hash and early drops of {link}: FQ-PIE");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<FqPieParameters, Misfit> {
        let FqPieKeys {
            limit, variant, target, t_update, alpha, beta, max_burst, mean_packet, ecn, mark_ecnth, ..
        } = *self;
        let keys = PieKeys { limit, variant, target, t_update, alpha, beta, max_burst, mean_packet, ecn, mark_ecnth };
        let quantum = quantum_at(self.quantum, place)?;
        let variant = match self.variant {
            PieVariant::Linux => FairQueueVariant::Linux,
            PieVariant::Rfc | PieVariant::Docsis => FairQueueVariant::Rfc,
        };
        Ok(FqPieParameters { variant, flows: self.flows, quantum, aqm: keys.parameters_at(place)? })
    }
}

impl QueueParameters for FqPieParameters {
    type Queue<T: Queued> = FqPie<T>;

    const DROPS: &'static [Reason] = &[Reason::Early, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> FqPie<T> {
        FqPie::new(limit, *self, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        true
    }

    fn in_words(&self) -> String {
        let turns = turns_in_words(&DrrParameters { quantum: self.quantum, buckets: Some(self.flows) });
        format!(", {turns}{}", self.aqm.in_words())
    }
}
