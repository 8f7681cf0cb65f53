//! Classes of packets, each with a queue of its own. A scheduler decides which class sends.

mod keys;

pub use keys::{ClassKeys, ClassParameters, ClassesParameters};
pub(super) use keys::{keys_of_classes, parameters_of_classes, specs};

use super::contract::with_prefix;
use super::nested::Ahead;
use super::{Limit, Qdisc, QueueSink, Queued, Reason};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// The choice of the class that sends.
pub trait Scheduler: Clone {
    /// A class that was empty has items.
    fn activate(&mut self, class: usize);

    /// Takes the next item of one of the classes.
    fn next<T: Queued>(
        &mut self,
        classes: &mut [Class<T>],
        now: Instant,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)>;
}

/// The queue of a class.
#[derive(Clone, Debug)]
pub struct Class<T: Queued> {
    queue: Ahead<T>,
    /// When its last item left or was dropped.
    emptied_at: Instant,
}

impl<T: Queued> Class<T> {
    /// Whether it has no items.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.backlog_packets() == 0
    }

    /// Bytes of its next item, if it may send one now.
    pub(super) fn first_len(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<u32> {
        self.queue.first_len(now, sink)
    }

    /// Takes its next item, if it may send one now.
    pub(super) fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        let item = self.queue.dequeue(now, sink);
        if self.is_empty() {
            self.emptied_at = now;
        }
        item
    }
}

/// Classes, their scheduler, and a limit for all of them.
#[derive(Clone, Debug)]
pub struct Classes<T: Queued, S> {
    limit: Limit,
    parameters: ClassesParameters,
    classes: Vec<Class<T>>,
    scheduler: S,
    /// The last arrival. The items that could leave before it have left.
    arrived_at: Instant,
}

impl<T: Queued, S: Scheduler> Classes<T, S> {
    /// Empty classes. The random numbers of each class are its own.
    pub fn new(limit: Limit, parameters: ClassesParameters, scheduler: S, stream: &dyn Fn(&str) -> Rng) -> Self {
        let class = |(number, class): (usize, &ClassParameters)| {
            let queue = class.queue.build(&|purpose| stream(&format!("{purpose} {}", number + 1)));
            Class { queue: Ahead::new(queue), emptied_at: Instant::ZERO }
        };
        let classes = parameters.0.iter().enumerate().map(class).collect();
        Classes { limit, parameters, classes, scheduler, arrived_at: Instant::ZERO }
    }

    fn backlogged(&self) -> impl Iterator<Item = &Class<T>> {
        self.classes.iter().filter(|class| !class.is_empty())
    }
}

impl<T: Queued, S: Scheduler> Qdisc<T> for Classes<T, S> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if !self.limit.fits(self.backlog_packets(), self.backlog_bytes(), item.wire_len()) {
            sink.dropped(now, item, Reason::Full);
            return;
        }
        self.arrived_at = now;
        let number = self.parameters.class_of(&item);
        let class = &mut self.classes[number];
        let was_empty = class.is_empty();
        if was_empty {
            class.queue.idled(now.since(class.emptied_at));
        }
        class.queue.enqueue(now, item, sink);
        if class.is_empty() {
            class.emptied_at = now;
        } else if was_empty {
            self.scheduler.activate(number);
        }
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.scheduler.next(&mut self.classes, now, sink)
    }

    /// The classes count their own idle times.
    fn idled(&mut self, _idle: Duration) {}

    fn next_deadline(&self) -> Instant {
        let deadline = self.backlogged().map(|class| class.queue.next_deadline()).min();
        deadline.map_or(Instant::ZERO, |deadline| deadline.max(self.arrived_at))
    }

    fn backlog_packets(&self) -> u32 {
        self.classes.iter().map(|class| class.queue.backlog_packets()).sum()
    }

    fn backlog_bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.queue.backlog_bytes()).sum()
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Classes do not wait for each other.
    fn order(&self, item: &T) -> u64 {
        let class = self.parameters.class_of(item);
        self.classes[class].queue.order(item).wrapping_mul(self.classes.len() as u64).wrapping_add(class as u64)
    }

    fn visit(&self, see: &mut dyn FnMut(Instant, &T)) {
        self.classes.iter().for_each(|class| class.queue.visit(see));
    }

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        for (number, class) in self.classes.iter().enumerate() {
            let prefix = format!("class{}_", number + 1);
            let mut see = with_prefix(&prefix, see);
            see("packets", f64::from(class.queue.backlog_packets()));
            class.queue.state(&mut see);
        }
    }
}
