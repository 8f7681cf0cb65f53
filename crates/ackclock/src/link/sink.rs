//! What a link tells its owner of packets that do not simply come out at the far end.

use crate::qdisc::Reason;
use crate::units::{Duration, Instant};

/// Hears of packets, link by link; by default it does nothing. `()` hears nothing at all.
pub trait Sink<T> {
    /// The queue dropped a packet: it is gone.
    fn dropped(&mut self, _at: Instant, _item: T, _reason: Reason) {}
    /// The queue set the ECN field of a packet that it keeps to congestion experienced.
    fn marked(&mut self, _at: Instant, _item: &T, _reason: Reason) {}
    /// The transmission of a packet begins, on a link that keeps a histogram of waiting times.
    fn transmitted(&mut self, _at: Instant, _item: &T) {}
    /// A packet leaves the queue in which it waited this long, and its transmission begins.
    fn waited(&mut self, _item: &T, _wait: Duration) {}
    /// A packet is lost behind the transmitter, and would have come out at this time: it is gone.
    fn lost(&mut self, _at: Instant, _item: T) {}
    /// From this time on there are two of a packet.
    fn doubled(&mut self, _at: Instant, _item: &T) {}
}

impl<T> Sink<T> for () {}
