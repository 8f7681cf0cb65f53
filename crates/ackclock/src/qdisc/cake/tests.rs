use std::collections::BTreeMap;

use super::*;
use crate::contract::{Item, Told};
use crate::qdisc::{Ecn, Group, Groups, Place, QueueKeys, Reason, Tag};
use crate::rng::RngStreams;
use crate::units::{Duration, Rate};

/// 12 Mbit/s: 1500 B in a millisecond.
const RATE: u64 = 12_000_000;

/// Groups 1 to 4: two flows of a home, one of another one, and a marked one of a third.
fn place() -> Place {
    let group = |name: &str, source, dscp| Group { name: name.into(), dscp, source: Some(source), destination: None };
    Place {
        rate: Rate::from_bps(RATE),
        delay: Duration::ZERO,
        packet_bytes: 1500,
        mean_rtt_secs: 0.1,
        groups: Groups::new(vec![group("a1", 0, 0), group("a2", 0, 0), group("b", 1, 0), group("voice", 2, 46)]),
    }
}

fn cake(json: &str) -> Cake<Item> {
    let keys: CakeKeys = serde_json::from_str(json).unwrap();
    let place = place();
    let limit = place.limit(keys.limit());
    Cake::new(limit, keys.parameters(&place, limit).unwrap(), RngStreams::new(1, 0).stream("link", "queue"))
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// An item of the flow with the number of its group.
fn item(number: u64, group: u64) -> Item {
    Item { number, flow: group, bytes: 1500, tag: Tag::new(group as usize), ..Item::default() }
}

/// Keeps the queue of each group full for 2 s. Returns the packets of each group that leave in the last second.
fn shares(queue: &mut Cake<Item>, groups: &[u64]) -> BTreeMap<u64, u32> {
    let mut sent = BTreeMap::new();
    for time in 0..2000 {
        for group in groups {
            (0..3).for_each(|number| queue.enqueue(ms(time), Item { ecn: Ecn::Ect0, ..item(number, *group) }, &mut ()));
        }
        let (_, item) = queue.dequeue(ms(time), &mut ()).unwrap();
        *sent.entry(item.flow).or_default() += u32::from(time >= 1000);
    }
    sent
}

#[test]
fn hosts_share_before_flows_do() {
    let triple = shares(&mut cake("{}"), &[1, 2, 3]);
    let near = |packets: u32, expected: u32| packets.abs_diff(expected) <= 5;
    assert!(near(triple[&1], 250) && near(triple[&2], 250) && near(triple[&3], 500), "{triple:?}");
    let flows = shares(&mut cake(r#"{"isolation": "flows"}"#), &[1, 2, 3]);
    assert!(flows.values().all(|packets| near(*packets, 333)), "{flows:?}");
    // Each receiver is a host of its own.
    let destinations = shares(&mut cake(r#"{"isolation": "dual-dsthost"}"#), &[1, 2, 3]);
    assert!(destinations.values().all(|packets| near(*packets, 333)), "{destinations:?}");
    let sources = shares(&mut cake(r#"{"isolation": "dual-srchost"}"#), &[1, 2, 3]);
    assert!(near(sources[&3], 500), "{sources:?}");
}

#[test]
fn hosts_of_the_other_direction_are_exchanged() {
    let groups = place().groups;
    let there = item(0, 1);
    let back = Item { tag: there.tag.reversed(), ..there };
    let (mut hosts, ends) = (hosts::Hosts::default(), hosts::Ends::of(&back, &groups));
    hosts.add(ends);
    hosts.add(hosts::Ends::of(&Item { tag: item(0, 2).tag.reversed(), flow: 2, ..back }, &groups));
    // Both flows have the same receiver now, and senders of their own.
    let loads = [Isolation::DualSrchost, Isolation::DualDsthost, Isolation::TripleIsolate, Isolation::Flows];
    assert_eq!(loads.map(|isolation| hosts.load(isolation, ends)), [1, 2, 2, 1]);
    hosts.remove(ends);
    assert_eq!(hosts.load(Isolation::DualDsthost, ends), 1);
}

#[test]
fn a_shaper_counts_the_bytes_of_the_link() {
    let mut queue = cake(r#"{"bandwidth": "6 Mbit/s", "framing": "atm", "overhead": 32}"#);
    (0..10).for_each(|number| queue.enqueue(ms(0), item(number, 1), &mut ()));
    assert!(queue.dequeue(ms(0), &mut ()).is_some());
    // 32 cells of 53 bytes at 6 Mbit/s.
    let next = Instant::from_nanos(32 * 53 * 8 * 1_000_000 / 6_000 + 1);
    assert_eq!((queue.next_deadline(), queue.dequeue(ms(2), &mut ())), (next, None));
    assert!(queue.dequeue(next, &mut ()).is_some());
}

#[test]
fn voice_has_priority_up_to_its_threshold() {
    let sent = shares(&mut cake(r#"{"diffserv": "diffserv4"}"#), &[1, 4]);
    // A quarter of 12 Mbit/s.
    assert!(sent[&4].abs_diff(250) <= 5, "{sent:?}");
    let mut queue = cake(r#"{"diffserv": "diffserv4"}"#);
    for number in 0..10 {
        queue.enqueue(ms(0), item(number, 1), &mut ());
    }
    queue.enqueue(ms(1), item(10, 4), &mut ());
    assert_eq!(queue.dequeue(ms(1), &mut ()).map(|(_, item)| item.number), Some(10));
}

#[test]
fn tins_are_those_of_the_manual() {
    let tins = [8, 1, 0, 10, 34, 24, 16, 46, 48, 44].map(|dscp| Diffserv::Diffserv4.tin(dscp));
    assert_eq!(tins, [0, 0, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!(Diffserv::Besteffort.tin(46), 0);
}

#[test]
fn flows_of_a_set_share_queues_only_when_it_is_full() {
    let mut queue = cake("{}");
    // 1000 flows find queues of their own in 1024, except where more than 8 of them fall into a set.
    (0..1000).for_each(|flow| queue.enqueue(ms(0), Item { flow, ..item(flow, 0) }, &mut ()));
    let mut in_a_row = [0_u32; 1000];
    for _ in 0..1000 {
        let (_, item) = queue.dequeue(ms(0), &mut ()).unwrap();
        in_a_row[item.flow as usize] += 1;
    }
    assert!(in_a_row.iter().all(|packets| *packets == 1));
    // A second packet of each leaves in the second round, unless its queue is shared.
    (0..2000).for_each(|number| queue.enqueue(ms(9), Item { flow: number % 1000, ..item(number, 0) }, &mut ()));
    let first: Vec<u64> = (0..1000).map(|_| queue.dequeue(ms(9), &mut ()).unwrap().1.number).collect();
    let late = first.iter().filter(|number| **number >= 1000).count();
    assert!(late < 150, "{late}");
}

#[test]
fn an_ack_replaces_those_that_it_covers() {
    let ack = |number, covered| Item {
        bytes: 40,
        tag: if covered { Tag::new(1).reversed().covered_by_next() } else { Tag::new(1).reversed() },
        ..item(number, 1)
    };
    let dropped = |filter: &str| {
        let (mut queue, mut told) = (cake(&format!(r#"{{"ack_filter": "{filter}"}}"#)), Told::default());
        for (number, covered) in [(0, true), (1, false), (2, true), (3, true), (4, true)] {
            queue.enqueue(ms(0), ack(number, covered), &mut told);
        }
        assert!(told.dropped.iter().all(|(_, reason)| *reason == Reason::AckFilter));
        told.dropped.iter().map(|(item, _)| item.number).collect::<Vec<_>>()
    };
    assert_eq!(dropped("off"), [0; 0]);
    assert_eq!(dropped("on"), [0, 2]);
    assert_eq!(dropped("aggressive"), [0, 2, 3]);
}

#[test]
fn the_longest_queue_loses_its_first_packet() {
    let (mut queue, mut told) = (cake(r#"{"limit": "5 packets"}"#), Told::default());
    for (number, group) in [(0, 1), (1, 2), (2, 2), (3, 2), (4, 3), (5, 3)] {
        queue.enqueue(ms(0), item(number, group), &mut told);
    }
    assert_eq!(
        told.dropped.iter().map(|(item, reason)| (item.number, *reason)).collect::<Vec<_>>(),
        [(1, Reason::Full)]
    );
}

#[test]
fn a_bandwidth_above_the_link_is_refused() {
    let keys: CakeKeys = serde_json::from_str(r#"{"bandwidth": "13 Mbit/s"}"#).unwrap();
    let (key, problem) = keys.parameters(&place(), Limit::Packets(10)).unwrap_err();
    assert_eq!(
        format!("{key}: {problem}"),
        "bandwidth: 13 Mbit/s is out of range; must be at most the rate of the link, 12 Mbit/s"
    );
}

#[test]
fn slow_links_have_longer_targets() {
    let target = |json: &str| {
        let keys: CakeKeys = serde_json::from_str(json).unwrap();
        let cobalt = keys.parameters(&place(), Limit::Packets(10)).unwrap().tins[0].cobalt;
        (cobalt.target, cobalt.interval)
    };
    let millis = Duration::from_millis;
    assert_eq!(target("{}"), (millis(5), millis(100)));
    // 1500 B take 12 ms at 1 Mbit/s.
    assert_eq!(target(r#"{"bandwidth": "1 Mbit/s"}"#), (millis(18), millis(113)));
    assert_eq!(target(r#"{"rtt": "20 ms", "bandwidth": "1 Mbit/s"}"#), (millis(18), millis(37)));
}
