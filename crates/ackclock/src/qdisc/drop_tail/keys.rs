//! The keys of drop-tail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropTail;
use crate::qdisc::{AMPLE, Limit, Misfit, Place, QueueKeys, QueueParameters, Queued};
use crate::quantity::{self, without_default};
use crate::rng::Rng;

/// First in, first out. Packets that do not fit are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailKeys {
    /// The limit of the queue: packets, bytes, a multiple of the bandwidth-delay product, or a time at the link's rate.
    /// The default is "1 BDP" at a link that flows share and "100 packets" at stations of a channel. It is "10000
    /// packets" at access links, on the path of the ACKs and without a rate.
    #[serde(default = "ample")]
    #[schemars(transform = without_default)]
    pub limit: quantity::Limit,
}

fn ample() -> quantity::Limit {
    AMPLE
}

impl QueueKeys for DropTailKeys {
    type Parameters = DropTailParameters;

    fn limit(&self) -> quantity::Limit {
        self.limit
    }

    fn parameters(&self, _place: &Place, _limit: Limit) -> Result<DropTailParameters, Misfit> {
        Ok(DropTailParameters)
    }
}

/// Only the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTailParameters;

impl QueueParameters for DropTailParameters {
    type Queue<T: Queued> = DropTail<T>;

    fn build<T: Queued>(&self, limit: Limit, _stream: &dyn Fn(&str) -> Rng) -> DropTail<T> {
        DropTail::new(limit)
    }
}
