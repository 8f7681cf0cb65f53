//! The contract of a queue discipline: its calls, and its reports of drops and marks.

use super::{Limit, Tag};
use crate::ecn::Ecn;
use crate::units::{Duration, Instant};

/// The properties of an item that a queue needs.
pub trait Queued {
    /// Bytes on the wire.
    fn wire_len(&self) -> u32;
    /// A number that is the same for all items of a flow.
    fn flow_hash(&self) -> u64;
    /// The ECN field of the IP header.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field to congestion experienced.
    fn mark(&mut self);
    /// Whether it is within the profile of its sender (Clark & Fang 1998).
    fn in_profile(&self) -> bool;
    /// The group of its flow, the protocol's view of it and its direction.
    fn tag(&self) -> Tag {
        Tag::default()
    }
}

/// Why a queue dropped or marked an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The limit was reached.
    Full,
    /// It was chosen early, at random.
    Early,
    /// The average queue exceeds the upper threshold, so every item is chosen.
    Forced,
    /// Sojourn times have been above the target for an interval (RFC 8289).
    Sojourn,
    /// Its sojourn time was above the threshold for marks.
    CeThreshold,
    /// It can never be sent: it has more bytes than a burst may have.
    Oversize,
    /// L4S: chosen by the probability that the classic queue is coupled to (RFC 9332).
    Coupled,
    /// L4S: chosen by the threshold of its own queue (RFC 9332).
    Native,
    /// The marking probability is at its maximum, so ECN-capable items are dropped as well (RFC 9332).
    Overload,
    /// A packet of the same flow was drawn from the queue, or it was that packet (CHOKe).
    Match,
    /// It exceeds a rate and a burst.
    Excess,
    /// A bin of its flow held too many packets (SFB).
    Bin,
    /// Its flow does not respond, and exceeds the rate of such flows (SFB).
    Penalty,
    /// It is an ACK that a later one covers (CAKE).
    AckFilter,
    /// A queue of the kernel chose it, and the kernel gives no reason.
    Kernel,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 15] = [
        Reason::Full,
        Reason::Early,
        Reason::Forced,
        Reason::Sojourn,
        Reason::CeThreshold,
        Reason::Oversize,
        Reason::Coupled,
        Reason::Native,
        Reason::Overload,
        Reason::Match,
        Reason::Excess,
        Reason::Bin,
        Reason::Penalty,
        Reason::AckFilter,
        Reason::Kernel,
    ];

    /// The word for it in the names of metrics.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Full => "full",
            Reason::Early => "early",
            Reason::Forced => "forced",
            Reason::Sojourn => "sojourn",
            Reason::CeThreshold => "ce_threshold",
            Reason::Oversize => "oversize",
            Reason::Coupled => "coupled",
            Reason::Native => "native",
            Reason::Overload => "overload",
            Reason::Match => "match",
            Reason::Excess => "excess",
            Reason::Bin => "bin",
            Reason::Penalty => "penalty",
            Reason::AckFilter => "ack_filter",
            Reason::Kernel => "kernel",
        }
    }

    /// The qualifier of packet counts: "of the drops, those ...".
    pub fn in_words(self) -> &'static str {
        match self {
            Reason::Full => "that did not fit",
            Reason::Early => "chosen early",
            Reason::Forced => "that a long average forced",
            Reason::Sojourn => "for sojourn times above the target",
            Reason::CeThreshold => "for a sojourn time above `ce_threshold`",
            Reason::Oversize => "of packets larger than the burst",
            Reason::Coupled => "of L4S packets by the coupled probability",
            Reason::Native => "of L4S packets by the threshold of their own queue",
            Reason::Overload => "of ECN-capable packets in overload",
            Reason::Match => "of pairs of packets of the same flow",
            Reason::Excess => "of packets that exceed the rate",
            Reason::Bin => "of packets at full bins",
            Reason::Penalty => "of flows that do not respond",
            Reason::AckFilter => "of ACKs that a later one covers",
            Reason::Kernel => "by the kernel, which gives no reason",
        }
    }
}

/// The decision of a discipline about an arriving item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be queued.
    Queued,
    /// It may be queued, with a mark.
    Marked(Reason),
    /// It is to be dropped.
    Dropped(Reason),
}

impl Verdict {
    /// Marks the item or drops it. Returns it if it may be queued.
    #[inline]
    pub(super) fn carry_out<T: Queued>(self, now: Instant, mut item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        match self {
            Verdict::Queued => {}
            Verdict::Marked(reason) => {
                item.mark();
                sink.marked(now, &item, reason);
            }
            Verdict::Dropped(reason) => {
                sink.dropped(now, item, reason);
                return None;
            }
        }
        Some(item)
    }
}

/// Receives the drops and marks of a queue. `()` discards them.
pub trait QueueSink<T> {
    /// An item is dropped: an arriving or a queued one.
    fn dropped(&mut self, now: Instant, item: T, reason: Reason);
    /// The ECN field of an item has been set to congestion experienced.
    fn marked(&mut self, now: Instant, item: &T, reason: Reason);
}

impl<T> QueueSink<T> for () {
    fn dropped(&mut self, _now: Instant, _item: T, _reason: Reason) {}
    fn marked(&mut self, _now: Instant, _item: &T, _reason: Reason) {}
}

/// The contract of a queue discipline. Time never runs backwards between calls.
///
/// [`Qdisc::enqueue`] and [`Qdisc::dequeue`] may both drop and mark any items. Each is reported to the sink once. An
/// item that is neither dropped nor returned is queued.
pub trait Qdisc<T: Queued> {
    /// An item arrives.
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>);

    /// Returns the next item to send and its arrival time. Returns none if the queue is empty, or if no item may be
    /// sent before [`Qdisc::next_deadline`].
    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)>;

    /// An item arrives while the queue is empty and the transmitter has been idle for `idle`. Returns the item if it
    /// may be sent at once. A discipline may implement this faster than enqueue and dequeue, with the same outcome.
    #[inline]
    fn bypass(&mut self, now: Instant, idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        self.idled(idle);
        self.enqueue(now, item, sink);
        self.dequeue(now, sink).map(|(_, item)| item)
    }

    /// The transmitter was idle for `idle` before an item that arrives at an empty queue and must still be queued.
    fn idled(&mut self, _idle: Duration) {}

    /// The time at which a queued item may be sent, as far as known now. A past time means at once. It is in the
    /// future after a [`Qdisc::dequeue`] that returned none although items are queued.
    #[inline]
    fn next_deadline(&self) -> Instant {
        Instant::ZERO
    }

    /// Items in the queue.
    fn backlog_packets(&self) -> u32;
    /// Bytes in the queue.
    fn backlog_bytes(&self) -> u64;

    /// How much it holds.
    fn limit(&self) -> Limit;
    /// Sets the limit from now on. Items beyond a smaller limit stay until they are sent, or until an arrival makes
    /// the queue drop them. Other parameters stay unchanged.
    fn set_limit(&mut self, limit: Limit);

    /// The items that leave in the order of their arrival have the same number. By default a flow has one number.
    fn order(&self, item: &T) -> u64 {
        item.flow_hash()
    }

    /// Visits every queued item with its arrival time. Items with the same [`Qdisc::order`] are visited in the order of
    /// arrival.
    fn visit(&self, see: &mut dyn FnMut(Instant, &T));

    /// Shows the state of its control by name, after the last call. Each queue shows the same names in the same order
    /// at any time. Names end in a unit, if there is one. By default there is no state.
    fn state(&self, _see: &mut dyn FnMut(&str, f64)) {}
}

/// The methods of a discipline that keeps all its items in the queue of this field.
macro_rules! all_queued_in {
    ($queue:ident) => {
        #[inline]
        fn backlog_packets(&self) -> u32 {
            self.$queue.backlog_packets()
        }

        #[inline]
        fn backlog_bytes(&self) -> u64 {
            self.$queue.backlog_bytes()
        }

        fn limit(&self) -> Limit {
            self.$queue.limit()
        }

        fn set_limit(&mut self, limit: Limit) {
            self.$queue.set_limit(limit);
        }

        fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
            self.$queue.visit(see);
        }
    };
}

pub(super) use all_queued_in;

/// Shows values under names with a prefix.
pub(super) fn with_prefix<'a>(prefix: &'a str, see: &'a mut dyn FnMut(&str, f64)) -> impl FnMut(&str, f64) + 'a {
    move |name, value| see(&format!("{prefix}{name}"), value)
}
