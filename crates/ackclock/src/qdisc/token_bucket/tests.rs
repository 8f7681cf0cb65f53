use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{DropTail, Groups, Place, QueueSpec};
use crate::units::NANOS_PER_SEC;
use crate::units::{Duration, Rate};

fn item(number: u64, bytes: u32) -> Item {
    Item { number, bytes, ..Item::default() }
}

/// A FIFO of so many packets behind a full bucket.
fn shaper(rate: u64, burst: u32, packets: u32) -> TokenBucket<Item> {
    let fifo = Queue::DropTail(DropTail::new(Limit::Packets(packets)));
    TokenBucket::new(fifo, Rate::from_bps(rate).unwrap(), burst)
}

/// Departures in nanoseconds of arrivals with these times and sizes, through a link without transmission time.
fn departures(rate: u64, burst: u32, arrivals: &[(u64, u32)]) -> Vec<u64> {
    let mut queue = shaper(rate, burst, u32::MAX);
    let (mut left, mut now) = (Vec::new(), 0);
    let mut serve = |queue: &mut TokenBucket<Item>, until: u64, left: &mut Vec<u64>| {
        while queue.backlog_packets() > 0 && queue.next_deadline().as_nanos() <= until {
            now = now.max(queue.next_deadline().as_nanos());
            if queue.dequeue(Instant::from_nanos(now), &mut ()).is_some() {
                left.push(now);
            } else {
                assert!(queue.next_deadline().as_nanos() > now, "an item is queued");
            }
        }
        now = until;
    };
    for (number, (at, bytes)) in arrivals.iter().enumerate() {
        serve(&mut queue, *at, &mut left);
        queue.enqueue(Instant::from_nanos(*at), item(number as u64, *bytes), &mut ());
        serve(&mut queue, *at, &mut left);
    }
    serve(&mut queue, u64::MAX, &mut left);
    left
}

#[test]
fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
    // 1 byte a microsecond, a burst of 3000 B.
    assert_eq!(departures(8_000_000, 3000, &[(0, 1500); 4]), [0, 0, 1_500_000, 3_000_000]);
}

#[test]
fn tokens_do_not_rise_above_the_burst() {
    let late = 1_000_000_000;
    assert_eq!(departures(8_000_000, 1500, &[(late, 1500), (late, 1500)]), [late, late + 1_500_000]);
}

#[test]
fn nothing_leaves_before_its_deadline_and_what_can_never_leave_does_not_come_in() {
    let mut queue = shaper(8_000_000, 1000, 10);
    let told = Told::of_arrival(&mut queue, Instant::ZERO, item(0, 1001));
    assert_eq!(told.dropped, [(item(0, 1001), Reason::Oversize)]);
    queue.enqueue(Instant::ZERO, item(1, 1000), &mut ());
    queue.enqueue(Instant::ZERO, item(2, 1000), &mut ());
    assert!(queue.dequeue(Instant::ZERO, &mut ()).is_some());
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()), None);
    assert_eq!(queue.next_deadline(), Instant::ZERO + Duration::from_millis(1));
    assert_eq!(queue.dequeue(Instant::from_nanos(999_999), &mut ()), None);
    assert!(queue.dequeue(Instant::from_nanos(1_000_000), &mut ()).is_some());
}

#[test]
fn the_item_ahead_counts_in_the_limit() {
    let mut queue = shaper(8_000_000, 1000, 2);
    let mut told = Told::default();
    for number in 0..3 {
        queue.enqueue(Instant::ZERO, item(number, 1000), &mut told);
    }
    assert_eq!(told.dropped, [(item(2, 1000), Reason::Full)]);
    assert!(queue.dequeue(Instant::ZERO, &mut ()).is_some());
    // Item 1 is ahead now, and one more fits behind it.
    assert_eq!(queue.dequeue(Instant::ZERO, &mut ()), None);
    queue.enqueue(Instant::ZERO, item(3, 1000), &mut told);
    queue.enqueue(Instant::ZERO, item(4, 1000), &mut told);
    assert_eq!(told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>(), [2, 4]);
    assert_eq!((queue.backlog_packets(), queue.backlog_bytes()), (2, 2000));
}

#[test]
fn a_shaped_codel_drops_by_sojourn_times_at_the_rate_of_the_shaper() {
    let json = r#"{"kind": "tbf", "rate": "8 Mbit/s", "queue": "codel"}"#;
    let place = Place {
        rate: Rate::from_bps(1_000_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1000,
        mean_rtt_secs: 0.1,
        groups: Groups::NONE,
    };
    let spec: QueueSpec = serde_json::from_str(json).unwrap();
    let mut queue: Queue<Item> = spec.plan(&place).unwrap().build(&|_| unreachable!("CoDel draws no numbers"));
    // Twice the rate of the shaper for two seconds.
    let (mut told, mut sent, mut now) = (Told::default(), 0, Instant::ZERO);
    for number in 0..4000 {
        let arrives = Instant::from_nanos(500_000 * number);
        while queue.backlog_packets() > 0 && queue.next_deadline() <= arrives {
            now = now.max(queue.next_deadline());
            sent += u64::from(queue.dequeue(now, &mut told).is_some());
        }
        now = arrives;
        queue.enqueue(now, item(number, 1000), &mut told);
    }
    // 10 of 2000 packets more than the rate permits, by the burst.
    assert!(sent.abs_diff(2010) <= 1, "{sent}");
    let sojourn = told.dropped.iter().filter(|(_, reason)| *reason == Reason::Sojourn).count();
    assert!(sojourn > 50 && sojourn == told.dropped.iter().filter(|(_, reason)| *reason != Reason::Full).count());
    let mut names = Vec::new();
    queue.state(&mut |name, _| names.push(name.to_owned()));
    assert_eq!(names, ["tokens_bytes", "target_ms", "dropping", "count"]);
}

proptest! {
    #[test]
    fn departures_are_those_of_exact_token_arithmetic(
        rate in 1_000u64..1_000_000_000,
        burst in 1500u32..20_000,
        gaps in prop::collection::vec((0u64..3_000_000, 1u32..1500), 1..200),
    ) {
        let mut at = 0;
        let arrivals: Vec<(u64, u32)> = gaps.iter().map(|(gap, bytes)| { at += gap; (at, *bytes) }).collect();
        // An item leaves at the first nanosecond at which, since any earlier time at which the bucket was at its fullest,
        // the rate has brought what left and leaves since beyond the burst: tokens as exact fractions of a byte.
        let unit = 8 * u128::from(NANOS_PER_SEC);
        let full = u128::from(burst) * unit;
        let (mut tokens, mut counted, mut expected) = (full, 0u64, Vec::new());
        for (came, bytes) in &arrivals {
            let earliest = (*came).max(expected.last().copied().unwrap_or(0));
            let cost = u128::from(*bytes) * unit;
            let at_earliest = full.min(tokens + u128::from(earliest - counted) * u128::from(rate));
            let mut leaves = earliest;
            if at_earliest < cost {
                let missing = cost - at_earliest;
                leaves += (missing / u128::from(rate)) as u64 + u64::from(!missing.is_multiple_of(u128::from(rate)));
            }
            tokens = full.min(tokens + u128::from(leaves - counted) * u128::from(rate)) - cost;
            counted = leaves;
            expected.push(leaves);
        }
        prop_assert_eq!(departures(rate, burst, &arrivals), expected);
    }
}
