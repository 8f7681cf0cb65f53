//! The keys of the network: the dumbbell, links, queues and losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::json_schema::without_default;
use super::quantity::Limit;
use super::red::Red;
use super::shorthand::Shorthand;
use crate::units::{Duration, Rate};

/// A network by its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Topology {
    /// All flows share the link `bottleneck`, each behind access links of its own if there are any.
    Dumbbell(Dumbbell),
}

/// Flows that share one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Rate of the bottleneck, each way.
    pub rate: Rate,
    /// Propagation through the bottleneck, one way.
    pub delay: Duration,
    /// Extra delay of each packet of the data direction, uniform between 0 and this; the order is kept.
    #[serde(default)]
    pub jitter: Duration,
    /// Queue of the data direction.
    #[serde(default = "Queue::one_bdp")]
    #[schemars(with = "Shorthand<Queue>")]
    pub queue: Queue,
    /// Losses of the data direction behind the queue.
    #[serde(default)]
    #[schemars(with = "Shorthand<Loss>")]
    pub loss: Loss,
    /// The other direction of the bottleneck.
    #[serde(default)]
    pub reverse: Reverse,
    /// Links that each flow has for itself on both sides of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
}

/// A link of the general form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Rate, each way; without it a pure delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation, one way.
    #[serde(default)]
    pub delay: Duration,
    /// Extra delay of each packet, uniform between 0 and this; the order is kept.
    #[serde(default)]
    pub jitter: Duration,
    /// Queue in front of the transmitter.
    #[serde(default = "Queue::one_bdp")]
    #[schemars(with = "Shorthand<Queue>")]
    pub queue: Queue,
    /// Losses behind the queue.
    #[serde(default)]
    #[schemars(with = "Shorthand<Loss>")]
    pub loss: Loss,
    /// The other direction.
    #[serde(default)]
    pub reverse: Reverse,
}

/// The other direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reverse {
    /// Rate; by default that of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation; by default that of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Extra delay of each packet, uniform between 0 and this; the order is kept.
    #[serde(default)]
    pub jitter: Duration,
    /// Queue in front of the transmitter.
    #[serde(default)]
    #[schemars(with = "Shorthand<Queue>")]
    pub queue: Queue,
    /// Losses behind the queue.
    #[serde(default)]
    #[schemars(with = "Shorthand<Loss>")]
    pub loss: Loss,
}

/// Links that each flow has for itself: one at its source and one at its destination, each with two directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Rate; without it a pure delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation through one of the links, one way.
    #[serde(default)]
    pub delay: Duration,
    /// Queue in front of each transmitter.
    #[serde(default)]
    #[schemars(with = "Shorthand<Queue>")]
    pub queue: Queue,
    /// Losses behind each queue.
    #[serde(default)]
    #[schemars(with = "Shorthand<Loss>")]
    pub loss: Loss,
}

/// A queue discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// How much waits at most: packets, bytes or a multiple of the bandwidth-delay product. By default "1 BDP"
        /// at a link that flows share, "10000 packets" at access links, on the way of the ACKs and without a rate.
        #[serde(default = "default_limit")]
        #[schemars(transform = without_default)]
        limit: Limit,
    },
    /// Random early detection: drops, or marks, with a probability that rises with the average queue.
    Red(Red),
}

/// The limit of a queue that should hardly ever drop: access links and the way of the ACKs.
const AMPLE: Limit = Limit::Packets(10_000);
/// The limit of the queue of a link that flows share.
const ONE_BDP: Limit = Limit::Bdp(1.0);

fn default_limit() -> Limit {
    AMPLE
}

impl Default for Queue {
    fn default() -> Self {
        Queue::DropTail { limit: AMPLE }
    }
}

impl Queue {
    fn one_bdp() -> Self {
        Queue::DropTail { limit: ONE_BDP }
    }

    /// How much waits at most.
    pub fn limit(&self) -> Limit {
        match self {
            Queue::DropTail { limit } | Queue::Red(Red { limit, .. }) => *limit,
        }
    }
}

/// Losses that are not the queue's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost with the same probability, independently.
    Bernoulli {
        /// Probability, 0 to 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        probability: f64,
    },
    /// Every n-th packet is lost.
    Periodic {
        /// The n: at least 1.
        #[schemars(range(min = 1))]
        period: u64,
        /// How many packets earlier the first loss comes; below the period.
        #[serde(default)]
        offset: u64,
    },
    /// The packets with these numbers are lost, or late.
    Scripted {
        /// Numbers of the packets that are lost at this link, from 1, ascending.
        #[serde(default)]
        packets: Vec<u64>,
        /// Numbers of the packets that arrive late, so that others overtake them.
        #[serde(default)]
        late_packets: Vec<u64>,
        /// How much later they arrive.
        #[serde(default)]
        late_by: Duration,
    },
}
