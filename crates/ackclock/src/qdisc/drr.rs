//! DRR: flows take turns, and each sends as many bytes a round as the others.
//!
//! Reference: Shreedhar & Varghese 1995, Efficient Fair Queuing using Deficit Round Robin, figure 3; what is dropped
//! when the queue is full as in ns-2 2.35 (`queue/drr.cc`).
//!
//! ```text
//! a flow's turn    deficit <- deficit + quantum
//!                  while its first item fits: send it, deficit <- deficit - its bytes
//! then             nothing waits: deficit <- 0; else the turn is the next flow's, and the deficit is kept
//! full             the first item of the flow with the most bytes is dropped, until what waits fits
//! ```
//!
//! Over any interval in which two flows have something waiting their service differs by at most a quantum and twice
//! the largest item (lemma 2).
//!
//! Deviations: a flow that comes alive takes its turn behind all others, as in the paper; ns-2 does not count the flow
//! that has just spent its deficit among them.

use std::collections::{BTreeMap, VecDeque};

use super::{Limit, Qdisc, Queued, Reason, Verdict};
use crate::units::{Duration, Instant};

/// The parameters of DRR, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrrParameters {
    /// What a flow may send a round, in bytes; at least 1.
    pub quantum: u32,
    /// How many queues there are at the most, at least 1: flows share one by their hashes. Without it each flow has its own.
    pub buckets: Option<u32>,
}

/// So many places are found without a search.
const RECENT: usize = 64;

/// A queue for each flow, and a limit for all of them.
#[derive(Clone, Debug)]
pub struct Drr<T> {
    limit: Limit,
    parameters: DrrParameters,
    /// What the hashes of flows are mixed with, if they are.
    salt: Option<u64>,
    /// Where the bucket of a flow, or of a remainder of hashes, stands in `buckets`.
    places: BTreeMap<u64, usize>,
    /// Those looked up last, by the lowest bits of what they were found by.
    recent: [Option<(u64, usize)>; RECENT],
    /// As many as have been needed.
    buckets: Vec<Bucket<T>>,
    /// Buckets in which something waits, in the order of their turns.
    active: VecDeque<usize>,
    /// Whether the first of them has got its quantum.
    has_begun: bool,
    packets: u32,
    bytes: u64,
    evicted: VecDeque<T>,
}

#[derive(Clone, Debug)]
struct Bucket<T> {
    items: VecDeque<(Instant, T)>,
    bytes: u64,
    deficit: u64,
}

impl<T: Queued> Bucket<T> {
    fn new() -> Self {
        Bucket { items: VecDeque::new(), bytes: 0, deficit: 0 }
    }

    fn pop(&mut self) -> Option<(Instant, T)> {
        let (since, item) = self.items.pop_front()?;
        self.bytes -= u64::from(item.wire_len());
        if self.items.is_empty() {
            self.deficit = 0;
        }
        Some((since, item))
    }

    /// Whether the first item may leave in this turn.
    fn may_send(&self) -> bool {
        self.items.front().is_some_and(|(_, item)| u64::from(item.wire_len()) <= self.deficit)
    }
}

impl<T: Queued> Drr<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: DrrParameters) -> Self {
        Drr {
            limit,
            parameters,
            salt: None,
            places: BTreeMap::new(),
            recent: [None; RECENT],
            buckets: Vec::new(),
            active: VecDeque::new(),
            has_begun: false,
            packets: 0,
            bytes: 0,
            evicted: VecDeque::new(),
        }
    }

    /// Hashes flows anew: what waits moves to its new bucket, and every flow keeps its order.
    pub(super) fn shuffle(&mut self, salt: u64) {
        self.salt = Some(salt);
        self.places.clear();
        self.recent = [None; RECENT];
        let mut buckets = std::mem::take(&mut self.buckets);
        let turns = std::mem::take(&mut self.active);
        let waiting: Vec<_> = turns.into_iter().flat_map(|place| std::mem::take(&mut buckets[place].items)).collect();
        (self.packets, self.bytes, self.has_begun) = (0, 0, false);
        for (since, item) in waiting {
            self.push(since, item);
        }
    }

    /// Where the bucket of an item stands.
    fn place_of(&mut self, item: &T) -> usize {
        let hash = self.salt.map_or(item.flow_hash(), |salt| mix(item.flow_hash() ^ salt));
        let number = self.parameters.buckets.map_or(hash, |buckets| hash % u64::from(buckets));
        let recent = &mut self.recent[number as usize % RECENT];
        if let Some((known, place)) = *recent
            && known == number
        {
            return place;
        }
        let place = *self.places.entry(number).or_insert(self.buckets.len());
        if place == self.buckets.len() {
            self.buckets.push(Bucket::new());
        }
        *recent = Some((number, place));
        place
    }

    fn push(&mut self, since: Instant, item: T) {
        let place = self.place_of(&item);
        let bucket = &mut self.buckets[place];
        if bucket.items.is_empty() {
            self.active.push_back(place);
        }
        self.packets += 1;
        self.bytes += u64::from(item.wire_len());
        bucket.bytes += u64::from(item.wire_len());
        bucket.items.push_back((since, item));
    }

    /// Takes the first item of a bucket that stands at this place in the order of turns.
    fn take(&mut self, turn: usize) -> Option<(Instant, T)> {
        let bucket = &mut self.buckets[*self.active.get(turn)?];
        let (since, item) = bucket.pop()?;
        self.packets -= 1;
        self.bytes -= u64::from(item.wire_len());
        if bucket.items.is_empty() {
            self.active.remove(turn);
            self.has_begun &= turn > 0;
        }
        Some((since, item))
    }

    /// Drops from the longest flow, the first of several in the order of turns.
    fn evict(&mut self) {
        let bytes = |place: usize| self.buckets[place].bytes;
        let longest =
            |best: usize, turn: usize| if bytes(self.active[turn]) > bytes(self.active[best]) { turn } else { best };
        let turn = (0..self.active.len()).fold(0, longest);
        let longest = self.take(turn);
        self.evicted.extend(longest.map(|(_, item)| item));
    }

    fn end_turn(&mut self) {
        if let Some(place) = self.active.pop_front() {
            self.active.push_back(place);
        }
        self.has_begun = false;
    }
}

/// Every bit of the result depends on every bit of the number (the finaliser of splitmix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl<T: Queued> Qdisc<T> for Drr<T> {
    fn enqueue(&mut self, now: Instant, item: T) -> Verdict {
        if !self.limit.fits(0, 0, item.wire_len()) {
            return Verdict::Dropped(Reason::Full);
        }
        self.push(now, item);
        if self.limit.holds(self.packets, self.bytes) {
            return Verdict::Queued;
        }
        while !self.limit.holds(self.packets, self.bytes) {
            self.evict();
        }
        Verdict::Evicting
    }

    /// A flow that sends all that it has keeps no deficit, so nothing is left of it.
    fn pass(&mut self, _now: Instant, _idle: Duration, item: &mut T) -> Verdict {
        if self.limit.fits(0, 0, item.wire_len()) { Verdict::Queued } else { Verdict::Dropped(Reason::Full) }
    }

    fn dequeue(&mut self, _now: Instant) -> Option<(Instant, T)> {
        loop {
            let bucket = &mut self.buckets[*self.active.front()?];
            if !self.has_begun {
                self.has_begun = true;
                bucket.deficit += u64::from(self.parameters.quantum);
            }
            if !bucket.may_send() {
                self.end_turn();
                continue;
            }
            bucket.deficit -= bucket.items.front().map_or(0, |(_, item)| u64::from(item.wire_len()));
            let sent = self.take(0);
            if self.has_begun && self.active.front().is_some_and(|place| !self.buckets[*place].may_send()) {
                self.end_turn();
            }
            return sent;
        }
    }

    fn take_evicted(&mut self) -> Option<T> {
        self.evicted.pop_front()
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.packets
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
