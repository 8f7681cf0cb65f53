//! A compiled run: dense ids, integers, no units to parse. `scenario` compiles it, `Simulation` runs it.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut, Range};
use std::sync::Arc;

use super::distribution::Distribution;
use super::impairments::ImpairmentsPlan;
use super::index::{FlowId, LinkId};
use super::population::SourcePopulation;
use super::traffic::Traffic;
use crate::cc::{Algorithm, CcContext, CcSpec, ForeignValue};
use crate::link::{Dcf, Impairable, Link, LinkConfig};
use crate::meter::Profile;
use crate::qdisc::{Groups, Place, QueuePlan};
use crate::rng::RngStreams;
use crate::transport::Transport;
use crate::units::{Duration, Instant, Rate};
use crate::variation::{Variation, VariationPlan};

/// The plan of one run. The same plan gives the same result, byte by byte.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root of all random streams of the run (seed and replicate together).
    pub seed: u64,
    /// The end of the run.
    pub duration: Duration,
    /// The warm-up, which metrics leave out.
    pub warmup: Duration,
    /// Links, one direction each.
    pub links: Vec<LinkPlan>,
    /// Channels for which stations contend.
    pub channels: Vec<ChannelPlan>,
    /// Flows with congestion control. Their paths are indices of `links`.
    pub flows: Vec<FlowPlan>,
    /// Groups of transfers that arrive at random.
    pub arrivals: Vec<ArrivalsPlan>,
    /// Datagrams, without congestion control.
    pub datagrams: Vec<DatagramPlan>,
    /// Groups of flows, as queues distinguish them.
    pub groups: Groups,
    /// Meters, which flows and datagrams point to.
    pub meters: Vec<MeterPlan>,
    /// The link of `links` whose queue and utilisation the summary reports.
    pub bottleneck: LinkId,
    /// Samples over time.
    pub sampling: Sampling,
    /// Packets to capture, by default none.
    pub capture: Option<CapturePlan>,
    /// Settings of the kernel, which the simulation does not have.
    pub kernel: KernelPlan,
}

impl Plan {
    /// Every TCP flow: first `flows`, then the slots of all groups of arrivals.
    pub fn tcp_flows(&self) -> impl Iterator<Item = &FlowPlan> {
        self.flows.iter().chain(self.arrivals.iter().flat_map(|group| &group.slots))
    }

    /// Replaces the descriptions of user-supplied algorithms of chosen flows by the results of `make`. Flows that share
    /// one continue to share it.
    ///
    /// # Errors
    /// The first of `make`.
    pub fn bind<E>(
        &mut self,
        is_chosen: impl Fn(&FlowPlan) -> bool,
        mut make: impl FnMut(&CcSpec) -> Result<Algorithm, E>,
    ) -> Result<(), E> {
        let mut made: Vec<(Arc<Algorithm>, Arc<Algorithm>)> = Vec::new();
        let slots = self.arrivals.iter_mut().flat_map(|group| &mut group.slots);
        for flow in self.flows.iter_mut().chain(slots).filter(|flow| is_chosen(flow)) {
            let Some(spec) = flow.cc.spec().filter(|spec| spec.is_foreign()) else { continue };
            flow.cc = match made.iter().find(|(before, _)| Arc::ptr_eq(before, &flow.cc)) {
                Some((_, bound)) => bound.clone(),
                None => {
                    let bound = Arc::new(make(spec)?);
                    made.push((flow.cc.clone(), bound.clone()));
                    bound
                }
            };
        }
        Ok(())
    }

    /// Adds a flow like this one, with its own copies of private links. It sends nothing until
    /// [`Simulation::begin_flow`](super::Simulation::begin_flow). Returns its place in `flows`.
    ///
    /// # Panics
    /// If `flows` has none of this place.
    pub fn add_flow_like(&mut self, id: FlowId, name: &str) -> FlowId {
        let like = self.flows[id].clone();
        let mut own = |path: &[LinkId]| -> Arc<[LinkId]> {
            path.iter()
                .map(|link| match self.links[*link].name.strip_prefix(&*like.name) {
                    Some(part) if self.links[*link].private => {
                        let name = format!("{name}{part}");
                        self.links.push(LinkPlan { name, ..self.links[*link].clone() });
                        LinkId::new(self.links.len() - 1)
                    }
                    _ => *link,
                })
                .collect()
        };
        let (forward, reverse) = (own(&like.forward), own(&like.reverse));
        self.flows.push(FlowPlan { name: name.into(), forward, reverse, start: FlowPlan::ON_REQUEST, ..like });
        FlowId::new(self.flows.len() - 1)
    }

    /// The number of `flows`, from the first one on, that are sampled.
    pub fn sampled_flows(&self) -> usize {
        self.flows.len().min(self.sampling.max_flows)
    }

    /// Whether all that happens is written down at its time.
    pub(super) fn is_traced(&self) -> bool {
        self.sampling.packets || self.capture.is_some()
    }

    /// All of `links` by their places.
    pub fn link_ids(&self) -> impl DoubleEndedIterator<Item = LinkId> + use<> {
        (0..self.links.len()).map(LinkId::new)
    }

    /// All of `flows` by their places.
    pub fn flow_ids(&self) -> impl Iterator<Item = FlowId> + use<> {
        (0..self.flows.len()).map(FlowId::new)
    }

    /// True for a link that appears in the results.
    pub fn reports(&self, link: LinkId) -> bool {
        !self.links[link].private || link == self.bottleneck
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// The name. The reverse direction of `x` is called `x.reverse`. Names order events and seed random streams.
    pub name: String,
    /// Bits per second, or `None` for a pure delay.
    pub rate: Option<Rate>,
    /// Capacity over time, or none if constant.
    pub varies: Option<VariationPlan>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// The queue in front of the transmitter.
    pub queue: QueuePlan,
    /// The inputs of derived parameters.
    pub place: Place,
    /// Its impairments.
    pub impairments: ImpairmentsPlan,
    /// The station's channel in `channels`. `rate` is then the data rate, and `delay` the channel's.
    pub channel: Option<usize>,
    /// True for a link that belongs to one flow (access links, pure delays). It appears in the results only on
    /// request.
    pub private: bool,
}

impl LinkPlan {
    /// The queue in messages.
    pub fn queue_key(&self) -> String {
        format!("queue of link {}", self.name)
    }

    /// Capacity over time until `end`, with these random numbers. None if constant.
    pub fn variation(&self, rngs: RngStreams, end: Instant) -> Option<Variation> {
        let stream = || rngs.stream(&self.name, "rate");
        self.varies.as_ref().zip(self.rate).map(|(plan, rate)| plan.build(rate, end, stream))
    }

    /// The mean of the available capacity within a window, or none for a pure delay.
    pub fn capacity_bps(&self, rngs: RngStreams, window: Range<Instant>) -> Option<f64> {
        match self.variation(rngs, window.end) {
            Some(mut variation) => Some(variation.mean_bps(window.start, window.end)),
            None => self.rate.map(|rate| rate.as_bps() as f64),
        }
    }

    /// The idle link. A station becomes one only after its channel has taken it.
    pub fn build<T: Impairable>(&self, rngs: RngStreams, end: Instant) -> Link<T> {
        let config = LinkConfig {
            rate: self.rate,
            varies: self.variation(rngs, end),
            delay: self.delay,
            impairments: self.impairments.build(|purpose| rngs.stream(&self.name, purpose)),
            histogram: !self.private,
        };
        Link::new(config, self.queue.build(&|purpose| rngs.stream(&self.name, purpose)))
    }
}

/// A channel for which stations contend.
#[derive(Clone, Debug)]
pub struct ChannelPlan {
    /// Its name. Orders events.
    pub name: String,
    /// The timing of the DCF.
    pub dcf: Dcf,
}

/// A meter in front of the queue of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterPlan {
    /// Its name.
    pub name: String,
    /// The link, which flows share.
    pub link: LinkId,
    /// The profile.
    pub profile: Profile,
    /// Whether all its flows share the buckets, or each has its own.
    pub scope: MeterScope,
    /// Whether packets that arrive out of profile are yellow, and not green (colour-aware).
    pub is_aware: bool,
    /// Whether red packets are dropped. Otherwise they are forwarded out of profile, like yellow ones.
    pub drops_red: bool,
}

/// The flows that share a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeterScope {
    /// All flows that point to it, together.
    #[default]
    Aggregate,
    /// Each of them.
    Flow,
}

/// One flow: a sender, a path to its receiver, and a path back for the ACKs.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Unique name, `test.0` for the first of a group `test` with a count. Orders events and seeds its random numbers.
    pub name: Arc<str>,
    /// Name of the group it was declared in.
    pub group: Arc<str>,
    /// Links from the sender to the receiver.
    pub forward: Arc<[LinkId]>,
    /// Links from the receiver to the sender.
    pub reverse: Arc<[LinkId]>,
    /// The algorithm. Flows of a group share it.
    pub cc: Arc<Algorithm>,
    /// The settings of the algorithm. Flows of a group share them.
    pub cc_context: Arc<CcContext>,
    /// Sizes, timers and loss recovery. Flows of a group share them.
    pub transport: Arc<Transport>,
    /// The place of its sender and receiver.
    pub stack: Stack,
    /// The traffic of the application.
    pub traffic: Traffic,
    /// Whether its packets are in profile.
    pub in_profile: bool,
    /// Index of the meter that its data meets, if it meets one.
    pub meter: Option<usize>,
    /// The start of the application, or [`FlowPlan::ON_REQUEST`] to start on request.
    pub start: Instant,
    /// When it stops writing, if before the end of the run.
    pub stop: Option<Instant>,
    /// Propagation of the path and the reverse path.
    pub base_rtt: Duration,
}

impl FlowPlan {
    /// The start of a flow that begins on request.
    pub const ON_REQUEST: Instant = Instant::MAX;

    /// Whether its packets, or its ACKs, cross a link.
    pub(super) fn crosses(&self, link: LinkId) -> bool {
        self.forward.contains(&link) || self.reverse.contains(&link)
    }
}

/// Settings of the kernel of both hosts.
#[derive(Clone, Debug, Default)]
pub struct KernelPlan {
    /// Values of sysctls by name.
    pub sysctls: BTreeMap<String, ForeignValue>,
    /// The flows that are subflows of one connection of Multipath TCP. The first opens it.
    pub subflows: Vec<FlowId>,
    /// Wall-clock time within which a guest answers. The backend has a default.
    pub timeout: Option<Duration>,
}

/// The place of a flow's sender and receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// The transport of the backend.
    #[default]
    Backend,
    /// The simulation, with any backend.
    Simulated,
    /// Outside of the simulation: a backend sets it for the flows of its own transport.
    Outside,
}

/// A group of transfers that arrive as a Poisson process.
#[derive(Clone, Debug)]
pub struct ArrivalsPlan {
    /// Name of the group.
    pub name: String,
    /// Connections that carry one transfer at a time. Their traffic is [`Traffic::Slot`].
    pub slots: Vec<FlowPlan>,
    /// Mean time between two arrivals.
    pub every: Duration,
    /// A mean that alternates with `every`, and the time for which each holds.
    pub alternating: Option<(Duration, Duration)>,
    /// Payload of a transfer.
    pub size: Distribution,
    /// Nothing arrives before.
    pub start: Instant,
    /// Nothing arrives from then on, if before the end of the run.
    pub stop: Option<Instant>,
}

/// Datagrams of one flow or of a population of sources, as a row of the results.
#[derive(Clone, Debug)]
pub struct DatagramPlan {
    /// The name, for a population the group's.
    pub name: String,
    /// Name of the group it was declared in.
    pub group: String,
    /// The largest packet in bytes on the wire.
    pub packet: u32,
    /// Whether its packets are in profile.
    pub in_profile: bool,
    /// Index of the meter that they meet, if they meet one.
    pub meter: Option<usize>,
    /// When packets leave.
    pub emission: Emission,
    /// Nothing is sent before.
    pub start: Instant,
    /// Nothing is sent from then on, if before the end of the run.
    pub stop: Option<Instant>,
    /// The origins of packets. Only a population has several.
    pub sources: Vec<SourcePlan>,
}

/// One source of datagrams.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Unique name. Orders events and seeds its random numbers.
    pub name: String,
    /// Links to the receiver.
    pub forward: Arc<[LinkId]>,
}

impl DatagramPlan {
    /// The rate that is left to others until `end`.
    pub fn leaves(&self, end: Instant, rngs: &RngStreams) -> Option<Variation> {
        let (plan, most) = match &self.emission {
            Emission::Cbr { rate, leaves: Some(leaves), .. } => (leaves, *rate),
            Emission::Population { population, leaves } => (leaves, population.capacity),
            Emission::Cbr { leaves: None, .. } | Emission::OnOff(_) | Emission::Rtp { .. } => return None,
        };
        Some(plan.build(most, end, || rngs.stream(&self.name, "leaves")))
    }
}

/// When datagrams leave. Rates are those on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// At a constant rate less `leaves`.
    Cbr {
        /// Bits per second.
        rate: Rate,
        /// Time between packets.
        spacing: Spacing,
        /// A rate that is subtracted.
        leaves: Option<VariationPlan>,
    },
    /// In bursts.
    OnOff(OnOffPlan),
    /// A frame at even intervals.
    Rtp {
        /// Bits per second.
        rate: Rate,
        /// Time between frames.
        interval: Duration,
        /// A packet that takes longer is of no use.
        deadline: Duration,
    },
    /// From a population of sources, for fair queueing.
    Population {
        /// The sources and their rates.
        population: SourcePopulation,
        /// The rate that is left to others.
        leaves: VariationPlan,
    },
}

impl Emission {
    /// Its name in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            Emission::Cbr { .. } => "cbr",
            Emission::OnOff(_) => "on-off",
            Emission::Rtp { .. } => "rtp",
            Emission::Population { .. } => "population",
        }
    }

    /// The longest delay of a packet that is of use.
    pub fn deadline(&self) -> Option<Duration> {
        match self {
            Emission::Rtp { deadline, .. } => Some(*deadline),
            Emission::Cbr { .. } | Emission::OnOff(_) | Emission::Population { .. } => None,
        }
    }
}

/// Time between packets of a constant rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Always the same.
    #[default]
    Even,
    /// Exponential: packets are a Poisson process.
    Exponential,
}

/// Bursts at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOffPlan {
    /// Bits per second in a burst.
    pub rate: Rate,
    /// How long a burst is.
    pub on: Distribution,
    /// How long the pause after it is.
    pub off: Distribution,
}

/// The captured packets of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// The place.
    pub point: CapturePoint,
    /// Names of flows, groups and sources of datagrams, or empty for all packets.
    pub flows: Vec<String>,
    /// Whether the states of senders and the losses are also captured.
    pub senders: bool,
}

/// The place of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// The senders: departing and arriving packets.
    Sender,
    /// The receivers.
    Receiver,
    /// Where this link ends, and the link of the other direction begins.
    Link(LinkId),
}

/// The samples over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Time between two samples, or `None` for no samples.
    pub interval: Option<Duration>,
    /// How many flows, in the order of declaration.
    pub max_flows: usize,
    /// Whether every packet is traced at every link, and every change of a window.
    pub packets: bool,
}

/// The vectors of a plan, by the index of their elements.
macro_rules! indexed {
    ($($index:ident => $element:ident;)*) => {
        $(
            impl Index<$index> for Vec<$element> {
                type Output = $element;

                #[inline]
                fn index(&self, index: $index) -> &$element {
                    &self[index.number()]
                }
            }

            impl IndexMut<$index> for Vec<$element> {
                fn index_mut(&mut self, index: $index) -> &mut $element {
                    &mut self[index.number()]
                }
            }
        )*
    };
}

indexed! {
    FlowId => FlowPlan;
    LinkId => LinkPlan;
}
