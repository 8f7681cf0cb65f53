//! The contract of a [`Qdisc`].

use std::collections::{BTreeMap, VecDeque};

use super::{Item, Told, Violation, for_each_case};
use crate::qdisc::{Ecn, Limit, Qdisc};
use crate::units::{Duration, Instant};

const CASES: u64 = 200;
const OPERATIONS: usize = 600;

/// Checks that a queue with a limit keeps the contract of [`Qdisc`], under random arrivals and departures:
///
/// - An arriving item is dropped, or queued and sent. Packets and bytes are conserved, and each drop is reported
///   once, on an arrival or on a departure.
/// - Items with the same [`Qdisc::order`] leave in the order of arrival, with their arrival times.
/// - The limit is never exceeded. After a reduction of the limit, the excess does not grow.
/// - At [`Qdisc::next_deadline`] an item leaves, or all queued items are dropped, or there is a later deadline.
/// - [`Qdisc::visit`] shows the queued items and their arrival times, in that order.
/// - No item leaves before the deadline.
/// - Only ECN-capable items are marked, each is reported, and each once.
/// - [`Qdisc::state`] always shows the same names, with finite values.
/// - [`Qdisc::bypass`] has the effect of `enqueue` and then `dequeue`.
///
/// # Errors
/// The first promise that is broken.
pub fn check_queue<Q: Qdisc<Item> + Clone>(name: &str, limit: Limit, new: impl Fn() -> Q) -> Result<(), Violation> {
    for_each_case(name, CASES, |draw| {
        let mut queue = new();
        let mut limit = limit;
        let names = names_of_state(&queue)?;
        let mut waiting = Waiting::default();
        let mut now = Instant::ZERO;
        let load = draw.whole(30, 70);
        // The longest time between two operations.
        let pace = Duration::from_micros(draw.scale(20.0, 20_000.0) as u64);
        for step in 0..OPERATIONS {
            now += draw.time(pace);
            if step == OPERATIONS / 2 {
                limit = half_of(limit);
                queue.set_limit(limit);
                ensure!(queue.limit() == limit, "the limit is {:?}, and was set to {limit:?}", queue.limit());
            }
            let before = waiting.backlog();
            let result = if draw.chance(load) {
                arrive(&mut queue, &mut waiting, now, Item::random(draw, step as u64))
            } else {
                depart(&mut queue, &mut waiting, now)
            };
            result
                .and_then(|()| waiting.agree(&queue, limit, before))
                .map_err(|what| format!("step {step}: {what}"))?;
            let now_shown = names_of_state(&queue)?;
            ensure!(now_shown == names, "step {step}: the state was {names:?}, and is {now_shown:?}");
        }
        while !waiting.items.is_empty() {
            now = now.max(queue.next_deadline());
            depart(&mut queue, &mut waiting, now)?;
        }
        waiting.agree(&queue, limit, (0, 0))
    })
}

/// The names of the values that a queue shows. All values are finite.
fn names_of_state(queue: &impl Qdisc<Item>) -> Result<Vec<String>, String> {
    let mut state = Vec::new();
    queue.state(&mut |name, value| state.push((name.to_owned(), value)));
    let odd = state.iter().find(|(_, value)| !value.is_finite());
    ensure!(odd.is_none(), "the state has a value that is not finite: {odd:?}");
    Ok(state.into_iter().map(|(name, _)| name).collect())
}

/// Half of a limit, and at least one item.
fn half_of(limit: Limit) -> Limit {
    match limit {
        Limit::Packets(packets) => Limit::Packets((packets / 2).max(1)),
        Limit::Bytes(bytes) => Limit::Bytes((bytes / 2).max(1)),
    }
}

/// The expected contents of the queue, in the order of arrival.
#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<Waits>,
}

/// A queued item: its arrival time, and the number that orders it.
type Waits = (Instant, Item, u64);

impl Waiting {
    /// Items, and their bytes.
    fn backlog(&self) -> (u64, u64) {
        (self.items.len() as u64, self.items.iter().map(|(_, item, _)| u64::from(item.bytes)).sum())
    }

    /// `before`: the backlog before the last operation.
    fn agree(&self, queue: &impl Qdisc<Item>, limit: Limit, before: (u64, u64)) -> Result<(), String> {
        let (packets, bytes) = self.backlog();
        let backlog = (u64::from(queue.backlog_packets()), queue.backlog_bytes());
        ensure!(
            backlog == (packets, bytes),
            "the backlog is {backlog:?}, but {packets} items of {bytes} bytes are queued"
        );
        let within = match limit {
            Limit::Packets(most) => packets <= before.0.max(u64::from(most)),
            Limit::Bytes(most) => bytes <= before.1.max(most),
        };
        ensure!(within, "{packets} items of {bytes} bytes are queued beyond the limit, {limit:?}");
        let mut shown = Vec::new();
        queue.visit(&mut |since, item| shown.push((since, *item)));
        let mut queued: Vec<(Instant, Item)> = self.items.iter().map(|(since, item, _)| (*since, *item)).collect();
        // Queues of flows may be shown in any order. A mark may change the order that an item would get now.
        let orders: BTreeMap<u64, u64> = self.items.iter().map(|(_, item, order)| (item.number, *order)).collect();
        let order_of = |(_, item): &(Instant, Item)| orders.get(&item.number).copied();
        shown.sort_by_key(order_of);
        queued.sort_by_key(order_of);
        ensure!(shown == queued, "{queued:?} are queued, and {shown:?} are shown");
        Ok(())
    }

    /// Processes the reports of a queue. Marks come first, because departed items cannot be marked.
    fn hear(&mut self, told: &Told) -> Result<(), String> {
        for (item, reason) in &told.marked {
            let Some((_, queued, _)) = self.items.iter_mut().find(|(_, queued, _)| queued.number == item.number) else {
                return Err(format!("{item:?} is marked ({reason:?}), but is not queued"));
            };
            ensure!(queued.ecn.is_capable(), "an item that is not ECN-capable is marked");
            queued.ecn = Ecn::Ce;
            ensure!(queued == item, "{queued:?} is marked and becomes {item:?}");
        }
        let twice = told
            .marked
            .iter()
            .any(|(item, _)| told.marked.iter().filter(|(other, _)| other.number == item.number).count() > 1);
        ensure!(!twice, "an item is marked twice: {:?}", told.marked);
        for (item, reason) in &told.dropped {
            let place = self.items.iter().position(|(_, queued, _)| queued == item);
            ensure!(place.is_some(), "{item:?} is dropped ({reason:?}), but is not queued");
            place.and_then(|place| self.items.remove(place));
        }
        Ok(())
    }

    /// An item leaves.
    fn leave(&mut self, left: Option<(Instant, Item)>) -> Result<(), String> {
        let Some((since, item)) = left else { return Ok(()) };
        let number = self.items.iter().find(|(_, other, _)| other.number == item.number).map(|(.., order)| *order);
        let first = self.items.iter().position(|(.., order)| Some(*order) == number);
        let due = first.and_then(|position| self.items.remove(position)).map(|(since, item, _)| (since, item));
        ensure!(due == Some((since, item)), "{item:?} of {since} leaves, due is {due:?}");
        Ok(())
    }
}

fn arrive<Q: Qdisc<Item> + Clone>(
    queue: &mut Q,
    waiting: &mut Waiting,
    now: Instant,
    item: Item,
) -> Result<(), String> {
    if waiting.items.is_empty() {
        let (mut short, mut long) = (queue.clone(), queue.clone());
        let (mut told_short, mut told_long) = (Told::default(), Told::default());
        let at_once = short.bypass(now, Duration::ZERO, item, &mut told_short);
        long.idled(Duration::ZERO);
        long.enqueue(now, item, &mut told_long);
        let after_all = long.dequeue(now, &mut told_long).map(|(_, item)| item);
        ensure!(
            at_once == after_all,
            "an item that comes to an idle link leaves as {at_once:?}, by the queue {after_all:?}"
        );
        ensure!(told_short == told_long, "the queue says {told_short:?} of a bypass, else {told_long:?}");
        let backlog = |queue: &Q| (queue.backlog_packets(), queue.backlog_bytes());
        ensure!(backlog(&short) == backlog(&long), "a bypass leaves {:?}, else {:?}", backlog(&short), backlog(&long));
    }
    let mut told = Told::default();
    queue.enqueue(now, item, &mut told);
    waiting.items.push_back((now, item, queue.order(&item)));
    waiting.hear(&told)
}

fn depart<Q: Qdisc<Item>>(queue: &mut Q, waiting: &mut Waiting, now: Instant) -> Result<(), String> {
    let (deadline, was_waiting) = (queue.next_deadline(), waiting.items.len());
    let mut told = Told::default();
    let left = queue.dequeue(now, &mut told);
    waiting.hear(&told)?;
    ensure!(left.is_none() || now >= deadline, "an item leaves at {now}, before {deadline}");
    if left.is_none() && was_waiting > 0 && now >= deadline {
        let later = queue.next_deadline() > now;
        ensure!(waiting.items.is_empty() || later, "nothing leaves, but {} items are queued", waiting.items.len());
    }
    waiting.leave(left)
}
