//! Drop-tail: first in, first out. Arrivals at a full queue are dropped.

mod keys;

pub use keys::{DropTailKeys, DropTailParameters};

use super::fifo::Fifo;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::{Duration, Instant};

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct DropTail<T> {
    fifo: Fifo<T>,
    limit: Limit,
}

impl<T: Queued> DropTail<T> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        DropTail { fifo: Fifo::default(), limit }
    }

    /// Whether the item fits.
    #[inline]
    pub(super) fn fits(&self, item: &T) -> bool {
        self.limit.fits(self.fifo.packets(), self.fifo.bytes(), item.wire_len())
    }

    /// Whether less than a third of the limit is used.
    pub(super) fn is_below_third(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => 3 * u64::from(self.fifo.packets()) < u64::from(limit),
            Limit::Bytes(limit) => 3 * u128::from(self.fifo.bytes()) < u128::from(limit),
        }
    }

    /// Adds an item that fits.
    #[inline]
    pub(super) fn push(&mut self, now: Instant, item: T) {
        self.fifo.push(now, item);
    }

    /// Takes out the first item, and when it came.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Instant, T)> {
        self.fifo.pop()
    }

    /// Takes out the last item of this kind, if there is one.
    pub(super) fn remove_last(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        self.fifo.remove_last(is_wanted)
    }

    /// The queued items.
    pub(super) fn fifo(&mut self) -> &mut Fifo<T> {
        &mut self.fifo
    }
}

impl<T: Queued> Qdisc<T> for DropTail<T> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if self.fits(&item) {
            self.push(now, item);
        } else {
            sink.dropped(now, item, Reason::Full);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.pop()
    }

    #[inline]
    fn bypass(&mut self, now: Instant, _idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        if self.fits(&item) {
            return Some(item);
        }
        sink.dropped(now, item, Reason::Full);
        None
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.fifo.packets()
    }

    #[inline]
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

    fn item(bytes: u32) -> Item {
        Item { bytes, ..Item::default() }
    }

    fn taken(limit: Limit, sizes: &[u32]) -> Vec<bool> {
        let mut queue = DropTail::new(limit);
        let take = |size: &u32| {
            let mut told = Told::default();
            queue.enqueue(Instant::ZERO, item(*size), &mut told);
            told.dropped.is_empty()
        };
        sizes.iter().map(take).collect()
    }

    #[test]
    fn the_limit_counts_packets_or_bytes() {
        assert_eq!(taken(Limit::Packets(2), &[9, 9, 9]), [true, true, false]);
        // 60 + 60 > 100, but a small packet still fits after a large one that did not.
        assert_eq!(taken(Limit::Bytes(100), &[60, 60, 40, 1]), [true, false, true, false]);
    }

    #[test]
    fn what_leaves_makes_room_and_keeps_its_order() {
        let mut queue = DropTail::new(Limit::Packets(2));
        queue.enqueue(Instant::from_nanos(1), item(1), &mut ());
        queue.enqueue(Instant::from_nanos(2), item(2), &mut ());
        let leave = |queue: &mut DropTail<Item>, at| {
            queue.dequeue(Instant::from_nanos(at), &mut ()).map(|(since, item)| (since, item.bytes))
        };
        assert_eq!(leave(&mut queue, 3), Some((Instant::from_nanos(1), 1)));
        queue.enqueue(Instant::from_nanos(3), item(3), &mut ());
        assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (2, 5));
        assert_eq!(leave(&mut queue, 4), Some((Instant::from_nanos(2), 2)));
    }
}
