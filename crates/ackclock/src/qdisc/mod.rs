//! Queue disciplines over anything that is [`Queued`].
//!
//! A new discipline is one file beside `drop_tail.rs` and one line of `queues!`.

mod drop_tail;
mod drr;
mod red;
mod rio;
mod sfq;

pub use drop_tail::{DropTail, Limit};
pub use drr::{Drr, DrrParameters};
pub use red::{Gaps, Red, RedMode, RedParameters};
pub use rio::{Outside, Rio, RioParameters};
pub use sfq::Sfq;

use crate::units::{Duration, Instant};

/// What a queue needs to know of an item.
pub trait Queued {
    /// Bytes on the wire.
    fn wire_len(&self) -> u32;
    /// A number that is the same for all items of a flow.
    fn flow_hash(&self) -> u64;
    /// The ECN field of the IP header.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field to congestion experienced.
    fn mark(&mut self);
    /// Whether it keeps within what its sender has been promised (Clark & Fang 1998).
    fn in_profile(&self) -> bool;
}

/// The ECN field (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable.
    Ect,
    /// Congestion experienced.
    Ce,
}

/// What became of an item that came to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits.
    Queued,
    /// It waits, with a mark.
    Marked(Reason),
    /// It was dropped.
    Dropped(Reason),
    /// It came in, and then items were dropped until all fitted, this one maybe among them:
    /// [`Qdisc::take_evicted`] has them.
    Evicting,
}

/// Why a queue dropped or marked an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The limit was reached.
    Full,
    /// It was chosen before there was need.
    Early,
    /// The average queue is so long that everything is chosen.
    Forced,
}

/// The contract of a queue discipline. Time never runs backwards between calls.
pub trait Qdisc<T: Queued> {
    /// Takes an item, or drops it.
    fn enqueue(&mut self, now: Instant, item: T) -> Verdict;
    /// An item comes while the queue is empty and the transmitter has been idle for `idle`, and may leave at once:
    /// the verdict of `enqueue`, with the item, marked where it was, still in the caller's hands.
    fn pass(&mut self, now: Instant, idle: Duration, item: &mut T) -> Verdict;
    /// Before an item that comes while the queue is empty and has to wait all the same, the transmitter was idle for
    /// `idle`.
    fn idled(&mut self, _idle: Duration) {}
    /// Gives the next item to send and when it came.
    fn dequeue(&mut self, now: Instant) -> Option<(Instant, T)>;
    /// The next of the items that were dropped for others; there are some behind a verdict of [`Verdict::Evicting`].
    fn take_evicted(&mut self) -> Option<T> {
        None
    }
    /// Items that wait.
    fn backlog_packets(&self) -> u32;
    /// Bytes that wait.
    fn backlog_bytes(&self) -> u64;
}

/// The first discipline is that of most links, and costs a comparison; the others cost a call.
macro_rules! queues {
    ($(#[$most_doc:meta])* $most:ident: $most_queue:ty; $($(#[$doc:meta])* $variant:ident: $queue:ty;)*) => {
        /// Every discipline.
        #[derive(Clone, Debug)]
        pub enum Queue<T> {
            $(#[$most_doc])*
            $most($most_queue),
            $($(#[$doc])* $variant($queue),)*
        }

        impl<T: Queued> Queue<T> {
            #[inline(never)]
            fn others(&mut self) -> &mut dyn Qdisc<T> {
                match self {
                    Queue::$most(queue) => queue,
                    $(Queue::$variant(queue) => &mut **queue,)*
                }
            }
        }

        impl<T: Queued> Qdisc<T> for Queue<T> {
            #[inline]
            fn enqueue(&mut self, now: Instant, item: T) -> Verdict {
                match self {
                    Queue::$most(queue) => queue.enqueue(now, item),
                    others => others.others().enqueue(now, item),
                }
            }

            #[inline]
            fn pass(&mut self, now: Instant, idle: Duration, item: &mut T) -> Verdict {
                match self {
                    Queue::$most(queue) => queue.pass(now, idle, item),
                    others => others.others().pass(now, idle, item),
                }
            }

            fn idled(&mut self, idle: Duration) {
                self.others().idled(idle);
            }

            #[inline]
            fn dequeue(&mut self, now: Instant) -> Option<(Instant, T)> {
                match self {
                    Queue::$most(queue) => queue.dequeue(now),
                    others => others.others().dequeue(now),
                }
            }

            fn take_evicted(&mut self) -> Option<T> {
                self.others().take_evicted()
            }

            #[inline]
            fn backlog_packets(&self) -> u32 {
                match self {
                    Queue::$most(queue) => queue.backlog_packets(),
                    $(Queue::$variant(queue) => queue.backlog_packets(),)*
                }
            }

            #[inline]
            fn backlog_bytes(&self) -> u64 {
                match self {
                    Queue::$most(queue) => queue.backlog_bytes(),
                    $(Queue::$variant(queue) => queue.backlog_bytes(),)*
                }
            }
        }
    };
}

queues! {
    /// First in, first out.
    DropTail: DropTail<T>;
    /// Random early detection; in a box, so that links with another queue stay small.
    Red: Box<Red<T>>;
    /// Deficit round robin.
    Drr: Box<Drr<T>>;
    /// Stochastic fairness queueing.
    Sfq: Box<Sfq<T>>;
    /// RED with in and out.
    Rio: Box<Rio<T>>;
}
