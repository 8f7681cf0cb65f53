//! A queue of the Linux kernel.
//!
//! A guest of `--backend kernel` contains the queue. The link is simulated: it announces arrivals to the queue, and
//! takes a packet when its transmitter is free. Packets keep their places here, and the queue knows their numbers.
//!
//! Deviations: a packet in the queue has headers of UDP and zeros instead of its content. Flows differ in their
//! address. The kernel does not tell why it drops or marks a packet.

mod keys;

pub use keys::{KernelQueueKeys, KernelQueueParameters};

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::ecn::Ecn;
use crate::units::Instant;

/// A packet that arrives at a queue outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideArrival {
    /// Its number, which no other packet in the queue has.
    pub token: u32,
    /// Bytes on the wire.
    pub len: u32,
    /// The same number for all packets of a flow.
    pub flow: u32,
    /// The ECN field.
    pub ecn: Ecn,
}

/// The fate of a packet in a queue outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideEvent {
    /// It is transmitted now.
    Served(u32),
    /// It was dropped.
    Dropped(u32),
    /// It was marked.
    Marked(u32),
}

/// A queue outside of the simulation. Time never runs backwards between calls.
pub trait OutsideQueue: Debug + Send {
    /// A packet arrives. Appends the fates of packets.
    fn enqueue(&mut self, now: Instant, arrival: OutsideArrival, events: &mut Vec<OutsideEvent>);

    /// The transmitter is free. Appends the fates of packets, of which at most one is served.
    fn dequeue(&mut self, now: Instant, events: &mut Vec<OutsideEvent>);

    /// When the queue acts next by itself, if ever.
    fn next_event(&self) -> Option<Instant>;
}

/// The packets of a queue outside.
#[derive(Clone, Debug)]
pub struct KernelQueue<T> {
    outside: Option<Arc<Mutex<Box<dyn OutsideQueue>>>>,
    limit: Limit,
    /// By number: arrival time, arrivals before it, and the packet.
    places: Vec<Option<(Instant, u64, T)>>,
    free: Vec<u32>,
    arrivals: u64,
    packets: u32,
    bytes: u64,
    /// The queue gives nothing before.
    ready_at: Instant,
    events: Vec<OutsideEvent>,
}

impl<T: Queued> KernelQueue<T> {
    /// An empty queue.
    pub fn new(limit: Limit, outside: Option<Arc<Mutex<Box<dyn OutsideQueue>>>>) -> Self {
        KernelQueue {
            outside,
            limit,
            places: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            packets: 0,
            bytes: 0,
            ready_at: Instant::ZERO,
            events: Vec::new(),
        }
    }

    /// Calls the queue outside.
    fn call<R>(&mut self, call: impl FnOnce(&mut dyn OutsideQueue, &mut Vec<OutsideEvent>) -> R) -> R {
        let outside = self.outside.as_ref().expect("invariant: the backend provides the kernel's queue");
        let mut outside = outside.lock().unwrap_or_else(PoisonError::into_inner);
        call(&mut **outside, &mut self.events)
    }

    fn keep(&mut self, now: Instant, item: T) -> u32 {
        let token = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        self.packets += 1;
        self.bytes += u64::from(item.wire_len());
        self.places[token as usize] = Some((now, self.arrivals, item));
        self.arrivals += 1;
        token
    }

    fn release(&mut self, token: u32) -> Option<(Instant, T)> {
        let (since, _, item) = self.places.get_mut(token as usize)?.take()?;
        self.free.push(token);
        self.packets -= 1;
        self.bytes -= u64::from(item.wire_len());
        Some((since, item))
    }

    /// Carries out the fates of packets. Returns the packet that is served.
    fn carry_out(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let mut served = None;
        for event in std::mem::take(&mut self.events) {
            match event {
                OutsideEvent::Served(token) => served = self.release(token).or(served),
                OutsideEvent::Dropped(token) => {
                    if let Some((_, item)) = self.release(token) {
                        sink.dropped(now, item, Reason::Kernel);
                    }
                }
                OutsideEvent::Marked(token) => {
                    if let Some(Some((_, _, item))) = self.places.get_mut(token as usize)
                        && item.ecn() != Ecn::Ce
                    {
                        item.mark();
                        sink.marked(now, item, Reason::Kernel);
                    }
                }
            }
        }
        served
    }
}

impl<T: Queued> Qdisc<T> for KernelQueue<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        let (len, hash, ecn) = (item.wire_len(), item.flow_hash(), item.ecn());
        let token = self.keep(now, item);
        let arrival = OutsideArrival { token, len, flow: (hash ^ hash >> 32) as u32, ecn };
        self.call(|outside, events| outside.enqueue(now, arrival, events));
        self.carry_out(now, sink);
        self.ready_at = Instant::ZERO;
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        if self.packets == 0 {
            return None;
        }
        let next = self.call(|outside, events| {
            outside.dequeue(now, events);
            outside.next_event()
        });
        let served = self.carry_out(now, sink);
        self.ready_at = if served.is_some() { Instant::ZERO } else { next.unwrap_or(Instant::MAX) };
        served
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

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        let mut queued: Vec<_> = self.places.iter().flatten().collect();
        queued.sort_by_key(|(_, number, _)| *number);
        queued.into_iter().for_each(|(since, _, item)| see(*since, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};
    use crate::units::Duration;

    /// Two packets at most, last in, first out, and one millisecond between departures. It marks the first packet.
    #[derive(Debug, Default)]
    struct Stack {
        tokens: Vec<u32>,
        ready_at: Instant,
    }

    impl OutsideQueue for Stack {
        fn enqueue(&mut self, _now: Instant, arrival: OutsideArrival, events: &mut Vec<OutsideEvent>) {
            if self.tokens.len() == 2 {
                events.push(OutsideEvent::Dropped(self.tokens.remove(0)));
            }
            if self.tokens.is_empty() {
                events.push(OutsideEvent::Marked(arrival.token));
            }
            self.tokens.push(arrival.token);
        }

        fn dequeue(&mut self, now: Instant, events: &mut Vec<OutsideEvent>) {
            if now >= self.ready_at {
                self.ready_at = now + Duration::from_millis(1);
                events.extend(self.tokens.pop().map(OutsideEvent::Served));
            }
        }

        fn next_event(&self) -> Option<Instant> {
            Some(self.ready_at)
        }
    }

    #[test]
    fn packets_follow_the_queue_outside() {
        let outside: Box<dyn OutsideQueue> = Box::new(Stack::default());
        let mut queue = KernelQueue::new(Limit::Packets(9), Some(Arc::new(Mutex::new(outside))));
        let mut told = Told::default();
        let at = |micros: u64| Instant::from_nanos(micros * 1_000);
        for number in 0..3 {
            let item = Item { number, bytes: 100, ecn: Ecn::Ect0, ..Item::default() };
            queue.enqueue(at(number.into()), item, &mut told);
        }
        assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), [0]);
        assert_eq!(told.marked.len(), 1);
        assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (2, 200));
        let served = |queue: &mut KernelQueue<Item>, now: Instant| {
            queue.dequeue(now, &mut ()).map(|(since, item)| (since, item.number))
        };
        assert_eq!(served(&mut queue, at(10)), Some((at(2), 2)));
        assert_eq!(served(&mut queue, at(20)), None);
        assert_eq!(queue.next_deadline(), at(1_010));
        let mut seen = Vec::new();
        queue.visit(&mut |since, item| seen.push((since, item.number)));
        assert_eq!(seen, [(at(1), 1)]);
        assert_eq!(served(&mut queue, at(1_010)), Some((at(1), 1)));
        assert_eq!(queue.backlog_packets(), 0);
    }
}
