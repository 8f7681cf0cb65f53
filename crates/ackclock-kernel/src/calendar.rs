//! The calendar: it lets the guests run, and moves their packets through the links in the order of time.
//!
//! A guest may run ahead of the network up to the first time at which an unknown packet can arrive. Packets in flight
//! on the last link of their path are known, and it gets them in advance. So both guests run for about a one-way delay
//! at a time, and at the same time. The outcome does not depend on the order in which they run.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};
use ackclock_bpf::guest::GuestTypes;
use ackclock_wire::{Refused, Side};

use crate::commands::Commands;
use crate::error::KernelError;
use crate::guest::{BOOT, Guest};
use crate::multipath;
use crate::netlink::{Message, answers};
use crate::network::Network;
use crate::readings::Reports;
use crate::settings;
use crate::shared::{Kind, Record};

/// The time at which a guest loads modules.
const LOAD: Duration = Duration::from_millis(900);
/// The times at which the path manager of Multipath TCP is found and set.
const FIND: Duration = Duration::from_millis(950);
const SET: Duration = Duration::from_millis(960);
const SIDES: [Side; 2] = [Side::Sender, Side::Receiver];
/// A stretch of running is no longer than this, so that a run can be stopped.
const LONGEST: Duration = Duration::from_secs(1);

/// Packets that have left a guest and have not entered the network.
#[derive(Debug, Default)]
struct Outbox {
    packets: VecDeque<(Instant, Vec<u8>)>,
    /// Buffers that are used again.
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    fn push(&mut self, at: Instant, bytes: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        packet.extend_from_slice(bytes);
        self.packets.push_back((at, packet));
    }

    fn next(&self) -> Option<Instant> {
        self.packets.front().map(|(at, _)| *at)
    }
}

/// A run in virtual time.
pub struct Calendar<'a> {
    pub plan: &'a Plan,
    pub guests: [Guest; 2],
    pub commands: [Commands; 2],
    pub network: Network<'a>,
    pub reports: Reports<'a>,
    /// The structures of the guests' kernel.
    pub types: GuestTypes,
    /// The names of congestion controls that the module of a flow has registered.
    registered: Vec<(usize, String)>,
    /// Answers to messages of netlink.
    answers: Vec<Vec<u8>>,
    outboxes: [Outbox; 2],
}

/// The kernel does not suit this backend.
fn refused(message: String) -> KernelError {
    Refused { key: "kernel".to_owned(), message }.into()
}

/// The kernel cannot set up Multipath TCP.
fn without_multipath(reason: String) -> KernelError {
    Refused { key: "kernel.mptcp".to_owned(), message: format!("the kernel denies Multipath TCP: {reason}") }.into()
}

/// The time of a guest.
fn guests_time(at: Instant) -> u64 {
    at.as_nanos() + BOOT.as_nanos()
}

/// The time of the run.
fn time(guests: u64) -> Instant {
    Instant::from_nanos(guests.saturating_sub(BOOT.as_nanos()))
}

/// Adds `by` to `at`, up to the largest time.
fn later(at: Instant, by: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_add(by.as_nanos()))
}

impl<'a> Calendar<'a> {
    pub fn new(plan: &'a Plan, guests: [Guest; 2], network: Network<'a>, reports: Reports<'a>) -> Self {
        Calendar {
            plan,
            guests,
            commands: Default::default(),
            network,
            reports,
            types: GuestTypes::default(),
            registered: Vec::new(),
            answers: Vec::new(),
            outboxes: Default::default(),
        }
    }

    /// Lets both guests boot, until they wait for the start of the run. The senders' guest loads modules, each given with
    /// a flow. Returns the flows with the names of their congestion controls.
    pub fn boot(&mut self, modules: &[(u16, &[u8])]) -> Result<Vec<(usize, String)>, KernelError> {
        for side in 0..2 {
            self.wait(side)?;
            let loads = side == Side::Sender as usize && !modules.is_empty();
            if loads {
                self.settle(side, LOAD)?;
                self.load(side, modules)?;
            }
            if !self.plan.kernel.subflows.is_empty() {
                self.settle(side, FIND)?;
                self.set_path_manager(side)?;
            }
            self.settle(side, BOOT)?;
            if !self.guests[side].shared().is_ready() {
                let message = "the guest has no agent of ackclock, or a longer boot than 1 s".to_owned();
                return Err(refused(message));
            }
        }
        modules.iter().map(|(flow, _)| self.registered_by(usize::from(*flow))).collect()
    }

    /// Lets a guest run until it has nothing to do before this time.
    fn settle(&mut self, side: usize, until: Duration) -> Result<(), KernelError> {
        while let Some(at) = self.guests[side].request().filter(|at| *at < until.as_nanos()) {
            self.guests[side].run(at, until.as_nanos())?;
            self.wait(side)?;
        }
        Ok(())
    }

    fn load(&mut self, side: usize, modules: &[(u16, &[u8])]) -> Result<(), KernelError> {
        for (flow, record) in modules {
            self.guests[side].shared().push(LOAD.as_nanos(), Kind::Module, *flow, record);
        }
        self.guests[side].run(LOAD.as_nanos(), BOOT.as_nanos())?;
        self.wait(side).map_err(|error| match error {
            KernelError::Module { key, source_file, message, .. } => {
                KernelError::Module { key, source_file, message, lines: self.guests[side].last_lines() }
            }
            other => other,
        })
    }

    /// A guest gets the settings of Multipath TCP.
    fn set_path_manager(&mut self, side: usize) -> Result<(), KernelError> {
        let found = self.ask(side, FIND, SET, &[multipath::family()])?;
        let number = found.iter().find_map(|answer| multipath::family_number(answer));
        let number = number.ok_or_else(|| without_multipath("it has no path manager".to_owned()))?;
        let settings = multipath::settings(self.plan, SIDES[side], number);
        self.ask(side, SET, BOOT, &settings).map(drop)
    }

    /// Sends messages of netlink to a guest at `at`, and lets it run until `until`. Returns the contents of the answers.
    fn ask(
        &mut self,
        side: usize,
        at: Duration,
        until: Duration,
        messages: &[Message],
    ) -> Result<Vec<Vec<u8>>, KernelError> {
        for message in messages {
            self.guests[side].shared().push(at.as_nanos(), Kind::Netlink, 0, &message.record());
        }
        self.guests[side].run(at.as_nanos(), until.as_nanos())?;
        self.wait(side)?;
        let mut contents = Vec::new();
        for answer in std::mem::take(&mut self.answers) {
            contents.extend(answers(&answer).map_err(without_multipath)?.into_iter().map(<[u8]>::to_vec));
        }
        Ok(contents)
    }

    /// The name of the only congestion control that the module of a flow has registered.
    fn registered_by(&self, flow: usize) -> Result<(usize, String), KernelError> {
        let refuse = |message: String| Err(settings::refused_module(&self.plan.flows[flow], message));
        let Some((_, names)) = self.registered.iter().find(|(of, _)| *of == flow) else {
            return refuse(format!("its function of initialization does not return within {}", BOOT - LOAD));
        };
        let names: Vec<_> = names.split_whitespace().collect();
        match names[..] {
            [name] => Ok((flow, name.to_owned())),
            [] => refuse("it registers no congestion control".to_owned()),
            _ => refuse(format!("it registers {}, expected one congestion control", names.join(" and "))),
        }
    }

    /// The senders' guest registers a congestion control before the run.
    pub fn add_algorithm(&mut self, record: &[u8]) {
        self.guests[Side::Sender as usize].shared().push(BOOT.as_nanos(), Kind::Algorithm, 0, record);
    }

    /// Runs to the end of the plan.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), KernelError> {
        let end = Instant::ZERO + self.plan.duration;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(KernelError::Interrupted);
            }
            let now = self.inject(end, stop)?;
            // The guests look at their connections for the last time when the run ends.
            if now == end && self.commands.iter().all(|commands| commands.next().is_none()) {
                break;
            }
            self.network.observe(now.min(end.before().unwrap_or(end)), stop)?;
            let until = SIDES.map(|side| self.permitted(side, now, end));
            let running: Vec<_> = (0..2).filter(|side| self.next(*side) < until[*side]).collect();
            for side in running.iter().copied() {
                self.let_run(side, until[side])?;
            }
            running.into_iter().try_for_each(|side| self.wait(side))?;
        }
        self.network.observe(end.before().unwrap_or(end), stop)
    }

    /// The next event of a guest, of any kind.
    fn next(&self, side: usize) -> Instant {
        let own = self.guests[side].request().map(time);
        let known = self.network.next_certain(SIDES[side]);
        [own, known, self.commands[side].next()].into_iter().flatten().min().unwrap_or(Instant::MAX)
    }

    /// The time before which a guest sends nothing that it has not sent already.
    fn next_packet(&self, side: usize) -> Instant {
        let own = self.guests[side].request().map(time);
        let known = self.network.next_certain(SIDES[side]);
        let unknown = self.network.earliest_news(SIDES[side]);
        let sent = self.outboxes[side].next();
        let times = [own, known, unknown, self.commands[side].next_application(), sent];
        times.into_iter().flatten().min().unwrap_or(Instant::MAX)
    }

    /// Lets packets enter the network while no guest can send an earlier one. Returns when one can, or the end.
    fn inject(&mut self, end: Instant, stop: &AtomicBool) -> Result<Instant, KernelError> {
        loop {
            let next = [self.next_packet(0), self.next_packet(1)];
            let side = usize::from(next[1] < next[0]);
            let now = next[side].min(end);
            if now == end || self.outboxes[side].next() != Some(now) {
                return Ok(now);
            }
            self.network.observe(now, stop)?;
            if let Some((at, packet)) = self.outboxes[side].packets.pop_front() {
                self.network.enter(at, SIDES[side], &packet);
                self.outboxes[side].spare.push(packet);
            }
        }
    }

    /// The time up to which a guest may run on its own.
    fn permitted(&self, side: Side, now: Instant, end: Instant) -> Instant {
        let other = SIDES[1 - side as usize];
        let (back, forth) = (self.network.least_delay(side), self.network.least_delay(other));
        // The other guest sends a packet by itself, or answers one that this guest has sent.
        let unsolicited = later(self.next_packet(other as usize), back);
        let answer = self.outboxes[side as usize].next().map_or(Instant::MAX, |sent| later(sent, forth + back));
        let news = self.network.earliest_news(side).unwrap_or(Instant::MAX);
        let after_end = end + Duration::from_nanos(1);
        let limits = [unsolicited, answer, news, now + LONGEST, after_end];
        limits.into_iter().fold(Instant::MAX, Instant::min).max(now + Duration::from_nanos(1))
    }

    /// A guest runs up to `until`, with the commands and packets before.
    fn let_run(&mut self, side: usize, until: Instant) -> Result<(), KernelError> {
        let now = self.next(side);
        let (guest, commands, network) = (&mut self.guests[side], &mut self.commands[side], &mut self.network);
        let mut limit = until;
        loop {
            let (command, packet) = (commands.next(), network.next_certain(SIDES[side]));
            let is_command = command.is_some_and(|command| packet.is_none_or(|packet| command <= packet));
            let Some(at) = command.into_iter().chain(packet).min().filter(|at| *at < until) else { break };
            if !guest.shared().has_room(1 << 16) {
                limit = limit.min(at);
                break;
            }
            if is_command {
                let Some(command) = commands.take() else { break };
                guest.shared().push(guests_time(at), command.kind, command.flow, &command.content);
            } else {
                network.take_certain(SIDES[side], |packet| {
                    let kind = if packet.is_corrupted { Kind::Corrupted } else { Kind::Packet };
                    guest.shared().push(guests_time(at), kind, 0, packet.bytes);
                });
            }
        }
        guest.run(guests_time(now), guests_time(limit.max(now + Duration::from_nanos(1))))
    }

    /// Waits for a guest, and takes its records.
    fn wait(&mut self, side: usize) -> Result<(), KernelError> {
        let Calendar { guests, outboxes, reports, types, registered, answers, plan, .. } = self;
        let outbox = &mut outboxes[side];
        guests[side].wait(|record: Record<'_>| {
            match record.kind {
                Kind::Packet => outbox.push(time(record.time), record.content),
                Kind::Answer => answers.push(record.content.to_vec()),
                Kind::State => reports.take(record.flow, record.content),
                Kind::Fields => types.add(record.content).map_err(|error| refused(error.to_string()))?,
                Kind::Registered => {
                    let names = String::from_utf8_lossy(record.content).trim_end_matches('\0').to_owned();
                    registered.push((record.flow, names));
                }
                Kind::Failed => return Err(settings::denied(plan, plan.flows.get(record.flow), record.content)),
                _ => {}
            }
            Ok(())
        })
    }
}
