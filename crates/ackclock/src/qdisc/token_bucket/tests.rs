use proptest::prelude::*;

use super::*;
use crate::contract::{Item, Told};
use crate::units::NANOS_PER_SEC;
use crate::units::{Duration, Rate};

fn item(number: u64, bytes: u32) -> Item {
    Item { number, bytes, ..Item::default() }
}

/// Departures in nanoseconds of arrivals with these times and sizes, through a link without transmission time.
fn departures(rate: u64, burst: u32, arrivals: &[(u64, u32)]) -> Vec<u64> {
    let parameters = TokenBucketParameters { rate: Rate::from_bps(rate).unwrap(), burst };
    let mut queue = TokenBucket::new(Limit::Packets(u32::MAX), parameters);
    let mut left = Vec::new();
    let serve = |queue: &mut TokenBucket<Item>, until: u64, left: &mut Vec<u64>| {
        while queue.backlog_packets() > 0 && queue.next_deadline().as_nanos() <= until {
            let now = queue.next_deadline();
            queue.dequeue(now, &mut ()).expect("the deadline has come");
            left.push(now.as_nanos());
        }
    };
    for (number, (at, bytes)) in arrivals.iter().enumerate() {
        serve(&mut queue, *at, &mut left);
        queue.enqueue(Instant::from_nanos(*at), item(number as u64, *bytes), &mut ());
        if queue.backlog_packets() == 1 && queue.next_deadline().as_nanos() <= *at {
            queue.dequeue(Instant::from_nanos(*at), &mut ()).expect("the deadline has come");
            left.push(*at);
        }
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
    let parameters = TokenBucketParameters { rate: Rate::from_bps(8_000_000).unwrap(), burst: 1000 };
    let mut queue = TokenBucket::new(Limit::Packets(10), parameters);
    let told = Told::of_arrival(&mut queue, Instant::ZERO, item(0, 1001));
    assert_eq!(told.dropped, [(item(0, 1001), Reason::Oversize)]);
    queue.enqueue(Instant::ZERO, item(1, 1000), &mut ());
    queue.enqueue(Instant::ZERO, item(2, 1000), &mut ());
    assert!(queue.dequeue(Instant::ZERO, &mut ()).is_some());
    assert_eq!(queue.next_deadline(), Instant::ZERO + Duration::from_millis(1));
    assert_eq!(queue.dequeue(Instant::from_nanos(999_999), &mut ()), None);
    assert!(queue.dequeue(Instant::from_nanos(1_000_000), &mut ()).is_some());
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
