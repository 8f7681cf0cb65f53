//! CAKE: a shaper, tins, host isolation, queues of flows with COBALT, and an ACK filter.
//!
//! Reference: Hoiland-Jorgensen, Taht & Morton 2018, Piece of CAKE (arXiv 1804.07617), and the manual page
//! `tc-cake(8)`.
//!
//! ```text
//! shaper        a packet leaves once the bytes of those before it have taken their time at the bandwidth
//!               bytes: packet + overhead, at least mpu, in cells of ATM or PTM
//! tin           by DSCP; the highest one within its threshold sends, or else the one that is least above it
//! queue         1024 in each tin, of which 8 form a set: a flow shares one only if its set has 8 active flows
//! turn          deficit <- deficit + quantum / (bulk flows of the flow's host)
//! COBALT        in each queue
//! full          the first packet of the longest queue is dropped
//! ACK filter    an arriving ACK drops the oldest queued one of its flow that it covers
//! ```
//!
//! Deviations: hosts never collide, as each has its own counter. In Linux they share 1024 counters. Shares of a quantum
//! are fractions of a byte and not rounded at random. The shaper has no catch-up limit for a late link. Without a
//! bandwidth, thresholds are shares of the link's rate. Linux then shares by weights. Flows in one direction have one
//! tin, because all their packets have one DSCP. The filter works by the tags of
//! packets. ACKs with SACK blocks, duplicate ACKs and changes of the reported marks stay.

mod clock;
mod framing;
mod hosts;
mod keys;
mod tin;

use clock::Clock;
pub use framing::{Cells, Framing};
pub use hosts::Isolation;
pub use keys::{AckFilter, CakeKeys, CakeParameters, Diffserv};
use tin::Tin;
pub use tin::TinParameters;

use super::contract::with_prefix;
use super::{Limit, Qdisc, QueueSink, Queued};
use crate::rng::Rng;
use crate::units::Instant;

/// Tins behind a shaper.
#[derive(Clone, Debug)]
pub struct Cake<T> {
    limit: Limit,
    parameters: CakeParameters,
    /// The tins, by rising priority.
    tins: Vec<Tin<T>>,
    clock: Option<Clock>,
    salt: u64,
    stream: Rng,
}

impl<T: Queued> Cake<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: CakeParameters, mut stream: Rng) -> Self {
        Cake {
            limit,
            tins: parameters.tins.iter().map(|tin| Tin::new(*tin)).collect(),
            clock: parameters.bandwidth.map(Clock::new),
            parameters,
            salt: stream.next_u64(),
            stream,
        }
    }

    /// The tin of an item.
    fn tin_of(&self, item: &T) -> usize {
        let dscp = self.parameters.groups.of(item.tag()).map_or(0, |group| group.dscp);
        self.parameters.diffserv.tin(dscp)
    }

    /// The tin that sends next.
    fn next_tin(&self, now: Instant) -> Option<usize> {
        let backlogged = self.tins.iter().enumerate().filter(|(_, tin)| tin.packets() > 0);
        // A later tin has priority if it is within its threshold, and otherwise if it is no more above it.
        let due = |tin: &Tin<T>| tin.clock.map_or(now, |clock| clock.next().max(now));
        backlogged.min_by_key(|(number, tin)| (due(tin), std::cmp::Reverse(*number))).map(|(number, _)| number)
    }
}

impl<T: Queued> Qdisc<T> for Cake<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(clock) = &mut self.clock
            && self.tins.iter().all(|tin| tin.packets() == 0)
        {
            clock.start(now);
        }
        let tin = self.tin_of(&item);
        self.tins[tin].push(now, item, &self.parameters, self.salt, sink);
        while !self.limit.holds(self.backlog_packets(), self.backlog_bytes()) {
            let Some(fattest) = self.tins.iter_mut().max_by_key(|tin| tin.longest()) else { return };
            fattest.shrink(now, sink);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        if now < self.next_deadline() {
            return None;
        }
        while let Some(number) = self.next_tin(now) {
            let tin = &mut self.tins[number];
            let Some((since, item)) = tin.next(now, self.parameters.isolation, &mut self.stream, sink) else {
                continue;
            };
            let bytes = self.parameters.framing.len(item.wire_len());
            self.clock.iter_mut().chain(&mut tin.clock).for_each(|clock| clock.send(bytes));
            return Some((since, item));
        }
        None
    }

    fn next_deadline(&self) -> Instant {
        self.clock.map_or(Instant::ZERO, Clock::next)
    }

    fn backlog_packets(&self) -> u32 {
        self.tins.iter().map(Tin::packets).sum()
    }

    fn backlog_bytes(&self) -> u64 {
        self.tins.iter().map(Tin::bytes).sum()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.tins.iter().for_each(|tin| tin.visit(see));
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        for (tin, name) in self.tins.iter().zip(self.parameters.diffserv.names()) {
            tin.show(&mut with_prefix(name, see));
        }
    }
}

#[cfg(test)]
mod tests;
