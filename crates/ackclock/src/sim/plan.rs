//! A run, compiled: dense ids, integers, no units to parse. What `scenario` makes and `Simulation` runs.

use super::wire::WirePlan;
use crate::cc::{CcContext, CcSpec};
use crate::luck::{Luck, Stream};
use crate::qdisc::{DropTail, Limit, Queue, Queued, Red, RedParameters};
use crate::tcp::Transport;
use crate::units::{Duration, Instant, Rate};
use crate::variation::{Variation, VariationPlan};

/// Everything that one run needs. The same plan gives the same result, byte by byte.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root of all random streams of the run (seed and replicate together).
    pub seed: u64,
    /// The end of the run.
    pub duration: Duration,
    /// What is left out of every metric at the beginning.
    pub warmup: Duration,
    /// Links, one direction each.
    pub links: Vec<LinkPlan>,
    /// Flows; their paths index `links`.
    pub flows: Vec<FlowPlan>,
    /// The link of `links` whose queue and utilisation the summary reports.
    pub bottleneck: usize,
    /// What is written down over time.
    pub sampling: Sampling,
}

impl Plan {
    /// True for a link that appears in the results.
    pub fn reports(&self, link: usize) -> bool {
        !self.links[link].private || link == self.bottleneck
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name; the reverse direction of `x` is called `x.reverse`. Names order events and seed luck.
    pub name: String,
    /// Bits per second; `None` for a pure delay.
    pub rate: Option<Rate>,
    /// What of the rate there is over time; `None` where it is always all of it.
    pub varies: Option<VariationPlan>,
    /// Propagation, one way.
    pub delay: Duration,
    /// The queue in front of the transmitter.
    pub queue: QueuePlan,
    /// What goes wrong behind it.
    pub wire: WirePlan,
    /// True for a link that belongs to one flow (access links, pure delays): it appears in the results
    /// only on request.
    pub private: bool,
}

impl LinkPlan {
    /// What of the rate there is in a run with this `luck` until its `end`.
    pub fn variation(&self, luck: Luck, end: Instant) -> Option<Variation> {
        let stream = || luck.stream(&self.name, "rate");
        self.varies.as_ref().zip(self.rate).map(|(plan, rate)| plan.build(rate, end, stream))
    }
}

/// A queue discipline with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum QueuePlan {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// The limit.
        limit: Limit,
    },
    /// Random early detection.
    Red {
        /// The limit.
        limit: Limit,
        /// When to drop before it is reached.
        parameters: RedParameters,
    },
}

impl QueuePlan {
    /// The queue, empty; one that draws numbers draws them from `stream`.
    pub fn build<T: Queued>(&self, stream: impl FnOnce() -> Stream) -> Queue<T> {
        match self {
            QueuePlan::DropTail { limit } => Queue::DropTail(DropTail::new(*limit)),
            QueuePlan::Red { limit, parameters } => {
                Queue::Red(Box::new(Red::new(*limit, parameters.clone(), stream())))
            }
        }
    }

    /// What it holds at the most.
    pub fn limit(&self) -> Limit {
        match self {
            QueuePlan::DropTail { limit } | QueuePlan::Red { limit, .. } => *limit,
        }
    }

    /// True for a queue that drops or marks before it is full.
    pub fn acts_early(&self) -> bool {
        matches!(self, QueuePlan::Red { .. })
    }
}

/// One flow: a sender, a path to its receiver, and a path back for the ACKs.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Unique name, `test.0` for the first of a group `test` with a count. Orders events and seeds luck.
    pub name: String,
    /// Name of the group it was declared in.
    pub group: String,
    /// Links from the sender to the receiver, as indices.
    pub forward: Vec<usize>,
    /// Links from the receiver to the sender, as indices.
    pub reverse: Vec<usize>,
    /// The window algorithm.
    pub cc: CcSpec,
    /// What it is told at the start.
    pub cc_context: CcContext,
    /// Sizes, timers and loss recovery.
    pub transport: Transport,
    /// What the application sends.
    pub traffic: Traffic,
    /// When the application starts.
    pub start: Instant,
    /// When it stops writing, if before the end of the run.
    pub stop: Option<Instant>,
    /// Propagation of the path and the way back.
    pub base_rtt: Duration,
}

/// What an application writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Always more.
    Bulk,
    /// This many bytes at the start.
    Transfer {
        /// Payload bytes, at least one.
        bytes: u64,
    },
    /// One segment after the other, evenly spaced.
    RateLimited {
        /// Payload bits per second.
        rate: Rate,
    },
}

/// What is sampled over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Time between two samples; `None` for no samples.
    pub interval: Option<Duration>,
    /// How many flows, in the order of declaration.
    pub max_flows: usize,
    /// Whether every packet is written down at every link, and every change of a window.
    pub packets: bool,
}
