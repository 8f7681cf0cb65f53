//! Entries that are far from due: not in order, but slot by slot of time.

use super::key::Key;
use crate::units::Instant;

/// How long a slot is, as a power of two of nanoseconds: about 4 ms.
const SLOT_BITS: u32 = 22;
/// A slot contains the events due within it in this revolution, about a second, or in a later one.
const SLOTS: usize = 256;

/// The slots of a revolution. They are opened one after another, and an opened slot is empty.
#[derive(Debug)]
pub(super) struct Wheel {
    slots: Vec<Vec<Key>>,
    /// Slots opened so far, from the beginning of time.
    opened: u64,
    entries: usize,
    /// Where the opened slots end, or [`Instant::MAX`] where there are no entries.
    next: Instant,
    /// The last opened slot's contents, whose memory is reused.
    spare: Vec<Key>,
}

impl Wheel {
    /// Creates a wheel without entries or opened slots.
    pub(super) fn new() -> Self {
        Wheel { slots: vec![Vec::new(); SLOTS], opened: 0, entries: 0, next: Instant::MAX, spare: Vec::new() }
    }

    /// Whether there are no entries.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Where the opened slots end.
    #[inline]
    pub(super) fn edge(&self) -> Instant {
        Instant::from_nanos(self.opened << SLOT_BITS)
    }

    /// Nothing here is due before.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Adds an entry at or after the edge.
    pub(super) fn put(&mut self, key: Key) {
        debug_assert!(key.at() >= self.edge(), "invariant: what is due in an opened slot is not put into the wheel");
        let slot = key.at().as_nanos() >> SLOT_BITS;
        self.slots[slot as usize % SLOTS].push(key);
        self.entries += 1;
        self.next = self.edge();
    }

    /// Opens the next slot. Returns its contents, unordered, some of them for later revolutions.
    pub(super) fn open(&mut self) -> Vec<Key> {
        let slot = &mut self.slots[self.opened as usize % SLOTS];
        let entries = std::mem::replace(slot, std::mem::take(&mut self.spare));
        self.opened += 1;
        self.entries -= entries.len();
        self.next = if self.is_empty() { Instant::MAX } else { self.edge() };
        entries
    }

    /// Takes back the result of [`Wheel::open`].
    pub(super) fn give_back(&mut self, mut entries: Vec<Key>) {
        entries.clear();
        self.spare = entries;
    }
}
