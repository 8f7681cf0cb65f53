//! The keys of CHOKe. They equal the keys of RED.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::Choke;
use crate::qdisc::red::RedKeys;
use crate::qdisc::{self, Misfit, Place, QueueKeys, QueueParameters, Queued, Reason, RedParameters};
use crate::quantity::Limit;
use crate::rng::Rng;

/// CHOKe: RED that also drops an arrival and a random queued packet of the same flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChokeKeys(pub RedKeys);

/// The schema of RED itself instead of a reference. One table contains the keys of a queue.
impl JsonSchema for ChokeKeys {
    fn schema_name() -> Cow<'static, str> {
        "ChokeKeys".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RedKeys::json_schema(generator)
    }
}

/// The parameters of CHOKe, resolved.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct ChokeParameters(pub RedParameters);

impl QueueKeys for ChokeKeys {
    type Parameters = ChokeParameters;

    const DRAWS: Option<&'static str> = Some("early drops and comparisons of {link}: CHOKe");

    fn limit(&self) -> Limit {
        self.0.limit()
    }

    fn marks(&self) -> bool {
        self.0.marks()
    }

    fn parameters(&self, place: &Place, limit: qdisc::Limit) -> Result<ChokeParameters, Misfit> {
        self.0.parameters(place, limit).map(ChokeParameters)
    }
}

impl QueueParameters for ChokeParameters {
    type Queue<T: Queued> = Choke<T>;

    const DROPS: &'static [Reason] = &[Reason::Match, Reason::Early, Reason::Forced, Reason::Full];
    const MARKS: &'static [Reason] = &[Reason::Early, Reason::Forced];

    fn build<T: Queued>(&self, limit: qdisc::Limit, stream: &dyn Fn(&str) -> Rng) -> Choke<T> {
        Choke::new(limit, self.clone(), stream("queue"), stream("matches"))
    }

    fn has_clock(&self) -> bool {
        self.0.has_clock()
    }

    fn in_words(&self) -> String {
        self.0.in_words()
    }

    fn in_force(&self) -> Option<serde_json::Value> {
        self.0.in_force()
    }
}
