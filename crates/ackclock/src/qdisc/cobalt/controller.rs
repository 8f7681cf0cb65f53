//! The control state of COBALT, and its decisions at a departure.

use super::CobaltParameters;
use crate::qdisc::fifo::Fifo;
use crate::qdisc::{QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The state of a queue.
#[derive(Clone, Debug, Default)]
pub(in crate::qdisc) struct Controller {
    /// Whether the last sojourn time was above the target.
    is_above: bool,
    /// Signals so far, less those that quiet times have cancelled.
    count: u32,
    /// When the next signal is due, or the next one is cancelled.
    next: Instant,
    /// The drop probability of BLUE, and when it changed.
    probability: f64,
    changed_at: Instant,
}

/// The decision about a departing item.
enum Fate {
    Sent,
    Signalled,
    Dropped,
}

impl Controller {
    /// Shows its state.
    pub(in crate::qdisc) fn show(&self, parameters: &CobaltParameters, see: &mut dyn FnMut(&str, f64)) {
        see("target_ms", parameters.target.as_secs_f64() * 1e3);
        see("dropping", f64::from(self.is_above));
        see("count", f64::from(self.count));
        see("probability", self.probability);
    }

    /// The queue has overflowed.
    pub(in crate::qdisc) fn overflow(&mut self, parameters: &CobaltParameters, now: Instant) {
        self.raise(parameters, now);
        (self.is_above, self.next, self.count) = (true, now, self.count.max(1));
    }

    /// The link finds the queue empty.
    pub(in crate::qdisc) fn run_dry(&mut self, parameters: &CobaltParameters, now: Instant) {
        // The idle time may contain an arrival that was dropped.
        let now = now.max(self.changed_at);
        if now.since(self.changed_at) > parameters.target && self.probability > 0.0 {
            self.probability = (self.probability - parameters.decrement).max(0.0);
            self.changed_at = now;
        }
        self.is_above = false;
        if self.is_due(now) {
            self.cancel(parameters);
        }
    }

    /// The queue has been empty until now, and its scheduler has not asked for items.
    pub(in crate::qdisc) fn rest(&mut self, parameters: &CobaltParameters, now: Instant) {
        if self.probability > 0.0 {
            let pause = parameters.target.as_nanos() + 1;
            let possible = now.since(self.changed_at).as_nanos() / pause;
            let needed = (self.probability / parameters.decrement).ceil() as u64;
            let times = possible.min(needed);
            self.probability = (self.probability - times as f64 * parameters.decrement).max(0.0);
            self.changed_at += Duration::from_nanos(pause * times);
        }
        self.is_above = false;
        while self.is_due(now) {
            self.cancel(parameters);
        }
    }

    /// Returns the next item to send, and reports drops and marks. Sojourn times up to `least` are below the target.
    pub(in crate::qdisc) fn dequeue<T: Queued>(
        &mut self,
        parameters: &CobaltParameters,
        now: Instant,
        least: Duration,
        queue: &mut Fifo<T>,
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        loop {
            let Some((since, mut item)) = queue.pop() else {
                self.run_dry(parameters, now);
                return None;
            };
            let may_mark = parameters.ecn && item.ecn().is_capable();
            match self.judge(parameters, now, now.since(since), least, may_mark, stream) {
                Fate::Sent => {}
                Fate::Signalled if may_mark => {
                    item.mark();
                    sink.marked(now, &item, Reason::Sojourn);
                }
                Fate::Signalled => {
                    sink.dropped(now, item, Reason::Sojourn);
                    continue;
                }
                Fate::Dropped => {
                    sink.dropped(now, item, Reason::Early);
                    continue;
                }
            }
            return Some((since, item));
        }
    }

    fn judge(
        &mut self,
        parameters: &CobaltParameters,
        now: Instant,
        sojourn: Duration,
        least: Duration,
        may_mark: bool,
        stream: &mut Rng,
    ) -> Fate {
        let (was_above, was_due) = (self.is_above, self.is_due(now));
        let mut is_late = now > self.next;
        self.is_above = sojourn > parameters.target.max(least);
        if self.is_above {
            if !was_above {
                self.next = now + self.gap(parameters);
            }
            self.count = self.count.max(1);
        }
        let is_signalled = was_due && self.is_above;
        if is_signalled {
            self.count = self.count.saturating_add(1);
            self.next += self.gap(parameters);
            is_late = now > self.next;
        } else if was_due {
            while self.is_due(now) {
                self.cancel(parameters);
            }
            is_late = now > self.next;
        }
        if parameters.blue_threshold.is_some_and(|threshold| sojourn > threshold) {
            self.raise(parameters, now);
        }
        let is_blue = self.probability > 0.0 && stream.next_f64() < self.probability;
        if self.count == 0 {
            self.next = now + parameters.interval;
        } else if is_late && !is_blue && (may_mark || !is_signalled) {
            self.next = now;
        }
        match (is_blue, is_signalled) {
            (true, _) => Fate::Dropped,
            (false, true) => Fate::Signalled,
            (false, false) => Fate::Sent,
        }
    }

    /// A step of BLUE.
    fn raise(&mut self, parameters: &CobaltParameters, now: Instant) {
        if now.since(self.changed_at) > parameters.target {
            self.probability = (self.probability + parameters.increment).min(1.0);
            self.changed_at = now;
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.next
    }

    /// A signal that was not needed.
    fn cancel(&mut self, parameters: &CobaltParameters) {
        self.count -= 1;
        self.next += self.gap(parameters);
    }

    /// Time between two signals.
    fn gap(&self, parameters: &CobaltParameters) -> Duration {
        parameters.interval.mul_f64_floor(1.0 / f64::from(self.count.max(1)).sqrt())
    }
}
