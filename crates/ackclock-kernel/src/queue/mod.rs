//! Queues of the kernel at simulated links: a guest for each, as a router whose transmitter is the link's.

mod structures;
mod tc;
mod values;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock::qdisc::{OutsideArrival, OutsideEvent, OutsideQueue, QueuePlan};
use ackclock::sim::Plan;
use ackclock::units::{Instant, Rate};
use ackclock_wire::Refused;

use crate::calendar::BOOT;
use crate::error::{KernelError, Tried};
use crate::folder::Folder;
use crate::guest::{Boot, Guest};
use crate::netlink::answers;
use crate::shared::{Kind, Record, Shared};

/// The name of such a guest in messages.
const HOST: &str = "a router";
/// The device takes any packet.
const MTU: u32 = 1500;

/// The first error of the queues of a run.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<Mutex<Option<KernelError>>>);

impl Failures {
    /// The error, once.
    pub fn take(&self) -> Option<KernelError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: KernelError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// A guest with a queue.
struct GuestQueue {
    guest: Guest,
    failures: Failures,
    has_failed: bool,
}

/// Checks the queues of a plan, as far as that needs no kernel.
///
/// # Errors
/// A command line that is not understood.
pub fn check(plan: &Plan) -> Result<(), Refused> {
    for link in plan.links.iter() {
        if let Some(line) = link.queue.kernels_queue() {
            let rate = link.rate.unwrap_or(LARGEST);
            let key = format!("links.{}.queue.tc", link.name);
            tc::message(line, 0, rate).map_err(|message| Refused::new(key, message))?;
        }
    }
    Ok(())
}

/// The rate of a link without one.
const LARGEST: Rate = Rate::from_bps(1_000_000_000_000).expect("invariant: a rate is above zero");

/// Provides the kernel's queues of a plan.
///
/// # Errors
/// A guest cannot start, or its kernel denies a queue.
pub fn provide(plan: &mut Plan, kernel: &Path, failures: &Failures) -> Result<(), KernelError> {
    let seed = plan.seed;
    for (number, link) in plan.links.iter_mut().enumerate() {
        let key = format!("links.{}.queue.tc", link.name);
        let rate = link.rate.unwrap_or(LARGEST);
        provide_one(&mut link.queue, &key, rate, kernel, seed.wrapping_add(number as u64), failures)?;
    }
    Ok(())
}

/// Provides the queue of a link, if it is the kernel's. `key` names it in messages.
///
/// # Errors
/// A guest cannot start, or its kernel denies the queue.
pub fn provide_one(
    queue: &mut QueuePlan,
    key: &str,
    rate: Rate,
    kernel: &Path,
    seed: u64,
    failures: &Failures,
) -> Result<(), KernelError> {
    let Some(line) = queue.kernels_queue().map(str::to_owned) else { return Ok(()) };
    let outside = GuestQueue::start(kernel, &line, key, rate, seed, failures.clone())?;
    queue.provide(Box::new(outside));
    Ok(())
}

impl GuestQueue {
    fn start(
        kernel: &Path,
        line: &str,
        key: &str,
        rate: Rate,
        seed: u64,
        failures: Failures,
    ) -> Result<GuestQueue, KernelError> {
        let folder = Folder::new().tried("the folder of a run")?;
        let shared = Shared::new(0, MTU, 1).tried("the memory of a guest")?;
        let boot = Boot { kernel, folder: folder.path(), host: HOST, number: 0, seed, settings: &[], limit: None };
        let mut guest = Guest::start(&boot, shared)?;
        let mut nothing = |_: Record<'_>| Ok(());
        guest.wait(&mut nothing)?;
        guest.settle(BOOT.as_nanos(), &mut nothing)?;
        let refused = |message: String| KernelError::from(Refused::new(key.to_owned(), message));
        let message = tc::message(line, guest.shared().queue(), rate).map_err(refused)?;
        let start = BOOT.as_nanos();
        guest.shared().push(start, Kind::Netlink, 0, &message.record());
        guest.run(start, start + 1)?;
        let mut denied = None;
        guest.wait(|record| {
            if record.kind == Kind::Answer {
                denied = answers(record.content).err();
            }
            Ok(())
        })?;
        match denied {
            Some(message) => Err(refused(format!("the kernel denies {line:?}: {message}"))),
            None => Ok(GuestQueue { guest, failures, has_failed: false }),
        }
    }

    /// The guest takes a record at `now`, after everything that is due before.
    fn call(&mut self, now: Instant, kind: Kind, content: &[u8], events: &mut Vec<OutsideEvent>) {
        if self.has_failed {
            return;
        }
        let at = now.as_nanos() + BOOT.as_nanos();
        let first = self.guest.request().unwrap_or(at).min(at);
        self.guest.shared().push(at, kind, 0, content);
        let done = self.guest.run(first, at + 1).and_then(|()| {
            self.guest.wait(|record| {
                let Some(token) = record.content.get(..4).and_then(|bytes| bytes.try_into().ok()) else { return Ok(()) };
                let token = u32::from_ne_bytes(token);
                match record.kind {
                    Kind::Served => events.push(OutsideEvent::Served(token)),
                    Kind::ServedMarked => {
                        events.extend([OutsideEvent::Marked(token), OutsideEvent::Served(token)]);
                    }
                    Kind::Dropped => events.push(OutsideEvent::Dropped(token)),
                    Kind::Marked => events.push(OutsideEvent::Marked(token)),
                    _ => {}
                }
                Ok(())
            })
        });
        if let Err(error) = done {
            self.has_failed = true;
            self.failures.keep(error);
        }
    }
}

impl fmt::Debug for GuestQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestQueue").finish_non_exhaustive()
    }
}

impl OutsideQueue for GuestQueue {
    fn enqueue(&mut self, now: Instant, arrival: OutsideArrival, events: &mut Vec<OutsideEvent>) {
        let OutsideArrival { token, len, flow, ecn } = arrival;
        let record: Vec<u8> = [token, len, flow, ecn.bits().into()].iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.call(now, Kind::Arrive, &record, events);
        if self.has_failed {
            events.push(OutsideEvent::Dropped(token));
        }
    }

    fn dequeue(&mut self, now: Instant, events: &mut Vec<OutsideEvent>) {
        self.call(now, Kind::Serve, &[], events);
    }

    fn next_event(&self) -> Option<Instant> {
        let next = self.guest.request().filter(|_| !self.has_failed)?;
        Some(Instant::from_nanos(next.saturating_sub(BOOT.as_nanos())))
    }
}
