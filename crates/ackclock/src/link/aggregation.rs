//! Packets that leave in bursts, and ACKs that a link leaves out.

use std::collections::BTreeMap;

use crate::qdisc::Queued;
use crate::units::{Duration, Instant};

/// Packets wait for the next multiple of a period. At most `most` leave at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    every: Duration,
    most: u32,
    /// The last burst, and its packets.
    burst_at: Instant,
    packets: u32,
}

impl Aggregation {
    /// Bursts of at most `most` packets, at least 1, at multiples of `every`, which is above zero.
    pub fn new(every: Duration, most: u32) -> Self {
        Aggregation { every, most, burst_at: Instant::ZERO, packets: 0 }
    }

    /// When a packet leaves that has come at `at`. Times never fall. A packet that is left out takes no place in a burst.
    pub(super) fn leave(&mut self, at: Instant, is_left_out: bool) -> Instant {
        if is_left_out {
            return at.max(self.burst_at);
        }
        let every = self.every.as_nanos();
        let next = Instant::from_nanos(at.as_nanos().div_ceil(every) * every);
        if next > self.burst_at {
            (self.burst_at, self.packets) = (next, 0);
        } else if self.packets >= self.most {
            self.burst_at += self.every;
            self.packets = 0;
        }
        self.packets += 1;
        self.burst_at
    }
}

/// Keeps one in `keep_every` of the ACKs of a flow that its next ACK covers.
///
/// Without a later ACK the sender would wait for its retransmission timeout. So an ACK is also kept if the last one was
/// kept [`LONGEST_GAP`](AckThinning::LONGEST_GAP) ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckThinning {
    keep_every: u32,
    flows: BTreeMap<u64, Thinned>,
}

/// ACKs of a flow since the last one that was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Thinned {
    left_out: u32,
    kept_at: Option<Instant>,
}

impl AckThinning {
    /// The longest time between two ACKs that come.
    pub const LONGEST_GAP: Duration = Duration::from_millis(10);

    /// Keeps one in `keep_every`, at least 1.
    pub fn new(keep_every: u32) -> Self {
        AckThinning { keep_every, flows: BTreeMap::new() }
    }

    /// Whether an item that has come at `at` is left out. Times never fall.
    pub(super) fn leaves_out(&mut self, at: Instant, item: &impl Queued) -> bool {
        if !item.tag().is_covered_by_next() {
            return false;
        }
        let flow = self.flows.entry(item.flow_hash()).or_default();
        let is_late = flow.kept_at.is_none_or(|kept_at| at >= kept_at + AckThinning::LONGEST_GAP);
        if is_late || flow.left_out + 1 == self.keep_every {
            *flow = Thinned { left_out: 0, kept_at: Some(at) };
            return false;
        }
        flow.left_out += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Item;
    use crate::qdisc::Tag;

    #[test]
    fn packets_leave_at_multiples_of_the_period() {
        let mut aggregation = Aggregation::new(Duration::from_millis(5), 3);
        let mut leave = |micros: u64| aggregation.leave(Instant::from_nanos(1000 * micros), false).as_nanos() / 1000;
        assert_eq!([0, 1, 4999, 5000].map(&mut leave), [0, 5000, 5000, 5000]);
        // A fourth packet does not fit the burst, and later ones follow it.
        assert_eq!([5000, 5001, 10_000, 10_000].map(&mut leave), [10_000, 10_000, 10_000, 15_000]);
        assert_eq!([15_000, 31_000].map(&mut leave), [15_000, 35_000]);
        let mut left_out = |micros: u64| aggregation.leave(Instant::from_nanos(1000 * micros), true).as_nanos() / 1000;
        assert_eq!([32_000, 36_000].map(&mut left_out), [35_000, 36_000]);
    }

    #[test]
    fn one_in_so_many_acks_of_a_flow_is_kept() {
        let mut thinning = AckThinning::new(3);
        let ack = |flow| Item { flow, tag: Tag::NONE.reversed().covered_by_next(), ..Item::default() };
        let mut kept = |millis, item: Item| !thinning.leaves_out(Instant::ZERO + Duration::from_millis(millis), &item);
        let flows = [1, 1, 2, 1, 1, 2, 2, 2];
        assert_eq!(flows.map(|flow| kept(0, ack(flow))), [true, false, true, false, true, false, false, true]);
        // Data and ACKs with news are all kept.
        let news = Item { flow: 1, tag: Tag::NONE.reversed(), ..Item::default() };
        assert!(kept(1, news) && kept(1, Item::default()) && !kept(1, ack(1)) && !kept(2, ack(1)) && kept(3, ack(1)));
        // The last one was kept at 3 ms.
        assert!(!kept(12, ack(1)) && kept(13, ack(1)) && !kept(22, ack(1)) && !kept(22, ack(1)) && kept(22, ack(1)));
    }
}
