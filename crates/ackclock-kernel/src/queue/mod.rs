//! Queues of the kernel alone: a guest as a router, whose transmitter is here.
//!
//! The guest learns of each arrival, and of each time at which the transmitter is free. It gives at most one packet then.

mod structures;
mod tc;
mod values;

use std::path::Path;

use ackclock::open_loop::Arrival;
use ackclock::units::{NANOS_PER_SEC, Rate};
use ackclock_wire::Refused;

use crate::error::KernelError;
use crate::guest::{BOOT, Guest};
use crate::netlink::answers;
use crate::shared::Kind;

/// The name of such a guest in messages.
const HOST: &str = "a router";
/// The name of its queue in messages.
const KEY: &str = "tc";

/// The time of a guest at which the time of arrivals begins. Its queue is set up between [`BOOT`] and then, as some
/// disciplines read the clock. CoDel counts in units of 1024 ns, so the difference is a multiple of them.
const START: u64 = (BOOT.as_nanos() + 1_000_000).next_multiple_of(1024);

/// The outcome of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its transmission began.
    Sent,
    /// It was dropped.
    Dropped,
    /// It was marked. It is also sent or dropped.
    Marked,
}

/// Something that happened to an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// The index of the arrival.
    pub arrival: usize,
    /// The outcome.
    pub outcome: Outcome,
}

/// Sends arrivals through a queue of the kernel and a transmitter of this rate, until the queue is empty. `line` is the
/// discipline with its parameters, as in a command line of `tc`. Returns the events in order.
///
/// # Errors
/// A line that is not understood or that the kernel denies, and a guest that ends.
pub fn serve(
    kernel: &Path,
    line: &str,
    rate: Rate,
    seed: u64,
    arrivals: &[Arrival],
) -> Result<Vec<Event>, KernelError> {
    let mut router = Router::start(kernel, line, rate, seed)?;
    for (number, arrival) in arrivals.iter().enumerate() {
        // A transmission that is due leaves the queue before an arrival enters it.
        while let Some(at) = router.next_departure().filter(|at| *at <= arrival.at_ns) {
            router.depart(at)?;
        }
        router.arrive(number, arrival)?;
    }
    while let Some(at) = router.next_departure() {
        router.depart(at)?;
    }
    Ok(router.events)
}

/// A guest with a queue, and the transmitter behind it.
struct Router {
    guest: Guest,
    rate: u64,
    /// When the transmitter is free: in nanoseconds, multiplied by the rate.
    free_at: u128,
    /// The queue gives nothing before. None if it never gives anything by itself.
    ready_at: Option<u64>,
    backlog: usize,
    /// A transmission has begun, and the transmitter asks for the next packet at its end. A discipline with several queues
    /// notices only then that one is empty.
    is_sending: bool,
    /// Bits of each arrival.
    bits: Vec<u32>,
    events: Vec<Event>,
}

impl Router {
    fn start(kernel: &Path, line: &str, rate: Rate, seed: u64) -> Result<Router, KernelError> {
        let refused = |message: String| KernelError::from(Refused::new(KEY.to_owned(), message));
        // A wrong line needs no guest.
        tc::message(line, 0, rate).map_err(refused)?;
        let mut guest = Guest::alone(kernel, HOST, seed)?;
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
            Some(Ok(())) => {}
            Some(Err(reason)) => return Err(refused(format!("the kernel denies {line:?}: {reason}"))),
            None => return Err(refused(format!("the kernel does not answer to {line:?}"))),
        }
        Ok(Router {
            guest,
            rate: rate.as_bps(),
            free_at: 0,
            ready_at: Some(0),
            backlog: 0,
            is_sending: false,
            bits: Vec::new(),
            events: Vec::new(),
        })
    }

    /// When the transmitter asks for the next packet, as far as known.
    fn next_departure(&self) -> Option<u64> {
        let free_at = self.free_at.div_ceil(u128::from(self.rate)) as u64;
        if self.backlog == 0 {
            return self.is_sending.then_some(free_at);
        }
        self.ready_at.map(|ready_at| ready_at.max(free_at))
    }

    fn arrive(&mut self, number: usize, arrival: &Arrival) -> Result<(), KernelError> {
        let words = [number as u32, arrival.bytes, arrival.flow as u32, arrival.ecn.bits().into()];
        let record: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.bits.push(arrival.bytes * 8);
        self.backlog += 1;
        self.call(arrival.at_ns, Kind::Arrive, &record)?;
        self.ready_at = Some(arrival.at_ns);
        Ok(())
    }

    fn depart(&mut self, at: u64) -> Result<(), KernelError> {
        let before = self.events.len();
        self.call(at, Kind::Serve, &[])?;
        let sent = self.events[before..].iter().find(|event| event.outcome == Outcome::Sent);
        self.is_sending = sent.is_some();
        if let Some(event) = sent {
            let duration = u128::from(self.bits[event.arrival]) * u128::from(NANOS_PER_SEC);
            self.free_at = self.free_at.max(u128::from(at) * u128::from(self.rate)) + duration;
            self.ready_at = Some(at);
        } else {
            self.ready_at = self.guest.request().map(|next| next.saturating_sub(START).max(at + 1));
        }
        Ok(())
    }

    /// The guest takes a record at `at`, after everything that is due before.
    fn call(&mut self, at: u64, kind: Kind, content: &[u8]) -> Result<(), KernelError> {
        let time = at + START;
        let first = self.guest.request().unwrap_or(time).min(time);
        self.guest.shared().push(time, kind, 0, content);
        self.guest.run(first, time + 1)?;
        let (events, backlog) = (&mut self.events, &mut self.backlog);
        self.guest.wait(|record| {
            let outcomes: &[Outcome] = match record.kind {
                Kind::Served => &[Outcome::Sent],
                Kind::ServedMarked => &[Outcome::Marked, Outcome::Sent],
                Kind::Dropped => &[Outcome::Dropped],
                Kind::Marked => &[Outcome::Marked],
                _ => return Ok(()),
            };
            let token = record.content.get(..4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
            let (arrival, at_ns) = (u32::from_ne_bytes(token) as usize, record.time.saturating_sub(START));
            for outcome in outcomes {
                // A mark of an arrival is seen again at its departure.
                let is_again = *outcome == Outcome::Marked
                    && record.kind == Kind::ServedMarked
                    && events.iter().rev().any(|event: &Event| event.arrival == arrival && event.outcome == *outcome);
                if !is_again {
                    events.push(Event { at_ns, arrival, outcome: *outcome });
                }
                *backlog -= usize::from(*outcome != Outcome::Marked);
            }
            Ok(())
        })
    }
}
