//! The links of a plan with real packets in them, stepped by whoever has a clock.

use std::sync::Arc;

use ackclock::engine::{ComponentId, EventQueue};
use ackclock::link::{Ahead as Decision, Impairable, Link, Sink};
use ackclock::qdisc::{Ecn, Queued, Reason};
use ackclock::rng::RngStreams;
use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};

use crate::account::Account;
use crate::ahead::{Ahead, Arrival};
use crate::packet::{self, Ip, Segment};
use crate::side::Side;
use crate::tap::{Place, Tap};

/// Space for a packet beyond the largest of the plan. Programs send no packets above the MTU of the device.
const ROOM: usize = 65_536;

/// An item that moves through links: the place of its bytes, and the fields that queues need.
#[derive(Clone, Debug)]
pub struct Item {
    place: u32,
    wire_len: u32,
    flow_hash: u64,
    ecn: Ecn,
    in_profile: bool,
    is_corrupted: bool,
}

impl Queued for Item {
    fn wire_len(&self) -> u32 {
        self.wire_len
    }

    fn flow_hash(&self) -> u64 {
        self.flow_hash
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn in_profile(&self) -> bool {
        self.in_profile
    }
}

impl Impairable for Item {
    fn corrupt(&mut self) {
        self.is_corrupted = true;
    }
}

/// A packet on its way.
#[derive(Clone, Debug, Default)]
struct Carried {
    bytes: Vec<u8>,
    flow: usize,
    is_forward: bool,
    is_data: bool,
    is_corrupted: bool,
    segment: Option<Segment>,
    /// Links of its path that it has passed.
    passed: usize,
    queueing: Duration,
    /// How many items have this place.
    items: u32,
}

/// All packets on their way. A place that was given back is used again.
#[derive(Debug, Default)]
struct Packets {
    places: Vec<Carried>,
    free: Vec<u32>,
}

impl Packets {
    fn keep(&mut self, bytes: &[u8]) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Carried::default());
            self.places.len() as u32 - 1
        });
        let kept = std::mem::take(&mut self.places[place as usize].bytes);
        let mut packet = Carried { bytes: kept, items: 1, ..Carried::default() };
        packet.bytes.clear();
        packet.bytes.extend_from_slice(bytes);
        self.places[place as usize] = packet;
        place
    }

    /// An item is gone.
    fn release(&mut self, place: u32) {
        let packet = &mut self.places[place as usize];
        packet.items -= 1;
        if packet.items == 0 {
            self.free.push(place);
        }
    }

    /// An item gets a place of its own.
    fn separate(&mut self, item: &mut Item) {
        let packet = &mut self.places[item.place as usize];
        if packet.items > 1 {
            packet.items -= 1;
            let copy = Carried { items: 1, ..packet.clone() };
            let place = self.keep(&[]);
            self.places[place as usize] = copy;
            item.place = place;
        }
    }
}

/// The path of a flow.
#[derive(Clone, Debug)]
struct Path {
    forward: Arc<[usize]>,
    reverse: Arc<[usize]>,
    flow_hash: u64,
    in_profile: bool,
    /// Bytes on the wire in addition to IP's.
    beyond_ip: u32,
}

impl Path {
    fn links(&self, is_forward: bool) -> &[usize] {
        if is_forward { &self.forward } else { &self.reverse }
    }
}

/// Records the events of a link.
struct Books<'a> {
    packets: &'a mut Packets,
    accounts: &'a mut [Account],
    is_access: bool,
}

impl Books<'_> {
    fn lost(&mut self, item: &Item, is_drop: bool) {
        let packet = &self.packets.places[item.place as usize];
        let counters = &mut self.accounts[packet.flow].counters;
        if packet.is_data {
            counters.lost += 1;
            counters.in_flight -= 1;
            counters.access_drops += u64::from(is_drop && self.is_access);
        } else if !packet.is_forward {
            counters.acks_lost += 1;
        }
        self.packets.release(item.place);
    }
}

impl Sink<Item> for Books<'_> {
    fn dropped(&mut self, _at: Instant, item: Item, _reason: Reason) {
        self.lost(&item, true);
    }

    fn lost(&mut self, _at: Instant, item: Item) {
        Books::lost(self, &item, false);
    }

    fn dequeued(&mut self, item: &Item, sojourn: Duration) {
        self.packets.places[item.place as usize].queueing += sojourn;
    }

    fn doubled(&mut self, _at: Instant, item: &Item) {
        let packet = &mut self.packets.places[item.place as usize];
        packet.items += 1;
        if packet.is_data {
            let counters = &mut self.accounts[packet.flow].counters;
            counters.copies += 1;
            counters.in_flight += 1;
        }
    }
}

/// A packet that has come to a host.
pub struct Delivery<'a> {
    /// The host.
    pub to: Side,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// When it was due.
    pub due: Instant,
}

/// The links with the packets in them.
pub struct Network {
    links: Vec<Link<Item>>,
    is_access: Vec<bool>,
    events: EventQueue,
    paths: Vec<Path>,
    packets: Packets,
    /// By flow.
    pub accounts: Vec<Account>,
    /// Packets that are captured.
    pub tap: Option<Tap>,
    /// Arrivals ahead of time, for a backend in virtual time.
    ahead: Option<Ahead>,
}

/// A packet that arrives at a host for certain.
#[derive(Debug)]
pub struct Certain<'a> {
    /// When it arrives.
    pub at: Instant,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether its checksum is wrong.
    pub is_corrupted: bool,
}

impl Network {
    /// The network of a plan, in which nothing is on its way.
    pub fn new(plan: &Plan) -> Self {
        let (rngs, end) = (RngStreams::from_root(plan.seed), Instant::ZERO + plan.duration);
        let mut is_access = vec![false; plan.links.len()];
        for flow in &plan.flows {
            flow.forward.iter().take_while(|link| !plan.reports(**link)).for_each(|link| is_access[*link] = true);
        }
        let paths = plan.flows.iter().map(|flow| Path {
            forward: flow.forward.clone(),
            reverse: flow.reverse.clone(),
            flow_hash: rngs.key(&flow.name),
            in_profile: flow.in_profile,
            beyond_ip: flow.transport.framing + flow.transport.header.saturating_sub(2 * packet::IP_LEN as u32),
        });
        Network {
            links: plan.links.iter().map(|link| link.build(rngs, end)).collect(),
            is_access,
            events: EventQueue::new(plan.links.len(), end),
            paths: paths.collect(),
            packets: Packets { places: Vec::with_capacity(ROOM / 16), free: Vec::new() },
            accounts: vec![Account::default(); plan.flows.len()],
            tap: None,
            ahead: None,
        }
    }

    /// The network of a plan whose hosts take arrivals ahead of time, by [`Network::next_certain`] and
    /// [`Network::take_certain`]. [`Network::advance`] passes none to `deliver`.
    pub fn in_virtual_time(plan: &Plan) -> Self {
        Network { ahead: Some(Ahead::new(plan)), ..Network::new(plan) }
    }

    /// When the next packet arrives for certain that this host does not have yet.
    pub fn next_certain(&self, side: Side) -> Option<Instant> {
        self.ahead.as_ref().and_then(|ahead| ahead.next_known(side))
    }

    /// Hands this packet over.
    pub fn take_certain(&mut self, side: Side, hand_over: impl FnOnce(Certain<'_>)) {
        let Some(arrival) = self.ahead.as_mut().and_then(|ahead| ahead.take(side)) else { return };
        let packet = &self.packets.places[arrival.place as usize];
        hand_over(Certain { at: arrival.at, bytes: &packet.bytes, is_corrupted: packet.is_corrupted });
        self.packets.release(arrival.place);
    }

    /// A time before which nothing arrives at this host that is not certain, unless a host sends more.
    pub fn earliest_news(&self, side: Side) -> Option<Instant> {
        let ahead = self.ahead.as_ref()?;
        let news = self.links.iter().enumerate().filter_map(|(index, link)| {
            let at = if link.reorders() { link.next_deadline() } else { link.next_arrival() };
            at.and_then(|at| ahead.seen(side, index, at))
        });
        news.min()
    }

    /// The shortest time that a packet takes to this host from the other one.
    pub fn least_delay(&self, to: Side) -> Duration {
        self.ahead.as_ref().map_or(Duration::ZERO, |ahead| ahead.least[to as usize])
    }

    /// A packet leaves a host.
    pub fn enter(&mut self, now: Instant, from: Side, bytes: &[u8], programs_flow: Option<usize>) {
        let Some(ip) = Ip::read(bytes) else { return };
        let far = match from {
            Side::Sender => Side::Receiver.flow(ip.destination),
            Side::Receiver => Side::Receiver.flow(ip.source),
        };
        // Packets of a program take the path of the flow that it replaces.
        let Some(flow) = far.filter(|flow| *flow < self.paths.len()).or(programs_flow) else { return };
        let is_forward = from == Side::Sender;
        let is_programs = programs_flow == Some(flow);
        let segment = ip.segment(bytes);
        let path = &self.paths[flow];
        let wire_len = ip.len + path.beyond_ip;
        let account = &mut self.accounts[flow];
        let is_data = match (&segment, is_forward) {
            _ if is_programs && is_forward => {
                let counters = &mut account.counters;
                counters.sent += 1;
                counters.wire_bytes += u64::from(wire_len);
                counters.in_flight += 1;
                true
            }
            (Some(segment), true) => account.sent(now, segment, wire_len),
            (_, true) => false,
            (_, false) => {
                account.answered(now);
                false
            }
        };
        let item = Item {
            place: self.packets.keep(bytes),
            wire_len,
            flow_hash: if is_programs { ip.flow_hash(bytes) } else { path.flow_hash },
            ecn: ip.ecn,
            in_profile: path.in_profile,
            is_corrupted: false,
        };
        let packet = &mut self.packets.places[item.place as usize];
        (packet.flow, packet.is_forward, packet.is_data, packet.segment) = (flow, is_forward, is_data, segment);
        let first = if is_forward { path.forward[0] } else { path.reverse[0] };
        if let Some(tap) = &mut self.tap {
            tap.see(now, Place::Host(from), flow, bytes);
        }
        self.enqueue(now, first, item);
    }

    fn enqueue(&mut self, now: Instant, index: usize, item: Item) {
        if let Some(tap) = &mut self.tap {
            let packet = &self.packets.places[item.place as usize];
            tap.see(now, Place::Start(index), packet.flow, &packet.bytes);
        }
        let (link, is_access) = (&mut self.links[index], self.is_access[index]);
        link.enqueue(now, item, &mut Books { packets: &mut self.packets, accounts: &mut self.accounts, is_access });
        let next = self.commit(index);
        self.events.set(ComponentId(index as u32), next);
    }

    /// Takes the certain arrivals of a link, if the hosts want them. Returns when the link needs attention next.
    fn commit(&mut self, index: usize) -> Option<Instant> {
        let link = &mut self.links[index];
        if self.ahead.is_none() || link.reorders() {
            return link.next_deadline();
        }
        loop {
            let (packets, paths) = (&self.packets.places, &self.paths);
            let is_last = |item: &Item| {
                let packet = &packets[item.place as usize];
                packet.passed + 1 == paths[packet.flow].links(packet.is_forward).len()
            };
            let decide = |_, item: &Item, _| if is_last(item) { Decision::Take } else { Decision::Leave };
            let Some((at, item, _)) = self.links[index].take_ahead(decide) else { break };
            let item = self.pass(at, index, item);
            self.arrive(at, item);
        }
        self.links[index].next_arrival()
    }

    /// A packet arrives at its host at this time.
    fn arrive(&mut self, at: Instant, item: Item) {
        let packet = &mut self.packets.places[item.place as usize];
        if packet.is_corrupted {
            packet::corrupt(&mut packet.bytes);
        }
        let side = if packet.is_forward { Side::Receiver } else { Side::Sender };
        if let Some(ahead) = &mut self.ahead {
            // The host takes it once, and its account once.
            packet.items += 1;
            ahead.add(side, at, item.place, item.wire_len, item.ecn == Ecn::Ce);
        }
    }

    /// When the next thing happens.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Runs all events due by `now`, each at its time. Passes arriving packets to `deliver`, which returns their
    /// delivery times.
    pub fn advance(&mut self, now: Instant, mut deliver: impl FnMut(Delivery<'_>) -> Instant) {
        while let Some((at, id)) = self.events.peek().filter(|(at, _)| *at <= now) {
            self.account_until(at);
            let index = id.0 as usize;
            let (link, is_access) = (&mut self.links[index], self.is_access[index]);
            let books = &mut Books { packets: &mut self.packets, accounts: &mut self.accounts, is_access };
            let out = link.poll(at, books);
            let next = self.commit(index);
            self.events.finish(id, next);
            if let Some(item) = out {
                self.leave(at, index, item, &mut deliver);
            }
        }
        self.account_until(now);
    }

    /// Accounts for the arrivals ahead of time that have happened.
    fn account_until(&mut self, now: Instant) {
        while let Some(arrival) = self.ahead.as_mut().and_then(|ahead| ahead.take_due(now)) {
            let Arrival { at, place, wire_len, is_marked, .. } = arrival;
            self.account(at, place, wire_len, is_marked);
        }
    }

    /// A packet comes out of a link, unchanged but for its mark.
    fn pass(&mut self, at: Instant, link: usize, mut item: Item) -> Item {
        self.packets.separate(&mut item);
        let packet = &mut self.packets.places[item.place as usize];
        packet.passed += 1;
        packet.is_corrupted |= std::mem::take(&mut item.is_corrupted);
        if item.ecn == Ecn::Ce {
            packet::set_ce(&mut packet.bytes);
        }
        if let Some(tap) = &mut self.tap {
            tap.see(at, Place::End(link), packet.flow, &packet.bytes);
        }
        item
    }

    /// A packet comes out of a link at its time.
    fn leave(&mut self, at: Instant, link: usize, item: Item, deliver: &mut impl FnMut(Delivery<'_>) -> Instant) {
        let item = self.pass(at, link, item);
        let packet = &mut self.packets.places[item.place as usize];
        if let Some(next) = self.paths[packet.flow].links(packet.is_forward).get(packet.passed).copied() {
            self.enqueue(at, next, item);
            return;
        }
        if self.ahead.is_some() {
            self.arrive(at, item);
            return;
        }
        if packet.is_corrupted {
            packet::corrupt(&mut packet.bytes);
        }
        let to = if packet.is_forward { Side::Receiver } else { Side::Sender };
        let now = deliver(Delivery { to, bytes: &packet.bytes, due: at });
        self.account(now, item.place, item.wire_len, item.ecn == Ecn::Ce);
    }

    /// A packet has arrived at its host.
    fn account(&mut self, now: Instant, place: u32, wire_len: u32, is_marked: bool) {
        let packet = &self.packets.places[place as usize];
        let to = if packet.is_forward { Side::Receiver } else { Side::Sender };
        if let Some(tap) = &mut self.tap {
            tap.see(now, Place::Host(to), packet.flow, &packet.bytes);
        }
        let account = &mut self.accounts[packet.flow];
        account.counters.in_flight -= u64::from(packet.is_data);
        match (packet.is_data, packet.is_forward, packet.is_corrupted) {
            (true, _, true) => account.counters.corrupted += 1,
            (true, _, false) => account.arrived(now, wire_len, packet.queueing, is_marked),
            (false, false, true) => account.counters.acks_corrupted += 1,
            (false, false, false) => {
                if let Some(segment) = &packet.segment {
                    account.acknowledged(now, segment, packet.queueing);
                }
            }
            (false, true, _) => {}
        }
        self.packets.release(place);
    }

    /// The link with this index in the plan, as it is at `now`.
    pub fn link(&mut self, now: Instant, index: usize) -> &mut Link<Item> {
        let (link, is_access) = (&mut self.links[index], self.is_access[index]);
        link.advance(now, &mut Books { packets: &mut self.packets, accounts: &mut self.accounts, is_access });
        link
    }
}
