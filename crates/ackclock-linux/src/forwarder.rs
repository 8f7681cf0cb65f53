//! The loop that moves packets from the devices into the links and back to the devices, by the clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};
use ackclock_wire::{Delivery, Network, Side, Watch, Watched};

use crate::error::{EmulationError, Tried};
use crate::fidelity::Timing;
use crate::host::Host;
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
    /// Bytes on the wire so far, by flow.
    pub wire_bytes: Vec<AtomicU64>,
    /// The run is over before its time.
    pub is_over: AtomicBool,
}

impl Shared {
    /// Creates the state of a run that begins.
    pub fn new(plan: &Plan) -> Self {
        Shared { wire_bytes: plan.flows.iter().map(|_| AtomicU64::new(0)).collect(), is_over: AtomicBool::new(false) }
    }
}

/// The results of forwarding.
pub struct Forwarded {
    pub network: Network,
    pub watched: Watched,
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
    watch: Watch<'a>,
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
        let (watch, timing) = (Watch::new(plan), Timing::default());
        Forwarder { plan, hosts, clock, shared, programs_flow, network, watch, timing }
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
        let watched = self.watch.finish(now, &mut self.network);
        Ok(Forwarded { network: self.network, watched, timing: self.timing })
    }

    /// Lets all happen that is due by now, and says when that is.
    fn catch_up(&mut self, end: Instant) -> Instant {
        let now = self.clock.now().min(end);
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
        for (account, shared) in self.network.flows.accounts.iter().zip(&self.shared.wire_bytes) {
            shared.store(account.wire_bytes(), Ordering::Relaxed);
        }
        has_read
    }

    /// Waits for a packet, or for the next time at which something happens.
    fn sleep(&mut self, now: Instant, end: Instant) -> Result<(), EmulationError> {
        let due = [self.network.next_deadline(), self.watch.next_sample()].into_iter().flatten();
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
        let Forwarder { network, hosts, clock, timing, watch, .. } = self;
        let mut deliver = |Delivery { to, bytes, due, .. }: Delivery<'_>| {
            let host = match to {
                Side::Sender => hosts[0],
                Side::Receiver => hosts[1],
            };
            let is_taken = host.write(bytes);
            timing.refused_packets += u64::from(!is_taken);
            let now = clock.now();
            timing.delivered(due, now);
            now
        };
        watch.observe(now, network, &mut deliver);
        network.advance(now, deliver);
    }
}
