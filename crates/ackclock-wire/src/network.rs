//! The links of a plan with real packets in them. The caller owns the clock.

use std::sync::Arc;

use ackclock::engine::{ComponentId, EventQueue};
use ackclock::link::{Impairable, Link, Sink};
use ackclock::qdisc::{Ecn, Queued, Reason, Tag};
use ackclock::rng::RngStreams;
use ackclock::sim::{LinkId, Plan};
use ackclock::units::{Duration, Instant};

use crate::flows::{Departure, Flows, Header};
use crate::packet;
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
    tag: Tag,
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

    fn tag(&self) -> Tag {
        self.tag
    }
}

impl Impairable for Item {
    fn corrupt(&mut self) {
        self.is_corrupted = true;
    }

    fn clear_ecn(&mut self) {
        self.ecn = Ecn::NotEct;
    }
}

/// A packet on its way.
#[derive(Clone, Debug, Default)]
struct Carried {
    bytes: Vec<u8>,
    header: Header,
    is_corrupted: bool,
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
    forward: Arc<[LinkId]>,
    reverse: Arc<[LinkId]>,
    flow_hash: u64,
    in_profile: bool,
    tag: Tag,
}

impl Path {
    fn links(&self, is_forward: bool) -> &[LinkId] {
        if is_forward { &self.forward } else { &self.reverse }
    }
}

/// Records the events of a link.
struct Books<'a> {
    packets: &'a mut Packets,
    flows: &'a mut Flows,
    is_access: bool,
}

impl Books<'_> {
    fn lost(&mut self, item: &Item, is_drop: bool) {
        self.flows.lose(&self.packets.places[item.place as usize].header, is_drop && self.is_access);
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
        self.flows.copy(&packet.header);
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
    /// The flows.
    pub flows: Flows,
    /// Packets that are captured.
    pub tap: Option<Tap>,
}

impl Network {
    /// The network of a plan, in which nothing is on its way.
    pub fn new(plan: &Plan) -> Self {
        let (rngs, end) = (RngStreams::from_root(plan.seed), Instant::ZERO + plan.duration);
        let mut is_access = vec![false; plan.links.len()];
        for flow in &plan.flows {
            flow.forward
                .iter()
                .take_while(|link| !plan.reports(**link))
                .for_each(|link| is_access[link.number()] = true);
        }
        let paths = plan.flows.iter().map(|flow| Path {
            forward: flow.forward.clone(),
            reverse: flow.reverse.clone(),
            flow_hash: rngs.key(&flow.name),
            in_profile: flow.in_profile,
            tag: plan.groups.tag(&flow.group),
        });
        Network {
            links: plan.links.iter().map(|link| link.build(rngs, end)).collect(),
            is_access,
            events: EventQueue::new(plan.links.len(), end),
            paths: paths.collect(),
            packets: Packets { places: Vec::with_capacity(ROOM / 16), free: Vec::new() },
            flows: Flows::new(plan),
            tap: None,
        }
    }

    /// A packet leaves a host.
    pub fn enter(&mut self, now: Instant, from: Side, bytes: &[u8], programs_flow: Option<usize>) {
        let Some(departure) = self.flows.depart(now, from, bytes, programs_flow) else { return };
        let Departure { header, ecn, programs_hash } = departure;
        let (flow, path) = (header.flow, &self.paths[header.flow]);
        let item = Item {
            place: self.packets.keep(bytes),
            wire_len: header.wire_len,
            flow_hash: programs_hash.unwrap_or(path.flow_hash),
            ecn,
            in_profile: path.in_profile,
            tag: if header.is_forward { path.tag } else { path.tag.reversed() },
            is_corrupted: false,
        };
        self.packets.places[item.place as usize].header = header;
        let first = path.links(header.is_forward)[0];
        if let Some(tap) = &mut self.tap {
            tap.see(now, Place::Host(from), flow, bytes);
        }
        self.enqueue(now, first, item);
    }

    fn enqueue(&mut self, now: Instant, id: LinkId, item: Item) {
        if let Some(tap) = &mut self.tap {
            let packet = &self.packets.places[item.place as usize];
            tap.see(now, Place::Start(id), packet.header.flow, &packet.bytes);
        }
        let index = id.number();
        let (link, is_access) = (&mut self.links[index], self.is_access[index]);
        link.enqueue(now, item, &mut Books { packets: &mut self.packets, flows: &mut self.flows, is_access });
        self.events.set(ComponentId(index as u32), link.next_deadline());
    }

    /// When the next thing happens.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Runs all events due by `now`, each at its time. Passes arriving packets to `deliver`, which returns their
    /// delivery times.
    pub fn advance(&mut self, now: Instant, mut deliver: impl FnMut(Delivery<'_>) -> Instant) {
        while let Some((at, id)) = self.events.peek().filter(|(at, _)| *at <= now) {
            let index = id.0 as usize;
            let (link, is_access) = (&mut self.links[index], self.is_access[index]);
            let books = &mut Books { packets: &mut self.packets, flows: &mut self.flows, is_access };
            let out = link.poll(at, books);
            self.events.finish(id, link.next_deadline());
            if let Some(item) = out {
                self.leave(at, LinkId::new(index), item, &mut deliver);
            }
        }
    }

    /// A packet comes out of a link, unchanged but for its ECN field.
    fn pass(&mut self, at: Instant, link: LinkId, mut item: Item) -> Item {
        self.packets.separate(&mut item);
        let packet = &mut self.packets.places[item.place as usize];
        packet.passed += 1;
        packet.is_corrupted |= std::mem::take(&mut item.is_corrupted);
        if packet::ecn_of(&packet.bytes) != item.ecn {
            packet::set_ecn(&mut packet.bytes, item.ecn);
        }
        if let Some(tap) = &mut self.tap {
            tap.see(at, Place::End(link), packet.header.flow, &packet.bytes);
        }
        item
    }

    /// A packet comes out of a link at its time.
    fn leave(&mut self, at: Instant, link: LinkId, item: Item, deliver: &mut impl FnMut(Delivery<'_>) -> Instant) {
        let item = self.pass(at, link, item);
        let packet = &mut self.packets.places[item.place as usize];
        let Carried { header, queueing, is_corrupted, .. } = *packet;
        if let Some(next) = self.paths[header.flow].links(header.is_forward).get(packet.passed).copied() {
            self.enqueue(at, next, item);
            return;
        }
        if is_corrupted {
            packet::corrupt(&mut packet.bytes);
        }
        let now = deliver(Delivery { to: header.to(), bytes: &packet.bytes, due: at });
        if let Some(tap) = &mut self.tap {
            tap.see(now, Place::Host(header.to()), header.flow, &packet.bytes);
        }
        self.flows.arrive(now, &header, queueing, is_corrupted, item.ecn == Ecn::Ce);
        self.packets.release(item.place);
    }

    /// A link as it is at `now`.
    pub fn link(&mut self, now: Instant, id: LinkId) -> &mut Link<Item> {
        let index = id.number();
        let (link, is_access) = (&mut self.links[index], self.is_access[index]);
        link.advance(now, &mut Books { packets: &mut self.packets, flows: &mut self.flows, is_access });
        link
    }
}
