//! FQ-PIE: flows are hashed into queues with PIE. Queues take turns, and newly active ones go first.
//!
//! Reference: Linux's `net/sched/sch_fq_pie.c` (Ramakrishnan et al. 2019, FQ-PIE Queue Discipline in the Linux Kernel).
//! Queues take turns as in RFC 8290, and each has a PIE of its own ([`super::pie`]).
//!
//! Deviations: as in PIE. Linux updates the probability of each queue at a tick of a common timer, as here. Its limit
//! of memory is absent. An arrival that does not fit is dropped, as in Linux. ns-3 drops from the longest queue.

mod keys;

pub use keys::{FqPieKeys, FqPieParameters};

use super::fair_queue::{FairQueue, FlowAqm};
use super::fifo::Fifo;
use super::pie::{Controller, PieParameters};
use super::{QueueSink, Queued};
use crate::rng::Rng;
use crate::units::Instant;

/// PIE in each of many queues, and a limit for all of them.
pub type FqPie<T> = FairQueue<T, PieOfFlow>;

/// PIE in one of the queues.
#[derive(Clone, Debug)]
pub struct PieOfFlow(Controller);

impl FlowAqm for PieOfFlow {
    type Parameters = PieParameters;

    const DROPS_ARRIVALS: bool = true;

    fn new(parameters: &PieParameters) -> Self {
        PieOfFlow(Controller::new(parameters))
    }

    #[inline]
    fn admit<T: Queued>(
        &mut self,
        parameters: &PieParameters,
        now: Instant,
        item: T,
        backlog: u64,
        stream: &mut Rng,
        sink: &mut dyn QueueSink<T>,
    ) -> Option<T> {
        self.0.catch_up(parameters, now, backlog);
        // A queue has no limit of its own, of which a third could be used.
        self.0.judge(parameters, &item, (backlog, false), stream).carry_out(now, item, sink)
    }

    fn show(&self, parameters: &PieParameters, see: &mut dyn FnMut(&str, f64)) {
        self.0.show(parameters, see);
    }

    #[inline]
    fn next<T: Queued>(
        &mut self,
        parameters: &PieParameters,
        now: Instant,
        (fifo, _others): (&mut Fifo<T>, u64),
        _stream: &mut Rng,
        _sink: &mut dyn QueueSink<T>,
    ) -> Option<(Instant, T)> {
        self.0.catch_up(parameters, now, fifo.bytes());
        let (since, item) = fifo.pop()?;
        self.0.depart(parameters, now, since, fifo.bytes());
        Some((since, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Item, Told};
    use crate::qdisc::{Limit, Place, Qdisc, QueueKeys, Reason};
    use crate::rng::RngStreams;
    use crate::units::{Duration, Rate};

    fn queue(keys: &str) -> FqPie<Item> {
        let keys: FqPieKeys = serde_json::from_str(keys).unwrap();
        let rate = Rate::from_bps(10_000_000);
        let place = Place {
            rate,
            delay: Duration::ZERO,
            packet_bytes: 1500,
            mean_rtt_secs: 0.0,
            groups: crate::qdisc::Groups::NONE,
        };
        let limit = place.limit(keys.limit());
        let parameters = keys.parameters(&place, limit).unwrap();
        FqPie::new(limit, parameters, RngStreams::new(1, 0).stream("link", "queue"))
    }

    /// Two flows at these percentages of the rate for 10 s. Returns the early drops of each.
    fn drops(percentages: [u64; 2]) -> [usize; 2] {
        let (mut queue, mut told, mut free_at) = (queue("{}"), Told::default(), 0);
        let mut due = percentages.map(|percent| 120_000 / percent);
        for number in 0.. {
            let flow = usize::from(due[1] < due[0]);
            let now = due[flow];
            if now > 10_000_000 {
                break;
            }
            due[flow] += 120_000 / percentages[flow];
            while free_at <= now {
                let left = queue.dequeue(Instant::from_nanos(1000 * free_at), &mut told);
                free_at = if left.is_some() { free_at + 1200 } else { now + 1 };
            }
            let item = Item { number, flow: flow as u64, bytes: 1500, ..Item::default() };
            queue.enqueue(Instant::from_nanos(1000 * now), item, &mut told);
        }
        [0, 1].map(|flow| told.dropped.iter().filter(|(item, _)| item.flow == flow).count())
    }

    #[test]
    fn only_a_flow_above_its_share_loses_packets() {
        let [light, heavy] = drops([20, 150]);
        assert!(light == 0 && heavy > 1_000, "{light} {heavy}");
    }

    #[test]
    fn an_arrival_that_does_not_fit_is_dropped() {
        let mut queue = queue(r#"{"limit": "2 packets"}"#);
        let mut told = Told::default();
        for number in 0..3 {
            queue.enqueue(Instant::ZERO, Item { number, flow: number / 2, bytes: 1500, ..Item::default() }, &mut told);
        }
        assert_eq!(
            told.dropped.iter().map(|(item, reason)| (item.number, *reason)).collect::<Vec<_>>(),
            [(2, Reason::Full)]
        );
        assert_eq!(queue.limit(), Limit::Packets(2));
    }
}
