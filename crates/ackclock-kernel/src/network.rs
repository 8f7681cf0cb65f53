//! The network of a run: a simulation, whose packets of the kernel's flows have bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ackclock::ecn::Ecn;
use ackclock::sim::{
    Direction, FlowId, Outcome, OutcomeEvent, OutsidePacket, PacketKind, Plan, RunResult, Simulation, Stack, Traffic,
};
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Account, Counters, FlowWindow, Flows, Header, Place, Side, Tap, corrupt, ecn_of, set_ecn};

use crate::error::KernelError;
use crate::queue::{self, Routers};
use crate::readings::Reports;

/// A packet on its way.
#[derive(Clone, Debug, Default)]
struct Carried {
    bytes: Vec<u8>,
    header: Header,
    /// The number of holders: links, and for an arrival the host and the account.
    holders: u32,
}

/// All packets on their way, by token. A token that was given back is used again.
#[derive(Debug, Default)]
struct Packets {
    places: Vec<Carried>,
    free: Vec<u32>,
}

impl Packets {
    fn keep(&mut self, bytes: &[u8], header: Header) -> u32 {
        let token = self.free.pop().unwrap_or_else(|| {
            self.places.push(Carried::default());
            self.places.len() as u32 - 1
        });
        let packet = &mut self.places[token as usize];
        packet.bytes.clear();
        packet.bytes.extend_from_slice(bytes);
        (packet.header, packet.holders) = (header, 1);
        token
    }

    fn release(&mut self, token: u32) {
        let packet = &mut self.places[token as usize];
        packet.holders -= 1;
        if packet.holders == 0 {
            self.free.push(token);
        }
    }
}

/// An arrival at a host, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: Instant,
    /// Arrivals at the same time keep the order in which they became known.
    order: u64,
    token: u32,
    queueing: Duration,
    harm: Harm,
}

/// The changes of a packet on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Harm {
    ecn: Ecn,
    is_corrupted: bool,
}

/// Passes on the bytes of a packet as they arrive. `changed` holds a copy where they differ.
fn arriving<T>(bytes: &[u8], harm: Harm, changed: &mut Vec<u8>, pass_on: impl FnOnce(&[u8]) -> T) -> T {
    if !harm.is_corrupted && ecn_of(bytes) == harm.ecn {
        return pass_on(bytes);
    }
    changed.clear();
    changed.extend_from_slice(bytes);
    set_ecn(changed, harm.ecn);
    if harm.is_corrupted {
        corrupt(changed);
    }
    pass_on(changed)
}

/// A packet that arrives at a host for certain.
#[derive(Debug)]
pub struct Certain<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether its checksum is wrong.
    pub is_corrupted: bool,
}

/// The results of a network.
pub struct Finished {
    /// The results.
    pub result: RunResult,
    /// The packets that the plan captures.
    pub capture: Option<Tap>,
    /// CPU time of the routers in nanoseconds.
    pub routers_cpu_ns: u64,
}

/// The network of a run.
pub struct Network<'a> {
    plan: &'a Plan,
    simulation: Simulation<'a>,
    /// The state of the routers whose queues the links have.
    routers: Routers,
    packets: Packets,
    flows: Flows,
    /// Packets that are captured.
    pub tap: Option<Tap>,
    /// Arrivals that the host of each side does not have yet.
    known: [BinaryHeap<Reverse<Arrival>>; 2],
    /// Arrivals that have not happened.
    due: BinaryHeap<Reverse<Arrival>>,
    order: u64,
    /// A copy of a changed packet.
    changed: Vec<u8>,
    /// The counters of each flow when the window of measurement began.
    before: Option<Vec<Counters>>,
    next_sample: Option<Instant>,
    /// Bytes on the wire so far, for each sample and sampled flow.
    wire_bytes: Vec<u64>,
}

/// The direction of packets that come to a host.
fn to(side: Side) -> Direction {
    match side {
        Side::Receiver => Direction::Forward,
        Side::Sender => Direction::Reverse,
    }
}

impl<'a> Network<'a> {
    /// The network before the run. The routers of its queues run this kernel.
    ///
    /// # Errors
    /// The errors of [`queue::connect`].
    pub fn new(plan: &'a Plan, tap: Option<Tap>, kernel: &Path) -> Result<Self, KernelError> {
        let mut simulation = Simulation::new(plan);
        let routers = queue::connect(&mut simulation, plan, kernel)?;
        let mut flows = Flows::new(plan);
        for (flow, account) in plan.flows.iter().zip(&mut flows.accounts) {
            account.size = match flow.traffic {
                Traffic::Transfer { bytes } => Some(bytes),
                _ => None,
            };
        }
        Ok(Network {
            plan,
            simulation,
            routers,
            packets: Packets::default(),
            flows,
            tap,
            known: Default::default(),
            due: BinaryHeap::new(),
            order: 0,
            changed: Vec::new(),
            before: None,
            next_sample: plan.sampling.interval.map(|_| Instant::ZERO),
            wire_bytes: Vec::new(),
        })
    }

    /// The shortest time that a packet takes to this host from the other one.
    pub fn least_delay(&self, side: Side) -> Duration {
        self.simulation.least_delay(to(side)).unwrap_or_default()
    }

    /// A time before which nothing arrives at this host that is not known, unless a host sends more.
    pub fn earliest_news(&self, side: Side) -> Option<Instant> {
        self.simulation.earliest_news(to(side))
    }

    /// When the next packet arrives for certain that this host does not have yet.
    pub fn next_certain(&self, side: Side) -> Option<Instant> {
        self.known[side as usize].peek().map(|Reverse(arrival)| arrival.at)
    }

    /// Hands this packet over.
    pub fn take_certain(&mut self, side: Side, hand_over: impl FnOnce(Certain<'_>)) {
        let Some(Reverse(arrival)) = self.known[side as usize].pop() else { return };
        let packet = &self.packets.places[arrival.token as usize];
        let is_corrupted = arrival.harm.is_corrupted;
        arriving(&packet.bytes, arrival.harm, &mut self.changed, |bytes| hand_over(Certain { bytes, is_corrupted }));
        self.packets.release(arrival.token);
    }

    /// A packet leaves a host.
    pub fn enter(&mut self, now: Instant, from: Side, bytes: &[u8]) {
        let Some(departure) = self.flows.depart(now, from, bytes, None) else { return };
        let header = departure.header;
        if let Some(tap) = &mut self.tap {
            tap.see(now, Place::Host(from), header.flow, bytes);
        }
        let kind = match (header.is_data, header.is_forward) {
            (true, _) => PacketKind::Data,
            (false, false) => PacketKind::Ack,
            (false, true) => PacketKind::Request,
        };
        let packet = OutsidePacket {
            flow: FlowId::new(header.flow),
            direction: to(header.to()),
            kind,
            token: self.packets.keep(bytes, header),
            wire_len: header.wire_len,
            ecn: departure.ecn,
        };
        self.simulation.enter(now, packet);
        self.take_outcomes();
    }

    /// Everything happens that is due by `now`, with observations at their times.
    ///
    /// # Errors
    /// The errors of the simulation, and a router that ended.
    pub fn observe(&mut self, now: Instant, stop: &AtomicBool) -> Result<(), KernelError> {
        let (warmup_ends, end) = (Instant::ZERO + self.plan.warmup, Instant::ZERO + self.plan.duration);
        loop {
            let window = self.before.is_none().then_some(warmup_ends);
            let sample = self.next_sample.filter(|at| *at < end);
            let Some(at) = window.into_iter().chain(sample).min().filter(|at| *at <= now) else { break };
            if let Some(last) = at.before() {
                self.advance(last, stop)?;
            }
            if window == Some(at) {
                self.before = Some(self.counters());
                self.flows.accounts.iter_mut().for_each(Account::begin);
            }
            if sample == Some(at) {
                self.sample();
                self.next_sample = self.plan.sampling.interval.map(|interval| at + interval);
            }
        }
        self.advance(now, stop)
    }

    fn sample(&mut self) {
        let sampled = &self.flows.accounts[..self.plan.sampled_flows()];
        self.wire_bytes.extend(sampled.iter().map(Account::wire_bytes));
    }

    fn counters(&self) -> Vec<Counters> {
        self.flows.accounts.iter().map(Account::counters).collect()
    }

    fn advance(&mut self, now: Instant, stop: &AtomicBool) -> Result<(), KernelError> {
        self.simulation.step(now + Duration::from_nanos(1), stop)?;
        self.routers.check()?;
        self.take_outcomes();
        while let Some(Reverse(arrival)) = self.due.peek().copied().filter(|Reverse(arrival)| arrival.at <= now) {
            self.due.pop();
            self.account(&arrival);
        }
        Ok(())
    }

    /// An arrival has happened.
    fn account(&mut self, arrival: &Arrival) {
        let Arrival { at, token, queueing, harm, .. } = *arrival;
        let Carried { bytes, header, .. } = &self.packets.places[token as usize];
        if let Some(tap) = &mut self.tap {
            let place = Place::Host(header.to());
            arriving(bytes, harm, &mut self.changed, |bytes| tap.see(at, place, header.flow, bytes));
        }
        self.flows.arrive(at, header, queueing, harm.is_corrupted, harm.ecn == Ecn::Ce);
        self.packets.release(token);
    }

    /// Takes the outcomes of packets from the simulation.
    fn take_outcomes(&mut self) {
        while let Some(Outcome { at, token, event }) = self.simulation.take_outcome() {
            let packet = &mut self.packets.places[token as usize];
            match event {
                OutcomeEvent::Arrived { queueing, is_corrupted, ecn } => {
                    let harm = Harm { ecn, is_corrupted };
                    let arrival = Arrival { at, order: self.order, token, queueing, harm };
                    self.order += 1;
                    packet.holders += 1;
                    self.known[packet.header.to() as usize].push(Reverse(arrival));
                    self.due.push(Reverse(arrival));
                }
                OutcomeEvent::Copied => {
                    packet.holders += 1;
                    self.flows.copy(&packet.header);
                }
                OutcomeEvent::Gone { is_access_drop } => {
                    self.flows.lose(&packet.header, is_access_drop);
                    self.packets.release(token);
                }
                OutcomeEvent::Enters { link, ecn } => self.see(at, Place::Start(link), token, ecn),
                OutcomeEvent::Leaves { link, ecn } => self.see(at, Place::End(link), token, ecn),
            }
        }
    }

    fn see(&mut self, at: Instant, place: Place, token: u32, ecn: Ecn) {
        let Carried { bytes, header, .. } = &self.packets.places[token as usize];
        let harm = Harm { ecn, is_corrupted: false };
        if let Some(tap) = &mut self.tap {
            arriving(bytes, harm, &mut self.changed, |bytes| tap.see(at, place, header.flow, bytes));
        }
    }

    /// The run has ended, with these reports of the guests.
    ///
    /// # Errors
    /// The errors of the simulation, and a router that ended.
    pub fn finish(mut self, reports: Reports<'_>, stop: &AtomicBool) -> Result<Finished, KernelError> {
        if self.next_sample == Some(Instant::ZERO + self.plan.duration) {
            self.sample();
        }
        let after = self.counters();
        let before = self.before.unwrap_or_else(|| after.clone());
        let window = Instant::ZERO + self.plan.warmup..Instant::ZERO + self.plan.duration;
        let outside = self.plan.flows.iter().enumerate().filter(|(_, flow)| flow.stack == Stack::Outside);
        let flows = outside.map(|(index, plan)| {
            let (first, last) = reports.window(index);
            let (account, window) = (&self.flows.accounts[index], window.clone());
            let flow = FlowWindow { plan, account, before: before[index], after: after[index], first, last, window };
            flow.outside(index)
        });
        let mut result = self.simulation.finish_with(flows.collect(), stop)?;
        reports.fill(&mut result.samples.flows, &self.wire_bytes);
        self.routers.check()?;
        Ok(Finished { result, capture: self.tap, routers_cpu_ns: self.routers.cpu_ns() })
    }
}
