//! A tin: queues of flows with COBALT, which take turns.

use std::collections::VecDeque;

use super::hosts::{Ends, Hosts, Isolation};
use super::{CakeParameters, Clock};
use crate::qdisc::cobalt::{CobaltParameters, Controller};
use crate::qdisc::fifo::Fifo;
use crate::qdisc::flow_queues::mix;
use crate::qdisc::{QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant, Rate};

/// Queues of a tin, and the ways of a set.
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// Credits of a byte. A quantum is divided by the flows of a host.
const BYTE: i64 = 1 << 16;

/// The parameters of a tin, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TinParameters {
    /// The rate up to which its priority holds. None if no rate is known.
    pub threshold: Option<Rate>,
    /// Bytes of a flow in its turn, at least 1.
    pub quantum: u32,
    /// COBALT of each queue.
    pub cobalt: CobaltParameters,
    /// Time of the largest packet at the threshold.
    pub packet_time: Duration,
}

/// The kind of a flow to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Idle,
    Sparse,
    Bulk,
}

#[derive(Clone, Debug)]
struct Flow<T> {
    /// The hash of the last flow that began here.
    tag: u64,
    fifo: Fifo<T>,
    cobalt: Controller,
    kind: Kind,
    credits: i64,
    ends: Ends,
}

/// A tin.
#[derive(Clone, Debug)]
pub(super) struct Tin<T> {
    parameters: TinParameters,
    /// None until the first item comes.
    flows: Vec<Flow<T>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    hosts: Hosts,
    bulk_flows: u32,
    packets: u32,
    bytes: u64,
    pub(super) clock: Option<Clock>,
}

impl<T: Queued> Tin<T> {
    pub(super) fn new(parameters: TinParameters) -> Self {
        Tin {
            clock: parameters.threshold.map(Clock::new),
            parameters,
            flows: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            hosts: Hosts::default(),
            bulk_flows: 0,
            packets: 0,
            bytes: 0,
        }
    }

    /// The place of an item's flow. It looks for its hash in the set, then for an idle place, and else shares a place.
    fn place_of(&mut self, item: &T, salt: u64) -> usize {
        if self.flows.is_empty() {
            let idle = || Flow {
                tag: 0,
                fifo: Fifo::default(),
                cobalt: Controller::default(),
                kind: Kind::Idle,
                credits: 0,
                ends: Ends::default(),
            };
            self.flows.resize_with(QUEUES, idle);
        }
        let tag = mix(item.flow_hash() ^ salt);
        let direct = tag as usize % QUEUES;
        let set = direct - direct % WAYS;
        let ways = || (0..WAYS).map(|way| set + (direct + way) % WAYS);
        let known = ways().find(|place| self.flows[*place].tag == tag);
        let free = || ways().find(|place| self.flows[*place].kind == Kind::Idle);
        let place = known.or_else(free).unwrap_or(direct);
        self.flows[place].tag = tag;
        place
    }

    /// Adds an item.
    pub(super) fn push(
        &mut self,
        now: Instant,
        item: T,
        cake: &CakeParameters,
        salt: u64,
        sink: &mut dyn QueueSink<T>,
    ) {
        if self.packets == 0
            && let Some(clock) = &mut self.clock
        {
            clock.start(now);
        }
        let place = self.place_of(&item, salt);
        let ends = Ends::of(&item, &cake.groups);
        let flow = &mut self.flows[place];
        if flow.fifo.is_empty() {
            flow.cobalt.rest(&self.parameters.cobalt, now);
        }
        if flow.kind == Kind::Idle {
            flow.kind = Kind::Sparse;
            flow.ends = ends;
            let load = self.hosts.load(cake.isolation, ends);
            flow.credits = i64::from(self.parameters.quantum) * BYTE / i64::from(load);
            self.new.push_back(place);
        }
        self.packets += 1;
        self.bytes += u64::from(item.wire_len());
        let (hash, is_covered) = (item.flow_hash(), item.tag().is_covered_by_next());
        flow.fifo.push(now, item);
        if let Some(most) = cake.ack_filter.most()
            && is_covered
        {
            self.filter(now, place, hash, most, sink);
        }
    }

    /// Drops the oldest ACKs of a flow that later ones cover, down to this many.
    fn filter(&mut self, now: Instant, place: usize, hash: u64, most: usize, sink: &mut dyn QueueSink<T>) {
        let fifo = &mut self.flows[place].fifo;
        let is_covered = |item: &T| item.flow_hash() == hash && item.tag().is_covered_by_next();
        while fifo.count(is_covered) > most
            && let Some(item) = fifo.remove_first(is_covered)
        {
            self.packets -= 1;
            self.bytes -= u64::from(item.wire_len());
            sink.dropped(now, item, Reason::AckFilter);
        }
    }

    /// Takes the next item.
    pub(super) fn next(
        &mut self,
        now: Instant,
        isolation: Isolation,
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place];
            if flow.credits <= 0 {
                if flow.kind == Kind::Sparse {
                    flow.kind = Kind::Bulk;
                    self.hosts.add(flow.ends);
                    self.bulk_flows += 1;
                }
                let load = self.hosts.load(isolation, flow.ends);
                flow.credits += i64::from(self.parameters.quantum) * BYTE / i64::from(load);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            // A queue of a few packets is no standing one, however slow the link is.
            let least = self.parameters.packet_time * u64::from(2 * self.bulk_flows).max(4);
            let before = (flow.fifo.packets(), flow.fifo.bytes());
            let sent = flow.cobalt.dequeue(&self.parameters.cobalt, now, least, &mut flow.fifo, stream, sink);
            self.packets -= before.0 - flow.fifo.packets();
            self.bytes -= before.1 - flow.fifo.bytes();
            let Some((since, item)) = sent else {
                list.pop_front();
                if is_new {
                    self.old.push_back(place);
                } else {
                    if flow.kind == Kind::Bulk {
                        self.hosts.remove(flow.ends);
                        self.bulk_flows -= 1;
                    }
                    flow.kind = Kind::Idle;
                }
                continue;
            };
            flow.credits -= i64::from(item.wire_len()) * BYTE;
            return Some((since, item));
        }
    }

    fn active(&self) -> impl Iterator<Item = &Flow<T>> {
        self.new.iter().chain(&self.old).map(|place| &self.flows[*place])
    }

    /// Bytes of the longest queue.
    pub(super) fn longest(&self) -> u64 {
        self.active().map(|flow| flow.fifo.bytes()).max().unwrap_or(0)
    }

    /// Drops the first item of the longest queue.
    pub(super) fn shrink(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) {
        let longest = self.longest();
        let places = self.new.iter().chain(&self.old).copied();
        let Some(place) = places.into_iter().find(|place| self.flows[*place].fifo.bytes() == longest) else { return };
        let flow = &mut self.flows[place];
        flow.cobalt.overflow(&self.parameters.cobalt, now);
        if let Some((_, item)) = flow.fifo.pop() {
            self.packets -= 1;
            self.bytes -= u64::from(item.wire_len());
            sink.dropped(now, item, Reason::Full);
        }
    }

    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.flows.iter().for_each(|flow| flow.fifo.visit(see));
    }

    /// Shows its state.
    pub(super) fn show(&self, see: &mut dyn FnMut(&str, f64)) {
        see("packets", f64::from(self.packets));
        see("bulk_flows", f64::from(self.bulk_flows));
        let idle = Controller::default();
        let longest = self.active().max_by_key(|flow| flow.fifo.bytes()).map_or(&idle, |flow| &flow.cobalt);
        longest.show(&self.parameters.cobalt, see);
    }
}
