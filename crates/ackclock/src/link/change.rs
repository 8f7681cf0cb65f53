//! Changes of a link during a run: its rate, its delay, what it loses, its queue, and what that holds.

use super::{Impairable, Impairments, Line, Link, Loss, Reports, Sink};
use crate::qdisc::{Limit, Qdisc, Queue, QueueSink, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant, Rate};

impl<T: Impairable> Link<T> {
    /// Bits per second, where they are the same at all times.
    pub fn rate(&self) -> Option<Rate> {
        match self.transmitter.line {
            Line::Even(rate) => Some(rate),
            Line::Delay | Line::Varying(_) => None,
        }
    }

    /// Propagation.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Changes the rate of transmissions that begin from now on; one in progress keeps its time. Call [`Link::advance`]
    /// first, up to the last moment before the change.
    ///
    /// Nothing changes, and it returns false, where the link has no rate or one that varies.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        let transmitter = &mut self.transmitter;
        let Line::Even(line) = &mut transmitter.line else { return false };
        *line = rate;
        // Less than a nanosecond; it was counted in parts of the old rate.
        transmitter.remainder = 0;
        transmitter.cached = (0, Duration::ZERO, 0);
        true
    }

    /// Changes the delay of packets of which transmission begins from now on. Call [`Link::advance`] first, up to the
    /// last moment before the change, and wake the link by its new deadline afterwards.
    ///
    /// Where packets keep their order, what is sent after a change to a shorter delay arrives no earlier than what is
    /// in flight.
    pub fn set_delay(&mut self, delay: Duration) {
        let is_shorter = delay < self.delay;
        self.delay = delay;
        if is_shorter
            && !self.reorders()
            && let Some((last, _)) = self.pipe.back()
        {
            let impairments = self.impairments.get_or_insert_with(|| Box::new(Impairments::none()));
            impairments.not_before = impairments.not_before.max(*last);
            self.is_bare = false;
        }
    }

    /// Each packet of which transmission begins from now on is lost with this probability. A link that drew numbers for
    /// that goes on with them, another one begins with those of `stream`. Call [`Link::advance`] first, up to the last
    /// moment before the change.
    ///
    /// Nothing changes, and it returns false, where the link loses packets by another model.
    pub fn set_loss(&mut self, probability: f64, stream: impl FnOnce() -> Rng) -> bool {
        let impairments = self.impairments.get_or_insert_with(|| Box::new(Impairments::none()));
        match &mut impairments.loss {
            Loss::Bernoulli { probability: known, .. } => *known = probability,
            loss @ Loss::None => *loss = Loss::Bernoulli { probability, stream: stream() },
            Loss::BitErrors(_) | Loss::GilbertElliott(_) | Loss::Periodic { .. } | Loss::Scripted(_) => return false,
        }
        self.is_bare = false;
        true
    }

    /// The queue.
    pub fn queue(&self) -> &Queue<T> {
        &self.queue
    }

    /// The queue holds so much from now on; what is queued beyond it stays ([`Qdisc::set_limit`]). Call [`Link::advance`]
    /// first, up to the last moment before the change.
    pub fn set_limit(&mut self, limit: Limit) {
        self.queue.set_limit(limit);
    }

    /// An empty queue takes the place of that of the link, and takes over what is queued: the packets come to it in the order
    /// in which they came to the old one, each at its time, and none leaves before `now`. Those that it refuses are dropped now.
    /// Call [`Link::advance`] first, up to the last moment before the change, and wake the link by its new deadline afterwards.
    pub fn set_queue(&mut self, now: Instant, queue: Queue<T>, sink: &mut impl Sink<T>) {
        let old = std::mem::replace(&mut self.queue, queue);
        let mut times = Vec::new();
        old.visit(&mut |since, _| times.push(since.as_nanos()));
        times.sort_unstable();
        let mut waiting = vec![None; times.len()];
        // Items of one time stay in the order in which they are shown, in which those of a flow came.
        old.visit(&mut |since, item| {
            let mut place = times.partition_point(|time| *time < since.as_nanos());
            while waiting[place].is_some() {
                place += 1;
            }
            waiting[place] = Some(item.clone());
        });
        let mut reports = Now { now, reports: Reports { counters: &mut self.counters, sink } };
        for (since, item) in times.into_iter().zip(waiting.into_iter().flatten()) {
            self.queue.enqueue(Instant::from_nanos(since), item, &mut reports);
        }
        self.note_backlog();
        self.next_start = self.next_start.max(now);
    }
}

/// Reports what a queue does with packets that came before as done now.
struct Now<R> {
    now: Instant,
    reports: R,
}

impl<T, R: QueueSink<T>> QueueSink<T> for Now<R> {
    fn dropped(&mut self, _since: Instant, item: T, reason: Reason) {
        self.reports.dropped(self.now, item, reason);
    }

    fn marked(&mut self, _since: Instant, item: &T, reason: Reason) {
        self.reports.marked(self.now, item, reason);
    }
}
