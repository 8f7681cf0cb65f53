//! RIO: RED with In and Out. Packets out of profile are dropped earlier than packets in profile.
//!
//! Reference: Clark & Fang 1998, Explicit Allocation of Best-Effort Packet Delivery Service, section III. One FIFO
//! has two averages: one of the items in profile, and one of all items. The first thresholds apply to items in profile,
//! the second to items out of profile.
//!
//! ```text
//! in profile       avg_in, avg_total take in the queue; dropped as RED says of avg_in
//! out of profile   avg_total takes in the queue;        dropped as RED says of avg_total
//! ```
//!
//! Deviations: a drop-tail limit may apply to items out of profile instead (reddy-aimd-aiad). An item in profile that
//! arrives at a full queue replaces the last item out of profile. A key disables that.

mod keys;

pub use keys::RioKeys;

use super::contract::{Verdict, all_queued_in};
use super::red::Detector;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason, RedMode, RedParameters};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The parameters of RIO, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct RioParameters {
    /// The RED of items in profile.
    pub inside: RedParameters,
    /// The discipline of items out of profile.
    pub outside: Outside,
    /// Whether an item in profile replaces the last item out of profile in a full queue.
    pub push_out: bool,
}

/// The discipline of items out of profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Outside {
    /// The average of all items.
    Red(RedParameters),
    /// The queued items of either profile.
    DropTail(Limit),
}

/// A FIFO with a limit that drops early, and drops items out of profile earlier.
#[derive(Clone, Debug)]
pub struct Rio<T> {
    fifo: DropTail<T>,
    inside: Average,
    outside: Threshold,
    push_out: bool,
    /// The part of the backlog that is in profile.
    packets_inside: u32,
    bytes_inside: u64,
}

#[derive(Clone, Debug)]
struct Average {
    detector: Detector,
    mode: RedMode,
}

impl Average {
    fn new(parameters: RedParameters, stream: Rng) -> Self {
        Average { mode: parameters.mode, detector: Detector::new(parameters, stream) }
    }

    fn backlog(&self, packets: u32, bytes: u64) -> f64 {
        match self.mode {
            RedMode::Packets => f64::from(packets),
            RedMode::Bytes => bytes as f64,
        }
    }
}

#[derive(Clone, Debug)]
enum Threshold {
    Red(Average),
    DropTail(Limit),
}

impl<T: Queued> Rio<T> {
    /// An empty queue. Items in profile and out of profile draw from streams of their own.
    pub fn new(limit: Limit, parameters: RioParameters, inside: Rng, outside: Rng) -> Self {
        let RioParameters { inside: inside_parameters, outside: outside_parameters, push_out } = parameters;
        Rio {
            fifo: DropTail::new(limit),
            inside: Average::new(inside_parameters, inside),
            outside: match outside_parameters {
                Outside::Red(parameters) => Threshold::Red(Average::new(parameters, outside)),
                Outside::DropTail(limit) => Threshold::DropTail(limit),
            },
            push_out,
            packets_inside: 0,
            bytes_inside: 0,
        }
    }

    /// Why the item is dropped early, if it is, and whether it is to be marked.
    fn signal(&mut self, now: Instant, item: &T) -> Option<(Reason, bool)> {
        let (packets, bytes) = (self.fifo.backlog_packets(), self.fifo.backlog_bytes());
        if !item.in_profile() {
            return match &mut self.outside {
                Threshold::Red(average) => average.detector.signal(now, average.backlog(packets, bytes), item),
                Threshold::DropTail(limit) => {
                    (!limit.fits(packets, bytes, item.wire_len())).then_some((Reason::Full, false))
                }
            };
        }
        if let Threshold::Red(average) = &mut self.outside {
            average.detector.observe(average.backlog(packets, bytes));
        }
        let backlog = self.inside.backlog(self.packets_inside, self.bytes_inside);
        self.inside.detector.signal(now, backlog, item)
    }

    /// The decision about an item that arrives now, regardless of the limit.
    fn judge(&mut self, now: Instant, item: &T) -> Verdict {
        match self.signal(now, item) {
            None => Verdict::Queued,
            Some((reason, true)) => Verdict::Marked(reason),
            Some((reason, false)) => Verdict::Dropped(reason),
        }
    }

    /// Whether an item in profile fits after removing enough items out of profile.
    fn can_make_room(&self, item: &T) -> bool {
        let limit = self.fifo.limit();
        self.push_out && item.in_profile() && limit.fits(self.packets_inside, self.bytes_inside, item.wire_len())
    }
}

impl<T: Queued> Qdisc<T> for Rio<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        let mut verdict = self.judge(now, &item);
        if !matches!(verdict, Verdict::Dropped(_)) && !self.fifo.fits(&item) {
            if self.can_make_room(&item) {
                while !self.fifo.fits(&item)
                    && let Some(other) = self.fifo.remove_last(|other| !other.in_profile())
                {
                    sink.dropped(now, other, Reason::Full);
                }
                verdict = Verdict::Queued;
            } else {
                verdict = Verdict::Dropped(Reason::Full);
            }
        }
        let Some(item) = verdict.carry_out(now, item, sink) else { return };
        if item.in_profile() {
            self.packets_inside += 1;
            self.bytes_inside += u64::from(item.wire_len());
        }
        self.fifo.push(now, item);
    }

    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let (since, item) = self.fifo.pop()?;
        if item.in_profile() {
            self.packets_inside -= 1;
            self.bytes_inside -= u64::from(item.wire_len());
        }
        Some((since, item))
    }

    fn idled(&mut self, idle: Duration) {
        self.inside.detector.decay(idle);
        if let Threshold::Red(average) = &mut self.outside {
            average.detector.decay(idle);
        }
    }

    all_queued_in!(fifo);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.inside.detector.show("in_", see);
        if let Threshold::Red(average) = &self.outside {
            average.detector.show("out_", see);
        }
    }
}

#[cfg(test)]
mod tests;
