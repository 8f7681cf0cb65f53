//! The network: links, routes, and packets in flight from hop to hop.

use std::collections::BTreeMap;

use typed_index_collections::{TiSlice, TiVec};

use super::components::Components;
use super::endpoint::SendingEnd;
use super::index::{FlowRank, LinkId, LinkRank};
use super::ledger::{AtLink, Ledger};
use super::lookahead::Lookahead;
use super::meter::Meters;
use super::order::{inverse, order_by_key};
use super::outcome::OutcomeEvent;
use super::packet::{Body, Kind, OutsideBody, Owner, Packet, PacketMeta};
use super::plan::{ChannelPlan, LinkPlan, Plan};
use super::rates::ChangedRates;
use super::result::{Totals, Volume};
use crate::engine::{ComponentId, EventQueue};
use crate::link::{Ahead, Channel, Link, StationConfig};
use crate::probe::PacketEvent;
use crate::qdisc::{QueuePlan, Queued};
use crate::rng::RngStreams;
use crate::transport::Timer;
use crate::units::Instant;

/// A link as a simulation uses it.
pub(super) type Packets = Link<Packet>;

/// Index of the first hop of a route.
pub(super) type Route = u32;

/// A step of a route.
#[derive(Clone, Copy, Debug)]
enum Hop {
    /// The packet crosses this link next.
    Link {
        link: LinkRank,
        /// Packets enter it ahead of time.
        takes_ahead: bool,
        drive: Drive,
    },
    /// The packet crosses a meter and then its link.
    Metered {
        /// Which of [`Meters`].
        meter: u32,
        drive: Drive,
    },
    /// The packet has arrived.
    End {
        /// It may have done so ahead of time.
        ahead: bool,
        /// Its arrival must not precede a sample, which would show it.
        shows: bool,
        /// Other routes end with the same link.
        shared: bool,
        /// Packets to ends outside of the simulation arrive as soon as they are in flight.
        outside: bool,
    },
}

/// Who moves packets through a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drive {
    /// Events of its own.
    Events,
    /// The caller that requests departures ahead of time.
    Ahead,
    /// The channel of a station.
    Channel,
}

/// A station: its channel, and its place there.
#[derive(Clone, Copy, Debug)]
struct Station {
    channel: usize,
    place: usize,
}

/// All that lies between senders and receivers, and the packets in flight.
pub(super) struct Network {
    pub(super) events: EventQueue,
    pub(super) components: Components,
    pub(super) links: TiVec<LinkRank, Packets>,
    pub(super) link_rank: TiVec<LinkId, LinkRank>,
    /// The rates of links that were changed.
    pub(super) rates: ChangedRates,
    /// Queues that took the place of others, with their links.
    pub(super) queues: Vec<(LinkId, QueuePlan)>,
    /// In the order of their component numbers.
    channels: Vec<Channel<Packet>>,
    /// For each link that is a station. Empty without channels.
    stations: TiVec<LinkRank, Option<Station>>,
    /// Whether packets may leave a link ahead of time, without an event.
    hands_over: TiVec<LinkRank, bool>,
    /// Whether packets in flight on a link arrive for certain at ends outside of the simulation.
    is_certain: TiVec<LinkRank, bool>,
    /// Links that hand over and were touched since somebody looked.
    touched: Vec<LinkRank>,
    /// Events from this time on wait: the end of a step, or the time of an error.
    pub(super) until: Instant,
    /// The last moment of the warm-up, and then of the run: nothing that ends a route happens ahead of it.
    pub(super) horizon: Instant,
    /// The last moment before the next sample, where that comes before: nothing that samples show happens ahead of it.
    pub(super) sample_horizon: Instant,
    /// The last moment of a step: nothing at all happens ahead of it.
    pub(super) step_horizon: Instant,
    /// All routes, one after the other.
    hops: Vec<Hop>,
    meters: Meters,
    pub(super) ledger: Ledger,
    /// Packets that entered, and those that came to the end of their route, unharmed or corrupted.
    entered: Volume,
    arrived: Volume,
    corrupted: Volume,
}

/// The routes of a network in the making. Flows with the same path share theirs.
#[derive(Debug)]
pub(super) struct Routes<'plan> {
    hops: Vec<Hop>,
    /// The routes, by path and by the meter on it.
    known: BTreeMap<(&'plan [LinkId], Option<u32>), Route>,
    meters: Meters,
    links: &'plan TiSlice<LinkId, LinkPlan>,
    link_rank: &'plan TiSlice<LinkId, LinkRank>,
    /// The permitted lookahead at each link.
    lookahead: &'plan TiSlice<LinkId, Lookahead>,
}

impl<'plan> Routes<'plan> {
    pub(super) fn new(
        plan: &'plan Plan,
        link_rank: &'plan TiSlice<LinkId, LinkRank>,
        lookahead: &'plan TiSlice<LinkId, Lookahead>,
    ) -> Self {
        let meters = Meters::new(plan, link_rank);
        Routes {
            hops: Vec::new(),
            known: BTreeMap::new(),
            meters,
            links: TiSlice::from_ref(&plan.links),
            link_rank,
            lookahead,
        }
    }

    /// The route over these links of the plan, at least one.
    pub(super) fn over(&mut self, path: &'plan [LinkId]) -> Route {
        self.metered(path, None)
    }

    /// The same of one more flow, past the meter with this index in the plan.
    pub(super) fn past(&mut self, meter: Option<usize>, path: &'plan [LinkId]) -> Route {
        let meter = meter.map(|index| self.meters.place(index));
        self.metered(path, meter)
    }

    fn metered(&mut self, path: &'plan [LinkId], meter: Option<u32>) -> Route {
        *self.known.entry((path, meter)).or_insert_with(|| {
            let first = self.hops.len() as Route;
            let mut end = Hop::End { ahead: false, shows: false, shared: false, outside: false };
            for index in path {
                let Lookahead { takes, ends, shows, shared, outside, hands_over } = self.lookahead[*index];
                let drive = match (hands_over, self.links[*index].channel) {
                    (_, Some(_)) => Drive::Channel,
                    (true, None) => Drive::Ahead,
                    (false, None) => Drive::Events,
                };
                let link = self.link_rank[*index];
                self.hops.push(match meter.filter(|meter| self.meters.link(*meter) == link) {
                    Some(meter) => {
                        debug_assert!(!takes, "invariant: nothing enters ahead of time what is reported");
                        Hop::Metered { meter, drive }
                    }
                    None => Hop::Link { link, takes_ahead: takes, drive },
                });
                end = Hop::End { ahead: ends, shows, shared, outside };
            }
            self.hops.push(end);
            first
        })
    }
}

impl Network {
    /// An empty network. `link_order` contains the links of the plan in the order of their component numbers.
    pub(super) fn new(
        plan: &Plan,
        rngs: RngStreams,
        components: Components,
        link_order: &TiSlice<LinkRank, LinkId>,
        routes: Routes,
    ) -> Self {
        let ledger = Ledger::new(plan, routes.link_rank, components.flows as usize + components.streams as usize);
        let end = Instant::ZERO + plan.duration;
        let links: TiVec<_, _> = link_order.iter().map(|index| build_link(&plan.links[*index], rngs, end)).collect();
        let (channels, stations) = build_channels(plan, rngs, link_order);
        Network {
            events: EventQueue::new(components.count(), end),
            components,
            links,
            link_rank: routes.link_rank.to_vec(),
            rates: ChangedRates::default(),
            queues: Vec::new(),
            channels,
            stations,
            hands_over: link_order.iter().map(|index| routes.lookahead[*index].hands_over).collect(),
            is_certain: link_order.iter().map(|index| routes.lookahead[*index].outside).collect(),
            touched: Vec::new(),
            until: Instant::ZERO,
            horizon: Instant::ZERO,
            sample_horizon: Instant::ZERO,
            step_horizon: Instant::MAX,
            hops: routes.hops,
            meters: routes.meters,
            ledger,
            entered: Volume::default(),
            arrived: Volume::default(),
            corrupted: Volume::default(),
        }
    }

    /// Whose timer is likely to expire after the event that is dealt with now.
    #[inline]
    pub(super) fn next_sender(&self) -> Option<FlowRank> {
        self.components.timed(self.events.peek_next()?)
    }

    /// Where everything is that was ever sent.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals {
            sent: self.entered,
            delivered: self.arrived,
            corrupted: self.corrupted,
            policed: self.meters.policed(),
            ..Totals::default()
        };
        for link in &self.links {
            let counters = link.counters();
            let ((waiting, waiting_bytes), (flying, flying_bytes)) = (link.backlog(), link.in_transit());
            totals.dropped += Volume { packets: counters.drops, bytes: counters.dropped_bytes };
            totals.lost += Volume { packets: counters.losses, bytes: counters.lost_bytes };
            totals.duplicated += Volume { packets: counters.duplicates, bytes: counters.duplicated_bytes };
            totals.in_flight +=
                Volume { packets: u64::from(waiting) + flying as u64, bytes: waiting_bytes + flying_bytes };
        }
        for channel in &self.channels {
            let (packets, bytes) = channel.held();
            totals.in_flight += Volume { packets, bytes };
        }
        totals
    }

    /// Transmissions on a channel are due.
    pub(super) fn on_channel(&mut self, now: Instant, id: ComponentId, channel: usize) {
        self.events.finish(id, None);
        self.channels[channel].advance(now, self.links.as_mut(), &mut self.ledger);
        self.wake_stations(channel);
    }

    /// A packet enters the link of a station.
    fn enter_station(&mut self, now: Instant, link: LinkRank, packet: Packet) {
        let Station { channel, place } = self.stations[link].expect("invariant: a channel has its stations");
        self.channels[channel].enqueue(now, place, packet, self.links.as_mut(), &mut self.ledger);
        self.wake_stations(channel);
    }

    /// A channel may have given packets to links, and its next transmission may have moved.
    fn wake_stations(&mut self, channel: usize) {
        let state = &mut self.channels[channel];
        while let Some(link) = state.next_news().map(LinkRank::new) {
            if let Some(deadline) = self.links[link].next_deadline() {
                self.events.schedule(self.components.link(link), deadline);
            }
        }
        self.events.set(self.components.channel(channel), state.next_start());
    }

    /// Nothing happens from `now` on.
    pub(super) fn stop(&mut self, now: Instant) {
        self.until = now;
        for horizon in [&mut self.horizon, &mut self.sample_horizon, &mut self.step_horizon] {
            *horizon = now.min(*horizon);
        }
    }

    /// Brings all links up to date.
    pub(super) fn advance(&mut self, now: Instant) {
        for link in self.links.keys() {
            self.advance_link(now, link);
        }
    }

    /// Brings a link up to date. Packets in flight on it may leave ahead of time.
    pub(super) fn advance_link(&mut self, now: Instant, link: LinkRank) {
        if self.is_certain[link] {
            self.touched.push(link);
        }
        self.links[link].advance(now, &mut AtLink { ledger: &mut self.ledger, link });
    }

    /// Visits the packets at a link: flow, kind, packet, and arrival time at the far end. Queued packets have no
    /// arrival time.
    pub(super) fn visit(&self, link: LinkRank, mut see: impl FnMut(FlowRank, Kind, &Packet, Option<Instant>)) {
        let bodies = &self.ledger.bodies;
        self.links[link].visit(|packet, arrives| {
            see(bodies.flow(packet.body()), bodies.get(packet.body()).kind(), packet, arrives);
        });
    }

    /// Sends a new packet.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Instant, meta: PacketMeta, body: Body) {
        let packet = Packet::new(self.ledger.bodies.keep(meta.flow, body), &meta);
        self.set_out(now, packet);
    }

    /// Sends a packet with ranges in addition to its body.
    pub(super) fn send_with(&mut self, now: Instant, meta: PacketMeta, body: Body, ranges: &[(u64, u64)]) {
        let id = self.ledger.bodies.keep(meta.flow, body);
        self.ledger.bodies.keep_ranges(id, ranges);
        self.set_out(now, Packet::new(id, &meta));
    }

    fn set_out(&mut self, now: Instant, packet: Packet) {
        self.entered.add(packet.wire_len());
        if let Some(tracer) = &mut self.ledger.tracer {
            tracer.sent(now, packet, &self.ledger.bodies);
        }
        self.go_on(now, packet);
    }

    /// Processes a due link. Returns the packet that reached the end of its route.
    #[inline(always)]
    pub(super) fn on_link(&mut self, now: Instant, id: ComponentId, link: LinkRank) -> Option<Packet> {
        let state = &mut self.links[link];
        let mut arrived = state.poll(now, &mut AtLink { ledger: &mut self.ledger, link });
        if self.hands_over[link] {
            self.events.finish(id, None);
            self.touched.push(link);
        } else {
            self.events.finish(id, state.next_deadline());
        }
        if state.is_impaired() {
            arrived = arrived.map(|packet| self.ledger.impaired(packet));
        }
        let packet = arrived?;
        self.ledger.trace(now, link, packet, PacketEvent::Leave);
        self.go_on(now, packet)
    }

    /// Advances packets that leave links ahead of time, up to one that reaches the end of its route. Returns its
    /// time, link and packet. Call it until it returns none before the next event.
    ///
    /// Only packets accepted by `may_arrive` do so. It gets the time, the flow, the contents, and whether no packet
    /// follows.
    #[inline(always)]
    pub(super) fn next_ahead(
        &mut self,
        may_arrive: impl Fn(Instant, FlowRank, &Body, bool) -> bool,
    ) -> Option<(Instant, LinkRank, Packet)> {
        loop {
            let link = self.touched.pop()?;
            let (hops, bodies) = (&self.hops, &self.ledger.bodies);
            let (horizon, sample_horizon, step_horizon) = (self.horizon, self.sample_horizon, self.step_horizon);
            let state = &mut self.links[link];
            let taken = state.take_ahead(|at, packet, is_last| match hops[packet.next_hop()] {
                Hop::Link { takes_ahead: true, .. } if at <= step_horizon => Ahead::Take,
                Hop::End { outside: true, .. } if matches!(bodies.get(packet.body()), Body::Outside(_)) => Ahead::Take,
                Hop::End { ahead: true, shows, shared, .. }
                    if at <= if shows { sample_horizon } else { horizon }
                        && may_arrive(at, bodies.flow(packet.body()), bodies.get(packet.body()), is_last && shared) =>
                {
                    Ahead::Take
                }
                Hop::Link { takes_ahead: true, .. } | Hop::End { ahead: true, .. } => Ahead::Stop,
                Hop::Link { .. } | Hop::Metered { .. } | Hop::End { .. } => Ahead::Leave,
            });
            let Some((at, mut packet, is_last)) = taken else {
                self.wake(link);
                continue;
            };
            if state.is_impaired() {
                packet = self.ledger.impaired(packet);
            }
            if is_last {
                self.wake(link);
            } else {
                self.touched.push(link);
            }
            if let Some(arrived) = self.go_on(at, packet) {
                return Some((at, link, arrived));
            }
        }
    }

    /// A packet enters the next link of its route, or comes back from its end.
    #[inline(always)]
    fn go_on(&mut self, now: Instant, packet: Packet) -> Option<Packet> {
        match self.hops[packet.next_hop()] {
            Hop::Link { link, drive, .. } => {
                self.enter(now, link, drive, packet);
                None
            }
            Hop::Metered { meter, drive } => {
                self.enter_metered(now, meter, drive, packet);
                None
            }
            Hop::End { .. } => Some(packet),
        }
    }

    /// A packet enters a link past a meter, or does not.
    #[inline(never)]
    fn enter_metered(&mut self, now: Instant, meter: u32, drive: Drive, mut packet: Packet) {
        let link = self.meters.link(meter);
        let (colour, is_dropped) = self.meters.colour(now, meter, &mut packet);
        self.ledger.coloured(now, packet, colour);
        if is_dropped {
            self.ledger.trace(now, link, packet, PacketEvent::Enter);
            self.ledger.policed(now, link, packet);
        } else {
            self.enter(now, link, drive, packet);
        }
    }

    /// The delay of a link has changed, so remaining packets may leave sooner.
    pub(super) fn wake_changed(&mut self, link: LinkRank) {
        if self.hands_over[link] {
            self.wake(link);
        } else if let Some(at) = self.links[link].next_deadline() {
            self.events.schedule(self.components.link(link), at);
        }
    }

    /// A time before which no packet comes out of this link that has not been handed over. With `are_certain`, all
    /// packets in flight that count have been.
    pub(super) fn next_news(&self, link: LinkRank, are_certain: bool) -> Option<Instant> {
        let state = &self.links[link];
        if are_certain {
            return state.next_commitment_in_order();
        }
        let at = if state.reorders() { state.next_deadline() } else { state.next_arrival() };
        let station = self.stations.get(link).copied().flatten();
        let start = station.and_then(|station| self.channels[station.channel].next_start());
        at.into_iter().chain(start).min()
    }

    /// Schedules the remaining packets of a link after an access.
    #[inline]
    fn wake(&mut self, link: LinkRank) {
        if let Some(at) = self.links[link].next_arrival() {
            self.events.schedule(self.components.link(link), at);
        }
    }

    /// A packet has come to the end of its route, unharmed. Returns its owner. Its contents stay in place until another
    /// packet sets out.
    #[inline]
    pub(super) fn close(&mut self, packet: Packet) -> Owner {
        self.arrived.add(packet.wire_len());
        self.ledger.bodies.release(packet.body());
        self.ledger.bodies.owner(packet.body())
    }

    /// The contents of a packet at the end of its route, and its owner.
    pub(super) fn open(&mut self, now: Instant, packet: Packet) -> (Owner, Body) {
        let owner = self.ledger.bodies.owner(packet.body());
        let body = self.ledger.bodies.get(packet.body());
        if let Body::Corrupted { kind, .. } | Body::Outside(OutsideBody { kind, is_corrupted: true, .. }) = body {
            let kind = *kind;
            self.ledger.discard(now, owner.flow(), kind);
            self.discard(now, packet);
        } else {
            self.arrived.add(packet.wire_len());
        }
        (owner, self.ledger.bodies.take(packet.body()))
    }

    /// A packet enters a link.
    #[inline(always)]
    fn enter(&mut self, now: Instant, link: LinkRank, drive: Drive, mut packet: Packet) {
        packet.enter_hop();
        self.ledger.trace(now, link, packet, PacketEvent::Enter);
        if drive == Drive::Channel {
            self.enter_station(now, link, packet);
            return;
        }
        let state = &mut self.links[link];
        // While packets are in flight a wake-up is pending.
        let is_news = state.is_idle() || state.reorders();
        state.enqueue(now, packet, &mut AtLink { ledger: &mut self.ledger, link });
        if drive == Drive::Ahead {
            if self.touched.last() != Some(&link) {
                self.touched.push(link);
            }
        } else if is_news && let Some(deadline) = state.next_deadline() {
            self.events.schedule(self.components.link(link), deadline);
        }
    }

    /// A packet has come to an end outside of the simulation, or does so at this time in the future.
    #[cold]
    pub(super) fn arrived_outside(&mut self, at: Instant, owner: Owner, packet: Packet, body: OutsideBody) {
        let OutsideBody { token, is_corrupted, .. } = body;
        let (queueing, ecn) = (owner.queueing_delay(), packet.ecn());
        self.ledger.outcomes.add(at, token, OutcomeEvent::Arrived { queueing, is_corrupted, ecn });
    }

    /// A checksum is wrong.
    #[cold]
    fn discard(&mut self, now: Instant, packet: Packet) {
        self.corrupted.add(packet.wire_len());
        let link = match self.hops[packet.next_hop() - 1] {
            Hop::Link { link, .. } => link,
            Hop::Metered { meter, .. } => self.meters.link(meter),
            Hop::End { .. } => return,
        };
        self.ledger.trace(now, link, packet, PacketEvent::Discard);
    }

    /// The sender of a flow, after an event.
    #[inline]
    pub(super) fn trace_sender<'a>(&mut self, now: Instant, flow: FlowRank, sender: impl FnOnce() -> &'a SendingEnd) {
        if let Some(tracer) = &mut self.ledger.tracer {
            tracer.sender(now, flow, sender());
        }
    }

    /// A flow begins its next connection. `base` is the offset of its first byte.
    pub(super) fn trace_connection(&mut self, flow: FlowRank, base: u64) {
        let tracer = self.ledger.tracer.as_deref_mut();
        if let Some(recorder) = tracer.and_then(|tracer| tracer.recorder.as_mut()) {
            recorder.connected(flow, base);
        }
    }

    /// Timers of the sender of a flow go off.
    #[inline]
    pub(super) fn trace_timers(&mut self, now: Instant, flow: FlowRank, timers: impl Iterator<Item = Timer>) {
        if let Some(tracer) = &mut self.ledger.tracer {
            timers.for_each(|timer| tracer.timer(now, flow, timer));
        }
    }
}

fn build_link(plan: &LinkPlan, rngs: RngStreams, end: Instant) -> Packets {
    let link = plan.build(rngs, end);
    if plan.channel.is_some() { link.of_station() } else { link }
}

/// The channels of a plan with their stations in the order of the links, and the station of each link.
fn build_channels(
    plan: &Plan,
    rngs: RngStreams,
    link_order: &TiSlice<LinkRank, LinkId>,
) -> (Vec<Channel<Packet>>, TiVec<LinkRank, Option<Station>>) {
    if plan.channels.is_empty() {
        return (Vec::new(), TiVec::new());
    }
    let order: TiVec<usize, usize> = order_by_key(&rngs, plan.channels.iter().map(|channel| channel.name.as_str()));
    let channel_rank = inverse(&order);
    let mut configs: Vec<Vec<StationConfig>> = vec![Vec::new(); order.len()];
    let station = |(link, index): (LinkRank, &LinkId)| {
        let LinkPlan { name, rate, channel, .. } = &plan.links[*index];
        let channel = channel_rank[(*channel)?];
        let rate = rate.expect("invariant: a station has a rate");
        let stream = |purpose| rngs.stream(name, purpose);
        configs[channel].push(StationConfig {
            link: link.number(),
            rate,
            backoff: stream("backoff"),
            errors: stream("frame errors"),
        });
        Some(Station { channel, place: configs[channel].len() - 1 })
    };
    let stations = link_order.iter_enumerated().map(station).collect();
    let channel = |(index, stations): (&usize, Vec<StationConfig>)| {
        let ChannelPlan { dcf, .. } = &plan.channels[*index];
        Channel::new(dcf.clone(), stations)
    };
    (order.iter().zip(configs).map(channel).collect(), stations)
}
