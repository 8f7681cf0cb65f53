//! Changes of a link during a run: its rate, delay, losses, queue, and the limit of the queue.

use super::{Impairable, Impairments, Line, Link, Loss, Reports, Sink};
use crate::qdisc::{Limit, Qdisc, Queue, QueueServer, QueueSink, Reason};
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

    /// Changes the rate of transmissions that begin from now on. A transmission in progress keeps its time. Call
    /// [`Link::advance`] first, up to the last moment before the change.
    ///
    /// Nothing changes, and it returns false, where the link has no rate or one that varies.
    pub fn set_rate(&mut self, rate: Rate) -> bool {
        let transmitter = &mut self.transmitter;
        let Line::Even(line) = &mut transmitter.line else { return false };
        *line = rate;
        // The remainder is below a nanosecond, in units of the old rate.
        transmitter.remainder = 0;
        transmitter.cached = (0, Duration::ZERO, 0);
        true
    }

    /// Changes the delay of packets whose transmission begins from now on. Call [`Link::advance`] first, up to the
    /// last moment before the change, and wake the link by its new deadline afterwards.
    ///
    /// On a link without reordering, packets sent after a change to a shorter delay never overtake earlier packets.
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

    /// Loses each packet whose transmission begins from now on with this probability. A link that already draws
    /// losses continues its stream, and another link uses `stream`. Call [`Link::advance`] first, up to the last
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

    /// A server decides about the packets of a queue of the kernel from now on.
    pub fn connect_queue(&mut self, server: Box<dyn QueueServer>) {
        self.queue.connect(server);
    }

    /// Sets the limit of the queue. Packets beyond a smaller limit stay queued ([`Qdisc::set_limit`]). Call
    /// [`Link::advance`] first, up to the last moment before the change.
    pub fn set_limit(&mut self, limit: Limit) {
        self.queue.set_limit(limit);
    }

    /// Replaces the queue of the link by an empty one, which takes over the queued packets. They enter it in the
    /// order and at the times of their arrival, and none leaves before `now`. Packets that it rejects are dropped
    /// now. Call [`Link::advance`] first, up to the last moment before the change, and wake the link by its new
    /// deadline afterwards.
    pub fn set_queue(&mut self, now: Instant, queue: Queue<T>, sink: &mut impl Sink<T>) {
        let old = std::mem::replace(&mut self.queue, queue);
        let mut times = Vec::new();
        old.visit(&mut |since, _| times.push(since.as_nanos()));
        times.sort_unstable();
        let mut waiting = vec![None; times.len()];
        // Items of one time keep the visiting order, which is the arrival order within a flow.
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

/// Reports a queue's treatment of earlier packets as events of now.
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
