//! Head drop: first in, first out. A full queue drops its oldest packets.
//!
//! Reference: Lakshman, Neidhardt & Ott 1996, The drop from front strategy in TCP and in TCP over ATM. Linux has it as
//! `pfifo_head_drop`. A sender learns of the loss earlier by the queueing delay.
//!
//! Deviations: the limit may also be in bytes. An arrival larger than the limit is dropped itself.

mod keys;

pub use keys::HeadDropKeys;

use super::contract::all_queued_in;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason};
use crate::units::Instant;

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct HeadDrop<T> {
    queue: DropTail<T>,
}

impl<T: Queued> HeadDrop<T> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        HeadDrop { queue: DropTail::new(limit) }
    }
}

impl<T: Queued> Qdisc<T> for HeadDrop<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        while !self.queue.fits(&item) {
            let Some((_, oldest)) = self.queue.pop() else {
                sink.dropped(now, item, Reason::Full);
                return;
            };
            sink.dropped(now, oldest, Reason::Full);
        }
        self.queue.push(now, item);
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.queue.pop()
    }

    all_queued_in!(queue);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};

    #[test]
    fn the_oldest_packets_make_room() {
        let mut queue = HeadDrop::new(Limit::Bytes(1000));
        let mut told = Told::default();
        for (number, bytes) in [(0, 400), (1, 400), (2, 900), (3, 1001)] {
            queue.enqueue(Instant::ZERO, Item { number, bytes, ..Item::default() }, &mut told);
        }
        // The third packet replaces the first two. The last one empties the queue, and does not fit itself.
        assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(queue.backlog_packets(), 0);
    }
}
