//! The network: links, routes, and packets on their way from hop to hop.

use std::collections::BTreeMap;

use super::components::Components;
use super::foresight::Foresight;
use super::ledger::{AtLink, Ledger};
use super::packet::{Body, Cover, Owner, Packet};
use super::plan::{LinkPlan, Plan};
use super::result::{Totals, Volume};
use crate::engine::{ComponentId, EventQueue};
use crate::link::{Ahead, Link, LinkConfig};
use crate::luck::Luck;
use crate::probe::PacketEvent;
use crate::qdisc::Queued;
use crate::units::Instant;

/// A link as a simulation uses it.
pub(super) type Packets = Link<Packet>;

/// Index of the first hop of a route.
pub(super) type Route = u32;

/// A step of a route.
#[derive(Clone, Copy, Debug)]
enum Hop {
    /// Over this link.
    Link {
        link: u32,
        /// Packets enter it ahead of time.
        takes_ahead: bool,
        /// Packets may leave it ahead of time.
        hands_over: bool,
    },
    /// The packet has arrived.
    End {
        /// It may have done so ahead of time.
        ahead: bool,
        /// But not ahead of a sample, which would show it.
        shows: bool,
        /// Other routes end with the same link.
        shared: bool,
    },
}

/// All that lies between senders and receivers, and what is under way.
pub(super) struct Network {
    pub(super) events: EventQueue,
    pub(super) components: Components,
    /// In the order of their component numbers.
    pub(super) links: Vec<Packets>,
    /// For each of `links`: whether packets may leave it ahead of time, without an event.
    hands_over: Vec<bool>,
    /// Links that hand over and were touched since somebody looked.
    touched: Vec<u32>,
    /// The last moment of the warm-up, and then of the run: nothing that ends a route happens ahead of it.
    pub(super) horizon: Instant,
    /// The last moment before the next sample, where that comes before: nothing that samples show happens ahead of it.
    pub(super) sample_horizon: Instant,
    /// All routes, one behind the other.
    hops: Vec<Hop>,
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
    known: BTreeMap<&'plan [usize], Route>,
    /// Where each link of the plan stands, and what may happen there ahead of time.
    link_rank: &'plan [usize],
    foresight: &'plan [Foresight],
}

impl<'plan> Routes<'plan> {
    pub(super) fn new(link_rank: &'plan [usize], foresight: &'plan [Foresight]) -> Self {
        Routes { hops: Vec::new(), known: BTreeMap::new(), link_rank, foresight }
    }

    /// The route over these links of the plan, at least one.
    pub(super) fn over(&mut self, path: &'plan [usize]) -> Route {
        *self.known.entry(path).or_insert_with(|| {
            let first = self.hops.len() as Route;
            let mut end = Hop::End { ahead: false, shows: false, shared: false };
            for index in path {
                let Foresight { takes, ends, shows, shared, hands_over } = self.foresight[*index];
                self.hops.push(Hop::Link { link: self.link_rank[*index] as u32, takes_ahead: takes, hands_over });
                end = Hop::End { ahead: ends, shows, shared };
            }
            self.hops.push(end);
            first
        })
    }
}

impl Network {
    /// An empty network; `link_order` has the links of the plan in the order of their component numbers.
    pub(super) fn new(plan: &Plan, luck: Luck, components: Components, link_order: &[usize], routes: Routes) -> Self {
        let ledger = Ledger::new(plan, routes.link_rank, components.flows as usize + components.streams as usize);
        let end = Instant::ZERO + plan.duration;
        let links: Vec<_> = link_order.iter().map(|index| build_link(&plan.links[*index], luck, end)).collect();
        Network {
            events: EventQueue::new(components.count(), end),
            components,
            links,
            hands_over: link_order.iter().map(|index| routes.foresight[*index].hands_over).collect(),
            touched: Vec::new(),
            horizon: Instant::ZERO,
            sample_horizon: Instant::ZERO,
            hops: routes.hops,
            ledger,
            entered: Volume::default(),
            arrived: Volume::default(),
            corrupted: Volume::default(),
        }
    }

    /// Whose timer is likely to expire behind the event that is dealt with now.
    #[inline]
    pub(super) fn next_sender(&self) -> Option<usize> {
        self.components.timed(self.events.peek_behind()?)
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

    /// Brings all links up to date.
    pub(super) fn advance(&mut self, now: Instant) {
        for link in 0..self.links.len() {
            self.advance_link(now, link);
        }
    }

    /// Brings a link up to date.
    pub(super) fn advance_link(&mut self, now: Instant, link: usize) {
        self.links[link].advance(now, &mut AtLink { ledger: &mut self.ledger, link: link as u32 });
    }

    /// Puts a new packet on its way.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Instant, cover: Cover, body: Body) {
        let packet = Packet::new(self.ledger.bodies.keep(cover.flow, body), &cover);
        self.set_out(now, packet);
    }

    fn set_out(&mut self, now: Instant, packet: Packet) {
        self.entered.add(packet.wire_len());
        if let Some(tracer) = &mut self.ledger.tracer {
            tracer.sent(packet, &self.ledger.bodies);
        }
        self.go_on(now, packet);
    }

    /// A link is due; the packet that came to the end of its route by it.
    #[inline(always)]
    pub(super) fn on_link(&mut self, now: Instant, id: ComponentId, link: u32) -> Option<Packet> {
        let state = &mut self.links[link as usize];
        let mut arrived = state.poll(now, &mut AtLink { ledger: &mut self.ledger, link });
        if self.hands_over[link as usize] {
            self.events.finish(id, None);
            self.touched.push(link);
        } else {
            self.events.finish(id, state.next_deadline());
        }
        if state.is_impaired() {
            arrived = arrived.map(|packet| self.ledger.harmed(packet));
        }
        let packet = arrived?;
        self.ledger.trace(now, link, packet, PacketEvent::Leave);
        self.go_on(now, packet)
    }

    /// Moves packets on that leave links ahead of time, up to one that comes to the end of its route: when, by which
    /// link, and the packet. To be asked until there is none before the next event.
    ///
    /// Only what `may_arrive` does so; it is told of the time, the flow, what it carries, and whether nothing follows.
    #[inline(always)]
    pub(super) fn next_ahead(
        &mut self,
        may_arrive: impl Fn(Instant, usize, &Body, bool) -> bool,
    ) -> Option<(Instant, u32, Packet)> {
        loop {
            let link = self.touched.pop()?;
            let (hops, bodies) = (&self.hops, &self.ledger.bodies);
            let (horizon, sample_horizon) = (self.horizon, self.sample_horizon);
            let state = &mut self.links[link as usize];
            let taken = state.take_ahead(|at, packet, is_last| match hops[packet.next_hop()] {
                Hop::Link { takes_ahead: true, .. } => Ahead::Take,
                Hop::End { ahead: true, shows, shared }
                    if at <= if shows { sample_horizon } else { horizon }
                        && may_arrive(at, bodies.flow(packet.body()), bodies.get(packet.body()), is_last && shared) =>
                {
                    Ahead::Take
                }
                Hop::End { ahead: true, .. } => Ahead::Stop,
                Hop::Link { .. } | Hop::End { .. } => Ahead::Leave,
            });
            let Some((at, mut packet, is_last)) = taken else {
                self.wake(link);
                continue;
            };
            if state.is_impaired() {
                packet = self.ledger.harmed(packet);
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
            Hop::Link { link, hands_over, .. } => {
                self.enter(now, link, hands_over, packet);
                None
            }
            Hop::End { .. } => Some(packet),
        }
    }

    /// What remains on a link that was touched happens at its time.
    #[inline]
    fn wake(&mut self, link: u32) {
        if let Some(at) = self.links[link as usize].next_arrival() {
            self.events.schedule(self.components.link(link), at);
        }
    }

    /// What a packet carried to the end of its route, and whose it was.
    #[inline]
    pub(super) fn open(&mut self, now: Instant, packet: Packet) -> (Owner, Body) {
        let owner = self.ledger.bodies.owner(packet.body());
        if let Body::Corrupted { kind, .. } = self.ledger.bodies.get(packet.body()) {
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
    fn enter(&mut self, now: Instant, link: u32, hands_over: bool, mut packet: Packet) {
        packet.enter_hop();
        self.ledger.trace(now, link, packet, PacketEvent::Enter);
        let state = &mut self.links[link as usize];
        // While packets are under way a wake-up is pending.
        let is_news = state.is_idle() || state.reorders();
        state.enqueue(now, packet, &mut AtLink { ledger: &mut self.ledger, link });
        let deadline = state.next_deadline();
        if hands_over {
            if self.touched.last() != Some(&link) {
                self.touched.push(link);
            }
        } else if is_news && let Some(deadline) = deadline {
            self.events.schedule(self.components.link(link), deadline);
        }
    }

    /// A checksum is wrong.
    #[cold]
    fn discard(&mut self, now: Instant, packet: Packet) {
        self.corrupted.add(packet.wire_len());
        if let Hop::Link { link, .. } = self.hops[packet.next_hop() - 1] {
            self.ledger.trace(now, link, packet, PacketEvent::Discard);
        }
    }

    /// The window of a flow, after it was told of something.
    #[inline]
    pub(super) fn trace_window(&mut self, now: Instant, flow: usize, cwnd: impl FnOnce() -> f64) {
        if let Some(tracer) = &mut self.ledger.tracer {
            tracer.window(now, flow, cwnd());
        }
    }
}

fn build_link(plan: &LinkPlan, luck: Luck, end: Instant) -> Packets {
    let wire = plan.wire.build(|purpose| luck.stream(&plan.name, purpose));
    let varies = plan.variation(luck, end);
    let config = LinkConfig { rate: plan.rate, varies, delay: plan.delay, wire, histogram: !plan.private };
    Link::new(config, plan.queue.build(|purpose| luck.stream(&plan.name, purpose)))
}
