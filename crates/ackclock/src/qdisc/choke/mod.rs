//! CHOKe: RED that compares each arrival with a random queued packet, and drops both if their flow is the same.
//!
//! Reference: Pan, Prabhakar & Psounis 2000, CHOKe: a stateless active queue management scheme for approximating fair
//! bandwidth allocation. Linux has it as `sch_choke`.
//!
//! ```text
//! at each arrival   avg as in RED
//! avg >= min        one queued packet is drawn; if it is of the arrival's flow, both are dropped
//! otherwise         RED decides about the arrival
//! ```
//!
//! Deviations: as in RED ([`super::red`]). The paper draws no packet above `max`, where all arrivals are dropped.
//! Linux draws one there as well, and so does this queue.

mod keys;

pub use keys::{ChokeKeys, ChokeParameters};

use super::contract::{Verdict, all_queued_in};
use super::red::Detector;
use super::{DropTail, Limit, Qdisc, QueueSink, Queued, Reason, RedMode};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// A FIFO with a limit.
#[derive(Clone, Debug)]
pub struct Choke<T> {
    queue: DropTail<T>,
    parameters: ChokeParameters,
    detector: Detector,
    /// Draws the packets to compare.
    stream: Rng,
}

impl<T: Queued> Choke<T> {
    /// An empty queue. The streams are for early drops and for the packets to compare.
    pub fn new(limit: Limit, parameters: ChokeParameters, early: Rng, stream: Rng) -> Self {
        let detector = Detector::new(parameters.0.clone(), early);
        Choke { queue: DropTail::new(limit), parameters, detector, stream }
    }

    /// Drops a random queued item if it has the flow of the arrival. Returns whether it was dropped.
    fn drop_match(&mut self, now: Instant, item: &T, sink: &mut dyn QueueSink<T>) -> bool {
        let packets = self.queue.backlog_packets();
        if packets == 0 {
            return false;
        }
        let place = (self.stream.next_f64() * f64::from(packets)) as usize;
        let Some(matched) = self.queue.fifo().remove(place, |other| other.flow_hash() == item.flow_hash()) else {
            return false;
        };
        sink.dropped(now, matched, Reason::Match);
        true
    }

    fn judge(&mut self, now: Instant, item: &T, sink: &mut dyn QueueSink<T>) -> Verdict {
        let backlog = match self.parameters.0.mode {
            RedMode::Packets => f64::from(self.queue.backlog_packets()),
            RedMode::Bytes => self.queue.backlog_bytes() as f64,
        };
        if self.detector.is_above(now, backlog) {
            if self.drop_match(now, item, sink) {
                return Verdict::Dropped(Reason::Match);
            }
            match self.detector.early(item) {
                Some((reason, false)) => return Verdict::Dropped(reason),
                Some((reason, true)) if self.queue.fits(item) => return Verdict::Marked(reason),
                _ => {}
            }
        }
        if self.queue.fits(item) { Verdict::Queued } else { Verdict::Dropped(Reason::Full) }
    }
}

impl<T: Queued> Qdisc<T> for Choke<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(item) = self.judge(now, &item, sink).carry_out(now, item, sink) {
            self.queue.push(now, item);
        }
    }

    fn dequeue(&mut self, _now: Instant, _sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.queue.pop()
    }

    fn idled(&mut self, idle: Duration) {
        self.detector.decay(idle);
    }

    all_queued_in!(queue);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.detector.show("", see);
    }
}

#[cfg(test)]
mod tests;
