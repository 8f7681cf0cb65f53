//! The keys of the network: the dumbbell, links and queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::impairments::Impairments;
use super::variation::Varies;
use ackclock::qdisc::QueueSpec;
use ackclock::quantity::Shorthand;
use ackclock::units::{Duration, Rate};

/// A network by its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// All flows share the link `bottleneck`, each with access links of its own, if there are any.
    Dumbbell(Dumbbell),
    /// Equal links `hop1`, `hop2`, ... in a row. A flow without a `path` crosses all of them.
    ParkingLot(ParkingLot),
}

/// Flows that share one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Dumbbell {
    /// Rate of a shared link, in each direction.
    pub rate: Rate,
    /// Capacity over time. `rate` is its highest value. By default it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shorthand<Varies>")]
    pub varies: Option<Varies>,
    /// One-way propagation delay of a shared link.
    pub delay: Duration,
    /// Queue of a shared link in the data direction.
    #[serde(default = "QueueSpec::one_bdp")]
    #[schemars(with = "Shorthand<QueueSpec>")]
    pub queue: QueueSpec,
    /// Impairments after the queue.
    #[serde(flatten)]
    pub impairments: Impairments,
    /// The other direction of a shared link.
    #[serde(default)]
    pub reverse: Reverse,
    /// Links for each single flow, at its source and its destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
}

/// Equal links in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ParkingLot {
    /// Number of links.
    #[schemars(range(min = 1, max = 1000))]
    pub hops: u32,
    /// Keys of each link.
    #[serde(flatten)]
    pub hop: Dumbbell,
}

/// A link of the general form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Link {
    /// Name of the channel that the link uses as a station. Each direction is a station of its own. Propagation is then
    /// the channel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Rate in each direction. Without it the link is a pure delay, or has the rate of its channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Capacity over time. `rate` is its highest value. By default it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shorthand<Varies>")]
    pub varies: Option<Varies>,
    /// One-way propagation delay.
    #[serde(default)]
    pub delay: Duration,
    /// Queue in front of the transmitter.
    #[serde(default = "QueueSpec::one_bdp")]
    #[schemars(with = "Shorthand<QueueSpec>")]
    pub queue: QueueSpec,
    /// Impairments after the queue.
    #[serde(flatten)]
    pub impairments: Impairments,
    /// The other direction.
    #[serde(default)]
    pub reverse: Reverse,
}

/// The other direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Reverse {
    /// Rate. By default it is the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Capacity over time. `rate` is its highest value. By default it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Shorthand<Varies>")]
    pub varies: Option<Varies>,
    /// Propagation delay. By default it is the delay of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Queue in front of the transmitter.
    #[serde(default)]
    #[schemars(with = "Shorthand<QueueSpec>")]
    pub queue: QueueSpec,
    /// Impairments after the queue.
    #[serde(flatten)]
    pub impairments: Impairments,
}

/// Links that each flow has for itself: one at its source and one at its destination, each with two directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Access {
    /// Rate. Without it the link is a pure delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// One-way propagation delay of each of the links.
    #[serde(default)]
    pub delay: Duration,
    /// Queue in front of each transmitter.
    #[serde(default)]
    #[schemars(with = "Shorthand<QueueSpec>")]
    pub queue: QueueSpec,
    /// Impairments after the queue.
    #[serde(flatten)]
    pub impairments: Impairments,
}
