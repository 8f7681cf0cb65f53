//! The control state of CoDel, and its decisions at a departure. Names follow RFC 8289, section 5.3.

use super::{CoDelParameters, ControlLaw};
use crate::qdisc::fifo::Fifo;
use crate::qdisc::{QueueSink, Queued, Reason};
use crate::units::{Duration, Instant};

/// The state of a queue. Times are in the unit of the control law.
#[derive(Clone, Debug)]
pub(in crate::qdisc) struct Controller {
    /// The time at which sojourn times will have exceeded the target for an interval. None while they are below it.
    first_above_time: Option<u64>,
    dropping: bool,
    /// When the next drop is due in the drop state.
    drop_next: u64,
    /// Drops since the drop state was entered, including the initial count.
    count: u32,
    /// The initial count of the drop state.
    lastcount: u32,
    /// 1/sqrt(count) in units of 2^-16, as Newton's method has it.
    inverse_root: u16,
}

impl Default for Controller {
    fn default() -> Self {
        Controller {
            first_above_time: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            inverse_root: u16::MAX,
        }
    }
}

/// The head of a queue, if it is not empty, and whether it may be dropped.
type Head<T> = (Option<(Instant, T)>, bool);

impl Controller {
    /// Returns the next item to send, and reports drops and marks.
    pub(in crate::qdisc) fn dequeue<T: Queued>(
        &mut self,
        parameters: &CoDelParameters,
        now: Instant,
        (queue, others): (&mut Fifo<T>, u64),
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        let time = parameters.control_law.units(now.as_nanos());
        let mut head = self.pop(parameters, now, (queue, others));
        let mut is_marked = false;
        if !head.1 {
            self.dropping = false;
        } else if self.dropping {
            while self.dropping && time >= self.drop_next && !is_marked {
                self.count = self.count.saturating_add(1);
                self.step();
                (head, is_marked) = self.signal(parameters, now, head, (queue, others), sink);
                self.dropping = head.1;
                if self.dropping {
                    self.drop_next += self.gap(parameters);
                }
            }
        } else {
            (head, is_marked) = self.signal(parameters, now, head, (queue, others), sink);
            self.enter(parameters, time);
        }
        let (since, mut item) = head.0?;
        if let Some(threshold) = parameters.ce_threshold
            && !is_marked
            && item.ecn().is_capable()
            && parameters.sojourn(now, since) > parameters.units(threshold)
        {
            item.mark();
            sink.marked(now, &item, Reason::CeThreshold);
        }
        Some((since, item))
    }

    /// Shows its state.
    pub(in crate::qdisc) fn show(&self, parameters: &CoDelParameters, see: &mut dyn FnMut(&str, f64)) {
        see("target_ms", parameters.target.as_secs_f64() * 1e3);
        see("dropping", f64::from(self.dropping));
        see("count", f64::from(self.count));
    }

    /// Enters the drop state, with the count of the last one if that was left a short time ago.
    fn enter(&mut self, parameters: &CoDelParameters, time: u64) {
        let delta = self.count.saturating_sub(self.lastcount);
        self.dropping = true;
        if delta > 1 && time < self.drop_next.saturating_add(16 * parameters.units(parameters.interval)) {
            self.count = delta;
            self.step();
        } else {
            self.count = 1;
            self.inverse_root = u16::MAX;
        }
        self.lastcount = self.count;
        self.drop_next = time + self.gap(parameters);
    }

    /// Marks the head, or drops it and takes the next item. Returns the departing item and whether it is marked.
    fn signal<T: Queued>(
        &mut self,
        parameters: &CoDelParameters,
        now: Instant,
        head: Head<T>,
        (queue, others): (&mut Fifo<T>, u64),
        sink: &mut dyn QueueSink<T>,
    ) -> (Head<T>, bool) {
        let Some((since, mut item)) = head.0 else { return ((None, false), false) };
        if parameters.ecn && item.ecn().is_capable() {
            item.mark();
            sink.marked(now, &item, Reason::Sojourn);
            return ((Some((since, item)), true), true);
        }
        sink.dropped(now, item, Reason::Sojourn);
        (self.pop(parameters, now, (queue, others)), false)
    }

    /// Takes the head of the queue, and notes whether its sojourn time is above the target.
    fn pop<T: Queued>(
        &mut self,
        parameters: &CoDelParameters,
        now: Instant,
        (queue, others): (&mut Fifo<T>, u64),
    ) -> Head<T> {
        let Some((since, item)) = queue.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        let time = parameters.control_law.units(now.as_nanos());
        let is_below = parameters.sojourn(now, since) < parameters.units(parameters.target)
            || queue.bytes() + others <= u64::from(parameters.mtu);
        let may_drop = match self.first_above_time {
            _ if is_below => {
                self.first_above_time = None;
                false
            }
            None => {
                self.first_above_time = Some(time + parameters.units(parameters.interval));
                false
            }
            Some(until) => match parameters.control_law {
                ControlLaw::Sqrt => time >= until,
                ControlLaw::Newton => time > until,
            },
        };
        (Some((since, item)), may_drop)
    }

    /// One step of Newton's method for 1/sqrt(count): x (3 - count x^2) / 2.
    fn step(&mut self) {
        let x = u64::from(self.inverse_root) << 16;
        let square = (x * x) >> 32;
        let bracket = (3_u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        self.inverse_root = ((bracket.wrapping_mul(x) >> 31) >> 16) as u16;
    }

    /// Time between two drops.
    fn gap(&self, parameters: &CoDelParameters) -> u64 {
        let interval = parameters.units(parameters.interval);
        match parameters.control_law {
            ControlLaw::Sqrt => (interval as f64 / f64::from(self.count).sqrt()) as u64,
            ControlLaw::Newton => ((u128::from(interval) * (u128::from(self.inverse_root) << 16)) >> 32) as u64,
        }
    }
}

impl CoDelParameters {
    fn units(&self, length: Duration) -> u64 {
        self.control_law.units(length.as_nanos())
    }

    fn sojourn(&self, now: Instant, since: Instant) -> u64 {
        self.units(now.since(since))
    }
}

impl ControlLaw {
    /// Nanoseconds in the unit of the control law.
    fn units(self, nanos: u64) -> u64 {
        match self {
            ControlLaw::Sqrt => nanos,
            ControlLaw::Newton => nanos >> 10,
        }
    }
}
