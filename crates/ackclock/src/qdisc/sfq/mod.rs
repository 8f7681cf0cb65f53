//! SFQ: flows are hashed into a few queues, which take turns, and the hash changes now and then.
//!
//! Reference: McKenney 1990, Stochastic Fairness Queueing. Turns follow [`Drr`] with a quantum, as in Linux
//! (`net/sched/sch_sfq.c`). Flows with small packets thus get their share of bytes. A full queue drops from the
//! longest queue, like McKenney's buffer stealing.
//!
//! Deviations: the first item of that queue is dropped, and not the last. When the hash changes, queued items move, so
//! that the items of a flow keep their order. The hash changes with the next arrival.

mod keys;

pub use keys::{SfqKeys, SfqParameters};

use super::contract::all_queued_in;
use super::{Drr, DrrParameters, Limit, Qdisc, QueueSink, Queued};
use crate::rng::Rng;
use crate::units::{Duration, Instant};

/// A few queues that flows share by chance.
#[derive(Clone, Debug)]
pub struct Sfq<T> {
    queues: Drr<T>,
    /// The interval between changes of the hash. None disables them.
    perturbation: Option<Duration>,
    changes_at: Instant,
    stream: Rng,
}

impl<T: Queued> Sfq<T> {
    /// An empty queue.
    pub fn new(limit: Limit, parameters: DrrParameters, perturbation: Option<Duration>, mut stream: Rng) -> Self {
        let mut queues = Drr::new(limit, parameters);
        queues.shuffle(stream.next_u64());
        let changes_at = Instant::ZERO + perturbation.unwrap_or(Duration::ZERO);
        Sfq { queues, perturbation, changes_at, stream }
    }
}

impl<T: Queued> Qdisc<T> for Sfq<T> {
    fn enqueue(&mut self, now: Instant, item: T, sink: &mut dyn QueueSink<T>) {
        if let Some(interval) = self.perturbation
            && now >= self.changes_at
        {
            let missed = now.since(self.changes_at).as_nanos() / interval.as_nanos();
            self.changes_at += interval * (missed + 1);
            self.queues.shuffle(self.stream.next_u64());
        }
        self.queues.enqueue(now, item, sink);
    }

    fn bypass(&mut self, now: Instant, idle: Duration, item: T, sink: &mut dyn QueueSink<T>) -> Option<T> {
        self.queues.bypass(now, idle, item, sink)
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn QueueSink<T>) -> Option<(Instant, T)> {
        self.queues.dequeue(now, sink)
    }

    all_queued_in!(queues);

    fn state(&self, see: &mut dyn FnMut(&str, f64)) {
        self.queues.state(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Item;
    use crate::rng::RngStreams;

    fn item(flow: u64, number: u64) -> Item {
        Item { number, flow, bytes: 100, ..Item::default() }
    }

    fn sfq(buckets: u32, perturbation: Option<Duration>) -> Sfq<Item> {
        let parameters = DrrParameters { quantum: 100, buckets: Some(buckets) };
        Sfq::new(Limit::Packets(1000), parameters, perturbation, RngStreams::new(1, 0).stream("link", "queue"))
    }

    /// Whether two flows with three items each take turns at this time.
    fn take_turns(queue: &mut Sfq<Item>, now: Instant) -> bool {
        for number in 0..6 {
            queue.enqueue(now, item(number / 3, number), &mut ());
        }
        let flows: Vec<u64> = std::iter::from_fn(|| queue.dequeue(now, &mut ())).map(|(_, item)| item.flow).collect();
        flows == [0, 1, 0, 1, 0, 1]
    }

    #[test]
    fn flows_collide_as_often_as_chance_says_and_not_for_long() {
        let interval = Duration::from_secs(10);
        let mut queue = sfq(4, Some(interval));
        let apart = (0..1000).filter(|round| take_turns(&mut queue, Instant::ZERO + interval * *round)).count();
        // 3/4, within four standard errors.
        assert!(apart.abs_diff(750) < 55, "{apart}");
        let mut fixed = sfq(4, None);
        let first = take_turns(&mut fixed, Instant::ZERO);
        assert!((0..100).all(|round| take_turns(&mut fixed, Instant::ZERO + interval * round) == first));
    }

    #[test]
    fn the_hash_changes_once_after_a_long_pause() {
        let interval = Duration::from_secs(10);
        let mut queue = sfq(4, Some(interval));
        queue.enqueue(Instant::ZERO + Duration::from_secs(95), item(0, 0), &mut ());
        assert_eq!(queue.changes_at, Instant::ZERO + Duration::from_secs(100));
    }
}
