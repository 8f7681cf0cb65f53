//! The contract of a queue that takes the place of another one at a link.

use super::link::Course;
use super::{Item, Violation, for_each_case};
use crate::link::{Link, LinkConfig, LinkCounters, Sink};
use crate::qdisc::{Ecn, Limit, Qdisc, Queue, Reason};
use crate::sim::ImpairmentsPlan;
use crate::units::{Duration, Instant, Rate};

const CASES: u64 = 6;
const ARRIVALS: u64 = 160;
/// Arrivals from one takeover to the next.
const APART: u64 = 40;

/// Checks that queues take over the queued packets of a link, one after the other, under random arrivals:
///
/// - The packets enter the new queue in the order and at the times of their arrival. It holds as many as it would
///   have held then.
/// - A queued packet stays queued with its arrival time, or is dropped. Packets and bytes are conserved.
/// - Each drop and mark is reported and counted once, at the time of the change and for a reason.
/// - The limit of the new queue holds, and packets of the old queue leave no earlier than the change.
/// - Only ECN-capable items are marked, and marks stay.
/// - The items of a flow keep their order, and arrive no earlier than transmission and propagation permit.
///
/// # Errors
/// The first promise that is broken.
pub fn check_takeover(name: &str, queues: [&dyn Fn() -> Queue<Item>; 2]) -> Result<(), Violation> {
    for_each_case(name, CASES, |draw| {
        let rate = Rate::from_bps(draw.scale(1e5, 1e8) as u64);
        let delay = draw.time(Duration::from_millis(20));
        let config = LinkConfig { rate, varies: None, delay, impairments: None, histogram: draw.chance(50) };
        let mut link = Link::new(config, queues[0]());
        let mut course = Course::default();
        let mut kept = Vec::new();
        let gap = rate.map_or(Duration::from_millis(1), |rate| rate.transmission(1500).0);
        let load = draw.scale(0.5, 4.0);
        let mut now = Instant::ZERO;
        for number in 0..ARRIVALS {
            if draw.chance(60) {
                now += draw.time(gap.mul_f64_floor(2.0 / 0.6 / load));
            }
            if number % APART == APART - 1 {
                let new = queues[(number / APART + 1) as usize % 2]();
                take_over(&mut link, now, new, &mut course, &mut kept)?;
                course.check_conservation(&link)?;
            }
            course.enqueue(&mut link, now, Item::random(draw, number));
        }
        course.check_conservation(&link)?;
        course.drain(&mut link)?;
        course.check_times(rate, delay, &ImpairmentsPlan::default())?;
        for (changed, item) in kept {
            let arrived = course.arrived.iter().find(|(_, other)| other.number == item.number);
            let is_late = arrived.is_none_or(|(at, _)| *at >= changed + delay);
            ensure!(is_late, "{item:?} was queued at {changed}, and has arrived by {arrived:?}");
        }
        Ok(())
    })
}

/// The reports of a link while a queue takes over.
#[derive(Debug, Default)]
struct Reported {
    dropped: Vec<(Instant, Item, Reason)>,
    marked: Vec<(Instant, Item, Reason)>,
}

impl Sink<Item> for Reported {
    fn dropped(&mut self, at: Instant, item: Item, reason: Reason) {
        self.dropped.push((at, item, reason));
    }

    fn marked(&mut self, at: Instant, item: &Item, reason: Reason) {
        self.marked.push((at, *item, reason));
    }
}

/// A queue takes over. Adds the kept items to `kept`, with the time.
fn take_over(
    link: &mut Link<Item>,
    now: Instant,
    new: Queue<Item>,
    course: &mut Course,
    kept: &mut Vec<(Instant, Item)>,
) -> Result<(), String> {
    if let Some(last) = now.before() {
        link.advance(last, course);
    }
    let (before, counted) = (shown(link.queue()), link.counters());
    let (limit, expected, mut reported) = (new.limit(), expected(new.clone(), &before), Reported::default());
    link.set_queue(now, new, &mut reported);
    let after = shown(link.queue());
    ensure!(after == expected, "taken over in the order of their arrival, {expected:?} are queued, and {after:?} are");

    let known = |list: &[(Instant, Item, Reason)], item: &Item| {
        list.iter().filter(|(at, other, _)| *at == now && other.number == item.number).count()
    };
    for (since, item) in &before {
        let (marks, drops) = (known(&reported.marked, item), known(&reported.dropped, item));
        ensure!(marks == 0 || marks == 1 && item.ecn.is_capable(), "{item:?} was marked {marks} times");
        let left = Item { ecn: if marks == 1 { Ecn::Ce } else { item.ecn }, ..*item };
        let stays = after.iter().filter(|other| **other == (*since, left)).count();
        ensure!(drops + stays == 1, "{item:?} of {since} was dropped {drops} times, and is queued {stays} times");
    }
    let told = reported.dropped.len();
    ensure!(after.len() + told == before.len(), "of {} items {told} are dropped, {} queued", before.len(), after.len());
    let (packets, bytes) = link.backlog();
    let holds = match limit {
        Limit::Packets(most) => packets <= most,
        Limit::Bytes(most) => bytes <= most,
    };
    ensure!(holds, "{packets} items of {bytes} bytes are taken over beyond the limit, {limit:?}");
    check_counters(&counted, &link.counters(), &reported)?;
    course.dropped.extend(reported.dropped.iter().map(|(_, item, _)| *item));
    kept.extend(after.iter().map(|(_, item)| (now, *item)));
    Ok(())
}

/// The contents of a queue after items arrive in the order of their times. Items of one time keep the visiting order.
fn expected(mut queue: Queue<Item>, items: &[(Instant, Item)]) -> Vec<(Instant, Item)> {
    let mut arrivals = items.to_vec();
    arrivals.sort_by_key(|(since, _)| *since);
    arrivals.into_iter().for_each(|(since, item)| queue.enqueue(since, item, &mut ()));
    shown(&queue)
}

/// Drops and marks add up, in all and by reasons, and nothing else is counted.
fn check_counters(before: &LinkCounters, after: &LinkCounters, reported: &Reported) -> Result<(), String> {
    let mut expected = *before;
    for (_, item, reason) in &reported.dropped {
        expected.drops += 1;
        expected.drops_by[*reason as usize] += 1;
        expected.dropped_bytes += u64::from(item.bytes);
        expected.in_profile_drops += u64::from(item.in_profile);
    }
    for (_, _, reason) in &reported.marked {
        expected.marks += 1;
        expected.marks_by[*reason as usize] += 1;
    }
    ensure!(*after == expected, "counted are {after:?}, reported {expected:?}");
    Ok(())
}

/// The queued items and when they came.
fn shown(queue: &Queue<Item>) -> Vec<(Instant, Item)> {
    let mut shown = Vec::new();
    queue.visit(&mut |since, item| shown.push((since, *item)));
    shown
}
