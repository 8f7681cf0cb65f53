use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Ecn, Place, QueueKeys};
use crate::rng::RngStreams;
use crate::units::{Duration, Rate};

fn sfb(keys: &str) -> Sfb<Item> {
    let keys: SfbKeys = serde_json::from_str(keys).unwrap();
    let place = Place {
        rate: Rate::from_bps(10_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1000,
        mean_rtt_secs: 0.1,
        groups: crate::qdisc::Groups::NONE,
    };
    let limit = place.limit(keys.limit());
    let parameters = keys.parameters(&place, limit).unwrap();
    Sfb::new(limit, parameters, RngStreams::new(1, 0).stream("link", "queue"))
}

/// Flow 0 sends at twice the rate of the link, and 10 others, if there are any, at 12 % each. A packet takes 800 us.
/// Returns the packets of both that leave in the last half, and all reports.
fn overload(keys: &str, has_others: bool, ecn: Ecn, seconds: u64) -> ([u64; 2], Told) {
    let (mut queue, mut told, mut free_at) = (sfb(keys), Told::default(), 0);
    let (mut sent, mut number) = ([0, 0], 0);
    for now in (0..seconds * 1_000_000).step_by(400) {
        let other = (has_others && now / 400 % 5 < 3).then_some(1 + now / 400 % 10);
        for flow in [Some(0), other].into_iter().flatten() {
            while free_at <= now {
                let left = queue.dequeue(Instant::from_nanos(1000 * free_at), &mut told);
                if let (Some((_, item)), true) = (&left, now > seconds * 500_000) {
                    sent[usize::from(item.flow > 0)] += 1;
                }
                free_at = if left.is_some() { free_at + 800 } else { now + 1 };
            }
            let item = Item { number, flow, bytes: 1000, ecn, ..Item::default() };
            queue.enqueue(Instant::from_nanos(1000 * now), item, &mut told);
            number += 1;
        }
    }
    (sent, told)
}

fn count(reports: &[(Item, Reason)], reason: Reason) -> usize {
    reports.iter().filter(|(_, other)| *other == reason).count()
}

#[test]
fn a_flow_that_sends_too_much_gets_about_a_fair_share() {
    let ([heavy, others], told) = overload("{}", true, Ecn::NotEct, 40);
    // 1250 packets a second for 11 flows and 20 s. Without SFB the shares would be in proportion, 15625 packets.
    let fair = 25_000.0 / 11.0;
    assert!((0.5 * fair..1.6 * fair).contains(&(heavy as f64)), "{heavy}");
    assert!(heavy + others > 24_900, "{others}");
    assert!(count(&told.dropped, Reason::Bin) > 0);
}

#[test]
fn a_flow_with_a_probability_of_one_is_limited_to_the_penalty_rate() {
    let ([punished, _], told) = overload(r#"{"increment": 1, "decrement": 0}"#, false, Ecn::NotEct, 40);
    assert!((195..=205).contains(&punished), "{punished}");
    assert!(count(&told.dropped, Reason::Penalty) > 90_000);
}

#[test]
fn marks_turn_into_drops_above_one_half() {
    let (_, told) = overload(r#"{"ecn": true, "max": 1000}"#, false, Ecn::Ect0, 1);
    assert!(count(&told.marked, Reason::Early) > 0);
    let reached = told.marked.iter().map(|(item, _)| item.number).max().unwrap();
    let first = told.dropped.iter().find(|(_, reason)| *reason == Reason::Early).map(|(item, _)| item.number);
    assert!(first.is_none_or(|first| first > told.marked[0].0.number && first < reached));
    assert_eq!(overload("{}", false, Ecn::Ect0, 1).1.marked, []);
}

#[test]
fn a_new_filter_knows_the_queued_packets() {
    let mut queue = sfb(r#"{"rehash": "1 s", "warmup": "100 ms"}"#);
    for second in 0..5 {
        let at = Instant::from_nanos(1_000_000_000 * second);
        for number in 0..5 {
            queue.enqueue(at, Item { number, flow: number, bytes: 1000, ..Item::default() }, &mut ());
        }
        queue.dequeue(at, &mut ());
    }
    let mut left = 0;
    while queue.dequeue(Instant::from_nanos(9_000_000_000), &mut ()).is_some() {
        left += 1;
    }
    assert_eq!(left, 20);
}
