use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Place, QueueKeys};
use crate::rng::RngStreams;
use crate::units::Rate;

fn queue(keys: &str) -> Choke<Item> {
    let keys: ChokeKeys = serde_json::from_str(keys).unwrap();
    let place = Place {
        rate: Rate::from_bps(10_000_000),
        delay: Duration::ZERO,
        packet_bytes: 1000,
        mean_rtt_secs: 0.1,
        groups: crate::qdisc::Groups::NONE,
    };
    let limit = place.limit(keys.limit());
    let streams = RngStreams::new(1, 0);
    let parameters = keys.parameters(&place, limit).unwrap();
    Choke::new(limit, parameters, streams.stream("link", "queue"), streams.stream("link", "matches"))
}

/// Flow 0 sends at twice the rate of the link, and 20 others at 7.5 % each, for 20 s. Returns the shares of both in the
/// throughput.
fn shares(keys: &str) -> [f64; 2] {
    let (mut queue, mut told, mut free_at, mut number) = (queue(keys), Told::default(), 0, 0);
    let mut sent = [0, 0];
    let chance = &mut RngStreams::new(2, 0).stream("arrivals", "times");
    for now in (0..20_000_000).step_by(100) {
        // A packet takes 800 us. In 100 us come 0.25 packets of the first and 0.1875 of the others.
        for (flow, rate) in [(0, 0.25), (1 + now / 100 % 20, 0.1875)] {
            if chance.next_f64() < rate {
                while free_at <= now {
                    let left = queue.dequeue(Instant::from_nanos(1000 * free_at), &mut told);
                    if let Some((_, item)) = &left {
                        sent[usize::from(item.flow > 0)] += 1;
                    }
                    free_at = if left.is_some() { free_at + 800 } else { now + 1 };
                }
                let item = Item { number, flow, bytes: 1000, ..Item::default() };
                queue.enqueue(Instant::from_nanos(1000 * now), item, &mut told);
                number += 1;
            }
        }
    }
    sent.map(|packets| f64::from(packets) / 25_000.0)
}

#[test]
fn an_unresponsive_flow_gets_at_most_the_share_of_the_model() {
    // Tang, Wang & Low 2004: at most 1 / (e + 1) = 26.9 % of the link, however fast it sends.
    let keys = r#"{"limit": "300 packets", "min": "100 packets", "max": "200 packets"}"#;
    let [choked, others] = shares(keys);
    assert!(choked < 0.29 && choked + others > 0.99, "{choked} {others}");
}

#[test]
fn both_packets_of_a_match_are_dropped() {
    let mut queue = queue(r#"{"limit": "50 packets", "min": "1 packets", "max": "40 packets", "weight": 1}"#);
    let mut told = Told::default();
    for number in 0..10 {
        queue.enqueue(Instant::ZERO, Item { number, flow: 1, bytes: 1000, ..Item::default() }, &mut told);
    }
    let matched = told.dropped.iter().filter(|(_, reason)| *reason == Reason::Match).count();
    assert!(matched > 0 && matched % 2 == 0, "{told:?}");
    assert_eq!(queue.backlog_packets() as usize + told.dropped.len(), 10);
}
