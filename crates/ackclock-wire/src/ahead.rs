//! Arrivals at hosts that are certain before they happen.
//!
//! A packet in flight on the last link of its path arrives for certain, unless other packets may overtake it. A
//! backend in virtual time hands such packets to a host early, with their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock::sim::Plan;
use ackclock::units::{Duration, Instant};

use crate::side::Side;

/// Arrivals that are certain, and bounds for those that are not.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// By side: the packets that its host does not have yet, by time and then by order.
    known: [BinaryHeap<Reverse<Arrival>>; 2],
    /// Those that have not happened.
    due: BinaryHeap<Reverse<Arrival>>,
    order: u64,
    /// By side and link: the shortest time from the link to the host, if a path connects them.
    rest: [Vec<Option<Duration>>; 2],
    /// By side: the shortest time from the other host.
    pub(crate) least: [Duration; 2],
}

/// An arrival at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    order: u64,
    pub(crate) place: u32,
    pub(crate) wire_len: u32,
    pub(crate) is_marked: bool,
}

impl Ahead {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut rest = [vec![None; plan.links.len()], vec![None; plan.links.len()]];
        let mut least = [Duration::from_nanos(u64::MAX); 2];
        for flow in &plan.flows {
            for (side, path) in [(Side::Receiver, &flow.forward), (Side::Sender, &flow.reverse)] {
                let mut left = Duration::ZERO;
                for link in path.iter().rev() {
                    let known = &mut rest[side as usize][*link];
                    *known = Some(known.map_or(left, |known: Duration| known.min(left)));
                    left += plan.links[*link].delay;
                }
                least[side as usize] = least[side as usize].min(left);
            }
        }
        Ahead { known: Default::default(), due: BinaryHeap::new(), order: 0, rest, least }
    }

    /// The time of this link's next news, as seen at a host.
    pub(crate) fn seen(&self, side: Side, link: usize, at: Instant) -> Option<Instant> {
        self.rest[side as usize][link].map(|rest| at + rest)
    }

    /// A packet arrives for certain. Its account follows when the time has come.
    pub(crate) fn add(&mut self, side: Side, at: Instant, place: u32, wire_len: u32, is_marked: bool) {
        let arrival = Arrival { at, order: self.order, place, wire_len, is_marked };
        self.order += 1;
        self.known[side as usize].push(Reverse(arrival));
        self.due.push(Reverse(arrival));
    }

    /// When the next packet arrives that the host does not have yet.
    pub(crate) fn next_known(&self, side: Side) -> Option<Instant> {
        self.known[side as usize].peek().map(|Reverse(arrival)| arrival.at)
    }

    /// The host gets the next packet.
    pub(crate) fn take(&mut self, side: Side) -> Option<Arrival> {
        self.known[side as usize].pop().map(|Reverse(arrival)| arrival)
    }

    /// When the next arrival happens.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse(arrival)| arrival.at)
    }

    /// The next arrival, if it has happened by `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Arrival> {
        self.next_due().filter(|at| *at <= now)?;
        self.due.pop().map(|Reverse(arrival)| arrival)
    }
}
