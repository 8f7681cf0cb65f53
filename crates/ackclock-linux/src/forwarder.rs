//! The loop that moves packets from the devices into the links and back to the devices, by the clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ackclock::link::LinkCounters;
use ackclock::probe::LinkSamples;
use ackclock::rng::RngStreams;
use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};

use crate::account::Counters;
use crate::error::{EmulationError, Tried};
use crate::fidelity::Timing;
use crate::host::{Host, Side};
use crate::network::{Delivery, Network};
use crate::sys::{self, Waiting};

/// Packets that are read from a device in one batch.
const BATCH: usize = 64;
/// The longest sleep, so that one that is too long shows.
const HEARTBEAT: Duration = Duration::from_millis(1);
/// The largest packet of IPv4.
const LARGEST: usize = 65_535;

/// The clock of a run, which both of its threads read.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// Time 0 is so far from now.
    pub fn starting_in(delay: Duration) -> Self {
        Clock { origin_ns: sys::monotonic_ns() + delay.as_nanos() }
    }

    /// Sleeps until time 0.
    pub fn wait_for_start(self) {
        let left = self.origin_ns.saturating_sub(sys::monotonic_ns());
        std::thread::sleep(std::time::Duration::from_nanos(left));
    }

    /// The time since the start, or 0 before it.
    pub fn now(self) -> Instant {
        Instant::from_nanos(sys::monotonic_ns().saturating_sub(self.origin_ns))
    }
}

/// State that the threads of a run share.
#[derive(Debug)]
pub struct Shared {
    /// By flow: bytes on the wire so far.
    pub wire_bytes: Vec<AtomicU64>,
    /// The run is over before its time.
    pub is_over: AtomicBool,
}

impl Shared {
    /// Of a run that begins.
    pub fn new(plan: &Plan) -> Self {
        Shared { wire_bytes: plan.flows.iter().map(|_| AtomicU64::new(0)).collect(), is_over: AtomicBool::new(false) }
    }
}

/// Counters at one time.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub at: Instant,
    pub flows: Vec<Counters>,
    pub links: Vec<LinkCounters>,
}

/// The results of forwarding.
pub struct Forwarded {
    pub network: Network,
    pub before: Snapshot,
    pub after: Snapshot,
    pub samples: LinkSamples,
    pub timing: Timing,
}

/// Forwards packets until the end of a run.
pub struct Forwarder<'a> {
    plan: &'a Plan,
    hosts: [&'a Host; 2],
    clock: Clock,
    shared: &'a Shared,
    /// The flow in whose place a program is.
    programs_flow: Option<usize>,
    network: Network,
    before: Option<Snapshot>,
    samples: LinkSamples,
    next_sample: Option<Instant>,
    timing: Timing,
}

impl<'a> Forwarder<'a> {
    /// Forwards packets between the hosts of the senders and the receivers.
    pub fn new(
        plan: &'a Plan,
        hosts: [&'a Host; 2],
        (clock, shared): (Clock, &'a Shared),
        network: Network,
        programs_flow: Option<usize>,
    ) -> Self {
        let next_sample = plan.sampling.interval.map(|_| Instant::ZERO);
        let (samples, timing) = (LinkSamples::default(), Timing::default());
        Forwarder { plan, hosts, clock, shared, programs_flow, network, before: None, samples, next_sample, timing }
    }

    /// Runs to the end.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Forwarded, EmulationError> {
        sys::be_prompt(2);
        let cpu = sys::thread_cpu_ns();
        let end = Instant::ZERO + self.plan.duration;
        let mut packet = vec![0; LARGEST];
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(EmulationError::Interrupted);
            }
            let now = self.catch_up(end);
            if now == end || self.shared.is_over.load(Ordering::Relaxed) {
                break;
            }
            if !self.read(end, &mut packet) {
                self.sleep(now, end)?;
            }
        }
        self.timing.cpu_ns = sys::thread_cpu_ns() - cpu;
        let now = self.clock.now().min(end);
        let after = self.snapshot(now);
        let before = self.before.unwrap_or_else(|| after.clone());
        Ok(Forwarded { network: self.network, before, after, samples: self.samples, timing: self.timing })
    }

    /// Lets all happen that is due by now, and says when that is.
    fn catch_up(&mut self, end: Instant) -> Instant {
        let now = self.clock.now().min(end);
        self.observe(now);
        self.advance(now);
        now
    }

    /// Takes packets from the devices. Whether there were any.
    fn read(&mut self, end: Instant, packet: &mut [u8]) -> bool {
        let mut has_read = false;
        for (host, side) in self.hosts.into_iter().zip([Side::Sender, Side::Receiver]) {
            for _ in 0..BATCH {
                let Some(len) = host.read(packet) else { break };
                has_read = true;
                // Delivery takes time, in which a host may answer. An earlier reading time would shorten its RTT.
                let now = self.catch_up(end);
                self.network.enter(now, side, &packet[..len], self.programs_flow);
            }
        }
        for (account, shared) in self.network.accounts.iter().zip(&self.shared.wire_bytes) {
            shared.store(account.counters.wire_bytes, Ordering::Relaxed);
        }
        has_read
    }

    /// Waits for a packet, or for the next time at which something happens.
    fn sleep(&mut self, now: Instant, end: Instant) -> Result<(), EmulationError> {
        let due = [self.network.next_deadline(), self.next_sample].into_iter().flatten();
        let until = due.fold(end.min(now + HEARTBEAT), Instant::min);
        // The loop has taken time since.
        let now = self.clock.now();
        if until <= now {
            return Ok(());
        }
        let mut files = self.hosts.map(|host| Waiting::at(host.device(), false));
        sys::wait(&mut files, until.since(now).as_nanos()).tried("waiting for packets")?;
        let woken = self.clock.now();
        self.timing.overslept(woken.since(until.min(woken)));
        Ok(())
    }

    fn advance(&mut self, now: Instant) {
        let Forwarder { network, hosts, clock, timing, .. } = self;
        network.advance(now, |Delivery { to, bytes, due }| {
            let host = match to {
                Side::Sender => hosts[0],
                Side::Receiver => hosts[1],
            };
            let is_taken = host.write(bytes);
            timing.refused_packets += u64::from(!is_taken);
            let now = clock.now();
            timing.delivered(due, now);
            now
        });
    }

    /// Begins the window of measurement and takes the samples that are due. All earlier events have happened.
    fn observe(&mut self, now: Instant) {
        let (warmup_ends, end) = (Instant::ZERO + self.plan.warmup, Instant::ZERO + self.plan.duration);
        while let Some(at) = self.next_sample.filter(|at| *at <= now && *at < end) {
            self.advance(at.before().unwrap_or(at));
            self.sample(at);
            self.next_sample = self.plan.sampling.interval.map(|interval| at + interval);
        }
        if self.before.is_none() && warmup_ends <= now {
            self.advance(warmup_ends.before().unwrap_or(warmup_ends));
            self.before = Some(self.snapshot(warmup_ends));
            self.network.accounts.iter_mut().for_each(crate::account::Account::begin);
            (0..self.plan.links.len()).for_each(|link| self.network.link(warmup_ends, link).clear_sojourn_times());
        }
    }

    fn snapshot(&mut self, at: Instant) -> Snapshot {
        let links = (0..self.plan.links.len()).map(|link| self.network.link(at, link).counters()).collect();
        Snapshot { at, flows: self.network.accounts.iter().map(|account| account.counters).collect(), links }
    }

    fn sample(&mut self, at: Instant) {
        let varies = self.plan.links.iter().any(|link| !link.private && link.varies.is_some());
        let shared = (0..self.plan.links.len()).filter(|link| !self.plan.links[*link].private);
        for (position, index) in shared.enumerate() {
            let link = self.network.link(at, index);
            let ((packets, bytes), counters) = (link.backlog(), link.counters());
            self.samples.time_ns.push(at.as_nanos());
            self.samples.link.push(position as u32);
            self.samples.backlog_packets.push(packets);
            self.samples.backlog_bytes.push(bytes);
            self.samples.forwarded_bytes.push(counters.forwarded_bytes);
            self.samples.drops.push(counters.drops);
            if varies {
                let since = Instant::ZERO
                    + at.since(Instant::ZERO).saturating_sub(self.plan.sampling.interval.unwrap_or_default());
                let rngs = RngStreams::from_root(self.plan.seed);
                let capacity = self.plan.links[index].capacity_bps(rngs, since..at);
                self.samples.capacity_bps.push(capacity.unwrap_or(f64::NAN));
            }
        }
    }
}
