//! A guest with a queue, as the server of a queue of the simulation.

use std::sync::{Arc, Mutex, PoisonError};

use ackclock::qdisc::{QueueAnswer, QueueServer, ServedPacket, ServerEnded};
use ackclock::units::{Instant, Rate};
use ackclock_wire::Refused;

use super::tc;
use crate::error::KernelError;
use crate::guest::{Alone, BOOT, Guest};
use crate::netlink::answers;
use crate::shared::Kind;

/// The time of a guest at which the time of the run begins. Its queue is set up between [`BOOT`] and then, as some
/// disciplines read the clock. CoDel counts in units of 1024 ns, so the difference is a multiple of them.
const START: u64 = (BOOT.as_nanos() + 1_000_000).next_multiple_of(1024);

/// A queue of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Its guest.
    pub guest: Alone<'a>,
    /// The key of the queue in messages.
    pub key: &'a str,
    /// The discipline with its parameters, as in a command line of `tc`.
    pub line: &'a str,
    /// The rate of the link, from which RED derives its table.
    pub rate: Rate,
}

/// The state of routers for the owner of the simulation that contains them.
#[derive(Clone, Debug, Default)]
pub struct Routers(Arc<Mutex<Report>>);

#[derive(Debug, Default)]
struct Report {
    error: Option<KernelError>,
    cpu_ns: u64,
}

impl Routers {
    /// The first error that ended a router.
    ///
    /// # Errors
    /// This error, once.
    pub fn check(&self) -> Result<(), KernelError> {
        self.with(|report| report.error.take()).map_or(Ok(()), Err)
    }

    /// CPU time of the guests that have ended, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.with(|report| report.cpu_ns)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Report) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A guest with a queue. The transmitter behind it is the simulation's.
pub struct Router {
    /// None after its end.
    guest: Option<Guest>,
    routers: Routers,
}

impl Router {
    /// Starts a guest, and sets up its queue.
    ///
    /// # Errors
    /// A line that is not understood or that the kernel denies, and a guest that ends.
    pub fn start(setup: &Setup<'_>, routers: Routers) -> Result<Router, KernelError> {
        let Setup { guest, key, line, rate } = *setup;
        let refused = |message: String| KernelError::from(Refused::new(key.to_owned(), message));
        let mut guest = Guest::alone(&guest)?;
        let message = tc::message(line, guest.shared().queue(), rate).map_err(refused)?;
        let start = BOOT.as_nanos();
        guest.shared().push(start, Kind::Netlink, 0, &message.record());
        guest.run(start, START)?;
        let mut answered = None;
        guest.wait(|record| {
            if record.kind == Kind::Answer {
                answered = Some(answers(record.content).map(drop));
            }
            Ok(())
        })?;
        match answered {
            Some(Ok(())) => Ok(Router { guest: Some(guest), routers }),
            Some(Err(reason)) => Err(refused(format!("the kernel denies {line:?}: {reason}"))),
            None => Err(refused(format!("the kernel does not answer to {line:?}"))),
        }
    }

    /// The guest takes a record, after everything that is due before.
    fn call(
        &mut self,
        now: Instant,
        kind: Kind,
        content: &[u8],
        found: &mut Vec<QueueAnswer>,
    ) -> Result<(), ServerEnded> {
        let guest = self.guest.as_mut().ok_or(ServerEnded)?;
        let time = now.as_nanos() + START;
        let first = guest.request().unwrap_or(time).min(time);
        guest.shared().push(time, kind, 0, content);
        let done = guest.run(first, time + 1).and_then(|()| {
            guest.wait(|record| {
                let token = record.content.get(..4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
                let token = u32::from_ne_bytes(token);
                match record.kind {
                    Kind::Served => found.push(QueueAnswer::Sent(token)),
                    Kind::ServedMarked => found.extend([QueueAnswer::Marked(token), QueueAnswer::Sent(token)]),
                    Kind::Dropped => found.push(QueueAnswer::Dropped(token)),
                    Kind::Marked => found.push(QueueAnswer::Marked(token)),
                    _ => {}
                }
                Ok(())
            })
        });
        done.map_err(|error| {
            self.guest = None;
            self.routers.with(|report| {
                report.error.get_or_insert(error);
            });
            ServerEnded
        })
    }
}

impl QueueServer for Router {
    fn arrive(
        &mut self,
        now: Instant,
        packet: ServedPacket,
        answers: &mut Vec<QueueAnswer>,
    ) -> Result<(), ServerEnded> {
        let words = [packet.token, packet.bytes, packet.flow, packet.ecn.bits().into()];
        let record: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.call(now, Kind::Arrive, &record, answers)
    }

    fn serve(&mut self, now: Instant, answers: &mut Vec<QueueAnswer>) -> Result<(), ServerEnded> {
        self.call(now, Kind::Serve, &[], answers)
    }

    fn next_event(&self) -> Option<Instant> {
        let request = self.guest.as_ref()?.request()?;
        Some(Instant::from_nanos(request.saturating_sub(START)))
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let cpu_ns = self.guest.take().map_or(0, Guest::end);
        self.routers.with(|report| report.cpu_ns += cpu_ns);
    }
}
