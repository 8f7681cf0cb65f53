//! A queue of the Linux kernel: the packets are here, and a [`QueueServer`] decides about them.
//!
//! The server runs the discipline in a kernel in virtual time. It receives the size, the flow and the ECN field of each
//! arrival. It also learns each time at which the transmitter takes a packet. Its answers name packets that are sent,
//! dropped or marked.

mod keys;

use std::fmt;

pub use keys::{KernelQueueKeys, KernelQueueParameters};

use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::ecn::Ecn;
use crate::units::{Duration, Instant};

/// A packet that arrives at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedPacket {
    /// Its number in answers. Numbers of packets that left the queue are used again.
    pub token: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// A number of its flow.
    pub flow: u32,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
}

/// An answer of a server about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueAnswer {
    /// The transmitter has it.
    Sent(u32),
    /// It was dropped.
    Dropped(u32),
    /// It has a mark.
    Marked(u32),
}

/// The server has ended, and its owner knows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerEnded;

/// Runs a discipline. Time never runs backwards between calls.
pub trait QueueServer: Send {
    /// A packet arrives.
    ///
    /// # Errors
    /// [`ServerEnded`] if the server can no longer answer.
    fn arrive(&mut self, now: Instant, packet: ServedPacket, answers: &mut Vec<QueueAnswer>)
    -> Result<(), ServerEnded>;

    /// The transmitter asks for a packet. At most one is sent, and it is the last answer.
    ///
    /// # Errors
    /// [`ServerEnded`] if the server can no longer answer.
    fn serve(&mut self, now: Instant, answers: &mut Vec<QueueAnswer>) -> Result<(), ServerEnded>;

    /// The time of the next event of the discipline itself, if there is one. After a request without a packet, no
    /// packet can be sent before.
    fn next_event(&self) -> Option<Instant>;
}

/// A server, or none. A copy of a queue has none.
#[derive(Default)]
struct Connection(Option<Box<dyn QueueServer>>);

impl Clone for Connection {
    fn clone(&self) -> Self {
        Connection(None)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "connected" } else { "not connected" })
    }
}

/// A queue of the Linux kernel. Without a server it drops all packets.
#[derive(Clone, Debug)]
pub struct KernelQueue<T> {
    server: Connection,
    limit: Limit,
    /// Queued packets with their order and time of arrival, by token.
    waiting: Vec<Option<(u64, Instant, T)>>,
    /// Tokens that are free.
    free: Vec<u32>,
    arrivals: u64,
    packets: u32,
    bytes: u64,
    /// No packet can be sent before.
    ready_at: Instant,
    /// A transmission has begun, and the transmitter has not asked for the next packet.
    is_sending: bool,
    answers: Vec<QueueAnswer>,
}

impl<T: Queued> KernelQueue<T> {
    /// An empty queue without a server. The discipline has its own limit, and `limit` is a larger one.
    pub fn new(limit: Limit) -> Self {
        KernelQueue {
            server: Connection::default(),
            limit,
            waiting: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            packets: 0,
            bytes: 0,
            ready_at: Instant::MAX,
            is_sending: false,
            answers: Vec::new(),
        }
    }

    /// The server decides about packets from now on.
    pub fn connect(&mut self, server: Box<dyn QueueServer>) {
        self.server = Connection(Some(server));
    }

    fn keep(&mut self, now: Instant, item: T) -> u32 {
        self.packets += 1;
        self.bytes += u64::from(item.wire_len());
        self.arrivals += 1;
        let token = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() as u32 - 1
        });
        self.waiting[token as usize] = Some((self.arrivals, now, item));
        token
    }

    fn remove(&mut self, token: u32) -> Option<(Instant, T)> {
        let (_, since, item) = self.waiting.get_mut(token as usize)?.take()?;
        self.free.push(token);
        self.packets -= 1;
        self.bytes -= u64::from(item.wire_len());
        Some((since, item))
    }

    /// Carries out the answers. Returns the packet that is sent.
    fn carry_out(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let (mut answers, mut sent) = (std::mem::take(&mut self.answers), None);
        for answer in answers.drain(..) {
            match answer {
                QueueAnswer::Sent(token) => sent = self.remove(token),
                QueueAnswer::Dropped(token) => {
                    if let Some((_, item)) = self.remove(token) {
                        sink.dropped(now, item, Reason::Kernel);
                    }
                }
                QueueAnswer::Marked(token) => {
                    let waiting = self.waiting.get_mut(token as usize).and_then(Option::as_mut);
                    // A mark of an arrival is seen again when the packet leaves.
                    if let Some((_, _, item)) = waiting.filter(|(_, _, item)| item.ecn() != Ecn::Ce) {
                        item.mark();
                        sink.marked(now, item, Reason::Kernel);
                    }
                }
            }
        }
        self.answers = answers;
        sent
    }

    /// Asks the server. At its first error the connection ends, and all packets are dropped.
    fn ask(
        &mut self,
        now: Instant,
        sink: &mut dyn QueueSink<T>,
        question: impl FnOnce(&mut dyn QueueServer, &mut Vec<QueueAnswer>) -> Result<(), ServerEnded>,
    ) -> Option<(Instant, T)> {
        let server = self.server.0.as_deref_mut();
        if server.ok_or(ServerEnded).and_then(|server| question(server, &mut self.answers)).is_err() {
            self.server = Connection(None);
            self.answers = (0..self.waiting.len() as u32).map(QueueAnswer::Dropped).collect();
        }
        self.carry_out(now, sink)
    }

    /// The transmitter asks for a packet.
    fn serve(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let sent = self.ask(now, sink, |server, answers| server.serve(now, answers));
        self.is_sending = sent.is_some();
        self.ready_at = match (&sent, &self.server.0) {
            (Some(_), _) => now,
            (None, Some(server)) => {
                server.next_event().map_or(Instant::MAX, |next| next.max(now + Duration::from_nanos(1)))
            }
            (None, None) => Instant::MAX,
        };
        sent
    }
}

impl<T: Queued> Qdisc<T> for KernelQueue<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        let (bytes, flow, ecn) = (item.wire_len(), item.flow_hash() as u32, item.ecn());
        let packet = ServedPacket { token: self.keep(now, item), bytes, flow, ecn };
        self.ask(now, sink, |server, answers| server.arrive(now, packet, answers));
        self.ready_at = now;
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.serve(now, sink)
    }

    /// The transmitter of Linux asks for a packet at the end of each transmission, also if the queue is empty.
    fn bypass(&mut self, now: Instant, idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        if self.is_sending {
            let ended_at = Instant::from_nanos(now.as_nanos() - idle.as_nanos());
            self.serve(ended_at, sink);
        }
        self.enqueue(now, item, sink);
        self.serve(now, sink).map(|(_, item)| item)
    }

    fn next_deadline(&self) -> Instant {
        self.ready_at
    }

    fn backlog_packets(&self) -> u32 {
        self.packets
    }

    fn backlog_bytes(&self) -> u64 {
        self.bytes
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    /// The limit of the discipline is part of its command line, and stays.
    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        let mut waiting: Vec<_> = self.waiting.iter().flatten().collect();
        waiting.sort_unstable_by_key(|(order, ..)| *order);
        waiting.into_iter().for_each(|(_, since, item)| see(*since, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};

    /// Drops packets of 50 bytes, marks the others, and sends them in order at even milliseconds.
    #[derive(Default)]
    struct Fake {
        waiting: std::collections::VecDeque<u32>,
        has_ended: bool,
        last: Instant,
    }

    impl QueueServer for Fake {
        fn arrive(
            &mut self,
            now: Instant,
            packet: ServedPacket,
            answers: &mut Vec<QueueAnswer>,
        ) -> Result<(), ServerEnded> {
            self.last = now;
            if packet.bytes == 50 {
                answers.push(QueueAnswer::Dropped(packet.token));
            } else {
                self.waiting.push_back(packet.token);
                answers.push(QueueAnswer::Marked(packet.token));
            }
            if self.has_ended { Err(ServerEnded) } else { Ok(()) }
        }

        fn serve(&mut self, now: Instant, answers: &mut Vec<QueueAnswer>) -> Result<(), ServerEnded> {
            self.last = now;
            if now.as_nanos().is_multiple_of(2_000_000) {
                let sent = self.waiting.pop_front();
                answers
                    .extend(sent.into_iter().flat_map(|token| [QueueAnswer::Marked(token), QueueAnswer::Sent(token)]));
            }
            Ok(())
        }

        fn next_event(&self) -> Option<Instant> {
            let next = (self.last.as_nanos() + 1).next_multiple_of(2_000_000);
            (!self.waiting.is_empty()).then(|| Instant::from_nanos(next))
        }
    }

    fn queue(server: Fake) -> KernelQueue<Item> {
        let mut queue = KernelQueue::new(Limit::Packets(100));
        queue.connect(Box::new(server));
        queue
    }

    fn item(number: u64) -> Item {
        Item { number, bytes: if number == 1 { 50 } else { 100 }, ecn: Ecn::Ect0, ..Item::default() }
    }

    fn millis(time: u64) -> Instant {
        Instant::from_nanos(time * 1_000_000)
    }

    #[test]
    fn answers_are_carried_out_once() {
        let (mut queue, mut told) = (queue(Fake::default()), Told::default());
        (0..3).for_each(|number| queue.enqueue(millis(1), item(number), &mut told));
        assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (2, 200));
        assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), [1]);
        // Nothing can be sent at 1 ms, and then at 2 ms.
        assert_eq!(queue.next_deadline(), millis(1));
        assert!(queue.dequeue(millis(1), &mut told).is_none());
        assert_eq!(queue.next_deadline(), millis(2));
        let (since, first) = queue.dequeue(millis(2), &mut told).unwrap();
        assert_eq!((since, first.number, first.ecn), (millis(1), 0, Ecn::Ce));
        // Each mark is reported once.
        assert_eq!(told.marked.len(), 2);
        let mut seen = Vec::new();
        queue.visit(&mut |_, item| seen.push(item.number));
        assert_eq!(seen, [2]);
    }

    #[test]
    fn the_transmitter_asks_at_the_end_of_a_transmission() {
        let mut queue = queue(Fake::default());
        assert_eq!(queue.bypass(millis(2), Duration::ZERO, item(0), &mut ()).unwrap().number, 0);
        assert!(queue.is_sending);
        // The transmission ended at 3 ms, with an empty queue.
        assert!(queue.bypass(millis(5), Duration::from_millis(2), item(2), &mut ()).is_none());
        assert!(!queue.is_sending);
        assert_eq!((queue.backlog_packets(), queue.next_deadline()), (1, millis(6)));
    }

    #[test]
    fn a_queue_drops_all_packets_without_a_server() {
        let (mut queue, mut told) = (KernelQueue::new(Limit::Packets(100)), Told::default());
        assert!(queue.bypass(millis(1), Duration::ZERO, item(0), &mut told).is_none());
        let mut queue_of_ended = self::queue(Fake { has_ended: true, ..Fake::default() });
        queue_of_ended.enqueue(millis(1), item(1), &mut told);
        assert_eq!((told.dropped.len(), queue.backlog_packets(), queue_of_ended.backlog_packets()), (2, 0, 0));
        assert_eq!(queue_of_ended.dequeue(millis(2), &mut told).map(|(_, item)| item.number), None);
        assert_eq!(queue_of_ended.next_deadline(), Instant::MAX);
    }
}
