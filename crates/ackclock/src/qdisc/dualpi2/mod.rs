//! DualPI2: a shallow queue for L4S and a queue for classic traffic, whose probabilities are coupled.
//!
//! Reference: De Schepper, Briscoe & White, RFC 9332, appendix A with its edge cases. The variant `linux` behaves as
//! `net/sched/sch_dualpi2.c` of Linux 6.17 with its defaults.
//!
//! ```text
//! every t_update   p' <- p' + alpha (delay - target) + beta (delay - delay before), within [0, 1]
//!                  delay: that of the head which has waited longest
//! classic queue    drops, or marks, with probability p'^2
//! L4S queue        marks with probability k p', or more by its own threshold
//! overload         from k p' = 1 on, both queues drop with probability p'^2
//! ```
//!
//! | | `linux` | `rfc` |
//! |---|---|---|
//! | random numbers | for each packet | none: probabilities add up |
//! | threshold of the L4S queue | a step: marks all that waited longer | a ramp from none to all |
//! | least queue for its threshold | none | more than one packet |
//! | least backlog for p' | two packets | none |
//!
//! Deviations: updates happen at multiples of `t_update` of the run's clock. Linux counts probabilities and times in
//! whole units. The RFC leaves the scheduler open. Both variants use the weighted round robin that it describes.

mod keys;
mod probability;

pub use keys::{DualPi2Keys, DualPi2Parameters, DualPi2Variant};
use probability::{Lottery, Probability};

use super::fifo::Fifo;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::Instant;

/// Two FIFOs with a common limit.
#[derive(Clone, Debug)]
pub struct DualPi2<T> {
    parameters: DualPi2Parameters,
    limit: Limit,
    l4s: Fifo<T>,
    classic: Fifo<T>,
    probability: Probability,
    /// The decisions of each queue.
    l4s_lottery: Lottery,
    classic_lottery: Lottery,
    /// In bytes times weight. The classic queue has its turn while this is above zero.
    credit: i64,
    stream: Rng,
}

/// The decision about a departing item.
enum Fate {
    Sent,
    Marked(Reason),
    Dropped(Reason),
}

impl<T: Queued> DualPi2<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: DualPi2Parameters, stream: Rng) -> Self {
        DualPi2 {
            parameters,
            limit,
            l4s: Fifo::default(),
            classic: Fifo::default(),
            probability: Probability::new(&parameters),
            l4s_lottery: Lottery::default(),
            classic_lottery: Lottery::default(),
            credit: parameters.first_credit(),
            stream,
        }
    }

    /// Performs the updates that are due.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        let heads = [self.l4s.first_since(), self.classic.first_since()];
        self.probability.catch_up(&self.parameters, now, heads);
    }

    /// The scheduler: whether it is the turn of the L4S queue. Counts the turn if both queues have items.
    fn is_turn_of_l4s(&mut self) -> bool {
        let (Some(l4s), Some(classic)) = (self.l4s.first_len(), self.classic.first_len()) else {
            return !self.l4s.is_empty();
        };
        let is_l4s = self.credit <= 0;
        self.credit += if is_l4s {
            self.parameters.classic_weight * l4s as i64
        } else {
            -self.parameters.l4s_weight * classic as i64
        };
        is_l4s
    }

    /// Whether the backlog is too short for the coupled probabilities. Linux only.
    fn is_short(&self, bytes: u64) -> bool {
        self.parameters.variant == DualPi2Variant::Linux && bytes < 2 * u64::from(self.parameters.mtu)
    }

    /// The decision about an item of the classic queue.
    fn judge_classic(&mut self, item: &T, backlog: u64) -> Fate {
        let square = self.probability.of_classic();
        if self.is_short(backlog) || !self.classic_lottery.draws(&self.parameters, square, &mut self.stream) {
            Fate::Sent
        } else if !item.ecn().is_capable() {
            Fate::Dropped(Reason::Early)
        } else if self.probability.is_overload(&self.parameters) {
            Fate::Dropped(Reason::Overload)
        } else {
            Fate::Marked(Reason::Early)
        }
    }

    /// The decision about an item of the L4S queue that came at `since` with this many behind it.
    fn judge_l4s(&mut self, now: Instant, since: Instant, backlog: u64) -> Fate {
        let coupled = self.probability.coupled(&self.parameters);
        let native = self.parameters.native(now.since(since), self.l4s.packets() + 1);
        let parameters = &self.parameters;
        let (lottery, stream) = (&mut self.l4s_lottery, &mut self.stream);
        if self.parameters.variant == DualPi2Variant::Linux {
            let is_short = backlog < 2 * u64::from(parameters.mtu);
            let overload = coupled > 1.0;
            if !is_short && overload && lottery.draws(parameters, self.probability.of_classic(), stream) {
                return Fate::Dropped(Reason::Overload);
            }
            if !is_short && (overload || lottery.draws(parameters, coupled, stream)) {
                return Fate::Marked(Reason::Coupled);
            }
            return if native > 0.0 { Fate::Marked(Reason::Native) } else { Fate::Sent };
        }
        if coupled < 1.0 {
            let reason = if native > coupled { Reason::Native } else { Reason::Coupled };
            return if lottery.draws(parameters, native.max(coupled), stream) {
                Fate::Marked(reason)
            } else {
                Fate::Sent
            };
        }
        if lottery.draws(parameters, self.probability.of_classic(), stream) {
            return Fate::Dropped(Reason::Overload);
        }
        if lottery.draws(parameters, coupled, stream) { Fate::Marked(Reason::Coupled) } else { Fate::Sent }
    }
}

impl<T: Queued> Qdisc<T> for DualPi2<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        self.catch_up(now);
        if !self.limit.fits(self.backlog_packets(), self.backlog_bytes(), item.wire_len()) {
            sink.dropped(now, item, Reason::Full);
        } else if item.ecn().is_l4s() {
            self.l4s.push(now, item);
        } else {
            self.classic.push(now, item);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.catch_up(now);
        loop {
            let backlog = self.backlog_bytes();
            let is_l4s = self.is_turn_of_l4s();
            let queue = if is_l4s { &mut self.l4s } else { &mut self.classic };
            let Some((since, mut item)) = queue.pop() else {
                self.credit = self.parameters.first_credit();
                return None;
            };
            let fate = if is_l4s { self.judge_l4s(now, since, backlog) } else { self.judge_classic(&item, backlog) };
            match fate {
                Fate::Dropped(reason) => {
                    sink.dropped(now, item, reason);
                    continue;
                }
                Fate::Marked(reason) => {
                    item.mark();
                    sink.marked(now, &item, reason);
                }
                Fate::Sent => {}
            }
            return Some((since, item));
        }
    }

    #[inline]
    fn backlog_packets(&self) -> u32 {
        self.l4s.packets() + self.classic.packets()
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.l4s.bytes() + self.classic.bytes()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// The queues of a flow's L4S and classic items do not wait for each other.
    fn order(&self, item: &T) -> u64 {
        item.flow_hash() << 1 | u64::from(item.ecn().is_l4s())
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.l4s.visit(see);
        self.classic.visit(see);
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.probability.show(&self.parameters, see);
        see("l4s_packets", f64::from(self.l4s.packets()));
        see("classic_packets", f64::from(self.classic.packets()));
    }
}

#[cfg(test)]
mod tests;
