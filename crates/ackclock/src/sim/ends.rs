//! The ends of routes: senders, receivers, applications and sources react to packets and time.

use typed_index_collections::{TiSlice, TiVec};

use super::components::{Component, Components};
use super::counters::FlowCounters;
use super::datagram::{Row, Stream};
use super::delays::PathDelays;
use super::endpoint::{Answer, SendingEnd};
use super::error::RunError;
use super::flow::Flow;
use super::flow_hash::FlowHashes;
use super::group::Group;
use super::index::{FlowId, FlowRank, LinkRank};
use super::limits::{most_in_flight, planned};
use super::network::{Network, Routes};
use super::order::{inverse, order_by_key};
use super::packet::{Body, Owner, Packet};
use super::plan::{ArrivalsPlan, FlowPlan, Plan, Stack};
use super::source::Application;
use super::view::ChangeError;
use crate::cc::{Algorithm, CcSpec, CongestionControl};
use crate::engine::ComponentId;
use crate::prefetch::PREFETCHES;
use crate::qdisc::Queued;
use crate::quic;
use crate::rng::RngStreams;
use crate::tcp::DataSegment;
use crate::units::Instant;

/// The number of flows that fit into the caches near the processor. With more flows, the next ones are prefetched.
const CACHED_FLOWS: usize = 700;
/// Distances at which memory is prefetched, in packets after the next one. The ends of a flow precede their contents.
const FAR: usize = 3;
const NEAR: usize = 1;

/// Everything that sends and receives.
pub(super) struct Ends<'plan> {
    plan: &'plan Plan,
    pub(super) flows: TiVec<FlowRank, Flow>,
    pub(super) flow_rank: TiVec<FlowId, FlowRank>,
    /// In the order of the plan.
    pub(super) groups: Vec<Group>,
    /// Sources of datagrams by rank. Their rows of results have the order of the plan.
    pub(super) streams: Vec<Stream>,
    pub(super) rows: Vec<Row>,
    pub(super) delays: PathDelays,
    /// The reason why the run cannot continue.
    pub(super) error: Option<RunError>,
}

impl<'plan> Ends<'plan> {
    /// The ends before the start of the run. Adds the routes of all flows to `routes`.
    pub(super) fn new<'routes>(plan: &'plan Plan, rngs: &RngStreams, routes: &mut Routes<'routes>) -> Self
    where
        'plan: 'routes,
    {
        let tcp_flows: TiVec<FlowId, &FlowPlan> = plan.tcp_flows().collect();
        let flow_order: TiVec<FlowRank, FlowId> = order_by_key(rngs, tcp_flows.iter().map(|flow| &*flow.name));
        let flow_rank = inverse(&flow_order);
        let places = PathDelays::places(plan);
        let mut hashes = FlowHashes::default();
        let mut flows: TiVec<FlowRank, Flow> = flow_order
            .iter_enumerated()
            .map(|(rank, index)| {
                let idle;
                let mut flow = tcp_flows[*index];
                if flow.stack == Stack::Outside {
                    // Nothing is built of an algorithm that runs outside.
                    idle = FlowPlan {
                        cc: CcSpec::by_name("reno").expect("invariant: Reno is built in").into(),
                        ..flow.clone()
                    };
                    flow = &idle;
                }
                let (forward, reverse) = (&tcp_flows[*index].forward, &tcp_flows[*index].reverse);
                let (forward, reverse) = (routes.past(flow.meter, forward), routes.over(reverse));
                let key = rngs.key(&flow.name);
                let flags = hashes.flags(key, flow.in_profile);
                let application = Application::new(flow, rngs);
                let place = places[*index];
                let identity = (flags, plan.groups.tag(&flow.group));
                let mut flow_state = Flow::new(flow, key, rank, identity, application, [forward, reverse], place);
                flow_state.sender.set_most_outstanding(most_in_flight(plan, flow, planned));
                flow_state
            })
            .collect();
        let streams = numbered_sources(plan, rngs)
            .into_iter()
            .map(|(row, number)| {
                let datagrams = &plan.datagrams[row];
                let source = &datagrams.sources[number];
                let flags = hashes.flags(rngs.key(&source.name), datagrams.in_profile);
                let identity = (flags, plan.groups.tag(&datagrams.group));
                Stream::new(plan, row, number, identity, routes.past(datagrams.meter, &source.forward))
            })
            .collect();
        let groups = groups_of(plan, &mut flows, &flow_rank, rngs);
        let rows = plan.datagrams.iter().map(Row::new).collect();
        Ends { plan, flows, flow_rank, groups, streams, rows, delays: PathDelays::new(plan), error: None }
    }

    /// A flow of the plan, or a slot.
    pub(super) fn flow(&self, id: FlowId) -> &Flow {
        &self.flows[self.flow_rank[id]]
    }

    /// The rank of a source of datagrams.
    fn rank_of_stream(&self, index: usize) -> FlowRank {
        FlowRank::new(self.flows.len() + index)
    }

    /// Sources of datagrams with their ranks.
    pub(super) fn ranked_streams(&self) -> impl Iterator<Item = (FlowRank, &Stream)> {
        self.streams.iter().enumerate().map(|(index, stream)| (self.rank_of_stream(index), stream))
    }

    /// Begins a flow that waits for the caller.
    pub(super) fn begin_flow(&mut self, id: FlowId, now: Instant, network: &mut Network) -> Result<(), ChangeError> {
        let (plan, rank) = (&self.plan.flows[id], self.flow_rank[id]);
        let flow = &mut self.flows[rank];
        if flow.has_begun() {
            return Err(ChangeError::Begun);
        }
        flow.started = now;
        let begun = FlowPlan { start: now, ..plan.clone() };
        flow.application = Application::new(&begun, &RngStreams::from_root(self.plan.seed));
        network.events.set(network.components.application(rank), flow.application.next_deadline());
        Ok(())
    }

    /// The application of a flow writes nothing from now on.
    pub(super) fn end_flow(&mut self, id: FlowId, now: Instant, network: &mut Network) -> Result<(), ChangeError> {
        let rank = self.flow_rank[id];
        let flow = &mut self.flows[rank];
        if flow.started > now {
            return Err(ChangeError::NotBegun);
        }
        flow.application.stop(now);
        network.events.set(network.components.application(rank), flow.application.next_deadline());
        Ok(())
    }

    /// Applies the requests of a flow's algorithm, and polls the sender now.
    pub(super) fn refresh_flow(&mut self, id: FlowId, now: Instant, network: &mut Network) {
        self.change_sender(id, now, network, |sender, _| sender.refresh(now));
    }

    /// Another algorithm takes over a flow.
    pub(super) fn set_algorithm(&mut self, id: FlowId, algorithm: &Algorithm, now: Instant, network: &mut Network) {
        let seed = RngStreams::from_root(self.plan.seed).key(&self.plan.flows[id].name);
        self.change_sender(id, now, network, |sender, plan| sender.set_algorithm(now, plan, seed, algorithm));
        self.flows[self.flow_rank[id]].on_new_algorithm();
    }

    /// A sender that has not finished is changed, and polled now.
    fn change_sender(
        &mut self,
        id: FlowId,
        now: Instant,
        network: &mut Network,
        change: impl FnOnce(&mut SendingEnd, &FlowPlan),
    ) {
        let rank = self.flow_rank[id];
        let flow = &mut self.flows[rank];
        if flow.finished.is_some() {
            return;
        }
        change(&mut flow.sender, &self.plan.flows[id]);
        if flow.started <= now {
            network.events.set(network.components.sender(rank), Some(now));
        }
    }

    /// The components that begin by themselves, and their times.
    pub(super) fn first_deadlines(&self, components: Components) -> Vec<(ComponentId, Option<Instant>)> {
        let applications = self.flows.iter_enumerated().map(|(rank, flow)| (rank, flow.application.next_deadline()));
        let arrivals = self.groups.iter().map(Group::next_deadline).enumerate();
        let emissions = self.streams.iter().map(Stream::next_deadline).enumerate();
        applications
            .map(|(rank, at)| (components.application(rank), at))
            .chain(arrivals.map(|(index, at)| (components.arrivals(index), at)))
            .chain(emissions.map(|(index, at)| (components.source(index), at)))
            .collect()
    }

    /// The next packet that comes to the end of its route ahead of time: when, and by which link.
    #[inline(always)]
    pub(super) fn next_ahead(&self, network: &mut Network) -> Option<(Instant, LinkRank, Packet)> {
        let (flows, has_slots) = (&self.flows, !self.groups.is_empty());
        network.next_ahead(|at, flow, body, is_last| {
            let Some(flow) = flows.get(flow) else { return true };
            if matches!(body, Body::Ack(_) | Body::Quic(quic::Packet::Ack(_))) {
                return flow.arrives_ahead(at);
            }
            if is_last && are_many(flows) {
                // It arrives when the next packet follows, and finds its receiver in the caches.
                flow.prefetch_receiver();
                return false;
            }
            // If data are a copy of delivered data, the slot may be reused before they arrive.
            !has_slots || flow.slot.is_none() || flow.awaits(body)
        })
    }

    /// Asks for the sender whose timer is likely to expire next, where there are many flows.
    #[inline]
    pub(super) fn prefetch_timed(&self, network: &Network) {
        if PREFETCHES
            && are_many(&self.flows)
            && let Some(index) = network.next_sender()
        {
            self.flows[index].prefetch_sender();
        }
    }

    /// Something at an end is due.
    pub(super) fn on_event(&mut self, now: Instant, id: ComponentId, component: Component, network: &mut Network) {
        match component {
            Component::SenderTimer(index) => {
                network.events.finish(id, None);
                network.trace_timers(now, index, self.flows[index].sender.due_timers(now));
                self.flows[index].sender.on_deadline(now);
                self.after_news(now, index, network);
            }
            Component::Application(index) => {
                let flow = &mut self.flows[index];
                let request = flow.application.on_deadline(now, &mut flow.sender);
                flow.await_write();
                network.events.finish(id, flow.application.next_deadline());
                if let Some(number) = request {
                    self.send_request(now, index, number, network);
                }
                self.send_all(now, index, network);
            }
            Component::Arrivals(index) => {
                let flow = self.arrive(now, index);
                network.events.finish(id, self.groups[index].next_deadline());
                if let Some(flow) = flow {
                    network.trace_connection(flow, self.flows[flow].base);
                    self.after_news(now, flow, network);
                }
            }
            Component::Source(index) => self.emit(now, id, index, network),
            Component::ReceiverTimer(index) => {
                network.events.finish(id, None);
                let flow = &mut self.flows[index];
                if let Some(ack) = flow.receiver.on_deadline(now) {
                    flow.answer(now, ack, network);
                }
                self.schedule_receiver(index, network);
            }
            Component::Link(_) | Component::Channel(_) | Component::Warmup | Component::Sampling => {}
        }
    }

    /// A packet has reached the end of its route, over this link.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, link: LinkRank, packet: Packet, network: &mut Network) {
        match *network.ledger.bodies.get(packet.body()) {
            Body::Data(segment) => self.on_data(now, link, packet, segment, network),
            Body::Ack(_) => self.on_ack(now, link, packet, network),
            _ => self.on_other(now, link, packet, network),
        }
    }

    /// A segment of TCP has arrived.
    #[inline]
    fn on_data(
        &mut self,
        now: Instant,
        link: LinkRank,
        packet: Packet,
        mut segment: DataSegment,
        network: &mut Network,
    ) {
        let owner = network.close(packet);
        let index = owner.flow();
        self.ask_ahead(network, link, Flow::prefetch_receiver, |flow| flow.receiver.prefetch_lists());
        let flow = &mut self.flows[index];
        flow.queueing_delay.note(owner.queueing_delay());
        self.delays.note_data(flow.place, owner.queueing_delay());
        let Some(seq) = segment.seq.checked_sub(flow.base) else { return };
        segment.seq = seq;
        let ack = flow.receiver.on_data(now, &segment, packet.ecn());
        self.after_data(now, index, ack, network);
    }

    /// An acknowledgement of TCP has arrived. The sender reads it in its place.
    #[inline]
    fn on_ack(&mut self, now: Instant, link: LinkRank, packet: Packet, network: &mut Network) {
        self.ask_ahead(network, link, Flow::prefetch_sender, |flow| flow.sender.prefetch_lists());
        let owner = network.close(packet);
        let index = owner.flow();
        let flow = &mut self.flows[index];
        self.delays.note_ack(flow.place, owner.queueing_delay());
        let Body::Ack(ack) = network.ledger.bodies.get_mut(packet.body()) else { return };
        let Some(next) = ack.ack.checked_sub(flow.base) else { return };
        ack.ack = next;
        if let Some(rtt) = flow.sender.on_ack(now, ack) {
            self.delays.note_rtt(flow.place, rtt);
        }
        self.after_ack(now, index, network);
    }

    /// A packet without a segment of TCP has arrived.
    #[inline(never)]
    fn on_other(&mut self, now: Instant, link: LinkRank, packet: Packet, network: &mut Network) {
        let (owner, body) = network.open(now, packet);
        let index = owner.flow();
        match body {
            Body::Outside(body) => network.arrived_outside(now, owner, packet, body),
            Body::Quic(quic) => self.on_quic(now, link, packet, owner, quic, network),
            Body::Datagram(datagram) => {
                let stream = &mut self.streams[index.number() - self.flows.len()];
                stream.on_datagram(now, &datagram, &mut self.rows);
            }
            Body::Request { number, .. } => self.on_request(now, index, number, network),
            Body::Data(_) | Body::Ack(_) | Body::Corrupted { .. } => {}
        }
    }

    /// Handles a packet of QUIC.
    fn on_quic(
        &mut self,
        now: Instant,
        link: LinkRank,
        packet: Packet,
        owner: Owner,
        body: quic::Packet,
        network: &mut Network,
    ) {
        let index = owner.flow();
        match body {
            quic::Packet::Data(data) => {
                self.ask_ahead(network, link, Flow::prefetch_receiver, |flow| flow.receiver.prefetch_lists());
                let flow = &mut self.flows[index];
                flow.queueing_delay.note(owner.queueing_delay());
                self.delays.note_data(flow.place, owner.queueing_delay());
                if data.connection == flow.base {
                    flow.play(now, &data);
                    let ack = flow.receiver.on_data_packet(now, &data, packet.ecn());
                    self.after_data(now, index, ack, network);
                }
            }
            quic::Packet::Ack(ack) => {
                self.ask_ahead(network, link, Flow::prefetch_sender, |flow| flow.sender.prefetch_lists());
                let flow = &mut self.flows[index];
                self.delays.note_ack(flow.place, owner.queueing_delay());
                if ack.connection == flow.base {
                    let ranges = network.ledger.bodies.ranges(packet.body());
                    if let Some(rtt) = flow.sender.on_ack_packet(now, &ack, ranges) {
                        self.delays.note_rtt(flow.place, rtt);
                    }
                    self.after_ack(now, index, network);
                }
            }
        }
    }

    /// Data have arrived, and this is the answer to it.
    #[inline]
    fn after_data(&mut self, now: Instant, index: FlowRank, ack: Option<Answer>, network: &mut Network) {
        let flow = &mut self.flows[index];
        let responds = flow.receiver.delivered() >= flow.awaited;
        let has_timer = ack.is_none() || flow.receiver.acts_by_itself();
        if let Some(ack) = ack {
            flow.answer(now, ack, network);
        }
        if has_timer {
            self.schedule_receiver(index, network);
        }
        if responds {
            self.on_response(now, index, network);
        }
    }

    /// An acknowledgement has arrived.
    #[inline]
    fn after_ack(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        let flow = &self.flows[index];
        if flow.finished.is_none() && flow.sender.is_done() {
            self.on_done(now, index);
        }
        self.after_news(now, index, network);
    }

    /// Prefetches the body of a packet that leaves a link soon. With many flows, it also prefetches the state of
    /// their ends.
    #[inline]
    fn ask_ahead(&self, network: &Network, link: LinkRank, for_ends: impl Fn(&Flow), for_lists: impl Fn(&Flow)) {
        if !PREFETCHES || !network.ledger.bodies.are_many() && !are_many(&self.flows) {
            return;
        }
        let link = &network.links[link];
        let Some(far) = link.under_way(FAR) else { return };
        network.ledger.bodies.prefetch(far.body());
        if are_many(&self.flows) {
            let flow_of = |packet: &Packet| self.flows.get(network.ledger.bodies.flow(packet.body()));
            flow_of(far).into_iter().for_each(for_ends);
            link.under_way(NEAR).and_then(flow_of).into_iter().for_each(for_lists);
        }
    }

    /// Lets the sender of a flow send, after it received an event or began.
    #[inline]
    fn after_news(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        network.trace_sender(now, index, || &self.flows[index].sender);
        self.send_all(now, index, network);
    }

    /// Sends all permitted packets of a flow at `now`.
    #[inline]
    fn send_all(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        let flow = &mut self.flows[index];
        flow.send_all(now, network);
        network.events.set(network.components.sender(index), flow.sender.next_deadline());
        if flow.sender.wants_too_much() {
            self.give_up_on(now, index, network);
        }
    }

    /// Ends the run because the window of a flow grows without bound, or its algorithm cannot continue.
    #[cold]
    fn give_up_on(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        let id = self.flow_rank.iter().position(|rank| *rank == index);
        let flow = id.and_then(|id| self.plan.tcp_flows().nth(id));
        let flow = flow.map(|flow| flow.name.to_string()).unwrap_or_default();
        let (sender, at) = (&self.flows[index].sender, now.since(Instant::ZERO));
        let error = match sender.cc().fault() {
            Some(what) => RunError::AlgorithmFailed { flow, at, what: what.to_owned() },
            None => RunError::TooMuchInFlight { flow, at, limit: sender.most_outstanding() },
        };
        self.error.get_or_insert(error);
        network.stop(now);
    }

    /// A source of datagrams sends the packets that are due.
    fn emit(&mut self, now: Instant, id: ComponentId, index: usize, network: &mut Network) {
        let flow = self.rank_of_stream(index);
        let stream = &mut self.streams[index];
        let burst = stream.next_burst();
        network.events.finish(id, stream.next_deadline());
        if let Some(burst) = burst {
            stream.send(now, flow, burst, &mut self.rows, network);
        }
    }

    /// A transfer arrives. Returns the idle slot that takes it, if there is one.
    fn arrive(&mut self, now: Instant, index: usize) -> Option<FlowRank> {
        let (number, bytes) = self.groups[index].arrive(now)?;
        let flow_index = self.groups[index].flows()[number as usize];
        let plan = &self.plan.arrivals[index].slots[number as usize];
        let key = RngStreams::from_root(self.plan.seed).key(&plan.name);
        self.flows[flow_index].carry(now, plan, key, bytes);
        Some(flow_index)
    }

    /// Everything that a flow has written is acknowledged.
    #[cold]
    fn on_done(&mut self, now: Instant, index: FlowRank) {
        let flow = &mut self.flows[index];
        if !flow.application.ends() {
            return;
        }
        flow.finished = Some((now, flow.sender.window_integral(now)));
        let Some(slot) = flow.slot else { return };
        let (counters, time) = (FlowCounters::read(flow, now), now.since(flow.started));
        self.groups[slot.group as usize].depart(now, slot, time, counters);
    }

    /// The client at the receiver asks.
    fn send_request(&mut self, now: Instant, index: FlowRank, number: u64, network: &mut Network) {
        let flow = &self.flows[index];
        let Application::Client(client) = &flow.application else { return };
        let len = client.request_len();
        let meta = flow.reverse_meta(len + flow.ack_len);
        network.send(now, meta, Body::Request { number, len });
    }

    /// A request has come to its server.
    #[cold]
    fn on_request(&mut self, now: Instant, index: FlowRank, number: u64, network: &mut Network) {
        let flow = &mut self.flows[index];
        let Application::Client(client) = &mut flow.application else { return };
        let Some(bytes) = client.on_request(number) else { return };
        flow.awaited = flow.sender.sent_once() + bytes;
        flow.sender.write(now, bytes);
        self.send_all(now, index, network);
    }

    /// A whole answer has come to its client, or a keystroke or frame to its receiver.
    #[cold]
    fn on_response(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        let flow = &mut self.flows[index];
        match &mut flow.application {
            Application::Interactive(interactive) => interactive.on_delivered(now, flow.receiver.delivered()),
            Application::Video(video) => video.on_delivered(now, flow.receiver.delivered()),
            _ => return self.on_answer(now, index, network),
        }
        flow.await_write();
    }

    /// A whole answer has come to its client.
    fn on_answer(&mut self, now: Instant, index: FlowRank, network: &mut Network) {
        let flow = &mut self.flows[index];
        flow.awaited = u64::MAX;
        let Application::Client(client) = &mut flow.application else { return };
        client.on_response(now);
        if let Some(next) = flow.application.next_deadline() {
            network.events.schedule(network.components.application(index), next);
        }
    }

    fn schedule_receiver(&self, index: FlowRank, network: &mut Network) {
        network.events.set(network.components.receiver(index), self.flows[index].receiver.next_deadline());
    }
}

/// The groups of arrivals before the first one, whose slots know their group.
fn groups_of(
    plan: &Plan,
    flows: &mut TiSlice<FlowRank, Flow>,
    flow_rank: &TiSlice<FlowId, FlowRank>,
    rngs: &RngStreams,
) -> Vec<Group> {
    let mut slots = flow_rank.iter().skip(plan.flows.len());
    let group = |(index, arrivals): (usize, &ArrivalsPlan)| {
        let group = Group::new(arrivals, slots.by_ref().take(arrivals.slots.len()).copied().collect(), rngs);
        for (flow, slot) in group.slots(index) {
            flows[flow].slot = Some(slot);
        }
        group
    };
    plan.arrivals.iter().enumerate().map(group).collect()
}

/// Whether flows are too many for the caches near the processor.
#[inline]
fn are_many(flows: &TiSlice<FlowRank, Flow>) -> bool {
    flows.len() > CACHED_FLOWS
}

/// Row and number of every source of datagrams, in the order of the keys of their names.
fn numbered_sources(plan: &Plan, rngs: &RngStreams) -> Vec<(usize, usize)> {
    let rows = plan.datagrams.iter().enumerate();
    let numbered: Vec<_> =
        rows.flat_map(|(row, datagrams)| (0..datagrams.sources.len()).map(move |number| (row, number))).collect();
    let names = numbered.iter().map(|(row, number)| plan.datagrams[*row].sources[*number].name.as_str());
    order_by_key::<usize, usize>(rngs, names).into_iter().map(|index| numbered[index]).collect()
}
