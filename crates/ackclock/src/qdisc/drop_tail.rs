//! Drop-tail: first in, first out, and what does not fit is dropped.

use std::collections::VecDeque;

use super::{Qdisc, Queued, Reason, Verdict};
use crate::units::{Duration, Instant};

/// How much a queue holds; the item in transmission has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Items of any size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
}

impl Limit {
    /// Whether one of `len` bytes fits beside what waits.
    #[inline]
    pub(super) fn fits(self, packets: usize, bytes: u64, len: u32) -> bool {
        match self {
            Limit::Packets(limit) => packets < limit as usize,
            Limit::Bytes(limit) => bytes + u64::from(len) <= limit,
        }
    }

    /// Whether so much may wait.
    pub(super) fn holds(self, packets: u32, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets <= limit,
            Limit::Bytes(limit) => bytes <= limit,
        }
    }
}

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct DropTail<T> {
    items: VecDeque<(Instant, T)>,
    bytes: u64,
    limit: Limit,
}

impl<T: Queued> DropTail<T> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        DropTail { items: VecDeque::new(), bytes: 0, limit }
    }

    /// Whether the item fits beside what waits.
    #[inline]
    pub(super) fn fits(&self, item: &T) -> bool {
        self.limit.fits(self.items.len(), self.bytes, item.wire_len())
    }

    /// Adds an item that fits.
    #[inline]
    pub(super) fn push(&mut self, now: Instant, item: T) {
        self.bytes += u64::from(item.wire_len());
        self.items.push_back((now, item));
    }

    /// Takes out the last item of this kind, if there is one.
    pub(super) fn remove_last(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.items.iter().rposition(|(_, item)| is_wanted(item))?;
        let (_, item) = self.items.remove(place)?;
        self.bytes -= u64::from(item.wire_len());
        Some(item)
    }
}

impl<T: Queued> Qdisc<T> for DropTail<T> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: T) -> Verdict {
        if !self.fits(&item) {
            return Verdict::Dropped(Reason::Full);
        }
        self.push(now, item);
        Verdict::Queued
    }

    #[inline]
    fn pass(&mut self, _now: Instant, _idle: Duration, item: &mut T) -> Verdict {
        if self.fits(item) { Verdict::Queued } else { Verdict::Dropped(Reason::Full) }
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant) -> Option<(Instant, T)> {
        let (since, item) = self.items.pop_front()?;
        self.bytes -= u64::from(item.wire_len());
        Some((since, item))
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.items.len() as u32
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::Ecn;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Sized(u32);

    impl Queued for Sized {
        fn wire_len(&self) -> u32 {
            self.0
        }
        fn flow_hash(&self) -> u64 {
            0
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn mark(&mut self) {}
        fn in_profile(&self) -> bool {
            false
        }
    }

    fn verdicts(limit: Limit, sizes: &[u32]) -> Vec<bool> {
        let mut queue = DropTail::new(limit);
        sizes.iter().map(|size| queue.enqueue(Instant::ZERO, Sized(*size)) == Verdict::Queued).collect()
    }

    #[test]
    fn the_limit_counts_packets_or_bytes() {
        assert_eq!(verdicts(Limit::Packets(2), &[9, 9, 9]), [true, true, false]);
        // 60 + 60 > 100, but a small packet still fits behind a large one that did not.
        assert_eq!(verdicts(Limit::Bytes(100), &[60, 60, 40, 1]), [true, false, true, false]);
    }

    #[test]
    fn what_leaves_makes_room_and_keeps_its_order() {
        let mut queue = DropTail::new(Limit::Packets(2));
        queue.enqueue(Instant::from_nanos(1), Sized(1));
        queue.enqueue(Instant::from_nanos(2), Sized(2));
        assert_eq!(queue.dequeue(Instant::from_nanos(3)), Some((Instant::from_nanos(1), Sized(1))));
        assert_eq!(queue.enqueue(Instant::from_nanos(3), Sized(3)), Verdict::Queued);
        assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (2, 5));
        assert_eq!(queue.dequeue(Instant::from_nanos(4)), Some((Instant::from_nanos(2), Sized(2))));
    }
}
