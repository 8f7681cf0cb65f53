//! The run: events, and how a packet gets from hop to hop.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Interrupted;
use super::components::{Component, Components};
use super::datagram::{Row, Stream};
use super::measure::Measurement;
use super::packet::{Bodies, Body, Flags, Packet};
use super::plan::{FlowPlan, LinkPlan, Plan};
use super::result::{RunResult, Totals, Volume};
use super::sampler::Sampler;
use super::source::Application;
use super::trace::Tracer;
use super::transfer::{Group, Slot, TransferLog};
use crate::cc::{Cc, CongestionControl};
use crate::engine::{ComponentId, EventQueue};
use crate::link::{Link, LinkConfig};
use crate::luck::Luck;
use crate::probe::PacketEvent;
use crate::qdisc::{Ecn, Verdict};
use crate::tcp::{AckSegment, EcnFeedback, Receiver, Sender};
use crate::units::Instant;

/// Events between two looks at the stop flag.
const EVENTS_PER_CHECK: u64 = 1 << 16;
/// The TCP option that carries timestamps, padded (RFC 7323 appendix A).
const TIMESTAMPS_LEN: u32 = 12;
/// The SACK option: two bytes of kind and length, two of padding, eight a block (RFC 2018 §3).
const SACK_OPTION_LEN: u32 = 4;
const SACK_BLOCK_LEN: u32 = 8;
/// The AccECN option with two counters (RFC 9768 §3.2.3).
const ACCECN_OPTION_LEN: u32 = 8;

/// A link as a simulation uses it.
pub(super) type Packets = Link<Packet>;

/// Makes the algorithm of a flow.
pub type BuildCc<'plan> = &'plan mut dyn FnMut(&FlowPlan) -> Cc;

/// A run in progress.
pub struct Simulation<'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) build_cc: BuildCc<'plan>,
    pub(super) events: EventQueue,
    pub(super) components: Components,
    /// In the order of their component numbers, as the flows.
    pub(super) links: Vec<Packets>,
    pub(super) flows: Vec<Flow>,
    /// In the order of the plan.
    pub(super) groups: Vec<Group>,
    /// Sources of datagrams, in the order of their component numbers, and the rows of results they belong to, in the
    /// order of the plan. The flows of datagrams are numbered behind those of TCP.
    pub(super) streams: Vec<Stream>,
    pub(super) rows: Vec<Row>,
    /// Where each link of the plan stands in `links`, and each TCP flow in `flows`.
    pub(super) link_rank: Vec<usize>,
    pub(super) flow_rank: Vec<usize>,
    /// All routes, one behind the other.
    hops: Vec<Hop>,
    /// For each of `links`: whether what it delivers enters private links that nothing else feeds. Such deliveries
    /// are handed over ahead of time, without an event.
    hands_over: Vec<bool>,
    bodies: Bodies,
    /// Packets that entered the network, and those that came to the end of their route, unharmed or corrupted.
    entered: Volume,
    arrived: Volume,
    corrupted: Volume,
    sampler: Sampler,
    tracer: Option<Box<Tracer>>,
    measurement: Measurement,
    events_handled: u64,
}

/// A sender, its application, and its receiver.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) application: Application,
    forward: Route,
    reverse: Route,
    /// Bytes on the wire beyond the payload.
    data_overhead: u32,
    ack_len: u32,
    /// Of every packet that sets out.
    flags: Flags,
    /// What goes before the first byte of this connection: sequence numbers on the wire go on where a slot is used again.
    pub(super) base: u64,
    /// The client waits until so many bytes have come.
    pub(super) awaited: u64,
    /// Packets of either direction that arrived corrupted.
    pub(super) corrupted: u64,
    /// When everything was acknowledged, and the integral of cwnd up to then.
    pub(super) finished: Option<(Instant, f64)>,
    /// When the transfer of a slot began.
    pub(super) started: Instant,
    pub(super) slot: Option<Slot>,
    /// Answers to requests.
    pub(super) log: TransferLog,
}

/// What a new packet has beside its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cover {
    /// Whose it is: a flow, or behind all flows a source of datagrams.
    pub(super) index: usize,
    pub(super) route: Route,
    pub(super) flags: Flags,
    pub(super) ecn: Ecn,
    pub(super) wire_len: u32,
}

/// A step of a route.
#[derive(Clone, Copy, Debug)]
enum Hop {
    /// Over this link.
    Link(u32),
    /// The packet has arrived.
    End,
}

/// Index of the first hop of a route.
pub(super) type Route = u32;

impl<'plan> Simulation<'plan> {
    /// A run at its start; `build_cc` makes the algorithm of each flow.
    pub fn new(plan: &'plan Plan, build_cc: BuildCc<'plan>) -> Self {
        let luck = Luck::from_root(plan.seed);
        let link_order = order_by_key(&luck, plan.links.iter().map(|link| link.name.as_str()));
        let tcp_flows: Vec<&FlowPlan> = plan.tcp_flows().collect();
        let flow_order = order_by_key(&luck, tcp_flows.iter().map(|flow| flow.name.as_str()));
        let (link_rank, flow_rank) = (ranks(&link_order), ranks(&flow_order));
        let sources = numbered_sources(plan, &luck);
        let components = Components {
            links: link_order.len() as u32,
            flows: flow_order.len() as u32,
            groups: plan.arrivals.len() as u32,
            streams: sources.len() as u32,
        };
        let mut hops = Vec::new();
        let end = Instant::ZERO + plan.duration;
        let links: Vec<_> = link_order.iter().map(|index| build_link(&plan.links[*index], luck, end)).collect();
        let mut route = |path: &[usize]| {
            let first = hops.len() as Route;
            hops.extend(path.iter().map(|link| Hop::Link(link_rank[*link] as u32)));
            hops.push(Hop::End);
            first
        };
        let mut flows: Vec<Flow> = flow_order
            .iter()
            .map(|index| {
                let flow = tcp_flows[*index];
                let (forward, reverse) = (route(&flow.forward), route(&flow.reverse));
                let flags = Flags::new(luck.key(&flow.name), flow.in_profile);
                Flow::new(flow, flags, Application::new(flow, &luck), build_cc(flow), [forward, reverse])
            })
            .collect();
        let streams: Vec<Stream> = sources
            .iter()
            .map(|(row, number)| {
                Stream::new(plan, *row, *number, route(&plan.datagrams[*row].sources[*number].forward))
            })
            .collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut first = plan.flows.len();
        for (index, arrivals) in plan.arrivals.iter().enumerate() {
            let group = Group::new(arrivals, first, &flow_rank, &luck);
            for (flow, slot) in group.slots(index) {
                flows[flow].slot = Some(slot);
            }
            groups.push(group);
            first += arrivals.slots.len();
        }
        let reported: Vec<_> = link_order.iter().map(|index| plan.reports(*index)).collect();
        let mut hands_over = hand_overs(&reported, &hops);
        for (hands_over, link) in hands_over.iter_mut().zip(&links) {
            *hands_over &= !link.reorders();
        }
        let mut events = EventQueue::new(components.count());
        let applications = flows.iter().map(|flow| flow.application.next_deadline()).enumerate();
        let arrivals = groups.iter().map(Group::next_deadline).enumerate();
        let emissions = streams.iter().map(Stream::next_deadline).enumerate();
        let deadlines = applications
            .map(|(index, at)| (components.application(index), at))
            .chain(arrivals.map(|(index, at)| (components.arrivals(index), at)))
            .chain(emissions.map(|(index, at)| (components.source(index), at)));
        for (component, at) in deadlines {
            if let Some(at) = at {
                events.schedule(component, at);
            }
        }
        events.schedule(components.warmup(), Instant::ZERO + plan.warmup);
        if plan.sampling.interval.is_some() {
            events.schedule(components.sampling(), Instant::ZERO);
        }
        Simulation {
            plan,
            build_cc,
            events,
            components,
            links,
            flows,
            groups,
            streams,
            rows: plan.datagrams.iter().map(Row::new).collect(),
            link_rank,
            flow_rank,
            hops,
            hands_over,
            bodies: Bodies::default(),
            entered: Volume::default(),
            arrived: Volume::default(),
            corrupted: Volume::default(),
            sampler: Sampler::new(plan),
            tracer: plan
                .sampling
                .packets
                .then(|| Box::new(Tracer::new(components.flows as usize + components.streams as usize))),
            measurement: Measurement::default(),
            events_handled: 0,
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`Interrupted`], soon after `stop` became true.
    pub fn run(mut self, stop: &AtomicBool) -> Result<RunResult, Interrupted> {
        let end = Instant::ZERO + self.plan.duration;
        while let Some((now, id)) = self.events.peek().filter(|(now, _)| *now <= end) {
            self.events_handled += 1;
            if self.events_handled.is_multiple_of(EVENTS_PER_CHECK) && stop.load(Ordering::Relaxed) {
                return Err(Interrupted);
            }
            match self.components.component(id) {
                Component::Link(link) => self.on_link(now, id, link),
                Component::SenderTimer(index) => {
                    self.events.finish(id, None);
                    self.flows[index].sender.on_deadline(now);
                    self.trace_window(now, index);
                    self.send_all(now, index);
                }
                Component::Application(index) => {
                    let flow = &mut self.flows[index];
                    let request = flow.application.on_deadline(now, &mut flow.sender);
                    self.events.finish(id, flow.application.next_deadline());
                    if let Some(number) = request {
                        self.send_request(now, index, number);
                    }
                    self.send_all(now, index);
                }
                Component::Arrivals(index) => {
                    let flow = self.arrive(now, index);
                    self.events.finish(id, self.groups[index].next_deadline());
                    if let Some(flow) = flow {
                        self.send_all(now, flow);
                    }
                }
                Component::Source(index) => self.emit(now, id, index),
                Component::ReceiverTimer(index) => {
                    self.events.finish(id, None);
                    if let Some(ack) = self.flows[index].receiver.on_deadline(now) {
                        self.send_ack(now, index, ack);
                    }
                    self.schedule_receiver(index);
                }
                Component::Warmup => {
                    self.events.finish(id, None);
                    self.advance_links(now);
                    self.measurement = Measurement::begin(&mut self, now);
                }
                Component::Sampling => {
                    self.advance_links(now);
                    let next = self.sampler.sample(now, &self.flows, &self.links, &self.flow_rank, &self.link_rank);
                    self.events.finish(id, Some(next));
                }
            }
        }
        self.advance_links(end);
        let mut samples = std::mem::take(&mut self.sampler).into_samples();
        if let Some(tracer) = self.tracer.take() {
            let streams: Vec<_> = self.streams.iter().map(|stream| stream.name(self.plan)).collect();
            samples.trace = tracer.into_table(self.plan, &self.flow_rank, &streams, &self.link_rank);
        }
        let measurement = std::mem::take(&mut self.measurement);
        Ok(measurement.finish(self.plan, &mut self, samples))
    }

    /// Events handled so far.
    pub(super) fn events_handled(&self) -> u64 {
        self.events_handled
    }

    /// Where everything is that was ever sent.
    pub(super) fn totals(&self) -> Totals {
        let mut totals =
            Totals { sent: self.entered, delivered: self.arrived, corrupted: self.corrupted, ..Totals::default() };
        for link in &self.links {
            let counters = link.counters();
            let ((waiting, waiting_bytes), (flying, flying_bytes)) = (link.backlog(), link.in_transit());
            totals.dropped += Volume { packets: counters.drops, bytes: counters.dropped_bytes };
            totals.lost += Volume { packets: counters.losses, bytes: counters.lost_bytes };
            totals.duplicated += Volume { packets: counters.duplicates, bytes: counters.duplicated_bytes };
            totals.in_flight +=
                Volume { packets: u64::from(waiting) + flying as u64, bytes: waiting_bytes + flying_bytes };
        }
        totals
    }

    /// A link is due.
    #[inline]
    fn on_link(&mut self, now: Instant, id: ComponentId, link: usize) {
        if self.hands_over[link] {
            self.events.finish(id, None);
            self.links[link].advance(now);
            return self.hand_over(link);
        }
        let state = &mut self.links[link];
        let arrived = state.poll(now);
        self.events.finish(id, state.next_deadline());
        let is_impaired = state.is_impaired();
        if let Some(mut packet) = arrived {
            if is_impaired {
                self.harm(&mut packet);
            }
            self.trace(now, link as u32, &packet, PacketEvent::Leave);
            self.forward(now, packet);
        }
        if is_impaired {
            self.forget_lost(link);
        }
    }

    /// Everything under way on a link enters the links behind it, which nothing else feeds.
    fn hand_over(&mut self, link: usize) {
        let is_impaired = self.links[link].is_impaired();
        while let Some((at, mut packet)) = self.links[link].take_ahead() {
            if is_impaired {
                self.harm(&mut packet);
            }
            self.trace(at, link as u32, &packet, PacketEvent::Leave);
            self.forward(at, packet);
        }
        if let Some(commitment) = self.links[link].next_commitment() {
            self.events.schedule(self.components.link(link as u32), commitment);
        }
        if is_impaired {
            self.forget_lost(link);
        }
    }

    /// A packet comes out of an impaired link.
    #[cold]
    fn harm(&mut self, packet: &mut Packet) {
        let harm = packet.flags.take_harm();
        if harm.is_doubled() {
            let shared = packet.body;
            packet.body = self.bodies.keep_copy(shared);
            if let Some(tracer) = &mut self.tracer {
                tracer.doubled(shared, packet.body);
            }
        }
        if harm.is_corrupted() {
            self.bodies.corrupt(packet.body);
        }
    }

    #[inline]
    fn forget_lost(&mut self, link: usize) {
        while let Some((at, packet)) = self.links[link].take_lost() {
            self.trace(at, link as u32, &packet, PacketEvent::Lose);
            self.bodies.take(packet.body);
        }
    }

    /// A packet enters the next link of its route, or has reached its end.
    #[inline]
    fn forward(&mut self, now: Instant, packet: Packet) {
        match self.hops[packet.next_hop as usize] {
            Hop::Link(link) => {
                let packet = Packet { next_hop: packet.next_hop + 1, ..packet };
                self.trace(now, link, &packet, PacketEvent::Enter);
                match self.links[link as usize].enqueue(now, packet) {
                    Verdict::Queued | Verdict::Marked(_) => {}
                    Verdict::Dropped(_) => self.drop_at(now, link, packet),
                    Verdict::Evicting => self.drop_evicted(now, link),
                }
                if self.hands_over[link as usize] {
                    self.hand_over(link as usize);
                } else if let Some(deadline) = self.links[link as usize].next_deadline() {
                    self.events.schedule(self.components.link(link), deadline);
                }
            }
            Hop::End => self.on_arrival(now, packet),
        }
    }

    /// The queue of a link has dropped packets for another one.
    #[cold]
    fn drop_evicted(&mut self, now: Instant, link: u32) {
        while let Some(evicted) = self.links[link as usize].take_evicted() {
            self.drop_at(now, link, evicted);
        }
    }

    /// The queue of a link has dropped a packet.
    #[cold]
    fn drop_at(&mut self, now: Instant, link: u32, packet: Packet) {
        self.trace(now, link, &packet, PacketEvent::Drop);
        self.bodies.take(packet.body);
    }

    /// A packet has reached the end of its route.
    #[inline]
    fn on_arrival(&mut self, now: Instant, packet: Packet) {
        let index = packet.flow as usize;
        match self.bodies.take(packet.body) {
            Body::Data(mut segment) => {
                self.arrived.add(packet.wire_len);
                let flow = &mut self.flows[index];
                let Some(seq) = segment.seq.checked_sub(flow.base) else { return };
                segment.seq = seq;
                match flow.receiver.on_data(now, &segment, packet.ecn == Ecn::Ce) {
                    Some(ack) => self.send_ack(now, index, ack),
                    None => self.schedule_receiver(index),
                }
                let flow = &self.flows[index];
                if flow.receiver.delivered() >= flow.awaited {
                    self.on_response(now, index);
                }
            }
            Body::Ack(mut ack) => {
                self.arrived.add(packet.wire_len);
                let flow = &mut self.flows[index];
                let Some(next) = ack.ack.checked_sub(flow.base) else { return };
                ack.ack = next;
                flow.sender.on_ack(now, &ack);
                if flow.finished.is_none() && flow.sender.is_done() {
                    self.on_done(now, index);
                }
                self.trace_window(now, index);
                self.send_all(now, index);
            }
            Body::Datagram(datagram) => {
                self.arrived.add(packet.wire_len);
                self.on_datagram(now, index - self.flows.len(), &datagram);
            }
            Body::Request { number, .. } => {
                self.arrived.add(packet.wire_len);
                self.on_request(now, index, number);
            }
            Body::Corrupted { .. } => self.discard(now, packet),
        }
    }

    /// A checksum is wrong.
    #[cold]
    fn discard(&mut self, now: Instant, packet: Packet) {
        self.corrupted.add(packet.wire_len);
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            flow.corrupted += 1;
        }
        if let Hop::Link(link) = self.hops[packet.next_hop as usize - 1] {
            self.trace(now, link, &packet, PacketEvent::Discard);
        }
    }

    /// Sends whatever the sender may send at `now`.
    #[inline]
    pub(super) fn send_all(&mut self, now: Instant, index: usize) {
        while let Some(mut segment) = self.flows[index].sender.poll_transmit(now) {
            let flow = &self.flows[index];
            segment.seq += flow.base;
            let (route, wire_len) = (flow.forward, segment.len + flow.data_overhead);
            let ecn = if segment.ect { Ecn::Ect } else { Ecn::NotEct };
            let cover = Cover { index, route, flags: flow.flags, ecn, wire_len };
            self.inject(now, cover, Body::Data(segment));
        }
        if let Some(deadline) = self.flows[index].sender.next_deadline() {
            self.events.schedule(self.components.sender(index), deadline);
        }
    }

    #[inline]
    fn send_ack(&mut self, now: Instant, index: usize, mut ack: AckSegment) {
        let flow = &self.flows[index];
        ack.ack += flow.base;
        let sack_len = match ack.sack.len() as u32 {
            0 => 0,
            blocks => SACK_OPTION_LEN + SACK_BLOCK_LEN * blocks,
        };
        let ecn_len = match ack.ecn {
            EcnFeedback::AccEcn { option: Some(_), .. } => ACCECN_OPTION_LEN,
            _ => 0,
        };
        let (route, wire_len) = (flow.reverse, flow.ack_len + sack_len + ecn_len);
        // RFC 3168 §6.1.4: "pure acknowledgement packets (...) MUST be sent with the not-ECT codepoint."
        let cover = Cover { index, route, flags: flow.flags, ecn: Ecn::NotEct, wire_len };
        self.inject(now, cover, Body::Ack(ack));
    }

    /// The client at the receiver asks.
    fn send_request(&mut self, now: Instant, index: usize, number: u64) {
        let flow = &self.flows[index];
        let Application::Web(web) = &flow.application else { return };
        let (route, len) = (flow.reverse, web.request_len());
        let cover = Cover { index, route, flags: flow.flags, ecn: Ecn::NotEct, wire_len: len + flow.ack_len };
        self.inject(now, cover, Body::Request { number, len });
    }

    /// Puts a new packet on its way.
    #[inline]
    pub(super) fn inject(&mut self, now: Instant, cover: Cover, body: Body) {
        let Cover { index, route, flags, ecn, wire_len } = cover;
        self.entered.add(wire_len);
        let body = self.bodies.keep(body);
        let packet = Packet { body, flow: index as u32, next_hop: route, wire_len, ecn, flags };
        if let Some(tracer) = &mut self.tracer {
            tracer.sent(&packet, &self.bodies);
        }
        self.forward(now, packet);
    }

    #[inline]
    fn trace(&mut self, now: Instant, link: u32, packet: &Packet, event: PacketEvent) {
        if let Some(tracer) = &mut self.tracer {
            tracer.packet(now, link, packet, event, &self.bodies);
        }
    }

    #[inline]
    fn trace_window(&mut self, now: Instant, index: usize) {
        if let Some(tracer) = &mut self.tracer {
            tracer.window(now, index, self.flows[index].sender.cc().cwnd());
        }
    }

    fn schedule_receiver(&mut self, index: usize) {
        if let Some(deadline) = self.flows[index].receiver.next_deadline() {
            self.events.schedule(self.components.receiver(index), deadline);
        }
    }

    fn advance_links(&mut self, now: Instant) {
        for link in &mut self.links {
            link.advance(now);
        }
    }
}

impl Flow {
    fn new(plan: &FlowPlan, flags: Flags, application: Application, cc: Cc, [forward, reverse]: [Route; 2]) -> Self {
        let options = if plan.transport.timestamps { TIMESTAMPS_LEN } else { 0 };
        let overhead = plan.transport.header + plan.transport.framing + options;
        Flow {
            sender: Sender::new(plan.transport.clone(), cc),
            receiver: Receiver::new(&plan.transport),
            // A slot is idle.
            finished: matches!(application, Application::Slot).then_some((Instant::ZERO, 0.0)),
            application,
            forward,
            reverse,
            data_overhead: overhead,
            ack_len: overhead,
            flags,
            base: 0,
            awaited: u64::MAX,
            corrupted: 0,
            started: plan.start,
            slot: None,
            log: TransferLog::default(),
        }
    }

    /// Bytes on the wire of all data sent so far.
    pub(super) fn wire_bytes_sent(&self) -> u64 {
        let counters = self.sender.counters();
        counters.payload_bytes + counters.segments * u64::from(self.data_overhead)
    }
}

fn build_link(plan: &LinkPlan, luck: Luck, end: Instant) -> Packets {
    let wire = plan.wire.build(|purpose| luck.stream(&plan.name, purpose));
    let varies = plan.variation(luck, end);
    let config = LinkConfig { rate: plan.rate, varies, delay: plan.delay, wire, histogram: !plan.private };
    Link::new(config, plan.queue.build(|purpose| luck.stream(&plan.name, purpose)))
}

/// Which links deliver only into links that nothing else feeds and that are not `reported`: the counters of those
/// have to be right at all times.
fn hand_overs(reported: &[bool], hops: &[Hop]) -> Vec<bool> {
    let mut feeders: Vec<Option<Feeder>> = vec![None; reported.len()];
    let mut feeder = Feeder::Sender;
    for hop in hops {
        feeder = match *hop {
            Hop::End => Feeder::Sender,
            Hop::Link(link) => {
                let known = &mut feeders[link as usize];
                *known = Some(if known.is_none_or(|known| known == feeder) { feeder } else { Feeder::Several });
                Feeder::Link(link)
            }
        };
    }
    let mut hands_over = vec![true; reported.len()];
    for pair in hops.windows(2) {
        if let [Hop::Link(link), next] = *pair {
            let alone = match next {
                Hop::Link(next) => !reported[next as usize] && feeders[next as usize] == Some(Feeder::Link(link)),
                Hop::End => false,
            };
            hands_over[link as usize] &= alone;
        }
    }
    hands_over
}

/// What puts packets into a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Sender,
    Link(u32),
    Several,
}

/// Row and number of every source of datagrams, in the order of the keys of their names.
fn numbered_sources(plan: &Plan, luck: &Luck) -> Vec<(usize, usize)> {
    let rows = plan.datagrams.iter().enumerate();
    let numbered: Vec<_> =
        rows.flat_map(|(row, datagrams)| (0..datagrams.sources.len()).map(move |number| (row, number))).collect();
    let names = numbered.iter().map(|(row, number)| plan.datagrams[*row].sources[*number].name.as_str());
    order_by_key(luck, names).into_iter().map(|index| numbered[index]).collect()
}

/// Indices into the plan, in the order of the keys of their names.
fn order_by_key<'a>(luck: &Luck, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut keyed: Vec<_> = names.enumerate().map(|(index, name)| (luck.key(name), name, index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, index)| index).collect()
}

/// The inverse of an order.
fn ranks(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in order.iter().enumerate() {
        ranks[*index] = rank;
    }
    ranks
}
