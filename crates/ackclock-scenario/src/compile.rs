//! From the document to the plan of one run: private links, drawn values, limits in packets.

use std::sync::Arc;

use super::channel::Channel;
use super::distribution::Times;
use super::drawn::DrawnNetwork;
use super::meters;
use super::network::Access;
use super::places::{groups, place_of_access, places};
use super::schema::{Document, Flow};
use super::subflows::subflows;
use super::topology::{Network, Route};
use super::traffic::{SpacingName, TrafficKeys};
use ackclock::cc::{Algorithm, CcContext};
use ackclock::qdisc::{Groups, Place, QueuePlan, QueueSpec};
use ackclock::quantity::SendJitter;
use ackclock::rng::RngStreams;
use ackclock::sim::{
    AbrPlan, ArrivalsPlan, ChannelPlan, DatagramPlan, Emission, FlowPlan, InteractivePlan, KernelPlan, LinkId,
    LinkPlan, OnOffPlan, PagePlan, Plan, Sampling, SourcePlan, SourcePopulation, Spacing, Traffic, VideoPlan, WebPlan,
};
use ackclock::transport::Transport;
use ackclock::units::{Duration, Instant};

/// The plan of one replicate, with the first `most` flows of each group.
pub fn compile(document: &Document, network: &Network, rngs: RngStreams, most: u32) -> Plan {
    let drawn = DrawnNetwork::new(document.replicates.unwrap_or_default(), rngs);
    let mut plan = Plan {
        seed: rngs.root(),
        duration: document.duration,
        warmup: document.warmup,
        links: shared_links(document, network, &drawn),
        channels: channels(document),
        flows: Vec::new(),
        arrivals: Vec::new(),
        datagrams: Vec::new(),
        groups: groups(document),
        meters: meters::plans(document, network),
        bottleneck: network.bottleneck,
        sampling: Sampling {
            interval: document.sampling_interval(),
            max_flows: usize::try_from(document.sampling.flows).unwrap_or(usize::MAX),
            packets: document.sampling.packets,
        },
        capture: None,
        kernel: document.kernel.as_ref().map_or_else(KernelPlan::default, |keys| KernelPlan {
            sysctls: keys.sysctl.clone(),
            subflows: Vec::new(),
            timeout: keys.timeout,
        }),
    };
    let groups = plan.groups.clone();
    for (flow, route) in document.flows.iter().zip(&network.routes) {
        let meter = meters::index(document, flow);
        let group_name: Arc<str> = flow.name.as_str().into();
        let cc = flow.cc.clone().map(Arc::<Algorithm>::from);
        let cc_context = Arc::new(flow.transport.cc_context());
        let transport = Arc::new(Transport { ecn: flow.ecn(), ..flow.transport.transport(flow.recovery) });
        let path_rtt = drawn.path_rtt(route, network);
        let around = Around { network, drawn: &drawn, groups: &groups, path_rtt, rngs };
        let group = (0..flow.count.min(most)).map(|number| {
            let name = if flow.count == 1 { flow.name.clone() } else { format!("{}.{number}", flow.name) };
            let (group, cc, cc_context) = (group_name.clone(), cc.clone(), cc_context.clone());
            SingleFlow { flow, route, around, name, group, cc, cc_context, transport: transport.clone(), meter }
        });
        match (&flow.traffic, emission(flow)) {
            (TrafficKeys::Arrivals { every, alternating, size }, _) => {
                let slots = group.map(|single| single.add_to(&mut plan)).collect();
                plan.arrivals.push(ArrivalsPlan {
                    name: flow.name.clone(),
                    slots,
                    every: *every,
                    alternating: alternating.map(|alternating| (alternating.every, alternating.interval)),
                    size: size.distribution(),
                    start: start_of(flow, &flow.name, rngs),
                    stop: stop_of(flow),
                });
            }
            (TrafficKeys::Population { .. }, Some(emission)) => {
                let sources = group.map(|single| single.add_source_to(&mut plan)).collect();
                let start = start_of(flow, &flow.name, rngs);
                plan.datagrams.push(datagrams(flow, &flow.name, meter, emission, start, sources));
            }
            (_, Some(emission)) => {
                for single in group {
                    let (start, name) = (start_of(flow, &single.name, rngs), single.name.clone());
                    let source = single.add_source_to(&mut plan);
                    plan.datagrams.push(datagrams(flow, &name, meter, emission.clone(), start, vec![source]));
                }
            }
            _ => {
                for single in group {
                    let flow = single.add_to(&mut plan);
                    plan.flows.push(flow);
                }
            }
        }
    }
    plan.kernel.subflows = subflows(document, &plan.flows);
    plan
}

/// A row of datagrams of a group, from these sources.
fn datagrams(
    flow: &Flow,
    name: &str,
    meter: Option<usize>,
    emission: Emission,
    start: Instant,
    sources: Vec<SourcePlan>,
) -> DatagramPlan {
    DatagramPlan {
        name: name.to_owned(),
        group: flow.name.clone(),
        packet: flow.packet_bytes() as u32,
        in_profile: flow.in_profile,
        meter,
        emission,
        start,
        stop: stop_of(flow),
        sources,
    }
}

/// When the application of `name` starts, which may be a flow or a group.
fn start_of(flow: &Flow, name: &str, rngs: RngStreams) -> Instant {
    Instant::ZERO + flow.start.draw(&mut rngs.stream(name, "start"))
}

fn stop_of(flow: &Flow) -> Option<Instant> {
    flow.stop.map(|stop| Instant::ZERO + stop)
}

/// Queue limits follow from the network in the file, so all replicates have the same buffers.
fn shared_links(document: &Document, network: &Network, drawn: &DrawnNetwork) -> Vec<LinkPlan> {
    let links = network.numbered_links().zip(places(document, network));
    links
        .map(|((index, link), place)| LinkPlan {
            name: link.name.clone(),
            rate: link.rate.map(|rate| if link.channel.is_some() { rate } else { drawn.rate(rate) }),
            varies: link
                .variation()
                .transpose()
                .unwrap_or_else(|(key, problem)| panic!("invariant: rates that vary were checked, {key}: {problem}"))
                .map(|plan| drawn.variation(plan)),
            delay: drawn.link_delay(index, network),
            queue: queue_plan(&link.queue, &place),
            place,
            impairments: link.impairments.plan(link.delay),
            channel: link.channel,
            private: false,
        })
        .collect()
}

fn channels(document: &Document) -> Vec<ChannelPlan> {
    let plan = |(name, channel): (&String, &Channel)| ChannelPlan {
        name: name.clone(),
        dcf: channel
            .plan()
            .unwrap_or_else(|(key, problem)| panic!("invariant: channels were checked, {key}: {problem}")),
    };
    document.channels.iter().map(plan).collect()
}

/// The plan of a queue that was checked.
fn queue_plan(queue: &QueueSpec, place: &Place) -> QueuePlan {
    queue.plan(place).unwrap_or_else(|(key, problem)| panic!("invariant: queues were checked, {key}: {problem}"))
}

/// How many links each flow of a group has for itself.
pub fn private_links(document: &Document, flow: &Flow, route: &Route, network: &Network) -> u64 {
    let is_drawn = document.replicates.is_some_and(|replicates| replicates.rtt > 0.0) && !route.mean_rtt.is_zero();
    let is_longer = is_drawn || flow.rtt.is_some_and(|rtt| rtt.max() > route.path_rtt);
    match (network.access.is_some(), flow.is_tcp()) {
        (true, true) => 4,
        (true, false) => 2,
        (false, true) => {
            if is_longer || !flow.transport.send_jitter.is_zero() {
                2
            } else {
                0
            }
        }
        (false, false) => u64::from(is_longer),
    }
}

/// The path of a flow, shared with its group if both are equal.
fn shared(path: Vec<LinkId>, of_group: &Arc<[LinkId]>) -> Arc<[LinkId]> {
    if *path == **of_group { of_group.clone() } else { path.into() }
}

/// The network of a replicate, around a group of flows.
#[derive(Clone, Copy)]
struct Around<'a> {
    network: &'a Network,
    drawn: &'a DrawnNetwork,
    groups: &'a Groups,
    /// Propagation of its path there and back.
    path_rtt: Duration,
    rngs: RngStreams,
}

/// One flow of a group.
struct SingleFlow<'a> {
    flow: &'a Flow,
    route: &'a Route,
    around: Around<'a>,
    name: String,
    group: Arc<str>,
    cc: Option<Arc<Algorithm>>,
    cc_context: Arc<CcContext>,
    transport: Arc<Transport>,
    meter: Option<usize>,
}

impl SingleFlow<'_> {
    fn base_rtt(&self) -> Duration {
        let Around { drawn, path_rtt, rngs, .. } = self.around;
        let wanted = match &self.flow.rtt {
            Some(rtt) => rtt.draw(&mut rngs.stream(&self.name, "rtt")),
            None => self.route.path_rtt,
        };
        drawn.base_rtt(&self.name, wanted, path_rtt)
    }

    /// Adds the private links of the flow, and returns it as a TCP flow.
    fn add_to(self, plan: &mut Plan) -> FlowPlan {
        let Around { network, path_rtt, rngs, .. } = self.around;
        let start = start_of(self.flow, &self.name, rngs);
        let base_rtt = self.base_rtt();
        let missing = base_rtt - path_rtt;
        let jitter = self.send_jitter(network);
        let needs_source = network.access.is_some() || !missing.is_zero() || !jitter.is_zero();

        let mut forward = Vec::new();
        let mut reverse = self.route.reverse.to_vec();
        let out = missing / 2;
        if needs_source {
            forward.push(LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("source", out, jitter));
            reverse.push(LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("source.reverse", missing - out, Duration::ZERO));
        }
        forward.extend(&*self.route.forward);
        if network.access.is_some() {
            forward.push(LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("destination", Duration::ZERO, Duration::ZERO));
            reverse.insert(0, LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("destination.reverse", Duration::ZERO, Duration::ZERO));
        }

        FlowPlan {
            name: self.name.into(),
            group: self.group,
            forward: shared(forward, &self.route.forward),
            reverse: shared(reverse, &self.route.reverse),
            cc: self.cc.expect("invariant: a flow of TCP has an algorithm"),
            cc_context: self.cc_context,
            transport: self.transport,
            stack: self.flow.stack.into(),
            traffic: traffic(&self.flow.traffic),
            in_profile: self.flow.in_profile,
            meter: self.meter,
            start,
            stop: stop_of(self.flow),
            base_rtt,
        }
    }

    /// Adds the private links of the flow, and returns it as a source of datagrams, which has no reverse path.
    fn add_source_to(self, plan: &mut Plan) -> SourcePlan {
        let Around { network, path_rtt, .. } = self.around;
        let out = (self.base_rtt() - path_rtt) / 2;
        let mut forward = Vec::new();
        if network.access.is_some() || !out.is_zero() {
            forward.push(LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("source", out, Duration::ZERO));
        }
        forward.extend(&*self.route.forward);
        if network.access.is_some() {
            forward.push(LinkId::new(plan.links.len()));
            plan.links.push(self.private_link("destination", Duration::ZERO, Duration::ZERO));
        }
        SourcePlan { name: self.name, forward: shared(forward, &self.route.forward) }
    }

    /// A link that only this flow crosses: an access link, or a pure delay where there is none.
    fn private_link(&self, part: &str, extra: Duration, jitter: Duration) -> LinkPlan {
        let Around { network, drawn, groups, .. } = self.around;
        let pure_delay = Access::default();
        let access = network.access.as_ref().unwrap_or(&pure_delay);
        let place = place_of_access(self.flow, self.route, access, groups, part.ends_with("reverse"));
        let mut impairments = access.impairments.plan(access.delay);
        if !jitter.is_zero() {
            impairments.jitter = jitter;
        }
        LinkPlan {
            name: format!("{}.{part}", self.name),
            rate: access.rate.map(|rate| drawn.rate(rate)),
            varies: None,
            delay: drawn.delay(access.delay) + extra,
            queue: queue_plan(&access.queue, &place),
            place,
            impairments,
            channel: None,
            private: true,
        }
    }

    fn send_jitter(&self, network: &Network) -> Duration {
        match self.flow.transport.send_jitter {
            SendJitter::Time(length) => length,
            SendJitter::Packets(packets) => {
                let packet = network
                    .link(network.bottleneck)
                    .rate
                    .map_or(Duration::ZERO, |rate| rate.transmission(self.flow.transport.data_packet_bytes()).0);
                packet.mul_f64_floor(packets)
            }
        }
    }
}

fn traffic(keys: &TrafficKeys) -> Traffic {
    match keys {
        TrafficKeys::Bulk => Traffic::Bulk,
        TrafficKeys::Transfer { size } => Traffic::Transfer { bytes: size.0 },
        TrafficKeys::RateLimited { rate } => Traffic::RateLimited { rate: *rate },
        TrafficKeys::Web { think, request, response } => Traffic::Web(Box::new(WebPlan {
            think: think.distribution(),
            // Validation bounds it by the largest packet.
            request: request.0 as u32,
            response: response.distribution(),
        })),
        TrafficKeys::Page { objects, html, object, think, request } => Traffic::Page(Box::new(PagePlan {
            document: html.distribution(),
            objects: *objects,
            object: object.distribution(),
            think: think.distribution(),
            request: request.0 as u32,
        })),
        TrafficKeys::Abr { ladder, chunk, buffer, startup, adaptation, request } => Traffic::Abr(Box::new(AbrPlan {
            ladder: ladder.clone(),
            chunk: *chunk,
            buffer: *buffer,
            startup: startup.unwrap_or(*chunk),
            adaptation: adaptation.adaptation(*chunk, *buffer),
            request: request.0 as u32,
        })),
        TrafficKeys::Interactive { every, size } => {
            let (every, size) = (every.distribution(), size.distribution());
            Traffic::Interactive(Box::new(InteractivePlan { every, size, deadline: None }))
        }
        TrafficKeys::Chunks { size, interval, deadline } => Traffic::Interactive(Box::new(InteractivePlan {
            every: Times::Fixed(*interval).distribution(),
            size: size.distribution(),
            deadline: Some(*deadline),
        })),
        TrafficKeys::Video {
            frame_rate,
            min_rate,
            max_rate,
            start_rate,
            steps,
            reaction,
            burst_frames,
            key_size,
            key_interval,
            interval_variation,
            size_variation,
            deadline,
        } => Traffic::Video(Box::new(VideoPlan {
            interval: Duration::from_secs_f64_round(1.0 / frame_rate),
            min_rate: *min_rate,
            max_rate: *max_rate,
            start_rate: *start_rate,
            steps: steps.clone(),
            reaction: *reaction,
            burst_frames: *burst_frames,
            key_size: *key_size,
            key_interval: *key_interval,
            interval_variation: *interval_variation,
            size_variation: *size_variation,
            deadline: *deadline,
        })),
        TrafficKeys::Arrivals { .. } => Traffic::Slot,
        TrafficKeys::Cbr { .. }
        | TrafficKeys::Population { .. }
        | TrafficKeys::OnOff { .. }
        | TrafficKeys::Rtp { .. } => {
            unreachable!("invariant: datagrams are no flow of TCP")
        }
    }
}

/// When datagrams leave, for traffic that consists of them.
fn emission(flow: &Flow) -> Option<Emission> {
    let leaves = flow.traffic.leaves().map(|leaves| {
        leaves.unwrap_or_else(|(key, problem)| panic!("invariant: what is left was checked, {key}: {problem}"))
    });
    match &flow.traffic {
        TrafficKeys::Cbr { rate, spacing, .. } => Some(Emission::Cbr {
            rate: *rate,
            spacing: match spacing {
                SpacingName::Even => Spacing::Even,
                SpacingName::Exponential => Spacing::Exponential,
            },
            leaves,
        }),
        TrafficKeys::Population { capacity, beside, .. } => {
            let population = SourcePopulation { capacity: *capacity, beside: *beside, count: flow.count };
            leaves.map(|leaves| Emission::Population { population, leaves })
        }
        TrafficKeys::OnOff { rate, on, off, .. } => {
            Some(Emission::OnOff(OnOffPlan { rate: *rate, on: on.distribution(), off: off.distribution() }))
        }
        TrafficKeys::Rtp { rate, interval, deadline, .. } => {
            Some(Emission::Rtp { rate: *rate, interval: *interval, deadline: *deadline })
        }
        TrafficKeys::Bulk
        | TrafficKeys::Transfer { .. }
        | TrafficKeys::RateLimited { .. }
        | TrafficKeys::Arrivals { .. }
        | TrafficKeys::Web { .. }
        | TrafficKeys::Page { .. }
        | TrafficKeys::Abr { .. }
        | TrafficKeys::Interactive { .. }
        | TrafficKeys::Chunks { .. }
        | TrafficKeys::Video { .. } => None,
    }
}
