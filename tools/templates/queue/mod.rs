//! The discipline in one paragraph, with the publication that defines it.

mod keys;

pub use keys::ExampleKeys;

use super::fifo::Fifo;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::Instant;

/// The queue.
#[derive(Clone, Debug)]
pub struct Example<T> {
    fifo: Fifo<T>,
    limit: Limit,
}

impl<T: Queued> Example<T> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        Example { fifo: Fifo::default(), limit }
    }
}

impl<T: Queued> Qdisc<T> for Example<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if self.limit.fits(self.fifo.packets(), self.fifo.bytes(), item.wire_len()) {
            self.fifo.push(now, item);
        } else {
            sink.dropped(now, item, Reason::Full);
        }
    }

    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.fifo.pop()
    }

    fn backlog_packets(&self) -> u32 {
        self.fifo.packets()
    }

    fn backlog_bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.fifo.visit(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};

    #[test]
    fn what_does_not_fit_is_dropped() {
        let (mut queue, mut told) = (Example::new(Limit::Packets(1)), Told::default());
        queue.enqueue(Instant::ZERO, Item::default(), &mut told);
        assert!(told.dropped.is_empty());
        queue.enqueue(Instant::ZERO, Item::default(), &mut told);
        assert_eq!(told.dropped.len(), 1);
    }
}
