//! The keys of a policer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Policer;
use crate::qdisc::token_bucket::burst_at;
use crate::qdisc::{self, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued, Reason};
use crate::quantity::{Limit, Size};
use crate::rng::Rng;
use crate::units::Rate;

/// Policer: drops arrivals that exceed a rate and a burst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerKeys {
    /// The limit of the queue behind the policer.
    #[serde(default = "one_bdp")]
    pub limit: Limit,
    /// Rate at which tokens arrive, in bits on the wire.
    pub rate: Rate,
    /// Size of the bucket: bytes that may arrive at once after a pause. Default: ten of the largest packets that cross the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
}

fn one_bdp() -> Limit {
    ONE_BDP
}

/// The parameters of a policer, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerParameters {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// Size of the bucket in bytes.
    pub burst: u32,
}

impl QueueKeys for PolicerKeys {
    type Parameters = PolicerParameters;

    fn limit(&self) -> Limit {
        self.limit
    }

    fn parameters(&self, place: &Place, _limit: qdisc::Limit) -> Result<PolicerParameters, Misfit> {
        Ok(PolicerParameters { rate: self.rate, burst: burst_at(self.burst, place)? })
    }
}

impl QueueParameters for PolicerParameters {
    type Queue<T: Queued> = Policer<T>;

    const DROPS: &'static [Reason] = &[Reason::Excess, Reason::Full];

    fn build<T: Queued>(&self, limit: qdisc::Limit, _stream: &dyn Fn(&str) -> Rng) -> Policer<T> {
        Policer::new(limit, *self)
    }

    fn in_words(&self) -> String {
        format!(", {} with bursts of {} B", self.rate, self.burst)
    }
}
