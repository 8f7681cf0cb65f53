//! The keys of head drop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HeadDrop;
use crate::qdisc::{Limit, Misfit, ONE_BDP, Place, QueueKeys, QueueParameters, Queued};
use crate::quantity;
use crate::rng::Rng;

/// First in, first out. A full queue drops its oldest packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadDropKeys {
    /// The limit of the queue.
    #[serde(default = "one_bdp")]
    pub limit: quantity::Limit,
}

fn one_bdp() -> quantity::Limit {
    ONE_BDP
}

impl QueueKeys for HeadDropKeys {
    type Parameters = HeadDropParameters;

    fn limit(&self) -> quantity::Limit {
        self.limit
    }

    fn parameters(&self, _place: &Place, _limit: Limit) -> Result<HeadDropParameters, Misfit> {
        Ok(HeadDropParameters)
    }
}

/// Head drop has no parameters but its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadDropParameters;

impl QueueParameters for HeadDropParameters {
    type Queue<T: Queued> = HeadDrop<T>;

    fn build<T: Queued>(&self, limit: Limit, _stream: &dyn Fn(&str) -> Rng) -> HeadDrop<T> {
        HeadDrop::new(limit)
    }
}
