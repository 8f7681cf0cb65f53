//! The keys of the example.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Example;
use crate::qdisc::{AMPLE, Limit, Misfit, Place, QueueKeys, QueueParameters, Queued};
use crate::quantity::{self, without_default};
use crate::rng::Rng;

/// One sentence that `ackclock schema` and the page of keys show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleKeys {
    /// The limit of the queue.
    #[serde(default = "ample")]
    #[schemars(transform = without_default)]
    pub limit: quantity::Limit,
}

fn ample() -> quantity::Limit {
    AMPLE
}

impl QueueKeys for ExampleKeys {
    type Parameters = ExampleParameters;

    fn limit(&self) -> quantity::Limit {
        self.limit
    }

    fn parameters(&self, _place: &Place, _limit: Limit) -> Result<ExampleParameters, Misfit> {
        Ok(ExampleParameters)
    }
}

/// The values of the keys at a link, except the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExampleParameters;

impl QueueParameters for ExampleParameters {
    type Queue<T: Queued> = Example<T>;

    fn build<T: Queued>(&self, limit: Limit, _stream: &dyn Fn(&str) -> Rng) -> Example<T> {
        Example::new(limit)
    }
}
