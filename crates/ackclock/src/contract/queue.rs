//! The contract of a [`Qdisc`].

use std::collections::VecDeque;

use super::{Draw, Item, Violation, for_each_case};
use crate::qdisc::{Ecn, Limit, Qdisc, Verdict};
use crate::units::{Duration, Instant};

const CASES: u64 = 200;
const OPERATIONS: usize = 600;

/// Checks that a queue with a limit keeps what [`Qdisc`] promises, under random arrivals and departures:
///
/// * what comes is dropped, or waits and leaves: nothing is lost or made, in packets and in bytes;
/// * the items of a flow leave in the order in which they came, with the time at which they did;
/// * the limit is never exceeded, and something leaves whenever something waits;
/// * what is dropped for others was waiting, and is given back at once;
/// * only ECN-capable items are marked, and those for which the verdict says so;
/// * [`Qdisc::pass`] gives the verdict of [`Qdisc::enqueue`] and leaves the queue empty.
///
/// # Errors
/// The first promise that is broken.
pub fn check_queue<Q: Qdisc<Item> + Clone>(name: &str, limit: Limit, new: impl Fn() -> Q) -> Result<(), Violation> {
    for_each_case(name, CASES, |draw| {
        let mut queue = new();
        let mut waiting = Waiting::default();
        let mut now = Instant::ZERO;
        let load = draw.whole(30, 70);
        for step in 0..OPERATIONS {
            now += draw.time(Duration::from_millis(2));
            let result = if draw.chance(load) {
                arrive(&mut queue, &mut waiting, now, Item::random(draw, step as u64))
            } else {
                depart(&mut queue, &mut waiting, now)
            };
            result.and_then(|()| waiting.agree(&queue, limit)).map_err(|what| format!("step {step}: {what}"))?;
        }
        while !waiting.items.is_empty() {
            depart(&mut queue, &mut waiting, now)?;
        }
        waiting.agree(&queue, limit)
    })
}

/// What should be in the queue, in the order of arrival.
#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<(Instant, Item)>,
}

impl Waiting {
    fn agree(&self, queue: &impl Qdisc<Item>, limit: Limit) -> Result<(), String> {
        let packets = self.items.len() as u64;
        let bytes: u64 = self.items.iter().map(|(_, item)| u64::from(item.bytes)).sum();
        let backlog = (u64::from(queue.backlog_packets()), queue.backlog_bytes());
        ensure!(backlog == (packets, bytes), "the backlog is {backlog:?}, but {packets} items of {bytes} bytes wait");
        let within = match limit {
            Limit::Packets(most) => packets <= u64::from(most),
            Limit::Bytes(most) => bytes <= most,
        };
        ensure!(within, "{packets} items of {bytes} bytes wait beyond the limit, {limit:?}");
        Ok(())
    }
}

fn arrive<Q: Qdisc<Item> + Clone>(
    queue: &mut Q,
    waiting: &mut Waiting,
    now: Instant,
    item: Item,
) -> Result<(), String> {
    let passed = waiting.items.is_empty().then(|| {
        let (mut copy, mut item) = (queue.clone(), item);
        let verdict = copy.pass(now, Duration::ZERO, &mut item);
        (verdict, item, copy.backlog_packets(), copy.backlog_bytes())
    });
    let verdict = queue.enqueue(now, item);
    let kept = expected(item, verdict)?;
    if let Some((at_once, item, packets, bytes)) = passed {
        ensure!(at_once == verdict, "an item that passes is {at_once:?}, one that is queued {verdict:?}");
        ensure!((packets, bytes) == (0, 0), "an item that passes leaves a backlog of {packets} items, {bytes} bytes");
        ensure!(kept.is_none_or(|kept| kept == item), "an item that passes comes out as {item:?}");
    }
    waiting.items.extend(kept.map(|item| (now, item)));
    let mut evicted = 0;
    while let Some(item) = queue.take_evicted() {
        let place = waiting.items.iter().position(|(_, waits)| *waits == item);
        ensure!(place.is_some(), "{item:?} is dropped for others, but does not wait");
        place.and_then(|place| waiting.items.remove(place));
        evicted += 1;
    }
    ensure!((evicted > 0) == (verdict == Verdict::Evicting), "{evicted} items are dropped for others: {verdict:?}");
    Ok(())
}

/// The item as it should come out after this verdict; none if it was dropped.
fn expected(item: Item, verdict: Verdict) -> Result<Option<Item>, String> {
    match verdict {
        Verdict::Dropped(_) => Ok(None),
        Verdict::Queued | Verdict::Evicting => Ok(Some(item)),
        Verdict::Marked(_) => {
            ensure!(item.ecn != Ecn::NotEct, "an item that is not ECN-capable is marked");
            Ok(Some(Item { ecn: Ecn::Ce, ..item }))
        }
    }
}

fn depart(queue: &mut impl Qdisc<Item>, waiting: &mut Waiting, now: Instant) -> Result<(), String> {
    let Some((since, item)) = queue.dequeue(now) else {
        ensure!(waiting.items.is_empty(), "nothing leaves, but {} items wait", waiting.items.len());
        return Ok(());
    };
    let first = waiting.items.iter().position(|(_, other)| other.flow == item.flow);
    let due = first.and_then(|position| waiting.items.remove(position));
    ensure!(due == Some((since, item)), "{item:?} of {since} leaves, due is {due:?}");
    Ok(())
}

/// Used where a suite needs a queue that drops.
pub(super) fn random_limit(draw: &mut Draw) -> Limit {
    if draw.chance(50) { Limit::Packets(draw.whole(1, 30) as u32) } else { Limit::Bytes(draw.whole(1500, 40_000)) }
}
