//! The run: events, and what those at the ends of the network make of them.

use std::sync::atomic::{AtomicBool, Ordering};

use super::components::{Component, Components};
use super::datagram::{Row, Stream};
use super::delays::PathDelays;
use super::flow::Flow;
use super::flow_hash::FlowHashes;
use super::limits::{MOST_UNDER_WAY, most_in_flight, planned};
use super::lookahead::look_ahead;
use super::measure::Measurement;
use super::network::{Network, Routes};
use super::packet::{Body, Packet};
use super::plan::{ArrivalsPlan, FlowPlan, Plan};
use super::rates::ChangedRates;
use super::result::RunResult;
use super::sampler::Sampler;
use super::source::Application;
use super::transfer::Group;
use super::{RunError, before};
use crate::cc::{Cc, CongestionControl};
use crate::engine::ComponentId;
use crate::qdisc::{Ecn, Queued};
use crate::rng::RngStreams;
use crate::units::Instant;

/// Events between two looks at the stop flag.
const EVENTS_PER_CHECK: u64 = 1 << 16;
/// So many flows stay in the caches near the processor; of more, those that are needed next are asked for.
const CACHED_FLOWS: usize = 700;
/// What so many packets behind the next one will need is asked for: first the ends of a flow, then what they point to.
const FAR: usize = 3;
const NEAR: usize = 1;
/// Makes the algorithm of a flow.
pub(super) type BuildCc<'plan> = Box<dyn FnMut(&FlowPlan) -> Cc + 'plan>;

/// A run in progress, which goes on step by step.
///
/// A step ends before anything happens at its last moment, and nothing beyond has happened then that could be seen or
/// would change if a link did. A run in steps, whatever their lengths, gives the result of [`run`](super::run); only
/// [`RunResult::events`], the number of events that the engine needed, may be greater.
///
/// Flows cannot be added to a run: one that is to begin later is in the plan, with its start.
pub struct Simulation<'plan> {
    pub(super) plan: &'plan Plan,
    pub(super) build_cc: BuildCc<'plan>,
    pub(super) network: Network,
    /// In the order of their component numbers.
    pub(super) flows: Vec<Flow>,
    /// In the order of the plan.
    pub(super) groups: Vec<Group>,
    /// Sources of datagrams, in the order of their component numbers, and the rows of results they belong to, in the
    /// order of the plan. The flows of datagrams are numbered behind those of TCP.
    pub(super) streams: Vec<Stream>,
    pub(super) rows: Vec<Row>,
    /// Where each link of the plan stands in the network, and each TCP flow in `flows`.
    pub(super) link_rank: Vec<usize>,
    pub(super) flow_rank: Vec<usize>,
    pub(super) delays: PathDelays,
    pub(super) sampler: Sampler,
    /// The rates of links that were changed.
    pub(super) rates: ChangedRates,
    measurement: Measurement,
    next_sample: Instant,
    events_handled: u64,
    /// The last moment of the warm-up, and then of the run.
    last: Instant,
    /// The end of the last step.
    pub(super) now: Instant,
    /// The end of the step in progress.
    pub(super) target: Instant,
    /// Events from then on do not take place for now: the end of a step, or the time of an error.
    pub(super) until: Instant,
    pub(super) error: Option<RunError>,
}

impl<'plan> Simulation<'plan> {
    /// A run at its start.
    pub fn new(plan: &'plan Plan) -> Self {
        Simulation::with_cc(plan, |flow| flow.cc.build(*flow.cc_context))
    }

    /// A run at its start; `build_cc` makes the algorithm of each flow, and that of each transfer that arrives later.
    pub fn with_cc(plan: &'plan Plan, build_cc: impl FnMut(&FlowPlan) -> Cc + 'plan) -> Self {
        let mut build_cc: BuildCc<'plan> = Box::new(build_cc);
        let rngs = RngStreams::from_root(plan.seed);
        let link_order = order_by_key(&rngs, plan.links.iter().map(|link| link.name.as_str()));
        let tcp_flows: Vec<&FlowPlan> = plan.tcp_flows().collect();
        let flow_order = order_by_key(&rngs, tcp_flows.iter().map(|flow| &*flow.name));
        let (link_rank, flow_rank) = (ranks(&link_order), ranks(&flow_order));
        let sources = numbered_sources(plan, &rngs);
        let components = Components {
            links: link_order.len() as u32,
            flows: flow_order.len() as u32,
            groups: plan.arrivals.len() as u32,
            streams: sources.len() as u32,
            channels: plan.channels.len() as u32,
        };
        let lookahead = look_ahead(plan);
        let mut routes = Routes::new(plan, &link_rank, &lookahead);
        let places = PathDelays::places(plan);
        let mut hashes = FlowHashes::default();
        let mut flows: Vec<Flow> = flow_order
            .iter()
            .enumerate()
            .map(|(number, index)| {
                let flow = tcp_flows[*index];
                let forward = routes.past(flow.meter, &flow.forward);
                let reverse = routes.over(&flow.reverse);
                let flags = hashes.flags(rngs.key(&flow.name), flow.in_profile);
                let application = Application::new(flow, &rngs);
                let cc = build_cc(flow);
                let place = places[*index];
                let mut flow_state = Flow::new(flow, number as u32, flags, application, cc, [forward, reverse], place);
                flow_state.sender.set_most_outstanding(most_in_flight(plan, flow, planned));
                flow_state
            })
            .collect();
        let streams: Vec<Stream> = sources
            .iter()
            .map(|(row, number)| {
                let datagrams = &plan.datagrams[*row];
                let forward = &datagrams.sources[*number].forward;
                let flags = hashes.flags(rngs.key(&datagrams.sources[*number].name), datagrams.in_profile);
                Stream::new(plan, *row, *number, flags, routes.past(datagrams.meter, forward))
            })
            .collect();
        let groups = groups_of(plan, &mut flows, &flow_rank, &rngs);
        let network = Network::new(plan, rngs, components, &link_order, routes);
        let mut simulation = Simulation {
            plan,
            build_cc,
            network,
            flows,
            groups,
            streams,
            rows: plan.datagrams.iter().map(Row::new).collect(),
            delays: PathDelays::new(plan),
            link_rank,
            flow_rank,
            sampler: Sampler::new(plan),
            rates: ChangedRates::default(),
            measurement: Measurement::default(),
            next_sample: Instant::ZERO + plan.duration,
            events_handled: 0,
            last: Instant::ZERO,
            now: Instant::ZERO,
            target: Instant::ZERO,
            until: Instant::ZERO,
            error: None,
        };
        simulation.set_first_deadlines();
        simulation.observe_start();
        simulation
    }

    /// Whatever begins by itself is woken for the first time.
    fn set_first_deadlines(&mut self) {
        let Network { events, components, .. } = &mut self.network;
        let applications = self.flows.iter().map(|flow| flow.application.next_deadline()).enumerate();
        let arrivals = self.groups.iter().map(Group::next_deadline).enumerate();
        let emissions = self.streams.iter().map(Stream::next_deadline).enumerate();
        let deadlines = applications
            .map(|(index, at)| (components.application(index), at))
            .chain(arrivals.map(|(index, at)| (components.arrivals(index), at)))
            .chain(emissions.map(|(index, at)| (components.source(index), at)));
        deadlines.for_each(|(component, at)| events.set(component, at));
    }

    /// Whatever is looked at is looked at before anything happens at that time: the beginning of the window of
    /// measurement, samples, and the end. At the start of the run that is now, later the last moment before.
    fn observe_start(&mut self) {
        if self.plan.sampling.interval.is_some() {
            let next = self.sample(Instant::ZERO);
            self.network.events.set(self.network.components.sampling(), before(next));
        }
        let warmup_ends = Instant::ZERO + self.plan.warmup;
        match before(warmup_ends) {
            None => self.begin_measurement(Instant::ZERO),
            Some(last) => {
                self.network.events.set(self.network.components.warmup(), Some(last));
                self.last = last;
            }
        }
    }

    /// The window of measurement begins at `now`.
    fn begin_measurement(&mut self, now: Instant) {
        self.measurement = Measurement::begin(self, now);
        let end = Instant::ZERO + self.plan.duration;
        self.last = before(end).unwrap_or(end);
        self.set_horizon();
    }

    /// Takes a sample of what happened before `now`; returns the time of the next one.
    fn sample(&mut self, now: Instant) -> Instant {
        for link in self.sampler.links() {
            let link = self.link_rank[*link];
            if let Some(last) = before(now) {
                self.network.advance_link(last, link);
            }
        }
        let (links, rates) = (&self.network.links, &self.rates);
        let next = self.sampler.sample(now, &self.flows, links, &self.flow_rank, &self.link_rank, rates);
        self.next_sample = next.min(Instant::ZERO + self.plan.duration);
        next
    }

    /// Nothing that ends a route happens ahead of the end of the warm-up, the run or a step, and nothing that a sample
    /// shows ahead of that.
    pub(super) fn set_horizon(&mut self) {
        let last = self.last.min(self.network.step_horizon);
        self.network.horizon = last;
        self.network.sample_horizon = before(self.next_sample).map_or(last, |sample| sample.min(last));
    }

    /// Handles all events before `self.until`, and what may happen ahead of its time.
    pub(super) fn handle_events(&mut self, stop: &AtomicBool) -> Result<(), RunError> {
        while let Some((now, id)) = self.network.events.peek().filter(|(now, _)| *now < self.until) {
            self.events_handled += 1;
            if self.events_handled.is_multiple_of(EVENTS_PER_CHECK) && stop.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            if self.network.ledger.bodies.places() > MOST_UNDER_WAY {
                return Err(RunError::TooMuchUnderWay { at: now.since(Instant::ZERO) });
            }
            if are_many(&self.flows)
                && let Some(index) = self.network.next_sender()
            {
                self.flows[index].prefetch_sender();
            }
            match self.network.components.component(id) {
                Component::Link(link) => {
                    if let Some(packet) = self.network.on_link(now, id, link as u32) {
                        self.on_arrival(now, link as u32, packet);
                    }
                }
                other => self.on_event(now, id, other),
            }
            while let Some((at, link, packet)) = self.next_ahead() {
                self.on_arrival(at, link, packet);
            }
        }
        Ok(())
    }

    /// Goes on to the end of the run.
    ///
    /// # Errors
    /// Those of [`run`](super::run).
    pub fn finish(mut self, stop: &AtomicBool) -> Result<RunResult, RunError> {
        let end = Instant::ZERO + self.plan.duration;
        self.go_on(end, Instant::MAX, stop)?;
        self.network.advance(before(end).unwrap_or(end));
        let mut samples = std::mem::take(&mut self.sampler).into_samples();
        if let Some(tracer) = self.network.ledger.tracer.take() {
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

    /// The next packet that comes to the end of its route ahead of time: when, and by which link.
    #[inline(always)]
    fn next_ahead(&mut self) -> Option<(Instant, u32, Packet)> {
        let (flows, has_slots) = (&self.flows, !self.groups.is_empty());
        self.network.next_ahead(|at, flow, body, is_last| {
            let Some(flow) = flows.get(flow) else { return true };
            if matches!(body, Body::Ack(_)) {
                return flow.hears_ahead(at);
            }
            if is_last && are_many(flows) {
                // It arrives when the next packet follows, and finds its receiver in the caches.
                flow.prefetch_receiver();
                return false;
            }
            // Before a copy of what a slot has received already, the slot may be used again.
            !has_slots || flow.slot.is_none() || flow.awaits(body)
        })
    }

    /// Something is due that is no link.
    #[inline(never)]
    fn on_event(&mut self, now: Instant, id: ComponentId, component: Component) {
        match component {
            Component::Link(_) => {}
            Component::SenderTimer(index) => {
                self.network.events.finish(id, None);
                self.network.trace_timers(now, index, self.flows[index].sender.due_timers(now));
                self.flows[index].sender.on_deadline(now);
                self.after_news(now, index);
            }
            Component::Application(index) => {
                let flow = &mut self.flows[index];
                let request = flow.application.on_deadline(now, &mut flow.sender);
                flow.await_keystroke();
                self.network.events.finish(id, flow.application.next_deadline());
                if let Some(number) = request {
                    self.send_request(now, index, number);
                }
                self.send_all(now, index);
            }
            Component::Arrivals(index) => {
                let flow = self.arrive(now, index);
                self.network.events.finish(id, self.groups[index].next_deadline());
                if let Some(flow) = flow {
                    self.after_news(now, flow);
                }
            }
            Component::Source(index) => self.emit(now, id, index),
            Component::ReceiverTimer(index) => {
                self.network.events.finish(id, None);
                let flow = &mut self.flows[index];
                if let Some(ack) = flow.receiver.on_deadline(now) {
                    flow.send_ack(now, ack, &mut self.network);
                }
                self.schedule_receiver(index);
            }
            Component::Channel(index) => self.network.on_channel(now, id, index),
            Component::Warmup => {
                self.network.events.finish(id, None);
                self.network.advance(now);
                self.begin_measurement(Instant::ZERO + self.plan.warmup);
            }
            Component::Sampling => {
                let next = self.sample(self.next_sample);
                self.network.events.finish(id, before(next));
                self.set_horizon();
            }
        }
    }

    /// A packet has reached the end of its route, over this link.
    #[inline]
    fn on_arrival(&mut self, now: Instant, link: u32, packet: Packet) {
        let (owner, body) = self.network.open(now, packet);
        let index = owner.flow();
        match body {
            Body::Data(mut segment) => {
                self.ask_ahead(link, Flow::prefetch_receiver, |flow| flow.receiver.prefetch_lists());
                let flow = &mut self.flows[index];
                flow.waited.note(owner.waited());
                self.delays.note_data(flow.place, owner.waited());
                let Some(seq) = segment.seq.checked_sub(flow.base) else { return };
                segment.seq = seq;
                let ack = flow.receiver.on_data(now, &segment, packet.ecn() == Ecn::Ce);
                let responds = flow.receiver.delivered() >= flow.awaited;
                match ack {
                    Some(ack) => flow.send_ack(now, ack, &mut self.network),
                    None => self.schedule_receiver(index),
                }
                if responds {
                    self.on_response(now, index);
                }
            }
            Body::Ack(mut ack) => {
                self.ask_ahead(link, Flow::prefetch_sender, |flow| flow.sender.prefetch_lists());
                let flow = &mut self.flows[index];
                self.delays.note_ack(flow.place, owner.waited());
                let Some(next) = ack.ack.checked_sub(flow.base) else { return };
                ack.ack = next;
                flow.sender.on_ack(now, &ack);
                if flow.finished.is_none() && flow.sender.is_done() {
                    self.on_done(now, index);
                }
                self.after_news(now, index);
            }
            Body::Datagram(datagram) => self.on_datagram(now, index - self.flows.len(), &datagram),
            Body::Request { number, .. } => self.on_request(now, index, number),
            Body::Corrupted { .. } => {}
        }
    }

    /// Asks for the body of a packet that comes out of a link soon, and, where there are many flows, for what those will
    /// need whose packets do.
    #[inline]
    fn ask_ahead(&self, link: u32, for_ends: impl Fn(&Flow), for_lists: impl Fn(&Flow)) {
        let link = &self.network.links[link as usize];
        let Some(far) = link.under_way(FAR) else { return };
        self.network.ledger.bodies.prefetch(far.body());
        if are_many(&self.flows) {
            let flow_of = |packet: &Packet| self.flows.get(self.network.ledger.bodies.flow(packet.body()));
            flow_of(far).into_iter().for_each(for_ends);
            link.under_way(NEAR).and_then(flow_of).into_iter().for_each(for_lists);
        }
    }

    /// The sender of a flow was told of something, or is a new one, and may send.
    #[inline]
    fn after_news(&mut self, now: Instant, index: usize) {
        self.network.trace_window(now, index, || self.flows[index].sender.cc().cwnd());
        self.send_all(now, index);
    }

    /// Sends whatever the sender of a flow may send at `now`.
    #[inline]
    pub(super) fn send_all(&mut self, now: Instant, index: usize) {
        let (flow, network) = (&mut self.flows[index], &mut self.network);
        while let Some(segment) = flow.sender.poll_transmit(now) {
            flow.send_data(now, segment, network);
        }
        network.events.set(network.components.sender(index), flow.sender.next_deadline());
        if flow.sender.wants_too_much() {
            self.give_up_on(now, index);
        }
    }

    /// The window of a flow grows without bound: the run ends.
    #[cold]
    fn give_up_on(&mut self, now: Instant, index: usize) {
        let number = self.flow_rank.iter().position(|rank| *rank == index);
        let flow = number.and_then(|number| self.plan.tcp_flows().nth(number));
        let flow = flow.map(|flow| flow.name.to_string()).unwrap_or_default();
        let limit = self.flows[index].sender.most_outstanding();
        self.fail(now, RunError::TooMuchInFlight { flow, at: now.since(Instant::ZERO), limit });
    }

    /// The run ends at `now`.
    fn fail(&mut self, now: Instant, error: RunError) {
        self.error.get_or_insert(error);
        self.until = now;
        self.last = now;
        self.set_horizon();
    }

    /// The client at the receiver asks.
    fn send_request(&mut self, now: Instant, index: usize, number: u64) {
        let flow = &self.flows[index];
        let Application::Web(web) = &flow.application else { return };
        let len = web.request_len();
        let cover = flow.cover(flow.reverse, len + flow.ack_len);
        self.network.send(now, cover, Body::Request { number, len });
    }

    fn schedule_receiver(&mut self, index: usize) {
        let deadline = self.flows[index].receiver.next_deadline();
        self.network.events.set(self.network.components.receiver(index), deadline);
    }
}

/// The groups of arrivals before the first one, whose slots are told so.
fn groups_of(plan: &Plan, flows: &mut [Flow], flow_rank: &[usize], rngs: &RngStreams) -> Vec<Group> {
    let mut first = plan.flows.len();
    let group = |(index, arrivals): (usize, &ArrivalsPlan)| {
        let group = Group::new(arrivals, first, flow_rank, rngs);
        for (flow, slot) in group.slots(index) {
            flows[flow].slot = Some(slot);
        }
        first += arrivals.slots.len();
        group
    };
    plan.arrivals.iter().enumerate().map(group).collect()
}

/// Whether flows are too many for the caches near the processor.
#[inline]
fn are_many(flows: &[Flow]) -> bool {
    flows.len() > CACHED_FLOWS
}

/// Row and number of every source of datagrams, in the order of the keys of their names.
fn numbered_sources(plan: &Plan, rngs: &RngStreams) -> Vec<(usize, usize)> {
    let rows = plan.datagrams.iter().enumerate();
    let numbered: Vec<_> =
        rows.flat_map(|(row, datagrams)| (0..datagrams.sources.len()).map(move |number| (row, number))).collect();
    let names = numbered.iter().map(|(row, number)| plan.datagrams[*row].sources[*number].name.as_str());
    order_by_key(rngs, names).into_iter().map(|index| numbered[index]).collect()
}

/// Indices into the plan, in the order of the keys of their names.
pub(super) fn order_by_key<'a>(rngs: &RngStreams, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut keyed: Vec<_> = names.enumerate().map(|(index, name)| (rngs.key(name), name, index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, index)| index).collect()
}

/// The inverse of an order.
pub(super) fn ranks(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in order.iter().enumerate() {
        ranks[*index] = rank;
    }
    ranks
}
