//! Items in the order of arrival, the basis of most disciplines.

use std::collections::VecDeque;

use super::Queued;
use crate::units::Instant;

/// Items with the times at which they came.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    items: VecDeque<(Instant, T)>,
    bytes: u64,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Fifo { items: VecDeque::new(), bytes: 0 }
    }
}

impl<T: Queued> Fifo<T> {
    /// Adds an item that came at `since`.
    #[inline]
    pub(super) fn push(&mut self, since: Instant, item: T) {
        self.bytes += u64::from(item.wire_len());
        self.items.push_back((since, item));
    }

    /// Takes out the first item, and when it came.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Instant, T)> {
        let (since, item) = self.items.pop_front()?;
        self.bytes -= u64::from(item.wire_len());
        Some((since, item))
    }

    /// Takes out the last item of this kind, if there is one.
    pub(super) fn remove_last(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.items.iter().rposition(|(_, item)| is_wanted(item))?;
        let (_, item) = self.items.remove(place)?;
        self.bytes -= u64::from(item.wire_len());
        Some(item)
    }

    /// Takes out the item at a place if it is of this kind.
    pub(super) fn remove(&mut self, place: usize, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        if !is_wanted(&self.items.get(place)?.1) {
            return None;
        }
        let (_, item) = self.items.remove(place)?;
        self.bytes -= u64::from(item.wire_len());
        Some(item)
    }

    /// How many items are of this kind.
    pub(super) fn count(&self, is_wanted: impl Fn(&T) -> bool) -> usize {
        self.items.iter().filter(|(_, item)| is_wanted(item)).count()
    }

    /// Takes out the first item of this kind, if there is one.
    pub(super) fn remove_first(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.items.iter().position(|(_, item)| is_wanted(item))?;
        self.remove(place, is_wanted)
    }

    /// Shows the items and when they came, the first one first.
    pub(super) fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.items.iter().for_each(|(since, item)| see(*since, item));
    }

    /// Takes out everything.
    pub(super) fn drain(&mut self) -> VecDeque<(Instant, T)> {
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }

    /// Bytes of the first item.
    #[inline]
    pub(super) fn first_len(&self) -> Option<u64> {
        self.items.front().map(|(_, item)| u64::from(item.wire_len()))
    }

    /// When the first item came.
    #[inline]
    pub(super) fn first_since(&self) -> Option<Instant> {
        self.items.front().map(|(since, _)| *since)
    }

    /// How many items there are.
    #[inline]
    pub(super) fn packets(&self) -> u32 {
        self.items.len() as u32
    }

    /// Their bytes.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
