//! The keys of SFQ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sfq;
use crate::qdisc::drr::{quantum_at, turns_in_words};
use crate::qdisc::{self, DrrParameters, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued};
use crate::quantity::{Limit, Size};
use crate::rng::Rng;
use crate::units::Duration;

/// Stochastic fairness queueing: flows are hashed into a few queues, which take turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SfqKeys {
    /// The limit of all flows together. Beyond it the longest queue loses its first packet.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// Bytes that a queue may send in a round. Default: the largest packet that crosses the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Number of queues, to which flows are hashed.
    #[serde(default = "buckets_of_sfq")]
    #[schemars(range(min = 1, max = 65_536))]
    pub buckets: u32,
    /// Time between two perturbations of the hash. "0 s" means never.
    #[serde(default = "perturbation")]
    pub perturbation: Duration,
}

fn one_bdp() -> Limit {
    ONE_BDP
}

/// As in Linux.
fn buckets_of_sfq() -> u32 {
    128
}

fn perturbation() -> Duration {
    Duration::from_secs(10)
}

/// The parameters of SFQ, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqParameters {
    /// Whose turn it is, and for how long.
    pub turns: DrrParameters,
    /// Time between two perturbations of the hash. `None` means never.
    pub perturbation: Option<Duration>,
}

impl QueueKeys for SfqKeys {
    type Parameters = SfqParameters;

    const DRAWS: Option<&'static str> = Some("hash of {link}: SFQ");

    fn limit(&self) -> Limit {
        self.limit
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<SfqParameters, Misfit> {
        let quantum = quantum_at(self.quantum, place)?;
        let turns = DrrParameters { quantum, buckets: Some(self.buckets) };
        Ok(SfqParameters { turns, perturbation: Some(self.perturbation).filter(|length| !length.is_zero()) })
    }
}

impl QueueParameters for SfqParameters {
    type Queue<T: Queued> = Sfq<T>;

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Sfq<T> {
        Sfq::new(limit, self.turns, self.perturbation, stream("queue"))
    }

    fn has_clock(&self) -> bool {
        self.perturbation.is_some()
    }

    fn in_words(&self) -> String {
        let anew = self.perturbation.map_or("never".to_owned(), |interval| format!("every {interval}"));
        format!(", {}, hashed anew {anew}", turns_in_words(&self.turns))
    }
}
