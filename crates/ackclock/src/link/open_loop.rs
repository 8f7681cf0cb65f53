//! A queue in front of a transmitter, with open-loop arrivals.

use super::{Link, LinkConfig, Sink};
use crate::qdisc::{Ecn, Queue, Queued, Reason};
use crate::units::{Duration, Instant, Rate};

/// An arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The arrival time in nanoseconds, not before the previous one.
    pub at_ns: u64,
    /// Bytes on the wire.
    pub bytes: u32,
    /// The flow that it belongs to.
    pub flow: u64,
    /// Whether it is ECN-capable.
    pub is_ecn_capable: bool,
}

/// The outcome of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its transmission began.
    Sent,
    /// It was dropped.
    Dropped(Reason),
    /// It was marked. It is also sent or dropped later.
    Marked(Reason),
}

/// Something that happened to an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// To which of the arrivals, by its place among them.
    pub arrival: usize,
    /// The outcome.
    pub outcome: Outcome,
}

/// Sends arrivals through a queue and a transmitter of this rate, until the queue is empty. Returns the events in
/// order.
pub fn serve(queue: Queue<OpenLoopItem>, rate: Rate, arrivals: &[Arrival]) -> Vec<Event> {
    let config =
        LinkConfig { rate: Some(rate), varies: None, delay: Duration::ZERO, impairments: None, histogram: true };
    let mut link = Link::new(config, queue);
    let mut log = Log::default();
    for (number, arrival) in arrivals.iter().enumerate() {
        let now = Instant::from_nanos(arrival.at_ns);
        while link.poll(now, &mut log).is_some() {}
        link.enqueue(now, OpenLoopItem { number, arrival: *arrival, is_marked: false }, &mut log);
    }
    while let Some(deadline) = link.next_deadline() {
        link.poll(deadline, &mut log);
    }
    log.0
}

#[derive(Default)]
struct Log(Vec<Event>);

impl Log {
    fn note(&mut self, at: Instant, item: &OpenLoopItem, outcome: Outcome) {
        self.0.push(Event { at_ns: at.as_nanos(), arrival: item.number, outcome });
    }
}

impl Sink<OpenLoopItem> for Log {
    fn dropped(&mut self, at: Instant, item: OpenLoopItem, reason: Reason) {
        self.note(at, &item, Outcome::Dropped(reason));
    }

    fn marked(&mut self, at: Instant, item: &OpenLoopItem, reason: Reason) {
        self.note(at, item, Outcome::Marked(reason));
    }

    fn transmitted(&mut self, at: Instant, item: &OpenLoopItem) {
        self.note(at, item, Outcome::Sent);
    }
}

/// An arrival in a queue.
#[derive(Clone, Copy, Debug)]
pub struct OpenLoopItem {
    number: usize,
    arrival: Arrival,
    is_marked: bool,
}

impl Queued for OpenLoopItem {
    fn wire_len(&self) -> u32 {
        self.arrival.bytes
    }
    fn flow_hash(&self) -> u64 {
        self.arrival.flow
    }
    fn ecn(&self) -> Ecn {
        match (self.arrival.is_ecn_capable, self.is_marked) {
            (false, _) => Ecn::NotEct,
            (true, false) => Ecn::Ect0,
            (true, true) => Ecn::Ce,
        }
    }
    fn mark(&mut self) {
        self.is_marked = true;
    }
    fn in_profile(&self) -> bool {
        true
    }
}

impl super::Impairable for OpenLoopItem {
    fn corrupt(&mut self) {}

    fn clear_ecn(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::{DropTail, Limit};

    #[test]
    fn every_arrival_is_sent_at_its_time_or_dropped() {
        let arrival = |at_ns| Arrival { at_ns, bytes: 1000, ..Arrival::default() };
        let queue = Queue::DropTail(DropTail::new(Limit::Packets(1)));
        let events = serve(queue, Rate::from_bps(8_000_000).unwrap(), &[arrival(5), arrival(6), arrival(7)]);
        let told: Vec<_> = events.iter().map(|event| (event.at_ns, event.arrival, event.outcome)).collect();
        let full = Outcome::Dropped(Reason::Full);
        assert_eq!(told, [(5, 0, Outcome::Sent), (7, 2, full), (1_000_005, 1, Outcome::Sent)]);
    }
}
