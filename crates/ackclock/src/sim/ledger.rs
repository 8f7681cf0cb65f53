//! The ledger of a run: packets in flight, and the outcomes of each flow's packets other than a plain arrival.

use std::ops::{AddAssign, Range};

use typed_index_collections::{TiSlice, TiVec};

use super::index::{FlowRank, LinkId, LinkRank};
use super::order::inverse;
use super::outcome::{OutcomeEvent, Outcomes};
use super::packet::{Bodies, Body, BodyId, Kind, Packet};
use super::plan::Plan;
use super::recorder::Recorder;
use super::result::Volume;
use super::trace::Tracer;
use crate::link::{Sink, Sinks};
use crate::meter::Colour;
use crate::probe::PacketEvent;
use crate::qdisc::{Queued, Reason};
use crate::units::{Duration, Instant};

/// The outcomes of a flow's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fates {
    /// Data dropped by queues or lost in transit.
    pub(super) lost: u64,
    /// Data dropped by queues before the first shared link, part of `lost`.
    pub(super) access_drops: u64,
    /// Copies of data that links made.
    pub(super) copies: u64,
    /// Data that arrived with wrong bits.
    pub(super) corrupted: u64,
    /// Acknowledgements dropped or lost.
    pub(super) acks_lost: u64,
    /// Acknowledgements that arrived with wrong bits.
    pub(super) acks_corrupted: u64,
}

impl AddAssign for Fates {
    fn add_assign(&mut self, other: Fates) {
        self.lost += other.lost;
        self.access_drops += other.access_drops;
        self.copies += other.copies;
        self.corrupted += other.corrupted;
        self.acks_lost += other.acks_lost;
        self.acks_corrupted += other.acks_corrupted;
    }
}

/// The colours that a meter gave to the data of one or several flows, within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Colours {
    /// Packets and bytes on the wire that were green, yellow, and red.
    pub(super) of: [Volume; 3],
    /// Red packets that the meter dropped.
    pub(super) policed: u64,
}

impl AddAssign for Colours {
    fn add_assign(&mut self, other: Colours) {
        self.of.iter_mut().zip(other.of).for_each(|(sum, volume)| *sum += volume);
        self.policed += other.policed;
    }
}

/// The outcomes of a flow's packets except lost data, by the time at which they occur.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    within: Fates,
    /// Outcomes ahead of time and after the end of the window.
    after: Fates,
    /// Pairs of data packets that share a body.
    pairs: u64,
}

/// Packets in flight, and accounts of the others.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) bodies: Bodies,
    pub(super) tracer: Option<Box<Tracer>>,
    /// Outcomes of packets of flows whose ends are outside.
    pub(super) outcomes: Outcomes,
    link_of: TiVec<LinkRank, LinkId>,
    /// The window of measurement.
    window: Range<Instant>,
    /// Data lost within the window, separate from rare outcomes.
    lost: TiVec<FlowRank, u64>,
    accounts: TiVec<FlowRank, Account>,
    /// Empty without a meter.
    colours: TiVec<FlowRank, Colours>,
    /// Whether a link lies before the first shared one of its flow.
    is_access: TiVec<LinkRank, bool>,
}

impl Ledger {
    pub(super) fn new(plan: &Plan, link_rank: &TiSlice<LinkId, LinkRank>, flows: usize) -> Self {
        let mut is_access = TiVec::from(vec![false; plan.links.len()]);
        for flow in plan.tcp_flows() {
            let access = flow.forward.iter().take_while(|link| !plan.reports(**link));
            access.for_each(|link| is_access[link_rank[*link]] = true);
        }
        Ledger {
            bodies: Bodies::default(),
            outcomes: Outcomes::default(),
            link_of: inverse(link_rank),
            tracer: plan.is_traced().then(|| Box::new(Tracer::new(flows, plan.sampling.packets))),
            window: Instant::ZERO + plan.warmup..Instant::ZERO + plan.duration,
            lost: vec![0; flows].into(),
            accounts: vec![Account::default(); flows].into(),
            colours: vec![Colours::default(); if plan.meters.is_empty() { 0 } else { flows }].into(),
            is_access,
        }
    }

    /// Packets captured so far.
    pub(super) fn recorded(&self) -> usize {
        self.tracer.as_ref().and_then(|tracer| tracer.recorder.as_ref()).map_or(0, Recorder::len)
    }

    /// The window of measurement.
    pub(super) fn window(&self) -> &Range<Instant> {
        &self.window
    }

    /// The outcomes of a flow's packets within the window.
    pub(super) fn fates(&self, flow: FlowRank) -> Fates {
        Fates { lost: self.lost[flow], ..self.accounts[flow].within }
    }

    /// The colours that a meter gave to a flow's data within the window.
    pub(super) fn colours(&self, flow: FlowRank) -> Colours {
        self.colours.get(flow).copied().unwrap_or_default()
    }

    /// Data packets of each flow that are in flight at `now`, the beginning or the end of the window.
    pub(super) fn in_flight(&self, now: Instant) -> TiVec<FlowRank, u64> {
        let mut in_flight = TiVec::from(vec![0; self.accounts.len()]);
        self.bodies.for_each(|flow, body| in_flight[flow] += u64::from(body.kind() == Kind::Data));
        for (flow, account) in self.accounts.iter_enumerated() {
            let mut later = account.after;
            if now < self.window.end {
                later += self.fates(flow);
            }
            in_flight[flow] = in_flight[flow] + account.pairs + later.lost - later.copies;
        }
        in_flight
    }

    /// The outcomes at this time, unless it is before the window.
    fn fates_at(&mut self, at: Instant, flow: FlowRank) -> Option<&mut Fates> {
        let account = &mut self.accounts[flow];
        if at >= self.window.end {
            Some(&mut account.after)
        } else {
            (at >= self.window.start).then_some(&mut account.within)
        }
    }

    /// A packet with wrong bits has come to its host.
    pub(super) fn discard(&mut self, at: Instant, flow: FlowRank, kind: Kind) {
        if let Some(fates) = self.fates_at(at, flow) {
            fates.corrupted += u64::from(kind == Kind::Data);
            fates.acks_corrupted += u64::from(kind == Kind::Ack);
        }
    }

    /// A packet as it comes out of an impaired link.
    #[cold]
    pub(super) fn impaired(&mut self, mut packet: Packet) -> Packet {
        let flags = packet.take_impairments();
        if flags.is_doubled() {
            let shared = packet.body();
            packet.set_body(self.bodies.keep_copy(shared));
            if self.bodies.get(shared).kind() == Kind::Data {
                self.accounts[self.bodies.flow(shared)].pairs -= 1;
            }
            if let Some(tracer) = &mut self.tracer {
                tracer.doubled(shared, packet.body());
            }
        }
        if flags.is_corrupted() {
            self.bodies.corrupt(packet.body());
        }
        packet
    }

    /// Records the event of a packet if packets are traced.
    #[inline]
    pub(super) fn trace(&mut self, now: Instant, link: LinkRank, packet: Packet, event: PacketEvent) {
        if let Some(tracer) = &mut self.tracer {
            tracer.packet(now, link, packet, event, &self.bodies);
            if let Body::Outside(body) = self.bodies.get(packet.body()) {
                let (link, ecn) = (self.link_of[link], packet.ecn());
                match event {
                    PacketEvent::Enter => {
                        self.outcomes.add(now, body.token, OutcomeEvent::Enters { link, ecn });
                    }
                    PacketEvent::Leave => {
                        self.outcomes.add(now, body.token, OutcomeEvent::Leaves { link, ecn });
                    }
                    _ => {}
                }
            }
        }
    }

    /// A meter gives a packet this colour.
    pub(super) fn coloured(&mut self, at: Instant, packet: Packet, colour: Colour) {
        if self.window.contains(&at) {
            let flow = self.bodies.flow(packet.body());
            self.colours[flow].of[colour as usize].add(packet.wire_len());
        }
    }

    /// A meter drops a packet in front of this link.
    pub(super) fn policed(&mut self, at: Instant, link: LinkRank, packet: Packet) {
        self.trace(at, link, packet, PacketEvent::Police);
        if self.window.contains(&at) {
            let flow = self.bodies.flow(packet.body());
            self.colours[flow].policed += 1;
        }
        self.gone(at, packet.body(), false);
    }

    /// A packet is gone before it came to the end of its route.
    fn gone(&mut self, at: Instant, id: BodyId, is_access_drop: bool) {
        let (flow, kind) = (self.bodies.flow(id), self.bodies.get(id).kind());
        if let Body::Outside(body) = self.bodies.take(id) {
            self.outcomes.add(at, body.token, OutcomeEvent::Gone { is_access_drop });
        }
        if kind == Kind::Data && self.window.contains(&at) {
            self.lost[flow] += 1;
            if is_access_drop {
                self.accounts[flow].within.access_drops += 1;
            }
        } else if let Some(fates) = self.fates_at(at, flow) {
            fates.lost += u64::from(kind == Kind::Data);
            fates.acks_lost += u64::from(kind == Kind::Ack);
        }
    }
}

impl Sinks<Packet> for Ledger {
    fn at(&mut self, link: usize) -> impl Sink<Packet> {
        AtLink { ledger: self, link: LinkRank::new(link) }
    }
}

/// The ledger at a link.
#[derive(Debug)]
pub(super) struct AtLink<'ledger> {
    pub(super) ledger: &'ledger mut Ledger,
    pub(super) link: LinkRank,
}

impl Sink<Packet> for AtLink<'_> {
    fn dropped(&mut self, at: Instant, packet: Packet, _reason: Reason) {
        self.ledger.trace(at, self.link, packet, PacketEvent::Drop);
        self.ledger.gone(at, packet.body(), self.ledger.is_access[self.link]);
    }

    fn marked(&mut self, at: Instant, packet: &Packet, _reason: Reason) {
        self.ledger.trace(at, self.link, *packet, PacketEvent::Mark);
    }

    #[inline]
    fn transmitted(&mut self, at: Instant, packet: &Packet) {
        self.ledger.trace(at, self.link, *packet, PacketEvent::Transmit);
    }

    #[inline]
    fn dequeued(&mut self, packet: &Packet, sojourn: Duration) {
        self.ledger.bodies.add_queueing_delay(packet.body(), sojourn);
    }

    fn lost(&mut self, at: Instant, packet: Packet) {
        self.ledger.trace(at, self.link, packet, PacketEvent::Lose);
        self.ledger.gone(at, packet.body(), false);
    }

    fn doubled(&mut self, at: Instant, packet: &Packet) {
        self.ledger.trace(at, self.link, *packet, PacketEvent::Copy);
        let (flow, body) = (self.ledger.bodies.flow(packet.body()), self.ledger.bodies.get(packet.body()));
        if let Body::Outside(body) = body {
            self.ledger.outcomes.add(at, body.token, OutcomeEvent::Copied);
        }
        if body.kind() == Kind::Data {
            if let Some(fates) = self.ledger.fates_at(at, flow) {
                fates.copies += 1;
            }
            self.ledger.accounts[flow].pairs += 1;
        }
    }
}
