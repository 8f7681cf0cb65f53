//! A queue for each flow, or for the flows that share a bucket of a hash table. DRR, SFQ and fair queues schedule them.

use std::collections::BTreeMap;

use super::fifo::Fifo;
use super::{Limit, Queued};
use crate::units::Instant;

/// The number of places that are found without a search.
pub(super) const RECENT: usize = 64;

/// Queues by the hashes of flows, each with a state of its scheduler's.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<T, S> {
    /// The largest number of queues. None gives each flow its own.
    buckets: Option<u32>,
    /// The salt of the hashes of flows, if there is one.
    salt: Option<u64>,
    /// The index in `queues` of each flow, or of each remainder of hashes.
    places: BTreeMap<u64, usize>,
    /// The last lookups, by the lowest bits of their keys.
    recent: [Option<(u64, usize)>; RECENT],
    /// The queues that were needed so far.
    queues: Vec<FlowQueue<T, S>>,
    /// The state of a queue before its first item.
    first: S,
    packets: u32,
    bytes: u64,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct FlowQueue<T, S> {
    pub(super) fifo: Fifo<T>,
    pub(super) state: S,
}

impl<T: Queued, S: Clone> FlowQueues<T, S> {
    /// No queues yet. The state of each begins with `first`.
    pub(super) fn new(buckets: Option<u32>, first: S) -> Self {
        FlowQueues {
            buckets,
            salt: None,
            places: BTreeMap::new(),
            recent: [None; RECENT],
            queues: Vec::new(),
            first,
            packets: 0,
            bytes: 0,
        }
    }

    /// Rehashes flows while all queues are empty.
    pub(super) fn salt(&mut self, salt: u64) {
        debug_assert_eq!(self.packets, 0, "invariant: flows are hashed again while empty");
        self.salt = Some(salt);
        self.places.clear();
        self.recent = [None; RECENT];
        self.queues.clear();
    }

    /// Where the queue of an item stands.
    pub(super) fn place_of(&mut self, item: &T) -> usize {
        let hash = self.salt.map_or(item.flow_hash(), |salt| mix(item.flow_hash() ^ salt));
        let number = self.buckets.map_or(hash, |buckets| hash % u64::from(buckets));
        let recent = &mut self.recent[number as usize % RECENT];
        if let Some((known, place)) = *recent
            && known == number
        {
            return place;
        }
        let place = *self.places.entry(number).or_insert(self.queues.len());
        if place == self.queues.len() {
            self.queues.push(FlowQueue { fifo: Fifo::default(), state: self.first.clone() });
        }
        *recent = Some((number, place));
        place
    }

    /// Adds an item that came at `since` to the queue of its flow: where that stands.
    pub(super) fn push(&mut self, since: Instant, item: T) -> usize {
        let place = self.place_of(&item);
        self.push_at(place, since, item);
        place
    }

    /// Adds an item that came at `since` to its queue.
    pub(super) fn push_at(&mut self, place: usize, since: Instant, item: T) {
        self.packets += 1;
        self.bytes += u64::from(item.wire_len());
        self.queues[place].fifo.push(since, item);
    }

    /// Takes items from a queue, and returns the result of `take`.
    pub(super) fn take<R>(&mut self, place: usize, take: impl FnOnce(&mut FlowQueue<T, S>) -> R) -> R {
        let queue = &mut self.queues[place];
        let before = (queue.fifo.packets(), queue.fifo.bytes());
        let result = take(queue);
        self.packets -= before.0 - queue.fifo.packets();
        self.bytes -= before.1 - queue.fifo.bytes();
        result
    }

    /// The queue at a place.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> &mut FlowQueue<T, S> {
        &mut self.queues[place]
    }

    /// The queue at a place, to read.
    pub(super) fn get(&self, place: usize) -> &FlowQueue<T, S> {
        &self.queues[place]
    }

    /// The position of the longest queue in bytes among these places, the first of several. 0 if there is none.
    pub(super) fn longest(&self, places: impl Iterator<Item = usize>) -> usize {
        let bytes = places.map(|place| self.queues[place].fifo.bytes()).enumerate();
        bytes.fold((0, 0), |best, (position, bytes)| if bytes > best.1 { (position, bytes) } else { best }).0
    }

    /// Whether the backlog is within a limit.
    pub(super) fn keep(&self, limit: Limit) -> bool {
        limit.holds(self.packets, self.bytes)
    }

    /// Shows the items of all queues and when they came, one queue after the other.
    pub(super) fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.queues.iter().for_each(|queue| queue.fifo.visit(see));
    }

    /// Items in all queues.
    #[inline]
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes in all queues.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Every bit of the result depends on every bit of the number (the finaliser of splitmix64).
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_mixed_as_by_splitmix64() {
        // The first numbers of the generator with the seeds 0 and 1: its state is the seed and a constant.
        let first = |seed: u64| mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        assert_eq!([first(0), first(1)], [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1]);
    }
}
