//! A queue in front of a transmitter, with open-loop arrivals.

use crate::link::{Link, LinkConfig, Sink};
use crate::qdisc::{Ecn, Queue, Reason};
use crate::sim::Packet;
use crate::units::{Duration, Instant, Rate};

/// An arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The arrival time in nanoseconds, not before the previous one.
    pub at_ns: u64,
    /// Bytes on the wire, below 256 KiB.
    pub bytes: u32,
    /// The flow that it belongs to. Flows whose lowest 29 bits are equal are one.
    pub flow: u64,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
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
    /// The index of the arrival.
    pub arrival: usize,
    /// The outcome.
    pub outcome: Outcome,
}

/// Sends arrivals through a queue and a transmitter of this rate, until the queue is empty. Returns the events in
/// order.
pub fn serve(queue: Queue<Packet>, rate: Rate, arrivals: &[Arrival]) -> Vec<Event> {
    let mut server = Server::new(queue, rate);
    for arrival in arrivals {
        server.offer(*arrival);
    }
    server.drain();
    server.log.0
}

/// A queue in front of a transmitter.
pub(super) struct Server {
    link: Link<Packet>,
    log: Log,
    arrived: usize,
}

impl Server {
    /// An empty queue and an idle transmitter.
    pub fn new(queue: Queue<Packet>, rate: Rate) -> Self {
        let config =
            LinkConfig { rate: Some(rate), varies: None, delay: Duration::ZERO, impairments: None, histogram: true };
        Server { link: Link::new(config, queue), log: Log::default(), arrived: 0 }
    }

    /// Takes the next arrival.
    pub fn offer(&mut self, arrival: Arrival) {
        let now = Instant::from_nanos(arrival.at_ns);
        self.advance(now);
        self.link.enqueue(now, packet(self.arrived, arrival), &mut self.log);
        self.arrived += 1;
    }

    /// Sends all packets that are due by a time.
    pub fn advance(&mut self, now: Instant) {
        while self.link.poll(now, &mut self.log).is_some() {}
        self.link.advance(now, &mut self.log);
    }

    /// Sends all packets.
    pub fn drain(&mut self) {
        while let Some(deadline) = self.link.next_deadline() {
            self.link.poll(deadline, &mut self.log);
        }
    }

    /// The events so far, in order.
    pub fn events(&self) -> &[Event] {
        &self.log.0
    }

    /// The queue.
    pub fn queue(&self) -> &Queue<Packet> {
        self.link.queue()
    }
}

/// The packet of an arrival, by its place among the arrivals.
fn packet(number: usize, arrival: Arrival) -> Packet {
    Packet::alone(number as u32, arrival.bytes, arrival.flow, arrival.ecn)
}

#[derive(Default)]
struct Log(Vec<Event>);

impl Log {
    fn note(&mut self, at: Instant, packet: &Packet, outcome: Outcome) {
        self.0.push(Event { at_ns: at.as_nanos(), arrival: packet.body().place(), outcome });
    }
}

impl Sink<Packet> for Log {
    fn dropped(&mut self, at: Instant, packet: Packet, reason: Reason) {
        self.note(at, &packet, Outcome::Dropped(reason));
    }

    fn marked(&mut self, at: Instant, packet: &Packet, reason: Reason) {
        self.note(at, packet, Outcome::Marked(reason));
    }

    fn transmitted(&mut self, at: Instant, packet: &Packet) {
        self.note(at, packet, Outcome::Sent);
    }
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
