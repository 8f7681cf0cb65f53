//! Items that the suites put into queues and links instead of packets of a simulation.

use super::Draw;
use crate::link::Impairable;
use crate::qdisc::{Ecn, Qdisc, QueueSink, Queued, Reason, Tag};
use crate::units::Instant;

/// An item with a number, by which it is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Counts all items of a case.
    pub number: u64,
    /// The flow it belongs to.
    pub flow: u64,
    /// Bytes on the wire.
    pub bytes: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether it keeps within its profile.
    pub in_profile: bool,
    /// Its group and direction.
    pub tag: Tag,
    /// Whether the wire has made some of its bits wrong.
    pub corrupted: bool,
}

impl Queued for Item {
    fn wire_len(&self) -> u32 {
        self.bytes
    }
    fn flow_hash(&self) -> u64 {
        self.flow
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn in_profile(&self) -> bool {
        self.in_profile
    }
    fn tag(&self) -> Tag {
        self.tag
    }
}

impl Impairable for Item {
    fn corrupt(&mut self) {
        self.corrupted = true;
    }
}

/// The drops and marks that a queue reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Dropped items.
    pub dropped: Vec<(Item, Reason)>,
    /// Marked items, as they were then.
    pub marked: Vec<(Item, Reason)>,
}

impl Told {
    /// The reports of a queue about an arriving item.
    pub fn of_arrival(queue: &mut impl Qdisc<Item>, now: Instant, item: Item) -> Told {
        let mut told = Told::default();
        queue.enqueue(now, item, &mut told);
        told
    }
}

impl QueueSink<Item> for Told {
    fn dropped(&mut self, _now: Instant, item: Item, reason: Reason) {
        self.dropped.push((item, reason));
    }

    fn marked(&mut self, _now: Instant, item: &Item, reason: Reason) {
        self.marked.push((*item, reason));
    }
}

impl Item {
    /// An item of a random flow, mostly of the size of a full packet.
    pub(super) fn random(draw: &mut Draw, number: u64) -> Self {
        let bytes = if draw.chance(60) { 1500 } else { draw.whole(1, 1500) as u32 };
        let ecn = draw.pick(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ce]);
        let flow = draw.whole(0, 3);
        // Two groups of flows, whose packets go both ways. Those of the last flow are ACKs.
        let tag = Tag::new(1 + flow as usize / 2);
        let tag = if draw.chance(50) { tag } else { tag.reversed() };
        let tag = if flow == 3 { tag.covered_by_next() } else { tag };
        Item { number, flow, bytes, ecn, in_profile: flow == 3, tag, corrupted: false }
    }
}
