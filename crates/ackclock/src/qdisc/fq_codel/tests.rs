use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{ControlLaw, FairQueueVariant, Limit, Qdisc};
use crate::rng::RngStreams;
use crate::units::Duration;

const MTU: u32 = 1500;

fn parameters(flows: u32, quantum: u32) -> FqCoDelParameters {
    let codel = CoDelParameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu: MTU,
        ecn: false,
        ce_threshold: None,
        control_law: ControlLaw::Sqrt,
    };
    FqCoDelParameters { variant: FairQueueVariant::Rfc, flows, quantum, aqm: codel }
}

fn fq_codel(limit: u32, parameters: FqCoDelParameters) -> FqCoDel<Item> {
    FqCoDel::new(Limit::Packets(limit), parameters, RngStreams::new(1, 0).stream("link", "queue"))
}

fn item(flow: u64, number: u64, bytes: u32) -> Item {
    Item { number, flow, bytes, ..Item::default() }
}

fn put(queue: &mut FqCoDel<Item>, items: &[(u64, u64, u32)]) -> Vec<u64> {
    let mut told = Told::default();
    items
        .iter()
        .for_each(|(flow, number, bytes)| queue.enqueue(Instant::ZERO, item(*flow, *number, *bytes), &mut told));
    told.dropped.iter().map(|(item, _)| item.number).collect()
}

fn order(queue: &mut FqCoDel<Item>) -> Vec<u64> {
    std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).map(|(_, item)| item.number).collect()
}

#[test]
fn what_has_just_become_active_goes_before_what_has_had_its_quantum() {
    let mut queue = fq_codel(1000, parameters(65_536, 1000));
    put(&mut queue, &[(1, 11, 1000), (1, 12, 1000), (1, 13, 1000)]);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
    // Flow 1 has spent its credits; flow 2 is new, and goes on until it has, too.
    put(&mut queue, &[(2, 21, 500), (2, 22, 500), (2, 23, 500)]);
    assert_eq!(order(&mut queue), [21, 22, 12, 23, 13]);
}

#[test]
fn a_flow_that_has_run_empty_waits_for_its_turn_among_the_old_ones() {
    let mut queue = fq_codel(1000, parameters(65_536, 1000));
    put(&mut queue, &[(1, 11, 1000), (1, 12, 1000), (2, 21, 100)]);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 21);
    // Flow 2 is still in the list of new queues, with 900 credits: it is no newcomer again.
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 12);
    put(&mut queue, &[(1, 13, 1000), (2, 22, 100)]);
    // Old queues in their order: flow 1 got a quantum before flow 2 was moved after it.
    assert_eq!(order(&mut queue), [22, 13]);
}

#[test]
fn in_linux_a_new_queue_without_packets_is_inactive_if_there_is_no_old_one() {
    let turns = |variant| {
        let mut queue = fq_codel(1000, FqCoDelParameters { variant, ..parameters(65_536, 1000) });
        put(&mut queue, &[(1, 11, 100), (2, 21, 100)]);
        assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 11);
        // The queue of flow 1 is empty, and loses its turn here.
        assert_eq!(queue.dequeue(Instant::ZERO, &mut ()).unwrap().1.number, 21);
        put(&mut queue, &[(1, 12, 100), (3, 31, 100)]);
        order(&mut queue)
    };
    assert_eq!(turns(FairQueueVariant::Rfc), [31, 12]);
    assert_eq!(turns(FairQueueVariant::Linux), [12, 31]);
}

#[test]
fn in_linux_the_mtu_bounds_the_backlog_of_all_queues() {
    let drops = |variant| {
        let mut queue = fq_codel(1000, FqCoDelParameters { variant, ..parameters(65_536, MTU) });
        let (mut told, mut now) = (Told::default(), Instant::ZERO);
        // Four flows have two small packets each. A packet waits for 40 ms.
        (0..8).for_each(|number| queue.enqueue(now, item(number % 4, number, 700), &mut told));
        for number in 8..400 {
            now += Duration::from_millis(5);
            let (_, sent) = queue.dequeue(now, &mut told).unwrap();
            queue.enqueue(now, item(sent.flow, number, 700), &mut told);
        }
        told.dropped.len()
    };
    assert_eq!(drops(FairQueueVariant::Rfc), 0);
    assert!(drops(FairQueueVariant::Linux) > 0);
}

#[test]
fn queues_are_inactive_after_the_transmitter_was_idle() {
    let mut queue = fq_codel(1000, parameters(65_536, 1000));
    put(&mut queue, &[(1, 11, 100), (1, 12, 100), (2, 21, 100)]);
    assert_eq!(order(&mut queue), [11, 12, 21]);
    let item = item(1, 13, 100);
    queue.idled(Duration::ZERO);
    assert_eq!(queue.bypass(Instant::ZERO, Duration::ZERO, item, &mut ()).unwrap().number, 13);
    put(&mut queue, &[(2, 22, 100), (1, 14, 100)]);
    // Flow 1 is new again, and before flow 2.
    assert_eq!(order(&mut queue), [14, 22]);
}

#[test]
fn half_of_the_longest_queue_makes_room_at_most_64_packets() {
    let mut queue = fq_codel(10, parameters(65_536, 1500));
    let long: Vec<_> = (0..9).map(|number| (1, number, 1000)).collect();
    assert!(put(&mut queue, &long).is_empty());
    assert_eq!(put(&mut queue, &[(2, 21, 1500), (2, 22, 1500)]), [0, 1, 2, 3]);
    assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (7, 8000));
    let mut large = fq_codel(1000, parameters(65_536, 1500));
    let many: Vec<_> = (0..1001).map(|number| (1, number, 100)).collect();
    assert_eq!(put(&mut large, &many), (0..64).collect::<Vec<_>>());
}

#[test]
fn flows_that_share_a_bucket_share_a_queue() {
    let mut queue = fq_codel(1000, parameters(1, 100));
    put(&mut queue, &[(1, 1, 100), (1, 2, 100), (2, 3, 100)]);
    assert_eq!(order(&mut queue), [1, 2, 3]);
}

/// The backlog of the queue of a flow, its credit, and its control law.
type FlowQueue = (VecDeque<(Instant, Item)>, i64, Controller);

/// RFC 8290, section 4, with a CoDel queue for each flow: lists of queues, credits and drops.
struct Described {
    flows: Vec<FlowQueue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    limit: usize,
    parameters: FqCoDelParameters,
}

impl Described {
    fn new(flows: usize, limit: usize, parameters: FqCoDelParameters) -> Self {
        let flows = (0..flows).map(|_| (VecDeque::new(), 0, Controller::default())).collect();
        Described { flows, new: VecDeque::new(), old: VecDeque::new(), limit, parameters }
    }

    fn enqueue(&mut self, now: Instant, item: Item, dropped: &mut Vec<u64>) {
        let flow = item.flow as usize;
        self.flows[flow].0.push_back((now, item));
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.flows[flow].1 = i64::from(self.parameters.quantum);
            self.new.push_back(flow);
        }
        if self.flows.iter().map(|flow| flow.0.len()).sum::<usize>() > self.limit {
            let bytes = |flow: usize| self.flows[flow].0.iter().map(|(_, item)| item.bytes).sum::<u32>();
            let active: Vec<usize> = self.new.iter().chain(&self.old).copied().collect();
            let most = active.iter().map(|flow| bytes(*flow)).max().unwrap();
            let longest = active.into_iter().find(|flow| bytes(*flow) == most).unwrap();
            let queue = &mut self.flows[longest].0;
            for _ in 0..(queue.len() / 2).clamp(1, 64) {
                dropped.extend(queue.pop_front().map(|(_, item)| item.number));
            }
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<u64>) -> Option<u64> {
        loop {
            let from_new = !self.new.is_empty();
            let flow = *if from_new { self.new.front() } else { self.old.front() }?;
            let list = if from_new { &mut self.new } else { &mut self.old };
            let (packets, credits, controller) = &mut self.flows[flow];
            if *credits <= 0 {
                *credits += i64::from(self.parameters.quantum);
                list.pop_front();
                self.old.push_back(flow);
                continue;
            }
            let mut fifo = crate::qdisc::fifo::Fifo::default();
            packets.drain(..).for_each(|(since, item)| fifo.push(since, item));
            let mut told = Told::default();
            let sent = controller.dequeue(&self.parameters.aqm, now, (&mut fifo, 0), &mut told);
            dropped.extend(told.dropped.iter().map(|(item, _)| item.number));
            packets.extend(fifo.drain());
            match sent {
                Some((_, item)) => {
                    *credits -= i64::from(item.bytes);
                    return Some(item.number);
                }
                None => {
                    list.pop_front();
                    if from_new {
                        self.old.push_back(flow);
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_verdict_is_that_of_the_rfc(
        limit in 5u32..200,
        quantum in 100u32..3000,
        spacing in 50_000u64..2_000_000,
        arrivals in prop::collection::vec((0u64..6, 40u32..1500, 0u64..100), 1..1500),
    ) {
        // Flows have a queue each: that they share none is seen first.
        let parameters = parameters(65_536, quantum);
        let mut ours = fq_codel(limit, parameters);
        let mut theirs = Described::new(6, limit as usize, parameters);
        let (mut now, mut free_at) = (0u64, 0u64);
        for (number, (flow, bytes, pause)) in arrivals.iter().enumerate() {
            now += spacing * pause / 50;
            while free_at <= now && ours.backlog_packets() > 0 {
                let (mut told, mut dropped) = (Told::default(), Vec::new());
                let at = Instant::from_nanos(free_at);
                let left = ours.dequeue(at, &mut told).map(|(_, item)| item.number);
                prop_assert_eq!(left, theirs.dequeue(at, &mut dropped));
                prop_assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), dropped);
                free_at += 1_000_000;
            }
            free_at = free_at.max(now);
            let (item, mut dropped) = (item(*flow, number as u64, *bytes), Vec::new());
            let told = Told::of_arrival(&mut ours, Instant::from_nanos(now), item);
            theirs.enqueue(Instant::from_nanos(now), item, &mut dropped);
            prop_assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), dropped);
        }
    }
}
