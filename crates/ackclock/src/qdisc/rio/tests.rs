use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Ecn, Gaps};
use crate::rng::RngStreams;

fn red(min: f64, max: f64) -> RedParameters {
    RedParameters {
        mode: RedMode::Packets,
        min,
        max,
        max_p: 1.0,
        weight: 1.0,
        gentle: false,
        mean_packet: 1000,
        packets_per_second: 1000.0,
        drop_by_size: false,
        gaps: Gaps::Plain,
        spares_short: false,
        adaptive: None,
        ecn: false,
        mark_below: 1.0,
        hard_drop: true,
    }
}

/// Items in profile are dropped from 40 of their kind on, and items out of profile from `outside` on.
fn rio(limit: u32, outside: Outside, push_out: bool) -> Rio<Item> {
    let rngs = |purpose| RngStreams::new(1, 0).stream("link", purpose);
    let parameters = RioParameters { inside: red(40.0, 41.0), outside, push_out };
    Rio::new(Limit::Packets(limit), parameters, rngs("in"), rngs("out"))
}

fn item(number: u64, in_profile: bool) -> Item {
    Item { number, flow: u64::from(in_profile), bytes: 1000, ecn: Ecn::NotEct, in_profile, ..Item::default() }
}

/// Enqueues items, `i` for one in profile and `o` for one out of profile. Returns how many of each were dropped on
/// arrival.
fn put(queue: &mut Rio<Item>, items: &str) -> (usize, usize) {
    let mut dropped = (0, 0);
    for (number, kind) in items.chars().enumerate() {
        let item = item(number as u64, kind == 'i');
        if Told::of_arrival(queue, Instant::ZERO, item).dropped.iter().any(|(dropped, _)| *dropped == item) {
            if item.in_profile { dropped.0 += 1 } else { dropped.1 += 1 }
        }
    }
    dropped
}

#[test]
fn what_is_out_of_profile_is_dropped_for_all_that_waits_and_what_is_in_profile_for_its_own_kind() {
    let mut queue = rio(1000, Outside::Red(red(10.0, 11.0)), true);
    // Eleven, of either kind, and nothing more from outside; inside is far from its 41.
    assert_eq!(put(&mut queue, &"i".repeat(6)), (0, 0));
    assert_eq!(put(&mut queue, &"o".repeat(20)), (0, 15));
    assert_eq!(put(&mut queue, &"i".repeat(20)), (0, 0));
    assert_eq!(queue.backlog_packets(), 31);
    // 26 of them are in profile.
    assert_eq!(put(&mut queue, &"i".repeat(30)), (15, 0));
    assert_eq!(queue.packets_inside, 41);
}

#[test]
fn what_leaves_no_longer_counts() {
    let mut queue = rio(1000, Outside::Red(red(10.0, 11.0)), true);
    put(&mut queue, &"io".repeat(5));
    while queue.dequeue(Instant::ZERO, &mut ()).is_some() {}
    assert_eq!((queue.packets_inside, queue.bytes_inside), (0, 0));
    assert_eq!(put(&mut queue, "ooooo"), (0, 0));
}

#[test]
fn out_of_profile_drop_tail_looks_at_what_waits_now() {
    let mut queue = rio(1000, Outside::DropTail(Limit::Packets(4)), true);
    assert_eq!(put(&mut queue, "ooooo"), (0, 1));
    assert_eq!(put(&mut queue, "iio"), (0, 1));
    queue.dequeue(Instant::ZERO, &mut ());
    queue.dequeue(Instant::ZERO, &mut ());
    queue.dequeue(Instant::ZERO, &mut ());
    assert_eq!(put(&mut queue, "oo"), (0, 1));
}

#[test]
fn what_passes_an_idle_queue_is_judged_before_room_is_looked_for() {
    let mut queue = rio(0, Outside::Red(RedParameters { weight: 0.5, ..red(5.0, 6.0) }), true);
    let Threshold::Red(average) = &mut queue.outside else { panic!("not RED") };
    average.detector.observe(40.0);
    let mut why = |in_profile| {
        let mut told = Told::default();
        assert_eq!(queue.bypass(Instant::ZERO, Duration::ZERO, item(0, in_profile), &mut told), None);
        told.dropped[0].1
    };
    assert_eq!([why(false), why(true)], [Reason::Forced, Reason::Full]);
}

#[test]
fn what_passes_an_idle_queue_may_be_marked() {
    let marking = RedParameters { weight: 0.5, ecn: true, hard_drop: false, ..red(5.0, 6.0) };
    let mut queue = rio(10, Outside::Red(marking), true);
    let Threshold::Red(average) = &mut queue.outside else { panic!("not RED") };
    average.detector.observe(40.0);
    let capable = Item { ecn: Ecn::Ect0, ..item(0, false) };
    let mut told = Told::default();
    let sent = queue.bypass(Instant::ZERO, Duration::ZERO, capable, &mut told).unwrap();
    assert_eq!((sent.ecn, told.marked), (Ecn::Ce, vec![(sent, Reason::Forced)]));
}

#[test]
fn what_is_in_profile_takes_the_place_of_the_last_that_is_not() {
    let full = |push_out| {
        let mut queue = rio(4, Outside::DropTail(Limit::Packets(100)), push_out);
        assert_eq!(put(&mut queue, "ooio"), (0, 0));
        queue
    };
    let mut queue = full(true);
    let drops = |queue: &mut Rio<Item>, item| -> Vec<(u64, Reason)> {
        let told = Told::of_arrival(queue, Instant::ZERO, item);
        told.dropped.iter().map(|(item, reason)| (item.number, *reason)).collect()
    };
    assert_eq!(drops(&mut queue, item(4, true)), [(3, Reason::Full)]);
    assert_eq!(drops(&mut queue, item(5, true)), [(1, Reason::Full)]);
    let order: Vec<u64> =
        std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut ())).map(|(_, item)| item.number).collect();
    assert_eq!(order, [0, 2, 4, 5]);
    assert_eq!(drops(&mut full(false), item(4, true)), [(4, Reason::Full)]);
    assert_eq!(drops(&mut full(true), item(4, false)), [(4, Reason::Full)]);
    // Nobody is left to yield.
    let mut inside = rio(2, Outside::DropTail(Limit::Packets(100)), true);
    assert_eq!(put(&mut inside, "iii"), (1, 0));
}

#[test]
fn nothing_in_profile_is_dropped_as_long_as_something_out_of_profile_waits() {
    let mut rngs = RngStreams::new(3, 0).stream("traffic", "test");
    let mut queue = rio(30, Outside::Red(red(5.0, 15.0)), true);
    let (mut waiting, mut dropped_inside, mut dropped_outside) = ([0u32; 2], 0, 0);
    for number in 0..100_000 {
        // Two arrivals for each departure, half of them in profile: inside alone is as much as the link.
        let item = item(number, rngs.next_f64() < 0.5);
        let kind = usize::from(item.in_profile);
        waiting[kind] += 1;
        for (dropped, _) in Told::of_arrival(&mut queue, Instant::ZERO, item).dropped {
            waiting[usize::from(dropped.in_profile)] -= 1;
            if dropped.in_profile {
                assert_eq!(waiting[0], 0, "item {number}");
                dropped_inside += 1;
            } else {
                dropped_outside += 1;
            }
        }
        if number % 2 == 0
            && let Some((_, sent)) = queue.dequeue(Instant::ZERO, &mut ())
        {
            waiting[usize::from(sent.in_profile)] -= 1;
        }
    }
    assert!(dropped_outside > 40_000 && dropped_inside < 1_000, "{dropped_outside} {dropped_inside}");
}
