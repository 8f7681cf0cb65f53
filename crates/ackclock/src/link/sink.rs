//! Events that a link reports to its owner, in addition to arriving packets.

use crate::qdisc::Reason;
use crate::units::{Duration, Instant};

/// Receives the events of packets, link by link. By default it ignores them. `()` discards all of them.
pub trait Sink<T> {
    /// The queue dropped a packet: it is lost.
    fn dropped(&mut self, _at: Instant, _item: T, _reason: Reason) {}
    /// The queue set the ECN field of a packet that it keeps to congestion experienced.
    fn marked(&mut self, _at: Instant, _item: &T, _reason: Reason) {}
    /// The transmission of a packet begins, on a link that keeps a histogram of sojourn times.
    fn transmitted(&mut self, _at: Instant, _item: &T) {}
    /// A packet leaves the queue after this sojourn time, and its transmission begins.
    fn dequeued(&mut self, _item: &T, _sojourn: Duration) {}
    /// A packet is lost in transit. It would have arrived at this time.
    fn lost(&mut self, _at: Instant, _item: T) {}
    /// From this time on there are two of a packet.
    fn doubled(&mut self, _at: Instant, _item: &T) {}
}

impl<T> Sink<T> for () {}
